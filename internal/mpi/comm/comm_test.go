package comm

import "testing"

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
