package replica

import (
	"math"

	"banyan/internal/proto"
)

// bug names a mistake that an implementation could make. The explorers must find each
// (canary_test.go). The hooks of a bug stand between the world and a machine.
type bug string

const (
	noBug bug = ""
	// Duplicates go up to the program.
	duplicatesAccepted bug = "duplicates accepted"
	// Acknowledgements run one message ahead of what has arrived.
	acknowledgedAhead bug = "acknowledged ahead of arrival"
	// An eager message isn't retained for the siblings' receivers.
	nothingRetained bug = "nothing retained"
	// A substitute resends only above the cumulative acknowledgement, which may lie above an
	// incomplete rendezvous.
	offersCountAsComplete bug = "offers count as complete"
	// A substitute resends above the highest acknowledgement of any replica.
	highestAck bug = "resend above the highest acknowledgement of all"
	// The messages that a dead substitute covered aren't taken over.
	inheritanceForgotten bug = "inheritance forgotten"
	// Early acknowledgements are dropped.
	earlyAcksForgotten bug = "early acknowledgements forgotten"
	// A rendezvous isn't pulled from the substitute that offered it, once its sender is dead.
	noRedirect bug = "no redirect"
	// A rendezvous isn't pulled from a process that offers it after that either.
	noReoffer bug = "no reoffer"
	// A rendezvous isn't acknowledged when it is complete.
	noSingles bug = "no single acknowledgements"
)

// sent is called after a Send.
func (b bug) sent(n *node, out *Actions) {
	if b == nothingRetained {
		for _, c := range n.m.sending.channels.All() {
			for i := range c.retained.size {
				if e := c.retained.at(i); e.open && !e.value.Rendezvous {
					n.m.settle(e, ^replicas(0), out)
				}
			}
			c.retained.trim()
		}
	}
	if b == neverThrottled {
		n.m.skew.horizon = math.MaxUint64
	}
	if b == joiningForgotten {
		for _, c := range n.m.sending.channels.All() {
			for i := range c.retained.size {
				if e := c.retained.at(i); e.open {
					n.m.settle(e, n.m.peers[c.dst].joining, out)
				}
			}
			c.retained.trim()
		}
	}
}

// flushed is called after a FlushAcks.
func (b bug) flushed(n *node, out Actions) {
	for i := range out {
		if b == acknowledgedAhead && !out[i].Single {
			out[i].Seq++
		}
		if b == noSingles && out[i].Single {
			out[i].Kind = 0
		}
	}
}

// judge replaces Arrive. In one context of two it is Next, where that takes the message.
func (b bug) judge(n *node, from proto.Proc, f frame) Verdict {
	if f.context == 0 && f.kind == frameEager && n.m.Next(from, n.m.Rank(from), f.context, f.seq) {
		return Accept
	}
	verdict := n.m.Arrive(from, f.context, f.seq, f.kind == frameOffer)
	switch {
	case b == duplicatesAccepted && verdict == Duplicate && f.kind == frameEager:
		return Accept
	case b == noReoffer && verdict == Reoffer:
		return Duplicate
	}
	return verdict
}

// acked replaces Acked.
func (b bug) acked(n *node, from proto.Proc, f frame, out *Actions) {
	n.m.Acked(from, f.context, f.seq, f.single, out)
	if b == earlyAcksForgotten {
		c := n.m.outgoing(f.context, n.m.layout.Rank(from))
		c.early = nil
		for i := range c.acked {
			c.acked[i] = min(c.acked[i], c.sent)
		}
	}
}

// dead replaces Dead.
func (b bug) dead(n *node, p proto.Proc, incarnation proto.Incarnation, out *Actions) {
	m := n.m
	if m.layout.Rank(p) == m.rank {
		for _, c := range m.sending.channels.All() {
			highest := uint64(0)
			for _, acked := range c.acked {
				highest = max(highest, acked)
			}
			for i := range c.retained.size {
				e := c.retained.at(i)
				switch {
				case !e.open:
				case b == offersCountAsComplete && e.value.Rendezvous:
					for replica, acked := range c.acked {
						if e.open && acked >= e.seq {
							m.settle(e, only(replica), out)
						}
					}
				case b == highestAck && highest >= e.seq && !e.value.Rendezvous:
					m.settle(e, ^replicas(0), out)
				}
			}
			c.retained.trim()
		}
	}
	if phase := m.healing.phase; b == donorSubstitutes && phase == preparing && p != m.healing.replacement {
		m.healing.phase = noPhase
		defer func() { m.healing.phase = phase; m.handOver(out) }()
	}
	horizon := m.skew.horizon
	m.Dead(p, incarnation, out)
	if b == deadAwaited {
		m.skew.horizon = horizon
	}
	for i := range *out {
		if b == noRedirect && (*out)[i].Kind == Redirect {
			(*out)[i].Kind = 0
		}
	}
	if b == inheritanceForgotten {
		for i, a := range *out {
			if a.Kind == Transmit && m.layout.Replica(a.To) != m.layout.Replica(p) {
				(*out)[i].Kind = 0
			}
		}
	}
}
