package oneworld

import "testing"

// Each mistake is found within a few runs.
func TestCanaries(t *testing.T) {
	for b := NoBug + 1; b < bugs; b++ {
		t.Run(b.String(), func(t *testing.T) {
			for seed := range uint64(300) {
				if r := Run(Settings{Seed: seed, Bug: b}); r.Err != nil {
					t.Logf("seed %d: %.300v", seed, r.Err)
					return
				}
			}
			t.Error("it wasn't found")
		})
	}
}
