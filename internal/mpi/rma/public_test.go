package rma

import (
	"math/rand/v2"
	"testing"
)

// The two copies have the same after a merge: of each byte that others have changed theirs, of each
// other one the program's. Byte for byte, against a model.
func TestMerge(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		n := 1 + r.IntN(300)
		if round%3 == 0 {
			n = 4000 + r.IntN(9000) // several strides
		}
		private := make([]byte, n)
		c := newPublic(private)
		for range 3 {
			want := make([]byte, n)
			theirs := make([]bool, n)
			for range r.IntN(20) { // others write
				first := r.IntN(n)
				length := r.IntN(min(n-first, 200) + 1)
				for i := first; i < first+length; i++ {
					c.data[i], theirs[i] = byte(r.Uint32()), true
				}
				c.note(int64(first), int64(length))
			}
			for range r.IntN(20) { // the program writes elsewhere
				if i := r.IntN(n); !theirs[i] {
					private[i] = byte(r.Uint32())
				}
			}
			for i := range want {
				if want[i] = private[i]; theirs[i] {
					want[i] = c.data[i]
				}
			}
			c.merge(private)
			if string(private) != string(want) || string(c.data) != string(want) {
				t.Fatalf("round %d, %d bytes: the copies differ from the model", round, n)
			}
		}
	}
}
