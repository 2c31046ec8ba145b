package swim

import (
	"fmt"
	"math/bits"
	"math/rand/v2"

	"banyan/internal/proto"
)

// Config says which member it is, how it probes and how patient it is.
type Config struct {
	Self proto.Proc
	N    int // members, numbered 0…N-1

	Period       proto.Time // T′: one probe each
	ProbeTimeout proto.Time // silence after which mediators are asked, below Period
	Indirect     int        // k: so many
	// Suspicion is how long a suspect has to refute. 0: a member that doesn't answer a
	// probe is dead at once.
	Suspicion proto.Time
	// RoundRobin probes all others in a random order, then in another, which bounds
	// the time until a member is probed to less than 2N periods.
	RoundRobin bool
	// Transmit is how often one member passes an item on.
	Transmit int
	Seed     uint64
}

// DefaultTransmit is a number of times to pass items on by which all members hear of each
// with great probability: 3 ⌈log2 (n + 1)⌉.
func DefaultTransmit(n int) int { return 3 * bits.Len(uint(n)) }

// Validate says what is wrong with a configuration.
func (c *Config) Validate() error {
	switch {
	case c.N < 1 || c.Self < 0 || int(c.Self) >= c.N:
		return fmt.Errorf("%v of %d members", c.Self, c.N)
	case c.ProbeTimeout < 1 || c.Period <= c.ProbeTimeout:
		return fmt.Errorf("probe time-out %d: want at least 1 and less than the period, %d", c.ProbeTimeout, c.Period)
	case c.Indirect < 0:
		return fmt.Errorf("%d mediators: want 0 or more", c.Indirect)
	case c.Suspicion < 0:
		return fmt.Errorf("suspicion time-out %d: want 0 or more", c.Suspicion)
	case c.Transmit < 1:
		return fmt.Errorf("items passed on %d times: want at least 1", c.Transmit)
	}
	return nil
}

// Machine is the detector of one member.
type Machine struct {
	cfg Config
	rng *rand.Rand

	members []opinion // by Proc; this member's own holds its incarnation
	others  int       // not thought dead
	order   []proto.Proc
	next    int // in order

	target   proto.Proc // of the probe under way, NoProc if acknowledged or none
	probe    uint32     // its number
	askAt    proto.Time // mediators are asked, Never if not
	periodAt proto.Time // the next period begins

	suspects []suspect
	news     []item // to be told, the least told first
}

type opinion struct {
	incarnation uint32
	state       State
}

// suspect is a member that is declared dead at a time.
type suspect struct {
	proc   proto.Proc
	deadAt proto.Time
}

// item is a member that there is news of: the opinion held.
type item struct {
	proc proto.Proc
	told int
}

// New makes the machine of a member that starts, with all others alive. It begins
// its first period at a random time within one from now, so that members that start together don't
// probe together.
func New(cfg Config, now proto.Time) *Machine {
	m := &Machine{
		cfg:     cfg,
		rng:     rand.New(rand.NewPCG(cfg.Seed, uint64(cfg.Self))),
		members: make([]opinion, cfg.N),
		others:  cfg.N - 1,
		target:  proto.NoProc,
		askAt:   proto.Never,
	}
	m.periodAt = now + 1 + proto.Time(m.rng.Int64N(int64(cfg.Period)))
	if cfg.N == 1 {
		m.periodAt = proto.Never
	}
	return m
}

// State is the opinion about a member.
func (m *Machine) State(p proto.Proc) State { return m.members[p].state }

// Incarnation is the member's own.
func (m *Machine) Incarnation() uint32 { return m.members[m.cfg.Self].incarnation }

// Deadline is when Tick has to be called next.
func (m *Machine) Deadline() proto.Time {
	d := min(m.periodAt, m.askAt)
	for _, s := range m.suspects {
		d = min(d, s.deadAt)
	}
	return d
}

// Tick lets time pass. Messages that have arrived should be handed over first.
func (m *Machine) Tick(now proto.Time, out *Actions) {
	m.expire(now, out)
	if now >= m.askAt {
		m.askAt = proto.Never
		m.ask(out)
	}
	if now >= m.periodAt {
		if m.target != proto.NoProc {
			m.silent(now, m.target, out)
		}
		m.begin(now, out)
	}
}

// Receive takes a message.
func (m *Machine) Receive(now proto.Time, from proto.Proc, msg *Message, out *Actions) {
	for _, r := range msg.Rumours[:msg.Count] {
		m.hear(now, r, out)
	}
	switch msg.Kind {
	case Ping:
		m.send(from, Message{Kind: Ack, Origin: msg.Origin, Target: m.cfg.Self, Probe: msg.Probe}, out)
	case Ask:
		m.send(msg.Target, Message{Kind: Ping, Origin: msg.Origin, Target: msg.Target, Probe: msg.Probe}, out)
	case Ack:
		switch {
		case msg.Origin != m.cfg.Self:
			m.send(msg.Origin, Message{Kind: Ack, Origin: msg.Origin, Target: msg.Target, Probe: msg.Probe}, out)
		case msg.Target == m.target && msg.Probe == m.probe:
			m.target, m.askAt = proto.NoProc, proto.Never
		}
	}
}

// begin starts the next period's probe.
func (m *Machine) begin(now proto.Time, out *Actions) {
	m.periodAt += m.cfg.Period
	if m.periodAt <= now { // its own loop was stopped: no volley of probes for the time missed
		m.periodAt = now + m.cfg.Period
	}
	m.target, m.askAt = proto.NoProc, proto.Never
	if m.others == 0 {
		return
	}
	m.target = m.choose()
	m.probe++
	m.askAt = now + m.cfg.ProbeTimeout
	m.send(m.target, Message{Kind: Ping, Origin: m.cfg.Self, Target: m.target, Probe: m.probe}, out)
}

// ask has others ping the target: k different ones, if there are as many.
func (m *Machine) ask(out *Actions) {
	k := min(m.cfg.Indirect, m.others-1)
	var asked [16]proto.Proc
	chosen := asked[:0]
	for len(chosen) < k {
		p := m.anyone()
		if p == m.target || contains(chosen, p) {
			continue
		}
		chosen = append(chosen, p)
		m.send(p, Message{Kind: Ask, Origin: m.cfg.Self, Target: m.target, Probe: m.probe}, out)
	}
}

func contains(list []proto.Proc, p proto.Proc) bool {
	for _, q := range list {
		if p == q {
			return true
		}
	}
	return false
}

// choose picks the next target among those not thought dead; there is one.
func (m *Machine) choose() proto.Proc {
	if !m.cfg.RoundRobin {
		return m.anyone()
	}
	for {
		if m.next == len(m.order) {
			m.shuffle()
		}
		p := m.order[m.next]
		m.next++
		if p != m.cfg.Self && m.members[p].state != Dead {
			return p
		}
	}
}

func (m *Machine) shuffle() {
	if m.order == nil {
		m.order = make([]proto.Proc, m.cfg.N)
		for p := range m.order {
			m.order[p] = proto.Proc(p)
		}
	}
	m.rng.Shuffle(len(m.order), func(i, j int) { m.order[i], m.order[j] = m.order[j], m.order[i] })
	m.next = 0
}

// anyone draws one of those not thought dead; there is one.
func (m *Machine) anyone() proto.Proc {
	for {
		p := proto.Proc(m.rng.Int32N(int32(m.cfg.N)))
		if p != m.cfg.Self && m.members[p].state != Dead {
			return p
		}
	}
}
