package risk

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/study/field"
)

const year = Seconds(365.25 * 86400)

// printed is the sum as the paper prints it, where it is exact enough to compare.
func printed(f int, mean float64) float64 {
	sum, power, factorial := 0.0, 1.0, 1.0
	for k := 0; k <= f; k++ {
		if k > 0 {
			power *= mean
			factorial *= float64(k)
		}
		sum += power / factorial * math.Exp(-mean)
	}
	return 1 - sum
}

func TestMoreThan(t *testing.T) {
	for f := range 25 {
		for _, mean := range []float64{1e-3, 0.5, 1, 2.5, 7, 20, 24, 40} {
			got, want := MoreThan(f, mean), printed(f, mean)
			if math.Abs(got-want) > 1e-12 {
				t.Errorf("more than %d of %g: %g, the printed sum gives %g", f, mean, got, want)
			}
		}
	}
	// Here the printed sum is only rounding; the first term of the tail dominates.
	if got, want := MoreThan(3, 1e-6), 1e-24/24; math.Abs(got/want-1) > 1e-5 {
		t.Errorf("more than 3 of 1e-6: %g, want about %g", got, want)
	}
	if MoreThan(0, 0) != 0 || MoreThan(-1, 0) != 1 || MoreThan(5, math.Inf(1)) != 1 {
		t.Error("the ends of the range are wrong")
	}
}

// The text's two numbers. 22 s at 20 years can be reproduced. "60 s at 45 years" can't be right
// as well: with τ = 1 µs δ is proportional to μ, and 22 · 45/20 = 49.5.
func TestPaperText(t *testing.T) {
	for _, c := range []struct {
		years, want Seconds
	}{{20, 22}, {45, 49.5}} {
		p := Platform{Nodes: 256_000, MTBF: c.years * year, Tau: 1e-6}
		if got := p.LargestTimeout(1e-9); math.Abs(float64(got-c.want)) > 0.05 {
			t.Errorf("largest δ for μ = %v years: %v, want %v s", float64(c.years), got, float64(c.want))
		}
	}
	if m := MaxFailures(256_000); m != 16 {
		t.Errorf("256,000 nodes: M = %d, want 16", m)
	}
}

// T(f) for small f by theorem 1, computed by hand.
func TestStabilisation(t *testing.T) {
	p := Platform{Nodes: 1024, MTBF: year, Tau: 1}
	for _, c := range []struct {
		f    int
		want Seconds
	}{{0, 0}, {1, 2*100 + 1 + 80}, {2, 6*100 + 2 + 3*80}, {8, 72*100 + 8 + 36*80}} {
		if got := p.Stabilisation(c.f, 100); got != c.want {
			t.Errorf("T(%d) = %v, want %v", c.f, float64(got), float64(c.want))
		}
	}
}

func platforms() *rapid.Generator[Platform] {
	return rapid.Custom(func(t *rapid.T) Platform {
		return Platform{
			Nodes: rapid.IntRange(4, 1<<20).Draw(t, "nodes"),
			MTBF:  Seconds(rapid.Float64Range(0.1, 100).Draw(t, "years")) * year,
			Tau:   Seconds(rapid.Float64Range(1e-7, 1e-3).Draw(t, "tau")),
		}
	})
}

// The risk grows with δ and falls with reliability. The largest δ has exactly the risk asked
// for, and grows with both the risk and the reliability.
func TestMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := platforms().Draw(t, "platform")
		risk := math.Pow(10, rapid.Float64Range(-15, -1).Draw(t, "log risk"))
		d := p.LargestTimeout(risk)
		if d > 0 {
			if got := p.Risk(d); math.Abs(got/risk-1) > 1e-6 {
				t.Fatalf("the largest δ for a risk of %g has %g", risk, got)
			}
			if p.Risk(d*1.01) <= risk || p.Risk(d*0.99) >= risk {
				t.Fatalf("the risk doesn't grow with δ around %v", d)
			}
		}
		if more := p.LargestTimeout(risk * 1.1); more <= d {
			t.Fatalf("more risk, less δ: %v after %v", more, d)
		}
		better := p
		better.MTBF *= 2
		if more := better.LargestTimeout(risk); more <= d {
			t.Fatalf("better nodes, less δ: %v after %v", more, d)
		}
		slower := p
		slower.Tau *= 2
		if less := slower.LargestTimeout(risk); less >= d {
			t.Fatalf("slower messages, more δ: %v after %v", less, d)
		}
		f := rapid.IntRange(0, 30).Draw(t, "f")
		if p.Stabilisation(f+1, 1) <= p.Stabilisation(f, 1) {
			t.Fatal("T(f) doesn't grow with f")
		}
	})
}

