package comm

import (
	"errors"

	"banyan/internal/runtime/commons"
	"banyan/internal/runtime/engine"
)

// Small collectives of members that share memory go through memory that the communicator has in
// common: each member gives its data there, and takes what it needs of the others'
// (internal/proto/cells). That is one step, without messages: a member that comes last doesn't
// wait at all. The members combine in the same order as they would with messages, so the result is
// the same to the bit.
//
// The memory is opened by the sharedFrom-th small collective of a communicator, since it costs as
// much as some dozens of them. All members count alike.

// sharedFrom is the number of the small collective of a communicator that opens its common memory,
// sharedFromOversubscribed the same where members share cores: there, to open it costs three
// collectives of many turns each.
const (
	sharedFrom               = 16
	sharedFromOversubscribed = 64
)

// errAhead is why a snapshot isn't taken now.
var errAhead = errors.New("a collective that other ranks have begun before their safe point, and this one hasn't")

// sharing is what a communicator knows of its commons.
type sharing struct {
	may   bool // the members share memory, and the common memory isn't known to be impossible
	from  int  // the number of the small collective that opens it
	calls int  // small collectives so far
	in    *engine.Shared

	unwilling bool // in tests: this member can't
}

const notSmall commons.Kind = 0

// small is a collective that may go through the common memory, with its arguments.
type small struct {
	kind       commons.Kind // notSmall: none
	root       int
	send, recv []byte
	op         Op
}

// mayShare tells whether a communicator's small collectives go through common memory, unless that
// turns out to be impossible. The answer is the same at all members.
func (c *Comm) mayShare() bool {
	return c.shared && !c.copies && c.Size() > 1 && c.Size() <= commons.MaxSize && !c.eng.NamesTree()
}

// sharesFrom is the number of the small collective that opens the common memory.
func (c *Comm) sharesFrom() int {
	if c.eng.Oversubscribed(c.group) {
		return sharedFromOversubscribed
	}
	return sharedFrom
}

// isSmall tells whether a collective goes through the common memory, or opens it: each member gives
// so much data, and takes so much of all. It counts those before. Each collective asks once.
func (c *Comm) isSmall(gives, takes int) bool {
	s := &c.sharing
	if !s.may || gives > commons.Room || takes > commons.Whole {
		return false
	}
	if s.in == nil && s.calls < s.from { // a restored count may be there already
		s.calls++
	}
	return s.in != nil || s.calls >= s.from
}

// build makes the steps of a small collective that doesn't go through the commons.
func (p *Plan) build() {
	if p.small.kind == notSmall {
		return
	}
	s := p.small
	p.small = small{}
	switch s.kind {
	case commons.Barrier:
		p.barrierSteps()
	case commons.Bcast:
		p.bcastSteps(s.recv, s.root)
	case commons.Reduce:
		p.reduceSteps(s.send, s.recv, s.op, s.root)
	case commons.Allreduce:
		p.allreduceSteps(s.send, s.recv, s.op)
	case commons.Allgather:
		p.allgatherSteps(s.send, s.recv)
	case commons.Alltoall:
		p.alltoallSteps(s.send, s.recv)
	}
}

// share carries a small collective out through the commons. done is false if there is none; then
// the steps have been made.
func (p *Plan) share() (done bool, err error) {
	c := p.comm
	if c.sharing.in == nil {
		if c.sharing.may {
			c.openCommons()
		}
		if c.sharing.in == nil {
			p.build()
			return false, nil
		}
	}
	if err = c.eng.Share(c.sharing.in, p.op, p.call(), p); err != nil {
		err = c.wrap(p.op, err)
	}
	p.release()
	return true, err
}

// call is a small collective in the words of the commons.
func (p *Plan) call() commons.Call {
	s := &p.small
	call := commons.Call{Kind: s.kind, Root: s.root, Size: len(s.send), Give: s.send}
	switch s.kind {
	case commons.Bcast:
		call.Pattern, call.Size, call.Give = commons.FromRoot, len(s.recv), s.recv
	case commons.Reduce:
		call.Pattern = commons.ToRoot
	}
	return call
}

