package logp

import (
	"os"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
)

// shorterWay counts a correction for the side on which its sender is nearer,
// not for that to which it was sent.
type shorterWay struct{ *run }

func (r shorterWay) Receive(now proto.Time, self, from int, kind uint8) {
	procs := r.config.Tree.Procs()
	if k := broadcast.Kind(kind); k == broadcast.KindLeft || k == broadcast.KindRight {
		kind = uint8(broadcast.KindLeft)
		if toRight := (self - from + procs) % procs; 2*toRight < procs {
			kind = uint8(broadcast.KindRight)
		}
	}
	r.run.Receive(now, self, from, kind)
}

// TestCanary: the reference data notice a correction that is counted for the
// wrong side.
func TestCanary(t *testing.T) {
	file, err := os.Open(reference)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	table, err := ReadTable(file, 0)
	if err != nil {
		t.Fatal(err)
	}
	different := 0
	var s Simulator
	for i := range table.Rows {
		r := &table.Rows[i]
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
