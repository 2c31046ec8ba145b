package process

import (
	"slices"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/proto/membership"
)

// Every transition that the diagram has is taken, and every other one is refused and changes
// nothing.
func TestPeerTransitions(t *testing.T) {
	legal := map[peerState][]peerState{
		peerAlive:   {peerDead, peerLeft},
		peerJoining: {peerAlive, peerDead, peerLeft},
		peerDead:    {peerJoining},
		peerLeft:    {peerJoining},
	}
	for from := range peerStates {
		for to := range peerStates {
			q := peer{state: from}
			if want := slices.Contains(legal[from], to); q.become(to) != want {
				t.Errorf("from %v to %v: %v, want %v", from, to, !want, want)
			} else if want && q.state != to || !want && q.state != from {
				t.Errorf("from %v to %v: it is %v", from, to, q.state)
			}
		}
	}
}

func TestPeerIsAdmittedOnceAnIncarnation(t *testing.T) {
	q := peer{contacted: true, why: membership.Died}
	if q.admit(1) {
		t.Error("it is admitted although the former incarnation lives")
	}
	if q.become(peerDead); !q.admit(1) || q.state != peerJoining || q.incarnation != 1 || q.contacted || q.why != membership.Silent {
		t.Errorf("admitted: %+v", q)
	}
	for _, incarnation := range []proto.Incarnation{0, 1} {
		if q.state = peerDead; q.admit(incarnation) || q.incarnation != 1 {
			t.Errorf("incarnation %d is admitted after 1: %+v", incarnation, q)
		}
	}
}

func TestPeersOfAReplacement(t *testing.T) {
	all := newPeersOfReplacement(4, 1, []proto.Incarnation{0, 2, 0, 1}, []bool{false, false, true, false})
	for q, want := range []peerState{peerJoining, peerAlive, peerDead, peerJoining} {
		if all[q].state != want {
			t.Errorf("process %d is %v, want %v", q, all[q].state, want)
		}
	}
	if m := all.member(3); m != (membership.Member{Proc: 3, Incarnation: 1}) {
		t.Errorf("process 3 is %v", m)
	}
	if got := all.incarnations(); !slices.Equal(got, []proto.Incarnation{0, 2, 0, 1}) {
		t.Errorf("incarnations %v", got)
	}
	if got := all.dead(); !slices.Equal(got, []bool{false, false, true, false}) {
		t.Errorf("dead %v", got)
	}
}
