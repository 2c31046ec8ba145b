package replication

import (
	"math"

	"banyan/internal/fault"
	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/splitmix"
)

// pause is a wait for the next message of a rank whose replica, from which this process received,
// is dead.
type pause struct {
	src   proto.Rank // of the neighbourhood
	since proto.Time
}

// die ends the process. What it has handed to its port is sent. All that the death concerns hear
// of it.
func (n *node) die() {
	n.now = max(n.now, n.dies)
	n.tally.diedAt = n.dies
	n.tally.deaths++
	n.tally.retains(n)
	s := &n.job.settings
	about := body{kind: news, id: uint32(n.self), total: uint64(n.dies)}
	if n.heal != nil {
		about.receiver = uint32(n.heal.incarnation)
		n.port.Post(n.dies+s.Detection, n.job.launcher(), about)
		n.port.Post(n.dies+s.Healing.After, n.job.launcher(), body{kind: help, id: uint32(n.self), receiver: about.receiver + 1})
	}
	n.phase = dead
	for local := range proto.Proc(len(n.around.ranks) * s.Degree) {
		to := n.proc(local)
		if to == n.self {
			continue
		}
		at := n.dies + s.Detection
		if s.Spread > 0 {
			at += proto.Time(n.draw() * float64(s.Spread))
		}
		n.port.Post(at, to, about)
	}
}

// heard takes the news of a death.
func (n *node) heard(f *frame) {
	p := n.local(proto.Proc(f.Body.id))
	src := n.sourceOf(p)
	if n.heal != nil {
		n.heal.know(&f.Body)
	}
	if !n.job.settings.Mirror && src != n.around.localRank(n.rank) && n.machine.Source(src) == p {
		n.pauses = append(n.pauses, pause{src, proto.Time(f.Body.total)})
	}
	for i := range n.arrivals {
		if a := &n.arrivals[i]; a.offered && a.from == p {
			a.from = proto.NoProc
		}
	}
	n.dropOffersOf(p)
	n.machine.Dead(p, proto.Incarnation(f.Body.receiver), &n.out)
	n.carryOut()
	n.tally.retains(n)
	if n.machine.Lost(src) {
		n.job.lost(n.rankOf(src), proto.Time(f.Body.total))
		n.phase = dead
	}
}

// dropOffersOf forgets what a dead process has offered beside another one.
func (n *node) dropOffersOf(p proto.Proc) {
	kept := n.alternatives[:0]
	for _, o := range n.alternatives {
		if o.from != p {
			kept = append(kept, o)
		}
	}
	n.alternatives = kept
}

// resumed notes that the next message of a rank has come.
func (n *node) resumed(from proto.Proc, f *frame) {
	for i := 0; i < len(n.pauses); i++ {
		if n.pauses[i].src == n.sourceOf(from) {
			n.tally.pause = max(n.tally.pause, f.At-n.pauses[i].since)
			n.pauses = append(n.pauses[:i], n.pauses[i+1:]...)
			i--
		}
	}
}

// crashes are the kills of a job by process.
type crashes struct {
	at, sends, steps map[proto.Proc]int64
}

func newCrashes(l layout.Layout, events []fault.Event) *crashes {
	if len(events) == 0 {
		return nil
	}
	c := &crashes{map[proto.Proc]int64{}, map[proto.Proc]int64{}, map[proto.Proc]int64{}}
	for _, e := range events {
		into := map[fault.TriggerKind]map[proto.Proc]int64{fault.After: c.at, fault.AtSend: c.sends, fault.AtStep: c.steps}[e.At.Kind]
		p := l.Proc(proto.Rank(e.Rank), e.Replica)
		if was, ok := into[p]; !ok || e.At.N < was {
			into[p] = e.At.N
		}
	}
	return c
}

// mortal says whether a fault plan may kill this process. It kills no replacement.
func (n *node) mortal() bool {
	return n.job.crashes != nil && (n.heal == nil || n.heal.incarnation == 0)
}

func (c *crashes) strikesSend(p proto.Proc, send int64) bool {
	at, ok := c.sends[p]
	return ok && send == at
}

func (c *crashes) strikesStep(p proto.Proc, step int) bool {
	at, ok := c.steps[p]
	return ok && int64(step) == at
}

// seed makes a node's draws depend on the seed and its process only: replica 0 of a rank draws what
// the rank draws in a job without replicas.
func (n *node) seed() {
	n.random = splitmix.Finalise(n.job.settings.Seed + splitmix.Gamma*uint64(n.self+1))
}

// draw is uniform in [0, 1).
func (n *node) draw() float64 {
	n.random += splitmix.Gamma
	return float64(splitmix.Finalise(n.random)>>11) / (1 << 53)
}

// duration draws how long a share of a step's computation takes.
func (n *node) duration(share float64) proto.Time {
	s := &n.job.settings
	t := share * float64(s.Compute)
	if s.Jitter > 0 {
		t *= 1 - s.Jitter*math.Log(1-n.draw())
	}
	return proto.Time(math.Round(t))
}
