package membership

import (
	"fmt"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/testing/network"
)

// world is a few processes, their detector and a network of FIFO channels, for package explore.
// A crash leaves any prefix of the sends of the process's last step. The detector tells each
// process of a death at any time. It is wrong only where a test cuts the network, or allows it
// to be.
//
// # Fewer states
//
// With rules.reduced, states are left out that can't show anything new:
//
//   - A process crashes within a step only, or before its first. A crash later on is
//     the same: no process can tell, since the word of a death may come late, and messages
//     to the process are lost meanwhile either way.
//   - Of what was sent last, sends to the dead make no difference.
//   - Where only deaths happen, a message that will never have an effect (of a view
//     that is past, of a ballot that was given up) is delivered before all else.
//   - A process needn't be told of those that its view excludes.
//   - A view's history counts only as long as some process may still install its number.
//
// TestReduction compares the ends with those of the full exploration.
type world struct {
	rules    rules
	machines []*Machine // by index; nil: not started yet. Cloned before each step
	members  []Member
	states   []state
	told     [][]word // told[p][q]: what p knows of q
	network  network.Network[*Message]
	last     [][]int    // the receivers of what the process sent in its last step, in order
	views    [][]viewID // what each process installed, by number
	at       []uint64   // the number of the view in force, by process
	crashes  int        // that may still come
	lies     int        // also: the word that a live process is silent
	begun    bool       // something other than a crash has happened
	cut      bool       // the network between the sides is cut
	healed   bool       // the cut has been healed
	messages int
	sent     [Update + 1]int
	changes  int // of metadata, that may still come
	now      proto.Time
	leasing  leasing
	retries  int             // that may still come: in a quiet system, or early
	seen     *[]*Message     // if not nil: the messages sent
	ends     map[string]bool // if not nil: the ends of all worlds of an exploration
}

// word is what the detector has said of a process.
type word uint8

const (
	nothing word = iota
	silence
	certainty
)

type state uint8

const (
	unborn state = iota
	living
	dead
	stopped // excluded, released, halted or refused
)

// rules say what may happen.
type rules struct {
	members int // of the first view
	joiners []Member
	leavers []int
	// changes is how often a member may change what it says of itself.
	changes int
	early   int // how many times a joining process is impatient
	crashes int
	mayDie  []int // nil: any process
	why     Why   // as what a death is told
	arity   int
	// sides splits the processes: those of the first side, as a bit set, and the others. They
	// stop hearing each other at some moment, and each is told that the other side is silent.
	side   uint32
	cutoff bool
	oneWay bool // the others still hear the first side, and aren't told
	heals  bool // the cut may end; messages under way by then are lost
	far    bool // a death beyond the cut is never certain
	lies   int
	// asks is how many leases may be asked for. ticks is how often time passes while something is
	// under way. A lease that is had is used at once if uses says so.
	asks, ticks int
	uses        bool
	announces   bool // all are told of a process that joins before it does
	bugs        bugs
	// reduced leaves out states: see world.
	reduced bool
	// Known bugs, for canaries.
	quorum   func(*View, []Departure) bool
	presumes bool // a new coordinator proposes without collecting first
}

func newWorld(r rules) *world {
	w := &world{rules: r, crashes: r.crashes, lies: r.lies, changes: r.changes, retries: 6*len(r.joiners) + r.early}
	first := FirstView(r.members)
	for p := range r.members {
		m := first.Members[p]
		c := Config{Self: m, Arity: r.arity, quorum: r.quorum, bugs: r.bugs}
		if r.asks > 0 {
			c.Lease, c.Promise = 2, 2
		} else if r.divided() {
			c.Patience = 1
		}
		w.add(m, New(c, first), living)
	}
	for _, j := range r.joiners {
		w.add(j, nil, unborn)
	}
	n := len(w.machines)
	w.leasing = leasing{asks: r.asks, ticks: r.ticks, claims: make([]claim, n)}
	w.told, w.network, w.last = make([][]word, n), network.New[*Message](n), make([][]int, n)
	for p := range n {
		w.told[p] = make([]word, n)
	}
	return w
}

func (w *world) add(m Member, x *Machine, s state) {
	w.views = append(w.views, nil)
	w.machines, w.members, w.states = append(w.machines, x), append(w.members, m), append(w.states, s)
	if x != nil {
		w.at = append(w.at, 1)
	} else {
		w.at = append(w.at, 0)
	}
}

