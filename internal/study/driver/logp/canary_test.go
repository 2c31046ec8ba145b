package logp

import (
	"os"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
)

// shorterWay counts a correction for the side on which its sender is nearer, not for the side
// to which it was sent.
type shorterWay struct{ *run }

func (r shorterWay) Receive(now proto.Time, messages []Message) {
	procs := r.config.Tree.Procs()
	changed := make([]Message, len(messages))
	for i, x := range messages {
		kind := broadcast.Kind(x.Kind())
		if kind == broadcast.KindLeft || kind == broadcast.KindRight {
			kind = broadcast.KindLeft
			if toRight := (x.To() - x.From() + procs) % procs; 2*toRight < procs {
				kind = broadcast.KindRight
			}
		}
		changed[i] = NewMessage(x.From(), x.To(), uint8(kind))
	}
	r.run.Receive(now, changed)
}

// TestCanary: the reference data reveal a correction that is counted for the wrong side.
func TestCanary(t *testing.T) {
	file, err := os.Open(reference)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cases, err := ReadTable(file, "")
	if err != nil {
		t.Fatal(err)
	}
	different := 0
	var s Simulator
	for i := range cases.Rows {
		r := &cases.Rows[i]
		if r.Outcome, err = s.runAs(&r.Case, nil, func(m *run) Machines { return shorterWay{m} }); err != nil {
			t.Fatal(err)
		}
		if r.Difference() != "" {
			different++
		}
	}
	if different == 0 {
		t.Error("no row differs")
	}
	t.Logf("%d rows differ", different)
}
