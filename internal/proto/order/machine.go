package order

import "fmt"

// Config says what a machine is part of.
type Config struct {
	Degree int // replicas of the rank, numbered from 0
	Self   int // this one
	// Joins says that this replica is a replacement: it takes part after Restore and Commit.
	Joins bool
}

// Machine is the leader order at one replica of a rank.
type Machine struct {
	self    int
	present set // replicas that take part, this one included
	joining set // replicas that are being refilled: they take part as soon as they have joined
	// turns say which replica leads after which: the lowest of those present. A
	// replacement's turn comes after those of all that were there before it.
	turns [MaxDegree]uint32
	next  uint32 // the turn of the next replacement

	leader   int  // none: no replica leads, as far as is known here
	claiming bool // this one claims to, and has to learn what was decided before
	asked    set  // these haven't answered the claim
	joined   bool // false only at a replacement before Commit
	// known are, by replica, how many decisions it knows, as far as is known here; told are
	// how many it will know when all has arrived that the leader, this one, has sent it.
	known, told [MaxDegree]uint64
	records     [][]byte // the last decisions: those that a replica may lack
}

// none is the leader where there is none.
const none = -1

// New returns the machine of a replica, with all present, none having decided anything.
func New(cfg Config) *Machine {
	if cfg.Degree < 1 || cfg.Degree > MaxDegree || cfg.Self < 0 || cfg.Self >= cfg.Degree {
		panic(fmt.Sprintf("order: no replica %d of %d", cfg.Self, cfg.Degree))
	}
	m := &Machine{self: cfg.Self, present: ^set(0) >> (MaxDegree - cfg.Degree), joined: !cfg.Joins, next: uint32(cfg.Degree)}
	if cfg.Joins {
		m.leader = none
	}
	for i := range cfg.Degree {
		m.turns[i] = uint32(i)
	}
	return m
}

// Leads says that this replica makes the next decision.
func (m *Machine) Leads() bool { return m.leader == m.self && !m.claiming }

// Len is how many decisions this replica knows.
func (m *Machine) Len() uint64 { return m.known[m.self] }

// Stable is how many decisions every replica knows that may have to go on from here. What
// depends on later ones mustn't leave this process.
func (m *Machine) Stable() uint64 {
	n := m.Len()
	for others := (m.present | m.joining) &^ only(m.self); others != 0; others &= others - 1 {
		n = min(n, m.known[others.lowest()])
	}
	return n
}

// Decide makes the next decision, at the replica that Leads. The machine keeps the record. The
// others are told at the next Flush.
func (m *Machine) Decide(record []byte) {
	if !m.Leads() {
		panic("order: a decision of a replica that doesn't lead")
	}
	m.known[m.self]++
	m.records = append(m.records, record)
	m.forget()
}

// Flush tells the other replicas what has been decided.
func (m *Machine) Flush(out *Actions) {
	if m.Leads() && m.told[m.self] != m.Len() {
		m.told[m.self] = m.Len()
		m.each(func(replica int) { m.tell(replica, out) })
	}
}

// Flushed says that the other replicas have been told all decisions.
func (m *Machine) Flushed() bool { return !m.Leads() || m.told[m.self] == m.Len() }

// Arrived takes in a message of another replica. It returns the decisions that are new here, in
// their order: the last ones up to Len.
func (m *Machine) Arrived(from int, msg Message, out *Actions) (learnt [][]byte) {
	if from < 0 || from >= MaxDegree || from == m.self || !m.present.has(from) || !m.joined || msg.First == 0 {
		return nil
	}
	switch msg.Kind {
	case Decided:
		if from == m.leader {
			learnt = m.learn(from, msg)
			m.tellKnown(out)
		}
	case Known:
		m.knows(from, msg.First-1)
	case Claim:
		if m.leader != none && m.turns[from] < m.turns[m.leader] {
			break // one whose turn comes later holds it for dead
		}
		// It holds the leader for dead that this replica may still follow, and hears
		// nothing more of it. What that one says from now on mustn't count here either.
		m.leader, m.claiming, m.asked = from, false, 0
		m.knows(from, msg.First-1)
		first := min(msg.First, m.Len()+1)
		*out = append(*out, Action{from, Message{Tail, first, m.from(first)}})
	case Tail:
		if m.asked.has(from) {
			learnt = m.learn(from, msg)
			m.asked &^= only(from)
			m.lead(out)
		}
	}
	return learnt
}

// learn appends the decisions of a message that are new here.
func (m *Machine) learn(from int, msg Message) (learnt [][]byte) {
	last := msg.First + uint64(len(msg.Records)) - 1
	if msg.First > m.Len()+1 {
		return nil // impossible: the sender knew what this replica lacks, or sent it before
	}
	if last > m.Len() {
		learnt = msg.Records[m.Len()+1-msg.First:]
		m.records = append(m.records, learnt...)
		m.known[m.self] = last
	}
	m.knows(from, last)
	return learnt
}

// knows notes how much another replica knows.
func (m *Machine) knows(replica int, n uint64) {
	m.known[replica] = max(m.known[replica], n)
	m.forget()
}

// from is the decisions from a number on. They are kept, because somebody lacks them.
func (m *Machine) from(first uint64) [][]byte {
	if first > m.Len() {
		return nil
	}
	lacking := m.Len() + 1 - first
	if lacking > uint64(len(m.records)) {
		return nil // impossible: it was known there
	}
	all := m.records[uint64(len(m.records))-lacking:]
	return all[:len(all):len(all)]
}

// forget drops the decisions that every replica knows.
func (m *Machine) forget() {
	if extra := uint64(len(m.records)) - (m.Len() - m.Stable()); extra > 0 {
		clear(m.records[:extra])
		m.records = m.records[extra:]
	}
}

// each visits the other replicas that are present.
func (m *Machine) each(visit func(replica int)) {
	for others := m.present &^ only(m.self); others != 0; others &= others - 1 {
		visit(others.lowest())
	}
}

// tell tells a replica the decisions that it may lack, and wasn't told yet.
func (m *Machine) tell(replica int, out *Actions) {
	first := max(m.known[replica], m.told[replica]) + 1
	m.told[replica] = m.Len()
	if records := m.from(first); len(records) > 0 {
		*out = append(*out, Action{replica, Message{Decided, first, records}})
	}
}

// tellKnown tells all others how much this replica knows.
func (m *Machine) tellKnown(out *Actions) {
	m.each(func(replica int) {
		*out = append(*out, Action{replica, Message{Kind: Known, First: m.Len() + 1}})
	})
}