type event struct {
	kind  byte // d: deliver, t: tell for certain, s: tell of silence, c: crash, j: join, r: retry, p: patience ends, l: leave, m: change metadata, x: cut, h: heal, a: ask for a lease, u: give it back, T: time passes, k: p notices
	p, q  int  // d: from p to q; t, s: to p of q; c: p loses its last q sends
	extra string
	// dies says that the process that takes the step crashes in it, after so many sends.
	dies  bool
	after int
	first uint32 // t, s, d: those that p, or the receiver, is told of before, a bit set
}

func (e event) String() string {
	s := fmt.Sprintf("%c%d", e.kind, e.p)
	switch e.kind {
	case 'd':
		s = fmt.Sprintf("%d>%d:%s", e.p, e.q, e.extra)
	case 't':
		s = fmt.Sprintf("%d!%d", e.p, e.q)
	case 's':
		s = fmt.Sprintf("%d?%d", e.p, e.q)
	case 'c':
		s = fmt.Sprintf("crash%d-%d", e.p, e.q)
	}
	if e.first != 0 {
		s = fmt.Sprintf("%d!%b,", e.actor(), e.first) + s
	}
	if e.dies {
		s += fmt.Sprintf("†%d", e.after)
	}
	return s
}

// actor is the process that takes a step in an event, -1 if none does.
func (e event) actor() int {
	switch e.kind {
	case 'd':
		return e.q
	case 'c', 'x', 'h', 'T':
		return -1
	}
	return e.p
}

func (w *world) Events(dst []event) []event {
	for p := range w.machines {
		for q := range w.machines {
			if c := w.network.Queue(p, q); len(c) > 0 {
				e := event{kind: 'd', p: p, q: q, extra: c[0].Kind.String()}
				if w.rules.reduced && w.idle(c[0], q) {
					return append(dst[:0], e)
				}
				dst = append(dst, e)
				if w.lazy() && w.orders(c[0], q) {
					e.first = 1 << w.index(c[0].Base.Members[c[0].Ballot.Position])
					dst = append(dst, e)
				}
			}
		}
	}
	if w.lazy() {
		dst = w.tells(dst)
	}
	for p, x := range w.machines {
		if w.states[p] == unborn && w.free(p) {
			dst = append(dst, event{kind: 'j', p: p})
		}
		if w.states[p] != living {
			continue
		}
		for q := range w.machines {
			if w.lazy() || q == p || w.states[q] == unborn || w.knows(p, q) {
				continue
			}
			if w.told[p][q] < certainty && w.certain(p, q) {
				dst = append(dst, event{kind: 't', p: p, q: q})
			}
			if w.told[p][q] == nothing && (w.silent(p, q) || w.lies > 0) {
				dst = append(dst, event{kind: 's', p: p, q: q})
			}
		}
		if x.lead.until != proto.Never && w.quiet() {
			dst = append(dst, event{kind: 'p', p: p})
		}
		if x.View() == nil && w.retries > 0 && (w.quiet() || w.retries > 6*len(w.rules.joiners)) {
			dst = append(dst, event{kind: 'r', p: p})
		}
		if slices.Contains(w.rules.leavers, p) && !x.leaving {
			dst = append(dst, event{kind: 'l', p: p})
		}
		if w.changes > 0 {
			dst = append(dst, event{kind: 'm', p: p})
		}
	}
	if w.rules.cutoff && !w.cut && !w.healed {
		dst = append(dst, event{kind: 'x'})
	}
	if w.cut && w.rules.heals {
		dst = append(dst, event{kind: 'h'})
	}
	if w.rules.asks > 0 {
		dst = w.leaseEvents(dst)
	}
	if w.crashes > 0 {
		dst = w.deaths(dst)
	}
	if len(dst) == 0 && w.lazy() {
		dst = w.rest(dst)
	}
	return dst
}

// free says whether an earlier incarnation of a process, if there was one, has ended.
func (w *world) free(p int) bool {
	for q, m := range w.members {
		if m.Proc == w.members[p].Proc && m.Incarnation < w.members[p].Incarnation && w.states[q] == living {
			return false
		}
	}
	return true
}

