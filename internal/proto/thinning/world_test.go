package thinning

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// op is what a program of the world does next.
type op struct {
	kind opKind
	rank int // the other one
}

type opKind byte

const (
	opSend    opKind = iota + 1 // all that the program has seen
	opReceive                   // it takes a loss for a message that says so
	opAgree                     // each sends to all others, and receives from all
	opStar                      // an agreement, too: each sends to one, which sends to all
)

func to(rank int) op   { return op{opSend, rank} }
func from(rank int) op { return op{opReceive, rank} }

var agree = op{kind: opAgree}

func star(root int) op { return op{opStar, root} }

// others are the ranks that aren't one.
func (w *world) others(rank int) (all []int) {
	for r := range w.degrees {
		if r != rank {
			all = append(all, r)
		}
	}
	return all
}

// agrees tells whether an operation is an agreement, to whom a rank sends in it first, from whom it
// receives then, and to whom it sends last.
func (w *world) agrees(o op, rank int) (first, from, last []int, is bool) {
	switch {
	case o.kind == opAgree:
		return w.others(rank), w.others(rank), nil, true
	case o.kind != opStar:
		return nil, nil, nil, false
	case rank == o.rank:
		return nil, w.others(rank), w.others(rank), true
	}
	return []int{o.rank}, []int{o.rank}, nil, true
}

// bugs are mistakes that the explorers must catch.
type bugs struct {
	showsInDebt   bool // a member settles though it owes
	hearsNobody   bool // a member settles before it has heard all others
	staysFirst    bool // of each rank the first stays
	tellsTooSoon  bool // Thin comes before the dismissed are dead
	endsLate      bool // a member that has settled ends an agreement by itself
	dropsResults  bool // Show has no results
	showsAtOnce   bool // the losses show with Thin
	rememberStale bool // what is received of a process whose death is known counts
	asksAnew      bool // an agreement that begins when losses have shown is made anew always
	claimsNothing bool // who owes and waits for a rank that has settled waits on
}

// setup is what a world begins with.
type setup struct {
	programs [][]op
	degrees  []int
	deaths   int
	mortal   []int // processes that may die; nil: all
	content  bool  // nobody may have to give up
	late     bool  // nobody dies before the last rank's first replica is through
	bugs     bugs
}

// said is what the coordinator tells a process, in order.
type said struct {
	kind  Kind       // 0: a death
	about proto.Proc // of a death
	debts []Debt     // of Owe
}

// answer is what a process tells the coordinator.
type answer struct {
	kind    answerKind
	told    uint64 // of settled
	count   uint64
	results []Result
	waits   []Claim
}

type answerKind byte

const (
	counted answerKind = iota
	settled
	waits
)

// telling is a Tell that is under way: how much the sender has of the receiver's rank.
type telling struct{ from, to, number int }

// node is a process.
type node struct {
	pc       int
	entered  bool // an agreement: it has sent
	seen     uint32
	sent     [][]uint32 // by rank
	got      [][]uint32 // by rank: what has arrived
	taken    []int      // by rank
	dead     uint32     // processes whose death is known
	member   *Member
	shown    bool
	waits    []Claim // that it has said
	outcomes []byte  // of agreements
	inbox    []said
	outbox   []answer
}

// world is a job with replicas. What a process has sent may arrive at any replica of the receiver,
// until that one hears of its death, as package replica sees to.
type world struct {
	*setup
	layout    layout.Layout
	nodes     []node
	crashed   []bool
	reaped    []bool
	dismissed []bool
	tellings  []telling
	c         *Coordinator
	died      int
	decided   []byte // outcomes of agreements that were begun anew
}

type eventKind byte

const (
	evStep   eventKind = iota + 1
	evArrive           // a message of p at q
	evTold             // a telling
	evHear             // q hears the coordinator
	evAnswer           // the coordinator hears q
	evCrash            // q dies
	evReap             // the coordinator hears of that
	evGiveUp           // q owes what it can't send
	evSettle           // q settles
	evWaits            // q says what it waits for
)

