package engine

import (
	"banyan/internal/proto"
	"banyan/internal/runtime/process"
)

// SendSynchronous starts sending data to a world rank. The operation ends when a
// receive has taken the message.
func (e *Engine) SendSynchronous(context uint64, dst proto.Rank, tag int32, data []byte) Handle {
	e.lock()
	if e.orders {
		e.turn(context)
	}
	h := e.sendSynchronous(context, dst, tag, data)
	e.unlock()
	return h
}

func (e *Engine) sendSynchronous(context uint64, dst proto.Rank, tag int32, data []byte) Handle {
	return e.p.SendSynchronous(context, dst, tag, e.next(data))
}

// SendSynchronousWait sends data and waits until a receive has taken it.
func (e *Engine) SendSynchronousWait(context uint64, dst proto.Rank, tag int32, data []byte) error {
	e.lock()
	if e.orders {
		e.turn(context)
	}
	h := e.sendSynchronous(context, dst, tag, data)
	e.until(func() bool { return e.p.Done(h) })
	_, err := e.take(h)
	e.unlock()
	return err
}

// MatchedProbe makes progress once and takes a message that matches, for ReceiveMatched.
func (e *Engine) MatchedProbe(context uint64, src proto.Rank, tag int32) (message Handle, s Status, ok bool, err error) {
	e.lock()
	defer e.unlock()
	if e.led {
		return e.probeLed(context, src, tag, false, true)
	}
	message, s, ok, err = e.p.MatchedProbe(context, src, tag)
	if !ok && err == nil {
		e.try()
		message, s, ok, err = e.p.MatchedProbe(context, src, tag)
	}
	return message, s, ok, err
}

// MatchedProbeWait waits for a message that matches, and takes it.
func (e *Engine) MatchedProbeWait(context uint64, src proto.Rank, tag int32) (message Handle, s Status, err error) {
	e.lock()
	defer e.unlock()
	ok := false
	if e.led {
		message, s, ok, err = e.probeLed(context, src, tag, true, true)
		if !ok && err == nil {
			err = process.ErrClosed
		}
		return message, s, err
	}
	e.probing(context, src, tag, func() bool {
		message, s, ok, err = e.p.MatchedProbe(context, src, tag)
		return ok || err != nil
	})
	if !ok && err == nil {
		err = process.ErrClosed
	}
	return message, s, err
}

// ReceiveMatched receives a message that a matched probe has taken.
func (e *Engine) ReceiveMatched(message Handle, buffer []byte) Handle {
	e.lock()
	defer e.unlock()
	return e.p.ReceiveMatched(message, buffer)
}

// WaitUntil makes progress until met returns true, or the engine is closed. met asks done which
// operations have ended. It is called with the lock held and must not call the engine.
func (e *Engine) WaitUntil(met func(done func(Handle) bool) bool) {
	e.lock()
	e.until(func() bool { return met(e.done) })
	e.unlock()
}

// TestUntil makes progress once, unless met returns true already, and returns the last answer of
// met.
func (e *Engine) TestUntil(met func(done func(Handle) bool) bool) bool {
	e.lock()
	is := met(e.done)
	if !is {
		e.try()
		is = met(e.done)
	}
	e.unlock()
	return is
}
