package agreement

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"banyan/internal/testing/explore"
	"banyan/internal/topology"
)

// What a world can find.
var (
	errDiffers = errors.New("two live members decided differently")
	errInvalid = errors.New("a decision isn't what the contributors gave")
	errOrder   = errors.New("a decision out of order")
	errStable  = errors.New("a decision was forgotten that a live member doesn't have")
	errStuck   = errors.New("a live member waits for ever")
	errKept    = errors.New("a live member never forgets")
	errEarly   = errors.New("forgotten before all live members have closed")
	errStrict  = errors.New("a member that died had returned something else")
	errLost    = errors.New("a message that matters came after the end")
)

// member is a machine, or one with a bug.
type member interface {
	Contribute(Contribution, *Actions) uint64
	Receive(int, Message, *Actions)
	Dead(int, *Actions)
	Close(bool, *Actions)
	Leave(*Actions)
	Prompt(*Actions)
	machine() *Machine
	copy() member
}

func (m *Machine) machine() *Machine { return m }
func (m *Machine) copy() member      { return m.clone() }

// rules are what doesn't change in a world.
type rules struct {
	members   int
	tree      topology.Tree
	rounds    int  // agreements
	deaths    int  // at most
	overlap   bool // enters all agreements without waiting
	suspicion bool // the dead go on until the end: they were only taken for dead
	close     bool // all close after the last agreement
	strict    bool // the first of two agreements is returned when the second is decided
	payloads  bool
	blind     bool // doesn't check what machines forget, only what comes of it
	unfenced  bool // messages of the dead come also after the news of the death
	cut       Set  // members that are cut off together: if one dies, all are taken for dead
	late      Set  // members that open the communicator late
	keep      Set  // members that keep something when they close
	leavers   Set  // members that may leave at any time without a closing
	never     Set  // members that never open the communicator; they leave some time
	prompts   bool // each member that waits prompts once, and besides when it helps
	bug       func(*Machine) member
}

// world is a communicator whose members agree, die and close. A death drops what the dead member
// has sent at the moment when the receiver hears of the death, so it may come after any part of
// it.
type world struct {
	*rules
	actors   []actor
	channels [][]Message // from*members+to
	dead     int         // how many
	out      Actions
}

type actor struct {
	member
	dead      bool // or taken for dead
	open      bool
	told      Set     // those that have heard of the death
	values    []Value // decided
	acks      []Set   // what was acknowledged, by agreement
	closed    bool
	forgotten bool
	left      bool
	prompted  bool
}

// event is something that may happen.
type event struct {
	kind     eventKind
	from, to int16
}

type eventKind uint8

const (
	deliver eventKind = iota
	enter
	die
	hear // to hears of the death of from
	closes
	opens
	leaves
	prompt
)

var eventNames = [...]string{"deliver", "enter", "die", "hear", "close", "open", "leave", "prompt"}

func (e event) String() string {
	switch e.kind {
	case deliver:
		return fmt.Sprintf("%d→%d", e.from, e.to)
	case hear:
		return fmt.Sprintf("%d-hears-%d", e.to, e.from)
	}
	return fmt.Sprintf("%d-%s", e.to, eventNames[e.kind])
}

func (r *rules) world() *world {
	if r.bug == nil {
		r.bug = func(m *Machine) member { return m }
	}
	w := &world{rules: r, actors: make([]actor, r.members), channels: make([][]Message, r.members*r.members)}
	for p := range w.actors {
		c := Config{Self: p, Tree: r.tree}
		if r.payloads {
			c.Combine = func(_ uint64, into, from []byte) []byte {
				for i, b := range from {
					into[i] += b
				}
				return into
			}
		}
		w.actors[p].member = r.bug(New(c))
		w.actors[p].open = !r.late.Has(p) && !r.never.Has(p)
	}
	return w
}

// acts tells whether a member does anything more.
func (w *world) acts(p int) bool { return !w.actors[p].dead || w.suspicion }

