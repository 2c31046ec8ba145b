package comm

import (
	"context"

	"banyan/internal/proto"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/process"
)

// Wildcards of receives and probes.
const (
	AnySource = -1
	AnyTag    = -1
)

// Status is what a completed receive or a probe says of a message.
type Status struct {
	Source int // its sender, a rank of the communicator
	Tag    int
	Bytes  int    // its length, which may exceed the buffer's
	Type   uint32 // the number of its elements' type; 0: unknown, as from C
}

// Pending is an operation that was started.
type Pending struct {
	comm      *Comm
	handle    engine.Handle
	op        string // of a collective
	peer, tag int32
	receive   bool
	number    uint32 // of a small send: see Retract
}

// Send sends data; it returns when the buffer may be reused.
func (c *Comm) Send(data []byte, dest, tag int) error {
	if err := c.checkSend("Send", dest, tag); err != nil {
		return err
	}
	c.sends("Send", data, dest, tag)
	if err := c.eng.SendWait(c.context, c.group[dest], int32(tag), data); err != nil {
		return &Error{"Send", c.rank, dest, tag, err}
	}
	return nil
}

// Recv receives into a buffer that is at least as large as the message.
func (c *Comm) Recv(buffer []byte, source, tag int) (Status, error) {
	if err := c.checkReceive("Recv", source, tag); err != nil {
		return Status{}, err
	}
	s, err := c.eng.ReceiveWait(c.context, c.world(source), int32(tag), buffer)
	if err != nil {
		err = &Error{"Recv", c.rank, source, tag, c.eng.Located(c.sized(err))}
	}
	if c.calls != nil && err == nil {
		c.receives(c.status(s), source, tag)
	}
	return c.status(s), err
}

// SendGradually is Send for data that g makes ready as it is needed.
func (c *Comm) SendGradually(data []byte, g process.Gradual, dest, tag int) error {
	if c.calls != nil {
		g.Upto(uint64(len(data)))
		return c.Send(data, dest, tag)
	}
	if err := c.checkSend("Send", dest, tag); err != nil {
		return err
	}
	if err := c.eng.SendGradually(c.context, c.group[dest], int32(tag), data, g); err != nil {
		return &Error{"Send", c.rank, dest, tag, err}
	}
	return nil
}

// RecvGradually is Recv for a buffer that g empties while it is being filled.
func (c *Comm) RecvGradually(buffer []byte, g process.Gradual, source, tag int) (Status, error) {
	if c.calls != nil {
		return c.Recv(buffer, source, tag)
	}
	if err := c.checkReceive("Recv", source, tag); err != nil {
		return Status{}, err
	}
	s, err := c.eng.ReceiveGradually(c.context, c.world(source), int32(tag), buffer, g)
	if err != nil {
		err = &Error{"Recv", c.rank, source, tag, c.sized(err)}
	}
	return c.status(s), err
}

// SendTyped is Send for data of a type, given by its number.
func (c *Comm) SendTyped(data []byte, typ uint32, dest, tag int) error {
	if err := c.checkSend("Send", dest, tag); err != nil {
		return err
	}
	c.sends("Send", data, dest, tag)
	if err := c.eng.SendTypedWait(c.context, c.group[dest], int32(tag), data, typ); err != nil {
		return &Error{"Send", c.rank, dest, tag, err}
	}
	return nil
}

// IsendTyped is Isend for data of a type, given by its number.
func (c *Comm) IsendTyped(data []byte, typ uint32, dest, tag int) (Pending, error) {
	if err := c.checkSend("Isend", dest, tag); err != nil {
		return Pending{}, err
	}
	c.sends("Isend", data, dest, tag)
	h := c.eng.SendTyped(c.context, c.group[dest], int32(tag), data, typ)
	return Pending{comm: c, handle: h, peer: int32(dest), tag: int32(tag)}, nil
}

// RecvContext is Recv for a wait that ends with a context, too: see engine.ReceiveContext.
func (c *Comm) RecvContext(ctx context.Context, buffer []byte, source, tag int) (Status, error) {
	if err := c.checkReceive("Recv", source, tag); err != nil {
		return Status{}, err
	}
	s, err := c.eng.ReceiveContext(ctx, c.context, c.world(source), int32(tag), buffer)
	if err != nil {
		err = &Error{"Recv", c.rank, source, tag, c.eng.Located(c.sized(err))}
	}
	if c.calls != nil && err == nil {
		c.receives(c.status(s), source, tag)
	}
	return c.status(s), err
}

