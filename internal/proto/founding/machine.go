package founding

import (
	"cmp"
	"fmt"
	"slices"
)

// Config says who a candidate is.
type Config struct {
	Name   string
	Start  Start
	Memory Memory
	// Needed are the members of the last view that the process remembers, and of the one that it
	// had accepted as the next. One of them is this process.
	Needed []Needed
	// Expect is how many processes without a memory found a group together. Without it a process
	// without a memory founds none.
	Expect uint32

	lenient rule // tests try without the rules
}

// Needed is a process without whose promise the group isn't founded anew.
type Needed struct {
	Node ID // zero: it keeps no identity, so that no later start of it is known
	Name string
}

// rule is a rule that a test leaves out.
type rule uint8

const (
	anyMemory  rule = 1 << iota // a candidate promises itself to others that remember less
	anyRound                    // a promise counts in all rounds
	unfaithful                  // a promise is withdrawn as soon as there is a better candidate
)

// Machine is one candidate.
type Machine struct {
	cfg    Config
	self   Candidate
	others []Candidate // by Node: the latest state of each
	found  bool
}

// New makes the machine of a process that looks for its group.
func New(cfg Config) *Machine {
	m := &Machine{cfg: cfg, self: Candidate{Name: cfg.Name, Start: cfg.Start, Memory: cfg.Memory, Expect: cfg.Expect}}
	m.settle()
	return m
}

// Self is what this candidate says of itself. It has to be told to others only as long as it
// doesn't found.
func (m *Machine) Self() Candidate { return m.self }

// Found says whether this process is to found the group. Once true it stays so.
func (m *Machine) Found() bool { return m.found }

// Promised is the start of another candidate that this one supports. Meanwhile this process must
// not ask to be let into a group, nor let itself be taken for a member of one.
func (m *Machine) Promised() (to Start, ok bool) {
	to = m.self.Promise.To
	return to, to != Start{} && to != m.self.Start
}

// Known are the others of which this candidate has heard, ordered by their identity.
func (m *Machine) Known() []Candidate { return m.others }

// Heard takes what another candidate says of itself. Older news than is known already changes
// nothing.
func (m *Machine) Heard(c Candidate) {
	if c.Start.Node == m.self.Start.Node || m.found {
		return
	}
	i, known := m.search(c.Start.Node)
	switch {
	case !known:
		m.others = slices.Insert(m.others, i, c)
	case cmp.Or(cmp.Compare(m.others[i].Start.Count, c.Start.Count), cmp.Compare(m.others[i].Change, c.Change)) >= 0:
		return
	default:
		m.others[i] = c
	}
	m.settle()
}

// Gone takes the news that a process isn't a candidate any more: it is a member, or hasn't been
// heard of for long.
func (m *Machine) Gone(node ID) {
	if i, known := m.search(node); known && !m.found {
		m.others = slices.Delete(m.others, i, i+1)
		m.settle()
	}
}

// Exists says whether a live member of the group is known.
func (m *Machine) Exists(yes bool) {
	if m.self.Exists != yes && !m.found {
		m.self.Exists = yes
		m.self.Change++
		m.settle()
	}
}

func (m *Machine) search(node ID) (int, bool) {
	return slices.BinarySearchFunc(m.others, node, func(c Candidate, node ID) int { return slices.Compare(c.Start.Node[:], node[:]) })
}

// settle chooses the candidate to support, and founds if all that is needed is there.
func (m *Machine) settle() {
	if p := m.choose(); p != m.self.Promise {
		m.self.Change++
		if p.To == m.self.Start {
			p.Round = m.self.Change
		}
		m.self.Promise = p
	}
	m.found = m.self.stands() && m.enough()
}

// choose is the promise to have now.
func (m *Machine) choose() Promise {
	best := &m.self
	exists := m.self.Exists
	for i := range m.others {
		c := &m.others[i]
		if now := m.self.Promise; c.Start == now.To && c.Promise == now && m.cfg.lenient&unfaithful == 0 {
			return now // it may count on it
		}
		exists = exists || c.Exists
		switch {
		case !c.able():
		case !best.able(), m.cfg.lenient&anyMemory == 0 && c.before(best), m.cfg.lenient&anyMemory != 0 && c.Name < best.Name:
			best = c
		}
	}
	switch {
	case exists:
		return Promise{} // the group isn't founded anew
	case !best.able():
		return Promise{}
	case best == &m.self && m.self.stands():
		return m.self.Promise
	case best == &m.self:
		return Promise{To: m.self.Start}
	case best.stands():
		return best.Promise
	}
	return Promise{} // it supports another one yet, or none
}

// enough says whether all that this candidate needs have promised themselves to it.
func (m *Machine) enough() bool { return len(m.Missing()) == 0 }

// Missing says what this candidate lacks to found the group, in words; nothing if it may.
func (m *Machine) Missing() (missing []string) {
	for i := range m.others {
		if c := &m.others[i]; c.Memory.conflicts(m.self.Memory) {
			missing = append(missing, fmt.Sprintf("%s remembers another last view of the group: an operator must choose", c.Name))
		}
	}
	if m.self.Memory == (Memory{}) {
		return append(missing, m.missingFirst()...)
	}
	for _, x := range m.cfg.Needed {
		if x.Node == m.self.Start.Node {
			continue
		}
		i, known := m.search(x.Node)
		switch {
		case x.Node == ID{}:
			missing = append(missing, fmt.Sprintf("%s keeps no identity", x.Name))
		case !known:
			missing = append(missing, fmt.Sprintf("%s hasn't been heard of", x.Name))
		case !m.has(&m.others[i]):
			missing = append(missing, fmt.Sprintf("%s supports another", m.others[i].Name))
		}
	}
	return missing
}

// has says whether another candidate supports this one.
func (m *Machine) has(c *Candidate) bool {
	return c.Promise.To == m.self.Start && (c.Promise.Round == m.self.Promise.Round || m.cfg.lenient&anyRound != 0)
}

// missingFirst is Missing for a process that never was in the group.
func (m *Machine) missingFirst() []string {
	if m.cfg.Expect == 0 {
		return []string{"this process doesn't found a group: it has seeds, and neither Expect nor a memory of the group"}
	}
	names := []string{m.self.Name}
	for i := range m.others {
		if c := &m.others[i]; c.Memory == (Memory{}) && c.Expect == m.cfg.Expect && m.has(c) && !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	if len(names) < int(m.cfg.Expect) {
		return []string{fmt.Sprintf("%d of %d processes are there: %v", len(names), m.cfg.Expect, names)}
	}
	return nil
}
