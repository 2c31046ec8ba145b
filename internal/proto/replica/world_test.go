package replica

import (
	"fmt"
	"slices"

	"banyan/internal/proto"
)

// This file is a small world in which machines run: processes that follow a
// script, FIFO channels between them, crashes and the news of them. Explorers
// (exhaustive_test.go, random_test.go) choose what happens next; the world
// checks what the program sees.
//
// A crash may lose any suffix of what is in flight from the dead process. The
// world needs no event for that: a frame is lost to a receiver that hears of
// the death first, and until it does it can't tell a lost frame from a late one.
// So a crash between two actions of one step needs no event either.

// frame is what travels between processes.
type frame struct {
	kind    frameKind
	context uint64
	seq     uint64
	id      int // which message it is: the sender's step
	single  bool
	// incarnation of the sender: each has connections of its own.
	incarnation uint32
	note        Note
	state       *state
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

// item is a message that has arrived and waits to be received.
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

// open is a message that was sent and hasn't been released.
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

// node is one process.
type node struct {
	status      status
	incarnation uint32
	told        []uint32 // by process: of how many of its deaths it was told
	m           *Machine
	state
	paused bool       // a donor, until its state is taken
	donor  proto.Proc // of a joiner
}

// state is that of the program and of the layer around the machine.
type state struct {
	pc    int
	inbox []item
	got   []int // messages received, by context·ranks + source
	open  []open
	held  bool // its last send isn't complete: it is too far ahead
	// machine is that of the machine, in what a donor sends.
	machine []byte
}

// options say what may happen in a world.
type options struct {
	crashes int    // at most, in the whole job; each rank keeps one replica
	victims uint64 // who may crash
	suspect bool   // crashes may be suspected first
	leave   bool   // idle processes leave on their own, some only to crash then
	prompt  bool   // acknowledgements leave at once
	mirror  bool
	lead    uint64 // with mirror: Config.Lead; see messageSize
	dead    uint64 // who died before the job began, and all know it
	heals   int    // how often a slot may be filled anew
	donors  uint64 // by whom
	purge   bool   // frames of a dead process vanish with the news of its death
	bug     bug
}

// world is a job.
type world struct {
	layout   Layout
	program  script
	contexts int
	options
	// transmitted are the copies that were sent, where that is checked.
	transmitted map[transmission]bool
	nodes       []*node
	channels    [][]frame  // from·procs + to
	healing     proto.Proc // the newcomer that isn't settled, or NoProc
	healed      bool       // some slot was
	unsettled   bool       // some newcomer died before all had welcomed it
}

func newWorld(l Layout, program script, contexts int, o options) *world {
	w := &world{layout: l, program: program, contexts: contexts, options: o, healing: proto.NoProc}
	w.channels = make([][]frame, l.Procs()*l.Procs())
	for p := range l.Procs() {
		w.nodes = append(w.nodes, &node{
			told: make([]uint32, l.Procs()), m: New(Config{Layout: l, Self: proto.Proc(p), Mirror: o.mirror, Lead: o.lead}),
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
	for p := range w.nodes {
		if w.nodes[p].active() {
			w.advance(proto.Proc(p))
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

// finished says whether a process has come to its program's end and may leave.
func (w *world) finished(p proto.Proc) bool {
	n := w.nodes[p]
	return n.pc == len(w.program[w.layout.Rank(p)]) && !n.held && n.m.Idle()
}

// mayCrash says whether p may die and leave its rank a replica that doesn't.
func (w *world) mayCrash(p proto.Proc) bool {
	if w.crashes == 0 || w.victims&(1<<p) == 0 || w.nodes[p].status == crashed {
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

// enabled appends everything that can happen next.
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
		if n.status == joiner || n.paused || n.held {
			// It acts on what it hears only.
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
			if len(w.channels[j*procs+i]) > 0 {
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

// apply lets an event happen, and returns what is wrong with its outcome.
func (w *world) apply(e event) error {
	n := w.nodes[e.at]
	var out Actions
	switch e.kind {
	case evStep:
		o := w.program[w.layout.Rank(e.at)][n.pc]
		n.open = append(n.open, open{n.pc, o.kind == opOffer})
		msg := &Message{Context: o.context, Dst: o.peer, Rendezvous: o.kind == opOffer, User: uint64(n.pc), Total: 1}
		n.transmit(msg, &out)
		n.pc++
		n.held = o.kind == opSend
		w.bug.sent(n, &out)
	case evFlush:
		n.m.FlushAcks(&out)
		w.bug.flushed(n, out)
	case evDeliver:
		channel := &w.channels[int(e.other)*w.layout.Procs()+int(e.at)]
		f := (*channel)[0]
		*channel = (*channel)[1:]
		if f.incarnation < n.m.incarnation(e.other) {
			break // of a connection that is closed
		}
		if err := w.receive(e.at, e.other, f, &out); err != nil {
			return err
		}
	case evNotice:
		if w.purge {
			channel := &w.channels[int(e.other)*w.layout.Procs()+int(e.at)]
			*channel = slices.DeleteFunc(slices.Clone(*channel), func(f frame) bool { return f.incarnation <= n.told[e.other] })
		}
		n.told[e.other]++
		w.bug.dead(n, e.other, n.told[e.other]-1, &out)
		n.orphan()
		if n.status == joiner && n.donor == e.other {
			w.crash(e.at)
		}
	case evHeal:
		w.heal(e.at, e.other, &out)
	case evCrash:
		w.crashes--
		w.crash(e.at)
	case evSuspect:
		n.status = doomed
	case evLeave:
		n.status = left
		w.deafen(e.at)
		for p := range w.nodes {
			w.send(e.at, proto.Proc(p), frame{kind: frameGoodbye})
		}
		return nil
	}
	if !n.active() {
		return nil
	}
	if w.prompt && n.status != joiner {
		n.m.FlushAcks(&out)
		w.bug.flushed(n, out)
	}
	if err := w.carryOut(e.at, out); err != nil {
		return err
	}
	for r := range proto.Rank(w.layout.Ranks()) {
		if n.status == running && n.m.Lost(r) {
			return fmt.Errorf("%v: %v counts as lost", e.at, r)
		}
	}
	return w.advance(e.at)
}

// crash ends a process.
func (w *world) crash(p proto.Proc) {
	w.nodes[p].status = crashed
	w.deafen(p)
	if w.healing == p {
		w.healing = proto.NoProc
		w.unsettled = true
	}
}

// transmit sends a message in one of two ways, if both are open.
func (n *node) transmit(msg *Message, out *Actions) {
	if !msg.Rendezvous && msg.Context == 0 {
		if s, ok := n.m.SendOne(msg.Context, msg.Dst); ok {
			msg.Seq = s.Seq
			out.transmit(msg, s.To)
			if s.Pending() {
				n.m.Retain(&s, msg)
			} else {
				out.release(msg)
			}
			return
		}
	}
	n.m.Send(msg, out)
}

// deafen drops what is under way to a process that is no more.
func (w *world) deafen(p proto.Proc) {
	for from := range w.nodes {
		w.channels[from*w.layout.Procs()+int(p)] = nil
	}
}

// send puts a frame into a channel.
func (w *world) send(from, to proto.Proc, f frame) {
	if w.nodes[to].active() && to != from && w.nodes[from].m.incarnation(to) == w.nodes[to].incarnation {
		f.incarnation = w.nodes[from].incarnation
		channel := &w.channels[int(from)*w.layout.Procs()+int(to)]
		*channel = append((*channel)[:len(*channel):len(*channel)], f) // worlds share the rest
	}
}

// carryOut does what a machine asked for.
func (w *world) carryOut(at proto.Proc, out Actions) error {
	n := w.nodes[at]
	for _, a := range out {
		switch a.Kind {
		case Transmit:
			copy := transmission{at, a.To, uint64(n.incarnation)<<32 + uint64(n.m.incarnation(a.To)), a.Message.Context, a.Message.Seq}
			if w.transmitted[copy] && !(w.healed && a.Message.Rendezvous) { // offers are repeated when a newcomer that took them over dies
				return fmt.Errorf("%v transmits message %d to %v twice", at, a.Message.User, a.To)
			} else if w.transmitted != nil {
				w.transmitted[copy] = true
			}
			kind := frameEager
			if a.Message.Rendezvous {
				kind = frameOffer
			}
			w.send(at, a.To, frame{kind: kind, context: a.Message.Context, seq: a.Message.Seq, id: int(a.Message.User)})
		case Acknowledge:
			w.send(at, a.To, frame{kind: frameAck, context: a.Context, seq: a.Seq, single: a.Single})
		case Redirect:
			i := slices.IndexFunc(n.inbox, func(i item) bool {
				return i.context == a.Context && i.src == w.layout.Rank(a.To) && i.seq == a.Seq
			})
			if i < 0 || n.inbox[i].complete || n.inbox[i].spare&(1<<a.To) == 0 {
				return fmt.Errorf("%v: redirected to %v, which hasn't offered message %d", at, a.To, a.Seq)
			}
			if err := w.pullFrom(at, &n.inbox[i], a.To); err != nil {
				return err
			}
		case Report:
			if w.bug.reports(w, a) {
				break
			}
			w.send(at, a.To, frame{kind: frameReport, seq: a.Seq})
		case Tell:
			w.send(at, a.To, frame{kind: frameNote, note: a.NoteOf()})
		case Handover:
			var more Actions
			w.handOver(at, a.Newcomer, &more)
			if err := w.carryOut(at, more); err != nil {
				return err
			}
		case Abandoned:
			n.paused = false
			if w.nodes[a.Newcomer].status == joiner {
				w.crash(a.Newcomer)
			}
		case Healed:
			w.healing = proto.NoProc
		case Release:
			if n.status == joiner {
				break // of the machine that had no state yet
			}
			i := slices.IndexFunc(n.open, func(o open) bool { return o.id == int(a.Message.User) })
			if i < 0 {
				return fmt.Errorf("%v released message %d twice", at, a.Message.User)
			}
			n.open = slices.Delete(slices.Clone(n.open), i, i+1)
		}
	}
	return nil
}

// pullFrom turns to another sender of a rendezvous, the earlier being dead.
func (w *world) pullFrom(at proto.Proc, i *item, from proto.Proc) error {
	if i.from != proto.NoProc || !w.nodes[at].m.Alive(from) {
		return fmt.Errorf("%v turns from %v to %v for message %d", at, i.from, from, i.id)
	}
	i.from = from
	if i.pulled {
		w.send(at, from, frame{kind: framePull, context: i.context, seq: i.seq, id: i.id})
	}
	return nil
}

// orphan notes which offers have no sender any more. A slot that is filled anew
// offers again, under the same number.
func (n *node) orphan() {
	for i := range n.inbox {
		item := &n.inbox[i]
		if peers := n.m.peers[item.src]; item.from != proto.NoProc && (peers.dead|peers.joining)&n.m.bit(item.from) != 0 {
			item.from = proto.NoProc
		}
		for p := range proto.Proc(len(n.told)) {
			if !n.m.Alive(p) {
				item.spare &^= 1 << p
			}
		}
	}
}

// receive is a process's reaction to a frame, the way the layer above the
// machine is meant to react.
func (w *world) receive(at, from proto.Proc, f frame, out *Actions) error {
	n, src := w.nodes[at], w.layout.Rank(from)
	known := func(i item) bool { return i.context == f.context && i.src == src && i.seq == f.seq }
	switch f.kind {
	case frameEager, frameOffer:
		rendezvous := f.kind == frameOffer
		verdict := w.bug.judge(n, from, f)
		if (verdict == Excluded) != (n.m.peers[src].dead&n.m.bit(from) != 0) {
			return fmt.Errorf("%v: %v for a frame of %v", at, verdict, from)
		}
		switch verdict {
		case Accept:
			n.inbox = append(n.inbox, item{f.context, src, f.seq, f.id, from, false, !rendezvous, 0})
		case Spare, Reoffer:
			i := slices.IndexFunc(n.inbox, known)
			if i < 0 || n.inbox[i].complete || n.inbox[i].id != f.id {
				return fmt.Errorf("%v: reoffer of message %d, which isn't incomplete", at, f.id)
			}
			if verdict == Spare {
				n.inbox[i].spare |= 1 << from
			} else if err := w.pullFrom(at, &n.inbox[i], from); err != nil {
				return err
			}
		case Invalid:
			return fmt.Errorf("%v: number %d of %v is invalid", at, f.seq, from)
		}
	case framePull:
		c := n.m.sending.byKey[key{f.context, src}]
		entry := c.retained.find(f.seq)
		if n.m.peers[src].dead&n.m.bit(from) != 0 {
			break
		}
		if entry == nil {
			return fmt.Errorf("%v: %v pulls message %d, which is released", at, from, f.id)
		}
		w.send(at, from, frame{kind: frameData, context: f.context, seq: f.seq, id: f.id})
		n.m.Delivered(entry.value, from, out)
	case frameData:
		i := slices.IndexFunc(n.inbox, known)
		if n.m.peers[src].dead&n.m.bit(from) == 0 && i >= 0 && n.inbox[i].from == from && !n.inbox[i].complete {
			n.inbox[i].complete = true
			n.m.Completed(f.context, src, f.seq)
		}
	case frameAck:
		w.bug.acked(n, from, f, out)
	case frameReport:
		n.m.Reported(from, f.seq)
	case frameGoodbye:
		n.m.Left(from, out)
	case frameNote:
		w.bug.noted(n, from, f.note, out)
		n.orphan()
	case frameState:
		return w.join(at, f, out)
	}
	return nil
}

// advance runs a program up to its next send or wait, and checks what it
// receives.
func (w *world) advance(at proto.Proc) error {
	n, rank := w.nodes[at], w.layout.Rank(at)
	if n.status == joiner || n.paused {
		return nil
	}
	if n.held {
		if n.m.Held() {
			return nil
		}
		n.held = false
		if err := w.ahead(at); err != nil {
			return err
		}
	}
	for steps := w.program[rank]; n.pc < len(steps); n.pc++ {
		o := steps[n.pc]
		switch o.kind {
		case opSend, opOffer:
			return nil
		case opWait:
			if slices.ContainsFunc(n.open, func(o open) bool { return o.rendezvous }) {
				return nil
			}
		case opRecv:
			i := slices.IndexFunc(n.inbox, func(i item) bool { return i.context == o.context && i.src == o.peer })
			if i < 0 {
				return nil
			}
			if !n.inbox[i].complete {
				if !n.inbox[i].pulled {
					n.inbox[i].pulled = true
					if from := n.inbox[i].from; from != proto.NoProc {
						w.send(at, from, frame{kind: framePull, context: o.context, seq: n.inbox[i].seq, id: n.inbox[i].id})
					}
				}
				return nil
			}
			got := &n.got[int(o.context)*w.layout.Ranks()+int(o.peer)]
			if want := w.program.expected(o.peer, rank, o.context, *got); n.inbox[i].id != want {
				return fmt.Errorf("%v received message %d of %v in context %d, not %d", at, n.inbox[i].id, o.peer, o.context, want)
			}
			*got++
			if i := n.inbox[i]; i.pulled {
				// A rendezvous: who sent it waits.
			} else if n.m.Received(messageSize) {
				if err := w.ask(at, n.m.Report); err != nil {
					return err
				}
			}
			n.inbox = slices.Delete(n.inbox, i, i+1)
		}
	}
	if !n.m.lead.through {
		return w.ask(at, n.m.Through)
	}
	return nil
}

// coverage checks that of each rank some process sends to each replica of the
// others, if none has left and all deaths are known. It is one alone, unless the
// siblings have heard different things of a newcomer before it died.
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
		if sent != w.layout.all() {
			return fmt.Errorf("%b of rank %d cover nobody", w.layout.all()&^sent, r)
		}
	}
	return nil
}

// verdict checks a world in which nothing can happen any more, but crashes.
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
		if n.held {
			return fmt.Errorf("%v is held for ever", p)
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
