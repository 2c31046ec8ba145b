package process

import (
	"errors"
	"fmt"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/proto/match"
	"banyan/internal/proto/order"
	"banyan/internal/proto/passive"
	"banyan/internal/runtime/wire"
)

// In leader order one replica of each rank, the leader, decides what timing decides, and its
// siblings follow (package order). This file is the driver of that machine. What is decided:
//
//   - which message a receive takes that names no source (held.go), or no tag, if the program has
//     received from any source before;
//   - what a call says that asks how far things are: a test, a wait for any of several requests, a
//     probe, a cancellation, MPI_Wtime. These are Questions. All replicas ask the same ones in the
//     same order, so an answer needs no name.
//
// A leader collects decisions (decisions.go). What the process sends waits until all replicas know,
// or find, what it may depend on (outbox.go). Siblings that share memory with the leader find its
// decisions there (kept.go), so they are told later, of many at once. Others are told at once, but
// of nothing ("none has ended"), of which a program that tests in a loop gets millions.
//
// With Config.Auto a rank is led from the first call on that timing can decide. All replicas of the
// rank come to that call at the same place, since nothing has been decided before. So nothing is
// agreed upon: each of them begins there.
//
// # Limits
//
// The program communicates from one thread at a time, unless its threads have names
// (ledthreads.go). A receive that names its source and its tag, that the leader has cancelled and
// whose message has come here, ends this process. What a process prints doesn't wait.

// ordered is a process's part in leader order.
type ordered struct {
	m      *order.Machine
	out    order.Actions
	wire   []byte // for frames; reused
	outbox outbox
	led    bool // this replica leads, or has led
	begun  bool // a call has come that timing can decide; or it needn't come
	free   bool // none is decided: the program has asked for threads (StayFree)

	made   decisions  // that the machine doesn't know yet; of a leader
	prefix prefix     // what was decided up to the first safe point
	due    proto.Time // when siblings are told of decisions
	untold int        // records that they haven't been told of
	keeps  bool       // what was decided last is kept for all of them (kept.go)

	threads  []*ledThread // the first one first
	byID     map[ThreadID]*ledThread
	at       *ledThread        // the present one
	threaded bool              // several communicate (ledthreads.go)
	turns    map[uint64]*turns // by context
	passive  map[uint64]*passive.Machine
	held     []heldReceive // in their order
	through  bool          // the leader's program has come to its end
}

// OrderError says that a replica doesn't do what the one did that it follows.
type OrderError struct {
	Rank  proto.Rank
	What  string // what it does
	Where string // where in the program; "" if unknown
}

func (e *OrderError) Error() string {
	return fmt.Sprintf("a replica of %v %s%s: the program depends on something that leader order doesn't decide, such as a clock other than MPI_Wtime, a random number, an address, a file that changes, or several threads", e.Rank, e.What, calledAt(e.Where))
}

// beginOrder takes this process into leader order, if the job has that and the rank is replicated.
func (p *Process) beginOrder() {
	degree := p.cfg.Layout.Degree(p.rank)
	if !p.cfg.Leader || degree < 2 {
		return
	}
	p.order = &ordered{
		m:   order.New(order.Config{Degree: degree, Self: p.cfg.Layout.Replica(p.cfg.Self), Joins: p.cfg.Replacement}),
		due: proto.Never, turns: map[uint64]*turns{}, passive: map[uint64]*passive.Machine{}, byID: map[ThreadID]*ledThread{},
	}
	p.order.prefix.kept = p.cfg.Heal || p.cfg.Marker != nil // for replacements, and for snapshots
	p.order.at = p.order.thread(0)
	p.order.led = p.order.m.Leads()
	p.order.begun = !p.cfg.Auto
	p.special, p.watched = true, p.watched || p.order.begun
}

// beginDecisions begins to have a leader decide, at the first call that timing can decide.
func (p *Process) beginDecisions(call string) {
	p.order.begun, p.watched = true, true
	if p.clock != nil {
		p.deliverEarly()
	}
	if p.cfg.FirstDecision != nil && p.healing.replay == nil {
		p.cfg.FirstDecision(call)
	}
}

