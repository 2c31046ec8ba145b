package logp

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/fault"
	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/trace"
)

// traced runs a case, on a Detailed network if the case needs one or detailed asks for it, and
// returns its trace without the header.
func traced(t interface{ Fatal(...any) }, s *Simulator, c *Case, detailed bool) (Outcome, []string) {
	config, failed, err := c.prepare()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	w := trace.NewWriter(&text, c.TraceHeader())
	var o Outcome
	if detailed {
		o, err = s.runDetailed(c, config, failed, w, func(r *run) Machines { return r })
	} else {
		o, err = s.Run(c, w)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return o, strings.SplitAfter(text.String(), "\n")[1:]
}

// TestDetailedIsNetwork: the two networks agree on plain LogP, event for event.
func TestDetailedIsNetwork(t *testing.T) {
	var s Simulator
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t)
		want, events := traced(t, &s, &c, false)
		got, same := traced(t, &s, &c, true)
		if got != want {
			t.Fatalf("in detail %+v, plainly %+v", got, want)
		}
		for i := range events {
			if i >= len(same) || events[i] != same[i] {
				t.Fatalf("event %d of %d differs, of %d in detail: %s", i, len(events), len(same), events[i])
			}
		}
	})
}

// TestCrashAtStart: a process that crashes before the first step has no effect at all.
func TestCrashAtStart(t *testing.T) {
	var s Simulator
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t)
		want, err := s.Run(&c, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range c.Failed {
			c.Crashes = append(c.Crashes, Crash{p, fault.Trigger{Kind: fault.AtStep}})
		}
		want.Crashed = len(c.Failed)
		c.Failed = nil
		got, err := s.Run(&c, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Fatalf("crashed at the start: %+v, dead: %+v", got, want)
		}
	})
}

// TestCrashLeavesPrefix: until a crash the run is as without it; afterwards the process does
// nothing. Every prefix of its sends can be produced.
func TestCrashLeavesPrefix(t *testing.T) {
	var s Simulator
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t)
		if c.Procs == 1 {
			return
		}
		p := rapid.IntRange(1, c.Procs-1).Draw(t, "process")
		without, before := traced(t, &s, &c, true)
		sends := 0
		count := func(e trace.Event) {
			if e.Proc == proto.Proc(p) && e.Event == trace.Send {
				sends++
			}
		}
		read(t, &c, before, count)
		total := sends
		crash := Crash{p, fault.Trigger{Kind: fault.AtStep, N: int64(rapid.IntRange(0, int(without.Quiescence)+1).Draw(t, "step"))}}
		bySend := rapid.Bool().Draw(t, "by send")
		if bySend {
			crash.At = fault.Trigger{Kind: fault.AtSend, N: int64(rapid.IntRange(1, total+1).Draw(t, "send"))}
		}
		c.Crashes = []Crash{crash}
		outcome, after := traced(t, &s, &c, true)
		diedAt, dead := proto.Time(-1), false
		sends = 0
		read(t, &c, after, func(e trace.Event) {
			count(e)
			if e.Proc == proto.Proc(p) && e.Event == trace.Dead {
				dead, diedAt = true, e.Time
			} else if dead && e.Proc == proto.Proc(p) && e.Event != trace.Drop {
				t.Fatalf("dead, and yet: %+v", e)
			}
		})
		if bySend && !slices.Contains(c.Failed, p) {
			if want := min(total, int(crash.At.N)-1); sends != want || dead != (total >= int(crash.At.N)) {
				t.Fatalf("%d sends, dead: %v; want %d of %d", sends, dead, want, total)
			}
		}
		if !dead || slices.Contains(c.Failed, p) {
			return
		}
		if outcome.Crashed != 1 {
			t.Fatalf("%d crashed", outcome.Crashed)
		}
		for i, line := range before {
			if i < len(after) && line == after[i] {
				continue
			}
			read(t, &c, before[i:i+1], func(e trace.Event) {
				if e.Time < diedAt {
					t.Fatalf("differs before the crash at %d: %s", diedAt, line)
				}
			})
			return
		}
	})
}

// read visits lines of a trace.
func read(t *rapid.T, c *Case, lines []string, visit func(trace.Event)) {
	var text bytes.Buffer
	if err := trace.NewWriter(&text, c.TraceHeader()).Flush(); err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		text.WriteString(l)
	}
	if _, err := trace.Read(&text, func(e trace.Event) error { visit(e); return nil }); err != nil {
		t.Fatal(err)
	}
}

