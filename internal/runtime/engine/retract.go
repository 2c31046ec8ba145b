package engine

import (
	"banyan/internal/proto"
	"banyan/internal/runtime/lane"
	"banyan/internal/runtime/process"
)

// SendNumbered is Send for a message that Retract may take back if the send has ended within the
// call. The number is 0 if it can't.
func (e *Engine) SendNumbered(context uint64, dst proto.Rank, tag int32, data []byte) (h Handle, number uint32) {
	if e.cfg.Process.Layout.Replicated() || len(data) > process.EagerLimit && dst != e.p.Rank() {
		return e.Send(context, dst, tag, data), 0
	}
	e.lock()
	e.alongside()
	number = e.shared.Number(dst)
	h = e.p.SendNumbered(context, dst, tag, e.next(data), number)
	if h == (Handle{}) && e.shared.Queues(dst) {
		e.relieve(dst)
	}
	e.serve()
	e.unlock()
	return h, number
}

// CancelSend cancels a send that hasn't ended; see process.Process.CancelSend.
func (e *Engine) CancelSend(h Handle) {
	e.lock()
	e.p.CancelSend(h)
	e.unlock()
}

// Retract cancels a small send that has ended; see process.Process.Retract. The zero Handle says
// that it stays sent, which it does, too, if many others with a number have been started since.
func (e *Engine) Retract(number uint32) Handle { return e.retract(lane.SentOf(number)) }

// RetractSent is Retract for the handle of a request that C, too, leaves to Go until EndRetracted.
func (e *Engine) RetractSent(request uint64) Handle {
	h := e.retract(request)
	if h != (Handle{}) {
		e.shared.Sends.Cancelled.Add(1)
	}
	return h
}

// EndRetracted says that the request of one that RetractSent has begun has ended.
func (e *Engine) EndRetracted() { e.shared.Sends.Cancelled.Add(^uint32(0)) }

// Cancelled is how many those are.
func (e *Engine) Cancelled() uint32 { return e.shared.Sends.Cancelled.Load() }

func (e *Engine) retract(request uint64) Handle {
	e.lock()
	defer e.unlock()
	dst, number, ok := e.shared.Destination(request)
	if !ok || e.closed {
		return Handle{}
	}
	return e.p.Retract(dst, number)
}
