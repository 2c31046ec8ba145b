package order

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"banyan/internal/testing/network"
)

// opKind is what a program of the world does next.
type opKind byte

const (
	opSend    opKind = iota + 1 // to another rank: all that the program has seen
	opReceive                   // from any source
	opTest                      // whether a message is there, from any source
)

type op struct {
	kind opKind
	to   int
}

func send(to int) op { return op{opSend, to} }

var (
	receive = op{kind: opReceive}
	test    = op{kind: opTest}
)

// bugs are mistakes that the explorers must catch.
type bugs struct {
	sendsAtOnce    bool // what depends on a decision leaves before the decision is stable
	decidesAnew    bool // a substitute asks nobody before its first decision
	forgetsTail    bool // a substitute drops the decisions that it knows and hasn't carried out
	runsAhead      bool // a replica that doesn't lead decides when it knows no decision
	hearsOldLeader bool // a replica that has answered a claim still follows the leader before
	healsWithout   bool // a replacement doesn't get the decisions that its donor hasn't carried out
	freeWhileJoin  bool // a replacement that is joining counts as one that knows everything
	leadsWhileJoin bool // a substitute doesn't wait for a replacement that is joining
	donatesUnsent  bool // a donor has output that waits, which the replacement takes for sent
	runsAsDonor    bool // a donor's program goes on before the replacement has joined
	anyTerm        bool // what a replica says it knows counts, whomever it follows
	ignoresKept    bool // a substitute doesn't look for what the dead leader has kept for it
	leavesOpen     bool // one that takes the leader for dead looks, and the leader may keep more
	obeysUnread    bool // one that answers a claim doesn't look for what its leader has kept
	donatesUnread  bool // a donor doesn't look for what its leader has kept for it
}

// setup is what a world begins with.
type setup struct {
	programs [][]op // by rank
	degrees  []int  // by rank
	deaths   int    // of replicas of ranks that have several
	mortal   []int  // processes that may die; nil: all
	suspects bool   // live replicas may be taken for dead
	heals    int
	keeps    keeping
	bugs     bugs
}

// keeping says for whom leaders keep their decisions, in memory that outlives them.
type keeping byte

const (
	keepsNone keeping = iota
	keepsAll
	keepsFull // there may be no room
	keepsSome // not for replica 2, which is on another host
)

// world is a job whose ranks have replicas that are in leader order. What a process has sent is
// there for all replicas of the receiver, as package replica sees to.
type world struct {
	*setup
	first []int // by rank, its first process
	rank  []int // by process
	nodes []*node
	net   network.Network[frame]
	sent  [][][]byte // by source · ranks + destination: the messages that have left
	// Of each process: it will be killed, it is dead.
	condemned, crashed []bool
	incarnation        []byte
	died, healed       int
	heal               heal
	kept               []kept // from p for q at p · processes + q
}

// kept is what a process has left for another one.
type kept struct {
	first   uint64
	records [][]byte
	closed  bool // nothing can be left any more
}

// heal is the replacement that is under way.
type heal struct {
	donor, slot int // 0, 0: none
	awaited     set // replicas that haven't prepared
	given       bool
}

// node is a process.
type node struct {
	m       *Machine
	replica int
	pc      int
	history []byte
	taken   []int    // by rank, how many of its messages were received
	seqs    []int    // by rank, how many were sent to it
	tail    [][]byte // decisions that this replica knows and hasn't carried out
	outbox  []output
	dead    set    // siblings that are dead, as far as is known here
	known   []byte // their incarnations
	paused  bool   // it is a donor, and its program waits
}

// output is a message that waits until what it depends on is stable.
type output struct {
	dst   int
	seq   int
	body  []byte
	after uint64
}

// frame is a message between replicas of a rank.
type frame struct {
	Message
	heal        healKind
	slot        int // of heal
	incarnation byte
}

type healKind byte

const (
	noHeal healKind = iota
	prepare
	prepared
	joined
)

