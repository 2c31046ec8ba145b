package mpi

import "banyan/internal/mpi/comm"

// Each collective has a form that waits, and one that only starts it (nonblocking.go). Both make
// the same plan, by the functions at the end of this file.

// Barrier returns when every rank of the communicator has called it.
func (c *Comm) Barrier() error { return c.run(c.c.Barrier()) }

// Bcast brings the root's buf to every rank. All ranks give the same length. In a job without
// replicas it completes at every live rank although others are dead.
func Bcast[T Element](c *Comm, buf []T, root int) error { return c.run(bcast(c, buf, root)) }

// Reduce combines the ranks' send, element by element and in rank order, into recv at the root.
// recv is used at the root only.
func Reduce[T Element](c *Comm, send, recv []T, op Op[T], root int) error {
	return c.run(reduce(c, send, recv, op, root))
}

// Allreduce combines the ranks' send, element by element and in rank order, into recv at every
// rank. The result is the same to the bit everywhere. send and recv may be the same slice.
func Allreduce[T Element](c *Comm, send, recv []T, op Op[T]) error {
	return c.run(allreduce(c, send, recv, op))
}

// ReduceScatter does the same as Allreduce, but rank i gets only the i-th part of the result, of
// counts[i] elements. All give the same counts; nil means parts that are as long as recv.
func ReduceScatter[T Element](c *Comm, send, recv []T, counts []int, op Op[T]) error {
	return c.run(reduceScatter(c, send, recv, counts, op))
}

// Scan does the same as Allreduce over the ranks up to this one.
func Scan[T Element](c *Comm, send, recv []T, op Op[T]) error { return c.run(scan(c, send, recv, op)) }

// Exscan does the same as Allreduce over the ranks before this one. Rank 0's recv stays as it is.
func Exscan[T Element](c *Comm, send, recv []T, op Op[T]) error {
	return c.run(exscan(c, send, recv, op))
}

// Gather collects the ranks' send, all of one length, in recv at the root, in rank order. recv is
// used at the root only.
func Gather[T Element](c *Comm, send, recv []T, root int) error {
	return c.run(gather(c, send, recv, root))
}

// Gatherv is Gather for different lengths: counts[i] elements come from rank i.
// recv and counts are used at the root only.
func Gatherv[T Element](c *Comm, send, recv []T, counts []int, root int) error {
	return c.run(gatherv(c, send, recv, counts, root))
}

// Allgather is Gather to every rank.
func Allgather[T Element](c *Comm, send, recv []T) error { return c.run(allgather(c, send, recv)) }

// Allgatherv is Gatherv to every rank. All give the same counts.
func Allgatherv[T Element](c *Comm, send, recv []T, counts []int) error {
	return c.run(allgatherv(c, send, recv, counts))
}

// Scatter gives each rank its part of the root's send, in rank order. All parts are as long as
// recv. send is used at the root only.
func Scatter[T Element](c *Comm, send, recv []T, root int) error {
	return c.run(scatter(c, send, recv, root))
}

// Scatterv is Scatter for different lengths: counts[i] elements go to rank i.
// send and counts are used at the root only.
func Scatterv[T Element](c *Comm, send []T, counts []int, recv []T, root int) error {
	return c.run(scatterv(c, send, counts, recv, root))
}

// Alltoall sends the i-th part of send to rank i, and receives from rank i into the i-th part of
// recv. The length of both is a multiple of the number of ranks.
func Alltoall[T Element](c *Comm, send, recv []T) error { return c.run(alltoall(c, send, recv)) }

// Alltoallv is Alltoall for parts of different lengths. The parts follow each other in send and
// recv: sendCounts[i] elements go to rank i, and recvCounts[i] come from it.
func Alltoallv[T Element](c *Comm, send []T, sendCounts []int, recv []T, recvCounts []int) error {
	return c.run(alltoallv(c, send, sendCounts, recv, recvCounts))
}

// Alltoallw is Alltoall for parts anywhere in memory, each with elements of its own type: send[i]
// goes to rank i, and recv[i] comes from it.
func Alltoallw(c *Comm, send, recv []Part) error { return c.run(alltoallw(c, send, recv)) }

// Part is a slice of elements of some type, for Alltoallw and NeighborAlltoallw. The zero Part is
// empty.
type Part struct {
	data []byte
	err  error
}

// PartOf is a slice as a Part.
func PartOf[T Element](s []T) Part {
	if e := elementOf[T](); e.err != nil {
		return Part{err: e.err}
	}
	return Part{data: bytesOf(s)}
}

// run carries a plan out.
func (c *Comm) run(p *comm.Plan) error { return c.outcome(p.Run()) }

