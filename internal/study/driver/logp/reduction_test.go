package logp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"banyan/internal/fault"
	"banyan/internal/proto"
	"banyan/internal/testing/explore"
	"banyan/internal/topology"
)

// digits makes a sum tell how often it has each of 12 contributions: each gets one octal digit
// and two more bits.
func digits(p int) uint64 { return 1 << (5 * p) }

func times(sum uint64, p int) int { return int(sum >> (5 * p) & 31) }

// reductionTrees are all shapes and numberings.
var reductionTrees = []struct {
	tree TreeKind
	k    int
}{{Binomial, 0}, {KAry, 3}, {KAry, 2}, {KAry, 4}, {Lame, 2}, {Lame, 3}, {Optimal, 0}}

// eachReduction makes every kind of reduction of up to so many processes.
func eachReduction(procs int, visit func(Reduction)) {
	for p := 1; p <= procs; p++ {
		for _, shape := range reductionTrees {
			for _, numbering := range []topology.Numbering{topology.Interleaved, topology.InOrder} {
				for distance := range min(p, 4) {
					for _, idempotent := range []bool{false, true} {
						visit(Reduction{
							Case:     Case{Procs: p, Latency: 2, Overhead: 1, Tree: shape.tree, K: shape.k, Numbering: numbering},
							Distance: distance, Idempotent: idempotent,
						})
					}
				}
			}
		}
	}
}

// promised are the contributions that must be in the result if the dead processes are dead from
// the start. It is a second implementation of the definition.
func promised(c *Reduction) Set {
	tree, _ := c.Case.tree()
	dead, promised := NewSet(c.Case.Procs), NewSet(c.Case.Procs)
	for _, p := range c.Case.Failed {
		dead.Add(p)
	}
	connected := func(p int) bool {
		for ; p > 0; p = tree.Parent(p) {
			if dead.Has(p) {
				return false
			}
		}
		return true
	}
	for p := range c.Case.Procs {
		near := connected(p)
		for d := 1; d <= c.Distance; d++ {
			near = near || connected((p+d)%c.Case.Procs) || connected((p+c.Case.Procs-d)%c.Case.Procs)
		}
		if near && !dead.Has(p) {
			promised.Add(p)
		}
	}
	return promised
}

// checkSafety checks what always holds: no contribution counts twice, and the root knows which
// ones it has.
func checkSafety(r *reduce, c *Reduction, o ReductionOutcome) error {
	value, count := r.result()
	included, named := r.included(), r.named()
	if !r.done || o.Latency > r.config.End() {
		return fmt.Errorf("the root ended: %v, at %d, due at %d", r.done, o.Latency, r.config.End())
	}
	for p := range c.Case.Procs {
		n := times(value, p)
		switch {
		case c.Idempotent && n > 1, n > 1:
			return fmt.Errorf("process %d is counted %d times", p, n)
		case n == 1 != included.Has(p):
			return fmt.Errorf("process %d: counted %d times, included %v", p, n, included.Has(p))
		case !r.cutOff[p] && n != 1:
			return fmt.Errorf("process %d: the root believes to have it", p)
		case named.Has(p) && n != 0:
			return fmt.Errorf("process %d: the root believes not to have it", p)
		}
	}
	if !c.Idempotent && count != included.Len() {
		return fmt.Errorf("the root counts %d contributions, it has %d", count, included.Len())
	}
	return nil
}