type event struct {
	kind eventKind
	p, q int
}

func newWorld(s *setup) *world {
	w := &world{setup: s, layout: layout.Partial(s.degrees)}
	n := w.layout.Procs()
	w.nodes = make([]node, n)
	for p := range w.nodes {
		ranks := len(s.degrees)
		w.nodes[p] = node{sent: make([][]uint32, ranks), got: make([][]uint32, ranks), taken: make([]int, ranks), member: NewMember(w.layout, w.rank(p))}
	}
	w.crashed, w.reaped, w.dismissed = make([]bool, n), make([]bool, n), make([]bool, n)
	w.c = NewCoordinator(w.layout)
	w.decided = make([]byte, 8)
	return w
}

func (w *world) rank(p int) proto.Rank { return w.layout.Rank(proto.Proc(p)) }

// lost tells whether a process knows that a rank is lost.
func (w *world) lost(n *node, r int) bool {
	for k := range w.degrees[r] {
		if n.dead>>w.layout.Proc(proto.Rank(r), k)&1 == 0 {
			return false
		}
	}
	return true
}

// Events implements explore.World.
func (w *world) Events(dst []event) []event {
	for p := range w.nodes { // that a program takes a message depends on nothing else
		n := &w.nodes[p]
		if !w.crashed[p] && n.pc < len(w.programs[w.rank(p)]) {
			if o := w.programs[w.rank(p)][n.pc]; o.kind == opReceive && len(n.got[o.rank]) > n.taken[o.rank] {
				return append(dst, event{evStep, 0, p})
			}
		}
	}
	for p := range w.nodes {
		n := &w.nodes[p]
		if w.crashed[p] {
			if !w.reaped[p] {
				dst = append(dst, event{evReap, 0, p})
			}
			continue
		}
		if w.dismissed[p] || w.died < w.deaths && w.deadly() && (w.mortal == nil || slices.Contains(w.mortal, p)) {
			dst = append(dst, event{evCrash, 0, p})
		}
		if w.canStep(p, n) {
			dst = append(dst, event{evStep, 0, p})
		} else if w.stuck(p, n) {
			dst = append(dst, event{evGiveUp, 0, p})
		}
		if !w.bugs.claimsNothing && w.bound(n) && !slices.Equal(w.waitsFor(p, n), n.waits) {
			dst = append(dst, event{evWaits, 0, p})
		}
		for q := range w.nodes {
			if w.rank(q) != w.rank(p) && (n.dead>>q&1 == 0 || w.bugs.rememberStale) && len(w.nodes[q].sent[w.rank(p)]) > len(n.got[w.rank(q)]) {
				dst = append(dst, event{evArrive, q, p})
			}
		}
		if len(n.inbox) > 0 {
			dst = append(dst, event{evHear, 0, p})
		}
		if w.settles(n) {
			dst = append(dst, event{evSettle, 0, p})
		}
	}
	for p := range w.nodes {
		if len(w.nodes[p].outbox) > 0 && !w.reaped[p] {
			dst = append(dst, event{evAnswer, 0, p})
		}
	}
	for i, t := range w.tellings {
		if !w.crashed[t.to] {
			dst = append(dst, event{evTold, i, t.to})
		}
	}
	return dst
}

// deadly tells whether processes may die.
func (w *world) deadly() bool {
	last := len(w.degrees) - 1
	n := &w.nodes[w.layout.Proc(proto.Rank(last), 0)]
	return !w.late || n.pc == len(w.programs[last])
}

func (w *world) owes(n *node) bool {
	m := *n.member
	m.heard, m.debts = slices.Clone(m.heard), slices.Clone(m.debts)
	if w.bugs.hearsNobody {
		for r := range w.degrees {
			m.Heard(proto.Rank(r))
		}
	}
	owes := m.Owes(n.count)
	if w.bugs.showsInDebt {
		return slices.Contains(m.heard, false)
	}
	return owes
}

