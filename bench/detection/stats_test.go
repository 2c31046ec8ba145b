package detection

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	inf := math.Inf(1)
	for _, tc := range []struct {
		values         []float64
		want, low, top float64
	}{
		{[]float64{3}, 3, math.NaN(), math.NaN()},
		{[]float64{5, 1}, 3, math.NaN(), math.NaN()},
		// Six values: the extremes, with 1 - 2/64 = 97 %.
		{[]float64{6, 5, 4, 3, 2, 1}, 3.5, 1, 6},
		// Ten: the second from each end, as any table of order statistics has it.
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 5.5, 2, 9},
		{[]float64{1, inf, inf}, inf, math.NaN(), math.NaN()},
		{[]float64{1, 2, inf, inf}, inf, math.NaN(), math.NaN()},
	} {
		if e := median(tc.values); !same(e.Value, tc.want) || !same(e.Low, tc.low) || !same(e.High, tc.top) {
			t.Errorf("%v: got %v", tc.values, e)
		}
	}
	if e := median(nil); !math.IsNaN(e.Value) {
		t.Errorf("of nothing: %v", e)
	}
}

func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

// The intervals contain the truth as often as they say, or more.
func TestIntervalsCover(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const trials, runs = 2000, 12
	medians, rates := 0, 0
	for range trials {
		values := make([]float64, runs)
		events := 0
		for i := range values {
			values[i] = rng.ExpFloat64()
			for at := rng.ExpFloat64() / 0.5; at < 1; at += rng.ExpFloat64() / 0.5 {
				events++
			}
		}
		if e := median(values); e.Low <= math.Ln2 && math.Ln2 <= e.High {
			medians++
		}
		if e := rate(events, runs); e.Low <= 0.5 && 0.5 <= e.High {
			rates++
		}
	}
	for what, covered := range map[string]int{"median": medians, "rate": rates} {
		if share := float64(covered) / trials; share < 0.94 || share > 0.995 {
			t.Errorf("the interval of the %s covers the truth in %.1f %% of the trials", what, 100*share)
		}
	}
}

func TestRate(t *testing.T) {
	// No event in 1 hour: up to 3.689, which is -ln 0.025.
	if e := rate(0, 1); e.Value != 0 || e.Low != 0 || math.Abs(e.High-3.6889) > 1e-3 {
		t.Errorf("no event: %v", e)
	}
	// Ten events in 2 hours: Garwood's interval of 10 is 4.795 to 18.390.
	if e := rate(10, 2); e.Value != 5 || math.Abs(e.Low-2.3977) > 1e-3 || math.Abs(e.High-9.1952) > 1e-3 {
		t.Errorf("ten events: %v", e)
	}
	if e := rate(1, 0); !math.IsNaN(e.Value) {
		t.Errorf("no exposure: %v", e)
	}
}

func TestRatio(t *testing.T) {
	e := ratio([]float64{20, 21, 22, 23, 24, 25}, []float64{10, 10, 10, 10, 10})
	if e.Value != 2.25 || e.Low < 2 || e.High > 2.5 || e.Low >= e.Value || e.High <= e.Value {
		t.Errorf("got %v", e)
	}
}

func TestWriteCSV(t *testing.T) {
	r := Row{
		Setting: Setting{System: Memberlist, N: 8, Period: 2500 * time.Microsecond, Timeout: time.Second, Fault: Stop},
		Run:     3, First: 1500 * time.Microsecond, Last: 2 * time.Second, Known: 7,
		FalseSuspicions: 1, Messages: 2, CPU: 0.5,
	}
	var out bytes.Buffer
	r.WriteCSV(&out)
	r.Missing = 1 // the last one never knew
	r.WriteCSV(&out)
	want := "memberlist,8,2.5,1000,stop,3,1.500,2000.000,1,2.000,0.500,1,random,0,0,0.000,0.000,\n" +
		"memberlist,8,2.5,1000,stop,3,1.500,,1,2.000,0.500,1,random,0,0,,,\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

// The meaning of the peer's settings, at its scale of 1 (up to ten members).
func TestMemberlistConfig(t *testing.T) {
	s := Setting{System: Memberlist, N: 8, Period: 100 * time.Millisecond, Timeout: 300 * time.Millisecond}
	if c := memberlistConfig(&s); c.ProbeInterval != s.Period || c.ProbeTimeout != s.Period/2 || c.GossipInterval != s.Period/5 ||
		c.SuspicionMult != 4 || c.SuspicionMaxTimeoutMult != 6 {
		t.Errorf("shipped: %+v", c)
	}
	s.System = MemberlistMatched
	for timeout, want := range map[time.Duration]int{150: 1, 200: 1, 300: 2, 301: 3, 1000: 9} {
		s.Timeout = timeout * time.Millisecond
		if c := memberlistConfig(&s); c.SuspicionMult != want || c.SuspicionMaxTimeoutMult != 1 {
			t.Errorf("matched to %v: %d times the period, want %d", s.Timeout, c.SuspicionMult, want)
		}
	}
	s.System = MemberlistFloor
	if c := memberlistConfig(&s); c.SuspicionMult != 1 || c.SuspicionMaxTimeoutMult != 1 {
		t.Errorf("floor: %+v", c)
	}
}
