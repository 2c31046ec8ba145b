package viewsim

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/study/field"
	"banyan/internal/study/planning/risk"
	"banyan/internal/study/planning/viewtime"
)

func steps(nodes, arity int, fault string) Settings {
	f, err := ParseFault(fault)
	if err != nil {
		panic(err)
	}
	return Settings{Nodes: nodes, Arity: arity, Fault: f, Latency: 4, Overhead: 1, Compute: 2, Detection: 10}
}

func run(t *testing.T, s Settings, seed uint64) Outcome {
	t.Helper()
	o, err := Run(s, seed)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// model is the model of the settings, in steps.
func model(s Settings) viewtime.Model {
	return viewtime.Model{
		Latency: risk.Seconds(s.Latency + 2*s.Overhead), Compute: risk.Seconds(s.Compute), Overhead: risk.Seconds(s.Overhead),
	}
}

// TestMessages: n live processes need exactly 2(n-1) messages to agree on a death and n-1 to
// commit, whichever process died.
func TestMessages(t *testing.T) {
	for _, arity := range []int{2, 4, 8} {
		for live := 1; live <= 130; live++ {
			s := steps(live+1, arity, "node")
			o := run(t, s, uint64(live))
			want := Traffic{Propose: live - 1, Ack: live - 1, Commit: live - 1}
			if o.Traffic != want || !o.Agreed || o.Collided || o.Waits || o.Live != live || o.Views != 1 {
				t.Fatalf("%d live, arity %d: %+v", live, arity, o)
			}
		}
	}
}

// TestModel: the simulated time is between the base model and the model with fan-out, and
// equals the latter where the last level is full.
func TestModel(t *testing.T) {
	for _, arity := range []int{2, 4, 8} {
		for live := 2; live <= 300; live++ {
			s := steps(live+1, arity, "node")
			o, m := run(t, s, 1), model(s)
			least, most := proto.Time(m.Base(live, arity)), proto.Time(m.Stabilise(live, arity))
			levels := viewtime.Levels(live, arity)
			full := viewtime.Levels(live+1, arity) > levels
			if o.Stable < least || o.Stable > most || full && o.Stable != most {
				t.Errorf("%d live, arity %d: %d steps: model %d, with fan-out %d", live, arity, o.Stable, least, most)
			}
			// The commit goes down once more, without computing.
			if down := proto.Time(levels-1) * (s.Latency + 2*s.Overhead + proto.Time(arity-1)*s.Overhead); o.Installed <= o.Stable-1 || o.Installed > o.Stable+down {
				t.Errorf("%d live, arity %d: stable at %d, installed at %d", live, arity, o.Stable, o.Installed)
			}
		}
	}
}

// TestDistance: on a torus the simulated time is at most that of the distance model with
// fan-out, which takes the longest path of each level, and at least that of the longest single
// path.
func TestDistance(t *testing.T) {
	torus := viewtime.Topology{Size: [3]int{4, 4, 8}, Wrap: true}
	for _, arity := range []int{2, 4, 8} {
		for live := 2; live < 128; live++ {
			s := steps(live+1, arity, "node")
			dead := s.deaths(rand.New(rand.NewPCG(1, 0)))[0].node
			place := func(p proto.Proc) int { // without the dead: the model's nodes have no gaps
				if p > dead {
					p--
				}
				return int(p)
			}
			s.Hops = func(from, to proto.Proc) int { return torus.Distance(place(from), place(to)) }
			m := model(s)
			single := m
			m.Topology = torus
			longest := 0
			for p := 1; p < live; p++ {
				way := 0
				for q := p; q > 0; q = (q - 1) / arity {
					way += torus.Distance(q, (q-1)/arity)
				}
				longest = max(longest, way)
			}
			o := run(t, s, 1)
			least, most := 2*proto.Time(longest)*proto.Time(m.Latency), proto.Time(m.Stabilise(live, arity))
			if o.Stable < least || o.Stable > most || o.Stable < proto.Time(single.Base(live, arity)) {
				t.Errorf("%d live, arity %d: %d steps, want %d to %d", live, arity, o.Stable, least, most)
			}
		}
	}
}

// TestLogarithmic: every doubling adds the same time.
func TestLogarithmic(t *testing.T) {
	top := 14
	if testing.Short() {
		top = 11
	}
	var times []proto.Time
	for b := 2; b <= top; b++ {
		times = append(times, run(t, steps(1<<b, 2, "node"), 1).Stable) // 2^b - 1 live: full
	}
	s := steps(2, 2, "node")
	level := 2*(s.Latency+2*s.Overhead) + s.Overhead + s.Compute
	for i := 1; i < len(times); i++ {
		if times[i]-times[i-1] != level {
			t.Errorf("from %d to %d nodes: %d steps more, want %d: %v", 1<<(i+1), 1<<(i+2), times[i]-times[i-1], level, times)
		}
	}
}

// TestFaults: whatever fails, all processes agree in the end, none waits, and no number stands
// for two views.
func TestFaults(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 10
	}
	for _, fault := range []string{"node", "root", "several:1", "several:3", "several:6", "takeover", "join"} {
		views := map[int]int{}
		takeovers := 0
		for seed := range seeds {
			for _, spread := range []proto.Time{0, 30} {
				s := steps(7+int(seed)*3, 2<<(seed%3), fault)
				if seed%20 == 9 {
					s.Nodes = 1024
				}
				s.Spread, s.Within = spread, 60
				o := run(t, s, seed)
				joined := 0
				if fault == "join" {
					joined = 1
				}
				if !o.Agreed || o.Collided || o.Waits || o.Live != s.Nodes-s.Fault.Deaths()+joined {
					t.Fatalf("%s, seed %d, spread %d: %+v", fault, seed, spread, o)
				}
				views[o.Views]++
				if o.Traffic.Takeover > 0 {
					takeovers++
				}
			}
		}
		switch {
		case (fault == "node" || fault == "root" || fault == "several:1" || fault == "join") && views[1] != 2*int(seeds):
			t.Errorf("%s: views %v, want one each", fault, views)
		case (fault == "root" || fault == "takeover") && takeovers == 0:
			t.Errorf("%s: no coordinator ever asked what had been accepted", fault)
		}
	}
}

