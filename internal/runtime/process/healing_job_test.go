package process

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
)

// healingJob is a job whose dead processes are replaced, and its launcher. What the launcher
// says to a process comes in order, but independently of all frames.
type healingJob struct {
	t            testing.TB
	rng          *rand.Rand
	keeps        *keeps
	layout       layout.Layout
	mirror       bool
	nodes        []*healingNode // by process: the last incarnation
	all          []*healingNode // every incarnation
	links        []*link        // by pair of incarnations
	now          proto.Time
	incarnations []proto.Incarnation
	waiting      []proto.Proc   // slots to be filled
	fresh        []*healingNode // the present replacements, each until it is healed
	together     int            // how many there were at most that had committed and weren't healed
	over         bool           // a process has left: no other is replaced any more
	leader       bool           // in leader order
	auto         bool           // so, from the first decision on
	make         func(r proto.Rank) healed
	limit        uint64 // of what is kept for others
	healed       int
	failed       int
	givenUp      int // replacements for which too much was kept
	// corrupted, if set, has what is sent compared, and hears of differences.
	corrupted func(by *healingNode, c Corruption)
	tainted   bool // a value may be wrong
	askAfter  proto.Time
	watched   bool        // waits are watched as the engine does
	stop      func() bool // if set, ends the run
	// damage, if set, may change what is about to arrive.
	damage func(to *healingNode, pk *packet)
	sent   *frameSums // of what is sent, if set
}

// link is what is on its way from one incarnation to another, or, with no sender, the launcher's
// words.
type link struct {
	from, to *healingNode
	packets  []packet
	words    []func()
}

func newHealingJob(t testing.TB, seed uint64, layout layout.Layout, mirror bool, make func(r proto.Rank) *courier) *healingJob {
	return newVerifiedHealingJob(t, seed, layout, mirror, make, nil)
}

// healed is a program with safe points. wrong says, at its end, what it has got wrong.
type healed interface {
	program
	wrong() error
}

// newLedHealingJob makes a job in leader order.
func newLedHealingJob(t testing.TB, seed uint64, layout layout.Layout, mirror bool, make func(r proto.Rank) healed) *healingJob {
	return startHealingJob(&healingJob{t: t, layout: layout, mirror: mirror, make: make, leader: true, auto: seed%3 == 0}, seed)
}

func newVerifiedHealingJob(t testing.TB, seed uint64, layout layout.Layout, mirror bool, make func(r proto.Rank) *courier, corrupted func(by *healingNode, c Corruption)) *healingJob {
	return startHealingJob(&healingJob{corrupted: corrupted, t: t, layout: layout, mirror: mirror, make: func(r proto.Rank) healed { return make(r) }}, seed)
}

func startHealingJob(w *healingJob, seed uint64) *healingJob {
	w.rng, w.keeps, w.limit = rand.New(rand.NewPCG(seed, 3)), newKeeps(), retainLimit
	w.incarnations = slices.Repeat([]proto.Incarnation{0}, w.layout.Procs())
	for q := range proto.Proc(w.layout.Procs()) {
		w.nodes = append(w.nodes, w.newNode(q))
	}
	if seed%7 == 6 {
		w.limit = 2000 // most sends wait for others
	}
	for _, n := range w.nodes {
		n.committed = true
		n.start(nil, nil)
	}
	return w
}

func (w *healingJob) newNode(q proto.Proc) *healingNode {
	n := &healingNode{w: w, self: q, incarnation: w.incarnations[q], admitted: slices.Clone(w.incarnations), fenced: make([]bool, len(w.incarnations))}
	w.all = append(w.all, n)
	return n
}

func (w *healingJob) incarnationOf(q proto.Proc, incarnation proto.Incarnation) *healingNode {
	for _, n := range w.all {
		if n.self == q && n.incarnation == incarnation {
			return n
		}
	}
	w.t.Fatalf("there is no incarnation %d of %v", incarnation, q)
	return nil
}

func (w *healingJob) link(from, to *healingNode) *link {
	for _, f := range w.links {
		if f.from == from && f.to == to {
			return f
		}
	}
	f := &link{from: from, to: to}
	w.links = append(w.links, f)
	return f
}

// giveBack has the sender get back what it lent for a packet, at its next step.
func (f *link) giveBack(pk packet) {
	if pk.token != 0 {
		f.from.owed = append(f.from.owed, borrowed{f.to.self, pk.token})
	}
}

