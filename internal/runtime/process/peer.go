package process

import (
	"banyan/internal/proto"
	"banyan/internal/proto/membership"
)

// peerState is what this process knows of the present incarnation of another one.
//
//	alive ───▶ dead, left        dead, left ───▶ joining (a replacement is admitted)
//	joining ─▶ dead, left        joining ──────▶ alive   (a view has it as a member)
//
// Death and departure are final for an incarnation: of two reports only the first counts.
// The detector learns of the death of a live peer first, and reports it at once. It doesn't
// watch a joining peer, so only evidence shows the death of that one.
type peerState uint8

const (
	// peerAlive: a member of the job from its start, or of a view since.
	peerAlive peerState = iota
	// peerJoining: a replacement that was admitted and is in no view yet. Frames go to it
	// and come from it. To a replacement all peers are joining until its first view.
	peerJoining
	// peerDead: its death has been handled. The transport is fenced against it.
	peerDead
	// peerLeft: it has left the job in order.
	peerLeft
	peerStates
)

// peerTransitions has a bit for each state that may follow a state.
var peerTransitions = [peerStates]uint8{
	peerAlive:   1<<peerDead | 1<<peerLeft,
	peerJoining: 1<<peerAlive | 1<<peerDead | 1<<peerLeft,
	peerDead:    1 << peerJoining,
	peerLeft:    1 << peerJoining,
}

func (s peerState) String() string {
	return [peerStates]string{"alive", "joining", "dead", "left"}[s]
}

// peer is what this process knows of one process of the job, itself included.
type peer struct {
	state       peerState
	contacted   bool              // a frame went there or came from there
	why         membership.Why    // of a dead one: how sure its death is to the membership
	over        bool              // of a dead one: it has certainly ended, whatever views say
	final       bool              // of a dead one: its death is beyond doubt, by evidence or by a view
	through     bool              // its program is through: it enters no more agreements
	incarnation proto.Incarnation // the last one that was admitted
	zeroCopy    Handle            // the message that is arriving in its receive's buffer
	staging     []byte            // where a large frame is arriving
}

// become moves a peer on to a state, or refuses and returns false.
func (q *peer) become(next peerState) bool {
	if peerTransitions[q.state]&(1<<next) == 0 {
		return false
	}
	q.state = next
	return true
}

// gone tells whether a peer is dead or has left.
func (q *peer) gone() bool { return q.state == peerDead || q.state == peerLeft }

// admit begins a later incarnation of a peer that is dead or has left. It refuses any other.
func (q *peer) admit(incarnation proto.Incarnation) bool {
	if incarnation <= q.incarnation || !q.become(peerJoining) {
		return false
	}
	q.incarnation, q.contacted, q.why, q.over, q.final, q.through = incarnation, false, membership.Silent, false, false, false
	return true
}

// peers are the processes of the job, by Proc.
type peers []peer

// newPeers are those of a job that starts.
func newPeers(n int) peers { return make(peers, n) }

// newPeersOfReplacement are those of a replacement: their incarnations, and which of them
// are known to be dead.
func newPeersOfReplacement(n int, self proto.Proc, incarnations []proto.Incarnation, dead []bool) peers {
	all := make(peers, n)
	for i := range all {
		q := &all[i]
		if incarnations != nil {
			q.incarnation = incarnations[i]
		}
		switch {
		case proto.Proc(i) == self:
		case dead != nil && dead[i]:
			q.state, q.why, q.over = peerDead, membership.Died, true
		default:
			q.state = peerJoining
		}
	}
	return all
}

// member is a process in its present incarnation.
func (all peers) member(q proto.Proc) membership.Member {
	return membership.Member{Proc: q, Incarnation: all[q].incarnation}
}

// incarnations are the present ones, by Proc.
func (all peers) incarnations() []proto.Incarnation {
	list := make([]proto.Incarnation, len(all))
	for i := range all {
		list[i] = all[i].incarnation
	}
	return list
}

// dead says which are dead, by Proc.
func (all peers) dead() []bool {
	list := make([]bool, len(all))
	for i := range all {
		list[i] = all[i].state == peerDead
	}
	return list
}