// quiet says that no message is under way, and no death is left to tell.
func (w *world) quiet() bool {
	if !w.network.Quiet() {
		return false
	}
	for p := range w.machines {
		for q := range w.machines {
			if p != q && w.states[p] == living && !w.knows(p, q) &&
				(w.told[p][q] < certainty && w.certain(p, q) || w.told[p][q] == nothing && w.silent(p, q)) {
				return false
			}
		}
	}
	return true
}

// certain says whether p may be told for certain that q is gone. A process that has left or
// been excluded ends, and the detector tells of that as well.
func (w *world) certain(p, q int) bool {
	return w.ended(q) && !w.claims(q) && w.rules.why != Silent && !(w.rules.far && w.cut && !w.together(p, q)) ||
		w.states[q] == stopped && w.machines[q].leaving
}

// silent says whether p may be told that q is silent.
func (w *world) silent(p, q int) bool {
	return w.ended(q) && w.rules.why == Silent || w.cut && !w.together(p, q) && !(w.rules.oneWay && w.first(q)) ||
		w.ended(q) && !w.certain(p, q)
}

func (w *world) ended(q int) bool { return w.states[q] == dead || w.states[q] == stopped }

// lost says whether the cut loses what p sends to q.
func (w *world) lost(p, q int) bool {
	return w.cut && !w.together(p, q) && !(w.rules.oneWay && w.first(p))
}

// first says whether a process is on the first side of the cut.
func (w *world) first(p int) bool { return w.rules.side>>p&1 == 1 }

func (w *world) together(p, q int) bool {
	return w.first(p) == w.first(q)
}

// droppable is how many of the last sends of p haven't been delivered.
func (w *world) droppable(p int) int {
	count := map[int]int{}
	n := 0
	for i := len(w.last[p]) - 1; i >= 0; i-- {
		q := w.last[p][i]
		if w.states[q] != living {
			n++
			continue
		}
		if count[q]++; count[q] > len(w.network.Queue(p, q)) {
			break
		}
		n++
	}
	return n
}

func (w *world) index(m Member) int { return slices.Index(w.members, m) }

func (w *world) Apply(e event) error {
	w.begun = w.begun || e.kind != 'c'
	switch e.kind {
	case 'c':
		for range e.q {
			l := w.last[e.p]
			q := l[len(l)-1]
			w.last[e.p] = l[:len(l)-1]
			if w.states[q] == living {
				w.network.Keep(e.p, q, len(w.network.Queue(e.p, q))-1)
			}
		}
		w.end(e.p, dead)
		w.crashes--
		return nil
	case 'x':
		w.cut = true
		return nil
	case 'h':
		for p := range w.machines {
			for q := range w.machines {
				if w.lost(p, q) {
					w.network.Keep(p, q, 0)
				}
			}
		}
		w.cut, w.healed = false, true
		return nil
	case 'T':
		w.now++
		w.leasing.ticks--
		return nil
	}
	p := e.actor()
	if e.kind != 'j' {
		w.machines[p] = clone(w.machines[p])
	}
	var out Actions
	w.machines[p] = w.act(e, w.machines[p], &out)
	if e.kind == 'j' && w.rules.announces {
		w.announce(p)
	}
	for q := range w.machines {
		if e.first>>q&1 == 1 {
			w.told[p][q] = certainty
		}
	}
	switch e.kind {
	case 'd':
		w.network.Receive(e.p, e.q)
	case 't':
		w.told[p][e.q] = certainty
	case 's':
		if w.told[p][e.q] = silence; !w.silent(p, e.q) {
			w.lies--
		}
	case 'j':
		w.states[p] = living
	case 'm':
		w.changes--
	case 'a':
		w.leasing.asks--
	case 'u':
		w.leasing.claims[p] = claim{}
	case 'r':
		w.now, w.retries = w.now+1, w.retries-1
	}
	if w.rules.presumes {
		w.machines[p].lead.collected = true
	}
	if e.dies {
		sends := 0
		out = slices.DeleteFunc(out, func(a Action) bool {
			if a.Kind == Send {
				sends++
			}
			return a.Kind == Send && sends > e.after
		})
	}
	if err := w.carryOut(p, out); err != nil {
		return err
	}
	if e.dies {
		w.end(p, dead)
		w.crashes--
	}
	return w.checkLeases(p)
}

