package once

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
)

// MaxDegree is how many replicas a rank may have.
const MaxDegree = 64

// set is a set of replicas of one rank, bit i for replica i.
type set uint64

func only(replica int) set   { return 1 << (replica & (MaxDegree - 1)) }
func (s set) has(r int) bool { return r >= 0 && r < MaxDegree && s&only(r) != 0 }
func (s set) each(do func(int)) {
	for ; s != 0; s &= s - 1 {
		do(bits.TrailingZeros64(uint64(s)))
	}
}
func (s set) covers(t set) bool { return t&^s == 0 }

// Key names a thing to do: step Step of operation Op in Stream.
type Key struct{ Stream, Op, Step uint64 }

func (k Key) String() string { return fmt.Sprintf("%x.%d.%d", k.Stream, k.Op, k.Step) }

func compare(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Step, b.Step))
}

// Result is what came of a thing to do. A heavy one has much data: siblings say that they know it
// when their programs have come to it, so that it doesn't pile up there.
type Result struct {
	Heavy bool
	Data  []byte // never changed
}

// Config says what a machine is part of.
type Config struct {
	Degree int // replicas of the rank, numbered from 0
	Self   int // this one
	// Joins says that this replica is a replacement: it takes part after Restore and Commit.
	Joins bool
}

// Machine is one replica's part.
type Machine struct {
	self    int
	present set // replicas that take part, this one included
	joining set // replacements that are about to
	// turns say who performs after whom: the lowest of those present. A replacement's turn comes
	// after those of all that were there before it.
	turns  [MaxDegree]uint32
	next   uint32 // the turn of the next replacement
	joined bool   // false only at a replacement before Commit

	performs   bool
	claiming   bool // it will, when those asked have answered
	asked      set
	substitute bool // a predecessor may have begun what nobody here knows the result of

	entries map[Key]*entry
}

// entry is what is known of a thing to do that isn't over here.
type entry struct {
	known   set // replicas that know the result
	done    bool
	result  Result
	told    set  // replicas that were told that this one knows it
	open    bool // the others are told that this one knows it, even if it is heavy
	mine    bool // this replica tells others the result
	reached bool // the program waits for it
	begun   bool // it is being performed here
}

// New returns the machine of a replica, with all present.
func New(cfg Config) *Machine {
	if cfg.Degree < 1 || cfg.Degree > MaxDegree || cfg.Self < 0 || cfg.Self >= cfg.Degree {
		panic(fmt.Sprintf("once: no replica %d of %d", cfg.Self, cfg.Degree))
	}
	m := &Machine{self: cfg.Self, present: ^set(0) >> (MaxDegree - cfg.Degree), next: uint32(cfg.Degree), joined: !cfg.Joins, entries: map[Key]*entry{}}
	for i := range cfg.Degree {
		m.turns[i] = uint32(i)
	}
	m.performs = m.joined && m.first() == m.self
	return m
}

// Performs says that this replica performs what its program comes to.
func (m *Machine) Performs() bool { return m.performs }

// Idle says that nothing is under way here: what is known is all over.
func (m *Machine) Idle() bool { return len(m.entries) == 0 }

// Reach says that the program has come to something that is to be done once, and waits for its
// result.
func (m *Machine) Reach(k Key, out *Actions) {
	e := m.entry(k)
	e.reached = true
	m.tellKnown(k, e, out)
	m.proceed(k, e, out)
}

// Performed says what came of a Perform.
func (m *Machine) Performed(k Key, r Result, out *Actions) {
	e := m.entry(k)
	if e.done || !e.begun { // it counts as dead, and another one has performed
		return
	}
	e.done, e.result, e.mine, e.begun = true, r, true, false
	e.known |= only(m.self)
	m.others().each(func(to int) { m.tellResult(to, k, e, out) })
	m.proceed(k, e, out)
}

// Arrived takes in a message of another replica. fenced says that its sender holds this replica for
// dead.
func (m *Machine) Arrived(from int, msg Message, out *Actions) (fenced bool) {
	if from == m.self || !m.present.has(from) || !m.joined {
		return false
	}
	switch msg.Kind {
	case ResultIs:
		m.learn(from, msg, out)
	case Known:
		e := m.entry(msg.Key)
		e.known |= only(from)
		m.proceed(msg.Key, e, out)
	case Claim:
		return m.answer(from, out)
	case Claimed:
		if m.asked.has(from) {
			m.asked &^= only(from)
			m.lead(out)
		}
	}
	return false
}

// learn takes in a result.
func (m *Machine) learn(from int, msg Message, out *Actions) {
	e := m.entry(msg.Key)
	e.known |= only(from)
	if !e.done {
		e.done, e.result = true, msg.Result
		e.known |= only(m.self)
		m.tellKnown(msg.Key, e, out)
	}
	m.proceed(msg.Key, e, out)
}

// tellKnown tells the others once that this replica knows a result: a replica that has heard it of
// all may have forgotten it.
func (m *Machine) tellKnown(k Key, e *entry, out *Actions) {
	if !e.done || e.result.Heavy && !e.reached && !e.open {
		return
	}
	(m.others() &^ e.told).each(func(to int) { out.send(to, Message{Kind: Known, Key: k}) })
	e.told |= m.others()
}

// tellAll tells the others all that this replica knows, also heavy results, before it claims or
// answers a claim. So nobody is told a result that it knows.
func (m *Machine) tellAll(out *Actions) {
	m.eachEntry(func(k Key, e *entry) {
		e.open = true
		m.tellKnown(k, e, out)
	})
}

func (m *Machine) tellResult(to int, k Key, e *entry, out *Actions) {
	out.send(to, Message{Kind: ResultIs, Key: k, Result: e.result})
	e.told |= only(to)
}

// answer answers a claim.
func (m *Machine) answer(from int, out *Actions) (fenced bool) {
	if m.turns[from] > m.turns[m.self] {
		return true
	}
	m.others().each(func(r int) {
		if m.turns[r] < m.turns[from] {
			m.gone(r, out)
		}
	})
	m.tellAll(out)
	m.eachEntry(func(k Key, e *entry) {
		if e.done && !e.known.has(from) {
			m.tellResult(from, k, e, out)
		}
	})
	out.send(from, Message{Kind: Claimed})
	return false
}

// proceed performs what is to be performed, and returns what is over.
func (m *Machine) proceed(k Key, e *entry, out *Actions) {
	switch {
	case !e.reached:
	case !e.done && m.performs && !e.begun:
		e.begun = true
		*out = append(*out, Action{Kind: Perform, Message: Message{Key: k}, Again: m.substitute})
	case e.done && e.known.covers(m.present|m.joining):
		delete(m.entries, k)
		*out = append(*out, Action{Kind: Return, Message: Message{Key: k, Result: e.result}})
	}
}

func (m *Machine) entry(k Key) *entry {
	e := m.entries[k]
	if e == nil {
		e = &entry{}
		m.entries[k] = e
	}
	return e
}

// eachEntry visits the entries in the order of their keys.
func (m *Machine) eachEntry(visit func(k Key, e *entry)) {
	keys := make([]Key, 0, len(m.entries))
	for k := range m.entries { //banyan:maporder sorted below
		keys = append(keys, k)
	}
	slices.SortFunc(keys, compare)
	for _, k := range keys {
		visit(k, m.entries[k])
	}
}

// others are the other replicas that take part.
func (m *Machine) others() set { return m.present &^ only(m.self) }

// first is the replica whose turn it is to perform.
func (m *Machine) first() int {
	first := m.self
	m.others().each(func(r int) {
		if m.turns[r] < m.turns[first] {
			first = r
		}
	})
	return first
}