func newWorld(s *setup) *world {
	w := &world{setup: s}
	for rank, degree := range s.degrees {
		w.first = append(w.first, len(w.nodes))
		for replica := range degree {
			w.rank = append(w.rank, rank)
			w.nodes = append(w.nodes, &node{
				m: New(Config{Degree: degree, Self: replica}), replica: replica, known: make([]byte, degree),
				taken: make([]int, len(s.degrees)), seqs: make([]int, len(s.degrees)),
			})
		}
	}
	n := len(w.nodes)
	w.net = network.New[frame](n)
	w.sent = make([][][]byte, len(s.degrees)*len(s.degrees))
	w.condemned, w.crashed, w.incarnation = make([]bool, n), make([]bool, n), make([]byte, n)
	w.kept = make([]kept, n*n)
	return w
}

// eventKind is what may happen.
type eventKind byte

const (
	evStep     eventKind = iota // p's program does its next operation; q is the outcome
	evFlush                     // p tells what it has decided
	evDeliver                   // p's message reaches q
	evCrash                     // p dies
	evLearn                     // q learns that p is dead
	evSuspect                   // q takes p for dead, which lives
	evHeal                      // q is to be replaced, with the state of p
	evHandover                  // the donor's state is taken
)

type event struct {
	kind eventKind
	p, q int
}

func (e event) String() string {
	return fmt.Sprintf("%s(%d,%d)", [...]string{"step", "flush", "deliver", "crash", "learn", "suspect", "heal", "handover"}[e.kind], e.p, e.q)
}

func (w *world) siblings(p int) (first, degree int) { return w.first[w.rank[p]], w.degrees[w.rank[p]] }

// live is how many replicas of p's rank aren't to die, and take part.
func (w *world) live(p int) (n int) {
	first, degree := w.siblings(p)
	for q := first; q < first+degree; q++ {
		if !w.condemned[q] && !(w.heal.slot == q && w.heal.donor != w.heal.slot && w.nodes[q] == nil) {
			n++
		}
	}
	return n
}

func (s *setup) mayDie(p int) bool { return s.mortal == nil || slices.Contains(s.mortal, p) }

func (w *world) healing() bool { return w.heal.donor != w.heal.slot }

// Events implements explore.World.
func (w *world) Events(dst []event) []event {
	for p, n := range w.nodes {
		if w.crashed[p] || n == nil {
			continue
		}
		dst = w.steps(dst, p, n)
		if !n.m.Flushed() {
			dst = append(dst, event{evFlush, p, 0})
		}
		first, degree := w.siblings(p)
		if degree == 1 {
			continue
		}
		switch {
		case w.condemned[p]:
			dst = append(dst, event{evCrash, p, 0})
		case w.died < w.deaths && w.live(p) > 1 && w.mayDie(p):
			dst = append(dst, event{evCrash, p, 0})
		}
		for q := first; q < first+degree; q++ {
			if q == p || w.nodes[q] == nil {
				continue
			}
			knows := n.dead.has(q-first) && n.known[q-first] == w.incarnation[q]
			switch {
			case w.condemned[q] && !knows && (w.crashed[q] || w.suspects):
				dst = append(dst, event{evLearn, q, p})
			case w.suspects && !w.condemned[q] && !w.condemned[p] && w.died < w.deaths && w.live(p) > 1 && w.mayDie(q):
				dst = append(dst, event{evSuspect, q, p})
			}
			if w.crashed[q] && knows && w.healed < w.heals && !w.healing() && !w.condemned[p] && (len(n.outbox) == 0 || w.bugs.donatesUnsent) {
				dst = append(dst, event{evHeal, p, q})
			}
		}
	}
	for p := range w.nodes {
		first, degree := w.siblings(p)
		for q := first; q < first+degree; q++ {
			if len(w.net.Queue(p, q)) > 0 && !w.crashed[q] && w.nodes[q] != nil {
				dst = append(dst, event{evDeliver, p, q})
			}
		}
	}
	if h := w.heal; w.healing() && !h.given && h.awaited == 0 && !w.crashed[h.donor] && !w.condemned[h.slot] {
		dst = append(dst, event{evHandover, h.donor, h.slot})
	}
	return dst
}