func (f *link) push(pk packet) { f.packets = append(f.packets, pk) }

// say is the launcher's word to a process.
func (w *healingJob) say(to *healingNode, word func()) {
	f := w.link(nil, to)
	f.words = append(f.words, word)
}

func (w *healingJob) sayToAll(about *healingNode, word func(p *Process)) {
	for _, n := range w.nodes {
		if n != about && !n.dead && !n.gone {
			w.say(n, func() { word(n.p) })
		}
	}
	for _, n := range w.fresh {
		if n != about && w.nodes[n.self] != n {
			w.say(n, func() { word(n.p) })
		}
	}
}

// deliver hands over the oldest of a link, and tells whether there was anything to do.
func (w *healingJob) deliver(f *link) bool {
	to := f.to
	if to.dead || to.gone {
		done := len(f.packets)+len(f.words) > 0
		for _, pk := range f.packets {
			f.giveBack(pk)
		}
		f.packets, f.words = nil, nil
		return done
	}
	to.p.At(w.now)
	if len(f.words) > 0 {
		word := f.words[0]
		f.words = f.words[1:]
		word()
		return true
	}
	if len(f.packets) == 0 || f.from.incarnation > to.admitted[f.from.self] {
		return false // it can't connect yet
	}
	pk := f.packets[0]
	f.packets = f.packets[1:]
	f.giveBack(pk)
	if w.damage != nil {
		w.damage(to, &pk)
	}
	switch {
	case f.from.incarnation < to.admitted[f.from.self], to.fenced[f.from.self]:
	case pk.closed:
		to.p.Closed(f.from.self, transport.EvidenceExited)
	case len(pk.payload) > transport.DirectSize:
		if dest := to.p.Dest(f.from.self, &pk.header); dest != nil {
			copy(dest, pk.payload)
		}
		to.p.Arrived(f.from.self, &pk.header)
	default:
		to.p.Frame(f.from.self, &pk.header, pk.payload)
	}
	return true
}

// crash ends an incarnation. Of what it has sent to each other process, any prefix arrives.
func (w *healingJob) crash(n *healingNode) {
	if n.dead || n.gone {
		return
	}
	n.dead = true
	for _, f := range w.links {
		if f.from == n {
			f.packets = f.packets[:w.rng.IntN(len(f.packets)+1)]
			f.push(packet{closed: true})
		}
	}
	w.sayToAll(n, func(p *Process) { p.Evidence(n.self, n.incarnation) })
	if w.settle(n) {
		w.failed++
	}
	if !w.over {
		w.waiting = append(w.waiting, n.self)
	}
}

// settle ends what is special of a replacement, and reports whether there was anything.
func (w *healingJob) settle(n *healingNode) bool {
	before := len(w.fresh)
	w.fresh = slices.DeleteFunc(w.fresh, func(m *healingNode) bool { return m == n })
	return len(w.fresh) < before
}

// replace starts the next replacement, if it can be now: one for a rank at a time.
func (w *healingJob) replace() {
	if w.over {
		return
	}
	for i, slot := range w.waiting {
		rank := w.layout.Rank(slot)
		if slices.ContainsFunc(w.fresh, func(n *healingNode) bool { return w.layout.Rank(n.self) == rank }) {
			continue
		}
		for k := range w.layout.Degree(rank) {
			if d := w.nodes[w.layout.Proc(rank, k)]; !d.dead && !d.gone && d.healable {
				w.waiting = slices.Delete(w.waiting, i, i+1)
				w.begin(slot, d)
				return
			}
		}
	}
}

// begin starts a replacement.
func (w *healingJob) begin(slot proto.Proc, donor *healingNode) {
	w.incarnations[slot]++
	gone := make([]bool, len(w.nodes))
	for q, n := range w.nodes {
		gone[q] = n.dead
	}
	for _, n := range w.fresh {
		gone[n.self] = false
	}
	n := w.newNode(slot)
	n.donor = donor
	w.fresh = append(w.fresh, n)
	n.start(slices.Clone(w.incarnations), gone)
	w.sayToAll(n, func(p *Process) { p.Admit(slot, n.incarnation) })
	w.say(donor, func() { donor.p.Help(slot, n.incarnation) })
}

