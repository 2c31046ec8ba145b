package passive

import (
	"flag"
	"fmt"
	"slices"
	"testing"

	"banyan/internal/testing/explore"
)

var walks = flag.Int("walks", 2000, "how many random walks TestRandom does")

// Replicas of a target answer and read the same, whatever dies, and nobody waits for ever: every
// state of small jobs. In a script the target's program asks itself (a), synchronises (s), writes
// (w) and shows the world what it reads (r).
func TestExhaustive(t *testing.T) {
	jobs := []struct {
		ranks, asks, deaths int
		script              string
	}{{2, 2, 1, "sar"}, {2, 2, 2, "srsr"}, {2, 1, 2, "wsasr"}}
	if explore.Long() {
		jobs = append(jobs, []struct {
			ranks, asks, deaths int
			script              string
		}{{2, 3, 2, "wsrasr"}, {3, 1, 1, "sasr"}}...)
	}
	for _, j := range jobs {
		stats, err := explore.All(newWorld(j.ranks, j.asks, j.deaths, j.script, none), 40_000_000)
		if err != nil {
			t.Fatalf("%+v: %v", j, err)
		}
		t.Logf("%+v: %d states", j, stats.States)
	}
}

// The same of larger jobs, at random.
func TestRandom(t *testing.T) {
	for seed := range uint64(*walks) {
		if err := explore.Random(newWorld(4, 4, 3, "wsarsasrwsasr", none), seed+1, 10_000); err != nil {
			t.Fatal(err)
		}
	}
}

// Mistakes are caught.
func TestCanaries(t *testing.T) {
	for m, name := range map[mistake]string{hasty: "hasty", unordered: "unordered", anywhere: "anywhere", overriding: "overriding", together: "together"} {
		_, err := explore.All(newWorld(2, 2, 1, "srsr", m), 10_000_000)
		if err == nil {
			t.Errorf("%s isn't caught", name)
			continue
		}
		t.Logf("%s: %.80q", name, fmt.Sprint(err))
	}
}

// Steps are learnt and done in their order.
func TestSteps(t *testing.T) {
	var m Machine
	a, own := Step{Source: 3}, Step{Own: true}
	if !m.May(a, true) || m.May(a, false) {
		t.Error("only a leader decides")
	}
	m.Learn(a, 2)
	m.Learn(own, 1)
	m.Learn(a, 0)
	var all []string
	m.Each(func(s Step, times uint64) { all = append(all, fmt.Sprint(s, " ", times)) })
	if !slices.Equal(all, []string{"a message of rank 3 2", "the program's own step 1"}) {
		t.Error(all)
	}
	for _, want := range []Step{a, a, own} {
		if s, known := m.Next(); !known || s != want || m.May(Step{Source: 4}, true) || !m.May(want, false) || m.Do(want) {
			t.Errorf("%v, want %v", s, want)
		}
	}
	if !m.Empty() || !m.Do(own) {
		t.Error("what nobody has decided is a decision")
	}
	for range 1000 { // what is done is forgotten
		m.Learn(a, 1)
		m.Learn(own, 1)
		m.Do(a)
		m.Do(own)
	}
	if len(m.known) > 8 {
		t.Errorf("%d runs are kept", len(m.known))
	}
}
