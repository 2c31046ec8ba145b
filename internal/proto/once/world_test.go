package once

import (
	"encoding/binary"
	"fmt"
	"slices"

	"banyan/internal/testing/network"
)

// bugs are mistakes that the explorers must catch.
type bugs struct {
	returnsAtOnce bool // a program goes on when its replica knows a result, and others don't
	doesAllAgain  bool // a substitute performs what its program waits for, whatever is known
	asksNobody    bool // a substitute doesn't ask what others know
	hearsTheDead  bool // a replica that has answered a claim still hears the performer before
	tellsNobody   bool // a substitute doesn't tell the others what they lack
	joinsUnheeded bool // a replacement that is joining counts for nothing
	donatesBusy   bool // a donor gives its state while something is under way
}

// setup is what a world begins with. A program is groups of things that it does at the same time;
// the next group begins when all of the one before have returned.
type setup struct {
	degree int
	groups []int // how many things each has
	deaths int
	heals  int
	bugs   bugs
}

func (s *setup) things() (n int) {
	for _, g := range s.groups {
		n += g
	}
	return n
}

// frame is a message between replicas.
type frame struct {
	Message
	heal healKind
	slot int
}

type healKind byte

const (
	noHeal healKind = iota
	prepare
	prepared
	joined
)

// node is a replica.
type node struct {
	m        *Machine
	group    int // which its program is in; started tells whether that has begun
	started  bool
	begun    []int  // things that it performs
	effected []bool // of these: the disk has done it
	again    []bool
	results  []byte // by thing; 0: hasn't returned
	dead     set    // siblings that are dead, as far as is known here
	paused   bool   // it is a donor
}

// world is the replicas of one rank, and their disk.
type world struct {
	*setup
	nodes    []*node
	crashed  set
	died     int
	healed   int
	net      network.Network[frame]
	effects  []byte // by thing, how often the disk has done it
	returned []byte // by thing, the result with which a program has gone on; 0: none has
	donor    int    // of the healing under way; -1: none
	slot     int
	awaited  set
}

func newWorld(s *setup) *world {
	w := &world{setup: s, net: network.New[frame](s.degree), effects: make([]byte, s.things()), returned: make([]byte, s.things()), donor: -1}
	for i := range s.degree {
		w.nodes = append(w.nodes, &node{m: New(Config{Degree: s.degree, Self: i}), results: make([]byte, s.things())})
	}
	return w
}

type eventKind byte

const (
	evStart   eventKind = iota // p's program begins its next group
	evEffect                   // the disk does the first thing that p performs
	evDone                     // p learns that it has been done
	evDeliver                  // p's first frame reaches q
	evCrash                    // p dies
	evLearn                    // q learns that p is dead; what p has sent and q hasn't got is lost
	evHeal                     // p begins to heal q
	evHand                     // p's state is given to q
)

type event struct {
	kind eventKind
	p, q int
}

func (e event) String() string {
	return fmt.Sprintf("%s(%d,%d)", [...]string{"start", "effect", "done", "deliver", "crash", "learn", "heal", "hand"}[e.kind], e.p, e.q)
}

func (w *world) live() (n int) {
	for p := range w.nodes {
		if !w.crashed.has(p) && !w.unborn(p) {
			n++
		}
	}
	return n
}

// unborn tells whether a slot is being refilled, and its replacement has no state yet.
func (w *world) unborn(p int) bool { return w.donor >= 0 && w.slot == p && w.nodes[p] == nil }

// Events implements explore.World.
func (w *world) Events(dst []event) []event {
	for p, n := range w.nodes {
		if n == nil || w.crashed.has(p) {
			continue
		}
		if !n.started && n.group < len(w.groups) && !n.paused {
			dst = append(dst, event{evStart, p, 0})
		}
		for i := range n.begun {
			if n.effected[i] {
				dst = append(dst, event{evDone, p, i})
			} else {
				dst = append(dst, event{evEffect, p, i})
			}
		}
		if w.died < w.deaths && w.live() > 1 {
			dst = append(dst, event{evCrash, p, 0})
		}
		for q := range w.nodes {
			if q == p {
				continue
			}
			if w.crashed.has(q) && !n.dead.has(q) {
				dst = append(dst, event{evLearn, q, p})
			}
			if w.crashed.has(q) && n.dead.has(q) && w.donor < 0 && w.healed < w.heals && w.quiet(p) {
				dst = append(dst, event{evHeal, p, q})
			}
			if len(w.net.Queue(q, p)) > 0 {
				dst = append(dst, event{evDeliver, q, p})
			}
		}
	}
	if w.donor >= 0 && w.awaited == 0 && w.unborn(w.slot) && !w.crashed.has(w.donor) {
		dst = append(dst, event{evHand, w.donor, w.slot})
	}
	return dst
}

