package process

import (
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/proto/replica"
	"banyan/internal/proto/verify"
	"banyan/internal/runtime/wire"
)

// With --verify, acknowledgements carry digests of what has arrived, and the other replicas of
// the sender compare them (package verify). A message is digested at its sender when it has
// left, and at its receiver before the program gets it. Messages of a rank to itself aren't
// compared. A replacement gets the digests of its donor with the rest of the state
// (snapshot.go). From when it has joined it compares, and has a vote.

// Corruption is a silent corruption that was found, and the processes that have to stop for it.
type Corruption struct {
	verify.Verdict
	Rank proto.Rank // whose replicas differ
	// Procs are to be stopped: the outvoted sender and its receiver, or this process. With
	// verify.Undecided there are none: the job has to stop.
	Procs        []proto.Proc
	Incarnations []proto.Incarnation // their incarnations
}

func (c Corruption) String() string {
	which := fmt.Sprintf("message %d", c.Last)
	if c.First < c.Last {
		which = fmt.Sprintf("one of the messages %d to %d", c.First, c.Last)
	}
	which += fmt.Sprintf(" from %v to %v", c.Rank, c.Dst)
	if c.First == c.Last {
		which += fmt.Sprintf(" (tag %d)", c.Tag)
	}
	switch c.Kind {
	case verify.Outvoted:
		return fmt.Sprintf("silent corruption: replica %d's data of %s differs from that of the others, which outvote it: its sender and its receiver are stopped", c.Replica, which)
	case verify.Outnumbered:
		return fmt.Sprintf("silent corruption: this replica's data of %s is of no majority: it stops", which)
	}
	return fmt.Sprintf("silent corruption: the replicas' data of %s differs, and too few replicas are left to say which data is right", which)
}

// verifying is a process's part in the comparison.
type verifying struct {
	machine *verify.Machine
	out     verify.Verdicts
	// singles are digests for acknowledgements that are owed, also to a replacement that is
	// joining.
	singles []completed
}

// completed is a rendezvous whose data is here.
type completed struct {
	context uint64
	src     proto.Rank
	seq     uint64
	digest  uint32
}

func (p *Process) newVerifying() *verifying {
	l := p.cfg.Layout
	if p.cfg.Corrupted == nil || !l.Replicated() {
		return nil
	}
	return &verifying{machine: verify.New(verify.Config{
		Rank: p.rank, Replica: l.Replica(p.cfg.Self), Ranks: l.Ranks(), Degree: l.Degree, Covers: p.replica.Covers,
	})}
}

// verifySent compares a message that has been sent.
func (p *Process) verifySent(context uint64, dst proto.Rank, seq uint64, rendezvous bool, tag int32, data []byte) {
	v := p.verifying
	v.machine.Sent(context, dst, seq, rendezvous, tag, verify.Sum(tag, data), &v.out)
	p.runVerify()
}

// verifyArrived notes an eager message.
func (p *Process) verifyArrived(h *wire.Header, payload []byte) {
	p.verifying.machine.Arrived(h.Context, h.Src, h.Seq, verify.Sum(h.Tag, payload[:h.Total]))
}

// verifyCompleted notes a rendezvous whose data is all here. If the program has received only a
// part of it, or has given up the receive, there is nothing to compare.
func (p *Process) verifyCompleted(a *arrival) {
	if r := p.requests.get(a.request); r != nil && a.received == a.total && a.wanted == a.total {
		e := a.envelope
		p.verifying.singles = append(p.verifying.singles, completed{e.Context, e.Src, a.seq, verify.Sum(e.Tag, r.buffer[:a.total])})
	}
}

// digested adds the digest to an acknowledgement to a replica of src.
func (v *verifying) digested(a wire.Ack, src proto.Rank) wire.Ack {
	if !a.Single {
		a.Verified, a.Digest = true, v.machine.Digest(a.Context, src)
		return a
	}
	for i := len(v.singles) - 1; i >= 0; i-- {
		if c := &v.singles[i]; c.context == a.Context && c.src == src && c.seq == a.Seq {
			a.Verified, a.Digest = true, c.digest
			break
		}
	}
	return a
}

// verifyAcked compares what a receiver says.
func (p *Process) verifyAcked(from proto.Proc, a wire.Ack) {
	v, l := p.verifying, p.cfg.Layout
	v.machine.Acked(l.Rank(from), l.Replica(from), a.Context, a.Seq, a.Single, a.Digest, a.Verified, &v.out)
	p.runVerify()
}

// verifyGone stops waiting for a process that has died or left.
func (p *Process) verifyGone(q proto.Proc) {
	v, l := p.verifying, p.cfg.Layout
	v.machine.Gone(l.Rank(q), l.Replica(q), &v.out)
	p.runVerify()
}

// verifyJoined notes that a replacement is about to be a replica like any other.
func (p *Process) verifyJoined(q proto.Proc) {
	v, l := p.verifying, p.cfg.Layout
	rank, k := l.Rank(q), l.Replica(q)
	v.machine.Came(rank, k, func(context, seq uint64) bool { return p.replica.Lacks(context, rank, seq, k) }, &v.out)
	p.runVerify()
}

// verifyAckAgain tells all replicas of a rank, which a replacement has joined, again what has
// arrived from the rank. The replacement has yet to hear of its donor's messages, of which the
// donor itself wasn't told. The replica that has sent instead of the replacement has yet to hear
// of those messages.
func (p *Process) verifyAckAgain(src proto.Rank) {
	l := p.cfg.Layout
	for k := range l.Degree(src) {
		if q := l.Proc(src, k); p.replica.Alive(q) {
			p.verifying.machine.Inflows(src, func(context, seq uint64) {
				p.replicaOut = append(p.replicaOut, replica.Action{Kind: replica.Acknowledge, To: q, Context: context, Seq: seq})
			})
		}
	}
}

// verifyState is the donor's part of a transfer, if there is anything to compare.
func (p *Process) verifyState() []byte {
	if p.verifying == nil {
		return nil
	}
	return p.verifying.machine.AppendState(nil)
}

// restoreVerifying takes over the donor's part.
func (p *Process) restoreVerifying(state []byte) error {
	switch {
	case p.verifying == nil && len(state) == 0:
		return nil
	case p.verifying == nil:
		return ErrSnapshot
	}
	if err := p.verifying.machine.Restore(state); err != nil {
		return err
	}
	for q := range p.peers {
		if p.peers[q].gone() {
			p.verifyGone(proto.Proc(q))
		}
	}
	return nil
}

// runVerify reports the verdicts.
func (p *Process) runVerify() {
	v, l := p.verifying, p.cfg.Layout
	for _, d := range v.out {
		c := Corruption{Verdict: d, Rank: p.rank}
		switch d.Kind {
		case verify.Outvoted:
			for _, r := range []proto.Rank{p.rank, d.Dst} {
				if d.Replica < l.Degree(r) && p.peers[l.Proc(r, d.Replica)].state != peerDead {
					c.Procs = append(c.Procs, l.Proc(r, d.Replica))
				}
			}
		case verify.Outnumbered:
			c.Procs = []proto.Proc{p.cfg.Self}
		}
		for _, q := range c.Procs {
			c.Incarnations = append(c.Incarnations, p.peers[q].incarnation)
		}
		p.cfg.Corrupted(c)
	}
	v.out = v.out[:0]
}

// condemned tells whether this process was found to be corrupted: it must not go on.
func (p *Process) condemned() bool { return p.verifying != nil && p.verifying.machine.Condemned() }
