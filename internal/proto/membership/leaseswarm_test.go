package membership

import (
	"fmt"
	"strings"
	"testing"

	"banyan/internal/proto"
)

const swarmLease, swarmPromise proto.Time = 300, 400

// lease has members ask for leases, use them, and give some back. Clocks of processes that ask run
// at 76 to 130 percent of the speed of those that promise.
func (s *swarm) lease(n int) {
	s.claims, s.rates = map[int]claim{}, make([]proto.Time, n)
	for p := range n {
		s.rates[p] = 76 + s.within(54)
		if s.bug.slow {
			s.rates[p] = 50
		}
	}
	for range min(n, 4) {
		p := s.random.IntN(n)
		for at := s.within(300); at < 4000; at += 20 + s.within(400) {
			s.after(at, func() error { return s.ask(p) })
		}
	}
}

func (s *swarm) clock(p int) proto.Time { return s.now * s.rates[p] / 100 }

func (s *swarm) ask(p int) error {
	s.after(10+s.within(100), func() error { return s.use(p) })
	return s.step(p, func(m *Machine, out *Actions) { m.AskLease(s.clock(p), out) })
}

// use uses a lease, if there is one.
func (s *swarm) use(p int) error {
	m := s.nodes[p].machine
	if s.nodes[p].state != living || m.Leased() <= s.clock(p) {
		return nil
	}
	c := claim{m.View().Number, s.now + (m.Leased()-s.clock(p))*100/s.rates[p]}
	s.claims[p] = c
	s.seen["a lease is used"]++
	for _, x := range s.nodes {
		if x.machine != nil && x.machine.View() != nil && x.machine.View().Number > c.view {
			return fmt.Errorf("lease: at %d %d relies on view %d, and %v has view %d", s.now, p, c.view, x.Member, x.machine.View().Number)
		}
	}
	if s.random.IntN(2) == 0 {
		s.after(s.within(swarmLease), func() error {
			if s.claims[p] != c {
				return nil
			}
			delete(s.claims, p)
			return s.step(p, func(m *Machine, out *Actions) { m.Hold(s.now, 0, out) })
		})
	}
	return s.step(p, func(m *Machine, out *Actions) { m.Hold(s.now, c.until, out) })
}

// past says whether some process relies on an earlier view than one that comes into force.
func (s *swarm) past(number uint64) error {
	for p, c := range s.claims {
		if c.until > s.now && c.view < number {
			return fmt.Errorf("lease: view %d comes into force at %d, and %d relies on view %d until %d", number, s.now, p, c.view, c.until)
		}
	}
	return nil
}

// Leases whose clocks differ by more than leases and promises do aren't sound, and the runs show
// it.
func TestSwarmCatchesSlowClocks(t *testing.T) {
	for seed := uint64(2); seed <= 4000; seed++ {
		if s, err := playCut(seed, bug{slow: true}); err != nil {
			if !strings.HasPrefix(err.Error(), "lease: ") {
				t.Errorf("%v (%s)", err, s.script)
			}
			return
		}
	}
	t.Error("never caught")
}
