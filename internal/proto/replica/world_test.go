package replica

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// This file is a small world in which machines run: processes that follow a script, FIFO
// channels between them, crashes and the news of them. Explorers (exhaustive_test.go,
// random_test.go) choose the next event; the world checks what the program sees. What a process
// does with an event is in reaction_test.go.
//
// A crash may lose any suffix of the frames under way from the dead process. The world needs no
// event for that: a receiver that hears of the death first loses the frame, and until then it
// can't tell a lost frame from a late one. So a crash between two actions of one step needs no
// event either.

// frame is what travels between processes.
type frame struct {
	kind    frameKind
	context uint64
	seq     uint64
	id      int // which message it is, as the number of the sender's step
	single  bool
	// incarnation of the sender: each incarnation has its own connections.
	incarnation proto.Incarnation
	note        Note
	state       *state
	// number of the content, where a memo gave it one.
	number uint32
}

type frameKind uint8

const (
	frameEager frameKind = iota
	frameOffer
	framePull
	frameData
	frameAck
	frameGoodbye
	frameNote
	frameState
	frameReport
)

// item is a message that has arrived and waits for its receive.
type item struct {
	context  uint64
	src      proto.Rank
	seq      uint64
	id       int
	from     proto.Proc
	pulled   bool
	complete bool
	spare    uint64 // other processes that have offered it
}

// open is a message that was sent and isn't released yet.
type open struct {
	id         int
	rendezvous bool
}

type status uint8

const (
	running status = iota
	doomed         // suspected, and running until it is fenced
	joiner         // waits for its donor's state
	crashed
	left
)

// node is one process of the world.
type node struct {
	status      status
	incarnation proto.Incarnation
	told        []proto.Incarnation // by process: the deaths that this one was told of
	m           *Machine
	state
	paused bool       // a donor, until its state is taken
	donor  proto.Proc // of a joiner
	known  *known     // of one that a memo keeps
}

// state is the state of the program and of the layer around the machine.
type state struct {
	pc        int
	inbox     []item
	got       []int // messages received, by context·ranks + source
	open      []open
	throttled bool // its last send isn't complete, because it is too far ahead
	// machine is the state of the machine, in what a donor sends.
	machine []byte
}

// options say what may happen in a world.
type options struct {
	crashes int    // at most, in the whole job; each rank keeps one replica
	victims uint64 // the processes that may crash
	suspect bool   // crashes may be suspected first
	leave   bool   // idle processes leave on their own, some in order to crash then
	prompt  bool   // acknowledgements are sent at once
	mirror  bool
	skew    uint64 // with mirror: Config.MaxSkew; see messageSize
	dead    uint64 // the processes that died before the job began; all know of it
	heals   int    // how often a slot may be filled anew
	donors  uint64 // those that may be donors
	through bool   // check what a process that is through may say; see through_test.go
	purge   bool   // frames of a dead process vanish with the news of its death
	bug     bug
}

// rules are the constant part of a world.
type rules struct {
	layout   layout.Layout
	program  script
	contexts int
	options
}

// world is a job.
type world struct {
	*rules
	moreCrashes, moreHeals int // that may still happen
	nodes                  []*node
	channels               []*queue   // from·procs + to
	healing                uint64     // the replacements that aren't settled
	healed                 bool       // some slot was
	unsettled              bool       // some replacement died before all processes had welcomed it
	unheard                proto.Proc // died by the last event, or is suspected since, and is no replacement; or NoProc
	// transmitted are the copies that were sent, where that is checked.
	transmitted map[transmission]bool
	// memo keeps nodes, channels and reactions for an exploration. Without it a world
	// changes its nodes themselves.
	memo    *memo
	reduced bool            // leave out what can't show anything new; see reduced_test.go
	ends    map[string]bool // if not nil: the quiet worlds of an exploration
	events  []event         // memory
	order   *rand.Rand      // of the events of a state, for an exploration of a part; nil: as they come
}

func newWorld(l layout.Layout, program script, contexts int, o options) *world {
	w := &world{rules: &rules{l, program, contexts, o}, moreCrashes: o.crashes, moreHeals: o.heals, unheard: proto.NoProc}
	w.channels = make([]*queue, l.Procs()*l.Procs())
	for p := range l.Procs() {
		w.nodes = append(w.nodes, &node{
			told: make([]proto.Incarnation, l.Procs()), m: New(Config{Layout: l, Self: proto.Proc(p), Mirror: o.mirror, MaxSkew: o.skew}),
			state: state{got: make([]int, contexts*l.Ranks())},
		})
	}
	for p, n := range w.nodes {
		for q := range w.nodes {
			if o.dead&(1<<q) != 0 && p != q {
				n.told[q] = 1
				n.m.Dead(proto.Proc(q), 0, nil)
			}
		}
		if o.dead&(1<<p) != 0 {
			n.status = crashed
		}
	}
	for p, n := range w.nodes {
		if n.active() {
			r := reaction{rules: w.rules, at: proto.Proc(p), n: n}
			if err := errors.Join(r.advance(), w.sendAll(&r)); err != nil {
				panic(err)
			}
		}
	}
	return w
}

