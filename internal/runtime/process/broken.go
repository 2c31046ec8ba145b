package process

import (
	"slices"

	"banyan/internal/proto"
)

// brokenConnection is one that broke without proof of a death. The peer's death may be about to
// be proved. If it isn't within δ the peer is taken for dead: what was in the connection is
// lost, so another connection couldn't replace it.
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
