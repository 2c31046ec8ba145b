package datatype

import (
	"errors"
	"fmt"
	"math/bits"
)

// The errors of constructors, for errors.Is.
var (
	ErrCount    = errors.New("negative count")
	ErrArgument = errors.New("invalid argument")
	ErrTooLarge = errors.New("too large")
)

// limit is the largest magnitude of sizes, bounds and displacements.
const limit = 1 << 62

// shape is the properties of a type map that follow from the shapes of its parts.
type shape struct {
	size     int64 // bytes of data
	elements int64 // entries of the type map
	external int64 // bytes in external32

	trueLB, trueUB int64 // around the data; both 0 if there is none
	markLB, markUB int64 // the lowest and highest marker that Resized has put
	marked         bool  // whether there are any
	align          int64 // the largest alignment of the elements
	kind           Kind  // of all elements, or Mixed

	typed placed // the type map
	bytes placed // the same with kinds forgotten: typed itself where they don't matter
}

// arith calculates and notes whether a result is beyond the limit.
type arith struct{ over bool }

func (a *arith) mul(x, y int64) int64 {
	hi, lo := bits.Mul64(magnitude(x), magnitude(y))
	if hi != 0 || lo > limit {
		a.over = true
		return 0
	}
	return x * y
}

func (a *arith) add(x, y int64) int64 {
	return a.in(a.in(x) + a.in(y)) // both are within the limit, so the sum doesn't wrap
}

func (a *arith) in(x int64) int64 {
	if x > limit || x < -limit {
		a.over = true
		return 0
	}
	return x
}

func (a *arith) err(what string) error {
	if a.over {
		return fmt.Errorf("%w: %s passes 2^62 bytes", ErrTooLarge, what)
	}
	return nil
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

// ofKind is one element.
func ofKind(k Kind) shape {
	t := traits[k]
	p := runOf(k, t.size)
	return shape{
		size: t.size, elements: 1, external: t.external,
		trueUB: t.size, align: t.align, kind: k, typed: p, bytes: p,
	}
}

// moved is the shape disp bytes further on.
func (s shape) moved(disp int64, a *arith) shape {
	if s.elements > 0 {
		s.trueLB, s.trueUB = a.add(s.trueLB, disp), a.add(s.trueUB, disp)
	}
	if s.marked {
		s.markLB, s.markUB = a.add(s.markLB, disp), a.add(s.markUB, disp)
	}
	s.typed.disp += disp
	s.bytes.disp += disp
	return s
}

// repeated is count times the shape, each stride bytes after the one before.
func (s shape) repeated(count, stride int64, a *arith) shape {
	if count == 0 {
		return shape{align: 1}
	}
	s.size = a.mul(s.size, count)
	s.elements = a.mul(s.elements, count)
	s.external = a.mul(s.external, count)
	last := a.mul(stride, count-1)
	if s.elements > 0 {
		s.trueLB, s.trueUB = a.add(s.trueLB, min(last, 0)), a.add(s.trueUB, max(last, 0))
	}
	if s.marked {
		s.markLB, s.markUB = a.add(s.markLB, min(last, 0)), a.add(s.markUB, max(last, 0))
	}
	if a.over {
		return shape{}
	}
	one := s.typed.node == s.bytes.node
	s.typed = repeat(count, stride, s.typed)
	if one {
		s.bytes = s.typed
	} else {
		s.bytes = repeat(count, stride, s.bytes)
	}
	return s
}

// joined is the shapes one after another.
func joined(shapes []shape, a *arith) shape {
	j := shape{align: 1}
	typed := make([]placed, 0, len(shapes))
	one := true
	for i := range shapes {
		s := &shapes[i]
		if s.marked {
			if !j.marked {
				j.markLB, j.markUB = s.markLB, s.markUB
			}
			j.markLB, j.markUB, j.marked = min(j.markLB, s.markLB), max(j.markUB, s.markUB), true
		}
		if s.elements == 0 {
			continue
		}
		if j.elements == 0 {
			j.trueLB, j.trueUB, j.kind = s.trueLB, s.trueUB, s.kind
		}
		j.trueLB, j.trueUB = min(j.trueLB, s.trueLB), max(j.trueUB, s.trueUB)
		j.size = a.add(j.size, s.size)
		j.elements = a.add(j.elements, s.elements)
		j.external = a.add(j.external, s.external)
		j.align = max(j.align, s.align)
		if s.kind != j.kind {
			j.kind = Mixed
		}
		typed = append(typed, s.typed)
		one = one && s.typed == s.bytes
	}
	if a.over {
		return shape{}
	}
	j.typed = join(typed, false)
	if one && j.kind != Mixed {
		j.bytes = j.typed
		return j
	}
	bytes := typed[:0]
	for i := range shapes {
		bytes = append(bytes, shapes[i].bytes)
	}
	j.bytes = join(bytes, true)
	return j
}

// bounds are the lower and upper bound: those of the markers, or else of the data, with the
// padding that aligns arrays of the type.
func (s *shape) bounds() (lb, ub int64) {
	if s.marked {
		return s.markLB, s.markUB
	}
	lb, ub = s.trueLB, s.trueUB
	if over := (ub - lb) % s.align; over != 0 {
		ub += s.align - over
	}
	return lb, ub
}
