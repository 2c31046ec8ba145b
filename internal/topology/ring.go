package topology

import (
	"cmp"
	"fmt"
	"slices"

	"banyan/internal/proto"
)

// Ring is a cyclic order of processes, at the positions 0…Len()-1. "Next" is
// clockwise. A Ring never changes and may be shared.
type Ring struct {
	order    []proto.Proc // by position; nil if it is the identity
	position []int32      // by Proc, -1 for those that aren't in it; nil if it is the identity
	n        int32
}

// IdentityRing is the ring of the processes 0…n-1 in the order of their numbers. It
// takes no memory that depends on n.
func IdentityRing(n int) *Ring { return &Ring{n: int32(n)} }

// NewRing is the ring of the given processes, which must be distinct and not
// negative. It keeps the slice.
func NewRing(order []proto.Proc) (*Ring, error) {
	if len(order) > MaxProcs {
		return nil, fmt.Errorf("a ring of %d processes: want at most %d", len(order), MaxProcs)
	}
	r := &Ring{order: order, n: int32(len(order))}
	if len(order) > 0 {
		if low := slices.Min(order); low < 0 {
			return nil, fmt.Errorf("a ring with process %d", int32(low))
		}
		r.position = make([]int32, slices.Max(order)+1)
	}
	for i := range r.position {
		r.position[i] = -1
	}
	for i, p := range order {
		if r.position[p] >= 0 {
			return nil, fmt.Errorf("a ring with %v twice", p)
		}
		r.position[p] = int32(i)
	}
	return r, nil
}

// InterleavedRing is the ring of the processes 0…len(hosts)-1, of which process p
// runs on host hosts[p] (numbered from 0), in an order that keeps those of one host apart: two of
// them are neighbours only if one host has more than half of all processes, and
// if all hosts have the same number of processes there is one of each other host
// between. So a host that dies takes no two neighbours with it.
//
// The processes, sorted by host, the largest host first, are dealt to as many hands as the
// largest host has processes. No hand gets two of one host, and all hands begin with the
// largest. The ring is hand after hand.
func InterleavedRing(hosts []int32) *Ring {
	count := make([]int32, 0, 16)
	for _, h := range hosts {
		for int(h) >= len(count) {
			count = append(count, 0)
		}
		count[h]++
	}
	sorted := make([]proto.Proc, len(hosts))
	for p := range sorted {
		sorted[p] = proto.Proc(p)
	}
	slices.SortFunc(sorted, func(p, q proto.Proc) int {
		return cmp.Or(cmp.Compare(count[hosts[q]], count[hosts[p]]), cmp.Compare(hosts[p], hosts[q]), cmp.Compare(p, q))
	})
	order := make([]proto.Proc, 0, len(hosts))
	for hands, hand := 0, 0; len(order) < len(hosts); hand++ {
		if hand == 0 {
			hands = int(slices.Max(count))
		}
		for i := hand; i < len(sorted); i += hands {
			order = append(order, sorted[i])
		}
	}
	r, err := NewRing(order)
	if err != nil {
		panic(err) // a permutation of 0…n-1
	}
	return r
}

// Len is the number of processes in the ring.
func (r *Ring) Len() int { return int(r.n) }

// Position is where a process is in the ring, or -1.
func (r *Ring) Position(p proto.Proc) int {
	switch {
	case r.order == nil && uint32(p) < uint32(r.n):
		return int(p)
	case r.order != nil && uint(p) < uint(len(r.position)):
		return int(r.position[p])
	}
	return -1
}

// At is the process at a position.
func (r *Ring) At(position int) proto.Proc {
	if r.order == nil {
		return proto.Proc(position)
	}
	return r.order[position]
}

// Next is the process after p, which must be in the ring; its own successor if
// it is alone.
func (r *Ring) Next(p proto.Proc) proto.Proc {
	i := r.Position(p) + 1
	if i == int(r.n) {
		i = 0
	}
	return r.At(i)
}

// Prev is the process before p, which must be in the ring.
func (r *Ring) Prev(p proto.Proc) proto.Proc {
	i := r.Position(p)
	if i == 0 {
		i = int(r.n)
	}
	return r.At(i - 1)
}

// Ahead is how many steps clockwise lead from p to q, both of which must be in the
// ring: 0…Len()-1.
func (r *Ring) Ahead(p, q proto.Proc) int {
	d := r.Position(q) - r.Position(p)
	if d < 0 {
		d += int(r.n)
	}
	return d
}
