package summary

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/study/driver/logp"
	"banyan/internal/topology"
	"banyan/internal/trace"
)

// simulate runs a case and summarises its events.
func simulate(t *testing.T, c *logp.Case) (*Summary, logp.Outcome) {
	t.Helper()
	var b bytes.Buffer
	w := trace.NewWriter(&b, trace.Header{Procs: c.Procs})
	outcome, err := new(logp.Simulator).Run(c, w)
	if err = errors.Join(err, w.Flush()); err != nil {
		t.Fatal(err)
	}
	var s Summary
	processes := make([]process, c.Procs)
	for p := range processes {
		processes[p].coloured = proto.Never
	}
	if _, err := trace.Read(&b, func(e trace.Event) error { s.add(e, &processes[e.Proc]); return nil }); err != nil {
		t.Fatal(err)
	}
	for _, p := range processes {
		s.Process(p.coloured, p.by, p.reached, p.dead)
	}
	return &s, outcome
}

// process is what is known of a process.
type process struct {
	coloured      proto.Time
	by            trace.Purpose
	reached, dead bool
	last          trace.Purpose // of what it received last
}

// add counts an event. It is the reference for the numbers that the simulator gives a Listener.
func (s *Summary) add(e trace.Event, p *process) {
	switch e.Event {
	case trace.Send:
		s.Messages[trace.PurposeOf(e.Kind)]++
	case trace.Receive:
		p.last = trace.PurposeOf(e.Kind)
		p.reached = p.reached || p.last == trace.Dissemination
		s.Quiescence = max(s.Quiescence, e.Time)
	case trace.Drop:
		s.lost++
		s.Quiescence = max(s.Quiescence, e.Time)
	case trace.Coloured:
		if p.coloured != proto.Never {
			return
		}
		p.coloured, p.by = e.Time, p.last
		// The root has received nothing: its last is Dissemination, the zero.
		p.reached = p.reached || p.last == trace.Dissemination
	case trace.Dead:
		p.dead = true
	}
}

func compare(t *testing.T, c *logp.Case) {
	t.Helper()
	s, want := simulate(t, c)
	longest, _ := s.gapText()
	got := logp.Outcome{
		Messages: s.Total(), Unreached: s.Unreached(), Coloring: s.Coloring(), Quiescence: s.Quiescence, MaxGap: longest,
		Crashed: s.Dead - len(c.Failed),
	}
	if got != want {
		t.Errorf("%+v: %+v, the simulator says %+v", c, got, want)
	}
	told := new(Summary)
	simulator := logp.Simulator{Listener: told}
	if again, err := simulator.Run(c, nil); err != nil || again != want {
		t.Fatalf("%+v with a listener: %+v (%v), without %+v", c, again, err, want)
	}
	var events, listener strings.Builder
	if err := errors.Join(s.Write(&events), told.Write(&listener)); err != nil {
		t.Fatal(err)
	}
	if events.String() != listener.String() {
		t.Errorf("%+v: of events\n%s\nof a listener\n%s", c, &events, &listener)
	}
}

// TestAgainstOutcome compares every number with the simulator's own.
func TestAgainstOutcome(t *testing.T) {
	source := rand.NewPCG(1, 2)
	for _, correction := range []broadcast.Correction{broadcast.NoCorrection, broadcast.Checked, broadcast.Optimised} {
		for _, procs := range []int{1, 2, 17, 100, 700} {
			c := logp.Case{
				Procs: procs, Latency: 2, Overhead: 1, Tree: logp.Binomial, Numbering: topology.Interleaved,
				Correction: correction, Synchronised: correction == broadcast.Checked,
			}
			if correction == broadcast.Optimised {
				if procs == 1 {
					continue // has no distance
				}
				c.Distance = 1
			}
			if err := c.FailRandom(procs/8, source); err != nil {
				t.Fatal(err)
			}
			compare(t, &c)
			gossip := c
			gossip.Tree, gossip.Gossip = logp.Gossip, broadcast.Gossip{Rounds: 5}
			compare(t, &gossip)
			if procs <= 6 {
				continue
			}
			// The same with deaths during the broadcast.
			var err error
			if c.Crashes, err = logp.ParseCrashes("kill rank=1 at=send:2; kill rank=5 at=step:9; kill rank=6 at=step:4", procs); err != nil {
				t.Fatal(err)
			}
			compare(t, &c)
		}
	}
}

// TestGapsWrap checks a gap that goes over the end of the ring.
func TestGapsWrap(t *testing.T) {
	for reached, want := range map[string]map[int]int{
		"..xx.x..": {1: 1, 4: 1}, ".....": {5: 1}, "xxx": {}, "x..x": {2: 1}, "..x": {2: 1}, "x.": {1: 1}, "": {},
	} {
		var s Summary
		for _, c := range reached {
			s.Process(proto.Never, trace.Other, c == 'x', false)
		}
		if got := s.Gaps(); !maps.Equal(got, want) {
			t.Errorf("%q: gaps %v, want %v", reached, got, want)
		}
	}
}

// TestTimes compares the counts with a sorted list, also of times that are far apart.
func TestTimes(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, most := range []int64{1, 100, 2 * farAway, 1 << 40} {
		var counted times
		var list []proto.Time
		for range 1000 {
			at := proto.Time(random.Int64N(most))
			counted.add(at)
			list = append(list, at)
		}
		slices.Sort(list)
		var all []proto.Time
		for at, n := range counted.all() {
			all = append(all, slices.Repeat([]proto.Time{at}, n)...)
		}
		if !slices.Equal(all, list) || counted.last != list[999] || counted.total != 1000 {
			t.Errorf("up to %d: %v, want %v", most, all, list)
		}
		for part, i := range map[float64]int{0.5: 499, 0.9: 899, 0.99: 989, 1: 999, 0.0001: 0} {
			if got := counted.quantile(part); got != list[i] {
				t.Errorf("up to %d: %g at %d, want %d", most, part, got, list[i])
			}
		}
	}
	if got := new(times).quantile(0.5); got != 0 {
		t.Errorf("of nothing, half at %d", got)
	}
}