// TestReductionEveryFailedSet: all sets of dead processes, all trees, all distances, sums and
// maxima; of up to 8 processes, or 10 with BANYAN_EXPLORE=long.
func TestReductionEveryFailedSet(t *testing.T) {
	largest := 8
	if explore.Long() {
		largest = 10
	}
	var s Simulator
	mended := 0
	eachReduction(largest, func(c Reduction) {
		for dead := 0; dead < 1<<c.Case.Procs; dead += 2 {
			c.Case.Failed = nil
			for p := range c.Case.Procs {
				if dead>>p&1 != 0 {
					c.Case.Failed = append(c.Case.Failed, p)
				}
			}
			r := reduce{contribution: digits}
			o, err := s.reduceWith(&r, &c, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := checkSafety(&r, &c, o); err != nil {
				t.Fatalf("%+v: %v", c, err)
			}
			want, included := promised(&c), r.included()
			for p := range c.Case.Procs {
				if want.Has(p) != included.Has(p) {
					t.Fatalf("%+v: process %d: included %v, promised %v", c, p, included.Has(p), want.Has(p))
				}
			}
			if o.Missing != c.Case.Procs-len(c.Case.Failed)-want.Len() {
				t.Fatalf("%+v: %d missing", c, o.Missing)
			}
			if o.Mended {
				mended++
			}
		}
	})
	if mended == 0 {
		t.Error("nothing was ever mended")
	}
}

// TestReductionCost checks the package comment's costs: messages and time, without failures and
// with dead leaves only.
func TestReductionCost(t *testing.T) {
	var s Simulator
	for _, n := range networks {
		eachReduction(40, func(c Reduction) {
			if !slices.Contains([]int{1, 14, 32, 40}, c.Case.Procs) {
				return
			}
			c.Case.Latency, c.Case.Overhead = n.latency, n.overhead
			o, err := s.Reduce(&c, nil)
			if err != nil {
				t.Fatal(err)
			}
			plain, err := s.Run(&c.Case, nil)
			if err != nil {
				t.Fatal(err)
			}
			neighbours := min(2*c.Distance, c.Case.Procs-1)
			if want := neighbours*c.Case.Procs + c.Case.Procs - 1; o.Messages != want || o.Included != c.Case.Procs || o.Mended {
				t.Errorf("%+v: %d messages, want %d; %d included", c, o.Messages, want, o.Included)
			}
			latency := plain.Coloring
			switch {
			case neighbours == 0:
			case c.Idempotent:
				latency += proto.Time((neighbours+1)*n.overhead + n.latency)
			default:
				latency += proto.Time(neighbours * n.overhead)
			}
			// In a tree that isn't full the last messages may come earlier than in the bound.
			if full := c.Case.Tree == Binomial && c.Case.Procs == 32; o.Latency > latency || full && o.Latency != latency {
				t.Errorf("%+v: takes %d, want %d", c, o.Latency, latency)
			}
			if c.Case.Procs == 1 {
				return
			}
			c.Case.Failed = []int{lastLeaf(&c)}
			dead, err := s.Reduce(&c, nil)
			if err != nil {
				t.Fatal(err)
			}
			if dead.Latency > latency || dead.Mended || dead.Missing != 0 || dead.Messages != o.Messages-neighbours-1 {
				t.Errorf("%+v: %+v, without failures %+v", c, dead, o)
			}
		})
	}
}

func lastLeaf(c *Reduction) int {
	tree, _ := c.Case.tree()
	for p := c.Case.Procs - 1; ; p-- {
		if len(tree.AppendChildren(nil, p)) == 0 {
			return p
		}
	}
}

// checkCrashes runs a reduction with crashes and checks its promises: safety, and that each
// process that lived to the end is included, or known by name to be missing.
func checkCrashes(s *Simulator, c *Reduction) (ReductionOutcome, error) {
	r := reduce{}
	if c.Case.Procs <= 12 {
		r.contribution = digits
	}
	o, err := s.reduceWith(&r, c, nil)
	if err != nil {
		return o, err
	}
	if r.contribution != nil {
		if err := checkSafety(&r, c, o); err != nil {
			return o, err
		}
	} else if _, count := r.result(); !c.Idempotent && count != o.Included {
		return o, fmt.Errorf("the root counts %d contributions, it has %d", count, o.Included)
	}
	included, named := r.included(), r.named()
	for p := range c.Case.Procs {
		dead := r.flags[p]&isDead != 0
		// In one climb, a copy of a live process's contribution is with a process that isn't
		// cut off; in two, it is with its taker if that has reported.
		if !dead && !included.Has(p) && !named.Has(p) {
			return o, fmt.Errorf("process %d lives, isn't included, and the root can't know", p)
		}
	}
	return o, nil
}

// TestReductionEveryCrashPoint: of up to 5 processes, each dies before any of its sends or not
// at all, in all combinations; and up to two of them at any step. Of 4 and 5 processes it runs
// a slice of these, or all with BANYAN_EXPLORE=long.
func TestReductionEveryCrashPoint(t *testing.T) {
	const largest = 5
	slice := map[int]int{4: 5, 5: 61} // one of so many
	if explore.Long() {
		slice = nil
	}
	turn := 0
	inSlice := func(procs int) bool {
		turn++
		return turn%max(1, slice[procs]) == 0
	}
	var s Simulator
	eachReduction(largest, func(c Reduction) {
		if c.Distance == 3 {
			return // with 2, every process is already a neighbour
		}
		most := 2*c.Distance + c.Case.Procs + 1 // copies, the part, the mending, the rest
		var crash func(p int)
		crash = func(p int) {
			if p == c.Case.Procs {
				if !inSlice(p) {
					return
				}
				if _, err := checkCrashes(&s, &c); err != nil {
					t.Fatalf("%+v: %v", c, err)
				}
				return
			}
			crash(p + 1)
			before := c.Case.Crashes
			for n := 1; n <= most; n++ {
				c.Case.Crashes = append(before[:len(before):len(before)], Crash{p, fault.Trigger{Kind: fault.AtSend, N: int64(n)}})
				crash(p + 1)
			}
			c.Case.Crashes = before
		}
		if c.Case.Procs < 5 || c.Distance < 2 || slice == nil {
			crash(1)
		}
		for p := 1; p < c.Case.Procs; p++ {
			for q := p; q < c.Case.Procs; q++ {
				for at := range int64(20) {
					for after := range int64(6) {
						if !inSlice(c.Case.Procs) {
							continue
						}
						c.Case.Crashes = []Crash{{p, fault.Trigger{Kind: fault.AtStep, N: at}}, {q, fault.Trigger{Kind: fault.AtStep, N: at + 4*after}}}
						if _, err := checkCrashes(&s, &c); err != nil {
							t.Fatalf("%+v: %v", c, err)
						}
					}
				}
			}
		}
		c.Case.Crashes = nil
	})
}

// TestReductionRandom: up to 4,096 processes, with gaps, nodes, noise and crashes. Without crashes
// the promise must hold under each model.
func TestReductionRandom(t *testing.T) {
	runs := 400
	if testing.Short() {
		runs = 60
	}
	var s Simulator
	for seed := range uint64(runs) {
		random := rand.New(rand.NewPCG(seed, 5))
		shape := reductionTrees[random.IntN(len(reductionTrees))]
		procs := 2 + random.IntN(1<<(2+random.IntN(11)))
		c := Reduction{
			Case: Case{
				Procs: procs, Latency: random.IntN(6), Overhead: 1 + random.IntN(3), Tree: shape.tree, K: shape.k,
				Numbering: topology.Numbering(random.IntN(2)),
			},
			Distance: random.IntN(min(procs, 6)), Idempotent: random.IntN(2) == 0,
		}
		if random.IntN(2) == 0 {
			c.Case.Model = Model{
				Gap: c.Case.Overhead + random.IntN(3), Noise: random.IntN(5), NoiseSeed: seed,
				Nodes: Nodes{Size: 1 + random.IntN(procs), Placement: Placement(random.IntN(3))}, LatencyWithin: random.IntN(9),
			}
		}
		if err := c.Case.FailRandom(random.IntN(1+procs/8), rand.NewPCG(seed, 6)); err != nil {
			t.Fatal(err)
		}
		o, err := s.Reduce(&c, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := promised(&c).Len(); o.Included != want {
			t.Fatalf("seed %d: %+v: %d included, %d promised", seed, o, o.Included, want)
		}
		for range random.IntN(1 + procs/16) {
			at := fault.Trigger{Kind: fault.AtStep, N: random.Int64N(int64(o.Latency) + 2)}
			if random.IntN(2) == 0 {
				at = fault.Trigger{Kind: fault.AtSend, N: 1 + random.Int64N(8)}
			}
			c.Case.Crashes = append(c.Case.Crashes, Crash{1 + random.IntN(procs-1), at})
		}
		if len(c.Case.Crashes) == 0 {
			continue
		}
		if _, err := checkCrashes(&s, &c); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// TestReductionLate: a part that isn't within its bounds isn't counted, and nothing is counted
// twice. The configuration's bounds are made too short.
func TestReductionLate(t *testing.T) {
	var s Simulator
	missing := 0
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 7))
		c := Reduction{
			Case: Case{
				Procs: 2 + random.IntN(11), Latency: 2, Overhead: 1, Tree: Binomial,
				Model: Model{Noise: 1 + random.IntN(12), NoiseSeed: seed},
			},
			Distance: 1, Idempotent: random.IntN(2) == 0,
		}
		r := reduce{contribution: digits, hurry: proto.Time(c.Case.Model.Noise)}
		o, err := s.reduceWith(&r, &c, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := checkSafety(&r, &c, o); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		missing += o.Missing
	}
	if missing == 0 {
		t.Error("nothing was ever late: the test tests nothing")
	}
}

// result returns what the root has, and the number of contributions in it.
func (r *reduce) result() (value uint64, count int) {
	c := r.parts[0]
	r.combine(&c, carried{value: r.rests[0].value, count: r.rests[0].count, first: none})
	return c.value, int(c.count)
}
