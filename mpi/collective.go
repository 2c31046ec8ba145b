package mpi

import "banyan/internal/mpi/comm"

// Bcast brings the root's buf to every rank. All ranks give the same length. In a job without
// replicas it completes at every live rank although others are dead.
func Bcast[T Element](c *Comm, buf []T, root int) error {
	return c.c.Bcast(bytesOf(buf), root).Run()
}

// Reduce combines the ranks' send, element by element and in rank order, into recv at the root.
// recv is used at the root only.
func Reduce[T Element](c *Comm, send, recv []T, op Op[T], root int) error {
	return c.c.Reduce(bytesOf(send), bytesOf(recv), operator(op), root).Run()
}

// Allreduce combines the ranks' send, element by element and in rank order, into recv at every
// rank. The result is the same to the bit everywhere. send and recv may be the same slice.
func Allreduce[T Element](c *Comm, send, recv []T, op Op[T]) error {
	return c.c.Allreduce(bytesOf(send), bytesOf(recv), operator(op)).Run()
}

// Scan does the same as Allreduce over the ranks up to this one.
func Scan[T Element](c *Comm, send, recv []T, op Op[T]) error {
	return c.c.Scan(bytesOf(send), bytesOf(recv), operator(op)).Run()
}

// Gather collects the ranks' send, all of one length, in recv at the root, in rank order. recv is
// used at the root only.
func Gather[T Element](c *Comm, send, recv []T, root int) error {
	return c.c.Gather(bytesOf(send), bytesOf(recv), root).Run()
}

// Gatherv is Gather for different lengths: counts[i] elements come from rank i.
// recv and counts are used at the root only.
func Gatherv[T Element](c *Comm, send, recv []T, counts []int, root int) error {
	return c.c.Gatherv(bytesOf(send), blocks(recv, counts), root).Run()
}

// Allgather is Gather to every rank.
func Allgather[T Element](c *Comm, send, recv []T) error {
	return c.c.Allgather(bytesOf(send), bytesOf(recv)).Run()
}

// Allgatherv is Gatherv to every rank. All give the same counts.
func Allgatherv[T Element](c *Comm, send, recv []T, counts []int) error {
	return c.c.Allgatherv(bytesOf(send), blocks(recv, counts)).Run()
}

// Scatter gives each rank its part of the root's send, in rank order. All parts are as long as
// recv. send is used at the root only.
func Scatter[T Element](c *Comm, send, recv []T, root int) error {
	return c.c.Scatter(bytesOf(send), bytesOf(recv), root).Run()
}

// Scatterv is Scatter for different lengths: counts[i] elements go to rank i.
// send and counts are used at the root only.
func Scatterv[T Element](c *Comm, send []T, counts []int, recv []T, root int) error {
	return c.c.Scatterv(blocks(send, counts), bytesOf(recv), root).Run()
}

// Alltoall sends the i-th part of send to rank i, and receives from rank i into the i-th part of
// recv. The length of both is a multiple of the number of ranks.
func Alltoall[T Element](c *Comm, send, recv []T) error {
	return c.c.Alltoall(bytesOf(send), bytesOf(recv), size[T]()).Run()
}

// Alltoallv is Alltoall for parts of different lengths. The parts follow each other in send and
// recv: sendCounts[i] elements go to rank i, and recvCounts[i] come from it.
func Alltoallv[T Element](c *Comm, send []T, sendCounts []int, recv []T, recvCounts []int) error {
	return c.c.Alltoallv(blocks(send, sendCounts), blocks(recv, recvCounts)).Run()
}

// blocks are parts of a slice that follow each other.
func blocks[T Element](s []T, counts []int) comm.Blocks {
	return comm.Consecutive(bytesOf(s), counts, size[T]())
}