// Take implements engine.Taker.
func (p *Plan) Take(in *commons.Memory) {
	s := &p.small
	switch s.kind {
	case commons.Bcast:
		copy(s.recv, in.Data(s.root))
	case commons.Allgather:
		each := len(s.send)
		for r := range p.size() {
			copy(s.recv[r*each:], in.Data(r))
		}
	case commons.Alltoall:
		each := len(s.send) / p.size()
		for r := range p.size() {
			copy(s.recv[r*each:(r+1)*each], in.Data(r)[p.rank()*each:])
		}
	case commons.Reduce:
		own := s.send
		if s.root != 0 { // recv may be send, and is written first
			own = p.scratch(len(own))
			copy(own, s.send)
		}
		b := brackets{p: p, op: s.op, blocks: p.size(), leaf: func(rank int) (first, second []byte) {
			if rank == s.root {
				return own, nil
			}
			return in.Data(rank), nil
		}}
		b.combine(s.recv, 0, p.size())
	case commons.Allreduce:
		if p.size() == 2 {
			copy(s.recv, in.Data(0))
			s.op.Combine(s.recv, in.Data(1))
			return
		}
		f := fold(p.size(), p.rank())
		b := brackets{p: p, op: s.op, blocks: f.power, leaf: func(position int) (first, second []byte) {
			r, end := f.block(position)
			if end-r == 2 {
				return in.Data(r), in.Data(r + 1)
			}
			return in.Data(r), nil
		}}
		b.combine(s.recv, 0, f.power)
	}
}

// brackets combines what the members have given, with the brackets that the algorithms by messages
// have: binomialReduce, where each block is a member, and doublingAllreduce, where some blocks are
// two members that fold.
type brackets struct {
	p      *Plan
	op     Op
	blocks int
	leaf   func(block int) (first, second []byte)
}

// combine leaves in data what the blocks from block on, at most so many, come to.
func (b *brackets) combine(data []byte, block, most int) {
	first, second := b.leaf(block)
	copy(data, first)
	if second != nil {
		b.op.Combine(data, second)
	}
	var aside []byte
	for bit := 1; bit < most && block+bit < b.blocks; bit *= 2 {
		if bit == 1 {
			if next, pair := b.leaf(block + 1); pair == nil {
				b.op.Combine(data, next)
				continue
			}
		}
		if aside == nil {
			aside = b.p.scratch(len(data))
		}
		b.combine(aside, block+bit, bit)
		b.op.Combine(data, aside)
	}
}

// openCommons opens the common memory, or finds that it can't be used. All members do so at the
// same call, and exchange messages; but what is used is decided in the common memory
// (commons.Memory.Decide), so that all live members agree although some die meanwhile.
func (c *Comm) openCommons() {
	c.sharing.may = false
	mine := c.eng.CanShare() && !c.sharing.unwilling
	var s *commons.Memory
	c.eng.Uncounted(func() { s = c.agreeOnCommons(mine) })
	if s != nil {
		c.sharing.may = true
		c.sharing.in = &engine.Shared{Memory: s, Context: c.context | collectivePart, Members: c.group}
		c.eng.SetPart(c.handle, &s.Part)
	}
}

// agreeOnCommons gives the common memory that all use, or nil.
func (c *Comm) agreeOnCommons(willing bool) *commons.Memory {
	var s *commons.Memory
	var ticket commons.Ticket
	if willing && c.rank == 0 {
		s, ticket, _ = commons.Make(c.Size())
	}
	// All three run, whatever becomes of them: members count them.
	told := c.MessageBcast(ticket[:], 0).Run()
	if willing && c.rank != 0 && told == nil {
		s, _ = commons.Open(ticket, c.rank, c.Size())
	}
	var opened, all [1]byte
	if s != nil {
		opened[0] = 1
	}
	p := c.plan("Reduce")
	p.binomialReduce(opened[:], all[:], Op{Combiner: Func(both), Size: 1}, 0)
	counted := p.Run()
	if s != nil && c.rank == 0 {
		s.Shut()
		s.Decide(counted == nil && all[0] == 1)
	}
	var over [1]byte
	c.MessageBcast(over[:], 0).Run()
	if s != nil && !s.Decide(false) {
		s.Unmap()
		return nil
	}
	return s
}

func both(left, right []byte) { left[0] &= right[0] }

// closeCommons ends the use of the common memory here.
func (c *Comm) closeCommons() {
	if c.sharing.in != nil {
		c.eng.SetPart(c.handle, nil)
		c.sharing.in.Unmap()
		c.sharing = sharing{}
	}
}

// Settled implements engine.Settler: it says why this rank's state isn't its whole part of a
// snapshot, in which nothing of common memory is.
func (c *Comm) Settled() error {
	if c.sharing.in != nil && c.sharing.in.Ahead() {
		return errAhead
	}
	return nil
}