// settles tells whether a process says that it has settled.
func (w *world) settles(n *node) bool {
	m := *n.member
	m.debts = slices.Clone(m.debts)
	if w.bugs.hearsNobody || w.bugs.showsInDebt {
		return m.Begun() && !m.said && !w.owes(n)
	}
	return m.Settle(n.count)
}

// count is how many messages a process has sent to a rank.
func (n *node) count(_ uint64, to proto.Rank) uint64 { return uint64(len(n.sent[to])) }

// bound tells whether a process has to go the way of a sibling.
func (w *world) bound(n *node) bool {
	return n.member.Begun() && n.member.AllHeard() && (w.owes(n) || n.member.Bound(n.count))
}

// awaits tells whether a process's program waits for a message of a rank.
func (w *world) awaits(p int, n *node, r int) bool {
	if n.pc == len(w.programs[w.rank(p)]) || len(n.got[r]) > n.taken[r] {
		return false
	}
	o := w.programs[w.rank(p)][n.pc]
	_, from, _, is := w.agrees(o, int(w.rank(p)))
	return o.kind == opReceive && o.rank == r || is && n.entered && slices.Contains(from, r)
}

// stuck tells whether a process has to go the way of a sibling, and waits for a lost rank.
func (w *world) stuck(p int, n *node) bool {
	for r := range w.degrees {
		if w.lost(n, r) && w.awaits(p, n, r) {
			return w.bound(n)
		}
	}
	return false
}

// waitsFor are the messages of ranks that aren't lost for which a process waits.
func (w *world) waitsFor(p int, n *node) (all []Claim) {
	for r := range w.degrees {
		if w.awaits(p, n, r) && !w.lost(n, r) {
			all = append(all, Claim{proto.Rank(r), Debt{To: w.rank(p), Number: uint64(len(n.got[r]) + 1)}})
		}
	}
	return all
}

func (w *world) canStep(p int, n *node) bool {
	program := w.programs[w.rank(p)]
	if n.pc == len(program) {
		return false
	}
	switch o := program[n.pc]; o.kind {
	case opReceive:
		return len(n.got[o.rank]) > n.taken[o.rank] || n.shown && w.lost(n, o.rank)
	case opAgree, opStar:
		if !n.entered || n.shown {
			return true
		}
		if n.member.Frozen() && !w.bugs.endsLate {
			return false
		}
		_, from, _, _ := w.agrees(o, int(w.rank(p)))
		return !slices.ContainsFunc(from, func(r int) bool { return len(n.got[r]) == n.taken[r] })
	}
	return true
}

func mix(a, b uint32) uint32 {
	h := fnv.New32a()
	binary.Write(h, binary.LittleEndian, []uint32{a, b})
	return h.Sum32()
}

func (w *world) own(p int) *node {
	n := &w.nodes[p]
	n.sent, n.got, n.taken = slices.Clone(n.sent), slices.Clone(n.got), slices.Clone(n.taken)
	n.inbox, n.outbox, n.outcomes = slices.Clone(n.inbox), slices.Clone(n.outbox), slices.Clone(n.outcomes)
	m := *n.member
	m.heard, m.debts = slices.Clone(m.heard), slices.Clone(m.debts)
	n.member = &m
	return n
}

