package mpi

import "banyan/internal/mpi/comm"

// The collectives of this file only start their operation. Until the request has ended the program
// must not change what it gives, nor use what it gets. All ranks start the collectives of a
// communicator in the same order; they may end in any. The operations move by themselves, except
// that a program's own Op runs while the program is in some call of the library.

// Ibarrier starts a Barrier: the request ends when every rank has started it.
func (c *Comm) Ibarrier() (Request, error) { return c.start(c.c.Barrier()) }

// Ibcast starts a Bcast.
func Ibcast[T Element](c *Comm, buf []T, root int) (Request, error) {
	return c.start(bcast(c, buf, root))
}

// Ireduce starts a Reduce.
func Ireduce[T Element](c *Comm, send, recv []T, op Op[T], root int) (Request, error) {
	return c.start(reduce(c, send, recv, op, root))
}

// Iallreduce starts an Allreduce.
func Iallreduce[T Element](c *Comm, send, recv []T, op Op[T]) (Request, error) {
	return c.start(allreduce(c, send, recv, op))
}

// IreduceScatter starts a ReduceScatter.
func IreduceScatter[T Element](c *Comm, send, recv []T, counts []int, op Op[T]) (Request, error) {
	return c.start(reduceScatter(c, send, recv, counts, op))
}

// Iscan starts a Scan.
func Iscan[T Element](c *Comm, send, recv []T, op Op[T]) (Request, error) {
	return c.start(scan(c, send, recv, op))
}

// Iexscan starts an Exscan.
func Iexscan[T Element](c *Comm, send, recv []T, op Op[T]) (Request, error) {
	return c.start(exscan(c, send, recv, op))
}

// Igather starts a Gather.
func Igather[T Element](c *Comm, send, recv []T, root int) (Request, error) {
	return c.start(gather(c, send, recv, root))
}

// Igatherv starts a Gatherv.
func Igatherv[T Element](c *Comm, send, recv []T, counts []int, root int) (Request, error) {
	return c.start(gatherv(c, send, recv, counts, root))
}

// Iallgather starts an Allgather.
func Iallgather[T Element](c *Comm, send, recv []T) (Request, error) {
	return c.start(allgather(c, send, recv))
}

// Iallgatherv starts an Allgatherv.
func Iallgatherv[T Element](c *Comm, send, recv []T, counts []int) (Request, error) {
	return c.start(allgatherv(c, send, recv, counts))
}

// Iscatter starts a Scatter.
func Iscatter[T Element](c *Comm, send, recv []T, root int) (Request, error) {
	return c.start(scatter(c, send, recv, root))
}

// Iscatterv starts a Scatterv.
func Iscatterv[T Element](c *Comm, send []T, counts []int, recv []T, root int) (Request, error) {
	return c.start(scatterv(c, send, counts, recv, root))
}

// Ialltoall starts an Alltoall.
func Ialltoall[T Element](c *Comm, send, recv []T) (Request, error) {
	return c.start(alltoall(c, send, recv))
}

// Ialltoallv starts an Alltoallv.
func Ialltoallv[T Element](c *Comm, send []T, sendCounts []int, recv []T, recvCounts []int) (Request, error) {
	return c.start(alltoallv(c, send, sendCounts, recv, recvCounts))
}

// Ialltoallw starts an Alltoallw.
func Ialltoallw(c *Comm, send, recv []Part) (Request, error) {
	return c.start(alltoallw(c, send, recv))
}

// start starts a plan, or makes it a persistent request.
func (c *Comm) start(p *comm.Plan) (Request, error) {
	if c.keeps {
		if err := p.Keep(); err != nil {
			return Request{}, c.outcome(err)
		}
		return Request{c: c, kept: &kept{start: func() (comm.Pending, error) { return started(p) }, free: p.Free}}, nil
	}
	pending, err := started(p)
	if err != nil {
		return Request{}, c.outcome(err)
	}
	return Request{p: pending, c: c}, nil
}

func started(p *comm.Plan) (comm.Pending, error) {
	o, err := p.Start()
	return o.Pending(), err
}
