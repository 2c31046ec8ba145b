package stabilisation

import (
	"context"

	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/study/driver/oneport"
)

// Machines plays scenarios with the detector's machines, one for each node, under the one-port
// model. Every heartbeat is sent.
type Machines struct {
	*Scenario
	view     detector.View
	network  *oneport.Network[frame]
	machines []detector.Machine
	started  []bool
	actions  detector.Actions
	// told are victims of which their observers are to know at once, by observer: Settings.Trigger.
	told map[int32]proto.Proc

	ctx   context.Context
	calls int // of machines

	struck  []known // the failures, in order
	live    int
	outcome Outcome
}

// known counts the nodes that know of a failure.
type known struct {
	node  proto.Proc
	at    proto.Time // it struck
	by    int        // of the live nodes
	since proto.Time // all of them have known it; or Never
}

// NewMachines prepares for runs of settings.
func NewMachines(s *Settings) *Machines {
	return &Machines{
		view:     detector.View{Ring: s.ring()},
		machines: make([]detector.Machine, s.Nodes),
		started:  make([]bool, s.Nodes),
		told:     map[int32]proto.Proc{},
	}
}

// Run plays a scenario.
func (m *Machines) Run(ctx context.Context, s *Scenario) (Outcome, error) {
	m.Scenario, m.outcome, m.struck, m.live = s, Outcome{}, m.struck[:0], s.Nodes
	m.ctx, m.calls = ctx, 0
	clear(m.machines)
	clear(m.started)
	clear(m.told)
	cfg := oneport.Config{Nodes: s.Nodes, Tau: s.Tau, Fixed: s.Fixed, Seed: s.Seed}
	var err error
	if m.network == nil {
		m.network, err = oneport.New(cfg, m)
	} else {
		err = m.network.Reset(cfg, m)
	}
	if err != nil {
		return Outcome{}, err
	}
	m.network.Run(s.Onset() - 1)
	if err := ctx.Err(); err != nil {
		return Outcome{}, err
	}
	before := m.network.Sent
	m.fail()
	for !m.outcome.Stable && m.outcome.False == 0 && m.network.Now() < m.giveUp() && len(m.struck) < maxFailures {
		m.network.Run(min(m.network.Now()+s.Period, m.giveUp()))
		if err := ctx.Err(); err != nil {
			return Outcome{}, err
		}
	}
	m.account()
	m.network.Run(m.network.Now() + 8*s.Tau*proto.Time(s.MostFailures()+2)) // the last broadcast ends
	m.outcome.Messages = m.messages(&before)
	return m.outcome, nil
}

// Quiet plays a scenario of forced failures. Then it counts the messages that the live nodes
// send in a number of periods after the system has calmed down. It also returns the number of
// live nodes.
func (m *Machines) Quiet(ctx context.Context, s *Scenario, periods int) (sent Messages, live int, err error) {
	if _, err := m.Run(ctx, s); err != nil {
		return Messages{}, 0, err
	}
	m.network.Run(m.network.Now() + s.Period)
	before := m.network.Sent
	for range periods {
		m.network.Run(m.network.Now() + s.Period)
		if err := ctx.Err(); err != nil {
			return Messages{}, 0, err
		}
	}
	return m.messages(&before), m.live, nil
}

// fail has the next failure strike when its time comes.
func (m *Machines) fail() {
	if f, ok := m.Failure(len(m.struck)); ok {
		m.network.Crash(int32(f.Node), m.Onset()+f.At)
	}
}

// giveUp is when the run is over even if it isn't stable: a while after the last failure,
// and after the next if that is known.
func (m *Machines) giveUp() proto.Time {
	last := max(0, len(m.struck)-1)
	if _, more := m.Failure(len(m.struck)); more {
		last = len(m.struck)
	}
	f, _ := m.Failure(last)
	return m.Onset() + f.At + m.patience(last+1)
}

// account returns the outcome of a run.
func (m *Machines) account() {
	o := &m.outcome
	o.Failures = len(m.struck)
	if o.Stable {
		o.All = m.network.Now() - m.Onset()
		o.First = m.struck[0].since - m.Onset()
		for _, k := range m.struck {
			o.Each += (k.since - k.at) / proto.Time(len(m.struck))
		}
	}
}

