package engine

import (
	"errors"

	"banyan/internal/proto"
	"banyan/internal/runtime/process"
)

// Handle names an operation that was started. The zero Handle names an operation that has ended
// without an error.
type Handle = process.Handle

// Status is what a completed receive says of its message.
type Status = process.Status

// Send starts sending data to a world rank.
func (e *Engine) Send(context uint64, dst proto.Rank, tag int32, data []byte) Handle {
	e.lock()
	e.alongside()
	if e.orders {
		e.turn(context)
	}
	h := e.send(context, dst, tag, data)
	if h == (Handle{}) && e.shared.Queues(dst) {
		e.relieve(dst)
	}
	e.serve()
	e.unlock()
	return h
}

// relieve gives a receiver a moment that is slower than this sender. Else messages would queue
// here, and C couldn't send until all of them have left. The lock is held.
func (e *Engine) relieve(dst proto.Rank) {
	for polls := 0; polls < reliefPolls && !e.closed && e.shared.Queues(dst); polls++ {
		if e.step() == 0 && !e.linger(polls) {
			return
		}
	}
}

func (e *Engine) send(context uint64, dst proto.Rank, tag int32, data []byte) Handle {
	return e.p.Send(context, dst, tag, e.next(data))
}

// next counts a message and lets the fault plan strike.
func (e *Engine) next(data []byte) []byte {
	e.sends++
	if e.cfg.BeforeSend != nil {
		return e.cfg.BeforeSend(e.sends, data)
	}
	return data
}

// offer starts a send whose data the receiver fetches when it has a buffer for it.
func (e *Engine) offer(context uint64, dst proto.Rank, tag int32, data []byte) Handle {
	return e.p.SendSynchronous(context, dst, tag, e.next(data))
}

// SendWait sends data and waits until its buffer may be reused.
func (e *Engine) SendWait(context uint64, dst proto.Rank, tag int32, data []byte) error {
	e.lock()
	e.alongside()
	if e.orders {
		e.turn(context)
	}
	large := len(data) > process.EagerLimit
	if large {
		e.attend()
	}
	h := e.send(context, dst, tag, data)
	var err error
	if h != (Handle{}) {
		e.until(func() bool { return e.p.Done(h) })
		_, err = e.take(h)
	} else if e.shared.Queues(dst) {
		e.relieve(dst)
	}
	if large {
		e.leave()
	}
	e.unlock()
	return err
}

// SendGradually is SendWait for data that g makes ready as it is needed; see process.Gradual.
func (e *Engine) SendGradually(context uint64, dst proto.Rank, tag int32, data []byte, g process.Gradual) error {
	if e.cfg.BeforeSend == nil && !e.orders {
		e.lock()
		if h, ok := e.p.SendGradually(context, dst, tag, data, g); ok {
			e.sends++
			e.until(func() bool { return e.p.Done(h) })
			_, err := e.take(h)
			e.p.EndGradual(h)
			e.unlock()
			return err
		}
		e.unlock()
	}
	g.Upto(uint64(len(data)))
	return e.SendWait(context, dst, tag, data)
}

// ReceiveGradually is ReceiveWait for a buffer that g empties while it is being filled.
func (e *Engine) ReceiveGradually(context uint64, src proto.Rank, tag int32, buffer []byte, g process.Gradual) (Status, error) {
	e.lock()
	if e.orders {
		e.turn(context)
	}
	h := e.p.ReceiveGradually(context, src, tag, buffer, g)
	e.until(func() bool { return e.p.Done(h) })
	s, err := e.take(h)
	if err != nil {
		err = e.withdrawn(h, err)
	}
	e.p.EndGradual(h)
	e.unlock()
	return s, err
}

// Receive posts a receive from a world rank or proto.AnyRank, with a tag or proto.AnyTag.
func (e *Engine) Receive(context uint64, src proto.Rank, tag int32, buffer []byte) Handle {
	e.lock()
	if e.orders {
		e.turn(context)
	}
	h := e.p.Receive(context, src, tag, buffer)
	e.unlock()
	return h
}

// ReceiveWait receives a message.
func (e *Engine) ReceiveWait(context uint64, src proto.Rank, tag int32, buffer []byte) (Status, error) {
	e.lock()
	if e.orders {
		e.turn(context)
	}
	large := len(buffer) > process.EagerLimit
	if large {
		e.attend()
	}
	h := e.p.Receive(context, src, tag, buffer)
	e.until(func() bool { return e.p.Done(h) })
	s, err := e.take(h)
	if err != nil {
		err = e.withdrawn(h, err)
	}
	if large {
		e.leave()
	}
	e.unlock()
	return s, err
}

// withdrawn is the error of a call that waits for one receive and ends with it: a receive that goes
// on (process.PendingError) is withdrawn. The lock is held.
func (e *Engine) withdrawn(h Handle, err error) error {
	if pending := (*process.PendingError)(nil); errors.As(err, &pending) {
		return e.p.WithdrawPending(h, pending)
	}
	return err
}

// WaitOrWithdraw is Wait for a call that ends with the operation, whatever becomes of it.
func (e *Engine) WaitOrWithdraw(h Handle) (Status, error) {
	s, err := e.Wait(h)
	if err != nil {
		e.lock()
		err = e.withdrawn(h, err)
		e.unlock()
	}
	return s, err
}

// broadcast takes part in a broadcast; see process.Process.Broadcast.
func (e *Engine) broadcast(context uint64, root int, shape process.Shape, buffer []byte) Handle {
	e.next(nil) // the buffer may be the one to receive into
	return e.p.Broadcast(context, root, shape, buffer)
}

