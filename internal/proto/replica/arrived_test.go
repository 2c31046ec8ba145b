package replica

import (
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// What has arrived from a rank, and what was sent to one, is counted for each channel.
func TestArrivedAndSent(t *testing.T) {
	l := layout.Uniform(3, 2)
	m := New(Config{Layout: l, Self: l.Proc(1, 0)})
	from := l.Proc(0, 0)
	for seq := uint64(1); seq <= 3; seq++ {
		if v := m.Arrive(from, 8, seq, seq == 2); v != Accept {
			t.Fatal(v)
		}
	}
	m.Arrive(from, 10, 1, false)
	m.Arrive(l.Proc(2, 0), 8, 1, false)
	got := map[uint64]uint64{}
	m.Arrived(0, func(context, n uint64) { got[context] = n })
	if len(got) != 2 || got[8] != 3 || got[10] != 1 {
		t.Error(got)
	}
	var out Actions
	m.Send(&Message{Context: 8, Dst: 2}, &out)
	m.Send(&Message{Context: 8, Dst: 2}, &out)
	if n := m.Sent(8, 2); n != 2 {
		t.Error(n)
	}
	if n := m.Sent(8, proto.Rank(0)); n != 0 {
		t.Error(n)
	}
}
