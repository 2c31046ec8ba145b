package replica

import (
	"errors"
	"fmt"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/testing/explore"
)

// A process whose program is through, and which Keeps nothing for another process, may tell that
// one: all that its rank ever sends there is there, or on the way from this very process.

// keptIgnored says so although messages are kept for the other.
const keptIgnored bug = "through in spite of what is kept"

// throughs checks what all processes may tell p, and p the others.
func (w *world) throughs(p proto.Proc) error {
	if !w.through {
		return nil
	}
	for q := range w.nodes {
		if err := errors.Join(w.throughFor(p, proto.Proc(q)), w.throughFor(proto.Proc(q), p)); err != nil {
			return err
		}
	}
	return nil
}

// throughFor checks what s may tell d.
func (w *world) throughFor(s, d proto.Proc) error {
	from, to := w.nodes[s], w.nodes[d]
	src, dst := w.layout.Rank(s), w.layout.Rank(d)
	switch {
	case src == dst || from.status != running || to.status != running || from.paused || from.throttled:
		return nil
	case from.pc < len(w.program[src]) || !from.m.Alive(d) || from.m.incarnation(d) != to.incarnation:
		return nil
	case to.told[s] > from.incarnation || to.m.incarnation(s) > from.incarnation:
		return nil // what s says isn't heard any more
	case from.m.Keeps(d) && w.bug != keptIgnored:
		return nil
	}
	for context := range uint64(w.contexts) {
		sent := 0
		for w.program.expected(src, dst, context, sent) >= 0 {
			sent++
		}
		there := uint64(0)
		if c := to.m.arrival.channels.Find(context, src); c != nil {
			there = c.arrived
		}
		if q := *w.channel(s, d); q != nil {
			for _, f := range q.frames {
				if (f.kind == frameEager || f.kind == frameOffer) && f.context == context && f.incarnation == from.incarnation && f.seq == there+1 {
					there++
				}
			}
		}
		if there < uint64(sent) {
			return fmt.Errorf("%v is through, and says so to %v, to which %d of %d messages have come or are on the way", s, d, there, sent)
		}
	}
	return nil
}

// throughScenarios are the jobs in which it is checked.
func throughScenarios() []scenario {
	first := options{through: true, dead: 0b100, heals: 1, donors: anyone, crashes: 1, victims: anyone}
	prompt := first
	prompt.prompt = true
	return []scenario{
		{two, "s s / r r", options{through: true, crashes: 2, victims: anyone}, false},
		{two, "s s r / r r s", options{through: true, crashes: 2, victims: anyone}, false},
		{two, "s0 s1 / r1 r0", options{through: true, crashes: 1, victims: anyone}, false},
		{two, "o s / r r", options{through: true, crashes: 1, victims: anyone}, false},
		{two, "s / r", options{through: true, crashes: 2, victims: anyone, suspect: true}, false},
		{three, "s / r", options{through: true, crashes: 2, victims: chain, prompt: true}, false},
		{layout.Partial([]int{3, 1}), "s r / r s", options{through: true, crashes: 2, victims: anyone}, false},
		{two, "s r / s r", options{through: true, mirror: true, crashes: 2, victims: anyone}, false},
		{two, "s / r", first, false},
		{two, "r / s", prompt, false},
		{two, "o / r", prompt, true},
	}
}

func TestThrough(t *testing.T) {
	for _, c := range throughScenarios() {
		if c.long && !explore.Long() {
			continue
		}
		states, err := exploreAll(c.world(t), all, nil)
		if err != nil && !errors.Is(err, explore.ErrLimit) {
			t.Errorf("%s: %v", c.program, err)
		}
		t.Logf("%s: %d states, %v", c.program, states, err)
	}
}

// The explorer finds the mistake: a substitute that is through still keeps what it has to send
// for the dead.
func TestThroughCanary(t *testing.T) {
	c := scenario{two, "s / r", options{through: true, bug: keptIgnored}, false}
	states, err := exploreAll(c.world(t), all, nil)
	if err == nil {
		t.Fatalf("not caught in %d states", states)
	}
	t.Logf("%d states: %v", states, err)
}