// messages are those sent since some had been.
func (m *Machines) messages(before *[oneport.Kinds]int) Messages {
	count := func(k detector.ActionKind) int { return m.network.Sent[k] - before[k] }
	return Messages{
		Heartbeats: count(detector.SendHeartbeat),
		Observes:   count(detector.SendObserve),
		News:       count(detector.SendNews),
		Others:     count(detector.SendReconcile) + count(detector.SendEviction),
	}
}

// Receive is called by the network.
func (m *Machines) Receive(now proto.Time, node, from int32, f *frame, out *[]oneport.Send[frame]) {
	if !m.started[node] {
		return
	}
	m.actions = m.actions[:0]
	f.hand(&m.machines[node], now, proto.Proc(from), &m.actions)
	m.carryOut(now, node, out)
}

// Tick is called by the network.
func (m *Machines) Tick(now proto.Time, node int32, out *[]oneport.Send[frame]) {
	m.actions = m.actions[:0]
	if !m.started[node] {
		m.started[node] = true
		m.machines[node].Start(detector.Config{
			Self: proto.Proc(node), View: &m.view, Period: m.Period, Timeout: m.Timeout,
		}, now, &m.actions)
	} else {
		if dead, ok := m.told[node]; ok {
			delete(m.told, node)
			m.machines[node].Evidence(now, dead, 0, &m.actions)
		}
		m.machines[node].Tick(now, &m.actions)
	}
	m.carryOut(now, node, out)
}

// Deadline is called by the network.
func (m *Machines) Deadline(node int32) proto.Time {
	if !m.started[node] {
		return m.Phase(proto.Proc(node))
	}
	if len(m.told) > 0 {
		if _, ok := m.told[node]; ok {
			return m.network.Now()
		}
	}
	return m.machines[node].Deadline()
}

// Crashed is called by the network. It schedules the next failure, and tells the observer of this
// one if it is to know at once.
func (m *Machines) Crashed(now proto.Time, node int32) {
	m.live--
	for i := range m.struck {
		if !m.machines[node].Alive(m.struck[i].node) {
			m.struck[i].by--
		}
	}
	m.struck = append(m.struck, known{node: proto.Proc(node), at: now, since: proto.Never})
	m.fail()
	if o := m.machines[node].Observer(); m.Trigger && o != proto.NoProc && m.network.Alive(int32(o)) {
		m.told[int32(o)] = proto.Proc(node)
		m.network.Hurry(int32(o))
	}
	m.judge(now)
}

// carryOut carries out the actions of a node's machine.
func (m *Machines) carryOut(now proto.Time, node int32, out *[]oneport.Send[frame]) {
	// A broadcast takes microseconds, and its simulation many seconds.
	if m.calls++; m.calls%(1<<16) == 0 && m.ctx.Err() != nil {
		m.network.Halt()
	}
	source := false
	for i := range m.actions {
		switch a := &m.actions[i]; a.Kind {
		case detector.ReportDeath:
			m.learned(now, a.Report.Proc)
		case detector.ReportFenced: // the node that suspected it has been counted
		default:
			source = source || a.Kind == detector.SendNews && a.Bulletin.Source == proto.Proc(node)
			*out = append(*out, oneport.Send[frame]{To: int32(a.To), Message: newFrame(a)})
		}
	}
	if source {
		m.outcome.Broadcasts++
	}
}

// learned counts a node that has learned of a death.
func (m *Machines) learned(now proto.Time, dead proto.Proc) {
	for i := range m.struck {
		if m.struck[i].node == dead {
			m.struck[i].by++
			if i == 0 && m.outcome.Detected == 0 {
				m.outcome.Detected = now - m.Onset()
			}
			m.judge(now)
			return
		}
	}
	m.outcome.False++
	m.network.Halt()
}

// judge finds out what all live nodes know, and whether the configuration is stable.
func (m *Machines) judge(now proto.Time) {
	stable := true
	for i := range m.struck {
		k := &m.struck[i]
		if k.by < m.live {
			stable = false
		} else if k.since == proto.Never {
			k.since = now
		}
	}
	if _, more := m.Failure(len(m.struck)); stable && !m.outcome.Stable && !(more && m.forced()) {
		m.outcome.Stable = true
		m.network.Halt()
	}
}