func (w *world) Events(dst []event) []event {
	for p := range w.actors {
		a, self := &w.actors[p], int16(p)
		if !w.acts(p) {
			for q := range w.actors {
				if !a.told.Has(q) && w.acts(q) && !w.actors[q].forgotten && q != p {
					dst = append(dst, event{hear, self, int16(q)})
				}
			}
			continue
		}
		if a.dead {
			for q := range w.actors {
				if q != p && !a.told.Has(q) && !w.actors[q].forgotten {
					dst = append(dst, event{hear, self, int16(q)})
				}
			}
		}
		m := a.machine()
		if w.never.Has(p) {
			if !a.left {
				dst = append(dst, event{leaves, self, self})
			}
		} else if !a.open {
			dst = append(dst, event{opens, self, self})
		} else if a.left {
		} else if int(m.entered) < w.rounds && (w.overlap || m.entered == m.decided) {
			dst = append(dst, event{enter, self, self})
		} else if w.close && !a.closed && int(m.decided) == w.rounds {
			dst = append(dst, event{closes, self, self})
		}
		if w.leavers.Has(p) && a.open && !a.left && !a.closed && (w.overlap || m.entered == m.decided) {
			dst = append(dst, event{leaves, self, self})
		}
		if w.prompts && !a.left && m.entered > m.decided && (!a.prompted || w.promptHelps(p)) {
			dst = append(dst, event{prompt, self, self})
		}
		if !a.dead && w.dead < w.deaths {
			dst = append(dst, event{die, self, self})
		}
		for q := range w.actors {
			if c := w.channels[q*w.members+p]; len(c) > 0 && (a.open || a.left || !c[0].Opens()) {
				dst = append(dst, event{deliver, int16(q), self})
			}
		}
	}
	return dst
}

func (w *world) Apply(e event) error {
	p := int(e.to)
	a := &w.actors[p]
	w.out = w.out[:0]
	switch e.kind {
	case deliver:
		c := &w.channels[int(e.from)*w.members+p]
		m := (*c)[0]
		*c = slices.Clone((*c)[1:])
		if a.open && !a.forgotten {
			a.Receive(int(e.from), m, &w.out)
			break
		}
		if w.never.Has(p) && a.left && m.Waits() {
			w.send(p, int(e.from), Message{Kind: KindThrough})
			break
		}
		if m.Opens() && !w.actors[e.from].dead {
			return fmt.Errorf("%w: %v of agreement %d", errLost, m.Kind, m.Number)
		}
		if m.Kind != KindAbsent && m.Kind != KindThrough && m.Kind != KindPrompt {
			w.send(p, int(e.from), Message{Kind: KindAbsent})
		}
	case enter:
		w.enter(p)
	case die:
		for q := range w.actors {
			if q == p || w.cut.Has(p) && w.cut.Has(q) {
				w.actors[q].dead = true
			}
		}
		w.dead++
		if !w.suspicion {
			for q := range w.actors {
				w.channels[q*w.members+p] = nil
			}
		}
	case hear:
		w.actors[e.from].told = w.actors[e.from].told.With(p)
		if !w.unfenced {
			w.channels[int(e.from)*w.members+p] = nil
		}
		a.Dead(int(e.from), &w.out)
	case closes:
		a.closed = true
		a.Close(w.keep.Has(p), &w.out)
	case opens:
		a.open = true
	case leaves:
		a.left = true
		if a.open {
			a.Leave(&w.out)
		}
	case prompt:
		a.prompted = true
		a.Prompt(&w.out)
	}
	return w.act(p)
}

// promptHelps tells whether a child that has left doesn't know yet what it is waited for, or a
// child or the root is to say that it has left.
func (w *world) promptHelps(p int) bool {
	m := w.actors[p].machine()
	unaware := func(c int) bool {
		b := &w.actors[c]
		return b.left && w.acts(c) && b.machine().entered < m.entered && (b.open || c != p) &&
			!slices.ContainsFunc(w.channels[p*w.members+c], func(n Message) bool { return n.Kind == KindPrompt && n.Number == m.entered }) &&
			!slices.ContainsFunc(w.channels[c*w.members+p], func(n Message) bool { return n.Kind == KindThrough })
	}
	for j, r := range m.at(m.entered).reports {
		if !r.here && unaware(int(m.children[j])) {
			return true
		}
	}
	return w.never.Has(int(m.root)) && (m.root != m.parent || m.next <= m.entered) && unaware(int(m.root))
}