// Asks says that the program asks a Question, before its outcome.
func (p *Process) Asks(q Question) {
	if o := p.order; o != nil && !o.begun {
		p.beginDecisions(q.String())
	}
}

// StayFree says, before the program communicates, that its threads will communicate at the same
// time. With Auto its rank stays in free order then. It reports whether it does. All replicas of
// the rank say the same.
func (p *Process) StayFree() bool {
	if p.order == nil || !p.cfg.Auto || p.order.begun {
		return false
	}
	p.order.free, p.special = true, p.concurrent || p.layers.mark&wire.CausesLost != 0
	return true
}

func (o *ordered) deadline() proto.Time { return o.due }

// Led tells whether a replica of this rank decides what timing decides, or will.
func (p *Process) Led() bool { return p.order != nil && !p.order.free }

// Begun tells whether the program has asked for something that timing decides, in leader order.
func (p *Process) Begun() bool { return p.Led() && p.order.begun }

// Decides tells whether this replica makes the next decision, unless it HasAnswer.
func (p *Process) Decides() bool { return p.order == nil || p.order.m.Leads() }

// HasAnswer tells whether the next Question has been answered. A replacement's are, up to its first
// safe point, or it asks what its donor hasn't asked.
func (p *Process) HasAnswer() bool {
	return p.order != nil && (!p.order.at.script.empty() || p.healing.replay != nil)
}

// NextAnswer is the answer to the next Question. The error is an OrderError: another question was
// asked where that was decided, or none.
func (p *Process) NextAnswer(q Question) (word uint64, err error) {
	script := &p.order.at.script
	if script.empty() {
		p.failReplay(fmt.Errorf("%w: it %v, which they didn't", ErrReplay, q))
		return 0, nil
	}
	asked, word := script.next(q)
	switch {
	case asked == q:
		p.noteAnswer(q, word)
		return word, nil
	case p.healing.replay != nil:
		p.failReplay(fmt.Errorf("%w: it %v, where they %v", ErrReplay, q, asked))
		return 0, nil
	case asked == theEnd:
		return 0, p.orderError(fmt.Sprintf("%v, where the one that it follows has come to its end", q))
	}
	return 0, p.orderError(fmt.Sprintf("%v, where the one that it follows %v", q, asked))
}

func (p *Process) orderError(what string) error { return &OrderError{Rank: p.rank, What: what} }

// Answer decides what the answer to a Question is.
func (p *Process) Answer(q Question, word uint64) {
	if o := p.order; o != nil && o.m.Leads() {
		o.made.on(o.at.id)
		o.made.answer(q, word)
		p.noteAnswer(q, word)
		p.tellSoon(word != 0)
	}
}

// decideMatch decides which message a receive takes.
func (p *Process) decideMatch(r *request, e match.Envelope, offered bool) {
	if o := p.order; o.m.Leads() {
		t, number := o.threads[r.number>>threadShift], r.number&(1<<threadShift-1)
		o.made.on(t.id)
		o.made.match(number, matched{e.Src, e.Tag})
		p.noteMatch(t, number, matched{e.Src, e.Tag})
		p.tellSoon(true)
		if offered { // its sender waits for the siblings, too
			p.tellDecisions()
		}
	}
	r.number = 0
}

// tellAfter is how long siblings may not hear of decisions that are nothing.
const tellAfter = proto.Time(100e3) // 100 µs

// untoldLimit is how many records siblings may not have heard of: they say what they know when they
// are told, and what is kept for them is freed then.
const untoldLimit = 32

// tellSoon has siblings told what was decided, or does so at once if that is something and isn't
// kept for them.
func (p *Process) tellSoon(something bool) {
	switch o := p.order; {
	case something && !o.keeps || o.made.size() > decisionsLimit || o.untold > untoldLimit:
		p.tellDecisions()
	case o.due == proto.Never:
		o.due = p.now + tellAfter
	}
}

// tellDecisions tells the siblings what has been decided.
func (p *Process) tellDecisions() {
	o := p.order
	o.due = proto.Never
	if !o.m.Leads() {
		return
	}
	p.decide()
	if !o.m.Flushed() {
		o.untold = 0
		o.m.Flush(&o.out)
		p.runOrder()
	}
}