// victim is an incarnation that may end: each rank keeps one that is a replica.
func (w *healingJob) victim() *healingNode {
	candidates := []*healingNode{}
	for _, n := range w.all {
		if n.dead || n.gone {
			continue
		}
		others := 0
		for k := range w.layout.Degree(w.layout.Rank(n.self)) {
			if m := w.nodes[w.layout.Proc(w.layout.Rank(n.self), k)]; m != n && !m.dead && m.committed {
				others++
			}
		}
		if others > 0 {
			candidates = append(candidates, n)
			if slices.ContainsFunc(w.fresh, func(m *healingNode) bool { return n == m || n == m.donor }) { // this test is about them
				candidates = append(candidates, n, n, n)
			}
		}
	}
	if len(candidates) == 0 {
		return nil
	}
	return candidates[w.rng.IntN(len(candidates))]
}

// run goes on until all have left. So many crashes happen meanwhile.
func (w *healingJob) run(crashes, every int) {
	for steps := 0; ; steps++ {
		if steps > 3_000_000 {
			w.t.Fatalf("no end in sight: %s", w.state())
		}
		if w.t.Failed() {
			return
		}
		if w.stop != nil && w.stop() {
			return
		}
		if crashes > 0 && !w.over && w.rng.IntN(every) == 0 {
			if n := w.victim(); n != nil {
				crashes--
				w.crash(n)
			}
		}
		if w.rng.IntN(50) == 0 {
			w.replace()
		}
		committed := 0
		for _, n := range w.fresh {
			if n.committed {
				w.nodes[n.self] = n
				committed++
			}
		}
		w.together = max(w.together, committed)
		if w.rng.IntN(4) > 0 && w.pick() {
			continue
		}
		n := w.all[w.rng.IntN(len(w.all))]
		if n.dead || n.gone {
			if !slices.ContainsFunc(w.all, func(n *healingNode) bool { return !n.dead && !n.gone }) {
				return
			}
			continue
		}
		w.advance(n)
	}
}

// pick delivers something, if there is anything.
func (w *healingJob) pick() bool {
	if len(w.links) == 0 {
		return false
	}
	first := w.rng.IntN(len(w.links))
	for i := range w.links {
		if w.deliver(w.links[(first+i)%len(w.links)]) {
			return true
		}
	}
	return false
}

func (w *healingJob) advance(n *healingNode) {
	n.p.At(w.now)
	for len(n.owed) > 0 {
		b := n.owed[0]
		n.owed = n.owed[1:]
		n.p.Sent(b.to, b.token)
	}
	n.p.Work()
	if w.rng.IntN(3) == 0 {
		n.p.flushAcks()
	}
	if w.rng.IntN(20) == 0 { // time passes, too slowly for a suspicion
		w.now += 1e5
		for _, m := range w.all {
			if !m.dead && !m.gone && w.now >= m.p.Deadline() {
				m.p.At(w.now)
				m.p.Tick()
			}
		}
	}
	if n.failed != nil {
		w.crash(n)
		return
	}
	if n.program != nil {
		if !n.program.step(n.p) {
			if c, ok := n.program.(*courier); ok && w.watched && (c.at == 2 || c.at == 3) {
				n.p.Alone()
				wait(n.p, func() bool { return n.p.Done([]Handle{c.in, c.out}[c.at-2]) })
			}
			return
		}
		if err := n.program.wrong(); err != nil {
			if n.wrong = true; !w.tainted {
				w.t.Errorf("%v: %v", n, err)
			}
		}
		n.program = nil
		n.p.Finish()
		return
	}
	if err := n.p.Diverged(); err != nil {
		w.t.Errorf("%v: %v", n, err)
	}
	if n.p.Flushed() {
		n.p.Depart()
	}
	if n.p.Departed() {
		n.p.Goodbye()
		n.gone = true
		w.sayToAll(n, func(p *Process) { p.Left(n.self) })
		w.over = true
		for _, m := range slices.Clone(w.fresh) {
			if !m.committed {
				w.crash(m)
			}
		}
	}
}

func (w *healingJob) state() string {
	s := ""
	for _, n := range w.all {
		m, _ := n.p.replica.Retained()
		s += fmt.Sprintf("\n%v: dead %v, left %v, through %v, donating %v, joined %v, idle %v, retained %d", n, n.dead, n.gone, n.program == nil,
			n.p.Donating(), n.p.Joined(), n.p.replica.Idle(), m)
		if n.program != nil {
			s += fmt.Sprintf(", %+v", n.program)
		}
	}
	return s
}