// TypeName asks a rank what it calls the type of a message that it has sent; "" if it doesn't say.
func (c *Comm) TypeName(rank int, typ uint32) string {
	if rank < 0 || rank >= len(c.group) {
		return ""
	}
	return c.eng.TypeName(c.group[rank], typ)
}

// Isend starts a Send. The data must not change until the operation has ended.
func (c *Comm) Isend(data []byte, dest, tag int) (Pending, error) {
	if err := c.checkSend("Isend", dest, tag); err != nil {
		return Pending{}, err
	}
	c.sends("Isend", data, dest, tag)
	h, number := c.eng.SendNumbered(c.context, c.group[dest], int32(tag), data)
	return Pending{comm: c, handle: h, peer: int32(dest), tag: int32(tag), number: number}, nil
}

// Irecv starts a Recv. The buffer belongs to it until the operation has ended.
func (c *Comm) Irecv(buffer []byte, source, tag int) (Pending, error) {
	if err := c.checkReceive("Irecv", source, tag); err != nil {
		return Pending{}, err
	}
	h := c.eng.Receive(c.context, c.world(source), int32(tag), buffer)
	return c.Started(h, source, tag), nil
}

// Note starts a Recv that gets a note; see engine.Engine.Note. handle is this communicator's.
func (c *Comm) Note(handle uint64, buffer []byte, source, tag int, blocking bool) (request uint64, ok bool) {
	if c.checkReceive("Irecv", source, tag) != nil || source == AnySource {
		return 0, false
	}
	return c.eng.Note(handle, c.context, c.group[source], source, int32(tag), buffer, blocking)
}

// Started is the Pending of a receive that the engine was told of by other ways.
func (c *Comm) Started(h engine.Handle, source, tag int) Pending {
	return Pending{comm: c, handle: h, peer: int32(source), tag: int32(tag), receive: true}
}

// Ssend sends data; it returns when a receive has taken the message.
func (c *Comm) Ssend(data []byte, dest, tag int) error {
	if err := c.checkSend("Ssend", dest, tag); err != nil {
		return err
	}
	c.sends("Ssend", data, dest, tag)
	if err := c.eng.SendSynchronousWait(c.context, c.group[dest], int32(tag), data); err != nil {
		return &Error{"Ssend", c.rank, dest, tag, err}
	}
	return nil
}

// Issend starts an Ssend. The data must not change until the operation has ended.
func (c *Comm) Issend(data []byte, dest, tag int) (Pending, error) {
	if err := c.checkSend("Issend", dest, tag); err != nil {
		return Pending{}, err
	}
	c.sends("Issend", data, dest, tag)
	h := c.eng.SendSynchronous(c.context, c.group[dest], int32(tag), data)
	return Pending{comm: c, handle: h, peer: int32(dest), tag: int32(tag)}, nil
}

// Ended tells whether the operation had already ended, without an error, when it was started. Then
// there is nothing to wait for.
func (p Pending) Ended() bool { return p.handle == engine.Handle{} }

// Peer is the other rank of a send or receive, and its tag.
func (p Pending) Peer() (rank, tag int) { return int(p.peer), int(p.tag) }

// Receives says that the operation is a receive.
func (p Pending) Receives() bool { return p.receive }

// Cancel cancels a receive that no message has matched, and tells whether it did. The operation
// then ends with process.ErrCancelled.
func (p Pending) Cancel() bool { return p.comm != nil && p.comm.eng.Cancel(p.handle) }

// CancelSend cancels a send that hasn't Ended, if no receive has matched its message: then it ends
// with process.ErrCancelled, and otherwise as it would have. Soon, in any case, unless the message
// was matched and its data is on the way.
func (p Pending) CancelSend() { p.comm.eng.CancelSend(p.handle) }

// Retract cancels a small send that has Ended. What it returns ends with process.ErrCancelled, or,
// if a receive has matched the message, without an error; the zero Handle says that a receive has,
// or may have.
func (p Pending) Retract() engine.Handle {
	if p.number == 0 {
		return engine.Handle{}
	}
	return p.comm.eng.Retract(p.number)
}

// Number is the number of a small send, for engine.RetractSent; 0: it has none.
func (p Pending) Number() uint32 { return p.number }

// Wait waits for the end of the operation.
func (p Pending) Wait() (Status, error) {
	if p.comm == nil {
		return Status{}, nil
	}
	s, err := p.comm.eng.Wait(p.handle)
	return p.outcome(s, err)
}

