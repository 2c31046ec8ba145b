package summary

import (
	"bytes"
	"errors"
	"fmt"
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

// simulate runs a case and summarises it.
func simulate(t *testing.T, c *logp.Case) (*Summary, logp.Outcome) {
	t.Helper()
	s := New(c.Procs)
	var b bytes.Buffer
	w := trace.NewWriter(&b, trace.Header{Procs: c.Procs})
	outcome, err := new(logp.Simulator).Run(c, w)
	if err = errors.Join(err, w.Flush()); err != nil {
		t.Fatal(err)
	}
	if _, err := trace.Read(&b, func(e trace.Event) error { s.add(e); return nil }); err != nil {
		t.Fatal(err)
	}
	return s, outcome
}

// add counts an event. It is the reference for the numbers that the simulator gives a Listener.
func (s *Summary) add(e trace.Event) {
	p := &s.state[e.Proc]
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
		if s.at[e.Proc] != proto.Never {
			return
		}
		s.at[e.Proc] = e.Time
		s.Coloured[p.last]++
		// The root has received nothing: its last is Dissemination, the zero.
		p.reached = p.reached || p.last == trace.Dissemination
	case trace.Dead:
		if !p.dead {
			p.dead = true
			s.Dead++
		}
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
	told := New(c.Procs)
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
	s := New(8)
	for _, p := range []int{2, 3, 5} {
		s.state[p].reached = true
	}
	if got, want := fmt.Sprint(s.Gaps()), fmt.Sprint(map[int]int{1: 1, 4: 1}); got != want {
		t.Errorf("gaps %s, want %s", got, want)
	}
	if got := slices.Collect(maps.Keys(New(5).Gaps())); !slices.Equal(got, []int{5}) {
		t.Errorf("if nobody is reached, the gaps are %v", got)
	}
}
