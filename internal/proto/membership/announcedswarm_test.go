package membership

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"banyan/internal/proto"
)

// playAnnounced makes a run in which the side of a cut that goes on lets processes in, and dies:
// some of it, or all. Those of the other side are told of these deaths, and go on if they may.
func playAnnounced(seed uint64, b bug) (*swarm, error) {
	random := rand.New(rand.NewPCG(seed, 4))
	n := 3 + random.IntN(14)
	s := newSwarm(2*seed+1, n, b) // without leases
	s.announces, s.cutAt, s.until = true, proto.Time(200+random.IntN(300)), proto.Never
	if random.IntN(2) == 0 {
		s.until = s.cutAt + 600 + proto.Time(random.IntN(3000))
	}
	s.oneWay = random.IntN(4) == 0
	few := 1 + random.IntN((n+1)/2)
	for p := n - few; p < n; p++ {
		s.side[p] = true
	}
	s.script = fmt.Sprintf("%d members, arity %d; at %d: cut %d from %d until %d, one way %v", n, s.arity, s.cutAt, n-few, few, s.until, s.oneWay)
	s.suspectBeyond()
	for k := range 1 + random.IntN(2) {
		m, at := Member{Proc: proto.Proc(n + k)}, s.cutAt+proto.Time(random.IntN(1200))
		if k == 0 && random.IntN(3) == 0 {
			m = Member{Proc: 0, Incarnation: 1}
			s.kill(s.cutAt/2, 0)
		}
		q := s.join(at, m, []Member{s.nodes[random.IntN(n-few)].Member})
		s.side[q] = random.IntN(5) == 0
		s.kill(at+20_000, q) // it may ask dead processes for ever
		s.script += fmt.Sprintf("; at %d: %v joins", at, m)
	}
	some := random.IntN(4) == 0
	for p := range n - few {
		if at := s.cutAt + 700 + proto.Time(random.IntN(1500)); !some || random.IntN(2) == 0 {
			s.script += fmt.Sprintf("; at %d: %d dies", at, p)
			s.kill(at, p)
		}
	}
	return s, s.run()
}

// TestAnnouncedSwarm: a side that goes on lets processes in and dies, in groups of up to 17.
func TestAnnouncedSwarm(t *testing.T) {
	seen := swarms(t, 1500, "TestAnnouncedSwarm", func(seed uint64) (*swarm, error) { return playAnnounced(seed, bug{}) })
	for _, what := range []string{"claim", "pledge", "let in", "let in again"} {
		if seen[what] == 0 && !t.Failed() && *swarmSeed == 0 && !testing.Short() {
			t.Errorf("it never occurred: %s", what)
		}
	}
}

// TestAnnouncedSwarmCatches: these runs find a process that doesn't ask those who were announced.
func TestAnnouncedSwarmCatches(t *testing.T) {
	catches(t, "who is announced isn't asked", "total order", func(seed uint64) (*swarm, error) { return playAnnounced(seed, bug{ignores: true}) })
}
