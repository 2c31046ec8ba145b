package membership

import (
	"fmt"
	"maps"
	"slices"

	"banyan/internal/proto"
)

// world is a few processes, their detector and a network of FIFO channels, for
// package explore. A crash leaves any prefix of the sends of the process's last
// step. The detector tells of a death whenever it likes, each process on its
// own, and lies only where a test cuts the network.
type world struct {
	rules    rules
	machines []*Machine // by index; nil: not started yet
	members  []Member
	states   []state
	told     [][]bool            // told[p][q]: p knows that q is gone
	channels [][]channel         // channels[p][q]
	last     [][]int             // to whom the process sent in its last step, in order
	views    []map[uint64]string // what each process installed, by number
	at       []uint64            // the number of the view in force, by process
	crashes  int                 // that may still happen
	cut      bool                // the network between the sides is
	messages int
	sent     [Obituary + 1]int
	now      proto.Time
	retries  int // that may still happen: in a quiet system, or early
}

type channel []*Message

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
	early   int // how many times somebody who joins is impatient
	crashes int
	mayDie  []int // nil: anybody
	why     Why   // as what a death is told
	arity   int
	// sides splits the processes: those of the first side, as a bit set, and the
	// others. They stop hearing each other at some moment, and each is told that
	// the other is silent.
	side   uint32
	cutoff bool
	// Known bugs, for canaries.
	quorum   func(*View, []Departure) bool
	presumes bool // a new coordinator proposes without collecting first
}

func newWorld(r rules) *world {
	w := &world{rules: r, crashes: r.crashes, retries: 6*len(r.joiners) + r.early}
	first := FirstView(r.members)
	for p := range r.members {
		m := first.Members[p]
		w.add(m, New(Config{Self: m, Arity: r.arity, quorum: r.quorum}, first), living)
	}
	for _, j := range r.joiners {
		w.add(j, nil, unborn)
	}
	n := len(w.machines)
	w.told, w.channels, w.last = make([][]bool, n), make([][]channel, n), make([][]int, n)
	for p := range n {
		w.told[p], w.channels[p] = make([]bool, n), make([]channel, n)
	}
	return w
}

func (w *world) add(m Member, x *Machine, s state) {
	w.views = append(w.views, map[uint64]string{})
	w.machines, w.members, w.states = append(w.machines, x), append(w.members, m), append(w.states, s)
	if x != nil {
		w.at = append(w.at, 1)
	} else {
		w.at = append(w.at, 0)
	}
}

type event struct {
	kind  byte // d: deliver, t: tell, c: crash, j: join, l: leave, x: cut
	p, q  int  // d: from p to q; t: to p of q; c: p loses its last q sends
	extra string
}

func (e event) String() string {
	switch e.kind {
	case 'd':
		return fmt.Sprintf("%d>%d:%s", e.p, e.q, e.extra)
	case 't':
		return fmt.Sprintf("%d!%d", e.p, e.q)
	case 'c':
		return fmt.Sprintf("crash%d-%d", e.p, e.q)
	}
	return fmt.Sprintf("%c%d", e.kind, e.p)
}

func (w *world) Events(dst []event) []event {
	for p := range w.machines {
		for q := range w.machines {
			if c := w.channels[p][q]; len(c) > 0 {
				dst = append(dst, event{kind: 'd', p: p, q: q, extra: c[0].Kind.String()})
			}
		}
	}
	for p, x := range w.machines {
		if w.states[p] == unborn && w.free(p) {
			dst = append(dst, event{kind: 'j', p: p})
		}
		if w.states[p] != living {
			continue
		}
		for q := range w.machines {
			if q != p && !w.told[p][q] && w.gone(p, q) {
				dst = append(dst, event{kind: 't', p: p, q: q})
			}
		}
		if x.View() == nil && w.retries > 0 && (w.quiet() || w.retries > 6*len(w.rules.joiners)) {
			dst = append(dst, event{kind: 'r', p: p})
		}
		if slices.Contains(w.rules.leavers, p) && !x.leaving {
			dst = append(dst, event{kind: 'l', p: p})
		}
		if w.crashes > 0 && (w.rules.mayDie == nil || slices.Contains(w.rules.mayDie, p)) {
			for k := range w.droppable(p) + 1 {
				dst = append(dst, event{kind: 'c', p: p, q: k})
			}
		}
	}
	if w.rules.cutoff && !w.cut {
		dst = append(dst, event{kind: 'x'})
	}
	return dst
}

// free says whether an earlier life of a process, if there was one, is over.
func (w *world) free(p int) bool {
	for q, m := range w.members {
		if m.Proc == w.members[p].Proc && m.Incarnation < w.members[p].Incarnation && w.states[q] == living {
			return false
		}
	}
	return true
}