// bad is a plan that says that T is no type for elements, or nil.
func bad[T Element](c *Comm, op string) *comm.Plan {
	if e := elementOf[T](); e.err != nil {
		return c.c.Refused(op, e.err)
	}
	return nil
}

func bcast[T Element](c *Comm, buf []T, root int) *comm.Plan {
	if p := bad[T](c, "Bcast"); p != nil {
		return p
	}
	return c.c.Bcast(bytesOf(buf), root)
}

func reduce[T Element](c *Comm, send, recv []T, op Op[T], root int) *comm.Plan {
	if p := bad[T](c, "Reduce"); p != nil {
		return p
	}
	return c.c.Reduce(bytesOf(send), bytesOf(recv), operator(op), root)
}

func allreduce[T Element](c *Comm, send, recv []T, op Op[T]) *comm.Plan {
	if p := bad[T](c, "Allreduce"); p != nil {
		return p
	}
	return c.c.Allreduce(bytesOf(send), bytesOf(recv), operator(op))
}

func reduceScatter[T Element](c *Comm, send, recv []T, counts []int, op Op[T]) *comm.Plan {
	if p := bad[T](c, "Reduce_scatter"); p != nil {
		return p
	}
	return c.c.ReduceScatter(bytesOf(send), bytesOf(recv), counts, operator(op))
}

func scan[T Element](c *Comm, send, recv []T, op Op[T]) *comm.Plan {
	if p := bad[T](c, "Scan"); p != nil {
		return p
	}
	return c.c.Scan(bytesOf(send), bytesOf(recv), operator(op))
}

func exscan[T Element](c *Comm, send, recv []T, op Op[T]) *comm.Plan {
	if p := bad[T](c, "Exscan"); p != nil {
		return p
	}
	return c.c.Exscan(bytesOf(send), bytesOf(recv), operator(op))
}

func gather[T Element](c *Comm, send, recv []T, root int) *comm.Plan {
	if p := bad[T](c, "Gather"); p != nil {
		return p
	}
	return c.c.Gather(bytesOf(send), bytesOf(recv), root)
}

func gatherv[T Element](c *Comm, send, recv []T, counts []int, root int) *comm.Plan {
	if p := bad[T](c, "Gather"); p != nil {
		return p
	}
	return c.c.Gatherv(bytesOf(send), blocks(recv, counts), root)
}

func allgather[T Element](c *Comm, send, recv []T) *comm.Plan {
	if p := bad[T](c, "Allgather"); p != nil {
		return p
	}
	return c.c.Allgather(bytesOf(send), bytesOf(recv))
}

func allgatherv[T Element](c *Comm, send, recv []T, counts []int) *comm.Plan {
	if p := bad[T](c, "Allgather"); p != nil {
		return p
	}
	return c.c.Allgatherv(bytesOf(send), blocks(recv, counts))
}

func scatter[T Element](c *Comm, send, recv []T, root int) *comm.Plan {
	if p := bad[T](c, "Scatter"); p != nil {
		return p
	}
	return c.c.Scatter(bytesOf(send), bytesOf(recv), root)
}

func scatterv[T Element](c *Comm, send []T, counts []int, recv []T, root int) *comm.Plan {
	if p := bad[T](c, "Scatter"); p != nil {
		return p
	}
	return c.c.Scatterv(blocks(send, counts), bytesOf(recv), root)
}

func alltoall[T Element](c *Comm, send, recv []T) *comm.Plan {
	if p := bad[T](c, "Alltoall"); p != nil {
		return p
	}
	return c.c.Alltoall(bytesOf(send), bytesOf(recv), size[T]())
}

func alltoallv[T Element](c *Comm, send []T, sendCounts []int, recv []T, recvCounts []int) *comm.Plan {
	if p := bad[T](c, "Alltoallv"); p != nil {
		return p
	}
	return c.c.Alltoallv(blocks(send, sendCounts), blocks(recv, recvCounts))
}

func alltoallw(c *Comm, send, recv []Part) *comm.Plan {
	out, in, err := parts(send), parts(recv), wrongPart(send, recv)
	if err != nil {
		return c.c.Refused("Alltoallw", err)
	}
	return c.c.Alltoallv(out, in)
}

// parts are the memory of several slices.
func parts(all []Part) comm.Blocks {
	b := comm.Blocks{Parts: make([][]byte, len(all))}
	for i, p := range all {
		b.Parts[i] = p.data
	}
	return b
}

// wrongPart is what is wrong with the type of a part.
func wrongPart(lists ...[]Part) error {
	for _, all := range lists {
		for _, p := range all {
			if p.err != nil {
				return p.err
			}
		}
	}
	return nil
}

// blocks are parts of a slice that follow each other.
func blocks[T Element](s []T, counts []int) comm.Blocks {
	return comm.Consecutive(bytesOf(s), counts, size[T]())
}
