package broadcast

import (
	"errors"
	"testing"

	"banyan/internal/proto"
)

// Known bugs, re-created on top of the machine: exploration must find each.

// stopsAtOnce stops at the first correction, on both sides.
type stopsAtOnce struct{ *Config }

func (b stopsAtOnce) Receive(s *State, from int, kind Kind) bool {
	first := b.Config.Receive(s, from, kind)
	if kind == KindLeft || kind == KindRight {
		s.heardLeft, s.heardRight = 1, 1
	}
	return first
}

// uncapped goes on after P corrections.
type uncapped struct{ *Config }

func (b uncapped) SendReady(s *State, now proto.Time) (int, Kind, bool) {
	sent := s.sentLeft + s.sentRight
	if int(sent) < b.Tree.Procs() {
		return b.Config.SendReady(s, now)
	}
	if s.heardLeft == 0 || s.sentLeft < s.heardLeft {
		s.sentLeft++
		if to := (int(s.self) + len(kinds)*b.Tree.Procs() - int(s.sentLeft)) % b.Tree.Procs(); to != int(s.self) {
			return to, KindLeft, true
		}
	}
	return 0, 0, false
}

// greedy treats a neighbour that corrects as nearer than it is, and so leaves too many
// processes to it.
type greedy struct{ *Config }

func (b greedy) Receive(s *State, from int, kind Kind) bool {
	first := b.Config.Receive(s, from, kind)
	s.heardLeft, s.heardRight = min(s.heardLeft, 1), min(s.heardRight, 1)
	return first
}

// trusting relies on every sender, whatever its place in the order is.
type trusting struct{ *Config }

func (b trusting) Receive(s *State, from int, kind Kind) bool {
	generation := s.generation
	s.generation = lastGeneration
	first := b.Config.Receive(s, from, kind.Base())
	s.generation = generation
	return first
}

// silent doesn't send to its children when a correction reaches it first.
type silent struct{ *Config }

func (b silent) Receive(s *State, from int, kind Kind) bool {
	first := b.Config.Receive(s, from, kind)
	if first && kind != KindTree {
		s.flags &^= flagParticipant
	}
	return first
}

// doubtful takes every tree message for the first.
type doubtful struct{ *Config }

func (b doubtful) Receive(s *State, from int, kind Kind) bool {
	b.Config.Receive(s, from, kind)
	return true
}

// hasty acknowledges before its children have acknowledged.
type hasty struct{ *Config }

func (b hasty) SendReady(s *State, now proto.Time) (int, Kind, bool) {
	count := s.count
	s.count = 0
	to, kind, ok := b.Config.SendReady(s, now)
	s.count += count
	return to, kind, ok
}

// short leaves out the farthest neighbour on the right.
type short struct{ *Config }

func (b short) SendReady(s *State, now proto.Time) (int, Kind, bool) {
	to, kind, ok := b.Config.SendReady(s, now)
	if _, right := b.reach(); ok && kind == KindRight && s.sentRight == right {
		return b.Config.SendReady(s, now)
	}
	return to, kind, ok
}

// content accepts what comes from the left in place of what it expects from the right.
type content struct{ *Config }

func (b content) Receive(s *State, from int, kind Kind) bool {
	first := b.Config.Receive(s, from, kind)
	if kind == KindRight {
		s.heardRight = 1
	}
	return first
}

// endless forgets how many rounds it has gossiped.
type endless struct{ *Config }

func (b endless) SendReady(s *State, now proto.Time) (int, Kind, bool) {
	s.count = 0
	return b.Config.SendReady(s, now)
}

func TestCanaries(t *testing.T) {
	checked, skipAhead := variant{correction: Checked}, variant{correction: SkipAhead, distance: 2}
	for name, canary := range map[string]struct {
		variant
		bug  func(*Config) machine
		want error
	}{
		"stops at once": {checked, func(c *Config) machine { return stopsAtOnce{c} }, errUnreached},
		"uncapped":      {checked, func(c *Config) machine { return uncapped{c} }, errCorrections},
		"doubtful":      {checked, func(c *Config) machine { return doubtful{c} }, errColour},
		"greedy":        {skipAhead, func(c *Config) machine { return greedy{c} }, errUnreached},
		"trusting":      {variant{correction: Ordered, distance: 2}, func(c *Config) machine { return trusting{c} }, errUnreached},
		"silent":        {skipAhead, func(c *Config) machine { return silent{c} }, errUnreached},
		"short":         {variant{correction: Opportunistic, distance: 2}, func(c *Config) machine { return short{c} }, errUnreached},
		"one-sided":     {variant{correction: Opportunistic, distance: 2, unequal: true}, func(c *Config) machine { return short{c} }, errUnreached},
		"content":       {variant{correction: Delayed, delay: 1}, func(c *Config) machine { return content{c} }, errUnreached},
		"endless":       {variant{gossip: Gossip{Rounds: 3}}, func(c *Config) machine { return endless{c} }, errGossip},
		"hasty":         {variant{correction: Acknowledged}, func(c *Config) machine { return hasty{c} }, errDone},
	} {
		t.Run(name, func(t *testing.T) {
			err := findBug(canary.variant, canary.bug)
			if !errors.Is(err, canary.want) {
				t.Fatalf("found %v, want %v", err, canary.want)
			}
			t.Log(err)
		})
	}
}

// findBug explores as TestEverything does, then runs the schedules of TestRandomSchedules, up
// to the first violation.
func findBug(v variant, bug func(*Config) machine) error {
	for procs := max(1, v.distance+1); procs <= 4; procs++ {
		for _, tree := range smallTrees(procs) {
			c, how := v.config(tree), v.mode()
			for dead := range deadSets(procs) {
				if _, err := exploreAll(c, bug(c), dead, how); err != nil {
					return err
				}
			}
		}
	}
	for seed := uint64(1); seed <= 2000; seed++ {
		if err := randomSchedule(seed, 5+int(seed%20), v, 0.125, bug); err != nil {
			return err
		}
	}
	return nil
}