// A plan keeps every rule it names, or the error says which demand prevents it.
func TestRecommendKeepsItsRules(t *testing.T) {
	feasible := 0
	rapid.Check(t, func(t *rapid.T) {
		g := Goal{
			Platform:   platforms().Draw(t, "platform"),
			Risk:       math.Pow(10, rapid.Float64Range(-12, -1).Draw(t, "log risk")),
			Rate:       rapid.Float64Range(0.01, 1000).Draw(t, "rate"),
			Jitter:     Seconds(rapid.Float64Range(0, 1).Draw(t, "jitter")),
			FrameBytes: 64,
		}
		p, err := Recommend(g)
		if err != nil {
			var wrong *field.Error
			if !errors.As(err, &wrong) || wrong.Field != "rate" && wrong.Field != "risk" {
				t.Fatalf("no field to change: %v", err)
			}
			if p.LeastTimeout <= p.LargestTimeout {
				t.Fatalf("refused although %v is at most %v", p.LeastTimeout, p.LargestTimeout)
			}
			return
		}
		feasible++
		const slack = 1 + 1e-12
		switch {
		case p.Timeout*slack < p.Period+g.Tau+g.Jitter:
			t.Fatalf("δ = %v suspects the late (η = %v, τ = %v, jitter %v)", p.Timeout, p.Period, g.Tau, g.Jitter)
		case p.Timeout*slack < 4*p.Period+2*g.Tau:
			t.Fatalf("δ = %v is below 4η + 2τ", p.Timeout)
		case p.Period < 3*g.Tau:
			t.Fatalf("η = %v is below 3τ", p.Period)
		case p.MessagesPerSecond > g.Rate*slack:
			t.Fatalf("%g heartbeats a second, %g allowed", p.MessagesPerSecond, g.Rate)
		case p.Risk > g.Risk*(1+1e-6):
			t.Fatalf("risk %g, %g accepted", p.Risk, g.Risk)
		case p.Detection > p.WorstDetection || p.WorstDetection > p.Stable1 || p.Stable1 > p.StableM:
			t.Fatalf("out of order: %v, %v, %v, %v", p.Detection, p.WorstDetection, p.Stable1, p.StableM)
		}
	})
	if feasible == 0 {
		t.Error("no goal could be met: the test tests nothing")
	}
}

func TestFigure3(t *testing.T) {
	points, err := Figure3([]int{4096, 256_000}, []Seconds{20 * year, 45 * year}, 1e-6, 1e-9)
	if err != nil {
		t.Fatal(err)
	}
	if len(points) != 4 || points[1].Nodes != 256_000 || points[1].MTBF != 20*year || math.Round(float64(points[1].Timeout)) != 22 {
		t.Errorf("unexpected points %v", points)
	}
	for _, bad := range []Platform{{3, 1, 1}, {8, 0, 1}, {8, 1, 0}, {8, Seconds(math.NaN()), 1}} {
		if _, err := Figure3([]int{bad.Nodes}, []Seconds{bad.MTBF}, bad.Tau, 0.1); err == nil {
			t.Errorf("%v passes", bad)
		}
	}
	if _, err := Figure3([]int{8}, []Seconds{1}, 1, 0); err == nil {
		t.Error("a risk of 0 passes")
	}
}

func TestSeconds(t *testing.T) {
	for _, c := range []struct {
		text string
		want Seconds
		back string
	}{
		{"20y", 20 * year, "20y"},
		{"36h", 36 * 3600, "1.5d"},
		{"1d12h", 36 * 3600, "1.5d"},
		{"1us", 1e-6, "1us"},
		{"2.5µs", 2.5e-6, "2.5us"},
		{"100ms", 0.1, "100ms"},
		{"1m30s", 90, "1.5m"},
		{"0s", 0, "0s"},
		{"999.96ms", 0.99996, "1s"},
		{"0.5ns", 5e-10, "0.5ns"},
	} {
		got, err := ParseSeconds(c.text)
		if err != nil || math.Abs(float64(got-c.want)) > 1e-12*math.Abs(float64(c.want)) {
			t.Errorf("%s: %v, %v", c.text, float64(got), err)
		}
		if got.String() != c.back {
			t.Errorf("%s prints as %s, want %s", c.text, got, c.back)
		}
	}
	for _, bad := range []string{"", "20", "y", "1 y", "-1s", "1.2.3s", "5w", "s1", "1e400y"} {
		if got, err := ParseSeconds(bad); err == nil {
			t.Errorf("%q is %v", bad, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := Seconds(math.Pow(10, rapid.Float64Range(-9, 12).Draw(t, "log")))
		back, err := ParseSeconds(s.String())
		if err != nil || math.Abs(float64(back/s-1)) > 5.1e-4 {
			t.Fatalf("%g prints as %s, read as %g: %v", float64(s), s, float64(back), err)
		}
	})
}
