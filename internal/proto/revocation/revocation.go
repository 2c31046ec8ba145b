// Package revocation tells all live members of a communicator that it is revoked, whichever of
// them die meanwhile: if one that lives knows, all will. It is MPI's revoke (the ULFM interface):
// any member may call it, several may at once, and nobody waits for it.
//
// # How it spreads
//
// It is a corrected tree (package broadcast), repeated when deaths are heard of. A member that
// learns of the revocation sends it to its children in a tree that has its origin as the root,
// which is fast, and to the next live member round the ring, which is safe: 2(n-1) messages at
// most. When it hears of the death of the one next to it, it sends to the one after that; and
// likewise if the communicator isn't open there.
//
// Why all learn of it: let a live member know, and let s be the next live member after it at which
// the communicator is open. All between them are dead or answer that it isn't open there. The
// member hears of that in the end, one after the other, so it sends to s. So s knows, and so on
// round the whole ring. It needs no process to stay alive but those that learn, and no message of
// a dead process to arrive.
//
// # Invariants
//
//   - Revoked comes once.
//   - A member that knows has sent the revocation to the next member round the ring that it
//     doesn't know to be dead or absent, or has got it from there.
//
// # What the driver does
//
// It makes the machine when it first needs it, and tells it the deaths that the process knows of.
// If a revocation comes for a communicator that isn't open here, the driver keeps that until the
// communicator is opened, and answers [Absent] at once. How long to keep the machine after the
// program has freed the communicator, package agreement tells ([banyan/internal/proto/agreement]:
// Close, Forget).
//
// # Limits
//
// A gap of g dead members round the ring takes g news of deaths, one after the other or at once. A
// member at which the communicator isn't open yet passes nothing on until it is.
package revocation

import "banyan/internal/topology"

// Kind is what a message is for.
type Kind uint8

// Kinds of messages.
const (
	// Revoke says that the communicator is revoked.
	Revoke Kind = iota + 1
	// Absent answers Revoke where the communicator isn't open.
	Absent
)

// Message is what one member tells another.
type Message struct {
	Kind   Kind
	Origin int32 // of Revoke: the member whose call it was, the root of the tree
}

// ActionKind says what the driver is to do.
type ActionKind uint8

// Kinds of actions.
const (
	// Send sends Message to the member To.
	Send ActionKind = iota
	// Revoked says that the communicator is revoked here from now on.
	Revoked
)

// Action is one thing to do.
type Action struct {
	Kind    ActionKind
	To      int
	Message Message
}

// Actions is what calls append to; the caller owns and empties it.
type Actions []Action

// Config is what all members know in advance, and which of them this is.
type Config struct {
	Self int
	Tree topology.Tree // with as many processes as there are members
}

// Machine is one member's part in the revocation of one communicator.
type Machine struct {
	cfg    Config
	known  bool
	origin int32
	passed []bool // by member: dead or absent
	has    []bool // by member: has been told, or has told this one; nil before it is known here
}

// New makes the machine of one member.
func New(cfg Config) *Machine {
	return &Machine{cfg: cfg, passed: make([]bool, cfg.Tree.Procs())}
}

// Known tells whether the communicator is revoked here.
func (m *Machine) Known() bool { return m.known }

// Revoke revokes the communicator. It does nothing if that is known already.
func (m *Machine) Revoke(out *Actions) {
	if !m.known {
		m.learn(int32(m.cfg.Self), m.cfg.Self, out)
	}
}

// Receive takes a message of another member.
func (m *Machine) Receive(from int, message Message, out *Actions) {
	switch {
	case from == m.cfg.Self || message.Origin < 0 || int(message.Origin) >= len(m.passed):
		return
	case message.Kind == Absent:
		m.pass(from, out)
	case message.Kind == Revoke && m.known:
		m.has[from] = true
	case message.Kind == Revoke:
		m.learn(message.Origin, from, out)
	}
}

// Dead takes the news that a member is dead.
func (m *Machine) Dead(member int, out *Actions) {
	if member != m.cfg.Self {
		m.pass(member, out)
	}
}

// Remind tells a member that doesn't seem to know: the driver has had a message from there that
// it wouldn't send any more.
func (m *Machine) Remind(member int, out *Actions) {
	if m.known && member != m.cfg.Self {
		m.send(member, out)
	}
}

func (m *Machine) pass(member int, out *Actions) {
	if m.passed[member] {
		return
	}
	m.passed[member] = true
	if m.known {
		m.correct(out)
	}
}

func (m *Machine) learn(origin int32, from int, out *Actions) {
	m.known, m.origin, m.has = true, origin, make([]bool, len(m.passed))
	m.has[from] = true
	*out = append(*out, Action{Kind: Revoked})
	m.disseminate(m.label(m.cfg.Self), out)
	m.correct(out)
}

// disseminate sends to the children of a label in the tree, and in place of those that are dead to
// theirs.
func (m *Machine) disseminate(label int, out *Actions) {
	c := m.cfg.Tree.Children(label)
	for child, ok := m.cfg.Tree.Next(&c); ok; child, ok = m.cfg.Tree.Next(&c) {
		if to := (child + int(m.origin)) % len(m.passed); m.passed[to] {
			m.disseminate(child, out)
		} else if !m.has[to] {
			m.send(to, out)
		}
	}
}

// label is a member's position in the tree of the origin.
func (m *Machine) label(member int) int {
	return (member - int(m.origin) + len(m.passed)) % len(m.passed)
}

// correct sends to the next member round the ring, unless it has the revocation.
func (m *Machine) correct(out *Actions) {
	n := len(m.passed)
	for d := 1; d < n; d++ {
		to := (m.cfg.Self + d) % n
		if m.passed[to] {
			continue
		}
		if !m.has[to] {
			m.send(to, out)
		}
		return
	}
}

func (m *Machine) send(to int, out *Actions) {
	m.has[to] = true
	*out = append(*out, Action{Kind: Send, To: to, Message: Message{Kind: Revoke, Origin: m.origin}})
}
