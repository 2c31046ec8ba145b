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
	followed Term // of the last leader
	claiming bool // this one claims to, and has to learn what was decided before
	asked    set  // these haven't answered the claim
	joined   bool // false only at a replacement before Commit
	// known are, by replica, how many decisions it knows, as far as is known here; told are
	// how many it will know when all has arrived that the leader, this one, has sent it.
	known, told [MaxDegree]uint64
	ahead       [MaxDegree]ahead
	// kept are, by replica, how many decisions of this process that one finds in memory that
	// outlives the process (Kept).
	kept    [MaxDegree]uint64
	records [][]byte // the last decisions: those that a replica may lack
}

// Term tells leaders of a rank apart: a later one's is higher. It is the leader's turn and 1.
type Term uint32

// ahead is what a replica that follows a later leader than this one has said it knows. It may be
// other decisions than those here, until this one follows that leader, too.
type ahead struct {
	term  Term
	knows uint64
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
	if !cfg.Joins {
		m.follow(m.leader)
	}
	return m
}

// Leads says that this replica makes the next decision.
func (m *Machine) Leads() bool { return m.leader == m.self && !m.claiming }

// Len is how many decisions this replica knows.
func (m *Machine) Len() uint64 { return m.known[m.self] }

// Stable is how many decisions every replica knows, or finds, that may have to go on from here.
// What depends on later ones mustn't leave this process.
func (m *Machine) Stable() uint64 {
	n := m.everywhere()
	if n == m.Len() {
		return n
	}
	n = m.Len()
	for others := (m.present | m.joining) &^ only(m.self); others != 0; others &= others - 1 {
		q := others.lowest()
		n = min(n, max(m.known[q], m.kept[q]))
	}
	return n
}

// everywhere is how many decisions every replica is known to know.
func (m *Machine) everywhere() uint64 {
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

// Unkept are the decisions that another replica isn't known to know and that aren't kept for it,
// and the number of the first. Only a leader has any.
func (m *Machine) Unkept(replica int) (first uint64, records [][]byte) {
	if !m.Leads() || replica == m.self || !m.present.has(replica) {
		return 0, nil
	}
	first = max(m.known[replica], m.kept[replica]) + 1
	return first, m.from(first)
}

// Kept says that the decisions up to a number lie where another replica finds them before it
// follows another leader than this process, or leads, or gives its state away, whatever becomes of
// this process.
func (m *Machine) Kept(replica int, number uint64) {
	if m.Leads() && m.present.has(replica) {
		m.kept[replica] = min(number, m.Len())
	}
}

// Knows is how many decisions another replica is known to know: they needn't be kept for it.
func (m *Machine) Knows(replica int) uint64 { return m.known[replica] }

// Leader is the replica that this one follows, and takes decisions of. ok is false if there is
// none.
func (m *Machine) Leader() (replica int, ok bool) {
	return m.leader, m.joined && m.leader != none && m.leader != m.self
}

// Deposes says that with this message the replica stops following its leader. What that one has
// kept for it must be taken in before.
func (m *Machine) Deposes(from int, msg Message) bool {
	leader, ok := m.Leader()
	return ok && msg.Kind == Claim && from != leader && m.heeds(from) && m.obeys(from)
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
	if !m.heeds(from) || msg.First == 0 {
		return nil
	}
	switch msg.Kind {
	case Decided:
		if from == m.leader {
			learnt = m.learn(from, msg)
			m.tellKnown(out)
		}
	case Known:
		if msg.Term > m.followed {
			m.ahead[from] = ahead{msg.Term, msg.First - 1}
			break
		}
		m.knows(from, msg.First-1)
	case Claim:
		if !m.obeys(from) {
			break
		}
		// It holds the leader for dead that this replica may still follow, and hears
		// nothing more of it. What that one says from now on mustn't count here either.
		m.claiming, m.asked = false, 0
		m.follow(from)
		m.knows(from, msg.First-1)
		first := min(msg.First, m.Len()+1)
		*out = append(*out, Action{from, Message{Kind: Tail, First: first, Records: m.from(first)}})
	case Tail:
		if m.asked.has(from) {
			learnt = m.learn(from, msg)
			m.asked &^= only(from)
			m.lead(out)
		}
	}
	return learnt
}

// follow notes which replica leads from now on.
func (m *Machine) follow(leader int) {
	m.leader, m.followed = leader, Term(m.turns[leader]+1)
	for others := m.present &^ only(m.self); others != 0; others &= others - 1 {
		q := others.lowest()
		if a := &m.ahead[q]; a.term != 0 && a.term <= m.followed {
			m.knows(q, a.knows)
			*a = ahead{}
		}
	}
}

// heeds says that a replica's messages count here.
func (m *Machine) heeds(from int) bool {
	return from >= 0 && from < MaxDegree && from != m.self && m.present.has(from) && m.joined
}

// obeys says that a replica that claims to lead does. It doesn't if one whose turn comes later
// leads, which holds it for dead.
func (m *Machine) obeys(from int) bool {
	return m.leader == none || m.turns[from] >= m.turns[m.leader]
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
	if extra := uint64(len(m.records)) - (m.Len() - m.everywhere()); extra > 0 {
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
		*out = append(*out, Action{replica, Message{Kind: Decided, First: first, Records: records}})
	}
}

// tellKnown tells all others how much this replica knows.
func (m *Machine) tellKnown(out *Actions) {
	m.each(func(replica int) {
		m.tellKnownTo(replica, out)
	})
}

func (m *Machine) tellKnownTo(replica int, out *Actions) {
	*out = append(*out, Action{replica, Message{Kind: Known, First: m.Len() + 1, Term: m.followed}})
}
