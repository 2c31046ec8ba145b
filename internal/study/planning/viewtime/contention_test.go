package viewtime

import (
	"math"
	"slices"
	"strings"
	"testing"

	"banyan/internal/study/planning/risk"
)

func latencies(t *testing.T, all ...Latency) *Contended {
	t.Helper()
	c, err := NewContended(all)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestContended: L goes from point to point, is flat below them, and goes on in a line above.
func TestContended(t *testing.T) {
	c := latencies(t,
		Latency{2, 12, 70 * us}, Latency{2, 12, 60 * us}, Latency{2, 12, 900 * us}, // the median is 70
		Latency{2, 3, 40 * us}, Latency{2, 6, 50 * us}, Latency{2, 9, 60 * us},
		Latency{4, 5, 90 * us}, Latency{1, 2, 30 * us}, Latency{1, 10, 20 * us})
	for _, x := range []struct {
		nodes, children int
		want            risk.Seconds
	}{
		{1, 2, 40}, {3, 2, 40}, {4, 2, 40 + 10./3}, {9, 2, 60}, {10, 2, 60 + 10./3}, {12, 2, 70},
		{15, 2, 80}, {42, 2, 170}, // 10 µs each three nodes, of the points from 6 on
		{1, 4, 90}, {500, 4, 90}, // of a single point
		{6, 1, 25}, {100, 1, 20}, // it never falls beyond
	} {
		if got := c.Latency(x.nodes, x.children); math.Abs(float64(got-x.want*us)) > 1e-12 {
			t.Errorf("%d nodes, %d children: %v, want %.2f µs", x.nodes, x.children, got, float64(x.want))
		}
	}
	if c.Alone() != 30*us || !slices.Equal(c.Children(), []int{1, 2, 4}) || len(c.Measured(2)) != 4 || c.Measured(8) != nil {
		t.Errorf("%v, %v", c.Children(), c.Measured(2))
	}
	for _, bad := range [][]Latency{nil, {{0, 3, 1}}, {{1, 1, 1}}, {{1, 2, 0}}, {{1, 2, -1}}, {{1, 2, risk.Seconds(math.NaN())}}, {{1, 2, risk.Seconds(math.Inf(1))}}, {{1, MaxNodes + 1, 1}}} {
		if _, err := NewContended(bad); err == nil {
			t.Errorf("%v", bad)
		}
	}
}

// TestContention: the model takes L from what was measured, with so many nodes in all, or those
// of each level and their parents.
func TestContention(t *testing.T) {
	m := Model{Latency: 30 * us, Compute: 2 * us, Overhead: us, Contended: latencies(t, Latency{2, 3, 40 * us}, Latency{2, 43, 440 * us})}
	// Seven nodes, three levels, L = 80 µs: equations 1 and 2, and a send before the last of each
	// level.
	if got := m.Stabilise(7, 2); !near(got, (2*80*2+2*3+2)*us) {
		t.Errorf("%v", got)
	}
	if got := m.Base(7, 2); !near(got, (2*30*2+2*3)*us) {
		t.Errorf("base: %v", got)
	}
	// Of these three talk in the first level, six in the second.
	if got := m.ByLevel(7, 2); !near(got, (2*40+2*70+2*3+2)*us) {
		t.Errorf("by level: %v", got)
	}
	if err := m.ValidateTree(7, 4); err == nil || !strings.Contains(err.Error(), "arity: 4: the latency under contention was measured with [2] children") {
		t.Error(err)
	}
	if off, err := m.Off([]Measurement{{7, 2, m.Stabilise(7, 2) + 3*us}, {9, 2, m.Stabilise(9, 2) - 4*us}}); err != nil || !near(off, risk.Seconds(math.Sqrt(12.5)*us)) {
		t.Errorf("%v off, %v", off, err)
	}
	for _, bad := range [][]Measurement{nil, {{7, 4, 1}}} {
		if _, err := m.Off(bad); err == nil {
			t.Errorf("%v", bad)
		}
	}
}
