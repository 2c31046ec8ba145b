package process

import (
	"slices"
	"testing"

	"banyan/internal/layout"
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

// Of two reports of an end only the first counts: a process that has died doesn't leave in order
// afterwards, and one that has left isn't fenced as a dead one.
func TestFirstEndOfAPeerCounts(t *testing.T) {
	p, w := single(t, layout.Uniform(2, 2))
	p.Evidence(1, 0)
	p.Left(1)
	if s := p.peers[1].state; s != peerDead || p.Alive(1) || p.present(1) {
		t.Errorf("a dead process is %v after it left; alive: %v, present: %v", s, p.Alive(1), p.present(1))
	}
	p.Left(3)
	p.Evidence(3, 0)
	if s := p.peers[3].state; s != peerLeft || p.present(3) {
		t.Errorf("a process that has left is %v after it died; present: %v", s, p.present(3))
	}
	if !slices.Equal(w.fenced, []proto.Proc{1}) || p.replica.Lost(1) {
		t.Errorf("fenced: %v, want process 1 only; rank 1 lost: %v", w.fenced, p.replica.Lost(1))
	}
}