// steps appends the outcomes that p's next operation may have.
func (w *world) steps(dst []event, p int, n *node) []event {
	program := w.programs[w.rank[p]]
	if n.pc == len(program) || n.paused {
		return dst
	}
	here := func(src int) bool { return n.taken[src] < len(w.sent[src*len(w.degrees)+w.rank[p]]) }
	switch o := program[n.pc]; {
	case o.kind == opSend:
		dst = append(dst, event{evStep, p, 0})
		if w.keeps == keepsFull && n.m.Leads() && n.m.Stable() < n.m.Len() {
			dst = append(dst, event{evStep, p, noRoom})
		}
	case len(n.tail) > 0:
		if src := int(n.tail[0][0]) - 1; src < 0 || here(src) {
			dst = append(dst, event{evStep, p, src + 1})
		}
	case n.m.Leads() || w.bugs.runsAhead:
		if o.kind == opTest {
			dst = append(dst, event{evStep, p, 0})
		}
		for src := range w.degrees {
			if here(src) {
				dst = append(dst, event{evStep, p, src + 1})
			}
		}
	}
	return dst
}

// own copies a node before it changes.
func (w *world) own(p int) *node {
	n := *w.nodes[p]
	n.m = n.m.clone()
	w.nodes[p] = &n
	return &n
}

// Apply implements explore.World.
func (w *world) Apply(e event) error {
	switch e.kind {
	case evStep:
		return w.step(e.p, e.q)
	case evFlush:
		return w.run(e.p, func(m *Machine, out *Actions) { m.Flush(out) })
	case evDeliver:
		return w.deliver(e.p, e.q)
	case evCrash:
		w.condemn(e.p)
		w.crashed[e.p] = true
		for q := range w.nodes {
			w.net.Keep(q, e.p, 0)
		}
		if w.healing() && e.p == w.heal.donor && !w.heal.given {
			w.giveUp()
		}
	case evSuspect, evLearn:
		w.condemn(e.p)
		return w.learn(e.q, e.p)
	case evHeal:
		return w.startHeal(e.p, e.q)
	case evHandover:
		return w.handover()
	}
	return nil
}

func (w *world) condemn(p int) {
	if !w.condemned[p] {
		w.condemned[p] = true
		w.died++
	}
}

// noRoom is the outcome of a send whose decisions can't be kept.
const noRoom = 100

// keep leaves what a leader has decided for its siblings, where they find it.
func (w *world) keep(p int, n *node) {
	if w.bugs.sendsAtOnce {
		return
	}
	first, degree := w.siblings(p)
	for q := first; q < first+degree; q++ {
		if w.keeps == keepsNone || w.keeps == keepsSome && q-first == 2 {
			continue
		}
		k := &w.kept[p*len(w.nodes)+q]
		if number, records := n.m.Unkept(q - first); len(records) > 0 && !k.closed {
			if len(k.records) == 0 {
				k.first = number
			}
			k.records = append(k.records[:number-k.first:number-k.first], records...)
			n.m.Kept(q-first, n.m.Len())
		}
	}
}

// read has q take in what p has kept for it. With last, p can keep no more.
func (w *world) read(q, p int, last bool) error {
	if w.keeps == keepsNone {
		return nil
	}
	k := &w.kept[p*len(w.nodes)+q]
	k.closed = k.closed || last && !w.bugs.leavesOpen
	msg := Message{Kind: Decided, First: k.first, Records: k.records}
	if len(msg.Records) == 0 {
		return nil
	}
	first, _ := w.siblings(p)
	return w.run(q, func(m *Machine, out *Actions) {
		if learnt := m.Arrived(p-first, msg, out); len(learnt) > 0 {
			n := w.nodes[q]
			n.tail = append(slices.Clone(n.tail), learnt...)
		}
	})
}

// renew gives p new memory that it shares with a replacement.
func (w *world) renew(p, slot int) {
	w.kept[p*len(w.nodes)+slot], w.kept[slot*len(w.nodes)+p] = kept{}, kept{}
}

// step does an operation with an outcome: 0, or the source and 1.
func (w *world) step(p, outcome int) error {
	n := w.own(p)
	o := w.programs[w.rank[p]][n.pc]
	n.pc++
	n.history = slices.Clone(n.history)
	if o.kind == opSend {
		n.seqs = slices.Clone(n.seqs)
		n.outbox = append(slices.Clone(n.outbox), output{o.to, n.seqs[o.to], n.history, n.m.Len()})
		n.seqs[o.to]++
		if outcome != noRoom {
			w.keep(p, n)
		}
		if n.m.Stable() == n.m.Len() && w.keeps != keepsNone { // the others are told later
			return w.release(p, n)
		}
		return w.run(p, func(m *Machine, out *Actions) { m.Flush(out) })
	}
	if len(n.tail) > 0 {
		n.tail = n.tail[1:]
	} else if n.m.Leads() { // not with a bug
		n.m.Decide([]byte{byte(outcome)})
	}
	n.history = append(n.history, byte(outcome))
	if src := outcome - 1; o.kind == opReceive {
		n.taken = slices.Clone(n.taken)
		n.history = append(n.history, w.sent[src*len(w.degrees)+w.rank[p]][n.taken[src]]...)
		n.taken[src]++
	}
	return w.release(p, n)
}

