package resilience

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/study/planning/risk"
)

const year = risk.Seconds(365.25 * 86400)

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance*math.Abs(b) }

// Closed forms: the first failure of n is after M/n; the last of r after M times the harmonic
// number of r.
func TestClosedForms(t *testing.T) {
	whole := Nodes{MTBF: 1}
	for _, n := range []int{1, 7, 100_000} {
		got := whole.Interruption(Layout{{n, 1}})
		if !near(float64(got.MTTI), 1/float64(n), 1e-12) || got.Failures != 1 {
			t.Errorf("%d ranks: %+v", n, got)
		}
	}
	harmonic := 0.0
	for r := 1; r <= MaxDegree; r++ {
		harmonic += 1 / float64(r)
		got := whole.Interruption(Layout{{1, r}})
		if !near(float64(got.MTTI), harmonic, 3e-8) || !near(got.Failures, float64(r), 3e-8) {
			t.Errorf("one rank of %d: %+v, want %v", r, got, harmonic)
		}
	}
	// A rank with 2 replicas and one without: ∫ e^-t (2e^-t − e^-2t).
	if got := whole.Interruption(Layout{{1, 1}, {1, 2}}); !near(float64(got.MTTI), 2.0/3, 1e-9) {
		t.Errorf("partial: %+v", got)
	}
}

// pairs are the mean time and the mean number of failures to interruption of n ranks with 2
// replicas each. They come from a recursion over the number of ranks with one dead replica, as
// in Casanova et al.
func pairs(n int) (time, failures float64) {
	for dead := n; dead >= 0; dead-- {
		live := float64(2*n - dead)
		goOn := 2 * float64(n-dead) / live
		time = 1/live + goOn*time
		failures = 1 + goOn*failures
	}
	return time, failures
}

func TestPairs(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 1000, 100_000, 1_000_000} {
		got := (Nodes{MTBF: 5 * year}).Interruption(Layout{{n, 2}})
		time, failures := pairs(n)
		if !near(float64(got.MTTI/(5*year)), time, 1e-8) || !near(got.Failures, failures, 1e-8) {
			t.Errorf("%d pairs: %v M, %v failures; by recursion %v and %v", n, float64(got.MTTI/(5*year)), got.Failures, time, failures)
		}
	}
	// Many ranks: the time is that of the birthday problem, √(π/4n), the number √(πn).
	time, failures := pairs(1_000_000)
	if !near(time, math.Sqrt(math.Pi/4e6), 1e-3) || !near(failures, math.Sqrt(math.Pi*1e6), 1e-3) {
		t.Errorf("a million pairs: %v M, %v failures", time, failures)
	}
}

// Several replicas: another integration, of the formula as printed.
func TestIntegral(t *testing.T) {
	for _, l := range []Layout{{{1000, 3}}, {{50_000, 1}, {50_000, 2}}, {{10, 2}, {90, 3}}, {{100_000, 4}}} {
		survival := func(t float64) float64 {
			s := 1.0
			for _, g := range l {
				s *= math.Pow(1-math.Pow(-math.Expm1(-t), float64(g.Replicas)), float64(g.Ranks))
			}
			return s
		}
		got := float64((Nodes{MTBF: 1}).Interruption(l).MTTI)
		sum, width := 0.0, got/2000
		for i := range 200_000 {
			sum += survival((float64(i) + 0.5) * width)
		}
		if !near(got, sum*width, 1e-6) {
			t.Errorf("%v: %v, by the midpoint rule %v", l, got, sum*width)
		}
	}
}

// lifetime is the mean time until a healed rank is lost: the sum over k of the mean times from
// k live replicas to k−1.
func lifetime(replicas int, death, repair float64) float64 {
	sum, step := 0.0, 0.0
	for k := replicas; k >= 1; k-- {
		step = (1 + float64(replicas-k)*repair*step) / (float64(k) * death)
		sum += step
	}
	return sum
}

