package layout

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/proto"
)

// checkLayout checks that a layout numbers the replicas of ranks of given
// degrees, by replica and then by rank.
func checkLayout(t interface{ Fatalf(string, ...any) }, l Layout, degrees []int) {
	next := proto.Proc(0)
	for replica := range slices.Max(degrees) {
		for r, degree := range degrees {
			rank := proto.Rank(r)
			if l.Degree(rank) != degree {
				t.Fatalf("%v: %v of degree %d has %d", degrees, rank, degree, l.Degree(rank))
			}
			if replica >= degree {
				continue
			}
			p := l.Proc(rank, replica)
			if p != next || l.Rank(p) != rank || l.Replica(p) != replica || !l.Holds(p) {
				t.Fatalf("%v: replica %d of %v is %v, back %v, %d", degrees, replica, rank, p, l.Rank(p), l.Replica(p))
			}
			next++
		}
	}
	if int(next) != l.Procs() || l.Holds(next) || l.Holds(proto.NoProc) || l.Ranks() != len(degrees) || l.MaxDegree() != slices.Max(degrees) {
		t.Fatalf("%v: %d processes of %d ranks", degrees, l.Procs(), l.Ranks())
	}
	if l.Replicated() != (slices.Max(degrees) > 1) || l.AllReplicated() != (slices.Min(degrees) > 1) {
		t.Fatalf("%v: replicated %v, all %v", degrees, l.Replicated(), l.AllReplicated())
	}
}

func TestUniformLayout(t *testing.T) {
	for _, c := range [][2]int{{1, 1}, {5, 1}, {1, 4}, {3, 4}, {2, MaxDegree}} {
		checkLayout(t, Uniform(c[0], c[1]), slices.Repeat([]int{c[1]}, c[0]))
	}
}

func TestPartialLayout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		degrees := rapid.SliceOfN(rapid.IntRange(1, MaxDegree), 1, 20).Draw(t, "degrees")
		checkLayout(t, Partial(degrees), degrees)
	})
}

// A layout that isn't partial is uniform, and compares equal.
func TestPartialOfOneDegree(t *testing.T) {
	if l := Partial([]int{3, 3}); l != Uniform(2, 3) {
		t.Errorf("%+v", l)
	}
}

func TestImpossibleLayouts(t *testing.T) {
	for name, make := range map[string]func(){
		"no ranks":   func() { Partial(nil) },
		"degree 0":   func() { Partial([]int{2, 0}) },
		"degree 65":  func() { Uniform(1, MaxDegree+1) },
		"minus one":  func() { Uniform(-1, 1) },
		"negative":   func() { Partial([]int{-1, -1}) },
		"one of two": func() { Partial([]int{MaxDegree + 1, 1}) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			make()
		})
	}
}
