package replica

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// A rank lacks the indexes beyond its own degree that some other rank has.
func TestAbsentReplicas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		degrees := rapid.SliceOfN(rapid.IntRange(1, layout.MaxDegree), 1, 20).Draw(t, "degrees")
		l := layout.Partial(degrees)
		for replica := range slices.Max(degrees) {
			for r, degree := range degrees {
				if exists := absentOf(l, proto.Rank(r))&only(replica) == 0; exists != (replica < degree) {
					t.Fatalf("%v: rank %d has replica %d: %v", degrees, r, replica, exists)
				}
			}
		}
	})
}

func TestAllReplicas(t *testing.T) {
	for degree, want := range map[int]replicas{1: 1, 2: 3, 63: 1<<63 - 1, 64: 1<<64 - 1} {
		if got := allOf(layout.Uniform(1, degree)); got != want {
			t.Errorf("degree %d: %x; want %x", degree, got, want)
		}
	}
}
