package membership

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"banyan/internal/proto"
)

// play makes a run from a seed: a group of up to n and the faults in it.
func play(seed uint64, n int, b bug) (*swarm, error) {
	random := rand.New(rand.NewPCG(seed, 2))
	n -= random.IntN(n/2 + 1)
	s := newSwarm(seed, n, b)
	s.script = fmt.Sprintf("%d members, arity %d", n, s.arity)
	// One process stays alive, so that it can admit others.
	safe := random.IntN(n)
	kill := func(at proto.Time, p int) {
		if p != safe && p < n {
			s.kill(at, p)
		}
	}
	leave := func(at proto.Time, p int) {
		if p != safe {
			s.after(at, func() error { return s.leave(p) })
		}
	}
	contacts := func() []Member {
		list := []Member{s.nodes[safe].Member}
		for range 2 {
			list = append(list, s.nodes[random.IntN(n)].Member)
		}
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		return list
	}
	next, incarnations := n, map[int]uint32{}
	suspects := 0
	for range 1 + random.IntN(4) {
		at := proto.Time(random.IntN(1500))
		p := random.IntN(n)
		kind := random.IntN(12)
		s.script += fmt.Sprintf("; at %d: ", at)
		switch kind {
		case 0:
			s.script += fmt.Sprintf("%d dies", p)
			kill(at, p)
		case 1:
			k := 1 + random.IntN(min(n, 20))
			s.script += fmt.Sprintf("%d from %d on die", k, p)
			for i := range k {
				kill(at+proto.Time(random.IntN(100)), p+i)
			}
		case 2:
			s.script += "one of each level dies"
			for q := 1; q < n; q = s.arity*q + 1 {
				kill(at, q)
			}
		case 3:
			k := 1 + random.IntN(min(n, 6))
			s.script += fmt.Sprintf("%d coordinators in a row die", k)
			for i := range k {
				kill(at+proto.Time(i*random.IntN(400)), i)
			}
		case 4:
			s.script += fmt.Sprintf("%d leaves", p)
			leave(at, p)
		case 5:
			s.script += "the coordinator leaves"
			leave(at, 0)
		case 6, 7, 8:
			k := 1 + random.IntN(3)
			s.script += fmt.Sprintf("%d join", k)
			for range k {
				q := s.join(at, Member{Proc: proto.Proc(next)}, contacts())
				next++
				if kind == 7 {
					s.script += " and die"
					s.kill(at+proto.Time(random.IntN(150)), q)
				}
			}
			if kind == 8 {
				s.script += ", the coordinators die"
				kill(at+proto.Time(random.IntN(100)), 0)
				kill(at+proto.Time(random.IntN(300)), 1)
			}
		case 9:
			incarnations[p]++
			s.script += fmt.Sprintf("%d dies and comes back", p)
			if p != safe && incarnations[p] == 1 {
				kill(at, p)
				s.join(at+proto.Time(70+random.IntN(900)), Member{proto.Proc(p), 1}, contacts())
			}
		case 11:
			k := 1 + random.IntN(5)
			s.script += fmt.Sprintf("%d change what they say of themselves from %d on", k, p)
			for i := range k {
				s.change(at+proto.Time(random.IntN(300)), (p+i)%n)
			}
		case 10:
			// Suspicions are few, so that there is a quorum even with all deaths feared.
			if p == safe || suspects > 0 || n < 8 {
				break
			}
			suspects++
			s.script += fmt.Sprintf("%d is held for dead", p)
			s.nodes[p].suspect = true
			s.after(at, func() error {
				for q := range s.nodes {
					if p != q {
						s.after(s.within(300), func() error {
							if s.nodes[q].machine == nil {
								return nil
							}
							return s.step(q, func(m *Machine, out *Actions) { m.Departed(s.now, s.nodes[p].Member, Silent, out) })
						})
					}
				}
				return nil
			})
		}
	}
	for q := n; q < len(s.nodes) && suspects > 0; q++ {
		// In the end there may be no quorum, and no process to admit the joiner.
		s.after(20_000, func() error {
			if m := s.nodes[q].machine; m == nil || m.View() != nil {
				return nil
			}
			return s.die(q, dead)
		})
	}
	return s, s.run()
}

func (s *swarm) leave(p int) error {
	return s.step(p, func(m *Machine, out *Actions) { m.Leave(s.now, out) })
}

// change lets a member change its metadata.
func (s *swarm) change(at proto.Time, p int) {
	s.after(at, func() error {
		s.seen["metadata change"]++
		return s.step(p, func(m *Machine, out *Actions) { m.SetMetadata(s.now, fmt.Sprint(s.now), out) })
	})
}

// TestSwarm plays groups of up to 1,024 with faults of all kinds.
func TestSwarm(t *testing.T) {
	largest := 0
	seen := swarms(t, 1500, "TestSwarm", func(seed uint64) (*swarm, error) {
		n := 3 << (seed % 6)
		if seed%40 == 0 {
			n = 1024
		}
		s, err := play(seed, n, bug{})
		largest = max(largest, len(s.nodes))
		return s, err
	})
	t.Logf("the largest of %d", largest)
	for _, what := range []string{"a coordinator dies", "a coordinator dies while admitting", "a coordinator dies during a change", "a joiner dies",
		"let in", "let in again", "released", "excluded", "heard of the excluded", "collect", "report", "reject", "redirect", "eviction notice", "current", "update"} {
		if seen[what] == 0 && !t.Failed() && *swarmSeed == 0 && !testing.Short() {
			t.Errorf("it never occurred: %s", what)
		}
	}
}

