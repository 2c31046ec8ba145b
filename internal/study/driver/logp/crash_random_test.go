package logp

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

func TestCrashRandom(t *testing.T) {
	c := Case{Procs: 20, Latency: 2, Overhead: 1, Tree: Binomial, Failed: []int{3, 7}}
	if err := c.CrashRandom(17, 5, rand.NewPCG(1, 2)); err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{0: true, 3: true, 7: true}
	for _, crash := range c.Crashes {
		if seen[crash.Proc] || crash.At.N < 0 || crash.At.N > 5 {
			t.Errorf("%v, after %v", crash, seen)
		}
		seen[crash.Proc] = true
	}
	if len(seen) != 20 || c.Validate() != nil {
		t.Errorf("%d processes, %v", len(seen), c.Validate())
	}
	if err := c.CrashRandom(1, 5, rand.NewPCG(1, 2)); err == nil {
		t.Error("somebody crashes twice")
	}
	again := Case{Procs: 20, Latency: 2, Overhead: 1, Tree: Binomial, Failed: []int{3, 7}}
	if err := again.CrashRandom(17, 5, rand.NewPCG(1, 2)); err != nil || !reflect.DeepEqual(c, again) {
		t.Errorf("%v: other crashes of the same seed", err)
	}
}