// Apply implements explore.World.
func (w *world) Apply(e event) error {
	n := w.own(e.q)
	switch e.kind {
	case evStep:
		w.step(e.q, n)
	case evArrive:
		src := w.rank(e.p)
		n.got[src] = append(slices.Clip(n.got[src]), w.nodes[e.p].sent[w.rank(e.q)][len(n.got[src])])
	case evTold:
		t := w.tellings[e.p]
		w.tellings = slices.Delete(slices.Clone(w.tellings), e.p, e.p+1)
		if n.dead>>t.from&1 == 0 {
			n.member.Owe(Debt{To: w.rank(t.from), Number: uint64(t.number)})
			n.member.Heard(w.rank(t.from))
		}
	case evHear:
		w.hear(e.q, n)
	case evSettle:
		n.member.said, n.member.answered = true, n.member.told
		a := answer{kind: settled, told: n.member.Told()}
		for i, o := range n.outcomes {
			a.results = append(a.results, Result{Number: uint64(i), Data: []byte{o}})
		}
		n.outbox = append(n.outbox, a)
	case evWaits:
		n.waits = w.waitsFor(e.q, n)
		n.outbox = append(n.outbox, answer{kind: waits, waits: n.waits})
	case evAnswer:
		a := n.outbox[0]
		n.outbox = n.outbox[1:]
		var out Actions
		switch a.kind {
		case waits:
			w.c.Waits(proto.Proc(e.q), a.waits, &out)
		case settled:
			w.c.Ended(proto.Proc(e.q), a.results)
			w.c.Settled(proto.Proc(e.q), a.told, &out)
		default:
			w.c.Counted(proto.Proc(e.q), a.count, &out)
		}
		w.run(out)
	case evCrash, evGiveUp:
		w.crashed[e.q] = true
		w.nodes[e.q] = node{sent: n.sent, outbox: n.outbox, got: make([][]uint32, len(w.degrees)), taken: make([]int, len(w.degrees)), member: NewMember(w.layout, w.rank(e.q))}
		if !w.dismissed[e.q] && e.kind == evCrash {
			w.died++
		}
		if e.kind == evGiveUp && w.content {
			return fmt.Errorf("process %d gives up", e.q)
		}
	case evReap:
		w.reaped[e.q] = true
		n.outbox = nil
		for p := range w.nodes {
			if !w.crashed[p] {
				m := w.own(p)
				m.inbox = append(m.inbox, said{about: proto.Proc(e.q)})
			}
		}
		var out Actions
		w.c.Gone(proto.Proc(e.q), &out)
		if w.rankReaped(e.q) {
			w.c.Begin(func(p proto.Proc) bool { return !w.reaped[p] }, &out)
		}
		w.run(out)
	}
	return w.check()
}

func (w *world) rankReaped(p int) bool {
	r := w.rank(p)
	for k := range w.degrees[r] {
		if !w.reaped[w.layout.Proc(r, k)] {
			return false
		}
	}
	return true
}

// step does the next operation of a program.
func (w *world) step(p int, n *node) {
	send := func(r int) { n.sent[r] = append(slices.Clip(n.sent[r]), n.seen) }
	take := func(r int) {
		if len(n.got[r]) > n.taken[r] {
			n.seen = mix(n.seen, n.got[r][n.taken[r]])
			n.taken[r]++
		} else {
			n.seen = mix(n.seen, 1)
		}
	}
	o := w.programs[w.rank(p)][n.pc]
	first, sources, last, _ := w.agrees(o, int(w.rank(p)))
	switch {
	case o.kind == opSend:
		send(o.rank)
	case o.kind == opReceive:
		take(o.rank)
	case n.shown && w.endedElsewhere(n):
	case n.shown: // the others say what it is, in an agreement
		if w.decided[len(n.outcomes)] == 0 {
			w.decided[len(n.outcomes)] = 'n'
		}
		n.outcomes = append(n.outcomes, w.decided[len(n.outcomes)])
		n.seen = mix(n.seen, 2)
	case !n.entered:
		for _, r := range first {
			send(r)
		}
		n.entered = true
		return
	default:
		for _, r := range sources {
			take(r)
		}
		for _, r := range last {
			send(r)
		}
		n.outcomes = append(n.outcomes, 'o')
	}
	n.pc, n.entered = n.pc+1, false
}