// transmission is one copy of a message.
type transmission struct {
	from, to     proto.Proc
	incarnations uint64
	context, seq uint64
}

// event is something that can happen.
type event struct {
	kind  eventKind
	at    proto.Proc
	other proto.Proc // deliver: the sender; notice: the dead; heal: the slot
}

type eventKind uint8

const (
	evStep    eventKind = iota // the program sends
	evDeliver                  // a frame arrives
	evFlush                    // acknowledgements are sent
	evNotice                   // a process learns of a death
	evCrash
	evSuspect
	evHeal // a slot begins to be filled
	evLeave
)

func (e event) String() string {
	switch e.kind {
	case evDeliver:
		return fmt.Sprintf("%d→%d", e.other, e.at)
	case evNotice:
		return fmt.Sprintf("%d:dead(%d)", e.at, e.other)
	case evHeal:
		return fmt.Sprintf("%d:heal(%d)", e.at, e.other)
	}
	return fmt.Sprintf("%d:%s", e.at, [...]string{"send", "", "flush", "", "crash", "suspect", "", "leave"}[e.kind])
}

// active says whether a process still does things.
func (n *node) active() bool { return n.status <= joiner }

// finished says whether a process has reached its program's end and may leave.
func (w *world) finished(p proto.Proc) bool {
	n := w.nodes[p]
	return n.pc == len(w.program[w.layout.Rank(p)]) && !n.throttled && n.m.Idle()
}

// mayCrash says whether p may die: its rank must keep a replica that doesn't die.
func (w *world) mayCrash(p proto.Proc) bool {
	if w.moreCrashes == 0 || w.victims&(1<<p) == 0 || w.nodes[p].status == crashed {
		return false
	}
	for replica := range w.layout.Degree(w.layout.Rank(p)) {
		sibling := w.layout.Proc(w.layout.Rank(p), replica)
		if s := w.nodes[sibling].status; sibling != p && (s == running || s == left) || w.nodes[p].status == joiner {
			return true
		}
	}
	return false
}

// enabled appends every event that is possible next.
func (w *world) enabled(events []event) []event {
	procs := w.layout.Procs()
	for i, n := range w.nodes {
		p := proto.Proc(i)
		if n.status == doomed {
			events = append(events, event{evCrash, p, proto.NoProc})
		} else if w.mayCrash(p) {
			events = append(events, event{evCrash, p, proto.NoProc})
			if w.suspect && n.status == running {
				events = append(events, event{evSuspect, p, proto.NoProc})
			}
		}
		if !n.active() {
			continue
		}
		steps := w.program[w.layout.Rank(p)]
		if n.status == joiner || n.paused || n.throttled {
			// It acts only on what it hears.
		} else if n.pc < len(steps) && (steps[n.pc].kind == opSend || steps[n.pc].kind == opOffer) {
			events = append(events, event{evStep, p, proto.NoProc})
		}
		if n.m.AcksOwed() > 0 && n.status != joiner {
			events = append(events, event{evFlush, p, proto.NoProc})
		}
		if w.leave && n.status == running && w.finished(p) {
			events = append(events, event{evLeave, p, proto.NoProc})
		}
		for j, other := range w.nodes {
			if w.channels[j*procs+i] != nil {
				events = append(events, event{evDeliver, p, proto.Proc(j)})
			}
			if i != j && n.told[j] < other.deaths() {
				events = append(events, event{evNotice, p, proto.Proc(j)})
			}
			if w.mayHeal(p, proto.Proc(j)) {
				events = append(events, event{evHeal, p, proto.Proc(j)})
			}
		}
	}
	return events
}

// apply applies an event, and returns what is wrong with its outcome.
func (w *world) apply(e event) error {
	w.note(e)
	var f frame
	switch e.kind {
	case evDeliver:
		f = w.pop(w.channel(e.other, e.at))
	case evNotice:
		if w.purge {
			w.drop(w.channel(e.other, e.at), w.nodes[e.at].told[e.other])
		}
	case evHeal:
		f.incarnation = w.begin(e.at, e.other)
	case evCrash:
		if w.nodes[e.at].status != doomed {
			w.moreCrashes--
		}
		w.crash(e.at)
		return nil
	case evSuspect:
		w.moreCrashes--
	case evLeave:
		w.deafen(e.at)
	}
	r, err := w.react(e, f)
	if err != nil {
		return err
	}
	w.nodes[e.at] = r.n
	if r.died {
		w.crash(e.at)
		return nil
	}
	if r.abandoned != proto.NoProc && w.nodes[r.abandoned].status == joiner {
		w.crash(r.abandoned)
	}
	if r.healed {
		w.healing &^= 1 << e.at
	}
	return errors.Join(w.sendAll(r), w.ahead(r), w.throughs(e.at))
}

