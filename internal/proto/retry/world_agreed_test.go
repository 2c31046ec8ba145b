package retry

import (
	"fmt"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/testing/explore"
	"banyan/internal/varint"
)

// The second half of a world: agreements, what is checked, and how a state is described.

// ends ends a try at a member, and enters the agreement on it.
func (w *world) ends(i int, r Result) {
	a := &w.actors[i]
	a.trying = false
	if r == Lost && !a.revoked && w.bug != silent {
		w.revoke(i)
	}
	if w.bug == selfish && r == Done {
		w.over(i, Verdict{Unacknowledged: proto.AnyRank, Missing: without(a.members, a.present)})
		return
	}
	a.waiting = true
	a.entered++
	if len(w.agreements) < a.entered {
		w.agreements = append(slices.Clone(w.agreements), agreed{})
	}
	g := &w.agreements[a.entered-1]
	g.flags, g.known, g.acked = slices.Clone(g.flags), slices.Clone(g.known), slices.Clone(g.acked)
	for len(g.flags) < w.members {
		g.flags, g.known, g.acked = append(g.flags, 0), append(g.known, 0), append(g.acked, 0)
	}
	g.entered |= 1 << i
	g.flags[i], g.known[i], g.acked[i] = r.Flags(), a.known, a.acked
}

func (w *world) decide(g *agreed, missing uint16) {
	v := value{flags: ^uint32(0), failed: missing, acked: ^uint16(0)}
	for _, r := range list(g.entered &^ missing) {
		v.flags &= g.flags[r]
		v.failed |= g.known[r]
		v.acked &= g.acked[r]
	}
	g.decided, g.value = true, v
}

func (w *world) returns(i int) error {
	a := &w.actors[i]
	number := a.entered
	g := &w.agreements[number-1]
	g.returned |= 1 << i
	a.waiting = false
	failed := g.value.failed
	if w.bug == opinion {
		failed = a.known
	}
	a.got = append(slices.Clone(a.got), g.value)
	since := a.Since()
	v := a.Agreed(&Outcome{Number: uint64(number), Flags: g.value.flags, Failed: list(failed), Acknowledged: list(g.value.acked)})
	if a.Since() != since {
		a.revoked, a.run, a.context = false, 0, a.Since()<<16|uint64(failed)
		switch w.bug {
		case oneContext:
			a.context, a.run = 0, a.round
		case byNumber:
			a.context = a.Since() << 16
		}
	}
	if v.Broken {
		return fmt.Errorf("%w: %d is told of a failure without a death", errInvalid, i)
	}
	if v.Again {
		return w.begin(i)
	}
	return w.over(i, v)
}

// over ends a collective at a member, and checks it.
func (w *world) over(i int, v Verdict) error {
	a := &w.actors[i]
	e := ending{a.sum, mask(v.Missing), v.Unacknowledged}
	a.story = append(slices.Clone(a.story), e)
	a.round++
	if w.bug == oneContext {
		a.run = a.round
	}
	for q := range w.actors {
		count := uint16(1)
		if e.missing>>q&1 != 0 {
			count = 0
		}
		if got := e.sum >> (4 * q) & 15; got != count || count == 0 && w.live(q) {
			return fmt.Errorf("%w: at %d %d counts %d times, missing are %b", errInvalid, i, q, got, e.missing)
		}
		b := &w.actors[q]
		if w.live(q) && b.round >= a.round && b.story[a.round-1] != e {
			return fmt.Errorf("%w: %d has %+v, %d %+v", errDiffers, i, e, q, b.story[a.round-1])
		}
	}
	if open := e.missing &^ a.acked; open != 0 && e.open == proto.AnyRank {
		return fmt.Errorf("%w: %d hasn't acknowledged %b, and gets no error", errInvalid, i, open)
	}
	return nil
}

func (w *world) End() error {
	for i := range w.actors {
		if w.live(i) && w.actors[i].round < w.rounds {
			return fmt.Errorf("%w: %d", errStuck, i)
		}
	}
	return nil
}

// Check sees that nobody waits for ever where nothing but a death may still happen.
func (w *world) Check() error {
	for _, e := range w.Events(nil) {
		if e.kind != die {
			return nil
		}
	}
	return w.End()
}

func (w *world) Clone() *world {
	c := *w
	c.actors, c.channels, c.agreements = slices.Clone(w.actors), slices.Clone(w.channels), slices.Clone(w.agreements)
	for i := range c.actors {
		m := *c.actors[i].Machine
		c.actors[i].Machine = &m
	}
	return &c
}

func (w *world) AppendKey(b []byte) []byte {
	b = varint.Append(b, uint64(w.dead))
	for i := range w.actors {
		a := &w.actors[i]
		for _, e := range a.story {
			b = varint.Append(b, uint64(e.sum), uint64(e.missing), uint64(e.open+1))
		}
		b = varint.Append(b, uint64(len(a.got)))
		for _, v := range a.got {
			b = varint.Append(b, uint64(v.flags), uint64(v.failed), uint64(v.acked))
		}
		if !w.live(i) {
			continue
		}
		b = varint.Append(b, uint64(a.known), uint64(a.acked), uint64(a.round), uint64(a.tries), uint64(a.entered), uint64(a.run),
			uint64(a.sum), uint64(a.here), uint64(mask(a.Present())), a.Since(), a.context, bit(a.trying), bit(a.waiting), bit(a.revoked))
	}
	for _, c := range w.channels {
		b = varint.Append(b, uint64(len(c)))
		for _, m := range c {
			b = varint.Append(b, uint64(m.kind), m.context, uint64(m.run), uint64(m.sum))
		}
	}
	for k := range w.agreements {
		g := &w.agreements[k]
		b = varint.Append(b, uint64(g.entered), uint64(g.returned), bit(g.decided), uint64(g.value.flags), uint64(g.value.failed), uint64(g.value.acked))
		for i := range g.flags {
			b = varint.Append(b, uint64(g.flags[i]), uint64(g.known[i]), uint64(g.acked[i]))
		}
	}
	return b
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

var (
	_ explore.World[*world, event] = (*world)(nil)
	_ explore.Checker              = (*world)(nil)
)
