package replica

import (
	"banyan/internal/layout"
	"banyan/internal/testing/explore"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// pace is how readily a schedule picks each kind of event and each process: weights from 1 to
// 100. Slow processes lag behind their siblings.
type pace struct {
	kinds [evLeave + 1]int
	procs []int
	news  []int // by process: how readily it hears of a death
}

func randomPace(r *rand.Rand, procs int) (p pace) {
	some := func() int { return []int{1, 10, 100}[r.IntN(3)] }
	for i := range p.kinds {
		p.kinds[i] = some()
	}
	p.kinds[evSuspect] = 1 + r.IntN(2)
	p.kinds[evCrash] = 1 + r.IntN(2)
	for range procs {
		p.procs = append(p.procs, some())
		p.news = append(p.news, some())
	}
	return p
}

// weight of an event under this pace.
func (p pace) weight(e event) int {
	if e.kind == evNotice {
		return p.kinds[evNotice] * p.news[e.at]
	}
	return p.kinds[e.kind] * p.procs[e.at]
}

// randomLayout has 2 to 5 ranks of up to 4 replicas. Half of the layouts have the same number
// in each rank.
func randomLayout(r *rand.Rand) layout.Layout {
	ranks, degree := 2+r.IntN(4), 1+r.IntN(4)
	if r.IntN(2) == 0 {
		return layout.Uniform(ranks, degree)
	}
	degrees := make([]int, ranks)
	for i := range degrees {
		degrees[i] = 1 + r.IntN(4)
	}
	return layout.Partial(degrees)
}

// run runs the schedule of a seed to its end, with a bug in every machine.
func run(seed uint64, b bug) error {
	r := rand.New(rand.NewPCG(seed, 0))
	if seed%4 == 3 {
		return runHealings(r, b)
	}
	l := randomLayout(r)
	contexts := 1 + r.IntN(3)
	program := randomProgram(r, l.Ranks(), contexts, 1+r.IntN(40))
	heals := r.IntN(2) * r.IntN(5)
	w := newWorld(l, program, contexts, options{
		crashes: r.IntN(l.Procs() - l.Ranks() + heals + 1),
		victims: anyone,
		heals:   heals,
		donors:  anyone,
		mirror:  r.IntN(3) == 0,
		skew:    seed % 8 / 2 * 3,
		suspect: r.IntN(2) == 0,
		leave:   r.IntN(2) == 0,
		prompt:  r.IntN(4) == 0,
		purge:   r.IntN(2) == 0,
		bug:     b,
	})
	return schedule(r, w)
}

// runHealings runs a short job in which many processes die and are replaced.
func runHealings(r *rand.Rand, b bug) error {
	l := layout.Uniform(2, 2+r.IntN(4))
	heals := 1 + r.IntN(8)
	return schedule(r, newWorld(l, randomProgram(r, 2, 1, 1+r.IntN(20)), 1, options{
		crashes: l.Procs() - 2 + r.IntN(heals+1),
		victims: anyone,
		heals:   heals,
		donors:  anyone,
		mirror:  r.IntN(8) == 0,
		skew:    uint64(heals),
		suspect: r.IntN(8) == 0,
		leave:   r.IntN(8) == 0,
		prompt:  r.IntN(2) == 0,
		purge:   r.IntN(2) == 0,
		bug:     b,
	}))
}

// schedule runs a world to its end.
func schedule(r *rand.Rand, w *world) error {
	w.transmitted = make(map[transmission]bool)
	p := randomPace(r, w.layout.Procs())
	var events []event
	for steps := 0; ; steps++ {
		if quiet(w) {
			return w.verdict()
		}
		if steps == 100_000 {
			return fmt.Errorf("no end after %d events", steps)
		}
		events = w.enabled(events[:0])
		total := 0
		for _, e := range events {
			total += p.weight(e)
		}
		pick := r.IntN(total)
		for _, e := range events {
			if pick -= p.weight(e); pick < 0 {
				if err := w.apply(e); err != nil {
					return fmt.Errorf("event %d, %v: %w", steps, e, err)
				}
				break
			}
		}
	}
}

// TestRandomSchedules runs jobs of up to 5 ranks of up to 4 replicas, all but one of which may
// crash in each rank, under schedules that a seed decides. BANYAN_SEED=… runs one seed,
// BANYAN_EXPLORE=long many.
func TestRandomSchedules(t *testing.T) {
	if s := os.Getenv("BANYAN_SEED"); s != "" {
		seed, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if err := run(seed, noBug); err != nil {
			t.Fatal(err)
		}
		return
	}
	seeds := uint64(6_000)
	if explore.Long() {
		seeds = 500_000
	}
	for seed := range seeds {
		if err := run(seed, noBug); err != nil {
			t.Fatalf("BANYAN_SEED=%d go test -run TestRandomSchedules ./internal/proto/replica\n%v", seed, err)
		}
	}
}
