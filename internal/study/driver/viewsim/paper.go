package viewsim

import (
	"math/rand/v2"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/study/protocol/varma"
)

// paper is a run of the paper's protocol.
type paper struct {
	settings *Settings
	network  *network[varma.Message]
	nodes    []*varma.Node
	numbers  []uint64                // of the views at the nodes
	views    map[uint64][]proto.Proc // the first that was seen, of each number
	out      varma.Actions
	clock    clock
	Outcome
}

func playPaper(s *Settings, random *rand.Rand) Outcome {
	deaths := s.deaths(random)
	processes := s.Nodes
	if s.Fault.Kind == Join {
		processes++
	}
	r := &paper{
		settings: s, network: newNetwork[varma.Message](s, processes, deaths),
		numbers: make([]uint64, processes), views: map[uint64][]proto.Proc{}, clock: newClock(),
	}
	for p := range s.Nodes {
		r.nodes = append(r.nodes, varma.New(proto.Proc(p), s.Nodes, s.Arity))
		r.nodes[p].Lists = s.Protocol == PaperLists
		r.numbers[p], _ = r.nodes[p].View()
	}
	tellOf(r.network, s, deaths, random)
	if s.Fault.Kind == Join {
		p := proto.Proc(s.Nodes)
		r.nodes = append(r.nodes, varma.Join(p, 0, s.Arity, &r.out)) // it knows the root, so no process redirects it
		r.nodes[p].Lists = s.Protocol == PaperLists
		r.carry(0, p, false)
	}
	r.network.run(r)
	r.end()
	return r.Outcome
}

// spreads says whether a message goes down the tree.
func spreads(k varma.Kind) bool {
	return k == varma.FailedNode || k == varma.RootDead || k == varma.NewNodeJoin
}

func (r *paper) receive(now proto.Time, p, from proto.Proc, x varma.Message) {
	r.nodes[p].Receive(from, x, &r.out)
	r.carry(now, p, spreads(x.Kind))
}

func (r *paper) told(now proto.Time, p, dead proto.Proc) {
	r.nodes[p].Detected(dead, &r.out)
	r.carry(now, p, false)
}

func (r *paper) wake(proto.Time, proto.Proc) {} // it has no timers

// carry carries out a node's actions; passes says that the node passes a change on, and doesn't
// begin one.
func (r *paper) carry(now proto.Time, p proto.Proc, passes bool) {
	computes := passes
	if passes {
		r.network.compute(now, p, r.settings.Compute)
	}
	for _, a := range r.out {
		if a.To == proto.NoProc {
			r.clock.begin(now)
			r.clock.stable = now
			continue
		}
		if spreads(a.Message.Kind) {
			r.clock.begin(now)
			if !computes {
				r.network.compute(now, p, r.settings.Compute)
				computes = true
			}
		}
		if r.network.send(now, p, a.To, a.Message) {
			r.count(a.Message.Kind)
		}
	}
	clear(r.out)
	r.out = r.out[:0]
	if number, members := r.nodes[p].View(); members != nil && number != r.numbers[p] {
		r.numbers[p] = number
		r.clock.installed = now
		if first := r.views[number]; first == nil {
			r.views[number] = slices.Clone(members)
		} else if !slices.Equal(first, members) {
			r.Collided = true
		}
	}
}

func (r *paper) count(k varma.Kind) {
	t := &r.Traffic
	switch {
	case spreads(k):
		t.Propose++
	case k == varma.FailureAck:
		t.Ack++
	case k == varma.JoinDetAck:
		t.Commit++
	default:
		t.Other++
	}
}

// end returns the outcome.
func (r *paper) end() {
	var last []proto.Proc
	r.Agreed = true
	for p, m := range r.nodes {
		if r.network.dies[p] != proto.Never {
			continue
		}
		r.Live++
		r.Waits = r.Waits || m.Waiting()
		number, members := m.View()
		if last == nil {
			last, r.Views = members, int(number)-1
		}
		if !slices.Equal(members, last) {
			r.Agreed = false
		}
	}
	r.Agreed = r.Agreed && len(last) == r.Live
	for _, p := range last {
		r.Agreed = r.Agreed && r.network.dies[p] == proto.Never
	}
	r.clock.fill(&r.Outcome)
}
