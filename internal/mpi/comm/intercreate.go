package comm

import (
	"encoding/binary"
	"errors"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/process"
)

// An intercommunicator is made of two communicators without a common one. Each group derives a
// context of its own, as for any child of its communicator. The two leaders tell each other these
// and the groups, over a communicator that both are in. Then each leader tells its group. The
// context of the intercommunicator comes from both, so nobody has to agree on one, and replicas
// need no message more.
//
// Both leaders send before they receive, and a group waits for nobody but the other one. So no pair
// of groups waits in vain, in whatever roles the leaders are elsewhere.

// Meeting is what the leader of a group knows of the other group's.
type Meeting struct {
	Peer   *Comm // both leaders are members
	Leader int   // of the other group, in Peer
	Tag    int
	Wrong  error // the leader can't meet anybody: its group hears that it can't
}

// meetingHeader is the length of what goes before the list of a group: its context, how many ranks
// follow; to the leader's own group also the rank of the world whose loss was in the way, or -1.
const meetingHeader = 24

// Connect makes an intercommunicator of this communicator's members and of another group's. All
// members of both groups call it, and give the rank of their leader. m counts at the leader only.
func (c *Comm) Connect(leader int, m Meeting) (*Inter, error) {
	const op = "Connect"
	if err := c.checkRoot(leader); err != nil {
		return nil, c.wrap(op, err)
	}
	own := c.child(interBranch)
	header := make([]byte, meetingHeader)
	var list []byte
	var failure error
	if c.rank == leader {
		var other uint64
		lost := proto.Rank(-1)
		if failure = m.Wrong; failure == nil {
			other, list, failure = m.Peer.meet(m.Leader, m.Tag, own, c.group)
		}
		if e := (*process.LostError)(nil); errors.As(failure, &e) {
			lost = e.Rank
		}
		binary.LittleEndian.PutUint64(header, other)
		binary.LittleEndian.PutUint64(header[8:], uint64(len(list)))
		binary.LittleEndian.PutUint64(header[16:], uint64(int64(lost)))
	}
	if err := c.Bcast(header, leader).Run(); err != nil && failure == nil {
		return nil, c.wrap(op, err)
	}
	if failure != nil {
		return nil, c.wrap(op, failure)
	}
	n := binary.LittleEndian.Uint64(header[8:])
	if n == 0 { // no group is empty
		if lost := int64(binary.LittleEndian.Uint64(header[16:])); lost >= 0 {
			return nil, c.wrap(op, &process.LostError{Rank: proto.Rank(lost)})
		}
		return nil, c.wrap(op, ErrLeader)
	}
	if c.rank != leader {
		list = make([]byte, n)
	}
	if err := c.Bcast(list, leader).Run(); err != nil {
		return nil, c.wrap(op, err)
	}
	remote := make([]proto.Rank, 0, n/4)
	for ; len(list) >= 4; list = list[4:] {
		remote = append(remote, proto.Rank(binary.LittleEndian.Uint32(list)))
	}
	for _, r := range remote {
		switch {
		case int(r) >= len(c.inverse):
			return nil, c.wrap(op, rankError(int(r), len(c.inverse)))
		case c.local(r) >= 0:
			return nil, c.wrap(op, ErrOverlap)
		}
	}
	low, high := own, binary.LittleEndian.Uint64(header)
	if slices.Min(remote) < slices.Min(c.group) {
		low, high = high, low
	}
	i, err := c.openInter(contextBetween(low, high), c.group, remote)
	return i, c.wrap(op, err)
}

// meet exchanges with the leader of another group what each group is. It doesn't disturb the
// program's messages, nor they it: it has a context of its own.
func (c *Comm) meet(leader, tag int, own uint64, group []proto.Rank) (other uint64, list []byte, err error) {
	const op = "Connect"
	if err := c.checkSend(op, leader, tag); err != nil {
		return 0, nil, err
	}
	_, self := c.eng.Self()
	if c.group[leader] == self {
		return 0, nil, &Error{op, c.rank, leader, tag, ErrOverlap}
	}
	context, err := c.openMeeting()
	if err != nil {
		return 0, nil, err
	}
	out := make([]byte, 16, 16+4*len(group))
	binary.LittleEndian.PutUint64(out, own)
	binary.LittleEndian.PutUint64(out[8:], uint64(len(group)))
	for _, r := range group {
		out = binary.LittleEndian.AppendUint32(out, uint32(r))
	}
	peer := c.group[leader]
	first, second := c.eng.Send(context, peer, int32(tag), out[:16]), c.eng.Send(context, peer, int32(tag), out[16:])
	in := make([]byte, 16)
	if _, err = c.eng.ReceiveWait(context, peer, int32(tag), in); err == nil {
		if n := binary.LittleEndian.Uint64(in[8:]); n == 0 || n > uint64(len(c.inverse)) {
			err = ErrLeader
		} else {
			list = make([]byte, 4*n)
			_, err = c.eng.ReceiveWait(context, peer, int32(tag), list)
		}
	}
	for _, h := range []engine.Handle{first, second} {
		if h == (engine.Handle{}) {
			continue
		}
		if _, sent := c.eng.Wait(h); err == nil {
			err = sent
		}
	}
	if err != nil {
		c.learn(err)
		return 0, nil, &Error{op, c.rank, leader, tag, c.eng.Located(err)}
	}
	return binary.LittleEndian.Uint64(in), list, nil
}

// openMeeting gives the context in which leaders meet over this communicator. It is open from the
// first meeting on.
func (c *Comm) openMeeting() (uint64, error) {
	if c.parts != nil {
		c = c.parts.whole
	}
	context := branchOf(c.context, interBranch) &^ collectivePart
	c.mu.Lock()
	open := c.meets
	c.meets = true
	c.mu.Unlock()
	if open {
		return context, nil
	}
	return context, c.eng.OpenBranch(c.context, context, c.group, false)
}

func (c *Comm) closeMeeting() {
	if c.meets {
		c.eng.CloseContext(branchOf(c.context, interBranch) &^ collectivePart)
	}
}
