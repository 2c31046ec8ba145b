package process

import (
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/proto/once"
	"banyan/internal/runtime/wire"
	"banyan/internal/varint"
)

// What the replicas of a rank do once, such as to write to a file: one of them does it, and the
// others learn what came of it (package once). This file is the driver of that machine.

// onces is a process's part.
type onces struct {
	m     *once.Machine // nil: the job has no replicas
	out   once.Actions
	wire  []byte // for frames; reused
	parts [][]byte
	under map[once.Key]onceUnder
}

// onceUnder is something that the program waits for.
type onceUnder struct {
	h      Handle
	begin  func(again bool)
	result *once.Result
}

// oncePiece is how much of a result one frame carries.
const oncePiece = 256 << 10

// beginOnce prepares for things that are done once, if the job has replicas.
func (p *Process) beginOnce() {
	if !p.replicated {
		return
	}
	degree := p.cfg.Layout.Degree(p.rank)
	p.once = onces{
		m:     once.New(once.Config{Degree: degree, Self: p.cfg.Layout.Replica(p.cfg.Self), Joins: p.cfg.Replacement}),
		parts: make([][]byte, degree), under: map[once.Key]onceUnder{},
	}
}

// DoOnce has one of the replicas of this rank do something. begin begins it, if that is this
// process, and calls nothing here; Performed ends it. again says that another replica may have
// begun it, and has died. The request ends when all live replicas know the result.
func (p *Process) DoOnce(k once.Key, begin func(again bool), result *once.Result) Handle {
	h, r := p.newRequest(composite)
	switch {
	case p.healing.replay != nil:
		p.complete(h, r, fmt.Errorf("%w: it uses a file before its first safe point", ErrReplay))
	case p.lifecycle.fenced:
		p.complete(h, r, ErrFenced)
	default:
		p.once.under[k] = onceUnder{h, begin, result}
		p.once.m.Reach(k, &p.once.out)
		p.runOnce()
	}
	return h
}

// Performed says what came of something that was begun here.
func (p *Process) Performed(k once.Key, r once.Result) {
	p.once.m.Performed(k, r, &p.once.out)
	p.runOnce()
}

// runOnce carries out what the machine asked for.
func (p *Process) runOnce() {
	o := &p.once
	for i := 0; i < len(o.out); i++ {
		a := &o.out[i]
		switch a.Kind {
		case once.Send:
			p.sendOnce(p.cfg.Layout.Proc(p.rank, a.To), a.Message)
		case once.Perform:
			if !p.lifecycle.fenced {
				o.under[a.Key].begin(a.Again)
			}
		case once.Return:
			u := o.under[a.Key]
			delete(o.under, a.Key)
			*u.result = a.Result
			p.End(u.h, nil)
		}
		*a = once.Action{}
	}
	o.out = o.out[:0]
}

// endOnce ends what the program waits for: this process is fenced.
func (p *Process) endOnce(err error) {
	for k, u := range p.once.under { //banyan:maporder each by itself
		delete(p.once.under, k)
		p.End(u.h, err)
	}
}

// sendOnce sends a message to another replica of this rank: data that is too long for a frame goes
// ahead of it.
func (p *Process) sendOnce(to proto.Proc, m once.Message) {
	o, data := &p.once, m.Result.Data
	head := once.AppendMessage(nil, m)
	for len(data) > oncePiece {
		o.wire = append(varint.AppendBytes(o.wire[:0], nil), data[:oncePiece]...)
		p.send(to, p.nextHeader(wire.KindOnce), o.wire, 0)
		data = data[oncePiece:]
	}
	o.wire = append(varint.AppendBytes(o.wire[:0], head), data...)
	p.send(to, p.nextHeader(wire.KindOnce), o.wire, 0)
}

// onceArrived takes a message of another replica of this rank.
func (p *Process) onceArrived(from proto.Proc, payload []byte) {
	o := &p.once
	if o.m == nil || p.cfg.Layout.Rank(from) != p.rank || from == p.cfg.Self {
		return
	}
	replica := p.cfg.Layout.Replica(from)
	r := varint.Read(payload)
	head := r.Bytes()
	if r.Failed() {
		return
	}
	o.parts[replica] = append(o.parts[replica], r.Rest()...)
	if len(head) == 0 {
		return
	}
	data := o.parts[replica]
	o.parts[replica] = nil
	msg, err := once.ParseMessage(head, data)
	if err != nil {
		return
	}
	fenced := o.m.Arrived(replica, msg, &o.out)
	p.runOnce()
	if fenced {
		p.fence(from) // it holds this replica for dead
	}
}

// onceTold tells the machine that a replica is gone, or has joined.
func (p *Process) onceTold(q proto.Proc, word func(m *once.Machine, replica int, out *once.Actions)) {
	if o := &p.once; o.m != nil && p.cfg.Layout.Rank(q) == p.rank && q != p.cfg.Self && !p.awaitsState() {
		o.parts[p.cfg.Layout.Replica(q)] = nil
		word(o.m, p.cfg.Layout.Replica(q), &o.out)
		p.runOnce()
	}
}

// onceAdmit notes that a replacement for a replica of this rank is about to get a donor's state.
func (p *Process) onceAdmit(replacement, donor proto.Proc) {
	if l := p.cfg.Layout; l.Rank(donor) == p.rank {
		p.onceTold(replacement, func(m *once.Machine, replica int, out *once.Actions) { m.Admit(replica, l.Replica(donor), out) })
	}
}

// oncePending says that something is under way that is done once; nil: nothing is.
func (p *Process) oncePending() error {
	if p.once.m != nil && !p.once.m.Idle() {
		return errOnce
	}
	return nil
}

var errOnce = fmt.Errorf("another replica of the rank is ahead in its use of a file")

// appendOnce appends what a replacement has to know.
func (p *Process) appendOnce(b []byte) []byte {
	if p.once.m == nil || p.healing.donation == nil {
		return varint.AppendBytes(b, nil)
	}
	return varint.AppendBytes(b, p.once.m.AppendState(nil, p.cfg.Layout.Replica(p.healing.donation.replacement)))
}

// restoreOnce takes that over.
func (p *Process) restoreOnce(state []byte) error {
	if p.once.m == nil || len(state) == 0 {
		return nil
	}
	return p.once.m.Restore(state)
}

// onceCommit makes a replacement, which is a replica now, take part.
func (p *Process) onceCommit() {
	o := &p.once
	if o.m == nil {
		return
	}
	for k := range p.cfg.Layout.Degree(p.rank) {
		if q := p.cfg.Layout.Proc(p.rank, k); q != p.cfg.Self && (p.peers[q].state == peerDead || p.peers[q].state == peerLeft) {
			o.m.Gone(k, &o.out)
		}
	}
	o.m.Commit(&o.out)
	p.runOnce()
}
