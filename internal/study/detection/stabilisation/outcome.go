package stabilisation

import (
	"math"

	"banyan/internal/proto"
)

// Outcome is what happened in one run. Times are since the first failure, in
// nanoseconds.
type Outcome struct {
	// Stable says whether the run came to its end: all live nodes knew of all failures, and if
	// failures were forced all had struck.
	Stable bool
	// Detected is when the first live node knew of the first failure.
	Detected proto.Time
	First    proto.Time // when all live nodes knew of the first failure
	All      proto.Time // and of all, that is, the configuration was stable
	Each     proto.Time // mean time from a failure until all live nodes knew of it
	// Failures is how many had struck by then, with the first.
	Failures int
	// Broadcasts is how many were begun.
	Broadcasts int
	// False is how often a live node was taken for dead, which ends a run at the next event.
	False    int
	Messages Messages
}

// Messages are counted from the first failure until the configuration was stable, and the last
// broadcast through.
type Messages struct {
	Heartbeats int
	Observes   int // NEWOBSERVER
	News       int // those of broadcasts
	Others     int
}

// Bound is theorem 1's T(f) for f failures, in nanoseconds.
func (s *Settings) Bound(failures int) float64 {
	f := float64(failures)
	broadcast := 8 * float64(s.Tau) * math.Log2(float64(s.Nodes))
	return f*(f+1)*float64(s.Timeout) + f*float64(s.Tau) + f*(f+1)/2*broadcast
}

// Exceeds says whether a run took longer than theorem 1 allows. The theorem says nothing where
// more failures struck than it covers.
func (s *Settings) Exceeds(o *Outcome) bool {
	return o.Failures <= s.MostFailures() && (!o.Stable || float64(o.All) > s.Bound(o.Failures))
}
