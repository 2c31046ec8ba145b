// Package lease is how a launcher knows that the processes of an agent which it can't reach are
// dead (DESIGN, decision 2). An agent may let its processes live only while it holds a lease. It
// asks for one again and again, and the launcher grants it. An agent without a lease kills its
// processes. The launcher holds them for dead when every lease that it granted is certainly over.
//
// [Holder] is the agent's machine, and [Granter] the launcher's. Both are pure, and each is told
// the time by its own clock, CLOCK_BOOTTIME, which goes on while a host sleeps. The clocks needn't
// agree. Only their rates must nearly.
//
// # Why it is safe
//
// A lease runs from when it was asked for, by the holder's clock. The granter counts it from when
// it granted it, which is later. So the holder's ends first, whatever the network does to requests
// and grants, and however long either side was paused in between. [Margin] covers clocks whose
// rates differ, and the time that killing takes.
//
// # Invariants
//
//   - Once Over has said yes, Held says no, if the clocks' rates differ by less than a
//     hundredth, and it never says yes again.
//   - Over stays so: nothing is granted afterwards.
//
// # Limits
//
// A holder that is stopped can't kill at its lease's end. Its kernel has to (package deadline).
package lease

import "banyan/internal/proto"

// Margin is what the granter adds to a lease of this length.
func Margin(length proto.Time) proto.Time { return length / 5 }

// Renewal is how often the holder asks for a lease of this length.
func Renewal(length proto.Time) proto.Time { return length / 10 }

// Request asks for a lease. Its times are the holder's.
type Request struct {
	At  proto.Time // of the question
	Has proto.Time // the At of the latest request whose grant has come
}

// Grant answers the request that was made At with a lease of this Length.
type Grant struct{ At, Length proto.Time }

// Holder is the machine of the side that may act only with a lease.
type Holder struct {
	latest, until proto.Time // when the latest request that was granted was made; when it ends
	over          bool
}

// NewHolder makes a Holder that was granted its first lease.
func NewHolder(g Grant) *Holder { return &Holder{latest: g.At, until: g.At + g.Length} }

// Ask makes a request.
func (h *Holder) Ask(now proto.Time) Request { return Request{At: now, Has: h.latest} }

// Granted takes a grant. A later request's counts, even if it is shorter. A lease that is over
// stays so.
func (h *Holder) Granted(now proto.Time, g Grant) {
	switch {
	case !h.Held(now) || g.At < h.latest || g.At > now:
	case g.At == h.latest:
		h.until = max(h.until, g.At+g.Length)
	default:
		h.latest, h.until = g.At, g.At+g.Length
	}
}

// Held says whether the lease isn't over.
func (h *Holder) Held(now proto.Time) bool {
	h.over = h.over || now >= h.until
	return !h.over
}

// Until is when the lease ends.
func (h *Holder) Until() proto.Time { return h.until }

// Granter is the machine of the side that grants leases.
type Granter struct {
	length  proto.Time
	last    Request
	granted []granted // that the holder may have or get
	over    bool
}

// granted is a grant, and when its lease is certainly over.
type granted struct {
	at, end proto.Time // by the holder's clock; by ours
}

// NewGranter makes a Granter, which grants the first lease now.
func NewGranter(now, length proto.Time) *Granter {
	return &Granter{length: length, granted: []granted{{0, now + length + Margin(length)}}}
}

// Asked takes a request. It returns false if it grants nothing, because the holder is held for
// dead.
func (g *Granter) Asked(now proto.Time, r Request) (Grant, bool) {
	if g.Over(now) {
		return Grant{}, false
	}
	if r.At > g.last.At {
		g.last = r
	}
	return g.grant(now, g.length), true
}

func (g *Granter) grant(now, length proto.Time) Grant {
	left := g.granted[:0]
	for _, old := range g.granted {
		// What the holder has got since counts in place of what it was granted before.
		if old.at >= g.last.Has && old.end > now {
			left = append(left, old)
		}
	}
	g.granted = append(left, granted{g.last.At, now + length + Margin(length)})
	return Grant{g.last.At, length}
}

// Over says whether all leases that were granted are certainly over.
func (g *Granter) Over(now proto.Time) bool {
	g.over = g.over || now >= g.End()
	return g.over
}

// End is when Over will be so, if nothing more is granted.
func (g *Granter) End() proto.Time {
	end := proto.Time(0)
	for _, one := range g.granted {
		end = max(end, one.end)
	}
	return end
}
