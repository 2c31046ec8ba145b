package topology

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// shape is a way to make a tree of any size.
type shape struct {
	name string
	make func(procs int, n Numbering) (Tree, error)
}

func kary(k int) shape {
	return shape{fmt.Sprintf("kary(%d)", k), func(p int, n Numbering) (Tree, error) { return KAry(p, k, n) }}
}

func lame(k int) shape {
	return shape{fmt.Sprintf("lame(%d)", k), func(p int, n Numbering) (Tree, error) { return Lame(p, k, n) }}
}

func optimal(l, o int) shape {
	return shape{fmt.Sprintf("optimal(%d,%d)", l, o), func(p int, n Numbering) (Tree, error) { return Optimal(p, l, o, n) }}
}

// shapes are some trees of every kind, also where o doesn't divide L.
var shapes = []shape{
	kary(1), kary(2), kary(3), kary(4), kary(8), kary(1000), kary(1 << 29),
	{"binomial", Binomial}, lame(2), lame(3), lame(5), lame(40), lame(1 << 29),
	optimal(0, 1), optimal(1, 1), optimal(2, 1), optimal(8, 1), optimal(4, 2),
	optimal(3, 2), optimal(1, 3), optimal(7, 5), optimal(1, 1000), optimal(1<<30, 1<<20),
}

var numberings = []Numbering{Interleaved, InOrder}

func mustMake(t testing.TB, s shape, procs int, n Numbering) Tree {
	t.Helper()
	tree, err := s.make(procs, n)
	if err != nil {
		t.Fatalf("%s, %d processes, %s: %v", s.name, procs, n, err)
	}
	return tree
}

// TestEveryoneHasOneParent: each position but the root is a child of exactly one process. That
// process is the one that Parent returns, has a lower number, and isn't reached through the
// position itself.
func TestEveryoneHasOneParent(t *testing.T) {
	for _, s := range shapes {
		for _, n := range numberings {
			for _, procs := range slices.Concat(upTo(70), []int{100, 255, 256, 257, 1000, 5000}) {
				tree := mustMake(t, s, procs, n)
				parent := make([]int, procs)
				for p := range parent {
					parent[p] = -1
				}
				for p := range procs {
					for _, c := range tree.AppendChildren(nil, p) {
						if c <= p || c >= procs || parent[c] != -1 {
							t.Fatalf("%s, %d processes, %s: %d is a child of %d; already one of %d", s.name, procs, n, c, p, parent[c])
						}
						parent[c] = p
					}
				}
				for p, want := range parent {
					if got := tree.Parent(p); got != want || p > 0 && want < 0 {
						t.Fatalf("%s, %d processes, %s: the parent of %d is %d, children say %d", s.name, procs, n, p, got, want)
					}
				}
			}
		}
	}
}

func upTo(n int) []int {
	var r []int
	for i := 1; i <= n; i++ {
		r = append(r, i)
	}
	return r
}

// TestLargeTrees looks at random positions of trees of up to 2^30 processes:
// each is among the children of its parent, and leads to the root.
func TestLargeTrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(shapes).Draw(t, "shape")
		procs := rapid.IntRange(1, MaxProcs).Draw(t, "procs")
		n := rapid.SampledFrom(numberings).Draw(t, "numbering")
		tree, err := s.make(procs, n)
		if err != nil {
			if s.name == lame(1<<29).name {
				return // its root sends more than maxRounds messages
			}
			t.Fatal(err)
		}
		p := rapid.IntRange(0, procs-1).Draw(t, "process")
		for depth := 0; p > 0; depth++ {
			if depth > 64 && s.name != kary(1).name {
				t.Fatalf("%d is deeper than 64", p)
			} else if depth > 64 {
				return
			}
			parent := tree.Parent(p)
			if parent < 0 || parent >= p {
				t.Fatalf("the parent of %d is %d", p, parent)
			}
			if !hasChild(&tree, parent, p) {
				t.Fatalf("%d isn't among the children of its parent %d", p, parent)
			}
			p = parent
		}
	})
}

// hasChild gives up after many children: a star has a billion.
func hasChild(tree *Tree, parent, child int) bool {
	c := tree.Children(parent)
	for range 1 << 17 {
		switch next, ok := tree.Next(&c); {
		case !ok:
			return false
		case next == child:
			return true
		}
	}
	return true
}

func TestBadParameters(t *testing.T) {
	for name, make := range map[string]func() (Tree, error){
		"no process":        func() (Tree, error) { return Binomial(0, Interleaved) },
		"negative":          func() (Tree, error) { return KAry(-1, 2, Interleaved) },
		"too many":          func() (Tree, error) { return Lame(MaxProcs+1, 2, Interleaved) },
		"k = 0":             func() (Tree, error) { return KAry(5, 0, Interleaved) },
		"order 0":           func() (Tree, error) { return Lame(5, 0, Interleaved) },
		"no overhead":       func() (Tree, error) { return Optimal(5, 2, 0, Interleaved) },
		"negative latency":  func() (Tree, error) { return Optimal(5, -1, 1, Interleaved) },
		"too many rounds":   func() (Tree, error) { return Lame(MaxProcs, MaxProcs, Interleaved) },
		"no process at all": func() (Tree, error) { return Optimal(0, 1, 1, Interleaved) },
		"too long":          func() (Tree, error) { return Optimal(1000, 1<<31-1, 1<<30-1, Interleaved) },
	} {
		if tree, err := make(); err == nil {
			t.Errorf("%s: got a tree of %d processes, want an error", name, tree.Procs())
		}
	}
}

func TestParseNumbering(t *testing.T) {
	for _, n := range numberings {
		if got, err := ParseNumbering(n.String()); err != nil || got != n {
			t.Errorf("%v is parsed as %v, %v", n, got, err)
		}
	}
	if _, err := ParseNumbering("random"); err == nil {
		t.Error("random is no numbering")
	}
}

func BenchmarkChildren(b *testing.B) {
	for _, s := range []shape{kary(4), {"binomial", Binomial}, lame(3), optimal(3, 2)} {
		for _, n := range numberings {
			b.Run(s.name+"/"+n.String(), func(b *testing.B) {
				tree, err := s.make(1<<20, n)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for i := range b.N {
					c := tree.Children(i & (1<<20 - 1))
					for ok := true; ok; {
						_, ok = tree.Next(&c)
					}
				}
			})
		}
	}
}