// run calls a machine, sends what it asks for, and lets go what is stable.
func (w *world) run(p int, call func(m *Machine, out *Actions)) error {
	n := w.own(p)
	led := n.m.Leads()
	var out Actions
	call(n.m, &out)
	if w.bugs.decidesAnew && n.m.claiming {
		n.m.claiming, n.m.asked = false, 0
		n.m.told = n.m.known
	}
	if w.bugs.leadsWhileJoin && n.m.claiming && n.m.asked == 0 {
		n.m.claiming = false
		n.m.told = n.m.known
	}
	if w.bugs.forgetsTail && !led && n.m.Leads() {
		n.tail = nil
	}
	first, _ := w.siblings(p)
	for _, a := range out {
		w.sendFrame(p, first+a.To, frame{Message: a.Message})
	}
	return w.release(p, n)
}

func (w *world) sendFrame(p, q int, f frame) {
	if !w.crashed[q] {
		w.net.Send(p, q, f)
	}
}

// release lets go what depends on stable decisions only.
func (w *world) release(p int, n *node) error {
	for len(n.outbox) > 0 && (n.outbox[0].after <= n.m.Stable() || w.bugs.sendsAtOnce) {
		o := n.outbox[0]
		n.outbox = n.outbox[1:]
		i := w.rank[p]*len(w.degrees) + o.dst
		switch have := w.sent[i]; {
		case o.seq < len(have) && !bytes.Equal(have[o.seq], o.body):
			return fmt.Errorf("message %d of rank %d to %d is %v from replica %d, and was %v", o.seq, w.rank[p], o.dst, o.body, n.replica, have[o.seq])
		case o.seq == len(have):
			w.sent[i] = append(have[:len(have):len(have)], o.body)
		}
	}
	return nil
}

// deliver brings a frame of p to q.
func (w *world) deliver(p, q int) error {
	f := w.net.Receive(p, q)
	n := w.own(q)
	first, _ := w.siblings(p)
	from := p - first
	if f.heal == prepare && (n.dead.has(from) || n.dead.has(f.slot-first) && n.known[f.slot-first] == f.incarnation) {
		return nil
	}
	if n.dead.has(from) {
		return nil
	}
	switch f.heal {
	case prepare:
		if err := w.read(q, f.slot, true); err != nil {
			return err
		}
		n = w.own(q)
		w.renew(q, f.slot)
		w.admit(n, f.slot, p)
		w.sendFrame(q, p, frame{heal: prepared, slot: f.slot, incarnation: f.incarnation})
		return w.run(q, func(m *Machine, out *Actions) { w.admitMachine(m, f.slot-first, from, out) })
	case prepared:
		if w.healing() && w.heal.donor == q && w.heal.slot == f.slot {
			w.heal.awaited &^= only(from)
		}
		return nil
	case joined:
		n.paused = false
		if w.healing() && w.heal.donor == q {
			w.heal = heal{}
		}
		return w.run(q, func(m *Machine, out *Actions) { m.Joined(from, out) })
	}
	if n.m.Deposes(from, f.Message) && !w.bugs.obeysUnread {
		if err := w.read(q, first+n.m.leader, true); err != nil {
			return err
		}
		n = w.own(q)
	}
	if w.bugs.anyTerm {
		f.Term = 0
	}
	old := n.m.leader
	return w.run(q, func(m *Machine, out *Actions) {
		learnt := m.Arrived(from, f.Message, out)
		if w.bugs.hearsOldLeader && f.Kind == Claim {
			m.leader = old
		}
		if len(learnt) > 0 {
			n := w.nodes[q]
			n.tail = append(slices.Clone(n.tail), learnt...)
		}
	})
}

