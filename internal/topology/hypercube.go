package topology

import "math/bits"

// Hypercubes are the ways of a reliable broadcast from label 0 to the labels
// 0…Len()-1, for any number of labels: two hypercubes of 2^k vertices each,
// k = ⌊log2 n⌋ (Bosilca et al., "A Failure Detector for HPC Platforms", section
// 2). Vertex v of cube 0 is the label v, of cube 1 the label n-v mod n. Together they
// cover all labels.
//
// In each cube a message travels along k trees, numbered 0…k-1 (after Ramanathan and Shin,
// "Reliable Broadcast in Hypercube Multicomputers", 1988). Tree t flips bit t of the
// source's vertex first. From there on it sets the bits that come after t,
// cyclically, and in ascending order; last of all it clears bit t, for those that
// have it clear. So each tree reaches every vertex just once, and the ways to one
// vertex along two trees meet nowhere in between: k-1 dead vertices can't
// cut all k ways to it.
//
// The receiver of a copy knows from (cube, tree) and its own label to which processes it
// goes next. It needs no memory of which broadcasts it has seen.
type Hypercubes struct {
	n, k int32
}

// Cubes is how many cubes Hypercubes have.
const Cubes = 2

// NewHypercubes are the cubes over n ≥ 1 labels.
func NewHypercubes(n int) Hypercubes {
	return Hypercubes{n: int32(n), k: int32(bits.Len(uint(n)) - 1)}
}

// Len is the number of labels.
func (h Hypercubes) Len() int { return int(h.n) }

// Trees is the number of trees in each cube, k = ⌊log2 n⌋. A broadcast reaches all live labels
// if at most k-1 others are dead.
func (h Hypercubes) Trees() int { return int(h.k) }

// Copies is how many messages a broadcast takes at most.
func (h Hypercubes) Copies() int { return Cubes * int(h.k) * (1<<h.k - 1) }

// AppendChildren appends the labels to which a label passes on the copies of
// a broadcast that reach it along a tree of a cube. Label 0 is the source.
func (h Hypercubes) AppendChildren(dst []int32, cube, tree int, label int32) []int32 {
	vertex, ok := h.vertex(cube, label)
	first := uint32(1) << tree
	switch {
	case !ok:
		return dst
	case vertex == 0:
		return append(dst, h.label(cube, first))
	case vertex&first == 0:
		return dst
	}
	// Bits as steps after t: bit s of turned is bit t+s mod k of vertex.
	turned := vertex>>tree | vertex<<(int(h.k)-tree)&(1<<h.k-1)
	for s := bits.Len32(turned); s < int(h.k); s++ {
		dst = append(dst, h.label(cube, vertex|1<<((tree+s)%int(h.k))))
	}
	if vertex != first {
		dst = append(dst, h.label(cube, vertex^first))
	}
	return dst
}

// vertex is where a label is in a cube, if it is.
func (h Hypercubes) vertex(cube int, label int32) (v uint32, ok bool) {
	if cube == 1 && label != 0 {
		label = h.n - label
	}
	return uint32(label), label < 1<<h.k
}

// label is the inverse of vertex.
func (h Hypercubes) label(cube int, vertex uint32) int32 {
	if cube == 1 && vertex != 0 {
		return h.n - int32(vertex)
	}
	return int32(vertex)
}
