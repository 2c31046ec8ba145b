package resilience

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/study/planning/risk"
)

const (
	minute = risk.Seconds(60)
	hour   = 60 * minute
	day    = 24 * hour
)

// The captions of Daly's figures 3 to 5: C = 5 min and R = 10 min, M = 24 h, 6 h and 15 min.
func TestDalyFigures(t *testing.T) {
	c := Checkpointing{Cost: 5 * minute, Restart: 10 * minute}
	for _, x := range []struct{ mtti, want risk.Seconds }{{24 * hour, 117}, {6 * hour, 57}, {15 * minute, 9.1}} {
		got := c.Daly(x.mtti) / minute
		if math.Abs(float64(got-x.want)) > 0.05*math.Pow10(int(math.Log10(float64(x.want)))) {
			t.Errorf("MTTI %v: %v min, want %v", x.mtti, float64(got), float64(x.want))
		}
	}
}

// By hand.
func TestEstimates(t *testing.T) {
	c := Checkpointing{Cost: 2, Restart: 1}
	for _, x := range []struct{ mtti, young, daly risk.Seconds }{
		{100, 18, 20*(1+0.1/3+0.01/9) - 2},
		{4, 4, 4*(1+0.5/3+0.25/9) - 2}, // C = MTTI/2: the first-order estimate isn't valid here
		{1, 1, 1},
		{0.1, 0.1, 0.1},
	} {
		if got := c.Young(x.mtti); !near(float64(got), float64(x.young), 1e-12) {
			t.Errorf("MTTI %v: Young %v, want %v", float64(x.mtti), float64(got), float64(x.young))
		}
		if got := c.Daly(x.mtti); !near(float64(got), float64(x.daly), 1e-12) {
			t.Errorf("MTTI %v: Daly %v, want %v", float64(x.mtti), float64(got), float64(x.daly))
		}
	}
	// M e^(R/M) (e^((τ+C)/M) − 1) T/τ
	if got := c.RunTime(1000, 50, 10); !near(float64(got), 10*math.Exp(0.1)*(math.Exp(5.2)-1)*20, 1e-12) {
		t.Errorf("run time %v", float64(got))
	}
	// Without failures, only the written checkpoints are added.
	if got := c.RunTime(1000, 50, 1e18); !near(float64(got), 1000+20*2, 1e-12) {
		t.Errorf("without failures %v", float64(got))
	}
}

// The optimum is optimal: neither a longer nor a shorter interval is better, nor are the
// estimates, of which the higher-order one is nearer.
func TestOptimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Checkpointing{Cost: 1, Restart: risk.Seconds(rapid.Float64Range(0, 10).Draw(t, "restart"))}
		mtti := risk.Seconds(math.Pow(10, rapid.Float64Range(-1, 12).Draw(t, "log mtti")))
		best := c.Optimum(mtti)
		at := func(interval risk.Seconds) float64 { return float64(c.RunTime(1e6, interval, mtti)) }
		for _, other := range []risk.Seconds{best * 1.01, best * 0.99, best * 2, best / 2, c.Young(mtti), c.Daly(mtti)} {
			if at(other) < at(best)*(1-1e-12) {
				t.Fatalf("MTTI %v: %v with %v, %v with %v", float64(mtti), at(best), float64(best), at(other), float64(other))
			}
		}
		young, daly := c.Young(mtti)-best, c.Daly(mtti)-best
		if mtti > 3 && math.Abs(float64(daly)) > math.Abs(float64(young))+1e-9*float64(best) {
			t.Fatalf("MTTI %v: Daly is %v off, Young %v", float64(mtti), float64(daly), float64(young))
		}
	})
}