// act lets a machine take the step of an event. It changes nothing else.
func (w *world) act(e event, m *Machine, out *Actions) *Machine {
	for q := range w.machines {
		if e.first>>q&1 == 1 {
			m.Departed(w.now, w.members[q], w.rules.why, out)
		}
	}
	switch e.kind {
	case 'd':
		if !w.lost(e.p, e.q) {
			m.Receive(w.now, w.network.Queue(e.p, e.q)[0], out)
		}
	case 't':
		why := Died
		if w.states[e.q] == stopped && w.machines[e.q].leaving {
			why = Left
		}
		m.Departed(w.now, w.members[e.q], why, out)
	case 's':
		m.Departed(w.now, w.members[e.q], Silent, out)
	case 'j':
		contacts := FirstView(w.rules.members).Members
		c := Config{Self: w.members[e.p], Arity: w.rules.arity, Retry: 1, bugs: w.rules.bugs}
		if w.rules.announces && w.divided() {
			c.Patience = 1
		}
		if w.rules.changes > 0 {
			c.Metadata = "1"
		}
		m = NewJoiner(c,
			slices.DeleteFunc(contacts, func(m Member) bool { return m.Proc == w.members[e.p].Proc }), w.now, out)
	case 'r':
		m.Tick(w.now+1, out)
	case 'p':
		m.Tick(m.lead.until, out)
	case 'l':
		m.Leave(w.now, out)
	case 'm':
		m.SetMetadata(w.now, fmt.Sprint(m.own.Version+1), out)
	case 'a':
		m.AskLease(w.now, out)
	case 'u':
		m.Hold(w.now, 0, out)
	case 'k':
		m.Tick(w.now, out)
	}
	if at := m.Leased(); w.rules.uses && e.kind != 'u' && at > w.now {
		m.Hold(w.now, at, out)
	}
	return m
}

func (w *world) carryOut(p int, out Actions) error {
	w.last[p] = nil
	for _, a := range out {
		switch a.Kind {
		case Send:
			q := w.index(a.To)
			if q < 0 {
				return fmt.Errorf("%d sends to %v, who never was", p, a.To)
			}
			if q == p {
				return fmt.Errorf("%d sends to itself: %v", p, a.Message.Kind)
			}
			if a.Message.From != w.members[p] {
				return fmt.Errorf("%d sends a %v of %v", p, a.Message.Kind, a.Message.From)
			}
			w.messages++
			if w.seen != nil {
				*w.seen = append(*w.seen, a.Message)
			}
			w.sent[a.Message.Kind]++
			if w.states[q] == living {
				w.network.Send(p, q, a.Message)
			}
			w.last[p] = append(w.last[p], q)
		case Install:
			if err := w.installed(p, a.View); err != nil {
				return err
			}
		case Excluded, Released, Halted, Refused:
			w.end(p, stopped)
		}
	}
	return nil
}

// end ends a process. Messages under way to it no longer matter.
func (w *world) end(p int, s state) {
	w.states[p] = s
	w.network.Deafen(p)
}

// installed checks the protocol's promises about views.
func (w *world) installed(p int, v *View) error {
	if !v.Has(w.members[p]) {
		return fmt.Errorf("self inclusion: %d installs %s", p, show(v))
	}
	if w.at[p] != 0 && v.Number != w.at[p]+1 {
		return fmt.Errorf("order: %d installs view %d after %d", p, v.Number, w.at[p])
	}
	w.at[p] = v.Number
	if before := w.machines[p]; before != nil {
		for _, d := range v.Updated {
			if said := w.machines[w.index(d.Member)].own.Version; d.Version > said {
				return fmt.Errorf("metadata: %d installs %v, who has said only %d", p, d, said)
			}
		}
	}
	// A process that went on alone on the better side of a cut, and has surely ended since, may
	// have had another view of this number: see Quorum.
	id := identify(v)
	for q := range w.views {
		if other := w.had(q, v.Number); other != 0 && other != id && (w.states[q] == living || !w.divided()) {
			return fmt.Errorf("agreement: %d installs %s, %d %s", p, show(v), q, texts[other])
		}
	}
	views := make([]viewID, v.Number+1)
	copy(views, w.views[p])
	views[v.Number] = id
	w.views[p] = views
	return nil
}

// divided says whether a live process may be taken for silent.
func (w *world) divided() bool { return w.rules.divided() }