func TestHealing(t *testing.T) {
	const mtbf = 5 * year
	// One rank: the mean, however slow healing is. Two replicas: (3λ+μ)/2λ².
	l, m := 1/float64(mtbf), 1/30.0
	if got := lifetime(2, l, m); !near(got, (3*l+m)/(2*l*l), 1e-12) {
		t.Fatalf("a pair lives for %v", got)
	}
	for r := 2; r <= MaxDegree; r++ {
		for _, heal := range []risk.Seconds{0.1, 30, 86400, year, 1000 * year} {
			got := (Nodes{MTBF: mtbf, Heal: heal}).Interruption(Layout{{1, r}})
			if want := lifetime(r, l, 1/float64(heal)); !near(float64(got.MTTI), want, 1e-7) {
				t.Errorf("a rank of %d, healed in %v: %v, want %v", r, heal, float64(got.MTTI), want)
			}
		}
	}
	// Many ranks: while healing is fast, the time is divided by their number; when healing
	// takes for ever, the time is as without healing.
	for _, n := range []int{1000, 100_000} {
		fast := (Nodes{MTBF: mtbf, Heal: 30}).Interruption(Layout{{n, 2}})
		if want := lifetime(2, l, m) / float64(n); !near(float64(fast.MTTI), want, 1e-3) {
			t.Errorf("%d pairs, healed: %v, want %v", n, float64(fast.MTTI), want)
		}
		// Nodes fail all the time then, as if they weren't replicas.
		if want := float64(fast.MTTI) * l * 2 * float64(n); !near(fast.Failures, want, 1e-3) {
			t.Errorf("%d pairs, healed: %v failures, want %v", n, fast.Failures, want)
		}
		slow := (Nodes{MTBF: mtbf, Heal: 1e7 * year}).Interruption(Layout{{n, 2}})
		if want := (Nodes{MTBF: mtbf}).Interruption(Layout{{n, 2}}); !near(float64(slow.MTTI), float64(want.MTTI), 1e-4) {
			t.Errorf("%d pairs, hardly healed: %v, want %v", n, float64(slow.MTTI), float64(want.MTTI))
		}
	}
}

// TestInterruptionsSimulated runs jobs until they are interrupted.
func TestInterruptionsSimulated(t *testing.T) {
	const runs = 4000
	for i, x := range []struct {
		l    Layout
		heal risk.Seconds
	}{
		{Layout{{500, 1}}, 0},
		{Layout{{500, 2}}, 0},
		{Layout{{300, 3}}, 0},
		{Layout{{100, 1}, {400, 2}}, 0},
		{Layout{{200, 2}, {200, 3}}, 0},
		{Layout{{500, 2}}, year / 100},
		{Layout{{50, 3}}, year / 20},
		{Layout{{5, 1}, {500, 2}}, year / 100},
	} {
		n := Nodes{MTBF: year, Heal: x.heal}
		r := newRanks(n, x.l)
		r.random = seeded(uint64(i))
		var sum, squares float64
		for range runs {
			lived, interrupted := r.live(1e6 * year)
			if !interrupted {
				t.Fatalf("%v, healed in %v: lives for ever", x.l, x.heal)
			}
			sum += float64(lived)
			squares += float64(lived) * float64(lived)
		}
		mean := sum / runs
		deviation := math.Sqrt((squares/runs - mean*mean) / runs)
		want := float64(n.Interruption(x.l).MTTI)
		// Healing takes an exponential time in the model, a constant one here: of the order of
		// heal/M.
		slack := 2 * float64(x.heal/n.MTBF) * want
		t.Logf("%v, healed in %v: %v ± %v, computed %v", x.l, x.heal, risk.Seconds(mean), risk.Seconds(deviation), risk.Seconds(want))
		if math.Abs(mean-want) > 4*deviation+slack {
			t.Errorf("%v, healed in %v: %v ± %v simulated, %v computed", x.l, x.heal, risk.Seconds(mean), risk.Seconds(deviation), risk.Seconds(want))
		}
	}
}