// hear has a process hear the next word of the coordinator.
func (w *world) hear(p int, n *node) {
	m := n.inbox[0]
	n.inbox = n.inbox[1:]
	switch m.kind {
	case 0:
		n.dead |= 1 << m.about
		r := int(w.rank(int(m.about)))
		if w.lost(n, r) || n.member.Begun() && n.member.Proc(proto.Rank(r)) == m.about {
			n.member.Heard(proto.Rank(r))
		}
	case Ask:
		count := 0
		for r := range w.degrees {
			if w.lost(n, r) {
				count += len(n.got[r])
			}
		}
		n.outbox = append(n.outbox, answer{count: uint64(count)})
	case Thin:
		for _, q := range n.member.Thin(w.c.Stay()) {
			w.tellings = append(slices.Clip(w.tellings), telling{p, int(q), len(n.got[w.rank(int(q))])})
		}
		n.shown = w.bugs.showsAtOnce
	case Owe:
		n.member.Claimed(m.debts)
	case Show:
		n.shown = true
		if n.entered && w.endedElsewhere(n) {
			n.pc, n.entered = n.pc+1, false
		}
	}
}

// endedElsewhere has a process take the outcome of its next agreement, if that has ended at one
// that stays.
func (w *world) endedElsewhere(n *node) bool {
	for _, r := range w.c.Results() {
		if int(r.Number) == len(n.outcomes) && !w.bugs.dropsResults && (n.entered || !w.bugs.asksAnew) {
			n.outcomes = append(n.outcomes, r.Data[0])
			return true
		}
	}
	return false
}

// run carries out what the coordinator asks for.
func (w *world) run(out Actions) {
	for i := 0; i < len(out); i++ {
		switch a := out[i]; a.Kind {
		case Dismiss:
			w.dismissed[a.To] = true
			if w.bugs.tellsTooSoon {
				w.c.awaited[a.To] = false
				if w.c.live[a.To] = false; !slices.Contains(w.c.awaited, true) {
					w.c.step(&out)
				}
			}
		default:
			n := w.own(int(a.To))
			n.inbox = append(n.inbox, said{kind: a.Kind, debts: a.Debts})
		}
	}
	if !w.bugs.staysFirst || w.c.phase != dismissing {
		return
	}
	for r := range w.degrees { // as if the first had been chosen
		for k := range w.degrees[r] {
			p := w.layout.Proc(proto.Rank(r), k)
			if w.c.live[p] && w.c.stay[r] != p && w.c.awaited[p] {
				old := w.c.stay[r]
				w.c.stay[r], w.c.awaited[p], w.dismissed[p] = p, false, false
				w.c.awaited[old], w.dismissed[old] = true, true
			}
			if w.c.live[p] {
				break
			}
		}
	}
}

// check looks for a message that differs from what its sender has sent, and for outcomes that
// differ.
func (w *world) check() error {
	for p := range w.nodes {
		for q := range w.nodes {
			a, b := &w.nodes[p], &w.nodes[q]
			if w.crashed[p] || w.crashed[q] || w.dismissed[p] || w.dismissed[q] {
				continue
			}
			if r := w.rank(q); r != w.rank(p) {
				sent, got := a.sent[r], b.got[w.rank(p)]
				if n := min(len(sent), len(got)); !slices.Equal(sent[:n], got[:n]) {
					return fmt.Errorf("process %d has got %v of rank %d, and process %d of it has sent %v", q, got, w.rank(p), p, sent)
				}
				if n := min(len(a.outcomes), len(b.outcomes)); !slices.Equal(a.outcomes[:n], b.outcomes[:n]) {
					return fmt.Errorf("agreements have ended with %q at process %d, and with %q at %d", a.outcomes, p, b.outcomes, q)
				}
			}
		}
	}
	return nil
}

var errStuck = errors.New("a program waits for ever")

