package replication

import (
	"fmt"
	"hash/fnv"
	"testing"

	"banyan/internal/study/replication/pattern"
)

// TestGolden: outcomes are those of 23 November 2026, before the driver brought frames to their
// ports in batches, on one worker and on two. (Since then the state of a donor is a byte longer,
// and replacements say once more that they have joined: decision 73.) With an intended change of
// the model they change: a failure prints what they are then. What needs floating-point
// arithmetic isn't compared, because processors differ in it.
func TestGolden(t *testing.T) {
	want := map[string]uint64{
		"halo2d":     0xd11f24d7a184c54f,
		"halo3d":     0x4b86358fef3b81db,
		"stencil-cg": 0x39be3d1f4bbb3fdc,
		"cg":         0x707578ea0aa8069f,
		"multigrid":  0xaa971697ca1fe9e9,
		"fft":        0x5cecd81e8135441,
		"pencil":     0xe4066b0a6f6cd020,
		"sweep":      0x59264c1673ebe129,
		"gather":     0xf9afe340978b624a,
	}
	for _, kind := range pattern.Kinds() {
		h := fnv.New64a()
		for _, mirror := range []bool{false, true} {
			for _, c := range []string{"", "kill rank=5 at=150us; kill rank=20 replica=1 at=send:9; kill rank=33 at=step:2"} {
				s := small(kind, 64, 2)
				s.Pattern.Bytes = 2000
				s.Mirror, s.Steps, s.Jitter = mirror, 3, 0
				s.Crashes = crashesOf(t, c, 64, 2)
				if c != "" {
					s.Detection, s.Healing = 50e3, Healing{After: 100e3, State: 1000}
				}
				one := mustRun(t, s, 1)
				if two := mustRun(t, s, 2); *two != *one {
					t.Errorf("%s, mirror %v, %q: two workers: %+v, one: %+v", kind, mirror, c, two, one)
				}
				one.RetainedMean = 0
				fmt.Fprintf(h, "%+v\n", *one)
			}
		}
		if got := h.Sum64(); got != want[kind] {
			t.Errorf("%q: %#x,", kind, got)
		}
	}
}
