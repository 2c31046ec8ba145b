package viewsim

import (
	"math/rand/v2"
	"slices"
	"strings"

	"banyan/internal/proto"
	"banyan/internal/proto/membership"
)

// banyan is a run of Banyan's machines. No process is restarted, so each has incarnation 0.
type banyan struct {
	settings *Settings
	network  *network[*membership.Message]
	machines []*membership.Machine
	wakesAt  []proto.Time                // the last deadline of each machine
	views    map[uint64]*membership.View // the first that was installed, of each number
	out      membership.Actions
	clock    clock
	Outcome
}

// updateSize is how long what a process says of itself is.
const updateSize = 64

func member(p proto.Proc) membership.Member { return membership.Member{Proc: p} }

func playBanyan(s *Settings, random *rand.Rand) Outcome {
	deaths := s.deaths(random)
	processes := s.Nodes
	if s.Fault.Kind == Join {
		processes++
	}
	b := &banyan{
		settings: s, network: newNetwork[*membership.Message](s, processes, deaths),
		machines: make([]*membership.Machine, processes), wakesAt: make([]proto.Time, processes), views: map[uint64]*membership.View{}, clock: newClock(),
	}
	first := membership.FirstView(s.Nodes)
	b.views[first.Number] = first
	for p := range s.Nodes {
		b.machines[p] = membership.New(b.config(proto.Proc(p)), first)
	}
	tellOf(b.network, s, deaths, random)
	if s.Fault.Kind == Join {
		p, contact := proto.Proc(s.Nodes), proto.Proc(random.IntN(s.Nodes))
		b.machines[p] = membership.NewJoiner(b.config(p), []membership.Member{member(contact)}, 0, &b.out)
		b.carry(0, p, false)
	}
	if s.Fault.Kind == Update {
		p := proto.Proc(random.IntN(s.Nodes))
		b.machines[p].SetMetadata(0, strings.Repeat("x", updateSize), &b.out)
		b.carry(0, p, false)
	}
	b.network.run(b)
	b.end()
	return b.Outcome
}

func (b *banyan) config(p proto.Proc) membership.Config {
	return membership.Config{Self: member(p), Arity: b.settings.Arity, Gather: b.settings.Gather}
}

// tellOf schedules the news of the deaths for every process.
func tellOf[M any](n *network[M], s *Settings, deaths []death, random *rand.Rand) {
	var none M
	for _, d := range deaths {
		for p := range n.dies {
			if proto.Proc(p) != d.node {
				n.add(d.at+s.Detection+proto.Time(random.Int64N(int64(s.Spread)+1)), tell, proto.Proc(p), d.node, none)
			}
		}
	}
}

func (b *banyan) receive(now proto.Time, p, _ proto.Proc, x *membership.Message) {
	b.machines[p].Receive(now, x, &b.out)
	b.carry(now, p, goesDown(x.Kind))
}

// goesDown says whether a message carries a change down the tree.
func goesDown(k membership.Kind) bool { return k == membership.Propose || k == membership.Collect }

func (b *banyan) told(now proto.Time, p, dead proto.Proc) {
	b.machines[p].Departed(now, member(dead), membership.Died, &b.out)
	b.carry(now, p, false)
}

func (b *banyan) wake(now proto.Time, p proto.Proc) {
	if b.machines[p].Deadline() > now {
		return // it has another one by now
	}
	b.machines[p].Tick(now, &b.out)
	b.carry(now, p, false)
}

// carry carries out a machine's actions; passes says that the machine passes a change on, and
// doesn't begin one.
func (b *banyan) carry(now proto.Time, p proto.Proc, passes bool) {
	computes := passes
	if passes {
		b.network.compute(now, p, b.settings.Compute)
	}
	for _, a := range b.out {
		switch a.Kind {
		case membership.Send:
			x := a.Message
			if goesDown(x.Kind) {
				b.clock.begin(now)
				if !computes {
					b.network.compute(now, p, b.settings.Compute)
					computes = true
				}
			}
			if b.network.send(now, p, a.To.Proc, x) {
				b.count(x.Kind)
				if s := b.settings; s.Weigh != nil {
					bytes, whole := s.Weigh(a.To, x)
					b.Bytes, b.WholeBytes = b.Bytes+bytes, b.WholeBytes+whole
				}
			}
		case membership.Install:
			b.install(now, a)
		}
	}
	clear(b.out)
	b.out = b.out[:0]
	if at := b.machines[p].Deadline(); at != proto.Never && at != b.wakesAt[p] {
		b.wakesAt[p] = at
		b.network.wakeAt(at, p)
	}
}

func (b *banyan) install(now proto.Time, a membership.Action) {
	b.clock.installed = now
	if a.Stable {
		b.clock.begin(now) // a coordinator that is alone sends nothing
		b.clock.stable = now
	}
	if first := b.views[a.View.Number]; first == nil {
		b.views[a.View.Number] = a.View
	} else if first != a.View && !slices.Equal(first.Members, a.View.Members) {
		b.Collided = true
	}
}

func (b *banyan) count(k membership.Kind) {
	t := &b.Traffic
	switch k {
	case membership.Propose:
		t.Propose++
	case membership.Ack:
		t.Ack++
	case membership.Commit:
		t.Commit++
	case membership.Collect, membership.Report:
		t.Takeover++
	default:
		t.Other++
	}
}

// end returns the outcome.
func (b *banyan) end() {
	var last *membership.View
	b.Agreed = true
	for p, m := range b.machines {
		if b.network.dies[p] != proto.Never {
			continue
		}
		b.Live++
		switch v := m.View(); {
		case v == nil || m.Over():
			b.Agreed = false
		case last == nil:
			last = v
		case v != last && (v.Number != last.Number || !slices.Equal(v.Members, last.Members)):
			b.Agreed = false
		}
	}
	if last == nil {
		b.Agreed = false
		return
	}
	b.Views = int(last.Number) - 1
	b.Agreed = b.Agreed && len(last.Members) == b.Live
	for _, m := range last.Members {
		b.Agreed = b.Agreed && b.network.dies[m.Proc] == proto.Never
	}
	b.Waits = !b.Agreed && !b.Collided
	b.clock.fill(&b.Outcome)
}