// note updates unheard.
func (w *world) note(e event) {
	n, was := w.nodes[e.at], w.unheard
	w.unheard = proto.NoProc
	if (e.kind == evSuspect || e.kind == evCrash) && n.incarnation == 0 && (n.status != doomed || was == e.at) {
		w.unheard = e.at
	}
}

// react returns a process's reaction to an event.
func (w *world) react(e event, f frame) (*reaction, error) {
	if w.memo != nil {
		return w.memo.react(w.rules, w.nodes[e.at], e, f)
	}
	r := &reaction{rules: w.rules, at: e.at, n: w.nodes[e.at], abandoned: proto.NoProc}
	return r, r.to(e, f)
}

// crash ends a process.
func (w *world) crash(p proto.Proc) {
	n := &node{status: crashed, incarnation: w.nodes[p].incarnation}
	if w.memo != nil {
		n = w.memo.node(n)
	}
	w.nodes[p] = n
	w.deafen(p)
	if w.healing&(1<<p) != 0 {
		w.healing &^= 1 << p
		w.unsettled = true
	}
}

// channel is the queue of a channel.
func (w *world) channel(from, to proto.Proc) **queue {
	return &w.channels[int(from)*w.layout.Procs()+int(to)]
}

// deafen drops the frames under way to a process that has ended.
func (w *world) deafen(p proto.Proc) {
	for from := range w.nodes {
		*w.channel(proto.Proc(from), p) = nil
	}
}

// sendAll puts what a process sends into channels.
func (w *world) sendAll(r *reaction) error {
	for _, s := range r.sends {
		if err := w.send(r.at, s); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) send(from proto.Proc, s sending) error {
	if s.frame.kind == frameReport && w.bug.reports(w, s.to) {
		return nil
	}
	if w.transmitted != nil && (s.frame.kind == frameEager || s.frame.kind == frameOffer) {
		copy := transmission{from, s.to, uint64(s.frame.incarnation)<<32 + uint64(s.incarnation), s.frame.context, s.frame.seq}
		if w.transmitted[copy] && !(w.healed && s.frame.kind == frameOffer) { // offers are repeated when a replacement that took them over dies
			return fmt.Errorf("%v transmits message %d to %v twice", from, s.frame.id, s.to)
		}
		w.transmitted[copy] = true
	}
	if to := w.nodes[s.to]; to.active() && s.to != from && s.incarnation == to.incarnation {
		w.push(w.channel(from, s.to), s.frame)
	}
	return nil
}

// coverage checks that some process of each rank sends to each replica of the other ranks, if
// none has left and all deaths are known. It is exactly one process, unless the siblings heard
// different things of a replacement before it died.
func (w *world) coverage() error {
	sends := make([]replicas, w.layout.Ranks())
	for i, n := range w.nodes {
		rank := w.layout.Rank(proto.Proc(i))
		switch {
		case n.status == left || n.status == doomed:
			return nil
		case n.status != running:
		case !w.mirror && !w.unsettled && sends[rank]&n.m.covers != 0:
			return fmt.Errorf("%d covers %b, which a sibling does", i, n.m.covers)
		default:
			sends[rank] |= n.m.covers
		}
	}
	for r, sent := range sends {
		if sent != allOf(w.layout) {
			return fmt.Errorf("%b of rank %d cover nobody", allOf(w.layout)&^sent, r)
		}
	}
	return nil
}

// verdict checks a world in which only crashes are possible.
func (w *world) verdict() error {
	if err := w.coverage(); err != nil {
		return err
	}
	for i, n := range w.nodes {
		if n.status == joiner || n.status == running && n.paused {
			return fmt.Errorf("%d waits for ever for a healing to go on", i)
		}
		if n.status != running {
			continue
		}
		p := proto.Proc(i)
		if steps := w.program[w.layout.Rank(p)]; n.pc < len(steps) {
			return fmt.Errorf("%v waits for ever at step %d", p, n.pc)
		}
		if n.throttled {
			return fmt.Errorf("%v is throttled for ever", p)
		}
		if len(n.inbox) > 0 {
			return fmt.Errorf("%v has %d messages too many", p, len(n.inbox))
		}
		if messages, bytes := n.m.Retained(); messages != 0 || bytes != 0 || !n.m.Idle() || len(n.open) > 0 {
			return fmt.Errorf("%v retains %d messages of %d bytes, %d not released, for ever", p, messages, bytes, len(n.open))
		}
	}
	return nil
}