// decide gives the machine what was decided, and keeps it for the siblings.
func (p *Process) decide() {
	if o := p.order; !o.made.empty() && o.m.Leads() {
		o.m.Decide(o.made.take())
		o.untold++
		p.keepDecisions()
	}
}

// runOrder carries out what the machine asked for.
func (p *Process) runOrder() {
	o := p.order
	for i := range o.out {
		a := &o.out[i]
		o.wire = order.AppendMessage(o.wire[:0], a.Message)
		p.send(p.cfg.Layout.Proc(p.rank, a.To), p.nextHeader(wire.KindOrder), o.wire, 0)
		a.Message = order.Message{}
	}
	o.out = o.out[:0]
	if o.m.Leads() && !o.led {
		o.led = true
		p.releaseHeld()
		if p.lifecycle.finishing {
			p.endOrder()
		}
		p.Changes++
	}
	p.releaseOutput()
}

// orderArrived takes a message of another replica of this rank.
func (p *Process) orderArrived(from proto.Proc, payload []byte) {
	o := p.order
	if o == nil || p.cfg.Layout.Rank(from) != p.rank {
		return
	}
	msg, err := order.ParseMessage(payload)
	if err != nil {
		return
	}
	if replica := p.cfg.Layout.Replica(from); o.m.Deposes(replica, msg) {
		leader, _ := o.m.Leader()
		p.readKept(p.cfg.Layout.Proc(p.rank, leader), true)
	}
	p.takeDecisions(from, msg)
}

// takeDecisions gives the machine a message of another replica.
func (p *Process) takeDecisions(from proto.Proc, msg order.Message) {
	o := p.order
	learnt := o.m.Arrived(p.cfg.Layout.Replica(from), msg, &o.out)
	for _, record := range learnt {
		p.learn(record)
	}
	if len(learnt) > 0 {
		p.releaseHeld()
		p.Changes++
	}
	p.runOrder()
	if o.led && !o.m.Leads() {
		p.fence(from) // it leads, since it holds this replica for dead
	}
}

// learn takes decisions of the leader.
func (p *Process) learn(record []byte) { readDecisions(record, &hearing{Process: p}) }

// orderTold tells the machine that a replica is dead, has left or has joined.
func (p *Process) orderTold(q proto.Proc, word func(m *order.Machine, replica int, out *order.Actions)) {
	if o := p.order; o != nil && p.cfg.Layout.Rank(q) == p.rank && !p.awaitsState() {
		word(o.m, p.cfg.Layout.Replica(q), &o.out)
		p.runOrder()
	}
}

// endOrder tells the siblings that the program has come to its end.
func (p *Process) endOrder() {
	if o := p.order; o != nil && o.m.Leads() && !o.through && !o.free {
		o.through = true
		o.made.end()
		p.tellDecisions()
	}
}

// endUnfollowed ends receives that wait for decisions which nobody makes any more: the leader has
// come to its end, and this program to the end of what was decided.
func (p *Process) endUnfollowed() {
	o := p.order
	if o == nil || !o.through || p.lifecycle.finishing || !o.threads[0].script.atEnd() {
		return
	}
	for _, w := range slices.Clone(o.held) {
		if r := p.requests.get(w.h); r != nil && r.aged {
			p.fail(w.h, r, p.orderError("waits for a message, where the one that it follows has come to its end"))
		}
	}
}

// CancelDecided cancels a receive, or doesn't, as was decided.
func (p *Process) CancelDecided(h Handle, cancelled bool) error {
	r := p.requests.get(h)
	if !cancelled || r == nil || r.done && errors.Is(r.err, ErrCancelled) {
		return nil
	}
	switch {
	case p.Cancel(h):
		return nil
	case p.healing.replay != nil:
		p.failReplay(fmt.Errorf("%w: it can't cancel a receive that they have cancelled", ErrReplay))
		return nil
	}
	return p.orderError("can't cancel a receive that the one that it follows has cancelled: its message has come")
}