func (r rules) divided() bool { return r.cutoff || r.lies > 0 }

// had is the view of a number that a process installed, or 0.
func (w *world) had(p int, number uint64) viewID {
	if number < uint64(len(w.views[p])) {
		return w.views[p][number]
	}
	return 0
}

// End: faults have stopped and all has been said, so all live processes are in one view, and no
// others are.
func (w *world) End() error {
	if w.ends != nil {
		w.ends[w.outcome()] = true
	}
	switch {
	case w.rules.announces && (w.rules.oneWay || w.rules.heals):
		return nil // a process that joins may wait for what was lost
	case w.rules.announces && w.settles() != nil:
		return w.settles()
	case w.rules.lies > 0:
		return nil // if the detector misinforms only some, others may wait for them
	case w.divided() || w.stalled():
		return w.endCut()
	}
	var want *View
	for p, x := range w.machines {
		if w.states[p] != living {
			continue
		}
		switch {
		case x.View() == nil:
			if w.anyContact() {
				return fmt.Errorf("%d waits to be let in for ever", p)
			}
		case want == nil:
			want = x.View()
		case show(want) != show(x.View()):
			return fmt.Errorf("%d ends in %s, another in %s", p, show(x.View()), show(want))
		}
	}
	if want == nil {
		return nil
	}
	for p, m := range w.members {
		in := w.states[p] == living && w.machines[p].View() != nil
		if want.Has(m) != in {
			return fmt.Errorf("%d is %v in the end, but the view is %s", p, w.states[p], show(want))
		}
		if in && want.MetadataOf(m) != w.machines[p].own && w.machines[p].own.Version > 0 {
			return fmt.Errorf("metadata: %d says %v of itself in the end, but the view is %s", p, w.machines[p].own, show(want))
		}
	}
	return nil
}

// outcome says which processes are live, and in which views.
func (w *world) outcome() string {
	s := ""
	for p, m := range w.machines {
		s += fmt.Sprintf("%d: %d", p, w.states[p])
		if w.states[p] == living {
			s += " in " + show(m.View())
		}
		s += "; "
	}
	return s
}

func (w *world) stalled() bool {
	for p, x := range w.machines {
		if w.states[p] == living && x.lead.stalled {
			return true
		}
	}
	return false
}

// anyContact says whether one of the processes that a joiner can ask is still there.
func (w *world) anyContact() bool {
	for p := range w.rules.members {
		if w.states[p] == living {
			return true
		}
	}
	return false
}

// endCut: at most one of the two sides has gone on. (Agreement was checked all along.)
// Processes of one side wait only for a quorum.
func (w *world) endCut() error {
	for p, x := range w.machines {
		if w.states[p] != living || x.View() == nil {
			continue
		}
		c, _ := x.Coordinator()
		if q := w.index(c); w.states[q] != living {
			return fmt.Errorf("%d waits for %d, who is gone", p, q)
		} else if !w.machines[q].lead.stalled && w.machines[q].lead.busy {
			return fmt.Errorf("%d waits for answers for ever, in %s", q, show(w.machines[q].View()))
		}
	}
	return nil
}

func (w *world) Clone() *world {
	c := *w
	c.machines, c.states, c.at, c.views = slices.Clone(w.machines), slices.Clone(w.states), slices.Clone(w.at), slices.Clone(w.views)
	c.told, c.network, c.last = make([][]word, len(w.told)), w.network.Clone(), slices.Clone(w.last)
	for p := range w.told {
		c.told[p] = slices.Clone(w.told[p])
	}
	c.leasing.claims = slices.Clone(w.leasing.claims)
	return &c
}

func clone(m *Machine) *Machine {
	if m == nil {
		return nil // it is about to begin
	}
	c := *m
	c.gone, c.joins, c.leaves = slices.Clone(m.gone), slices.Clone(m.joins), slices.Clone(m.leaves)
	c.round.certain, c.round.awaiting = slices.Clone(m.round.certain), slices.Clone(m.round.awaiting)
	c.expected, c.joiner.claims = slices.Clone(m.expected), slices.Clone(m.joiner.claims)
	c.updates = slices.Clone(m.updates)
	c.leases.granted, c.leases.promises = slices.Clone(m.leases.granted), slices.Clone(m.leases.promises)
	c.skipped = nil
	return &c
}