// quiet tells whether a program is at a safe point.
func (w *world) quiet(p int) bool {
	n := w.nodes[p]
	return !n.started && (w.bugs.donatesBusy || n.m.Idle())
}

// own copies a node before it changes.
func (w *world) own(p int) *node {
	n := *w.nodes[p]
	m := *n.m
	m.entries = map[Key]*entry{}
	for k, e := range n.m.entries {
		c := *e
		m.entries[k] = &c
	}
	n.m, n.results = &m, slices.Clone(n.results)
	n.begun, n.effected, n.again = slices.Clone(n.begun), slices.Clone(n.effected), slices.Clone(n.again)
	w.nodes[p] = &n
	return &n
}

func keyOf(thing int) Key { return Key{Stream: 1, Op: uint64(thing)} }

// Apply implements explore.World.
func (w *world) Apply(e event) error {
	switch e.kind {
	case evStart:
		n := w.own(e.p)
		n.started = true
		first := 0
		for _, g := range w.groups[:n.group] {
			first += g
		}
		for i := range w.groups[n.group] {
			if err := w.run(e.p, func(m *Machine, out *Actions) { m.Reach(keyOf(first+i), out) }); err != nil {
				return err
			}
		}
		return nil
	case evEffect:
		n := w.own(e.p)
		n.effected[e.q] = true
		thing := n.begun[e.q]
		if w.returned[thing] != 0 {
			return fmt.Errorf("replica %d does %d again, and a program has gone on from it", e.p, thing)
		}
		if w.effects[thing] > 0 && !n.again[e.q] {
			return fmt.Errorf("replica %d does %d again without knowing", e.p, thing)
		}
		w.effects = slices.Clone(w.effects)
		w.effects[thing]++
		if int(w.effects[thing]) > 1+w.died {
			return fmt.Errorf("%d was done %d times", thing, w.effects[thing])
		}
	case evDone:
		n := w.own(e.p)
		thing := n.begun[e.q]
		n.begun, n.effected, n.again = slices.Delete(n.begun, e.q, e.q+1), slices.Delete(n.effected, e.q, e.q+1), slices.Delete(n.again, e.q, e.q+1)
		// The result shows which replica has performed, and how often that was done before.
		r := Result{Heavy: thing%2 == 1, Data: []byte{byte(1 + e.p + w.degree*int(w.effects[thing]))}}
		return w.run(e.p, func(m *Machine, out *Actions) { m.Performed(keyOf(thing), r, out) })
	case evDeliver:
		return w.deliver(e.p, e.q)
	case evCrash:
		w.crashed |= only(e.p)
		w.died++
		for q := range w.nodes {
			w.net.Keep(q, e.p, 0)
		}
		if w.donor == e.p && w.unborn(w.slot) {
			w.abandon()
		}
	case evLearn:
		w.net.Keep(e.p, e.q, 0)
		return w.learn(e.q, e.p)
	case evHeal:
		return w.heal(e.p, e.q)
	case evHand:
		return w.hand()
	}
	return nil
}

// abandon ends a healing: the replacement dies before it is one.
func (w *world) abandon() {
	w.crashed |= only(w.slot)
	w.donor = -1
	w.nodes[w.slot] = &node{m: New(Config{Degree: w.degree, Self: w.slot}), results: make([]byte, w.things())}
}

