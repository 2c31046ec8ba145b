package causal

import (
	"flag"
	"math/rand/v2"
	"testing"
)

// outcome is what becomes of a job.
type outcome int

const (
	ends outcome = iota
	hangs
	loses
	refuses
)

// legalIn is what receives take in jobs without replicas.
func legalIn(t *testing.T, p program) map[string]bool {
	legal := map[string]bool{}
	for seed := range uint64(300) {
		m := newModel(p, rules["refuse any source"], 1, rand.New(rand.NewPCG(seed, 0)))
		if !m.run(0) {
			t.Fatal("the program hangs by itself")
		}
		for what := range m.taken {
			legal[what] = true
		}
	}
	return legal
}

// try runs a program with replicas under a rule, with deaths.
func try(p program, r rule, layers int, legal map[string]bool, seed uint64) outcome {
	m := newModel(p, r, layers, rand.New(rand.NewPCG(seed, 1)))
	m.legal = legal
	switch ended := m.run(3); {
	case m.refused:
		return refuses
	case m.lost != "":
		return loses
	case !ended:
		return hangs
	}
	return ends
}

// programs show what rules do wrong.
var programs = map[string]program{
	// Rank 0 gets a from rank 2, says so on another communicator, and then gets b from rank 1.
	"across communicators": {
		{{receive(1, anySource, 0), send(2, 1, 'g'), receive(1, anySource, 0)}},
		{{receive(2, 0, 0), send(1, 0, 'b')}},
		{{send(1, 0, 'a')}},
	},
	// The same, and rank 1 has one thread that hears and one that says.
	"through memory": {
		{{receive(1, anySource, 0), send(2, 1, 'g'), receive(1, anySource, 0)}},
		{{receive(2, 0, 0)}, {after(0, 1), send(1, 0, 'b')}},
		{{send(1, 0, 'a')}},
	},
	// The same, and another thread of rank 0 has sent much by itself.
	"beside another thread": {
		{{receive(1, anySource, 0), send(2, 1, 'g'), receive(1, anySource, 0)}, {send(0, 2, 'x'), send(0, 2, 'x'), send(0, 2, 'x')}},
		{{receive(2, 0, 0), send(1, 0, 'b')}},
		{{send(1, 0, 'a')}, {receive(0, 0, 0), receive(0, 0, 0), receive(0, 0, 0)}},
	},
	// Two threads of each rank, with a communicator each, pass something around.
	"two rings": {
		{{send(1, 1, 'a'), receive(1, anySource, 0), send(1, 1, 'a'), receive(1, anySource, 0)}, {send(2, 1, 'a'), receive(2, anySource, 0), send(2, 1, 'a'), receive(2, anySource, 0)}},
		{{receive(1, anySource, 0), send(1, 2, 'a'), receive(1, anySource, 0), send(1, 2, 'a')}, {receive(2, anySource, 0), send(2, 2, 'a'), receive(2, anySource, 0), send(2, 2, 'a')}},
		{{receive(1, anySource, 0), send(1, 0, 'a'), receive(1, anySource, 0), send(1, 0, 'a')}, {receive(2, anySource, 0), send(2, 0, 'a'), receive(2, anySource, 0), send(2, 0, 'a')}},
	},
	// Rank 0 is a server of two threads that names its sources. Its answer to rank 1 precedes what
	// its other thread hears, in one layer, and follows it in another.
	"a server that names its sources": {
		{{receive(1, 2, 0)}, {send(2, 1, 'm')}},
		{{receive(2, 0, 0), send(1, 2, 'b')}},
		{{receive(1, 1, 0), send(1, 0, 'z')}},
	},
	// The same, and rank 3 hears from rank 1 what that has heard.
	"a client's client": {
		{{receive(1, 2, 0)}, {send(2, 1, 'm')}},
		{{receive(2, 0, 0), send(1, 3, 'c')}},
		{{receive(1, 3, 0), send(1, 0, 'z')}},
		{{receive(1, 1, 0), send(1, 2, 'b')}},
	},
	// Rank 3 receives from any source: from rank 1, and after its answer from rank 2.
	"a client that receives from any source": {
		{{receive(1, 2, 0)}, {send(2, 1, 'm')}},
		{{send(1, 3, 'p'), receive(2, 0, 0), send(1, 2, 'b')}},
		{{receive(1, 1, 0), receive(1, 3, 0), send(1, 3, 'q'), send(1, 0, 'z')}},
		{{receive(1, anySource, 0), send(1, 2, 'r'), receive(1, anySource, 0)}},
	},
	// Ranks 1 and 2 have threads whose messages rank 0 receives from any source. What rank 2 hears
	// in one thread precedes, in some replica, what it says in the other.
	"a third rank": {
		{{receive(1, anySource, 0), send(1, 1, 'y')}, {receive(2, anySource, 0), send(2, 1, 'm')}},
		{{send(1, 0, 'n'), receive(1, 0, 0), send(1, 2, 'z')}, {receive(2, 0, 0)}},
		{{receive(1, 1, 0)}, {send(2, 0, 'x')}},
	},
}

// Each rule that is no rule for threads is shown to hang, or to lose a cause.
func TestCanariesOfThreads(t *testing.T) {
	for _, c := range []struct {
		rule, program string
		does          outcome
	}{
		{"one count", "two rings", hangs},
		{"one count", "beside another thread", loses},
		{"one count, named sources don't wait", "two rings", hangs},
		{"a clock for each communicator", "across communicators", loses},
		{"a clock for each thread", "through memory", loses},
		{"a count for each channel, named sources don't wait", "a third rank", hangs},
		{"threads refuse any source", "a server that names its sources", hangs},
		{"threads refuse any source", "a client's client", hangs},
	} {
		legal, found := legalIn(t, programs[c.program]), false
		for seed := range uint64(40000) {
			if found = try(programs[c.program], rules[c.rule], 2, legal, seed) == c.does; found {
				break
			}
		}
		if !found {
			t.Errorf("%s, %s: outcome %d wasn't found", c.rule, c.program, c.does)
		}
	}
}

// Some rules neither hang nor lose a cause: the one that is built, another one that refuses, and
// one that has a count for each channel in each message.
func TestRulesForThreads(t *testing.T) {
	for what, p := range programs {
		legal := legalIn(t, p)
		for _, name := range []string{"threads lose causes", "refuse any source", "a count for each channel"} {
			for _, layers := range []int{2, 3} {
				refused := 0
				for seed := range uint64(*threadRuns) {
					switch got := try(p, rules[name], layers, legal, seed); got {
					case hangs, loses:
						t.Fatalf("%s, %d replicas, %s, seed %d: outcome %d", name, layers, what, seed, got)
					case refuses:
						refused++
					}
				}
				if name == "a count for each channel" && refused > 0 || name == "refuse any source" && refused == 0 && p.asksAny() {
					t.Errorf("%s, %d replicas, %s: %d jobs refused", name, layers, what, refused)
				}
			}
		}
	}
}

var threadRuns = flag.Int("threadruns", 500, "how many jobs TestRulesForThreads runs of each kind")

// asksAny tells whether a thread receives from any source.
func (p program) asksAny() bool {
	for _, threads := range p {
		for _, operations := range threads {
			for _, o := range operations {
				if o.kind == 'r' && o.peer == anySource {
					return true
				}
			}
		}
	}
	return false
}