// More replicas, better nodes and faster healing never interrupt a job sooner; more ranks never
// interrupt it later.
func TestMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := Nodes{MTBF: risk.Seconds(rapid.Float64Range(0.01, 100).Draw(t, "years")) * year}
		if rapid.Bool().Draw(t, "healed") {
			n.Heal = risk.Seconds(math.Pow(10, rapid.Float64Range(-2, 9).Draw(t, "log heal")))
		}
		ranks := rapid.IntRange(1, 1<<24).Draw(t, "ranks")
		d := Degree(rapid.Float64Range(1, 4).Draw(t, "degree"))
		base := n.Interruption(NewLayout(ranks, d))
		if !(base.MTTI > 0) || math.IsInf(float64(base.MTTI), 0) || !(base.Failures > 0.999999) {
			t.Fatalf("%+v", base)
		}
		check := func(what string, more, than risk.Seconds) {
			if more < than*(1-1e-9) {
				t.Fatalf("%s: %v after %v", what, float64(more), float64(than))
			}
		}
		check("more replicas", n.Interruption(NewLayout(ranks, d+1)).MTTI, base.MTTI)
		check("a few more replicas", n.Interruption(NewLayout(ranks, d+0.1)).MTTI, base.MTTI)
		check("fewer ranks", base.MTTI, n.Interruption(NewLayout(ranks+1+ranks/10, d)).MTTI)
		better := n
		better.MTBF *= 2
		check("better nodes", better.Interruption(NewLayout(ranks, d)).MTTI, base.MTTI)
		if n.Heal > 0 {
			faster := n
			faster.Heal /= 2
			check("faster healing", faster.Interruption(NewLayout(ranks, d)).MTTI, base.MTTI)
			check("healing", base.MTTI, Nodes{MTBF: n.MTBF}.Interruption(NewLayout(ranks, d)).MTTI)
		}
		// A change of the unit of time changes nothing.
		scaled := Nodes{MTBF: n.MTBF * 1024, Heal: n.Heal * 1024}
		if got := scaled.Interruption(NewLayout(ranks, d)); !near(float64(got.MTTI), 1024*float64(base.MTTI), 1e-9) {
			t.Fatalf("1,024 times slower: %v after %v", float64(got.MTTI), float64(base.MTTI))
		}
	})
}

// Every valid question has a finite answer, and soon.
func TestExtremes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		span := rapid.Custom(func(t *rapid.T) risk.Seconds {
			return min(longest, max(shortest, risk.Seconds(math.Pow(10, rapid.Float64Range(-9, 20).Draw(t, "log")))))
		})
		n := Nodes{MTBF: span.Draw(t, "mtbf"), Heal: span.Draw(t, "heal")}
		if err := n.Validate(); err != nil {
			t.Fatal(err)
		}
		l := NewLayout(rapid.IntRange(1, MaxNodes/MaxDegree).Draw(t, "ranks"), Degree(rapid.Float64Range(1, MaxDegree).Draw(t, "degree")))
		got := n.Interruption(l)
		if !(float64(got.MTTI) >= float64(n.MTBF)/float64(l.Nodes())*0.999) || math.IsInf(float64(got.MTTI), 0) ||
			!(got.Failures >= 0.999) || math.IsInf(got.Failures, 0) {
			t.Fatalf("%+v", got)
		}
	})
}

func BenchmarkInterruption(b *testing.B) {
	for _, heal := range []risk.Seconds{0, 30} {
		b.Run(fmt.Sprint("heal=", heal), func(b *testing.B) {
			n := Nodes{MTBF: 5 * year, Heal: heal}
			for b.Loop() {
				n.Interruption(Layout{{33_333, 1}, {33_333, 2}})
			}
		})
	}
}
