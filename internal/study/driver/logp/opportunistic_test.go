package logp

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/testing/explore"
)

// TestOpportunisticMessages: what the kinds of opportunistic correction cost without faults, along
// a binomial tree to 65,536 processes. The numbers of optimised correction are those of an
// independent model of the printed rule.
func TestOpportunisticMessages(t *testing.T) {
	var s Simulator
	for _, x := range []struct {
		correction           broadcast.Correction
		distance, messages   int
		coloured, quiescence proto.Time
	}{
		{broadcast.Optimised, 2, 234_470, 58, 64},
		{broadcast.Optimised, 4, 313_214, 58, 65},
		{broadcast.Ordered, 2, 235_225, 58, 64},
		{broadcast.Ordered, 4, 322_451, 58, 65},
		{broadcast.SkipAhead, 2, 319_148, 58, 65},
		{broadcast.SkipAhead, 4, 481_300, 58, 67},
	} {
		c := Case{Procs: 1 << 16, Latency: 2, Overhead: 1, Tree: Binomial, Correction: x.correction, Distance: x.distance}
		o, err := s.Run(&c, nil)
		if err != nil {
			t.Fatal(err)
		}
		if o.Messages != x.messages || o.Coloring != x.coloured || o.Quiescence != x.quiescence || o.Unreached != 0 {
			t.Errorf("%s: %+v, want %d messages, coloured at %d, quiet at %d", c.Describe(), o, x.messages, x.coloured, x.quiescence)
		}
	}
}

// fixed lets a process rely, as the printed rule does, on those corrections only whose sender
// comes before it in a fixed order of all processes. That is safe, as ordered correction is. A
// process that gets a correction from another sender learns no more from it than from a message
// of the tree.
type fixed struct {
	*run
	place []int // of each process in the order
}

func (f fixed) Receive(now proto.Time, messages []Message) {
	for _, x := range messages {
		if kind := broadcast.Kind(x.Kind()); kind != broadcast.KindTree && f.place[x.From()] > f.place[x.To()] {
			x = NewMessage(x.From(), x.To(), uint8(broadcast.KindTree))
		}
		f.run.Receive(now, []Message{x})
	}
}

// TestOrders compares ordered correction with the same rule for orders that are fixed beforehand:
// by number, by chance, or by the time at which a process is scheduled to begin its corrections.
// Ordered correction costs less than the first two. The schedule, for which processes
// would have to know L and o, costs 1 % less with d = 4 and few dead, else more.
func TestOrders(t *testing.T) {
	var s Simulator
	deaths := []int{0, 2621}
	if explore.Long() {
		deaths = []int{0, 655, 1311, 2621} // 0, 1, 2 and 4 %
	}
	for _, distance := range []int{2, 4} {
		for _, dead := range deaths {
			c := Case{Procs: 1 << 16, Latency: 2, Overhead: 1, Tree: Binomial, Correction: broadcast.Ordered, Distance: distance}
			if err := c.FailRandom(dead, rand.NewPCG(1, 0)); err != nil {
				t.Fatal(err)
			}
			ours, err := s.Run(&c, nil)
			if err != nil {
				t.Fatal(err)
			}
			c.Correction = broadcast.Optimised
			costs := func(place []int) int {
				o, err := s.runAs(&c, nil, func(r *run) Machines { return fixed{r, place} })
				if err != nil || o.Unreached > ours.Unreached {
					t.Fatalf("%+v, %v; ordered correction: %+v", o, err, ours)
				}
				return o.Messages
			}
			number, chance, schedule := costs(byNumber(c.Procs)), costs(rand.New(rand.NewPCG(1, 0)).Perm(c.Procs)), costs(bySchedule(c.Procs))
			t.Logf("distance %d, %d dead: ordered %d; by number %d, by chance %d, by schedule %d", distance, dead, ours.Messages, number, chance, schedule)
			if min(number, chance) <= ours.Messages || ours.Messages > schedule*102/100 || schedule < ours.Messages && (distance < 4 || dead > 655) {
				t.Errorf("distance %d, %d dead: ordered correction costs %d, others %d, %d and %d", distance, dead, ours.Messages, number, chance, schedule)
			}
		}
	}
}

func byNumber(procs int) []int {
	place := make([]int, procs)
	for p := range place {
		place[p] = p
	}
	return place
}

// bySchedule is for a binomial tree with L = 2 and o = 1: a process is coloured 4 steps after its
// parent begins to send to it, and begins to correct when it has sent to its children.
func bySchedule(procs int) []int {
	place, coloured := make([]int, procs), make([]int, procs)
	levels := bits.Len(uint(procs - 1))
	for p := range place {
		first := bits.Len(uint(p)) // its children are p + 2^first, p + 2^(first+1), …
		for n := first; n < levels; n++ {
			coloured[p+1<<n] = coloured[p] + n - first + 4
		}
		place[p] = (coloured[p]+levels-first)*procs + p
	}
	return place
}
