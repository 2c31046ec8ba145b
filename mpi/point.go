package mpi

import "banyan/internal/mpi/comm"

// Status describes a message: its source, its tag, and its length in bytes. Count gives the length
// in elements.
type Status = comm.Status

// Count is the number of elements of a message.
func Count[T Element](s Status) int { return s.Bytes / size[T]() }

// Send sends buf to a rank. It returns when buf may be reused: with a small message at once, with a
// large one when the receiver has it.
func Send[T Element](c *Comm, buf []T, dest, tag int) error {
	return c.c.Send(bytesOf(buf), dest, tag)
}

// Recv receives a message from a rank (or AnySource) with a tag (or AnyTag).
func Recv[T Element](c *Comm, buf []T, source, tag int) (Status, error) {
	return c.c.Recv(bytesOf(buf), source, tag)
}

// Sendrecv sends and receives at the same time, so that neighbours who both do so can't deadlock.
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