// enter has a member contribute: flags without its own bit, and every other time an
// acknowledgement of all deaths that it knows of.
func (w *world) enter(p int) {
	a := &w.actors[p]
	m := a.machine()
	c := Contribution{Flags: w.flags(p)}
	if (p+len(a.acks))%2 == 0 {
		c.Acknowledged = m.dead
	}
	if w.payloads {
		c.Payload = make([]byte, w.members)
		c.Payload[p] = 1
	}
	a.acks = append(slices.Clone(a.acks), c.Acknowledged)
	a.Contribute(c, &w.out)
}

func (w *world) flags(p int) uint64 { return ^uint64(0) &^ (1 << (p % 64)) }

// act carries out what a member does.
func (w *world) act(p int) error {
	a := &w.actors[p]
	for _, x := range w.out {
		switch x.Kind {
		case Send:
			w.send(p, x.To, x.Message)
		case Decide, Excluded:
			if err := w.decided(p, &x); err != nil {
				return err
			}
		case Forget:
			a.forgotten = true
			if err := w.mayForget(p); err != nil && !w.blind {
				return err
			}
		}
	}
	if !a.dead && !w.blind {
		return w.mayBeStable(a.machine())
	}
	return nil
}

func (w *world) send(from, to int, m Message) {
	if !w.acts(to) || w.actors[from].told.Has(to) {
		return
	}
	m.Value.Payload = slices.Clone(m.Value.Payload)
	c := &w.channels[from*w.members+to]
	*c = append(slices.Clone(*c), m)
}

// decided checks a decision.
func (w *world) decided(p int, x *Action) error {
	a, v := &w.actors[p], &x.Message.Value
	v.Payload = slices.Clone(v.Payload)
	if int(x.Message.Number) != len(a.values)+1 || len(a.values) == len(a.acks) && !a.left {
		return fmt.Errorf("%w: %d at %d", errOrder, x.Message.Number, p)
	}
	number := len(a.values)
	a.values = append(slices.Clone(a.values), *v)
	if (x.Kind == Excluded) != v.Failed.Has(p) || x.Kind == Excluded && !a.dead {
		return fmt.Errorf("%w: %d is excluded", errInvalid, p)
	}
	if err := w.valid(number, v); err != nil || a.dead {
		return err
	}
	for q := range w.actors {
		b := &w.actors[q]
		if !w.overlap && !w.suspicion && !v.Missing.Has(q) {
			for j, mine := range a.values[:number] {
				if !b.values[j].same(&mine) {
					return fmt.Errorf("%w: %d, whose contribution counts in agreement %d, has another outcome of %d", errDiffers, q, number+1, j+1)
				}
			}
		}
		switch {
		case len(b.values) <= number || b.values[number].same(v):
		case !b.dead:
			return fmt.Errorf("%w: %d and %d in agreement %d", errDiffers, p, q, number+1)
		case w.strict && number == 0 && len(b.values) > 1:
			return fmt.Errorf("%w: %d", errStrict, q)
		}
	}
	return nil
}

func (v *Value) same(u *Value) bool {
	return v.Flags == u.Flags && v.Missing.Equal(u.Missing) && v.Failed.Equal(u.Failed) && v.Left.Equal(u.Left) &&
		v.Acknowledged.Equal(u.Acknowledged) && bytes.Equal(v.Payload, u.Payload)
}

