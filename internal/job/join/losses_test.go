package join

import (
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/proto/membership"
)

// A rank is lost when a view has none of its replicas, and not before: not by what this process
// takes for dead alone.
func TestLosses(t *testing.T) {
	lay := layout.Uniform(2, 2)
	view := func(procs ...proto.Proc) *membership.View {
		v := &membership.View{Number: 2}
		for _, p := range procs {
			v.Members = append(v.Members, membership.Member{Proc: p})
		}
		return v
	}
	of0, of1 := []proto.Proc{lay.Proc(0, 0), lay.Proc(0, 1)}, []proto.Proc{lay.Proc(1, 0), lay.Proc(1, 1)}
	for _, c := range []struct {
		name string
		l    losses
		rank proto.Rank
		is   bool
	}{
		{"nothing is known", losses{}, 0, false},
		{"silence alone", losses{ranks: []proto.Rank{1}}, 0, false},
		{"a replica is in view", losses{[]proto.Rank{1}, view(of0[0], of0[1], of1[1])}, 0, false},
		{"none is", losses{[]proto.Rank{0, 1}, view(of0[0], of0[1])}, 1, true},
		{"a view without loss", losses{nil, view(of0[0])}, 0, false},
	} {
		if rank, is := c.l.certain(lay); rank != c.rank || is != c.is {
			t.Errorf("%s: rank %d, %v", c.name, rank, is)
		}
	}
}