// End implements explore.World.
func (w *world) End() error {
	for p := range w.nodes {
		if !w.crashed[p] && w.nodes[p].pc < len(w.programs[w.rank(p)]) {
			return fmt.Errorf("process %d: %w at %d", p, errStuck, w.nodes[p].pc)
		}
	}
	if w.c.Begun() && !w.c.Shown() {
		return fmt.Errorf("the coordinator waits for ever in phase %d", w.c.phase)
	}
	return nil
}

// Clone implements explore.World.
func (w *world) Clone() *world {
	c := *w
	c.nodes, c.tellings, c.decided = slices.Clone(w.nodes), slices.Clone(w.tellings), slices.Clone(w.decided)
	c.crashed, c.reaped, c.dismissed = slices.Clone(w.crashed), slices.Clone(w.reaped), slices.Clone(w.dismissed)
	k := *w.c
	k.live, k.awaited, k.counts = slices.Clone(k.live), slices.Clone(k.awaited), slices.Clone(k.counts)
	k.stay, k.results = slices.Clone(k.stay), slices.Clone(k.results)
	k.claims = claims{slices.Clone(k.claims.waits), slices.Clone(k.claims.now), slices.Clone(k.claims.told), slices.Clone(k.claims.heard)}
	c.c = &k
	return &c
}

// AppendKey implements explore.World.
func (w *world) AppendKey(b []byte) []byte {
	num := func(values ...int) {
		for _, v := range values {
			b = binary.AppendVarint(b, int64(v))
		}
	}
	flags := func(list ...bool) {
		n := 0
		for i, f := range list {
			if f {
				n |= 1 << i
			}
		}
		num(n)
	}
	flags(w.crashed...)
	flags(w.reaped...)
	flags(w.dismissed...)
	num(w.died, int(w.c.phase))
	flags(w.c.live...)
	flags(w.c.awaited...)
	for _, n := range w.c.counts {
		num(int(n))
	}
	for _, p := range w.c.stay {
		num(int(p))
	}
	num(len(w.c.results))
	owed := func(debts []Debt) {
		num(len(debts))
		for _, d := range debts {
			num(int(d.To), int(d.Number))
		}
	}
	claimed := func(waits []Claim) {
		num(len(waits))
		for _, c := range waits {
			num(int(c.Rank), int(c.To), int(c.Number))
		}
	}
	for p := range w.nodes {
		claimed(w.c.claims.waits[p])
		owed(w.c.claims.now[p])
		num(int(w.c.claims.told[p]), int(w.c.claims.heard[p]))
	}
	b = append(b, w.decided...)
	num(len(w.tellings))
	for _, t := range slices.SortedFunc(slices.Values(w.tellings), func(x, y telling) int { return x.from*100 + x.to - y.from*100 - y.to }) {
		num(t.from, t.to, t.number)
	}
	for p := range w.nodes {
		n := &w.nodes[p]
		if w.reaped[p] && w.allKnow(p) {
			continue
		}
		flags(n.entered, n.shown, n.member.Begun(), n.member.said)
		flags(n.member.heard...)
		num(n.pc, int(n.seen), int(n.dead), len(n.inbox), len(n.outbox), int(n.member.told), int(n.member.answered))
		for r := range w.degrees {
			num(len(n.sent[r]), len(n.got[r]), n.taken[r])
			for _, x := range n.sent[r] {
				num(int(x))
			}
		}
		owed(n.member.debts)
		owed(n.member.claimed)
		claimed(n.waits)
		for _, m := range n.inbox {
			num(int(m.kind), int(m.about))
			owed(m.debts)
		}
		for _, a := range n.outbox {
			num(int(a.kind), int(a.count), len(a.results), int(a.told))
			claimed(a.waits)
		}
		b = append(b, n.outcomes...)
	}
	return b
}

// allKnow tells whether nobody receives anything of a process any more.
func (w *world) allKnow(p int) bool {
	for q := range w.nodes {
		if !w.crashed[q] && w.nodes[q].dead>>p&1 == 0 {
			return false
		}
	}
	return !w.bugs.rememberStale
}
