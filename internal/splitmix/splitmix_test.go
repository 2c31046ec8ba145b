package splitmix

import "testing"

// TestReference compares with the first numbers that the reference implementation
// (prng.di.unimi.it/splitmix64.c) returns for the seed 1234567.
func TestReference(t *testing.T) {
	state := uint64(1234567)
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if got := Mix(state); got != want {
			t.Errorf("number %d is %d, want %d", i, got, want)
		}
		state += Gamma
	}
	if Finalise(0) != 0 {
		t.Error("Finalise must map 0 to 0")
	}
}