func (w *world) learn(p, dead int) error {
	n := w.own(p)
	n.dead |= only(dead)
	if n.paused && w.slot == dead {
		n.paused = false
		w.donor = -1
	}
	if w.donor >= 0 && w.donor == p && w.unborn(w.slot) {
		w.awaited &^= only(dead)
	}
	return w.run(p, func(m *Machine, out *Actions) {
		if m.Gone(dead, out); w.bugs.asksNobody && m.claiming {
			*out = slices.DeleteFunc(*out, func(a Action) bool { return a.Kind == Send && a.Message.Kind == Claim })
			m.asked = 0
			m.lead(out)
		}
	})
}

func (w *world) deliver(from, to int) error {
	f := w.net.Receive(from, to)
	n := w.own(to)
	if n.dead.has(from) && f.heal != joined && !(w.bugs.hearsTheDead) {
		return nil
	}
	switch f.heal {
	case prepare:
		n.dead &^= only(f.slot)
		w.net.Keep(f.slot, to, 0)
		if !w.crashed.has(from) && w.unborn(f.slot) {
			w.net.Send(to, from, frame{heal: prepared, slot: f.slot})
		}
		if w.bugs.joinsUnheeded {
			return w.run(to, func(m *Machine, out *Actions) { m.Gone(f.slot, out) })
		}
		return w.run(to, func(m *Machine, out *Actions) { m.Admit(f.slot, from, out) })
	case prepared:
		if w.donor == to && w.slot == f.slot {
			w.awaited &^= only(from)
		}
		return nil
	case joined:
		if w.donor == to && w.slot == from {
			w.donor, n.paused = -1, false
		}
		if w.bugs.joinsUnheeded {
			n.m.joining |= only(from)
		}
		return w.run(to, func(m *Machine, out *Actions) { m.Joined(from, out) })
	}
	return w.run(to, func(m *Machine, out *Actions) {
		if w.bugs.hearsTheDead && f.Kind == ResultIs {
			m.learn(from, f.Message, out)
			return
		}
		if m.Arrived(from, f.Message, out) {
			panic("a claim of a later one") // nobody is suspected by mistake
		}
	})
}

func (w *world) heal(donor, slot int) error {
	w.donor, w.slot, w.awaited = donor, slot, 0
	w.healed++
	n := w.own(donor)
	n.paused = true
	n.dead &^= only(slot)
	w.crashed &^= only(slot)
	w.nodes[slot] = nil
	if err := w.run(donor, func(m *Machine, out *Actions) { m.Admit(slot, donor, out) }); err != nil {
		return err
	}
	for q := range w.nodes {
		if q != donor && q != slot && !w.crashed.has(q) {
			w.awaited |= only(q)
			w.net.Send(donor, q, frame{heal: prepare, slot: slot})
		}
	}
	return nil
}

// hand gives the donor's state to the replacement, or not if something has come up.
func (w *world) hand() error {
	d := w.own(w.donor)
	if !w.quiet(w.donor) {
		d.paused = false
		w.abandon()
		return nil
	}
	r := &node{m: New(Config{Degree: w.degree, Self: w.slot, Joins: true}), group: d.group, results: slices.Clone(d.results), dead: d.dead}
	if err := r.m.Restore(d.m.AppendState(nil, w.slot)); err != nil {
		return err
	}
	w.nodes[w.slot] = r
	for q := range w.nodes {
		if q != w.slot && !w.crashed.has(q) {
			w.net.Keep(q, w.slot, 0)
			w.net.Keep(w.slot, q, 0)
			w.net.Send(w.slot, q, frame{heal: joined})
		}
	}
	return w.run(w.slot, func(m *Machine, out *Actions) { m.Commit(out) })
}

