package once

import (
	"errors"
	"fmt"
	"testing"

	"banyan/internal/testing/explore"
)

// TestExhaustive visits every state of small ranks.
func TestExhaustive(t *testing.T) {
	for _, s := range []setup{
		{degree: 1, groups: []int{1, 1}},
		{degree: 2, groups: []int{1, 1, 1}, deaths: 1},
		{degree: 2, groups: []int{2, 1}, deaths: 1},
		{degree: 3, groups: []int{1, 1}, deaths: 2},
		{degree: 2, groups: []int{1, 1}, deaths: 2, heals: 1},
		{degree: 2, groups: []int{1, 1, 1}, deaths: 3, heals: 2},
		{degree: 3, groups: []int{1, 1}, deaths: 2, heals: 1},
		{degree: 3, groups: []int{2, 1}, deaths: 2},
		{degree: 3, groups: []int{1, 1}, deaths: 1, heals: 1},
	} {
		name := fmt.Sprintf("%d replicas, %v, %d deaths, %d heals", s.degree, s.groups, s.deaths, s.heals)
		stats, err := explore.All[*world, event](newWorld(&s), 20_000_000)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		t.Logf("%s: %d states, %d ends", name, stats.States, stats.Ends)
	}
}

// TestRandom walks through larger ranks at random.
func TestRandom(t *testing.T) {
	seeds := uint64(500)
	if explore.Long() {
		seeds = 200_000
	}
	for _, s := range []setup{
		{degree: 3, groups: []int{2, 1, 2}, deaths: 2},
		{degree: 4, groups: []int{1, 2, 1}, deaths: 3},
		{degree: 3, groups: []int{1, 2, 1, 1}, deaths: 4, heals: 3},
		{degree: 4, groups: []int{1, 1, 1, 1}, deaths: 4, heals: 2},
	} {
		for seed := uint64(1); seed <= seeds; seed++ {
			if err := explore.Random[*world, event](newWorld(&s), seed, 2_000); err != nil {
				t.Fatalf("%d replicas: %v", s.degree, err)
			}
		}
	}
}

// TestCanaries has each known mistake caught.
func TestCanaries(t *testing.T) {
	two := setup{degree: 2, groups: []int{1, 1}, deaths: 1}
	three := setup{degree: 3, groups: []int{1, 1}, deaths: 2}
	heals := setup{degree: 3, groups: []int{1, 1}, deaths: 2, heals: 1}
	for _, c := range []struct {
		name  string
		setup setup
		bugs  bugs
	}{
		{"a write that returns before a sibling knows", two, bugs{returnsAtOnce: true}},
		{"a substitute that replays all", three, bugs{doesAllAgain: true}},
		{"a substitute that asks nobody", three, bugs{asksNobody: true}},
		{"a replica that hears the dead", three, bugs{hearsTheDead: true}},
		{"a substitute that tells nobody", three, bugs{tellsNobody: true}},
		{"a replacement that counts for nothing while it joins", heals, bugs{joinsUnheeded: true}},
		{"a donor that is in the middle of something", heals, bugs{donatesBusy: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := c.setup
			s.bugs = c.bugs
			stats, err := explore.All[*world, event](newWorld(&s), 2_000_000)
			if v := (*explore.Violation)(nil); !errors.As(err, &v) {
				t.Errorf("not caught in %d states: %v", stats.States, err)
			} else {
				t.Log(stats.States, v)
			}
		})
	}
}
