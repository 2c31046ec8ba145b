package agreement

import (
	"slices"

	"banyan/internal/topology"
)

// MaxInFlight is how many agreements may be under way at once: contributed to here, and not yet
// known to have ended at every live member.
const MaxInFlight = 1 << 16

// Config is what all members of a communicator know in advance, and which of them this is.
type Config struct {
	Self int
	// Tree has as many processes as the communicator has members.
	Tree topology.Tree
	// Combine puts the payload from to the payload into, of the agreement with that number, and
	// returns the result, which may have into's memory. nil: contributions have no payloads.
	// Payloads come in the order of members where the tree is numbered in-order.
	Combine func(number uint64, into, from []byte) []byte
}

// Contribution is what a member brings to an agreement.
type Contribution struct {
	Flags        uint64
	Acknowledged Set    // the members whose deaths the program has acknowledged
	Payload      []byte // copied
}

// Machine is one member's part in all agreements of one communicator.
type Machine struct {
	cfg     Config
	dead    Set
	through Set // of the dead, those that live and will never open the communicator
	position

	left    bool   // the program enters no more agreements, and this member gives nothing to those of others
	wanted  uint64 // a member is known to have entered all up to this number
	entered uint64 // this member has contributed to all up to this number
	decided uint64 // and has all decisions up to this one
	stable  uint64 // which all live members have up to this one
	next    uint64 // the first that hasn't been sent up the present tree, or decided by this root
	offered uint64 // of two members: those that this one, the root, has sent to the other

	window []*instance // from stable+1
	spent  []*instance // settled in the present call: its actions may still speak of them
	free   []*instance
	early  []stray

	closing
}

// stray is a message of a member that isn't a child here yet, or that knows of a later root: it
// counts once this member has heard of the same deaths.
type stray struct {
	from    int
	message Message
}

// New makes the machine of one member. It is to be given the deaths of members that the process
// knows of before its first contribution.
func New(cfg Config) *Machine {
	m := &Machine{cfg: cfg, next: 1}
	m.arrange(&m.cfg.Tree, cfg.Self, nil)
	m.saidTo = -1
	return m
}

// Contribute enters the next agreement and returns its number, the first of which is 1. It returns
// 0 and does nothing if MaxInFlight are under way, or the member has left.
func (m *Machine) Contribute(c Contribution, out *Actions) uint64 {
	if m.left || m.entered-m.stable >= MaxInFlight {
		return 0
	}
	m.recycle()
	m.entered++
	i := m.at(m.entered)
	i.entered = true
	i.own.put(&Value{Flags: c.Flags, Acknowledged: c.Acknowledged, Payload: c.Payload})
	m.offer(m.entered, i, out)
	m.proceed(out)
	m.exchange(out)
	return m.entered
}

// Receive takes a message of another member.
func (m *Machine) Receive(from int, message Message, out *Actions) {
	if m.dead.Has(from) || from == m.cfg.Self || m.forgotten {
		return
	}
	if message.Kind == KindThrough {
		m.through = m.through.With(from)
		m.Dead(from, out) // nobody has heard of it in this communicator, and nobody will
		return
	}
	m.recycle()
	m.receive(from, &message, out)
}

func (m *Machine) receive(from int, message *Message, out *Actions) {
	switch message.Kind {
	case KindContribution, KindAccepted:
		m.reported(from, message, out)
	case KindDecision:
		m.told(message, out)
	case KindPrompt:
		m.want(message.Number, out)
	default:
		m.closed(from, message.Kind, out)
		return
	}
	m.settle(message.Stable)
	m.proceed(out)
	m.tryClose(out)
}

// Dead takes the news that a member is dead, or is taken for dead for good.
func (m *Machine) Dead(member int, out *Actions) {
	if m.dead.Has(member) || member == m.cfg.Self || m.forgotten {
		return
	}
	m.recycle()
	m.dead = m.dead.With(member)
	root, parent := m.root, m.parent
	before := slices.Clone(m.children)
	m.arrange(&m.cfg.Tree, m.cfg.Self, m.dead)
	if m.root != root {
		m.begin()
	} else {
		m.rearrange(before)
		if m.parent != parent {
			m.next = m.stable + 1
			for m.next <= m.decided && m.at(m.next).under == m.root {
				m.next++
			}
		}
	}
	early := m.early
	m.early = nil
	for _, s := range early {
		if !m.dead.Has(s.from) && !m.forgotten {
			m.receive(s.from, &s.message, out)
		}
	}
	if m.left {
		m.Prompt(out) // the children may be others
	}
	m.rearrangeClosing()
	m.proceed(out)
	m.tryClose(out)
}

// begin starts anew under another root, which hears of every agreement that is kept anywhere.
func (m *Machine) begin() {
	m.next = m.stable + 1
	for _, i := range m.window {
		i.fit(len(m.children))
	}
}

// rearrange keeps what the children have reported that are still there.
func (m *Machine) rearrange(before []int32) {
	if slices.Equal(before, m.children) {
		return
	}
	moved := make([]int32, len(before))
	for j, c := range before {
		moved[j] = m.index[c]
	}
	for _, i := range m.window {
		i.rearrange(moved, len(m.children))
	}
}

