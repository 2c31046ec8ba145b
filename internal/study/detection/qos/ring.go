package qos

import (
	"math/rand/v2"

	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/study/driver/oneport"
	"banyan/internal/study/parallel"
	"banyan/internal/topology"
)

// ringMessage is an action of the ring's detector that sends.
type ringMessage struct {
	kind        detector.ActionKind
	ask         bool
	incarnation proto.Incarnation
	beat        detector.Beat
	probe       detector.Probe
	bulletin    detector.Bulletin
}

// Kind is called by the network.
func (m ringMessage) Kind() uint8 { return uint8(m.kind) }

// ring is the ring's machines.
type ring struct {
	*world[ringMessage]
	view            *detector.View
	period, timeout proto.Time
	opinions        uint8
	machines        []detector.Machine
	// startAt is when each process starts, at random within a period, so that heartbeats aren't
	// in step; Never once it has.
	startAt []proto.Time
	actions detector.Actions
}

// newRing prepares a run of the ring with a time-out δ. Each time so many other nodes are asked
// for a second opinion.
func newRing(scene *Scenario, system System, timeout proto.Time, opinions int, seed uint64) (run, error) {
	r := &ring{
		world:    newWorld[ringMessage](scene, system, seed),
		view:     &detector.View{Ring: topology.IdentityRing(scene.Nodes)},
		period:   scene.Period,
		timeout:  timeout,
		opinions: uint8(opinions),
		machines: make([]detector.Machine, scene.Nodes),
		startAt:  make([]proto.Time, scene.Nodes),
	}
	r.group = r
	rng := rand.New(rand.NewPCG(parallel.Seed(seed, 1), 0))
	for p := range r.startAt {
		r.startAt[p] = proto.Time(rng.Int64N(int64(scene.Period)))
	}
	var err error
	r.Network, err = oneport.New[ringMessage](scene.config(system, seed), r.world)
	return r, err
}

func (r *ring) deadline(node int32) proto.Time {
	if at := r.startAt[node]; at != proto.Never {
		return at
	}
	return r.machines[node].Deadline()
}

func (r *ring) tick(now proto.Time, node int32, out *[]oneport.Send[ringMessage]) {
	r.actions = r.actions[:0]
	if r.startAt[node] != proto.Never {
		r.startAt[node] = proto.Never
		r.machines[node].Start(detector.Config{
			Self: proto.Proc(node), View: r.view, Period: r.period, Timeout: r.timeout, Opinions: r.opinions,
		}, now, &r.actions)
	} else {
		r.machines[node].Tick(now, &r.actions)
	}
	r.carryOut(now, node, out)
}

func (r *ring) receive(now proto.Time, node, from int32, m *ringMessage, out *[]oneport.Send[ringMessage]) {
	if r.startAt[node] != proto.Never || !r.Alive(node) {
		return
	}
	r.actions = r.actions[:0]
	to, sender := &r.machines[node], proto.Proc(from)
	switch m.kind {
	case detector.SendHeartbeat:
		to.Heartbeat(now, sender, m.beat, &r.actions)
	case detector.SendObserve:
		to.Observe(now, sender, m.beat, &r.actions)
	case detector.SendNews:
		to.News(now, sender, m.bulletin, &r.actions)
	case detector.SendReconcile:
		to.Reconcile(now, sender, m.bulletin, m.ask, &r.actions)
	case detector.SendProbe:
		to.Probe(now, sender, m.beat, m.probe, &r.actions)
	case detector.SendEviction:
		to.Eviction(now, sender, m.incarnation, &r.actions)
	}
	r.carryOut(now, node, out)
}

// carryOut carries out a machine's actions. A fenced process does nothing more.
func (r *ring) carryOut(now proto.Time, node int32, out *[]oneport.Send[ringMessage]) {
	for i := range r.actions {
		switch a := &r.actions[i]; a.Kind {
		case detector.ReportDeath:
			r.past.Declare(now, node, int32(a.Report.Proc))
			r.declared()
		case detector.ReportFenced:
			if a.Report.Cause == detector.CauseSilence { // it goes for the sake of a bad link: a mistake, too
				r.past.Declare(now, int32(a.Report.By), node)
			}
			r.fence(now, node)
			return
		default:
			*out = append(*out, oneport.Send[ringMessage]{
				To:      int32(a.To),
				Message: ringMessage{a.Kind, a.Ask, a.Incarnation, a.Beat, a.Probe, a.Bulletin},
			})
		}
	}
}
