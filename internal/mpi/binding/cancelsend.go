package binding

import (
	"errors"
	"sync"

	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/process"
)

// A send is cancelled by asking its receiver for the message (internal/runtime/process/retract.go).
// Most sends have ended by then, so nothing is left of them but the number in their request's
// handle. While one is being cancelled its handle has a request after all.

// cancelledSends are the requests of sends that had ended when they were cancelled.
type cancelledSends struct {
	mu      sync.Mutex
	objects map[Request]*request
}

// sent is the request of a send that ended within its call.
func (p *Process) sent(h Request) *request {
	if p.job == nil || !p.live() || p.job.Engine().Cancelled() == 0 {
		return &p.requests.sent
	}
	q := &p.requests.cancelled
	q.mu.Lock()
	defer q.mu.Unlock()
	if r := q.objects[h]; r != nil {
		return r
	}
	return &p.requests.sent
}

// cancelSent cancels a send that ended within its call, if it is one of the last.
func (p *Process) cancelSent(h Request) {
	q := &p.requests.cancelled
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.objects[h] != nil {
		return
	}
	verdict := p.job.Engine().RetractSent(uint64(h))
	if verdict == (engine.Handle{}) {
		return
	}
	if q.objects == nil {
		q.objects = make(map[Request]*request)
	}
	r := p.newRequest(p.self.Load(), "MPI_Cancel")
	r.work = cancelledSend{}
	r.follow(verdict)
	q.objects[h] = r
}

// endSent ends the handle of a send that was cancelled.
func (p *Process) endSent(h Request) {
	q := &p.requests.cancelled
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.objects, h)
	p.job.Engine().EndRetracted()
}

// cancelSend cancels a send, once.
func (r *request) cancelSend() {
	switch {
	case !r.pending.Ended():
		r.pending.CancelSend()
	case r.handle == engine.Handle{}:
		r.follow(r.pending.Retract())
	}
}

// cancelBuffered cancels a send whose message was in a buffer. The request goes on with it, if it
// still is.
func (r *request) cancelBuffered() {
	w, ok := r.buffer.take(r.pending)
	if r.buffer = nil; !ok {
		return
	}
	r.work = cancelledSend{w}
	r.follow(w.pending.Handle())
	w.pending.CancelSend()
}

// cancelledSend is the work of a send that had ended for the program when it was cancelled. It
// fails no more: what becomes of its receiver was no concern of its any longer.
type cancelledSend struct{ waiting }

func (s cancelledSend) finish(r *request, _ engine.Status, err error) error {
	r.cancelled = errors.Is(err, process.ErrCancelled)
	if s.c != nil {
		s.d.release()
		s.c.release()
	}
	return nil
}

func (cancelledSend) free() error { return nil }
