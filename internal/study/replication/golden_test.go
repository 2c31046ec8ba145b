package replication

import (
	"fmt"
	"hash/fnv"
	"testing"

	"banyan/internal/study/replication/pattern"
)

// TestGolden: outcomes are those of 23 November 2026, before the driver brought frames to their
// ports in batches, on one worker and on two. With an intended change of the model they change: a
// failure prints what they are then. What needs floating-point arithmetic isn't compared, because
// processors differ in it.
func TestGolden(t *testing.T) {
	want := map[string]uint64{
		"halo2d":     0xd11f24d7a184c54f,
		"halo3d":     0xd1b78e05c30ec2d1,
		"stencil-cg": 0x288ad1f6bc15e23e,
		"cg":         0x89e166a4f477fa63,
		"multigrid":  0x8d93b4e1d212c3d5,
		"fft":        0x5b2ff9816307c6d2,
		"pencil":     0x5a6e45cd4242511e,
		"sweep":      0xe576404ad4584280,
		"gather":     0x32dd6935a01e3d2c,
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
