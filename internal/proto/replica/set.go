package replica

import (
	"banyan/internal/layout"
	"banyan/internal/proto"
)

// replicas is a set of replicas of one rank, bit i for replica i.
type replicas uint64

// only is the set of one replica, 0 ≤ replica < MaxDegree. The mask saves the processor a test
// whether it is more.
func only(replica int) replicas { return 1 << (replica & (layout.MaxDegree - 1)) }

// first is the set of the first replicas of a rank, as many as degree says.
func first(degree int) replicas { return ^replicas(0) >> (layout.MaxDegree - degree) }

// allOf is the set of the indexes that replicas have in a layout. A rank may have
// fewer.
func allOf(l layout.Layout) replicas { return first(l.MaxDegree()) }

// absentOf are the indexes that rank r has no replica for, but another rank has.
func absentOf(l layout.Layout, r proto.Rank) replicas { return allOf(l) &^ first(l.Degree(r)) }