// run calls a machine and does what it asks for.
func (w *world) run(p int, call func(m *Machine, out *Actions)) error {
	n := w.own(p)
	led := n.m.performs
	var out Actions
	call(n.m, &out)
	if w.bugs.doesAllAgain && n.m.performs && !led {
		for k, e := range n.m.entries {
			if e.reached && e.done && !e.begun {
				e.begun, e.done = true, false
				out = append(out, Action{Kind: Perform, Message: Message{Key: k}, Again: true})
			}
		}
	}
	if w.bugs.tellsNobody && n.m.performs && !led {
		out = slices.DeleteFunc(out, func(a Action) bool { return a.Kind == Send && a.Message.Kind == ResultIs })
	}
	for _, a := range out {
		switch a.Kind {
		case Send:
			if !w.crashed.has(a.To) && w.nodes[a.To] != nil {
				w.net.Send(p, a.To, frame{Message: a.Message})
			}
		case Perform:
			n.begun, n.effected, n.again = append(n.begun, int(a.Key.Op)), append(n.effected, false), append(n.again, a.Again)
		case Return:
			if err := w.goOn(n, int(a.Key.Op), a.Result.Data[0]); err != nil {
				return err
			}
		}
	}
	if w.bugs.returnsAtOnce {
		for k, e := range n.m.entries {
			if e.reached && e.done {
				if err := w.goOn(n, int(k.Op), e.result.Data[0]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// goOn gives a program a result.
func (w *world) goOn(n *node, thing int, result byte) error {
	if w.bugs.returnsAtOnce && n.results[thing] != 0 {
		return nil
	}
	if n.results[thing] != 0 {
		return fmt.Errorf("%d returns twice", thing)
	}
	n.results[thing] = result
	if r := w.returned[thing]; r != 0 && r != result {
		return fmt.Errorf("%d returns %d here and %d there", thing, result, r)
	}
	w.returned = slices.Clone(w.returned)
	w.returned[thing] = result
	end := 0
	for _, g := range w.groups[:n.group+1] {
		end += g
	}
	if !slices.Contains(n.results[:end], 0) {
		n.group++
		n.started = false
	}
	return nil
}

// Check implements explore.Checker: what waits for a death waits for ever.
func (w *world) Check() error {
	for _, e := range w.Events(nil) {
		if e.kind != evCrash && e.kind != evHeal {
			return nil
		}
	}
	return w.End()
}

// End implements explore.World.
func (w *world) End() error {
	for p, n := range w.nodes {
		if w.crashed.has(p) {
			continue
		}
		if n == nil || n.group < len(w.groups) {
			return fmt.Errorf("replica %d waits for ever", p)
		}
		if !n.m.Idle() {
			return fmt.Errorf("replica %d has something left: %d", p, len(n.m.entries))
		}
	}
	return nil
}

// Clone implements explore.World.
func (w *world) Clone() *world {
	c := *w
	c.nodes = slices.Clone(w.nodes)
	c.net = w.net.Clone()
	return &c
}

// AppendKey implements explore.World.
func (w *world) AppendKey(b []byte) []byte {
	b = append(b, byte(w.crashed), byte(w.died), byte(w.healed), byte(w.donor+1), byte(w.slot), byte(w.awaited))
	b = append(append(b, w.effects...), w.returned...)
	for p, n := range w.nodes {
		if n == nil {
			b = append(b, 0xfe)
			continue
		}
		if w.crashed.has(p) {
			b = append(b, 0xff)
			continue
		}
		b = n.m.appendKey(append(b, byte(n.group), flags(n.started, n.paused), byte(n.dead), byte(len(n.begun))))
		for i, thing := range n.begun {
			b = append(b, byte(thing), flags(n.effected[i], n.again[i]))
		}
		b = append(b, n.results...)
	}
	for p := range w.nodes {
		for q := range w.nodes {
			queue := w.net.Queue(p, q)
			b = append(b, byte(len(queue)))
			for _, f := range queue {
				b = append(b, byte(f.Kind), byte(f.Key.Op), flags(f.Result.Heavy), byte(f.heal), byte(f.slot))
				b = append(b, f.Result.Data...)
			}
		}
	}
	return b
}

func flags(set ...bool) (b byte) {
	for i, s := range set {
		if s {
			b |= 1 << i
		}
	}
	return b
}

func (m *Machine) appendKey(b []byte) []byte {
	b = append(b, byte(m.present), byte(m.joining), byte(m.asked), flags(m.performs, m.claiming, m.substitute, m.joined), byte(m.next), byte(len(m.entries)))
	for i := range 4 {
		b = binary.LittleEndian.AppendUint32(b, m.turns[i])
	}
	m.eachEntry(func(k Key, e *entry) {
		b = append(b, byte(k.Op), byte(e.known), byte(e.told), flags(e.done, e.mine, e.reached, e.begun, e.open))
		b = append(b, byte(len(e.result.Data)))
		b = append(b, e.result.Data...)
	})
	return b
}
