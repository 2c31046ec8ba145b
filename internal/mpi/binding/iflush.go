package binding

import (
	"banyan/internal/mpi/comm"
	"banyan/internal/runtime/engine"
)

// iflush makes a request that ends when all messages that are buffered now have left. Those of the
// engine of c are operations of the request. A request has one engine; so a thread of the library
// waits for messages to other jobs, and says so as a generalised request ends.
func (p *Process) iflush(c *communicator, s *sendBuffer, function string, request *Request) Code {
	r := p.newRequest(c, function)
	r.work, r.also = flushing{}, r.also[:0]
	var elsewhere []comm.Pending
	s.mu.Lock()
	for _, w := range s.waiting {
		if w.pending.Engine() == r.engine() {
			r.also = append(r.also, w.pending.Handle())
		} else {
			elsewhere = append(elsewhere, w.pending)
		}
	}
	s.mu.Unlock()
	if len(elsewhere) == 0 {
		r.follow(engine.Handle{})
		return p.publish(r, request)
	}
	self, tag, err := p.grequests.next(p.self.Load().comm)
	if err == nil {
		r.pending, err = self.Irecv(nil, 0, tag)
	}
	if err != nil {
		p.recycle(r)
		return p.failWith(c, function, err)
	}
	r.follow(r.pending.Handle())
	go func() {
		awaitLeft(elsewhere)
		self.Send(nil, 0, tag) // it fails if this job ends, which the request notices, too
	}()
	return p.publish(r, request)
}

// flushing is the work of a request for a flush.
type flushing struct{}

// finish implements work.
func (flushing) finish(_ *request, _ engine.Status, err error) error { return err }

// free implements work.
func (flushing) free() error { return nil }

// awaitLeft waits until messages have left, or can't any more. It doesn't take their outcome.
func awaitLeft(messages []comm.Pending) {
	for _, m := range messages {
		m.Engine().WaitUntil(func(done func(engine.Handle) bool) bool { return done(m.Handle()) })
	}
}