// learn tells q that p is dead.
func (w *world) learn(q, p int) error {
	first, _ := w.siblings(p)
	n := w.own(q)
	n.dead |= only(p - first)
	n.known = slices.Clone(n.known)
	n.known[p-first] = w.incarnation[p]
	if w.healing() && w.heal.donor == q {
		w.heal.awaited &^= only(p - first)
		if w.heal.slot == p {
			w.giveUp()
			w.nodes[q].paused = false
		}
	}
	if !w.bugs.ignoresKept {
		if err := w.read(q, p, true); err != nil {
			return err
		}
	}
	return w.run(q, func(m *Machine, out *Actions) { m.Dead(p-first, out) })
}

// startHeal begins to replace the dead q with the state of p.
func (w *world) startHeal(p, q int) error {
	first, degree := w.siblings(p)
	w.healed++
	w.incarnation[q]++
	w.condemned[q], w.crashed[q] = false, false
	w.nodes[q] = nil
	w.heal = heal{donor: p, slot: q}
	n := w.own(p)
	n.paused = !w.bugs.runsAsDonor
	w.renew(p, q)
	w.admit(n, q, p)
	for other := first; other < first+degree; other++ {
		w.net.Keep(other, q, 0)
		w.net.Keep(q, other, 0)
		if other != p && other != q && !n.dead.has(other-first) {
			w.heal.awaited |= only(other - first)
			w.sendFrame(p, other, frame{heal: prepare, slot: q, incarnation: w.incarnation[q]})
		}
	}
	return w.run(p, func(m *Machine, out *Actions) { w.admitMachine(m, q-first, p-first, out) })
}

// admit notes that a slot is refilled.
func (w *world) admit(n *node, slot, donor int) {
	first, _ := w.siblings(donor)
	n.dead &^= only(slot - first)
	n.known = slices.Clone(n.known)
	n.known[slot-first] = w.incarnation[slot]
}

func (w *world) admitMachine(m *Machine, slot, donor int, out *Actions) {
	m.Admit(slot, donor, out)
	if w.bugs.freeWhileJoin {
		m.known[slot] = 1 << 40
	}
}

// handover makes the replacement what its donor is.
func (w *world) handover() error {
	q := w.heal.slot
	first, degree := w.siblings(q)
	if leader, ok := w.nodes[w.heal.donor].m.Leader(); ok && !w.bugs.donatesUnread {
		if err := w.read(w.heal.donor, first+leader, false); err != nil {
			return err
		}
	}
	d := w.nodes[w.heal.donor]
	n := *d
	n.replica, n.paused, n.outbox = q-first, false, nil
	if w.bugs.healsWithout {
		n.tail = nil
	}
	n.m = New(Config{Degree: degree, Self: q - first, Joins: true})
	w.nodes[q] = &n
	w.heal.given = true
	if err := n.m.Restore(d.m.clone().AppendState(nil, q-first)); err != nil {
		return err
	}
	for other := first; other < first+degree; other++ {
		if other != q && !n.dead.has(other-first) {
			w.sendFrame(q, other, frame{heal: joined})
		}
	}
	return w.run(q, func(m *Machine, out *Actions) { m.Commit(out) })
}

// giveUp ends a heal: the replacement dies with its donor, or has died.
func (w *world) giveUp() {
	q := w.heal.slot
	w.heal = heal{}
	if !w.condemned[q] {
		w.condemned[q] = true
	}
	w.crashed[q] = true
	if w.nodes[q] == nil {
		w.nodes[q] = &node{m: New(Config{Degree: 1}), taken: make([]int, len(w.degrees)), seqs: make([]int, len(w.degrees)), known: make([]byte, w.degrees[w.rank[q]])}
	}
}

// errStuck says that a live process can't come to the end of its program.
var errStuck = errors.New("a program waits for ever")

