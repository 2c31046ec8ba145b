package membership

import (
	"fmt"
	"math"

	"banyan/internal/proto"
	"banyan/internal/study/driver/viewsim"
	"banyan/internal/study/planning/risk"
	"banyan/internal/study/planning/viewtime"
)

// platform is one of the paper's two machines, by its constants of section 7. The paper gives L,
// half a round trip, and Ocp. It doesn't say how much of L is overhead, in which a process can't
// send another message: that share is ours.
type platform struct {
	name                       string
	latency, overhead, compute proto.Time          // ns; L is latency + 2·overhead
	tori                       []viewtime.Topology // from small to large: a job gets the first that has room
}

var (
	bluegene = platform{
		name: "BlueGene/L", latency: 3600, overhead: 500, compute: 2000,
		tori: []viewtime.Topology{ // the paper allocates whole midplanes, one or both
			{Size: [3]int{8, 8, 8}, Wrap: true},
			{Size: [3]int{8, 8, 16}, Wrap: true},
		},
	}
	ethernet = platform{name: "Gigabit Ethernet", latency: 98_000, overhead: 10_000, compute: 2000}
)

const ns = 1e-9

// halfRoundTrip is the paper's L.
func (p *platform) halfRoundTrip() proto.Time { return p.latency + 2*p.overhead }

// base is the paper's base model, distance its distance model without the printed factor, of
// the nodes that are left.
func (p *platform) base(nodes, arity int) float64 {
	m := p.model()
	return microseconds(m.Base(nodes, arity))
}

func (p *platform) distance(live, arity int) float64 {
	m := p.model()
	m.Topology = p.torus(live)
	return microseconds(m.Stabilise(live, arity))
}

// longestWay is the distance model with the longest way from the root to a leaf in place of the
// sum of the longest way of each level.
func (p *platform) longestWay(live, arity int) float64 {
	m, h := p.model(), viewtime.Levels(live, arity)
	return microseconds(2*m.Latency*risk.Seconds(p.torus(live).LongestWay(live, arity)) + m.Compute*risk.Seconds(h))
}

// torus is that of a job of which one node has died and so many are left. It panics if no torus
// has room.
func (p *platform) torus(live int) viewtime.Topology {
	for _, t := range p.tori {
		if live+1 <= t.Nodes() {
			return t
		}
	}
	panic(fmt.Sprintf("membership: no torus of %s has room for %d nodes", p.name, live+1))
}

// fanOut is the base model with the time that successive sends take.
func (p *platform) fanOut(nodes, arity int) float64 {
	m := p.model()
	m.Overhead = seconds(p.overhead)
	return microseconds(m.Stabilise(nodes, arity))
}

// microseconds are those of a span, to the nanosecond.
func microseconds(s risk.Seconds) float64 { return math.Round(float64(s)*1e9) / 1e3 }

func (p *platform) model() viewtime.Model {
	return viewtime.Model{Latency: seconds(p.halfRoundTrip()), Compute: seconds(p.compute)}
}

// point is a simulated stabilisation time, in µs.
type point struct {
	live          int
	stable        spread
	installed     float64 // mean
	agreed        int     // runs
	traffic       viewsim.Traffic
	sameMessages  bool // in all runs
	viewsEachOnce bool
}

// simulate has one node other than the root die, in a group of which so many are left. With
// torus, messages take the hops of the platform's topology.
func (e *experiment) simulate(p *platform, live, arity int, torus bool) (point, error) {
	s := viewsim.Settings{
		Nodes: live + 1, Arity: arity, Fault: viewsim.Fault{Kind: viewsim.Node},
		Latency: p.latency, Overhead: p.overhead, Compute: p.compute, Detection: 1e6,
	}
	step := fmt.Sprintf("%s, %d children, %d nodes", p.name, arity, live)
	if torus {
		step += ", by hops"
		places := p.torus(live)
		s.Hops = func(from, to proto.Proc) int { return places.Distance(int(from), int(to)) }
	}
	outcomes, err := e.campaign(step, s, e.Runs)
	if err != nil {
		return point{}, err
	}
	q := point{live: live, traffic: outcomes[0].Traffic, sameMessages: true, viewsEachOnce: true}
	var stable []float64
	for _, o := range outcomes {
		if !o.Agreed || o.Collided {
			continue
		}
		q.agreed++
		q.sameMessages = q.sameMessages && o.Traffic == q.traffic
		q.viewsEachOnce = q.viewsEachOnce && o.Views == 1
		stable = append(stable, float64(o.Stable)/1e3)
		q.installed += float64(o.Installed) / 1e3
	}
	if q.agreed < len(outcomes) {
		return point{}, fmt.Errorf("%s: only %d of %d runs agreed", step, q.agreed, len(outcomes))
	}
	q.installed /= float64(q.agreed)
	q.stable = spreadOf(stable)
	return q, nil
}
