package process

import (
	"slices"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/proto/membership"
	"banyan/internal/topology"
)

func TestIntroductionsGoOutByPowersOfTwo(t *testing.T) {
	l := liveness{ring: topology.IdentityRing(10)}
	var got []proto.Proc
	for range 6 {
		got = append(got, l.introduction(9))
	}
	if want := []proto.Proc{proto.NoProc, 1, 3, 7, proto.NoProc, proto.NoProc}; !slices.Equal(got, want) {
		t.Errorf("introduced to %v, want %v", got, want)
	}
}

func TestViewKeepsTheOrderOfTheRing(t *testing.T) {
	l := liveness{ring: topology.InterleavedRing([]int32{0, 0, 1, 1})}
	members := []membership.Member{{Proc: 0}, {Proc: 1, Incarnation: 2}, {Proc: 3}}
	v := l.viewOf(&membership.View{Number: 5, Members: members})
	var want []proto.Proc
	for i := range l.ring.Len() {
		if q := l.ring.At(i); q != 2 {
			want = append(want, q)
		}
	}
	var got []proto.Proc
	for i := range v.Ring.Len() {
		q := v.Ring.At(i)
		got = append(got, q)
		if wanted := members[slices.IndexFunc(members, func(m membership.Member) bool { return m.Proc == q })]; v.Incarnations[i] != wanted.Incarnation {
			t.Errorf("%v has incarnation %d, want %d", q, v.Incarnations[i], wanted.Incarnation)
		}
	}
	if v.Number != 5 || !slices.Equal(got, want) {
		t.Errorf("view %d of %v, want 5 of %v", v.Number, got, want)
	}
}