// TestGather: a coordinator that waits a moment needs one round for several deaths, though they
// are told one after the other. The time counts from its first step.
func TestGather(t *testing.T) {
	s := steps(40, 2, "several:4")
	s.Within, s.Gather = 60, 60
	for seed := range uint64(40) {
		o := run(t, s, seed)
		rounds := 1
		if o.Traffic.Takeover > 0 {
			rounds = 2
		}
		if m := model(s); !o.Agreed || o.Views != 1 || o.Traffic.Propose != 35 || o.Stable > proto.Time(rounds)*proto.Time(m.Stabilise(36, 2)) {
			t.Errorf("seed %d: %+v", seed, o)
		}
	}
}

// TestPaper: the protocol as printed handles one death correctly, and fails where a root dies
// while it spreads one. Banyan's doesn't fail in the same runs.
func TestPaper(t *testing.T) {
	for seed := range uint64(50) {
		s := steps(20, 2, "node")
		s.Protocol = Paper
		if o := run(t, s, seed); !o.Agreed || o.Collided || o.Waits || o.Traffic.Propose != 18 || o.Traffic.Ack != 18 {
			t.Fatalf("node, seed %d: %+v", seed, o)
		}
		s.Fault.Kind = Join
		if o := run(t, s, seed); !o.Agreed || o.Collided || o.Waits || o.Traffic.Commit != 1 {
			t.Fatalf("join, seed %d: %+v", seed, o)
		}
	}
	for _, fault := range []string{"takeover", "several:3"} {
		s := steps(20, 2, fault)
		s.Within, s.Spread = 60, 30
		var campaigns [3]Summary
		for _, p := range []Protocol{Banyan, Paper, PaperLists} {
			s.Protocol = p
			c := Campaign{Settings: s, Runs: 200, Seed: 1, Workers: 2}
			outcomes, err := c.Run(context.Background(), nil)
			if err != nil {
				t.Fatal(err)
			}
			campaigns[p] = Summarise(outcomes)
		}
		if m := campaigns[Banyan]; m.Agreed != 200 || m.Collided != 0 || m.Waits != 0 {
			t.Errorf("%s, banyan: %+v", fault, m)
		}
		if m := campaigns[Paper]; m.Agreed == 200 || m.Collided == 0 || m.Waits == 0 {
			t.Errorf("%s, paper, never caught: %+v", fault, m)
		}
		// Lists of deaths help, but not enough.
		if m := campaigns[PaperLists]; m.Agreed <= campaigns[Paper].Agreed || m.Collided == 0 || fault == "several:3" && m.Agreed == 200 {
			t.Errorf("%s, paper with lists: %+v", fault, m)
		}
	}
}

