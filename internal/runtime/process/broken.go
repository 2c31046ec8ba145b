package process

import (
	"slices"

	"banyan/internal/proto"
)

// brokenConnection is one that broke without proof of a death: a firewall or a reset may have
// broken it. The peer's death may be about to be proved, or its silence to be noticed. If not, the
// peer is taken for dead after δ or 2δ (see connectionLost): what was in the connection is lost, so
// another connection couldn't replace it. To the membership such a peer is silent, so at most one
// side of a cut goes on.
type brokenConnection struct {
	proc  proto.Proc
	until proto.Time
}

type brokenConnections []brokenConnection

// forget drops those of a peer.
func (b *brokenConnections) forget(q proto.Proc) {
	*b = slices.DeleteFunc(*b, func(c brokenConnection) bool { return c.proc == q })
}

// deadline is when the first of them is over.
func (b brokenConnections) deadline() proto.Time {
	d := proto.Never
	for _, c := range b {
		d = min(d, c.until)
	}
	return d
}

// expire drops those whose peer is gone, and those whose time is over. It calls suspect for the
// peers of the latter.
func (b *brokenConnections) expire(now proto.Time, present func(q proto.Proc) bool, suspect func(q proto.Proc)) {
	for i := 0; i < len(*b); {
		c := (*b)[i]
		here := present(c.proc)
		if here && now < c.until {
			i++
			continue
		}
		if here {
			suspect(c.proc)
		}
		last := len(*b) - 1
		(*b)[i] = (*b)[last]
		*b = (*b)[:last]
	}
}
