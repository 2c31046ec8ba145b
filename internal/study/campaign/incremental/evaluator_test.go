package incremental

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"banyan/internal/fault"
	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/study/driver/logp"
	"banyan/internal/testing/explore"
	"banyan/internal/topology"
	"banyan/internal/trace"
)

// randomCase is the case of a seed: every tree, networks where o divides L and where it
// doesn't, few and many dead processes.
func randomCase(seed uint64) logp.Case {
	random := rand.New(rand.NewPCG(seed, 1))
	c := logp.Case{
		Latency: random.IntN(8), Overhead: 1 + random.IntN(4),
		Tree:       []logp.TreeKind{logp.Binomial, logp.KAry, logp.Lame, logp.Optimal}[random.IntN(4)],
		Correction: broadcast.Checked, Synchronised: true,
	}
	if random.IntN(4) == 0 { // the paper's network
		c.Latency, c.Overhead = 2, 1
	}
	if c.Tree.NeedsK() {
		c.K = 2 + random.IntN(5)
	}
	if random.IntN(4) == 0 {
		c.Numbering = topology.InOrder
	}
	most := []int{12, 40, 130, 400}[random.IntN(4)]
	c.Procs = 10 + random.IntN(most) // the least that is covered for L/o = 7
	failed := random.IntN(1 + []int{3, c.Procs / 20, c.Procs / 5, c.Procs - 1}[random.IntN(4)])
	if err := c.FailRandom(min(failed, c.Procs-1), random); err != nil {
		panic(err)
	}
	return c
}

// TestEqualsEngine: the outcome of random cases is the engine's. It runs 4,000 of them, or
// 100,000 with BANYAN_EXPLORE=long; a case can be run again by its seed.
func TestEqualsEngine(t *testing.T) {
	cases := uint64(4000)
	if explore.Long() {
		cases = 100_000
	}
	var engine logp.Simulator
	for seed := range cases {
		c := randomCase(seed)
		want, err := engine.Run(&c, nil)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		e, err := New(&c)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		// The second run shows whether the first has left state behind.
		for run := range 2 {
			got, err := e.Run(c.Failed)
			if err != nil || got != want {
				t.Fatalf("seed %d, run %d, %+v:\n got %+v (%v)\nwant %+v", seed, run, c, got, err, want)
			}
			if run == 0 {
				another := slices.Clone(c.Failed)
				for i := range another {
					another[i] = c.Procs - another[i]
				}
				if _, err := e.Run(another); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// step is one send or one end of a receive (or, at a dead process, an arrival).
type step struct {
	at            proto.Time
	event         string
	process, peer int32
	kind          string
}

func compareSteps(a, b step) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.event, b.event), cmp.Compare(a.process, b.process),
		cmp.Compare(a.peer, b.peer), cmp.Compare(a.kind, b.kind))
}

// TestEqualsEngineMessageForMessage compares every correction: when it was sent, its sender and
// receiver, and when it was received or lost. It runs 500 cases, or 20,000 with
// BANYAN_EXPLORE=long.
func TestEqualsEngineMessageForMessage(t *testing.T) {
	cases := uint64(500)
	if explore.Long() {
		cases = 20_000
	}
	var engine logp.Simulator
	for seed := range cases {
		c := randomCase(1<<32 + seed)
		e, err := New(&c)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		w := trace.NewWriter(&text, c.TraceHeader())
		if _, err := engine.Run(&c, w); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		var want []step
		left, right := broadcast.KindLeft.String(), broadcast.KindRight.String()
		if _, err := trace.Read(&text, func(v trace.Event) error {
			if v.Kind == left || v.Kind == right {
				want = append(want, step{v.Time, v.Event, int32(v.Proc), int32(v.Peer), v.Kind})
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		got := corrections(e, c.Failed)
		slices.SortFunc(got, compareSteps)
		slices.SortFunc(want, compareSteps)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d, %+v: %s", seed, c, firstDifference(got, want))
		}
	}
}

// corrections are all steps of all corrections: those of the regular slots by the formulas of
// doc.go, the others as they are simulated.
func corrections(e *Evaluator, failed []int) []step {
	var steps []step
	add := func(sent, received, from, to int32, left bool) {
		kind := broadcast.KindRight.String()
		if left {
			kind = broadcast.KindLeft.String()
		}
		steps = append(steps, step{e.start + proto.Time(sent)*e.overhead, trace.Send, from, to, kind})
		if received < 0 {
			steps = append(steps, step{e.start + proto.Time(sent+1)*e.overhead + e.latency, trace.Drop, to, from, kind})
		} else {
			steps = append(steps, step{e.handled(received), trace.Receive, to, from, kind})
		}
	}
	e.observe = add
	if _, err := e.Run(failed); err != nil {
		panic(err)
	}
	e.observe = nil
	for p := int32(0); p < e.procs; p++ {
		if e.cells[p].state < inside {
			continue
		}
		for slot := range e.regular {
			to := e.at(p + slot/2 + 1)
			if slot%2 == 0 {
				to = e.at(p - slot/2 - 1)
			}
			received := slot
			if e.cells[to].state == dead {
				received = -1
			}
			add(slot, received, p, to, slot%2 == 0)
		}
	}
	return steps
}

func firstDifference(got, want []step) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("step %d:\n got %+v\nwant %+v", i, got[i], want[i])
		}
	}
	return fmt.Sprintf("%d steps, want %d", len(got), len(want))
}