// TestDeterministic: the outcome depends on the seed, not on the workers.
func TestDeterministic(t *testing.T) {
	for _, p := range []Protocol{Banyan, Paper} {
		s := steps(50, 4, "several:4")
		s.Protocol, s.Within, s.Spread = p, 80, 40
		var all [2][]Outcome
		for i, workers := range []int{1, 3} {
			c := Campaign{Settings: s, Runs: 20, Seed: 7, Workers: workers}
			var err error
			if all[i], err = c.Run(context.Background(), nil); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(all[0], all[1]) {
			t.Errorf("%v: other outcomes with 3 workers", p)
		}
		if all[0][0] == all[0][1] && all[0][1] == all[0][2] {
			t.Errorf("%v: runs don't differ", p)
		}
	}
}

// TestNetwork: sends and receives of a process are serial, and a death cuts its sends short.
func TestNetwork(t *testing.T) {
	s := &Settings{Latency: 4, Overhead: 2}
	n := newNetwork[int](s, 4, []death{{3, 5}})
	log := &journal{}
	n.send(0, 0, 1, 10) // sent 0-2, there at 6, received at 8
	n.send(0, 0, 1, 11) // 2-4, 8, 10
	n.send(1, 2, 1, 12) // 1-3, 7, waits until 8, 10: 11 waits for it
	n.compute(0, 3, 3)
	if !n.send(0, 3, 1, 13) || n.send(0, 3, 1, 14) { // 3-5; the next would begin at 5
		t.Error("what was sent before a death")
	}
	n.run(log)
	want := []entry{{8, 1, 0, 10}, {10, 1, 2, 12}, {12, 1, 0, 11}, {14, 1, 3, 13}}
	if !slices.Equal(log.entries, want) {
		t.Errorf("received %v, want %v", log.entries, want)
	}
	// Three hops: two take 4 + 2·2 more each.
	s.Hops = func(from, to proto.Proc) int { return int(from + to) }
	far, log := newNetwork[int](s, 3, nil), &journal{}
	far.send(0, 1, 2, 10)
	if far.run(log); !slices.Equal(log.entries, []entry{{2 + 4 + 2*8 + 2, 2, 1, 10}}) {
		t.Errorf("over three hops: %v", log.entries)
	}
}

type entry struct {
	at      proto.Time
	p, from proto.Proc
	x       int
}

type journal struct{ entries []entry }

func (j *journal) receive(now proto.Time, p, from proto.Proc, x int) {
	j.entries = append(j.entries, entry{now, p, from, x})
}
func (j *journal) told(proto.Time, proto.Proc, proto.Proc) {}
func (j *journal) wake(proto.Time, proto.Proc)             {}

// TestMemory: a process takes no more than 2 KB, messages and views included.
func TestMemory(t *testing.T) {
	const nodes = 1 << 13
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	if o := run(t, steps(nodes, 2, "node"), 1); o.Live != nodes-1 {
		t.Errorf("%+v", o)
	}
	runtime.ReadMemStats(&after)
	each := (after.TotalAlloc - before.TotalAlloc) / nodes
	t.Logf("%d bytes allocated for each of %d processes", each, nodes)
	if each > 2048 {
		t.Errorf("%d bytes for each of %d processes", each, nodes)
	}
}

func TestBadSettings(t *testing.T) {
	for _, x := range []struct {
		field  string
		change func(*Settings)
	}{
		{"nodes", func(s *Settings) { s.Nodes = 0 }},
		{"nodes", func(s *Settings) { s.Nodes = MaxNodes + 1 }},
		{"nodes", func(s *Settings) { s.Nodes, s.Protocol = MaxPaperNodes+1, Paper }},
		{"arity", func(s *Settings) { s.Arity = 3 }},
		{"arity", func(s *Settings) { s.Arity = 1 }},
		{"arity", func(s *Settings) { s.Arity = -4 }},
		{"fault", func(s *Settings) { s.Nodes = 1 }},
		{"fault", func(s *Settings) { s.Fault = Fault{Several, 8} }},
		{"fault", func(s *Settings) { s.Nodes, s.Fault = 2, Fault{Kind: Takeover} }},
		{"latency", func(s *Settings) { s.Latency = -1 }},
		{"latency", func(s *Settings) { s.Latency = MaxTime + 1 }},
		{"overhead", func(s *Settings) { s.Overhead = 0 }},
		{"compute", func(s *Settings) { s.Compute = -1 }},
		{"gather", func(s *Settings) { s.Gather = -1 }},
		{"gather", func(s *Settings) { s.Gather, s.Protocol = 1, Paper }},
		{"within", func(s *Settings) { s.Within = -1 }},
	} {
		s := steps(8, 2, "node")
		x.change(&s)
		_, err := Run(s, 1)
		var wrong *field.Error
		if !errors.As(err, &wrong) || wrong.Field != x.field {
			t.Errorf("%+v: %v, want one of %s", s, err, x.field)
		}
	}
	for _, text := range []string{"", "leaf", "several", "several:", "several:0", "several:-1", "several:x", "node:1", "root:2"} {
		if _, err := ParseFault(text); err == nil {
			t.Errorf("fault %q", text)
		}
	}
	for _, text := range []string{"node", "root", "several:3", "takeover", "join"} {
		if f, err := ParseFault(text); err != nil || f.String() != text {
			t.Errorf("fault %q: %v, %v", text, f, err)
		}
	}
	if _, err := ParseProtocol("raft"); err == nil {
		t.Error("protocol raft")
	}
	for _, c := range []Campaign{{Settings: steps(8, 2, "node"), Workers: 1}, {Settings: steps(8, 2, "node"), Runs: 1}} {
		if _, err := c.Run(context.Background(), nil); err == nil {
			t.Errorf("%+v", c)
		}
	}
}