// swarms plays runs and gathers the events that occurred in them.
func swarms(t *testing.T, seeds uint64, test string, play func(uint64) (*swarm, error)) map[string]int {
	first := uint64(1)
	switch {
	case *swarmSeed > 0:
		first, seeds = *swarmSeed, *swarmSeed
	case *swarmSeeds > 0:
		seeds = *swarmSeeds
	case testing.Short():
		seeds /= 8
	}
	all := map[string]int{}
	for seed := first; seed <= seeds; seed++ {
		s, err := play(seed)
		if err != nil {
			t.Fatalf("go test ./internal/proto/membership -run '%s$' -seed %d: %v (%s)", test, seed, err, s.script)
		}
		for what, n := range s.seen {
			all[what] += n
		}
	}
	t.Logf("%d runs: %v", seeds-first+1, all)
	return all
}

// playCut makes a run in which the network is cut in two: with certain deaths on both sides,
// ties, before, during and after changes, for good or for a while, in both directions or in
// one. In other runs the detector suspects arbitrary processes.
func playCut(seed uint64, b bug) (*swarm, error) {
	random := rand.New(rand.NewPCG(seed, 3))
	n := 2 + random.IntN(15)
	s := newSwarm(seed, n, b)
	s.script = fmt.Sprintf("%d members, arity %d", n, s.arity)
	if seed%4 == 0 {
		s.lies, s.script = true, s.script+", the detector lies"
		for range 1 + random.IntN(3*n) {
			p, q, at := random.IntN(n), random.IntN(n), proto.Time(random.IntN(2500))
			if p != q {
				s.after(at, func() error {
					return s.step(p, func(m *Machine, out *Actions) { m.Departed(s.now, s.nodes[q].Member, Silent, out) })
				})
			}
		}
	} else {
		s.cut(random, n)
	}
	for range random.IntN(4) {
		p, at := random.IntN(n), proto.Time(random.IntN(2000))
		s.script += fmt.Sprintf("; at %d: %d ", at, p)
		if random.IntN(4) == 0 {
			s.script += "leaves"
			s.after(at, func() error { return s.leave(p) })
		} else {
			s.script += "dies"
			s.kill(at, p)
		}
	}
	if !s.lies && (s.far || random.IntN(3) == 0) {
		// Joiners during a cut: see Limits. Deaths beyond it are never certain here.
		s.far = true
		at := proto.Time(random.IntN(2000))
		s.script += fmt.Sprintf("; at %d: one joins", at)
		contact := random.IntN(n)
		q := s.join(at, Member{Proc: proto.Proc(n)}, []Member{s.nodes[contact].Member})
		s.side[q] = s.side[contact]
		s.kill(at+20_000, q) // it may ask dead processes for ever
	}
	return s, s.run()
}

func (s *swarm) cut(random *rand.Rand, n int) {
	first := 0
	for p := range n {
		if random.IntN(2) == 0 || p == 0 && n > 1 && random.IntN(2) == 0 {
			s.side[p] = true
			first++
		}
	}
	s.cutAt, s.until = proto.Time(random.IntN(1500)), proto.Never
	if random.IntN(2) == 0 {
		s.until = s.cutAt + 600 + proto.Time(random.IntN(3000))
	}
	s.oneWay, s.far = random.IntN(3) == 0, random.IntN(2) == 0
	s.script += fmt.Sprintf("; at %d: cut %d from %d until %d, one way %v, deaths beyond uncertain %v", s.cutAt, first, n-first, s.until, s.oneWay, s.far)
	s.suspectBeyond()
}

// suspectBeyond has all be told that those whom they don't hear are silent.
func (s *swarm) suspectBeyond() {
	s.after(s.cutAt, func() error {
		delay := 300 + s.within(300)
		for p := range s.nodes {
			for q := range s.nodes {
				if s.deaf(q, p) {
					s.after(delay+s.within(300), func() error {
						if s.nodes[p].machine == nil || s.nodes[q].state == unborn {
							return nil
						}
						return s.step(p, func(m *Machine, out *Actions) { m.Departed(s.now, s.nodes[q].Member, Silent, out) })
					})
				}
			}
		}
		return nil
	})
}

// TestCuts: the two sides never both go on, whatever fails when, and whatever process the
// detector suspects. Where it suspects only processes beyond the cut, all processes that go on
// end in one view.
func TestCuts(t *testing.T) {
	seen := swarms(t, 3000, "TestCuts", func(seed uint64) (*swarm, error) { return playCut(seed, bug{}) })
	for _, what := range []string{"halted", "excluded", "let in", "ask", "certain", "halt", "reject", "nobody is left", "a lease is used"} {
		if seen[what] == 0 && !t.Failed() && *swarmSeed == 0 && !testing.Short() {
			t.Errorf("it never occurred: %s", what)
		}
	}
}

// TestSwarmCatches: the runs find known bugs, each by the property that it breaks.
func TestSwarmCatches(t *testing.T) {
	catches(t, "who takes over doesn't ask", "total order", func(seed uint64) (*swarm, error) { return play(seed, 12, bug{presumes: true}) })
	all := func(*View, []Departure) bool { return true }
	catches(t, "anybody may decide", "total order", func(seed uint64) (*swarm, error) { return playCut(seed, bug{quorum: all}) })
}

func catches(t *testing.T, name, property string, play func(uint64) (*swarm, error)) {
	t.Helper()
	for seed := uint64(1); seed <= 20_000; seed++ {
		if s, err := play(seed); err != nil {
			if !strings.HasPrefix(err.Error(), property) {
				t.Errorf("%s: %v, want %s (%s)", name, err, property, s.script)
			}
			t.Logf("%s: seed %d", name, seed)
			return
		}
	}
	t.Errorf("%s: never caught", name)
}
