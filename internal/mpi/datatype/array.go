package datatype

import "fmt"

// Order is the order of an array's elements in memory. The values are the ABI's.
type Order int32

// The orders: the last index runs fastest, or the first.
const (
	OrderC       Order = 0xC
	OrderFortran Order = 0xF
)

// Distribution is the way in which a dimension of an array is distributed to processes. The
// values are the ABI's MPI_DISTRIBUTE_.
type Distribution int32

// The distributions, and the argument that leaves the size of blocks to MPI.
const (
	DistributeNone Distribution = 16 + iota
	DistributeBlock
	DistributeCyclic
	DefaultArgument int64 = 19
)

func (o Order) check() error {
	if o != OrderC && o != OrderFortran {
		return fmt.Errorf("%w: order is %d", ErrArgument, o)
	}
	return nil
}

// dimension is the i-th dimension from the one that runs fastest, of n.
func (o Order) dimension(i, n int) int {
	if o == OrderC {
		return n - 1 - i
	}
	return i
}

// Subarray is the part of an array that begins at starts and has subsizes. Its extent is that
// of the whole array, which has sizes.
func Subarray(sizes, subsizes, starts []int64, order Order, old *Type) (*Type, error) {
	if err := order.check(); err != nil {
		return nil, err
	}
	if len(sizes) == 0 {
		return nil, fmt.Errorf("%w: ndims is 0", ErrArgument)
	}
	for i := range sizes {
		switch {
		case sizes[i] < 1:
			return nil, fmt.Errorf("%w: size of dimension %d is %d", ErrArgument, i, sizes[i])
		case subsizes[i] < 1 || subsizes[i] > sizes[i]:
			return nil, fmt.Errorf("%w: subsize of dimension %d is %d, its size %d", ErrArgument, i, subsizes[i], sizes[i])
		case starts[i] < 0 || starts[i] > sizes[i]-subsizes[i]:
			return nil, fmt.Errorf("%w: start in dimension %d is %d, its size %d, the subsize %d",
				ErrArgument, i, starts[i], sizes[i], subsizes[i])
		}
	}
	var a arith
	s, extent := old.shape, old.ub-old.lb
	for i := range sizes {
		d := order.dimension(i, len(sizes))
		s = s.repeated(subsizes[d], extent, &a).moved(a.mul(starts[d], extent), &a)
		extent = a.mul(extent, sizes[d])
		s = s.between(0, extent)
	}
	args := append([]int64{int64(len(sizes))}, sizes...)
	args = append(append(append(args, subsizes...), starts...), int64(order))
	return finish(s, &a, Contents{Combiner: CombinerSubarray, args: args, Types: []*Type{old}})
}

// between is the shape with markers.
func (s shape) between(lb, ub int64) shape {
	s.marked, s.markLB, s.markUB = true, lb, ub
	return s
}

// Grid is an array that is distributed to a grid of processes.
type Grid struct {
	Size, Rank    int64 // the number of processes, and one of them; ranks are in C order
	Sizes         []int64
	Distributions []Distribution
	Arguments     []int64 // the size of blocks, or DefaultArgument
	Processes     []int64 // the grid's sizes
	Order         Order
}

// Darray is one process's part of an array that is distributed to a grid. Its extent is that of
// the whole array.
func Darray(g Grid, old *Type) (*Type, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	n := len(g.Sizes)
	coordinates := make([]int64, n)
	for i, rest := n-1, g.Rank; i >= 0; i-- {
		coordinates[i] = rest % g.Processes[i]
		rest /= g.Processes[i]
	}
	var a arith
	s, extent := old.shape, old.ub-old.lb
	for i := range n {
		d := g.Order.dimension(i, n)
		size, processes, block := g.Sizes[d], g.Processes[d], g.blockOf(d)
		s = s.dealt(size, block, processes, coordinates[d], extent, &a)
		extent = a.mul(extent, size)
		s = s.between(0, extent)
	}
	args := append([]int64{g.Size, g.Rank, int64(n)}, g.Sizes...)
	for _, d := range g.Distributions {
		args = append(args, int64(d))
	}
	args = append(append(append(args, g.Arguments...), g.Processes...), int64(g.Order))
	return finish(s, &a, Contents{Combiner: CombinerDarray, args: args, Types: []*Type{old}})
}

// blockOf is the size of the blocks of dimension d.
func (g *Grid) blockOf(d int) int64 {
	switch {
	case g.Distributions[d] == DistributeNone:
		return g.Sizes[d]
	case g.Arguments[d] != DefaultArgument:
		return g.Arguments[d]
	case g.Distributions[d] == DistributeBlock:
		return (g.Sizes[d]-1)/g.Processes[d] + 1
	}
	return 1
}

// dealt is the part of a dimension for the process at a coordinate: every processes-th block.
func (s shape) dealt(size, block, processes, coordinate, extent int64, a *arith) shape {
	first, period := a.mul(coordinate, block), a.mul(processes, block)
	if a.over || first >= size {
		return shape{align: 1}
	}
	whole := (size - first) / period // whole periods; up to a block follows
	blocks := s.repeated(block, extent, a).repeated(whole, a.mul(period, extent), a)
	rest := s.repeated(min(block, size-first-whole*period), extent, a).moved(a.mul(whole*period, extent), a)
	return joined([]shape{blocks, rest}, a).moved(a.mul(first, extent), a)
}

func (g *Grid) check() error {
	if err := g.Order.check(); err != nil {
		return err
	}
	switch {
	case len(g.Sizes) == 0:
		return fmt.Errorf("%w: ndims is 0", ErrArgument)
	case g.Size < 1:
		return fmt.Errorf("%w: size is %d", ErrArgument, g.Size)
	case g.Rank < 0 || g.Rank >= g.Size:
		return fmt.Errorf("%w: rank is %d, of %d", ErrArgument, g.Rank, g.Size)
	}
	processes := int64(1)
	for i := range g.Sizes {
		if err := g.checkDimension(i); err != nil {
			return err
		}
		if g.Processes[i] > g.Size/processes {
			return fmt.Errorf("%w: the grid has more than %d processes", ErrArgument, g.Size)
		}
		processes *= g.Processes[i]
	}
	if processes != g.Size {
		return fmt.Errorf("%w: the grid has %d processes, not %d", ErrArgument, processes, g.Size)
	}
	return nil
}

func (g *Grid) checkDimension(i int) error {
	size, processes, arg := g.Sizes[i], g.Processes[i], g.Arguments[i]
	switch d := g.Distributions[i]; {
	case size < 1:
		return fmt.Errorf("%w: size of dimension %d is %d", ErrArgument, i, size)
	case processes < 1:
		return fmt.Errorf("%w: dimension %d has %d processes", ErrArgument, i, processes)
	case d < DistributeNone || d > DistributeCyclic:
		return fmt.Errorf("%w: distribution of dimension %d is %d", ErrArgument, i, d)
	case d == DistributeNone && processes != 1:
		return fmt.Errorf("%w: dimension %d isn't distributed, but has %d processes", ErrArgument, i, processes)
	case d == DistributeNone || arg == DefaultArgument:
		return nil
	case arg < 1:
		return fmt.Errorf("%w: distribution argument of dimension %d is %d", ErrArgument, i, arg)
	case d == DistributeBlock && arg < (size-1)/processes+1:
		return fmt.Errorf("%w: %d blocks of %d are less than dimension %d, which has %d", ErrArgument, processes, arg, i, size)
	}
	return nil
}