// WaitOrWithdraw is Wait for a call that ends with the operation: a receive from any source that
// would go on after a failure (process.PendingError) is withdrawn, and has failed.
func (p Pending) WaitOrWithdraw() (Status, error) {
	s, err := p.comm.eng.WaitOrWithdraw(p.handle)
	return p.outcome(s, err)
}

// WaitContext is Wait for a wait that ends with a context, too: then done is false, and the
// operation goes on.
func (p Pending) WaitContext(ctx context.Context) (s Status, done bool, err error) {
	if p.comm == nil || p.Ended() {
		return Status{}, true, nil
	}
	i, es, err := p.comm.eng.WaitAnyContext(ctx, []engine.Handle{p.handle})
	if i < 0 {
		return Status{}, false, p.Interrupted(err)
	}
	s, err = p.outcome(es, err)
	return s, true, err
}

// Interrupted names the operation whose wait has ended by an engine.InterruptedError.
func (p Pending) Interrupted(err error) error {
	_, err = p.outcome(engine.Status{}, err)
	return err
}

// WaitUndisturbed is Wait, but gives up when a rank is lost or a communicator is revoked: then done
// may be false.
func (p Pending) WaitUndisturbed() (s Status, done bool, err error) {
	if p.comm == nil {
		return Status{}, true, nil
	}
	es, done, err := p.comm.eng.WaitUndisturbed(p.handle)
	if !done {
		return Status{}, false, nil
	}
	s, err = p.outcome(es, err)
	return s, true, err
}

// Test tells whether the operation has ended.
func (p Pending) Test() (Status, bool, error) {
	if p.comm == nil {
		return Status{}, true, nil
	}
	s, done, err := p.comm.eng.Test(p.handle)
	if !done {
		return Status{}, false, nil
	}
	st, err := p.outcome(s, err)
	return st, true, err
}

// Handle is the engine's handle of the operation, for waits for several operations.
func (p Pending) Handle() engine.Handle { return p.handle }

// Engine is where the operation runs, nil for the zero Pending.
func (p Pending) Engine() *engine.Engine {
	if p.comm == nil {
		return nil
	}
	return p.comm.eng
}

// Outcome turns the engine's answer about the operation into one for the program.
func (p Pending) Outcome(s engine.Status, err error) (Status, error) { return p.outcome(s, err) }

func (p Pending) outcome(s engine.Status, err error) (Status, error) {
	if p.op != "" {
		return Status{}, p.comm.wrap(p.op, err)
	}
	if err != nil {
		op := "Isend"
		if p.receive {
			op, err = "Irecv", p.comm.eng.Located(p.comm.sized(err))
		}
		err = &Error{op, p.comm.rank, int(p.peer), int(p.tag), err}
	}
	if !p.receive {
		return Status{}, err
	}
	if p.comm.calls != nil && err == nil {
		p.comm.receives(p.comm.status(s), int(p.peer), int(p.tag))
	}
	return p.comm.status(s), err
}

func (c *Comm) world(rank int) proto.Rank {
	if rank == AnySource {
		return proto.AnyRank
	}
	return c.group[rank]
}

func (c *Comm) status(s process.Status) Status {
	return Status{Source: c.local(s.Source), Tag: int(s.Tag), Bytes: s.Bytes, Type: s.Type}
}

// Local is the communicator's rank of a world rank; AnySource if it has none.
func (c *Comm) Local(world proto.Rank) int { return c.local(world) }

// local is the communicator's rank of a world rank; AnySource if it has none.
func (c *Comm) local(world proto.Rank) int {
	if world < 0 || int(world) >= len(c.inverse) {
		return AnySource
	}
	return int(c.inverse[world])
}

func (c *Comm) checkSend(op string, dest, tag int) error {
	switch {
	case dest < 0 || dest >= len(c.group):
		return &Error{op, c.rank, dest, tag, rankError(dest, len(c.group))}
	case tag < 0 || tag > maxTag:
		return &Error{op, c.rank, dest, tag, ErrTag}
	}
	return nil
}

func (c *Comm) checkReceive(op string, source, tag int) error {
	switch {
	case source != AnySource && (source < 0 || source >= len(c.group)):
		return &Error{op, c.rank, source, tag, rankError(source, len(c.group))}
	case tag != AnyTag && (tag < 0 || tag > maxTag):
		return &Error{op, c.rank, source, tag, ErrTag}
	}
	return nil
}

// maxTag is the largest tag.
const maxTag = 1<<31 - 1
