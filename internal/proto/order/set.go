package order

import "math/bits"

// set is a set of replicas of one rank, bit i for replica i.
type set uint64

// MaxDegree is how many replicas a rank may have.
const MaxDegree = 64

func only(replica int) set { return 1 << (replica & (MaxDegree - 1)) }

func (s set) has(replica int) bool { return s&only(replica) != 0 }

// lowest is the lowest replica of a set; 64 if it is empty.
func (s set) lowest() int { return bits.TrailingZeros64(uint64(s)) }
