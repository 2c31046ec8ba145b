package founding

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"banyan/internal/testing/explore"
)

// outages are worlds in which a group, or what is to be one, loses its processes.
var outages = map[string]worldConfig{
	"first founding of two":             {n: 2, expect: 2, crashes: 1, forgets: 1, joins: 2},
	"first founding of three":           {n: 3, expect: 3, joins: 2},
	"both of two die":                   {n: 2, members: 2, crashes: 3, joins: 2},
	"two die while a third comes in":    {n: 3, members: 2, crashes: 3, joins: 1},
	"one of two, forgotten, then all":   {n: 2, members: 2, crashes: 3, forgets: 2, joins: 1},
	"three die":                         {n: 3, members: 3, crashes: 4, forgets: 1, joins: 2},
	"three die while a fourth comes in": {n: 4, members: 3, crashes: 5, forgets: 2, joins: 3},
	"first founding with restarts":      {n: 3, expect: 3, crashes: 3, forgets: 2, joins: 3},
	"without disks":                     {n: 3, expect: 3, crashes: 2, forgets: 2, joins: 3, diskless: true},
}

// The group is never founded while a member of it lives; and as long as all processes are there in
// the end, it is founded. Small worlds are explored whole, others at random.
func TestFoundedOnce(t *testing.T) {
	limit, runs := 4_000, uint64(100)
	if explore.Long() {
		limit, runs = 20_000_000, 200_000
	}
	for name, cfg := range outages {
		t.Run(name, func(t *testing.T) {
			stats, err := explore.All(newWorld(cfg), limit)
			if err != nil && !errors.Is(err, explore.ErrLimit) {
				t.Fatal(err)
			}
			t.Logf("%d states, %d ends; whole: %v", stats.States, stats.Ends, err == nil)
			for seed := range runs {
				if err := explore.Random(newWorld(cfg), seed+1, 2000); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// behind are worlds that begin when some have fallen behind.
var behind = map[string]worldConfig{
	// 0 and 1 were a group. 0 died, 1 let 2 in and died.
	"one remembers less": {n: 3, members: 2, setup: func(w *world) {
		later := view{token: 103, counts: [4]uint8{0, 1, 1}}
		w.nodes[1].disk.last, w.nodes[2].disk.last, w.nodes[2].candidate = later, later, nil
		for i := range 2 {
			w.nodes[i].up = false
		}
	}},
	// Without disks: 0 and 2 have died, come again, and find each other before they find 1.
	"one goes back to its group":     {n: 3, expect: 3, crashes: 1, joins: 1, diskless: true, setup: oneLeft},
	"one goes back and forth before": {n: 3, expect: 3, crashes: 1, forgets: 1, joins: 1, diskless: true, setup: oneLeft},
}

func oneLeft(w *world) {
	w.nodes[1].disk.last, w.nodes[1].candidate = view{token: 104, counts: [4]uint8{0, 1}}, nil
	w.founded = 1
}

func TestFoundedOnceFromBehind(t *testing.T) {
	limit := 30_000
	if explore.Long() {
		limit = 20_000_000
	}
	for name, cfg := range behind {
		stats, err := explore.All(newWorld(cfg), limit)
		if err != nil && !errors.Is(err, explore.ErrLimit) && !errors.Is(err, errNobody) {
			t.Errorf("%s: %v", name, err)
		}
		t.Logf("%s: %d states; whole: %v", name, stats.States, err == nil)
	}
}

// Without any one of the rules there are two groups: these events make them. With the rules, one
// of the events can't happen.
func TestRulesAreNeeded(t *testing.T) {
	for _, tc := range []struct {
		rule  rule
		world string
		path  string
	}{
		// 1 supports 0, which remembers less, though 2 lives in a view that only 1 knows.
		{anyMemory, "one remembers less", "start(0,0) start(1,0) tell(0,1) hear(0,1) tell(1,0) hear(1,0) found(0,0)"},
		// 2 supports 0, and joins 1 all the same. Then 1 dies, comes again, and supports 0.
		{unfaithful, "one goes back to its group", "tell(0,2) hear(0,2) tell(2,0) hear(2,0) meet(2,1) ask(2,1) accept(1,1) decide(1,0) " +
			"admit(2,0) crash(1,0) start(1,0) tell(0,1) hear(0,1) tell(1,0) hear(1,0) found(0,0)"},
		// 0 withdraws, because 2 has met 1, and stands again. What 2 has promised before is late.
		{anyRound, "one goes back and forth before", "tell(0,2) hear(0,2) meet(2,1) tell(2,0) hear(2,0) tell(0,2) unlive(2,0) tell(2,0) hear(2,0) " +
			"hear(0,2) meet(2,1) ask(2,1) accept(1,1) decide(1,0) admit(2,0) crash(1,0) start(1,0) tell(0,1) hear(0,1) tell(1,0) hear(1,0) found(0,0)"},
	} {
		for _, lenient := range []bool{true, false} {
			cfg := behind[tc.world]
			if lenient {
				cfg.lenient = tc.rule
			}
			w := newWorld(cfg)
			err, possible := error(nil), true
			for _, step := range strings.Fields(tc.path) {
				i := slices.IndexFunc(w.Events(nil), func(e event) bool { return e.String() == step })
				if possible = i >= 0; !possible || err != nil {
					if lenient {
						t.Errorf("without rule %d, after %v: %s can't happen", tc.rule, err, step)
					}
					break
				}
				err = w.Apply(w.Events(nil)[i])
			}
			if lenient != (err != nil) || lenient != possible {
				t.Errorf("rule %d, left out %v: %v; all events possible: %v", tc.rule, lenient, err, possible)
			}
		}
	}
}
