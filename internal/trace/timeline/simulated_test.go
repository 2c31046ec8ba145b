package timeline

import (
	"bytes"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/study/driver/logp"
	"banyan/internal/topology"
	"banyan/internal/trace"
)

// TestReadSimulated reads what the simulator writes, with deaths during the run: every message and
// coloured process is there.
func TestReadSimulated(t *testing.T) {
	c := logp.Case{
		Procs: 24, Latency: 2, Overhead: 1, Tree: logp.Binomial, Numbering: topology.Interleaved,
		Correction: broadcast.Checked, Synchronised: true, Failed: []int{9},
	}
	var err error
	if c.Crashes, err = logp.ParseCrashes("kill rank=2 at=send:2; kill rank=5 at=step:21; kill rank=6 at=step:4", c.Procs); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := trace.NewWriter(&b, c.TraceHeader())
	outcome, err := new(logp.Simulator).Run(&c, w)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	line := read(t, b.String())
	if len(line.Messages) != outcome.Messages {
		t.Errorf("%d messages, want %d", len(line.Messages), outcome.Messages)
	}
	dead, missing := 0, 0
	for p := range line.Dead {
		if line.Dead[p] != proto.Never {
			dead++
		} else if line.Coloured[p] == proto.Never {
			missing++
		}
	}
	if dead != 1+outcome.Crashed || missing != outcome.Unreached {
		t.Errorf("%d dead, %d unreached, want %d and %d", dead, missing, 1+outcome.Crashed, outcome.Unreached)
	}
	var svg bytes.Buffer
	if err := line.WriteSVG(&svg); err != nil {
		t.Fatal(err)
	}
	outline(t, &svg)
}
