package stabilisation

import (
	"context"
	"math"
	"slices"
	"testing"

	"banyan/internal/proto"
)

const second = proto.Time(1e9)

// lowNoise is a scenario of the paper, section 4.1.
func lowNoise(nodes int) Settings {
	return Settings{
		Nodes: nodes, Period: 10 * second, Timeout: 60 * second, Tau: 1000, HostSize: 1,
		Law: Forced, Failures: 1,
	}
}

func play(t testing.TB, s Settings, kind EngineKind, runs int) []Outcome {
	t.Helper()
	c := Campaign{Settings: s, Engine: kind, Runs: runs, Seed: 1, Workers: 2}
	outcomes, err := c.Run(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return outcomes
}

// planned is a scenario with given failures.
func planned(s *Settings, failures ...Failure) *Scenario {
	c := NewScenario(s, 1)
	c.drawn = failures
	return c
}

// run plays one scenario in the abstraction.
func run(t testing.TB, c *Scenario) Outcome {
	t.Helper()
	o, err := NewAbstraction(c.Settings).Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// about tells whether a time equals another, up to the time of messages.
func about(got, want proto.Time) bool { return got >= want && got < want+1e6 }

// sinceBeat is for how long a node has been silent when it dies.
func sinceBeat(c *Scenario, f Failure) proto.Time {
	return (c.Onset() + f.At - c.Phase(f.Node)) % c.Period
}

// TestOneFailure: δ after the last heartbeat all know of the death; that is δ - η/2 after the
// death on average.
func TestOneFailure(t *testing.T) {
	s := lowNoise(1000)
	for seed := range uint64(100) {
		c := NewScenario(&s, seed)
		o := run(t, c)
		f, _ := c.Failure(0)
		want := s.Timeout - sinceBeat(c, f)
		if !o.Stable || o.Failures != 1 || o.Broadcasts != 1 || o.Messages.Observes != 1 || o.First != o.All || !about(o.All, want) {
			t.Errorf("seed %d: %+v, want about %d", seed, o, want)
		}
		if news := o.Messages.News; news != 2*9*511 {
			t.Errorf("%d messages of the broadcast", news)
		}
		if beats := o.Messages.Heartbeats; beats < 4990 || beats > 6001 {
			t.Errorf("%d heartbeats", beats)
		}
	}
	m := s.Summarise(play(t, s, Abstract, 2000))
	if math.Abs(m.First.Mean-55) > 2*m.First.Error || m.First.Deviation < 2.5 || m.First.Deviation > 3.3 || m.Unstable+m.Exceeded+m.Beyond > 0 {
		t.Errorf("%+v", m)
	}
}

// TestNeighbours: the cost of two deaths next to each other.
func TestNeighbours(t *testing.T) {
	s := lowNoise(100)
	s.Failures, s.Within = 2, s.Timeout
	for _, test := range []struct {
		name       string
		failures   []Failure
		first, all func(silent func(i int) proto.Time) proto.Time
		broadcasts int
	}{
		{
			// 51 dies before it can tell; 52 then finds 50 dead and gives it 2δ.
			"the observer dies after", []Failure{{0, 50}, {20 * second, 51}},
			func(silent func(int) proto.Time) proto.Time { return 80*second - silent(1) + 120*second },
			func(silent func(int) proto.Time) proto.Time { return 80*second - silent(1) + 120*second },
			2,
		},
		{
			// 51 tells of 50 and then finds 49 dead.
			"the emitter's emitter dies", []Failure{{0, 50}, {20 * second, 49}},
			func(silent func(int) proto.Time) proto.Time { return 60*second - silent(0) },
			func(silent func(int) proto.Time) proto.Time { return 60*second - silent(0) + 120*second },
			2,
		},
		{
			// 51 tells of 50 and dies; 52 detects that and must tell of both.
			"the observer dies when it has told", []Failure{{0, 50}, {70 * second, 51}},
			func(silent func(int) proto.Time) proto.Time { return 60*second - silent(0) },
			func(silent func(int) proto.Time) proto.Time { return 130*second - silent(1) },
			2,
		},
		{
			// 51 has been getting heartbeats from 49 since it detected 50.
			"the new emitter dies", []Failure{{0, 50}, {100 * second, 49}},
			func(silent func(int) proto.Time) proto.Time { return 60*second - silent(0) },
			func(silent func(int) proto.Time) proto.Time {
				detected := 60*second - silent(0)
				return detected + (100*second-detected)/(10*second)*10*second + 60*second
			},
			2,
		},
		{
			"far apart", []Failure{{0, 50}, {20 * second, 9}},
			func(silent func(int) proto.Time) proto.Time { return 60*second - silent(0) },
			func(silent func(int) proto.Time) proto.Time { return 80*second - silent(1) },
			2,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := planned(&s, test.failures...)
			o := run(t, c)
			silent := func(i int) proto.Time { return sinceBeat(c, test.failures[i]) }
			if !o.Stable || !about(o.First, test.first(silent)) || !about(o.All, test.all(silent)) || o.Broadcasts != test.broadcasts {
				t.Errorf("%+v, want %d and %d", o, test.first(silent), test.all(silent))
			}
		})
	}
}

// TestWholeHost: on a ring by rank the dead of a host of m are detected one by one, each but
// the first after 2δ; on an interleaved ring all at once.
func TestWholeHost(t *testing.T) {
	for _, m := range []int{2, 5, 16} {
		s := lowNoise(16 * m)
		s.Law, s.HostSize = WholeHost, m
		byRank := s.Summarise(play(t, s, Abstract, 200))
		if worst := float64(2*m-1) * 60; byRank.All.Greatest > worst+0.01 || byRank.All.Least < worst-10 {
			t.Errorf("m = %d: by rank %+v, want (2m-1)δ less η at most", m, byRank.All)
		}
		s.Order = Interleaved
		interleaved := s.Summarise(play(t, s, Abstract, 200))
		if interleaved.All.Greatest > 60.01 || interleaved.All.Least < 50 {
			t.Errorf("m = %d: interleaved %+v", m, interleaved.All)
		}
	}
}

// TestTheorem: no run takes longer than the bound.
func TestTheorem(t *testing.T) {
	for _, n := range []int{8, 11, 16, 64, 1000, 4096} {
		s := lowNoise(n)
		s.Failures = s.MostFailures()
		for _, within := range []proto.Time{1, second, 30 * second, 55 * second, 200 * second} {
			s.Within = within
			m := s.Summarise(play(t, s, Abstract, 300))
			if m.Unstable+m.Exceeded+m.Beyond > 0 || m.Broadcasts.Greatest > float64(s.Failures*(s.Failures+1)/2) || m.Failures.Least != float64(s.Failures) {
				t.Errorf("n = %d within %d: %+v", n, within, m)
			}
		}
	}
}

// TestExponential: on a large ring failures are far apart, and each is known D after it struck,
// with D = δ - η/2 on average. So the time to stability is the busy period of a queue with
// unlimited servers: (e^(λE[D]) - 1)/λ on average, with e^(λE[D]) failures.
func TestExponential(t *testing.T) {
	s := lowNoise(100000)
	s.Law = Exponential
	s.MTBF = 100000 * 100 * second
	lambda, d := 0.01, 55.0
	m := s.Summarise(play(t, s, Abstract, 20000))
	if want := math.Expm1(lambda*d) / lambda; math.Abs(m.All.Mean-want) > 2*m.All.Error {
		t.Errorf("all know all after %.2f ± %.2f s, want %.2f", m.All.Mean, m.All.Error, want)
	}
	if want := math.Exp(lambda * d); math.Abs(m.Failures.Mean-want) > 2*m.Failures.Error {
		t.Errorf("%.3f ± %.3f failures, want %.3f", m.Failures.Mean, m.Failures.Error, want)
	}
	if math.Abs(m.First.Mean-d) > 2*m.First.Error {
		t.Errorf("the first is known after %.3f ± %.3f s", m.First.Mean, m.First.Error)
	}
}

// TestFasterThanToldOf: a run ends when failures come faster than they can be told of.
func TestFasterThanToldOf(t *testing.T) {
	s := lowNoise(5000)
	s.Law, s.MTBF = Exponential, 50*second
	for _, o := range play(t, s, Abstract, 3) {
		if o.Stable || o.Failures != maxFailures {
			t.Errorf("%+v", o)
		}
	}
}

// TestLast: the last live node also knows.
func TestLast(t *testing.T) {
	for n := 2; n < 7; n++ {
		s := lowNoise(n)
		s.Failures, s.Within = n-1, 100*second
		for _, o := range play(t, s, Abstract, 100) {
			if !o.Stable || o.Failures != n-1 {
				t.Errorf("n = %d: %+v", n, o)
			}
		}
	}
}

// TestWorkers: the outcome depends on the seed, not on the number of workers.
func TestWorkers(t *testing.T) {
	s := lowNoise(50)
	s.Law, s.Failures, s.Gap = Paced, 5, 5*second
	c := Campaign{Settings: s, Runs: 100, Seed: 3, Workers: 1}
	one, err := c.Run(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Workers = 7
	seven, err := c.Run(context.Background(), nil)
	if err != nil || !slices.Equal(one, seven) {
		t.Errorf("different, or %v", err)
	}
	c.Seed++
	if other, err := c.Run(context.Background(), nil); err != nil || slices.Equal(one, other) {
		t.Errorf("the seed doesn't matter, or %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.Run(ctx, nil); err != context.Canceled {
		t.Errorf("a run that was ended gives %v", err)
	}
}

func BenchmarkAbstraction(b *testing.B) {
	s := lowNoise(256000)
	s.Failures, s.Within = 16, 50*second
	a := NewAbstraction(&s)
	seed := uint64(0)
	for b.Loop() {
		seed++
		if _, err := a.Run(context.Background(), NewScenario(&s, seed)); err != nil {
			b.Fatal(err)
		}
	}
}