// reported takes a report of a child.
func (m *Machine) reported(from int, message *Message, out *Actions) {
	child := m.index[from]
	switch {
	case message.Root < m.root:
		return // it reports again when it has heard of the deaths
	case m.pair() && child < 0:
		if message.Number > m.decided && message.Number-m.stable <= MaxInFlight {
			m.at(message.Number).offer.set(message)
			m.want(message.Number, out)
			m.exchange(out)
		}
		return
	case message.Root > m.root || child < 0:
		s := stray{from, *message}
		s.message.Value.Payload = slices.Clone(message.Value.Payload)
		m.early = append(m.early, s)
		return
	case message.Number <= m.stable || message.Number-m.stable > MaxInFlight:
		return
	}
	i := m.at(message.Number)
	r := &i.reports[child]
	if !r.here {
		i.here++
	}
	r.set(message)
	m.want(message.Number, out)
	if i.decided && i.under == m.root {
		*out = append(*out, m.decision(from, message.Number, i))
	}
}

// told takes a decision, of the present root only: this member has promised not to accept those of
// lower ones, and higher ones don't count it as live.
func (m *Machine) told(message *Message, out *Actions) {
	if message.Root == m.root && message.Number > m.stable && message.Number <= m.decided+1 && message.Number <= m.entered {
		m.accept(message.Number, &message.Value, message.Stable, out)
	}
}

// accept makes a value the decision, here and at the children that have reported.
func (m *Machine) accept(number uint64, v *Value, stable uint64, out *Actions) {
	i := m.at(number)
	again := i.decided && i.under == m.root
	i.under = m.root
	if !i.decided {
		i.decided = true
		i.value.put(v)
		m.decided = number
		kind := Decide
		if i.value.Failed.Has(m.cfg.Self) {
			kind = Excluded
		}
		a := m.decision(0, number, i)
		a.Kind = kind
		*out = append(*out, a)
	}
	if again {
		return
	}
	if m.offered >= number {
		return // the other of two members decides by itself
	}
	for k := range i.reports {
		j := k
		if m.cfg.Tree.Numbering() == topology.InOrder {
			j = len(i.reports) - 1 - k // the child with the most below it comes first
		}
		if i.reports[j].here {
			a := m.decision(int(m.children[j]), number, i)
			a.Message.Stable = max(m.stable, stable)
			*out = append(*out, a)
		}
	}
}

func (m *Machine) decision(to int, number uint64, i *instance) Action {
	return Action{Kind: Send, To: to, Message: Message{
		Kind: KindDecision, Number: number, Root: i.under, Stable: m.stable, Value: i.value,
	}}
}

// proceed reports or decides what all at and below this member have contributed to.
func (m *Machine) proceed(out *Actions) {
	for m.next <= m.entered {
		number := m.next
		i := m.at(number)
		if !i.entered || i.here < len(m.children) {
			return
		}
		m.next++
		report := m.gather(number, i)
		if m.parent >= 0 {
			*out = append(*out, Action{Kind: Send, To: int(m.parent), Message: report})
			continue
		}
		m.accept(number, &report.Value, report.Decided, out)
		m.settle(report.Decided)
	}
}

// gather puts together what this member and all below it say of an agreement.
func (m *Machine) gather(number uint64, i *instance) Message {
	message := Message{Kind: KindContribution, Number: number, Root: m.root, Decided: m.decided, Stable: m.stable}
	v := &message.Value
	if i.decided {
		message.Kind, message.Accepted, *v = KindAccepted, i.under, i.value
	}
	for j := range i.reports {
		r := &i.reports[j]
		message.Decided = min(message.Decided, r.decided)
		if r.kind == KindAccepted && (message.Kind != KindAccepted || r.accepted > message.Accepted) {
			message.Kind, message.Accepted, *v = KindAccepted, r.accepted, r.value
		}
	}
	if message.Kind == KindAccepted {
		return message
	}
	*v = i.own
	v.Missing, v.Failed, v.Left = v.Missing.Union(m.gap), m.dead.Minus(m.through), v.Left.Union(m.through)
	if m.cfg.Combine != nil && len(i.reports) > 0 {
		v.Payload = append(i.value.Payload[:0], i.own.Payload...) // the decision's memory is free until there is one
	}
	for j := range i.reports {
		m.add(number, v, &i.reports[j].value)
	}
	if m.cfg.Combine != nil && len(i.reports) > 0 {
		i.value.Payload = v.Payload
	}
	return message
}

// settle forgets the decisions that every live member has.
func (m *Machine) settle(stable uint64) {
	for stable = min(stable, m.decided); m.stable < stable; m.stable++ {
		m.spent = append(m.spent, m.window[0])
		m.window = append(m.window[:0], m.window[1:]...)
	}
	m.next = max(m.next, m.stable+1)
}

// recycle lets what was settled be used again.
func (m *Machine) recycle() {
	m.free, m.spent = append(m.free, m.spent...), m.spent[:0]
}

// at is the agreement with a number above stable.
func (m *Machine) at(number uint64) *instance {
	for uint64(len(m.window)) < number-m.stable {
		var i *instance
		if n := len(m.free); n > 0 {
			i, m.free = m.free[n-1], m.free[:n-1]
		} else {
			i = &instance{}
		}
		i.reset(len(m.children))
		m.window = append(m.window, i)
	}
	return m.window[number-m.stable-1]
}

// Kept is how many agreements the machine keeps: those under way, and those whose decision a live
// member may not have yet.
func (m *Machine) Kept() int { return len(m.window) }

// Waiting appends the members for which the first agreement without a decision waits, as far as
// this member can tell: children that haven't reported, or else the parent. It appends nothing if
// this member waits for no decision.
func (m *Machine) Waiting(dst []int) []int {
	if m.decided >= m.entered {
		return dst
	}
	i := m.at(m.decided + 1)
	for j, c := range m.children {
		if !i.reports[j].here {
			dst = append(dst, int(c))
		}
	}
	if i.here == len(m.children) && m.parent >= 0 {
		dst = append(dst, int(m.parent))
	}
	return dst
}