// valid compares a decision with what its contributors gave.
func (w *world) valid(number int, v *Value) error {
	flags, first := ^uint64(0), true
	var acks Set
	if v.Missing.Len() == w.members {
		return nil // all that entered it have died, and all others have left
	}
	for q := range w.actors {
		b := &w.actors[q]
		if v.Left.Has(q) && !v.Missing.Has(q) {
			return fmt.Errorf("%w: %d has left and isn't missing", errInvalid, q)
		}
		if v.Failed.Has(q) && !b.dead {
			return fmt.Errorf("%w: %d is failed", errInvalid, q)
		}
		count := byte(1)
		switch {
		case !v.Missing.Has(q):
			if len(b.acks) <= number {
				return fmt.Errorf("%w: %d hasn't contributed", errInvalid, q)
			}
			flags &= w.flags(q)
			if first {
				acks = b.acks[number]
			}
			acks, first = acks.Intersection(b.acks[number]), false
		case v.Left.Has(q) && !b.left:
			return fmt.Errorf("%w: %d hasn't left", errInvalid, q)
		case !v.Failed.Has(q) && !v.Left.Has(q):
			return fmt.Errorf("%w: %d is missing, neither failed nor left", errInvalid, q)
		default:
			count = 0
		}
		if w.payloads && v.Payload[q] != count {
			return fmt.Errorf("%w: %d is counted %d times", errInvalid, q, v.Payload[q])
		}
	}
	if w.members <= 64 && flags != v.Flags || !acks.Equal(v.Acknowledged) {
		return fmt.Errorf("%w: flags %x, want %x; acknowledged %v, want %v", errInvalid, v.Flags, flags, v.Acknowledged, acks)
	}
	return nil
}

// mayBeStable checks that every live member has what one takes for stable.
func (w *world) mayBeStable(m *Machine) error {
	for q := range w.actors {
		if b := &w.actors[q]; !b.dead && !w.never.Has(q) && uint64(len(b.values)) < m.stable {
			return fmt.Errorf("%w: %d has %d, %d are forgotten", errStable, q, len(b.values), m.stable)
		}
	}
	return nil
}

// mayForget checks that the other live members can do without what one forgets.
func (w *world) mayForget(p int) error {
	for q := range w.actors {
		if b := &w.actors[q]; !w.actors[p].dead && !b.dead && b.open && !b.closed && len(b.values) < w.rounds {
			return fmt.Errorf("%w: %d forgets, %d is open", errEarly, p, q)
		}
	}
	return nil
}

// Check sees that nobody waits for ever where nothing but a death may still happen.
func (w *world) Check() error {
	var room [64]event
	for _, e := range w.Events(room[:0]) {
		if e.kind != die {
			return nil
		}
	}
	return w.End()
}

func (w *world) End() error {
	for p := range w.actors {
		a := &w.actors[p]
		switch {
		case a.dead, a.left:
		case len(a.values) < w.rounds:
			return fmt.Errorf("%w: %d has %d of %d decisions", errStuck, p, len(a.values), w.rounds)
		case w.close && !a.forgotten && w.leavers.Empty():
			return fmt.Errorf("%w: %d", errKept, p)
		}
	}
	return nil
}

func (w *world) Clone() *world {
	c := &world{rules: w.rules, actors: slices.Clone(w.actors), channels: slices.Clone(w.channels), dead: w.dead}
	for p := range c.actors {
		c.actors[p].member = c.actors[p].copy()
	}
	return c
}

func (w *world) AppendKey(b []byte) []byte {
	for p := range w.actors {
		a := &w.actors[p]
		b = append(b, byte(bit(a.dead)|bit(a.open)<<1|bit(a.closed)<<2|bit(a.forgotten)<<3|bit(a.left)<<4|bit(a.prompted)<<5), byte(len(a.values)), byte(len(a.acks)))
		if !w.acts(p) && !w.strict {
			b = appendSet(b, a.told)
			for _, s := range a.acks {
				b = appendSet(b, s)
			}
			continue
		}
		b = appendSet(b, a.told)
		for i := range a.values {
			b = appendValue(b, &a.values[i])
		}
		for _, s := range a.acks {
			b = appendSet(b, s)
		}
		if !a.forgotten && w.acts(p) {
			b = a.machine().appendKey(b)
		}
	}
	for _, c := range w.channels {
		b = append(b, byte(len(c)))
		for i := range c {
			b = c[i].Append(b)
		}
	}
	return b
}

var (
	_ explore.World[*world, event] = (*world)(nil)
	_ explore.Checker              = (*world)(nil)
)

func must(t topology.Tree, err error) topology.Tree {
	if err != nil {
		panic(err)
	}
	return t
}

func star(n int) topology.Tree     { return must(topology.KAry(n, max(1, n-1), topology.InOrder)) }
func chain(n int) topology.Tree    { return must(topology.KAry(n, 1, topology.InOrder)) }
func binomial(n int) topology.Tree { return must(topology.Binomial(n, topology.InOrder)) }
