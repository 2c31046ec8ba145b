package shm

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// put copies what copy does, and not a byte beside it.
func TestPut(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	from := make([]byte, 3*putMin)
	for i := range from {
		from[i] = byte(rng.Uint32()) | 1
	}
	for range 2000 {
		at, n, room := rng.IntN(64), rng.IntN(3*putMin), rng.IntN(3*putMin)
		got, want := make([]byte, 4*putMin), make([]byte, 4*putMin)
		if g, w := put(got[at:at+room], from[:n]), copy(want[at:at+room], from[:n]); g != w || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes into %d: %d copied, want %d, or other bytes", n, room, g, w)
		}
	}
	if n := put(nil, from); n != 0 {
		t.Errorf("%d bytes into nothing", n)
	}
}
