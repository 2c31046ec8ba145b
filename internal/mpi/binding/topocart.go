package binding

import (
	"errors"

	"banyan/internal/mpi/cart"
	"banyan/internal/mpi/comm"
)

// cartesian is a Cartesian topology on one of its ranks.
type cartesian struct {
	cart.Grid
	rank int
}

// neighbours are, for each dimension, the rank before this one and the rank after it.
func (t *cartesian) neighbours() comm.Neighbours {
	return comm.GridNeighbours(t.Grid, t.rank, ProcNull)
}

// cart is the topology of a communicator that must be Cartesian. If there is none, the call
// returns the code.
func (p *Process) cart(function string, h Comm) (*communicator, *cartesian, Code) {
	c := p.communicator(h)
	if c == nil {
		return nil, nil, p.noComm(function, h)
	}
	t, ok := c.topology.(*cartesian)
	if !ok {
		return nil, nil, p.fail(c, function, ErrTopology, "%s has no Cartesian topology", c.title())
	}
	return c, t, Success
}

// readGrid checks the shape of a grid for a communicator.
func (p *Process) readGrid(function string, c *communicator, ndims int32, dims, periods *int32) (cart.Grid, Code) {
	var g cart.Grid
	if ndims < 0 || ndims > 0 && (dims == nil || periods == nil) {
		return g, p.fail(c, function, ErrArg, "%d dimensions, in arrays at %p and %p", ndims, dims, periods)
	}
	size := int64(1)
	for i, d := range array(dims, ndims) {
		if d < 1 {
			return g, p.fail(c, function, ErrDims, "dimension %d has the size %d", i, d)
		}
		if size *= int64(d); size > int64(c.comm.Size()) {
			return g, p.fail(c, function, ErrDims, "the dimensions %v hold more than the %d ranks of %s", array(dims, ndims), c.comm.Size(), c.title())
		}
		g.Dims, g.Periodic = append(g.Dims, int(d)), append(g.Periodic, array(periods, ndims)[i] != 0)
	}
	return g, Success
}

// CartCreate is MPI_Cart_create. Ranks keep their order.
func (p *Process) CartCreate(commOld Comm, ndims int32, dims, periods *int32, reorder int32, commCart *Comm) Code {
	const function = "MPI_Cart_create"
	c := p.communicator(commOld)
	if c == nil {
		return p.noComm(function, commOld)
	}
	if c.inter != nil {
		return p.isInter(c, function)
	}
	*commCart = CommNull
	g, code := p.readGrid(function, c, ndims, dims, periods)
	if code != Success {
		return code
	}
	return p.arrange(function, c, g.Size(), func(rank int) topology { return &cartesian{g, rank} }, commCart)
}

// CartMap is MPI_Cart_map.
func (p *Process) CartMap(comm Comm, ndims int32, dims, periods, newrank *int32) Code {
	const function = "MPI_Cart_map"
	c := p.communicator(comm)
	if c == nil {
		return p.noComm(function, comm)
	}
	if c.inter != nil {
		return p.isInter(c, function)
	}
	g, code := p.readGrid(function, c, ndims, dims, periods)
	if code != Success {
		return code
	}
	*newrank = mappedRank(c, g.Size())
	return Success
}

// CartdimGet is MPI_Cartdim_get.
func (p *Process) CartdimGet(comm Comm, ndims *int32) Code {
	_, t, code := p.cart("MPI_Cartdim_get", comm)
	if code == Success {
		*ndims = int32(len(t.Dims))
	}
	return code
}

// CartGet is MPI_Cart_get.
func (p *Process) CartGet(comm Comm, maxdims int32, dims, periods, coords *int32) Code {
	const function = "MPI_Cart_get"
	c, t, code := p.cart(function, comm)
	if code != Success {
		return code
	}
	if int(maxdims) < len(t.Dims) {
		return p.fail(c, function, ErrDims, "there is room for %d dimensions, and the topology has %d", maxdims, len(t.Dims))
	}
	if len(t.Dims) > 0 && (dims == nil || periods == nil || coords == nil) {
		return p.fail(c, function, ErrArg, "the arrays are at %p, %p and %p", dims, periods, coords)
	}
	here := t.Coordinates(t.rank)
	for i, d := range t.Dims {
		array(dims, maxdims)[i], array(coords, maxdims)[i] = int32(d), int32(here[i])
		array(periods, maxdims)[i] = truth(t.Periodic[i])
	}
	return Success
}