// TestModelByHand: the meaning of the parameters, on a root with three children.
func TestModelByHand(t *testing.T) {
	var s Simulator
	star := Case{Procs: 4, Latency: 10, Overhead: 2, Tree: KAry, K: 3}
	for name, x := range map[string]struct {
		model Model
		want  proto.Time
	}{
		"plain":         {Model{}, 2*2 + 10 + 2*2},
		"g = o":         {Model{Gap: 2}, 2*2 + 10 + 2*2},
		"g > o":         {Model{Gap: 5}, 2*2 + 10 + 5*2},
		"one node":      {Model{Nodes: Nodes{Size: 4}, LatencyWithin: 1}, 2*2 + 1 + 2*2},
		"two nodes":     {Model{Nodes: Nodes{Size: 2}, LatencyWithin: 1}, 2*2 + 10 + 2*2},
		"the near last": {Model{Nodes: Nodes{Size: 2, Placement: Striped}, LatencyWithin: 9}, 2*2 + 10 + 2*2},
		"within longer": {Model{Nodes: Nodes{Size: 2}, LatencyWithin: 100}, 2*2 + 100},
	} {
		c := star
		c.Model = x.model
		if o, err := s.Run(&c, nil); err != nil || o.Coloring != x.want || o.Messages != 3 {
			t.Errorf("%s: %+v (%v), want coloured at %d", name, o, err, x.want)
		}
	}
	// Three messages arrive at once: receives begin a gap apart.
	gather := Case{Procs: 4, Latency: 10, Overhead: 2, Tree: KAry, K: 3, Correction: broadcast.Acknowledged}
	gather.Model.Gap = 5
	if o, err := s.Run(&gather, nil); err != nil || o.Quiescence != 14+10+14 {
		t.Errorf("acknowledged: %+v (%v)", o, err)
	}
}

