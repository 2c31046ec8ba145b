package process

import (
	"errors"
	"fmt"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/proto/membership"
	"banyan/internal/runtime/wire"
)

// healingNode is one incarnation of a process.
type healingNode struct {
	w           *healingJob
	self        proto.Proc
	incarnation proto.Incarnation
	p           *Process
	program     healed
	admitted    []proto.Incarnation // by process: the one whose frames come and go
	fenced      []bool
	dead        bool
	gone        bool // left in order
	healable    bool
	committed   bool
	failed      error
	donor       *healingNode // of a replacement
	owed        []borrowed
	wrong       bool // its program ended with a wrong value
}

// start starts an incarnation; the first one of a process if no incarnations of the others are
// given.
func (n *healingNode) start(incarnations []proto.Incarnation, gone []bool) {
	w, q := n.w, n.self
	var corrupted func(Corruption)
	if w.corrupted != nil {
		corrupted = func(c Corruption) { w.corrupted(n, c) }
	}
	n.p = New(Config{
		Self: q, Layout: w.layout, Mirror: w.mirror, Corrupted: corrupted, Period: 100e6, Timeout: 1e9, Witness: true,
		Heal: true, Leader: w.leader, Auto: w.auto, Replacement: incarnations != nil, Incarnations: incarnations, Gone: gone, askAfter: w.askAfter, skewLimit: 6000, // one of 5000 bytes, not two
	}, w.now, n, n)
	members := []proto.Rank{}
	for r := range proto.Rank(w.layout.Ranks()) {
		members = append(members, r)
	}
	for _, context := range []uint64{2, 4} {
		if err := n.p.OpenContext(context, members, false); err != nil {
			w.t.Fatal(err)
		}
	}
	n.program = w.make(w.layout.Rank(q))
	n.p.sends.retainLimit = w.limit
}

func (n *healingNode) Send(to proto.Proc, h *wire.Header, payload []byte, token uint64) {
	if n.dead {
		return
	}
	if n.fenced[to] {
		if token != 0 {
			n.owed = append(n.owed, borrowed{to, token})
		}
		return
	}
	hh := *h
	hh.Length = uint32(len(payload))
	n.w.sent.add(&hh, payload)
	n.w.link(n, n.w.incarnationOf(to, n.admitted[to])).push(packet{header: hh, payload: slices.Clone(payload), token: token})
}
func (n *healingNode) Queued(proto.Proc) int { return 0 }
func (n *healingNode) Fence(q proto.Proc)    { n.fenced[q] = true }
func (n *healingNode) Admit(q proto.Proc, incarnation proto.Incarnation) {
	n.admitted[q], n.fenced[q] = incarnation, false
}

func (n *healingNode) Died(r detector.Report) {
	if incarnation := n.w.incarnationOf(r.Proc, r.Incarnation); r.Cause != detector.CauseTold && !incarnation.dead && !incarnation.gone {
		if incarnation.committed { // it may be the last replica of its rank that has come so far
			n.w.t.Errorf("%v ends %v, which is a replica", n, incarnation)
		}
		n.w.crash(incarnation) // the launcher makes it true
	}
}
func (n *healingNode) Viewed(*membership.View, bool)   {}
func (n *healingNode) Apart(proto.Proc)                { n.w.t.Errorf("%v is apart from another process", n) }
func (n *healingNode) Minority([]membership.Departure) { n.w.t.Errorf("%v is in a minority", n) }
func (n *healingNode) Revoked(uint64)                  {}
func (n *healingNode) RankLost(r proto.Rank)           { n.w.t.Errorf("%v holds %v for lost", n, r) }
func (n *healingNode) Fenced(by proto.Proc) {
	if !n.dead {
		n.w.t.Errorf("%v was fenced by %v although it lives", n, by)
	}
}
func (n *healingNode) Aborted(proto.Proc, int) {}
func (n *healingNode) HealFailed(err error) {
	if n.failed == nil && errors.Is(err, ErrUnwanted) {
		n.w.givenUp++
	}
	n.failed = err
}
func (n *healingNode) SafepointWanted(bool) {}
func (n *healingNode) Heals(step HealStep) {
	switch step {
	case StepHealable:
		n.healable = true
	case StepMark:
		q, incarnation := n.p.Replacement()
		n.p.Marked(q, incarnation-1, 0) // word of an earlier donation
		if !n.p.Donating() {
			n.w.t.Errorf("%v goes on before it is marked", n)
		}
		n.w.say(n, func() { n.p.Marked(q, incarnation, 0) })
	case StepCommitted:
		n.committed = true
	case StepHealed:
		n.w.settle(n)
		n.w.healed++
	}
}

func (n *healingNode) String() string { return fmt.Sprintf("%v.%d", n.self, n.incarnation) }
