package stabilisation

import (
	"context"
	"fmt"
	"testing"
	"time"

	"banyan/internal/proto"
)

// tolerance is how far the engines may be apart in a run with so many failures. Both say when
// time-outs expire, to the message; the times of messages each of them draws for itself. On the
// way to the last node's knowledge there are at most as many broadcasts and reconnections as
// theorem 1 allows time for.
func tolerance(s *Settings, failures int) proto.Time {
	timeouts := float64(failures*(failures+1)) * float64(s.Timeout)
	return proto.Time(s.Bound(failures)-timeouts) + 2*s.Tau
}

// TestAgainstMachines: both engines give the same runs: stable or not, with the same failures
// and broadcasts, and times that differ by the messages' times. That holds where theorem 1
// covers the failures; beyond it a broadcast may miss nodes, which the abstraction doesn't
// model.
func TestAgainstMachines(t *testing.T) {
	type engines struct{ abstract, machines Outcome }
	apart := proto.Time(0)
	runs := 0
	for _, n := range []int{4, 5, 8, 11, 16, 30, 64} {
		base := lowNoise(n)
		base.HostSize = min(3, base.MostFailures())
		laws := map[string]Settings{}
		for f := 1; f <= base.MostFailures(); f++ {
			for _, within := range []proto.Time{second, 50 * second, 300 * second} {
				s := base
				s.Failures, s.Within = f, within
				laws[fmt.Sprintf("%d within %d s", f, within/second)] = s
			}
			s := base
			s.Law, s.Failures, s.Gap = Paced, f, 20*second
			laws[fmt.Sprintf("%d paced", f)] = s
		}
		s := base
		s.Law, s.MTBF = Exponential, 100*proto.Time(n)*second
		laws["exponential"] = s
		s = base
		s.Law = WholeHost
		laws["host"] = s
		s.Order = Interleaved
		laws["host, interleaved"] = s
		for name, s := range laws {
			abstraction, machines := Abstract.New(&s), Machine.New(&s)
			for seed := range uint64(40) {
				var o engines
				var err error
				if o.abstract, err = abstraction.Run(context.Background(), NewScenario(&s, seed)); err != nil {
					t.Fatal(err)
				}
				if o.machines, err = machines.Run(context.Background(), NewScenario(&s, seed)); err != nil {
					t.Fatal(err)
				}
				runs++
				a, m := o.abstract, o.machines
				off := max(a.First-m.First, m.First-a.First, a.All-m.All, m.All-a.All, a.Detected-m.Detected, m.Detected-a.Detected)
				apart = max(apart, off)
				if !a.Stable || !m.Stable || m.False > 0 || a.Failures != m.Failures || a.Broadcasts != m.Broadcasts ||
					a.Messages.Observes != m.Messages.Observes || off > tolerance(&s, a.Failures) {
					t.Errorf("n = %d, %s, seed %d:\nabstract %+v\nmachines %+v", n, name, seed, a, m)
				}
			}
		}
	}
	t.Logf("%d runs, at most %d ns apart", runs, apart)
}

// TestQuiet: when all deaths are told, each live node sends one heartbeat in a period, and
// nothing else.
func TestQuiet(t *testing.T) {
	for _, n := range []int{2, 3, 17, 100} {
		s := lowNoise(n)
		s.Failures, s.Within = max(1, s.MostFailures()), 100*second
		for seed := range uint64(5) {
			sent, live, err := NewMachines(&s).Quiet(context.Background(), NewScenario(&s, seed), 7)
			want := Messages{Heartbeats: 7 * live}
			if live == 1 {
				want = Messages{}
			}
			if err != nil || live != n-s.Failures || sent != want {
				t.Errorf("n = %d: %d live nodes sent %+v in 7 periods; %v", n, live, sent, err)
			}
		}
	}
}

// TestFalseSuspicion: a time-out no longer than the period, which Validate forbids, is
// detected.
func TestFalseSuspicion(t *testing.T) {
	s := lowNoise(10)
	s.Timeout = s.Period - 1
	if s.Validate() == nil {
		t.Error("settings with δ < η are valid")
	}
	s.Timeout = s.Period / 3
	o, err := NewMachines(&s).Run(context.Background(), NewScenario(&s, 1))
	if err != nil || o.Stable || o.False == 0 {
		t.Errorf("%+v, %v", o, err)
	}
}

// TestInterrupted: a run ends when its context does, before the end of its scenario.
func TestInterrupted(t *testing.T) {
	s := lowNoise(20000)
	ctx, cancel := context.WithCancel(context.Background())
	m := NewMachines(&s)
	go func() {
		for ctx.Err() == nil {
			time.Sleep(20 * time.Millisecond)
			cancel()
		}
	}()
	for seed := range uint64(100) {
		if _, err := m.Run(ctx, NewScenario(&s, seed)); err != nil {
			if err != context.Canceled {
				t.Error(err)
			}
			return
		}
	}
	t.Error("100 runs weren't interrupted")
}

func BenchmarkMachines(b *testing.B) {
	s := lowNoise(16000)
	s.Failures, s.Within = 12, 50*second
	m := NewMachines(&s)
	seed := uint64(0)
	events := 0
	for b.Loop() {
		seed++
		if _, err := m.Run(context.Background(), NewScenario(&s, seed)); err != nil {
			b.Fatal(err)
		}
		events += m.network.Events
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
}
