package mpi

import (
	"context"

	"banyan/internal/mpi/comm"
)

// Status describes a message: its source, its tag, and its length in bytes. Count gives the length
// in elements.
type Status = comm.Status

// Count is the number of elements of a message.
func Count[T Element](s Status) int {
	if n := size[T](); n > 0 {
		return s.Bytes / n
	}
	return 0
}

// Send sends buf to a rank. It returns when buf may be reused: with a small message at once, with a
// large one when the receiver has it. To ProcNull nothing is sent.
func Send[T Element](c *Comm, buf []T, dest, tag int) error {
	e := elementOf[T]()
	if e.err != nil {
		return c.refused("Send", dest, tag, e.err)
	}
	if err := c.c.SendTyped(bytesOf(buf), e.id, dest, tag); err != nil {
		return c.sendFailed(dest, err)
	}
	return nil
}

// Recv receives a message from a rank (or AnySource) with a tag (or AnyTag). The message may be
// shorter than buf. If its elements have another type the error is a TypeError, and what is in buf
// means nothing.
func Recv[T Element](c *Comm, buf []T, source, tag int) (Status, error) {
	e := elementOf[T]()
	if e.err != nil {
		return Status{}, c.refused("Recv", source, tag, e.err)
	}
	s, err := c.c.Recv(bytesOf(buf), source, tag)
	if err != nil || s.Type != e.id || s.Bytes != len(buf)*e.size {
		return c.received(e, "Recv", s, source, tag, err)
	}
	return s, nil
}

// RecvContext is Recv for a wait that ends with ctx, too. It has received nothing then: a message
// that comes later is for another receive, and the communicator is as before. The error wraps that
// of ctx, and says whom the rank waited for.
//
// When a wait ends is decided by timing: see "Replicated programs".
func RecvContext[T Element](ctx context.Context, c *Comm, buf []T, source, tag int) (Status, error) {
	e := elementOf[T]()
	if e.err != nil {
		return Status{}, c.refused("Recv", source, tag, e.err)
	}
	s, err := c.c.RecvContext(ctx, bytesOf(buf), source, tag)
	return c.received(e, "Recv", s, source, tag, err)
}

// Sendrecv sends and receives at the same time, so that neighbours who both do so can't deadlock.
func Sendrecv[T, U Element](c *Comm, send []T, dest, sendTag int, recv []U, source, recvTag int) (Status, error) {
	r, err := Irecv(c.once(), recv, source, recvTag)
	if err != nil {
		return Status{}, err
	}
	if err := Send(c, send, dest, sendTag); err != nil {
		r.Cancel()
		r.Wait()
		return Status{}, err
	}
	return r.waitOrWithdraw()
}

// Probe waits until a message has arrived that a Recv would take.
func (c *Comm) Probe(source, tag int) (Status, error) {
	s, err := c.c.Probe(source, tag)
	return s, c.outcome(err)
}

// ProbeContext is Probe for a wait that ends with ctx, too; see RecvContext.
func (c *Comm) ProbeContext(ctx context.Context, source, tag int) (Status, error) {
	s, err := c.c.ProbeContext(ctx, source, tag)
	return s, c.outcome(err)
}

// Iprobe tells whether a message has arrived that a Recv would take.
func (c *Comm) Iprobe(source, tag int) (Status, bool, error) {
	s, ok, err := c.c.Iprobe(source, tag)
	return s, ok, c.outcome(err)
}

// Isend starts a Send; buf must not change until the request has ended.
func Isend[T Element](c *Comm, buf []T, dest, tag int) (Request, error) {
	e := elementOf[T]()
	if e.err != nil {
		return Request{}, c.refused("Isend", dest, tag, e.err)
	}
	data := bytesOf(buf)
	if c.keeps {
		return c.keep(nil, dest, func() (comm.Pending, error) { return c.c.IsendTyped(data, e.id, dest, tag) })
	}
	p, err := c.c.IsendTyped(data, e.id, dest, tag)
	if err != nil {
		return Request{}, c.sendFailed(dest, err)
	}
	return Request{p: p, c: c}, nil
}

// Irecv starts a Recv; buf must not be used until the request has ended.
func Irecv[T Element](c *Comm, buf []T, source, tag int) (Request, error) {
	e := elementOf[T]()
	if e.err != nil {
		return Request{}, c.refused("Irecv", source, tag, e.err)
	}
	data := bytesOf(buf)
	if c.keeps {
		return c.keep(e, source, func() (comm.Pending, error) { return c.c.Irecv(data, source, tag) })
	}
	p, err := c.c.Irecv(data, source, tag)
	if err != nil {
		if source == ProcNull {
			return Request{}, nil
		}
		return Request{}, c.outcome(err)
	}
	return Request{p: p, c: c, elem: e}, nil
}

// refused is the error of a call with arguments that can't be.
func (c *Comm) refused(op string, peer, tag int, err error) error {
	return &Error{Op: op, Rank: c.Rank(), Peer: peer, Tag: tag, Err: err}
}

// sendFailed is the outcome of a send that has an error: to ProcNull that is none.
func (c *Comm) sendFailed(dest int, err error) error {
	if dest == ProcNull {
		return nil
	}
	return c.outcome(err)
}

// received is the outcome of a receive of elements that didn't just fill its buffer.
func (c *Comm) received(e *element, op string, s Status, source, tag int, err error) (Status, error) {
	if source == ProcNull {
		return Status{Source: ProcNull, Tag: AnyTag}, nil
	}
	if s.Type != 0 && s.Type != e.id {
		return s, c.mistyped(e, op, s, source, tag, 0)
	}
	if err == nil && s.Bytes%e.size != 0 {
		return s, c.mistyped(e, op, s, source, tag, s.Bytes)
	}
	return s, c.outcome(err)
}

// mistyped is the error of a receive that has got a message of another type.
func (c *Comm) mistyped(e *element, op string, s Status, source, tag, bytes int) error {
	sent := "unknown"
	if s.Type != 0 {
		if sent = names.nameOf(s.Type); sent == "" {
			if sent = c.c.TypeName(s.Source, s.Type); sent == "" {
				sent = "that this process doesn't know"
			}
		}
	}
	return c.refused(op, source, tag, &TypeError{Sent: sent, Received: e.name, Bytes: bytes})
}
