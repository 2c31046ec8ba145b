package mpi

import "banyan/internal/mpi/comm"

// Status tells about a message: who sent it, its tag, and its length in bytes
// (Count gives elements).
type Status = comm.Status

// Count is how many elements a message had.
func Count[T Element](s Status) int { return s.Bytes / size[T]() }

// Send sends buf to a rank. It returns when buf may be reused: at once for
// small messages, when the receiver has taken it for large ones.
func Send[T Element](c *Comm, buf []T, dest, tag int) error {
	return c.c.Send(bytesOf(buf), dest, tag)
}

// Recv receives a message from a rank (or AnySource) with a tag (or AnyTag).
func Recv[T Element](c *Comm, buf []T, source, tag int) (Status, error) {
	return c.c.Recv(bytesOf(buf), source, tag)
}

// Sendrecv sends and receives at once, which can't deadlock.
func Sendrecv[T, U Element](c *Comm, send []T, dest, sendTag int, recv []U, source, recvTag int) (Status, error) {
	return c.c.Sendrecv(bytesOf(send), dest, sendTag, bytesOf(recv), source, recvTag)
}

// Probe waits until a message has arrived that a Recv would take.
func (c *Comm) Probe(source, tag int) (Status, error) { return c.c.Probe(source, tag) }

// Iprobe tells whether a message has arrived that a Recv would take.
func (c *Comm) Iprobe(source, tag int) (Status, bool, error) { return c.c.Iprobe(source, tag) }

// Isend starts a Send; buf must not change until the request has ended.
func Isend[T Element](c *Comm, buf []T, dest, tag int) (Request, error) {
	p, err := c.c.Isend(bytesOf(buf), dest, tag)
	return Request{p}, err
}

// Irecv starts a Recv; buf must not be used until the request has ended.
func Irecv[T Element](c *Comm, buf []T, source, tag int) (Request, error) {
	p, err := c.c.Irecv(bytesOf(buf), source, tag)
	return Request{p}, err
}