// End implements explore.World: all that live have come to the end of their programs, in the same
// way, and all that their programs have sent has left.
func (w *world) End() error {
	for p, n := range w.nodes {
		if w.crashed[p] || n == nil {
			continue
		}
		if n.pc < len(w.programs[w.rank[p]]) || len(n.outbox) > 0 {
			return fmt.Errorf("process %d: %w (program counter %d, known decisions that wait %v, outputs that wait %d, machine %+v)", p, errStuck, n.pc, n.tail, len(n.outbox), *n.m)
		}
		sends := make([]int, len(w.degrees))
		for _, o := range w.programs[w.rank[p]] {
			if o.kind == opSend {
				sends[o.to]++
			}
		}
		for dst, n := range sends {
			if left := len(w.sent[w.rank[p]*len(w.degrees)+dst]); left < n {
				return fmt.Errorf("of %d messages of rank %d to %d only %d have left", n, w.rank[p], dst, left)
			}
		}
		first, _ := w.siblings(p)
		for q := first; q < p; q++ {
			if !w.crashed[q] && w.nodes[q] != nil && !bytes.Equal(w.nodes[q].history, n.history) {
				return fmt.Errorf("process %d has seen %v, and %d %v", q, w.nodes[q].history, p, n.history)
			}
		}
	}
	return nil
}

// Clone implements explore.World.
func (w *world) Clone() *world {
	c := *w
	c.nodes, c.sent, c.kept = slices.Clone(w.nodes), slices.Clone(w.sent), slices.Clone(w.kept)
	c.condemned, c.crashed, c.incarnation = slices.Clone(w.condemned), slices.Clone(w.crashed), slices.Clone(w.incarnation)
	c.net = w.net.Clone()
	return &c
}

func (m *Machine) clone() *Machine {
	c := *m
	c.records = slices.Clone(m.records)
	return &c
}

// AppendKey implements explore.World.
func (w *world) AppendKey(b []byte) []byte {
	num := func(values ...int) {
		for _, v := range values {
			b = binary.AppendVarint(b, int64(v))
		}
	}
	list := func(l [][]byte) {
		num(len(l))
		for _, r := range l {
			num(len(r))
			b = append(b, r...)
		}
	}
	num(w.died, w.healed, w.heal.donor, w.heal.slot, int(w.heal.awaited))
	for p, n := range w.nodes {
		flags := 0
		for i, f := range []bool{w.condemned[p], w.crashed[p], n == nil, w.heal.given} {
			if f {
				flags |= 1 << i
			}
		}
		num(flags)
		b = append(b, w.incarnation[p])
		if w.crashed[p] || n == nil {
			continue
		}
		if n.paused {
			flags = 1
		} else {
			flags = 0
		}
		num(flags, n.pc, int(n.dead))
		list([][]byte{n.history, n.known})
		num(n.taken...)
		list(n.tail)
		num(len(n.outbox))
		for _, o := range n.outbox {
			num(o.dst, o.seq, int(o.after))
			list([][]byte{o.body})
		}
		b = n.m.appendKey(b, w.degrees[w.rank[p]])
	}
	for _, l := range w.sent {
		list(l)
	}
	if w.keeps != keepsNone {
		for p := range w.nodes {
			first, degree := w.siblings(p)
			for q := first; q < first+degree; q++ {
				k := &w.kept[p*len(w.nodes)+q]
				flags := 0
				if k.closed {
					flags = 1
				}
				num(flags, int(k.first))
				list(k.records)
			}
		}
	}
	for p := range w.nodes {
		first, degree := w.siblings(p)
		for q := first; q < first+degree; q++ {
			queue := w.net.Queue(p, q)
			num(len(queue))
			for _, f := range queue {
				num(int(f.Kind), int(f.First), int(f.Term), int(f.heal), f.slot, int(f.incarnation))
				list(f.Records)
			}
		}
	}
	return b
}

func (m *Machine) appendKey(b []byte, degree int) []byte {
	flags := uint64(0)
	if m.claiming {
		flags |= 1
	}
	if m.joined {
		flags |= 2
	}
	for _, v := range []uint64{uint64(m.present), uint64(m.joining), uint64(m.leader + 1), uint64(m.followed), uint64(m.asked), flags} {
		b = binary.AppendUvarint(b, v)
	}
	for i := range degree {
		b = binary.AppendUvarint(b, m.known[i])
		b = binary.AppendUvarint(b, uint64(m.turns[i]))
		b = binary.AppendUvarint(b, uint64(m.ahead[i].term))
		b = binary.AppendUvarint(b, m.ahead[i].knows)
		if m.leader == m.self {
			b = binary.AppendUvarint(b, m.told[i])
			b = binary.AppendUvarint(b, m.kept[i])
		}
	}
	for _, r := range m.records {
		b = append(b, byte(len(r)))
		b = append(b, r...)
	}
	return append(b, 0)
}
