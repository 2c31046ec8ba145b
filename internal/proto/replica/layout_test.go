package replica

import (
	"testing"

	"banyan/internal/proto"
)

func TestLayoutIsABijection(t *testing.T) {
	for _, l := range []Layout{{1, 1}, {5, 1}, {1, 4}, {3, 4}, {2, MaxDegree}} {
		next := proto.Proc(0)
		for replica := range l.Degree {
			for rank := range proto.Rank(l.Ranks) {
				p := l.Proc(rank, replica)
				if p != next || l.Rank(p) != rank || l.Replica(p) != replica || !l.holds(p) {
					t.Fatalf("%+v: replica %d of %v is %v, back %v, %d", l, replica, rank, p, l.Rank(p), l.Replica(p))
				}
				next++
			}
		}
		if int(next) != l.Procs() || l.holds(next) || l.holds(proto.NoProc) {
			t.Errorf("%+v: %d processes", l, l.Procs())
		}
	}
}

func TestAllReplicas(t *testing.T) {
	for degree, want := range map[int]replicas{1: 1, 2: 3, 63: 1<<63 - 1, 64: 1<<64 - 1} {
		if got := (Layout{1, degree}).all(); got != want {
			t.Errorf("degree %d: %x; want %x", degree, got, want)
		}
	}
}
