package resilience

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestFitLayout(t *testing.T) {
	for _, x := range []struct {
		nodes  int
		degree Degree
		ranks  int
		used   int
	}{{1000, 1, 1000, 1000}, {1000, 2, 500, 1000}, {1001, 2, 500, 1000}, {1000, 1.5, 666, 999}, {10, 3, 3, 9}, {3, 1.5, 2, 3}, {7, 8, 0, 0}, {2, 1.5, 1, 2}} {
		if l := FitLayout(x.nodes, x.degree); l.Ranks() != x.ranks || l.Nodes() != x.used {
			t.Errorf("%d nodes, degree %v: %v", x.nodes, x.degree, l)
		}
	}
}

// A layout has the degree asked for, to half a replica, in ranks that differ by at most one
// replica. The largest number of ranks uses the nodes there are.
func TestLayout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Degree(rapid.Float64Range(1, MaxDegree).Draw(t, "degree"))
		ranks := rapid.IntRange(1, 1<<20).Draw(t, "ranks")
		l := NewLayout(ranks, d)
		if l.Ranks() != ranks || math.Abs(float64(l.Nodes())-float64(d)*float64(ranks)) > 0.5+1e-6 {
			t.Fatalf("%d ranks, degree %v: %v", ranks, d, l)
		}
		for _, g := range l {
			if g.Ranks < 1 || g.Replicas != int(d) && g.Replicas != int(d)+1 {
				t.Fatalf("%d ranks, degree %v: %v", ranks, d, l)
			}
		}
		nodes := rapid.IntRange(int(math.Ceil(float64(d))), 1<<20).Draw(t, "nodes")
		l = FitLayout(nodes, d)
		if l.Ranks() < 1 || l.Nodes() > nodes || NewLayout(l.Ranks()+1, d).Nodes() < nodes {
			t.Fatalf("%d nodes, degree %v: %v", nodes, d, l)
		}
	})
}

func TestDegree(t *testing.T) {
	for _, d := range []Degree{0, 0.99, -1, MaxDegree + 0.1, Degree(math.NaN()), Degree(math.Inf(1))} {
		if d.Validate() == nil {
			t.Errorf("degree %v", d)
		}
	}
	if err := Degree(1.5).Validate(); err != nil {
		t.Error(err)
	}
}
