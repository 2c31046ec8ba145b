package process

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/proto/membership"
	"banyan/internal/runtime/state"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
)

// healingJob is a job whose dead processes are replaced, and its launcher. What the launcher
// says to a process comes in order, but independently of all frames.
type healingJob struct {
	t            *testing.T
	rng          *rand.Rand
	layout       layout.Layout
	mirror       bool
	nodes        []*healingNode // by process: the last incarnation
	all          []*healingNode // every incarnation
	links        []*link        // by pair of incarnations
	now          proto.Time
	incarnations []proto.Incarnation
	waiting      []proto.Proc // slots to be filled
	fresh        *healingNode // the present replacement, until it is healed
	donor        *healingNode
	over         bool // a process has left: no other is replaced any more
	make         func(r proto.Rank) *courier
	limit        uint64 // of what is kept for others
	healed       int
	failed       int
	givenUp      int // replacements for which too much was kept
	// corrupted, if set, has what is sent compared, and hears of differences.
	corrupted func(by *healingNode, c Corruption)
	tainted   bool        // a value may be wrong
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

// healingNode is one incarnation of a process.
type healingNode struct {
	w           *healingJob
	self        proto.Proc
	incarnation proto.Incarnation
	p           *Process
	program     *courier
	admitted    []proto.Incarnation // by process: the one whose frames come and go
	fenced      []bool
	dead        bool
	gone        bool // left in order
	healable    bool
	committed   bool
	failed      error
	owed        []borrowed
	wrong       bool // its program ended with a wrong value
}

func newHealingJob(t *testing.T, seed uint64, layout layout.Layout, mirror bool, make func(r proto.Rank) *courier) *healingJob {
	return newVerifiedHealingJob(t, seed, layout, mirror, make, nil)
}

func newVerifiedHealingJob(t *testing.T, seed uint64, layout layout.Layout, mirror bool, make func(r proto.Rank) *courier, corrupted func(by *healingNode, c Corruption)) *healingJob {
	w := &healingJob{corrupted: corrupted, t: t, rng: rand.New(rand.NewPCG(seed, 3)), layout: layout, mirror: mirror, make: make, limit: retainLimit,
		incarnations: slices.Repeat([]proto.Incarnation{0}, layout.Procs())}
	for q := range proto.Proc(layout.Procs()) {
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

// start starts an incarnation; the first one of a process if no incarnations of the others are
// given.
func (n *healingNode) start(incarnations []proto.Incarnation, gone []bool) {
	w, q := n.w, n.self
	var corrupted func(Corruption)
	if w.corrupted != nil {
		corrupted = func(c Corruption) { w.corrupted(n, c) }
	}
	n.p = New(Config{
		Self: q, Layout: w.layout, Mirror: w.mirror, Corrupted: corrupted, Period: 100e6, Timeout: 1e9, Witness: true,
		Heal: true, Replacement: incarnations != nil, Incarnations: incarnations, Gone: gone, skewLimit: 6000, // one of 5000 bytes, not two
	}, w.now, n, n)
	members := []proto.Rank{}
	for r := range proto.Rank(w.layout.Ranks()) {
		members = append(members, r)
	}
	if err := n.p.OpenContext(2, members, false); err != nil {
		w.t.Fatal(err)
	}
	n.program = w.make(w.layout.Rank(q))
	n.p.sends.retainLimit = w.limit
}

// The transport.

func (n *healingNode) Send(to proto.Proc, h *wire.Header, payload []byte, token uint64) {
	if n.dead {
		return
	}
	if n.fenced[to] {
		if token != 0 {
			n.owed = append(n.owed, borrowed{to, token})
		}
		return
	}
	hh := *h
	hh.Length = uint32(len(payload))
	n.w.sent.add(&hh, payload)
	n.w.link(n, n.w.incarnationOf(to, n.admitted[to])).push(packet{header: hh, payload: slices.Clone(payload), token: token})
}
func (n *healingNode) Queued(proto.Proc) int { return 0 }
func (n *healingNode) Fence(q proto.Proc)    { n.fenced[q] = true }
func (n *healingNode) Admit(q proto.Proc, incarnation proto.Incarnation) {
	n.admitted[q], n.fenced[q] = incarnation, false
}

// The host.

func (n *healingNode) Died(r detector.Report) {
	if incarnation := n.w.incarnationOf(r.Proc, r.Incarnation); r.Cause != detector.CauseTold && !incarnation.dead && !incarnation.gone {
		if incarnation == n.w.fresh {
			n.w.givenUp++
		}
		n.w.crash(incarnation) // the launcher makes it true
	}
}
func (n *healingNode) Viewed(*membership.View, bool)   {}
func (n *healingNode) Minority([]membership.Departure) { n.w.t.Errorf("%v is in a minority", n) }
func (n *healingNode) RankLost(r proto.Rank)           { n.w.t.Errorf("%v holds %v for lost", n, r) }
func (n *healingNode) Fenced(by proto.Proc) {
	if !n.dead {
		n.w.t.Errorf("%v was fenced by %v although it lives", n, by)
	}
}
func (n *healingNode) Aborted(proto.Proc, int) {}
func (n *healingNode) HealFailed(err error)    { n.failed = err }
func (n *healingNode) SafepointWanted(bool)    {}
func (n *healingNode) Heals(step HealStep) {
	switch step {
	case StepHealable:
		n.healable = true
	case StepMark:
		q, incarnation := n.p.Replacement()
		n.p.Marked(q, incarnation-1, 0) // word of an earlier donation
		if !n.p.Donating() {
			n.w.t.Errorf("%v goes on before it is marked", n)
		}
		n.w.say(n, func() { n.p.Marked(q, incarnation, 0) })
	case StepCommitted:
		n.committed = true
	case StepHealed:
		n.w.fresh = nil
		n.w.healed++
	}
}

func (n *healingNode) String() string { return fmt.Sprintf("%v.%d", n.self, n.incarnation) }

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
	if w.fresh != nil && w.fresh != about && w.nodes[w.fresh.self] != w.fresh {
		n := w.fresh
		w.say(n, func() { word(n.p) })
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
	if w.fresh == n {
		w.fresh = nil
		w.failed++
	}
	if !w.over {
		w.waiting = append(w.waiting, n.self)
	}
}

// replace starts the next replacement, if it can be now.
func (w *healingJob) replace() {
	if w.fresh != nil || w.over || len(w.waiting) == 0 {
		return
	}
	slot := w.waiting[0]
	rank := w.layout.Rank(slot)
	w.donor = nil
	for k := range w.layout.Degree(rank) {
		if n := w.nodes[w.layout.Proc(rank, k)]; !n.dead && !n.gone && n.healable && w.donor == nil {
			w.donor = n
		}
	}
	if w.donor == nil {
		return
	}
	w.waiting = w.waiting[1:]
	w.incarnations[slot]++
	gone := make([]bool, len(w.nodes))
	for q, n := range w.nodes {
		gone[q] = n.dead
	}
	n := w.newNode(slot)
	w.fresh = n
	n.start(slices.Clone(w.incarnations), gone)
	donor := w.donor
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
			if n == w.fresh || n == w.donor && w.fresh != nil { // this test is about them
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
		if n := w.fresh; n != nil && n.committed && !n.dead {
			w.nodes[n.self] = n
		}
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
			return
		}
		if want := expected(n.program); n.program.value != want {
			if n.wrong = true; !w.tainted {
				w.t.Errorf("%v ends with %d, want %d", n, n.program.value, want)
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
		if w.over = true; w.fresh != nil && !w.fresh.committed {
			w.crash(w.fresh)
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
			s += fmt.Sprintf(", round %d.%d", n.program.round, n.program.at)
		}
	}
	return s
}

// courier is a program with safe points. In each round it sends its value to the next rank,
// sometimes in a large message, and adds what comes from the rank before, received from any
// source.
type courier struct {
	rank, ranks, rounds int
	setUp               int // rounds before the first safe point

	round int
	value uint64
	at    int // in the round
	safe  bool
	out   Handle
	in    Handle
	room  []byte
}

// step does one thing, as engine.Engine.Safepoint and its callers would.
func (c *courier) step(p *Process) (finished bool) {
	switch {
	case !p.LogWhole():
	case c.at == 0 && c.round >= c.setUp && !c.safe && p.Replaying():
		if err := p.EndReplay(); err != nil {
			p.HealFailed(err)
			return false
		}
		var own, library []byte
		p.AwaitState(state.NewDecoder(
			state.Sink{Name: "program", Limit: 100, Load: func(b []byte) error { own = b; return nil }},
			state.Sink{Name: "library", Limit: 1 << 30, Load: func(b []byte) error { library = b; return nil }},
		), func() error {
			c.round, c.value = int(binary.LittleEndian.Uint64(own)), binary.LittleEndian.Uint64(own[8:])
			return p.Restore(library)
		})
		c.safe, c.at = true, 1
	case c.at == 0 && c.round >= c.setUp:
		if !c.safe {
			if p.Pending() != nil || p.FreezeLog() != nil {
				panic("something is under way")
			}
			p.ReachedSafepoint()
			c.safe = true
		}
		if p.SafepointWanted() {
			p.Donate(func() (*state.Encoder, error) {
				library, err := p.Snapshot()
				own := binary.LittleEndian.AppendUint64(nil, uint64(c.round))
				own = binary.LittleEndian.AppendUint64(own, c.value)
				return state.NewEncoder(state.Bytes("program", own), state.Bytes("library", library)), err
			})
		}
		c.at = 1
	case c.at == 0: // no safe point yet
		c.at = 1
	case c.at == 1 && (p.Donating() || c.safe && !p.Joined()):
	case c.at == 1 && c.round == c.rounds:
		return true
	case c.at == 1:
		c.room = make([]byte, c.length()+8)
		c.in = p.Receive(2, proto.AnyRank, int32(c.round), c.room)
		message := make([]byte, c.length())
		binary.LittleEndian.PutUint64(message, c.value)
		c.out = p.Send(2, proto.Rank((c.rank+1)%c.ranks), int32(c.round), message)
		c.at = 2
	case c.at == 2 && p.Done(c.in):
		s, err := p.Take(c.in)
		if err != nil || s.Bytes != c.length() {
			panic(fmt.Sprint(s, err))
		}
		c.value = next(c.value, binary.LittleEndian.Uint64(c.room), c.round)
		c.at = 3
	case c.at == 3 && p.Done(c.out):
		if _, err := p.Take(c.out); err != nil {
			panic(err)
		}
		c.round, c.at = c.round+1, 0
	}
	return false
}

// length is that of a round's messages.
func (c *courier) length() int { return []int{8, 5000, EagerLimit + 1}[c.round%3] }

func next(own, got uint64, round int) uint64 { return own*3 + got + uint64(round) }

// expected is what a rank ends with if nothing goes wrong.
func expected(c *courier) uint64 {
	values := make([]uint64, c.ranks)
	for r := range values {
		values[r] = uint64(r)
	}
	for round := range c.rounds {
		was := slices.Clone(values)
		for r := range values {
			values[r] = next(was[r], was[(r+c.ranks-1)%c.ranks], round)
		}
	}
	return values[c.rank]
}

// Processes die at any time, replacements and donors at every point of a healing above all, as
// long as each rank keeps a replica. All that are left come to the same end.
func TestHealing(t *testing.T) {
	seeds := 300
	if testing.Short() {
		seeds = 40
	}
	healed, failed, givenUp := 0, 0, 0
	for seed := range uint64(seeds) {
		layouts := []layout.Layout{layout.Uniform(2, 2), layout.Uniform(3, 2), layout.Uniform(2, 3), layout.Partial([]int{2, 1, 3})}
		layout := layouts[seed%4]
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newHealingJob(t, seed, layout, seed%5 == 4, func(r proto.Rank) *courier {
				return &courier{rank: int(r), ranks: layout.Ranks(), rounds: 12, setUp: int(seed % 3), value: uint64(r)}
			})
			if seed%2 == 0 {
				w.run(1+int(seed%6), 300)
			} else {
				w.run(3+int(seed%9), 80)
			}
			healed, failed, givenUp = healed+w.healed, failed+w.failed, givenUp+w.givenUp
		})
	}
	t.Logf("%d healed, %d replacements failed, %d were given up", healed, failed, givenUp)
	if healed < seeds/2 || failed < seeds/2 || givenUp == 0 {
		t.Error("that is too few")
	}
}
