package datatype

import (
	"errors"
	"fmt"
	"math"
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
type arith struct {
	over bool
	wide bool // up to 2^63-1: what is calculated isn't the size or place of memory
}

func (a *arith) mul(x, y int64) int64 {
	hi, lo := bits.Mul64(magnitude(x), magnitude(y))
	if hi != 0 || lo > a.limit() {
		a.over = true
		return 0
	}
	return x * y
}

func (a *arith) add(x, y int64) int64 {
	sum := a.in(x) + a.in(y)
	if x > 0 && y > 0 && sum < 0 || x < 0 && y < 0 && sum >= 0 {
		a.over = true
		return 0
	}
	return a.in(sum)
}

func (a *arith) in(x int64) int64 {
	if magnitude(x) > a.limit() {
		a.over = true
		return 0
	}
	return x
}

func (a *arith) limit() uint64 {
	if a.wide {
		return math.MaxInt64
	}
	return limit
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

// joined is several shapes in one, in their order.
func joined(shapes []shape, a *arith) shape {
	j := joining(len(shapes))
	for _, s := range shapes {
		j.add(s, a)
	}
	return j.end(a)
}

// joint is shapes that are being joined. It keeps where their data is, not the shapes: there may be
// millions.
type joint struct {
	shape
	places []placed // with kinds
	plain  []placed // without; nil as long as it would be the same
}

// joining begins to join so many shapes.
func joining(n int) *joint {
	return &joint{shape: shape{align: 1}, places: make([]placed, 0, n)}
}

// add adds the next shape.
func (j *joint) add(s shape, a *arith) {
	if s.marked {
		if !j.marked {
			j.markLB, j.markUB = s.markLB, s.markUB
		}
		j.markLB, j.markUB, j.marked = min(j.markLB, s.markLB), max(j.markUB, s.markUB), true
	}
	if s.elements == 0 {
		return
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
	if j.plain == nil && (j.kind == Mixed || s.typed != s.bytes) {
		j.plain = append(make([]placed, 0, cap(j.places)), j.places...) // up to here it is the same
	}
	j.places = append(j.places, s.typed)
	if j.plain != nil {
		j.plain = append(j.plain, s.bytes)
	}
}

// end is the whole.
func (j *joint) end(a *arith) shape {
	if a.over {
		return shape{}
	}
	j.typed = join(j.places, false)
	j.bytes = j.typed
	if j.plain != nil {
		j.bytes = join(j.plain, true)
	}
	return j.shape
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