// take is the outcome of an operation that has ended, or never will because the engine is closed.
func (e *Engine) take(h Handle) (Status, error) {
	if e.closed && !e.p.Done(h) {
		return Status{}, process.ErrClosed
	}
	return e.p.Take(h)
}

// Wait waits for the end of an operation and forgets it. A receive whose error is a
// process.PendingError goes on.
func (e *Engine) Wait(h Handle) (Status, error) {
	if h == (Handle{}) {
		return Status{}, nil
	}
	e.lock()
	e.until(func() bool { return e.p.Done(h) })
	s, err := e.take(h)
	e.unlock()
	return s, err
}

// WaitUndisturbed is Wait, but gives up when a rank is lost or a communicator is revoked: then done
// may be false, and the operation isn't forgotten.
func (e *Engine) WaitUndisturbed(h Handle) (s Status, done bool, err error) {
	e.lock()
	e.until(func() bool { return e.p.Done(h) || e.disturbed.Load() })
	if done = e.p.Done(h) || e.closed; done {
		s, err = e.take(h)
	}
	e.unlock()
	return s, done, err
}

// Disturbed tells whether a rank is lost, or a communicator has been revoked here. Other calls
// can't fail because of a failure. It takes no lock.
func (e *Engine) Disturbed() bool { return e.disturbed.Load() }

// Test makes progress once and tells whether an operation has ended. If so, it forgets the
// operation.
func (e *Engine) Test(h Handle) (s Status, done bool, err error) {
	e.lock()
	if e.led {
		defer e.unlock()
		return e.testLed(h)
	}
	if !e.p.Done(h) {
		e.try()
	}
	if done = e.p.Done(h); done {
		s, err = e.take(h)
	}
	e.unlock()
	return s, done, err
}

// WaitAny waits until one of the operations has ended, forgets that one, and returns its index. If
// several have ended it takes the one with the lowest index. Without operations it returns -1.
func (e *Engine) WaitAny(hs []Handle) (int, Status, error) {
	if len(hs) == 0 {
		return -1, Status{}, nil
	}
	e.lock()
	defer e.unlock()
	if e.led {
		return e.anyLed(hs, true)
	}
	found := -1
	e.until(func() bool {
		found = e.firstDone(hs)
		return found >= 0
	})
	if found < 0 { // closed
		found = 0
	}
	s, err := e.take(hs[found])
	return found, s, err
}

// TestAny makes progress once. If an operation has ended it does as WaitAny; otherwise it returns
// -1.
func (e *Engine) TestAny(hs []Handle) (int, Status, error) {
	e.lock()
	defer e.unlock()
	if e.led {
		return e.anyLed(hs, false)
	}
	found := e.firstDone(hs)
	if found < 0 {
		e.try()
		found = e.firstDone(hs)
	}
	if found < 0 {
		return -1, Status{}, nil
	}
	s, err := e.take(hs[found])
	return found, s, err
}

func (e *Engine) firstDone(hs []Handle) int {
	for i, h := range hs {
		if e.p.Done(h) {
			return i
		}
	}
	return -1
}

// TestAll makes progress once and tells whether all operations have ended. It forgets none.
func (e *Engine) TestAll(hs []Handle) bool {
	e.lock()
	defer e.unlock()
	if e.led {
		return e.answer(process.AskEnded, false, func() uint64 { return truth(e.allDone(hs)) }) != 0
	}
	e.try()
	return e.allDone(hs)
}

func (e *Engine) allDone(hs []Handle) bool {
	for _, h := range hs {
		if !e.p.Done(h) {
			return false
		}
	}
	return true
}

// Probe makes progress once and looks for a message that matches.
func (e *Engine) Probe(context uint64, src proto.Rank, tag int32) (Status, bool, error) {
	e.lock()
	defer e.unlock()
	if e.led {
		_, s, ok, err := e.probeLed(context, src, tag, false, false)
		return s, ok, err
	}
	s, ok, err := e.p.Probe(context, src, tag)
	if !ok && err == nil {
		e.try()
		s, ok, err = e.p.Probe(context, src, tag)
	}
	return s, ok, err
}

// ProbeWait waits for a message that matches.
func (e *Engine) ProbeWait(context uint64, src proto.Rank, tag int32) (s Status, err error) {
	e.lock()
	defer e.unlock()
	ok := false
	if e.led {
		_, s, ok, err = e.probeLed(context, src, tag, true, false)
		if !ok && err == nil {
			err = process.ErrClosed
		}
		return s, err
	}
	e.probing(context, src, tag, func() bool {
		s, ok, err = e.p.Probe(context, src, tag)
		return ok || err != nil
	})
	if !ok && err == nil {
		err = process.ErrClosed
	}
	return s, err
}

// Cancel withdraws a receive that has not been matched.
func (e *Engine) Cancel(h Handle) bool {
	e.lock()
	defer e.unlock()
	if e.led {
		return e.cancelLed(h)
	}
	return e.p.Cancel(h)
}

// OpenContext makes a context known; see process.Process.OpenContext.
func (e *Engine) OpenContext(id uint64, members []proto.Rank, collective bool) error {
	e.lock()
	defer e.unlock()
	return e.p.OpenContext(id, members, collective)
}

// SetSources says which members of a context send to this rank, if not all do.
func (e *Engine) SetSources(id uint64, members []proto.Rank) {
	e.lock()
	defer e.unlock()
	e.p.SetSources(id, members)
}

// CloseContext forgets a context.
func (e *Engine) CloseContext(id uint64) {
	e.lock()
	defer e.unlock()
	e.p.CloseContext(id)
}