// CartRank is MPI_Cart_rank.
func (p *Process) CartRank(comm Comm, coords, rank *int32) Code {
	const function = "MPI_Cart_rank"
	c, t, code := p.cart(function, comm)
	if code != Success {
		return code
	}
	at := make([]int, len(t.Dims))
	if len(at) > 0 && coords == nil {
		return p.fail(c, function, ErrArg, "the array of coordinates is NULL")
	}
	for i, x := range array(coords, int32(len(at))) {
		at[i] = int(x)
	}
	r, ok := t.Rank(at)
	if !ok {
		return p.fail(c, function, ErrArg, "the coordinates %v are outside of the dimensions %v", at, t.Dims)
	}
	*rank = int32(r)
	return Success
}

// CartCoords is MPI_Cart_coords.
func (p *Process) CartCoords(comm Comm, rank, maxdims int32, coords *int32) Code {
	const function = "MPI_Cart_coords"
	c, t, code := p.cart(function, comm)
	switch {
	case code != Success:
		return code
	case rank < 0 || int(rank) >= t.Size():
		return p.fail(c, function, ErrRank, "the rank is %d, and the topology has %d", rank, t.Size())
	case int(maxdims) < len(t.Dims):
		return p.fail(c, function, ErrDims, "there is room for %d dimensions, and the topology has %d", maxdims, len(t.Dims))
	case len(t.Dims) > 0 && coords == nil:
		return p.fail(c, function, ErrArg, "the array of coordinates is NULL")
	}
	for i, x := range t.Coordinates(int(rank)) {
		array(coords, maxdims)[i] = int32(x)
	}
	return Success
}

// CartShift is MPI_Cart_shift.
func (p *Process) CartShift(comm Comm, direction, disp int32, rankSource, rankDest *int32) Code {
	const function = "MPI_Cart_shift"
	c, t, code := p.cart(function, comm)
	switch {
	case code != Success:
		return code
	case direction < 0 || int(direction) >= len(t.Dims):
		return p.fail(c, function, ErrArg, "the direction is %d, and there are %d dimensions", direction, len(t.Dims))
	}
	shifted := func(steps int) int32 {
		if there, ok := t.Shift(t.rank, int(direction), steps); ok {
			return int32(there)
		}
		return ProcNull
	}
	*rankSource, *rankDest = shifted(-int(disp)), shifted(int(disp))
	return Success
}

// CartSub is MPI_Cart_sub.
func (p *Process) CartSub(comm Comm, remainDims *int32, newcomm *Comm) Code {
	const function = "MPI_Cart_sub"
	c, t, code := p.cart(function, comm)
	if code != Success {
		return code
	}
	keep := make([]bool, len(t.Dims))
	if len(keep) > 0 && remainDims == nil {
		return p.fail(c, function, ErrArg, "the array of dimensions is NULL")
	}
	for i, x := range array(remainDims, int32(len(keep))) {
		keep[i] = x != 0
	}
	sub, number := t.Sub(t.rank, keep)
	*newcomm = CommNull
	inner, err := c.comm.Split(number, 0)
	if err != nil {
		return p.failWith(c, function, err)
	}
	made := p.newCommunicator(c, inner)
	made.topology = &cartesian{sub, inner.Rank()}
	return p.publishComm(function, c, made, newcomm)
}

// DimsCreate is MPI_Dims_create.
func (p *Process) DimsCreate(nnodes, ndims int32, dims *int32) Code {
	const function = "MPI_Dims_create"
	switch {
	case !p.live():
		return p.outOfTime(function)
	case nnodes < 1 || ndims < 0 || ndims > 0 && dims == nil:
		return p.fail(nil, function, ErrArg, "%d ranks in %d dimensions at %p", nnodes, ndims, dims)
	case ndims == 0:
		return Success
	}
	all := make([]int, ndims)
	for i, d := range array(dims, ndims) {
		all[i] = int(d)
	}
	if err := cart.Balance(int(nnodes), all); errors.Is(err, cart.ErrDims) {
		return p.fail(nil, function, ErrDims, "the dimensions %v don't divide %d ranks", array(dims, ndims), nnodes)
	}
	for i, d := range all {
		array(dims, ndims)[i] = int32(d)
	}
	return Success
}