// TestNoise: noise depends on its seed alone, only delays, and by no more than its limit.
func TestNoise(t *testing.T) {
	var s Simulator
	c := Case{Procs: 1000, Latency: 2, Overhead: 1, Tree: Binomial, Correction: broadcast.Checked, Synchronised: true}
	quiet, err := s.Run(&c, nil)
	if err != nil {
		t.Fatal(err)
	}
	different := false
	var first Outcome
	for seed := range uint64(20) {
		c.Model = Model{Noise: 7, NoiseSeed: seed}
		o, err := s.Run(&c, nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := new(Simulator).Run(&c, nil)
		if err != nil || again != o {
			t.Fatalf("seed %d: %+v, then %+v (%v)", seed, o, again, err)
		}
		if o.Unreached != 0 || o.Quiescence < quiet.Quiescence {
			t.Errorf("seed %d: %+v, without noise %+v", seed, o, quiet)
		}
		if seed == 0 {
			first = o
		}
		different = different || o != first
	}
	if !different {
		t.Error("all seeds are the same")
	}
	c.Correction, c.Synchronised = broadcast.NoCorrection, false
	if quiet, err = s.Run(&Case{Procs: 1000, Latency: 2, Overhead: 1, Tree: Binomial}, nil); err != nil {
		t.Fatal(err)
	}
	if o, err := s.Run(&c, nil); err != nil || o.Coloring < quiet.Coloring || o.Coloring > quiet.Coloring+10*7 {
		t.Errorf("a tree of height 10: %+v (%v), without noise %+v", o, err, quiet)
	}
}

// TestDetailedAllocation: the allocations of a simulator that was used before don't grow with
// the events.
func TestDetailedAllocation(t *testing.T) {
	var s Simulator
	for name, model := range map[string]Model{
		"gap": {Gap: 2}, "noise": {Noise: 5}, "nodes": {Nodes: Nodes{Size: 16}, LatencyWithin: 1},
	} {
		c := Case{
			Procs: 4096, Latency: 2, Overhead: 1, Tree: KAry, K: 16, Correction: broadcast.Checked, Synchronised: true, Model: model,
			Crashes: []Crash{{5, fault.Trigger{Kind: fault.AtSend, N: 2}}, {9, fault.Trigger{Kind: fault.AtStep, N: 30}}},
		}
		if n := testing.AllocsPerRun(3, func() {
			if _, err := s.Run(&c, nil); err != nil {
				t.Fatal(err)
			}
		}); n > 20 {
			t.Errorf("%s: %v allocations for a broadcast of some 24,000 messages", name, n)
		}
	}
}

func TestParseCrashes(t *testing.T) {
	got, err := ParseCrashes("kill rank=3 at=step:12; stop rank=1 at=send:2", 4)
	if err != nil || len(got) != 2 || got[0] != (Crash{3, fault.Trigger{Kind: fault.AtStep, N: 12}}) || got[1] != (Crash{1, fault.Trigger{Kind: fault.AtSend, N: 2}}) {
		t.Errorf("%v, %v", got, err)
	}
	for text, want := range map[string]string{
		"kill rank=0 at=step:1":        "root",
		"kill rank=4 at=step:1":        "among 0…3",
		"kill rank=1 at=300ms":         "want step:N or send:N",
		"kill rank=1":                  "at= is missing",
		"random count=1 within=step:3": "too many",
	} {
		if _, err := ParseCrashes(text, 4); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestModelErrors(t *testing.T) {
	for want, change := range map[string]func(*Case){
		"gap: ":            func(c *Case) { c.Model.Gap = 1 },
		"noise: ":          func(c *Case) { c.Model.Noise = -1 },
		"latency_within: ": func(c *Case) { c.Model.LatencyWithin = 1 },
		"node_size: ":      func(c *Case) { c.Model.Nodes.Size = 17 },
		"placement: ":      func(c *Case) { c.Model.Nodes.Placement = 9 },
		"crashes: 0 ":      func(c *Case) { c.Crashes = []Crash{{}} },
		"crashes: at=":     func(c *Case) { c.Crashes = []Crash{{Proc: 1}} },
	} {
		c := Case{Procs: 16, Latency: 2, Overhead: 2, Tree: Binomial}
		change(&c)
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestNodes: whole nodes fail, but not the root's. The placement decides which runs of dead
// processes they leave on the ring.
func TestNodes(t *testing.T) {
	for placement, longest := range map[Placement]int{Consecutive: 8, Striped: 1} {
		for seed := range uint64(50) {
			c := Case{Procs: 128, Latency: 2, Overhead: 1, Tree: Binomial, Model: Model{Nodes: Nodes{Size: 8, Placement: placement}}}
			if err := c.FailNodes(1, rand.NewPCG(seed, 0)); err != nil || len(c.Failed) != 8 {
				t.Fatalf("%v: %v (%v)", placement, c.Failed, err)
			}
			run, most := 0, 0
			for p := range c.Procs {
				if run++; !slices.Contains(c.Failed, p) {
					run = 0
				}
				most = max(most, run)
			}
			if most != longest {
				t.Errorf("%v: a run of %d dead, want %d", placement, most, longest)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		procs := rapid.IntRange(1, 100).Draw(t, "procs")
		n := Nodes{
			Size: rapid.IntRange(1, procs).Draw(t, "size"), Seed: rapid.Uint64().Draw(t, "seed"),
			Placement: rapid.SampledFrom([]Placement{Consecutive, Shuffled, Striped}).Draw(t, "placement"),
		}
		if got, err := ParsePlacement(n.Placement.String()); err != nil || got != n.Placement {
			t.Fatalf("%v, %v", got, err)
		}
		node := n.Of(procs)
		size := make([]int, n.Count(procs))
		for _, i := range node {
			size[i]++
		}
		for i, got := range size {
			if want := min(n.Size, procs-i*n.Size); got != want {
				t.Fatalf("node %d has %d processes, want %d", i, got, want)
			}
		}
		if node[0] != 0 {
			t.Fatal("the root is not on node 0")
		}
		c := Case{Procs: procs, Latency: 2, Overhead: 1, Tree: Binomial, Model: Model{Nodes: n}}
		count := rapid.IntRange(0, len(size)-1).Draw(t, "failed")
		if err := c.FailNodes(count, rand.NewPCG(n.Seed, 1)); err != nil {
			t.Fatal(err)
		}
		lost := map[int32]bool{}
		for _, p := range c.Failed {
			lost[node[p]] = true
		}
		for p, i := range node {
			if lost[i] != slices.Contains(c.Failed, p) {
				t.Fatalf("node %d has failed in part", i)
			}
		}
		if len(lost) != count || lost[0] {
			t.Fatalf("nodes %v have failed, want %d", lost, count)
		}
		if c.FailNodes(len(size), rand.NewPCG(1, 0)) == nil {
			t.Fatal("the root's node has failed")
		}
	})
	if _, err := ParsePlacement("sideways"); err == nil {
		t.Error("sideways is no placement")
	}
	if err := (&Case{Procs: 8}).FailNodes(1, rand.NewPCG(1, 0)); err == nil {
		t.Error("there are no nodes")
	}
}

// TestPromisesUnderAnyModel: the promises of corrections hold with any gap, nodes and noise,
// after a tree or gossip. Failure-proof correction reaches every live process whatever crashes;
// checked and delayed correction do if no process crashes.
func TestPromisesUnderAnyModel(t *testing.T) {
	var s Simulator
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t)
		drawModel(t, &c)
		c.Distance, c.Unequal, c.LeftDistance, c.Delay = 0, false, 0, 0
		switch c.Correction = rapid.SampledFrom([]broadcast.Correction{broadcast.Checked, broadcast.Delayed, broadcast.FailureProof}).Draw(t, "which"); {
		case c.Correction == broadcast.Delayed && c.Tree == Gossip:
			c.Correction = broadcast.FailureProof
		case c.Correction == broadcast.Delayed:
			c.Delay = rapid.IntRange(0, 20).Draw(t, "wait")
		}
		if c.Correction != broadcast.FailureProof {
			c.Crashes = nil
		}
		o, err := s.Run(&c, nil)
		if err != nil {
			t.Fatal(err)
		}
		if o.Unreached != 0 {
			t.Fatalf("%s: %+v: %d live processes unreached", c.Describe(), c, o.Unreached)
		}
	})
}
