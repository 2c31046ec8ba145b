package incremental

import (
	"slices"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/study/driver/logp"
	"banyan/internal/testing/explore"
	"banyan/internal/trace"
)

// report keeps what a listener is told.
type report struct {
	sent      [trace.Purposes]int
	lost      int
	quiet     proto.Time
	processes []processReport
}

type processReport struct {
	coloured      proto.Time
	by            trace.Purpose
	reached, dead bool
}

func (r *report) Sent(purpose trace.Purpose, messages int) { r.sent[purpose] += messages }
func (r *report) Lost(messages int)                        { r.lost += messages }
func (r *report) Quiet(at proto.Time)                      { r.quiet = at }
func (r *report) Process(coloured proto.Time, by trace.Purpose, reached, dead bool) {
	r.processes = append(r.processes, processReport{coloured, by, reached, dead})
}

func (r *report) equal(s *report) bool {
	return r.sent == s.sent && r.lost == s.lost && r.quiet == s.quiet && slices.Equal(r.processes, s.processes)
}

// TestListener: a listener is told what the engine tells it, of random cases.
func TestListener(t *testing.T) {
	cases := uint64(2000)
	if explore.Long() {
		cases = 50_000
	}
	var engine logp.Simulator
	for seed := range cases {
		c := randomCase(1<<33 + seed)
		var want, got report
		engine.Listener = &want
		if _, err := engine.Run(&c, nil); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		e, err := New(&c)
		if err != nil {
			t.Fatal(err)
		}
		e.Listener = &got
		for range 2 { // the second time shows whether the first has left something behind
			got = report{}
			if _, err := e.Run(c.Failed); err != nil {
				t.Fatal(err)
			}
			if !got.equal(&want) {
				t.Fatalf("seed %d, %+v:\n got %+v\nwant %+v", seed, c, got, want)
			}
		}
	}
}