// paperTrees are the trees of the paper's campaign.
func paperTrees(procs int) []logp.Case {
	c := logp.Case{Procs: procs, Latency: 2, Overhead: 1, Correction: broadcast.Checked, Synchronised: true}
	cases := []logp.Case{c, c, c, c}
	cases[0].Tree = logp.Binomial
	cases[1].Tree, cases[1].K = logp.KAry, 4
	cases[2].Tree, cases[2].K = logp.Lame, 2
	cases[3].Tree = logp.Optimal
	return cases
}

// TestPaperSize compares the campaign's trees at its size.
func TestPaperSize(t *testing.T) {
	var engine logp.Simulator
	for i, c := range paperTrees(1 << 16) {
		e, err := New(&c)
		if err != nil {
			t.Fatal(err)
		}
		for _, failed := range []int{0, 7, 655, 2621} {
			c.Failed = nil
			if err := c.FailRandom(failed, rand.NewPCG(uint64(failed), uint64(i))); err != nil {
				t.Fatal(err)
			}
			want, err := engine.Run(&c, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := e.Run(c.Failed); err != nil || got != want {
				t.Errorf("%s, %d dead: %+v (%v), want %+v", c.Tree, failed, got, err, want)
			}
		}
	}
}

// TestRefuses: a case that isn't covered is reported as such, and a wrong one as wrong.
func TestRefuses(t *testing.T) {
	base := paperTrees(64)[0]
	for name, change := range map[string]func(*logp.Case){
		"overlapped":   func(c *logp.Case) { c.Synchronised = false },
		"optimised":    func(c *logp.Case) { c.Correction, c.Distance = broadcast.Optimised, 2 },
		"acknowledged": func(c *logp.Case) { c.Correction, c.Synchronised = broadcast.Acknowledged, false },
		"gossip":       func(c *logp.Case) { c.Tree, c.Gossip = logp.Gossip, broadcast.Gossip{Until: 20} },
		"noise":        func(c *logp.Case) { c.Model.Noise = 1 },
		"crashes":      func(c *logp.Case) { c.Crashes = []logp.Crash{{Proc: 1, At: fault.Trigger{Kind: fault.AtStep}}} },
		"too small":    func(c *logp.Case) { c.Procs = 4 },
		"too far":      func(c *logp.Case) { c.Latency = 62 },
	} {
		c := base
		change(&c)
		if _, err := New(&c); !errors.Is(err, ErrNotCovered) {
			t.Errorf("%s: %v", name, err)
		}
	}
	wrong := base
	wrong.Procs = 0
	if _, err := New(&wrong); err == nil || errors.Is(err, ErrNotCovered) {
		t.Errorf("0 processes: %v", err)
	}
	e, err := New(&base)
	if err != nil {
		t.Fatal(err)
	}
	for _, failed := range [][]int{{0}, {-1, 3}, {64}, {3, 0}} {
		if _, err := e.Run(failed); err == nil {
			t.Errorf("failed %v is accepted", failed)
		}
	}
	twice, err := e.Run([]int{5, 3, 5})
	if once, err2 := e.Run([]int{3, 5}); err != nil || err2 != nil || once != twice {
		t.Errorf("unsorted, 5 twice: %+v, want %+v (%v, %v)", twice, once, err, err2)
	}
}

// TestNoAllocation: an evaluator that has grown allocates nothing.
func TestNoAllocation(t *testing.T) {
	c := paperTrees(4096)[0]
	if err := c.FailRandom(100, rand.NewPCG(1, 0)); err != nil {
		t.Fatal(err)
	}
	e, err := New(&c)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(10, func() {
		if _, err := e.Run(c.Failed); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkPaper evaluates the broadcasts of the paper's campaign, P = 65,536, L = 2, o = 1:
// for each fault rate the average over the four trees and 16 choices of the dead.
func BenchmarkPaper(b *testing.B) {
	for _, rate := range []float64{0.01, 0.1, 1, 2, 4} {
		b.Run(fmt.Sprintf("faults=%v%%", rate), func(b *testing.B) {
			type broadcast struct {
				e      *Evaluator
				failed []int
			}
			var all []broadcast
			for _, c := range paperTrees(1 << 16) {
				e, err := New(&c)
				if err != nil {
					b.Fatal(err)
				}
				for seed := range uint64(16) {
					c.Failed = nil
					if err := c.FailRandom(int(rate*float64(c.Procs)/100), rand.NewPCG(seed, 0)); err != nil {
						b.Fatal(err)
					}
					all = append(all, broadcast{e, c.Failed})
				}
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				x := all[i%len(all)]
				if _, err := x.e.Run(x.failed); err != nil {
					b.Fatal(err)
				}
				i++
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N), "ms/broadcast")
		})
	}
}
