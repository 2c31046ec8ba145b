package comm

import (
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/proto"
)

func TestChildContextsDiffer(t *testing.T) {
	seen := map[uint64]bool{worldContext: true}
	parents := []*Comm{{context: worldContext}}
	for range 3 {
		var next []*Comm
		for _, p := range parents {
			for branch := range uint64(4) {
				for range 5 {
					id := p.child(branch)
					if id&collectivePart != 0 || seen[id] {
						t.Fatalf("context %x twice, or odd", id)
					}
					seen[id] = true
					next = append(next, &Comm{context: id})
				}
			}
		}
		parents = next
	}
}

// The members left after folding are a power of two, in rank order, and each
// of the others has its partner among them.
func TestFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "n")
		group := make([]proto.Rank, n)
		next := 0
		for rank := range n {
			k := call{Comm: &Comm{group: group, rank: rank}}
			f := k.fold()
			if f.power&(f.power-1) != 0 || f.power > n || f.power*2 <= n {
				t.Fatalf("%d of %d members are left", f.power, n)
			}
			if f.me < 0 {
				if rank%2 != 0 || rank+1 >= 2*f.extra+1 {
					t.Fatalf("rank %d of %d has no partner", rank, n)
				}
				continue
			}
			if f.me != next || f.rank(f.me) != rank {
				t.Fatalf("rank %d of %d has place %d, which is rank %d", rank, n, f.me, f.rank(f.me))
			}
			next++
		}
		if next != (call{Comm: &Comm{group: group}}).fold().power {
			t.Fatalf("%d places of %d", next, n)
		}
	})
}