// quiet says that nothing is on its way, and nothing is left to tell.
func (w *world) quiet() bool {
	for p := range w.channels {
		for q := range w.channels[p] {
			if len(w.channels[p][q]) > 0 || p != q && w.states[p] == living && !w.told[p][q] && w.gone(p, q) {
				return false
			}
		}
	}
	return true
}

// gone says whether p may be told that q is gone. Whoever has left or been
// excluded ends, and the detector tells of that as well.
func (w *world) gone(p, q int) bool {
	if w.states[q] == dead || w.states[q] == stopped {
		return true
	}
	return w.cut && !w.together(p, q)
}

func (w *world) why(q int) Why {
	switch {
	case w.states[q] == stopped && w.machines[q].leaving:
		return Left
	case w.states[q] == dead || w.states[q] == stopped:
		return w.rules.why
	}
	return Silent
}

func (w *world) together(p, q int) bool {
	return w.rules.side>>p&1 == w.rules.side>>q&1
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
		if count[q]++; count[q] > len(w.channels[p][q]) {
			break
		}
		n++
	}
	return n
}

func (w *world) index(m Member) int { return slices.Index(w.members, m) }

func (w *world) Apply(e event) error {
	var out Actions
	p := e.p
	switch e.kind {
	case 'd':
		x := w.channels[e.p][e.q][0]
		w.channels[e.p][e.q] = slices.Clone(w.channels[e.p][e.q][1:])
		p = e.q
		if w.cut && !w.together(e.p, e.q) {
			return nil
		}
		w.machines[p].Receive(w.now, x, &out)
	case 't':
		w.told[p][e.q] = true
		w.machines[p].Departed(w.now, w.members[e.q], w.why(e.q), &out)
	case 'c':
		for range e.q {
			l := w.last[p]
			q := l[len(l)-1]
			w.last[p] = l[:len(l)-1]
			if c := w.channels[p][q]; w.states[q] == living {
				w.channels[p][q] = slices.Clone(c[:len(c)-1])
			}
		}
		w.end(p, dead)
		w.crashes--
		return nil
	case 'j':
		contacts := FirstView(w.rules.members).Members
		w.machines[p] = NewJoiner(Config{Self: w.members[p], Arity: w.rules.arity, Retry: 1}, slices.DeleteFunc(contacts, func(m Member) bool { return m.Proc == w.members[p].Proc }), w.now, &out)
		w.states[p] = living
	case 'r':
		w.now, w.retries = w.now+1, w.retries-1
		w.machines[p].Tick(w.now, &out)
	case 'l':
		w.machines[p].Leave(w.now, &out)
	case 'x':
		w.cut = true
		return nil
	}
	if w.rules.presumes {
		w.machines[p].lead.collected = true
	}
	return w.carryOut(p, out)
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
			w.sent[a.Message.Kind]++
			if w.states[q] == living {
				w.channels[p][q] = append(slices.Clone(w.channels[p][q]), a.Message)
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

// end ends a process. What is on its way to it no longer matters.
func (w *world) end(p int, s state) {
	w.states[p] = s
	for q := range w.channels {
		w.channels[q][p] = nil
	}
}

// installed checks what the protocol promises of views.
func (w *world) installed(p int, v *View) error {
	if !v.Has(w.members[p]) {
		return fmt.Errorf("self inclusion: %d installs %s", p, show(v))
	}
	if w.at[p] != 0 && v.Number != w.at[p]+1 {
		return fmt.Errorf("order: %d installs view %d after %d", p, v.Number, w.at[p])
	}
	w.at[p] = v.Number
	// Whoever alone went on on the better side of a cut, and has surely ended
	// since, may have had another view of this number: see Quorum.
	s := show(v)
	for q, views := range w.views {
		if other, ok := views[v.Number]; ok && other != s && (w.states[q] == living || !w.rules.cutoff) {
			return fmt.Errorf("agreement: %d installs %s, %d %s", p, s, q, other)
		}
	}
	w.views[p][v.Number] = s
	return nil
}

func show(v *View) string {
	if v == nil {
		return "-"
	}
	s, ok := shown[v]
	if !ok {
		s = fmt.Sprintf("view %d %v +%v -%v past %v", v.Number, v.Members, v.Joined, v.Gone, v.Past)
		shown[v] = s
	}
	return s
}

// shown keeps the texts of views, which are long and many alike.
var shown = map[*View]string{}

// End: faults have stopped and all is said, so all who live are in one view,
// and nobody else is.
func (w *world) End() error {
	if w.cut {
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
		if want.Has(m) != in && !w.stalled() {
			return fmt.Errorf("%d is %v in the end, but the view is %s", p, w.states[p], show(want))
		}
	}
	return nil
}

func (w *world) stalled() bool {
	for p, x := range w.machines {
		if w.states[p] == living && x.lead.stalled {
			return true
		}
	}
	return false
}

// anyContact says whether one of those whom a joiner can ask is still there.
func (w *world) anyContact() bool {
	for p := range w.rules.members {
		if w.states[p] == living {
			return true
		}
	}
	return false
}

// endCut: of two sides at most one has gone on. (Agreement has been checked all
// along.) Nobody of one side waits for anybody but a quorum.
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
	c.machines = make([]*Machine, len(w.machines))
	for p, m := range w.machines {
		if m != nil {
			c.machines[p] = clone(m)
		}
	}
	c.states, c.at = slices.Clone(w.states), slices.Clone(w.at)
	c.told, c.channels, c.last = make([][]bool, len(w.told)), make([][]channel, len(w.told)), make([][]int, len(w.told))
	for p := range w.told {
		c.told[p], c.channels[p], c.last[p] = slices.Clone(w.told[p]), slices.Clone(w.channels[p]), slices.Clone(w.last[p])
	}
	c.views = make([]map[uint64]string, len(w.views))
	for p, v := range w.views {
		c.views[p] = maps.Clone(v)
	}
	return &c
}

func clone(m *Machine) *Machine {
	c := *m
	c.gone, c.joins, c.leaves = slices.Clone(m.gone), slices.Clone(m.joins), slices.Clone(m.leaves)
	c.round.certain = slices.Clone(m.round.certain)
	c.skipped = nil
	return &c
}

func (w *world) AppendKey(dst []byte) []byte {
	for p, m := range w.machines {
		dst = append(dst, '|', byte(w.states[p]))
		if w.states[p] != living {
			dst = append(dst, byte(b2i(m != nil && m.leaving)))
			continue
		}
		r, l := &m.round, &m.lead
		dst = append(append(dst, show(m.view)...), show(m.proposal)...)
		dst = append(append(dst, show(r.view)...), show(l.adopted)...)
		dst = appendDepartures(dst, m.gone, r.certain, l.skip)
		dst = appendMembers(dst, m.joins, m.leaves, []Member{m.asker, r.parent})
		dst = appendBallots(dst, m.promised, m.accepted, r.ballot, r.best)
		dst = append(dst, byte(r.kind), byte(r.awaiting), byte(l.takeover), byte(l.attempt), byte(m.door.next))
		for _, f := range []bool{m.leaving, r.root, l.collected, l.busy, l.stalled, m.asked} {
			dst = append(dst, byte(b2i(f)))
		}
		for _, f := range w.told[p] {
			dst = append(dst, byte(b2i(f)))
		}
	}
	for p := range w.channels {
		for q, c := range w.channels[p] {
			for _, x := range c {
				dst = append(dst, '>', byte(p), byte(q))
				dst = describe(dst, x)
			}
		}
		if w.states[p] == living && w.crashes > 0 {
			dst = append(dst, '<')
			for _, q := range w.last[p][len(w.last[p])-w.droppable(p):] {
				dst = append(dst, byte(q))
			}
		}
	}
	for p, views := range w.views {
		for n := uint64(0); n <= w.at[p]; n++ {
			dst = append(dst, views[n]...)
		}
	}
	return append(dst, byte(w.crashes), byte(b2i(w.cut)), byte(w.retries))
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func appendDepartures(dst []byte, lists ...[]Departure) []byte {
	for _, l := range lists {
		dst = append(dst, byte(len(l)))
		for _, d := range l {
			dst = append(dst, byte(d.Proc), byte(d.Incarnation), byte(d.Why))
		}
	}
	return dst
}

func appendMembers(dst []byte, lists ...[]Member) []byte {
	for _, l := range lists {
		dst = append(dst, byte(len(l)))
		for _, m := range l {
			dst = append(dst, byte(m.Proc), byte(m.Incarnation))
		}
	}
	return dst
}

func appendBallots(dst []byte, ballots ...Ballot) []byte {
	for _, b := range ballots {
		dst = append(dst, byte(b.Takeover), byte(b.Position), byte(b.Attempt))
	}
	return dst
}

func describe(dst []byte, x *Message) []byte {
	dst = append(dst, byte(x.Kind), byte(x.Number))
	dst = appendBallots(dst, x.Ballot, x.Accepted)
	dst = append(append(dst, show(x.Base)...), show(x.View)...)
	dst = appendDepartures(dst, x.Skip, x.Gone)
	return appendMembers(dst, []Member{x.Member})
}
