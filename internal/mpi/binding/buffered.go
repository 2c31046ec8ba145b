package binding

import (
	"slices"
	"sync"
	"unsafe"

	"banyan/internal/mpi/comm"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/process"
)

// sendBuffer is a buffer that the program has attached for buffered sends. Only its size
// matters: a message that can't leave at once is kept in the library's own memory, up to this
// size.
type sendBuffer struct {
	mu        sync.Mutex
	attached  bool
	automatic bool // without a limit
	address   unsafe.Pointer
	size      int64
	used      int64
	waiting   []waiting
}

// waiting is a buffered message that hasn't left yet.
type waiting struct {
	c       *communicator
	pending comm.Pending
	d       data
	size    int64
}

// bsend sends a message, and keeps it until it can leave: then s is where, and pending its send. It
// releases the data.
func (p *Process) bsend(c *communicator, function string, d *data, dest, tag int32) (pending comm.Pending, s *sendBuffer, code Code) {
	s = &c.sendBuffer
	if !s.is() {
		if s = &p.sendBuffer; c.session != nil && c.session.sendBuffer.is() {
			s = &c.session.sendBuffer
		}
	}
	s.mu.Lock()
	size := int64(len(d.bytes)) + BsendOverhead
	if free := s.room(); !s.attached || size > free {
		attached := s.attached
		s.mu.Unlock()
		d.release()
		if !attached {
			return pending, nil, p.fail(c, function, ErrBuffer, "no buffer is attached")
		}
		return pending, nil, p.fail(c, function, ErrBuffer, "the message takes %d bytes with MPI_BSEND_OVERHEAD, and %d of the attached buffer are free", size, free)
	}
	if len(d.bytes) > process.EagerLimit { // package comm borrows the memory until the receiver asks for it
		d.keep()
	}
	pending, err := c.comm.Isend(d.bytes, int(dest), int(tag))
	if err == nil && !pending.Ended() {
		s.used += size
		s.waiting = append(s.waiting, waiting{c, pending, *d, size})
		c.retain()
		s.mu.Unlock()
		return pending, s, Success
	}
	s.mu.Unlock()
	d.release()
	if err != nil {
		return pending, nil, p.failWith(c, function, err)
	}
	return pending, nil, Success
}

// ibsend starts a buffered send. Its request has ended, whatever becomes of the message.
func (p *Process) ibsend(c *communicator, function string, d *data, dest, tag int32, request *Request) Code {
	pending, s, code := p.bsend(c, function, d, dest, tag)
	if code != Success {
		return code
	}
	if s == nil { // it has left
		return p.sends(c, function, pending, data{}, request)
	}
	r := p.newRequest(c, function)
	r.waitsIn(s, pending)
	return p.publish(r, request)
}

// beginBuffered starts a persistent buffered send.
func (p *Process) beginBuffered(r *request, dest, tag int32) Code {
	r.settle(AnySource)
	r.work = nil // a cancelled one
	pending, s, code := p.bsend(r.c, r.function, r.d.shared(), dest, tag)
	switch {
	case code != Success:
	case s != nil:
		r.waitsIn(s, pending)
	default:
		r.pending, r.buffer = pending, nil
		r.follow(pending.Handle())
	}
	return code
}

// waitsIn ends the request of a buffered send whose message is in a buffer.
func (r *request) waitsIn(s *sendBuffer, pending comm.Pending) {
	r.settle(AnySource)
	r.pending, r.buffer = pending, s
}

// take takes a message out of the buffer that hasn't left; ok is false if it isn't there any more.
func (s *sendBuffer) take(pending comm.Pending) (w waiting, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.waiting, func(w waiting) bool { return w.pending == pending })
	if i < 0 {
		return waiting{}, false
	}
	w = s.waiting[i]
	s.waiting = slices.Delete(s.waiting, i, i+1)
	s.used -= w.size
	return w, true
}

// is tells whether a buffer is attached.
func (s *sendBuffer) is() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attached
}

// room forgets messages that have left and returns how many bytes are free. The caller holds
// the lock.
func (s *sendBuffer) room() int64 {
	if len(s.waiting) > 0 {
		over := s.left()
		kept := s.waiting[:0]
		for i, w := range s.waiting {
			if over[i] {
				w.end()
				s.used -= w.size
			} else {
				kept = append(kept, w)
			}
		}
		clear(s.waiting[len(kept):])
		s.waiting = kept
	}
	if s.automatic {
		return maxData + BsendOverhead
	}
	return s.size - s.used
}

// left tells of each message that waits whether it has left. Each engine is asked once.
func (s *sendBuffer) left() []bool {
	over := make([]bool, len(s.waiting))
	var asked []*engine.Engine
	for _, w := range s.waiting {
		e := w.pending.Engine()
		if slices.Contains(asked, e) {
			continue
		}
		asked = append(asked, e)
		e.TestUntil(func(done func(engine.Handle) bool) bool {
			for i, w := range s.waiting {
				over[i] = over[i] || w.pending.Engine() == e && done(w.pending.Handle())
			}
			return true
		})
	}
	return over
}

// end waits until a message has left and forgets it. If its receiver has died, that is no
// error: the send has already succeeded.
func (w waiting) end() {
	w.pending.Wait()
	w.d.release()
	w.c.release()
}

// flush waits until all messages have left that are in the buffer now. Other threads may fill it
// meanwhile.
func (s *sendBuffer) flush() {
	s.mu.Lock()
	messages := make([]comm.Pending, len(s.waiting))
	for i, w := range s.waiting {
		messages[i] = w.pending
	}
	s.mu.Unlock()
	awaitLeft(messages)
	for _, m := range messages {
		if w, ok := s.take(m); ok {
			w.end()
		}
	}
}

// attach provides a buffer.
func (p *Process) attach(c *communicator, s *sendBuffer, function string, buffer unsafe.Pointer, size int64) Code {
	automatic := buffer == BufferAutomatic
	if size < 0 && !automatic {
		return p.fail(c, function, ErrArg, "the size is %d", size)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.attached {
		return p.fail(c, function, ErrBuffer, "a buffer is attached already")
	}
	s.attached, s.automatic, s.address, s.size = true, automatic, buffer, size
	return Success
}

// detach waits until all messages have left, and says which buffer was attached.
func (p *Process) detach(c *communicator, s *sendBuffer, function string, address unsafe.Pointer, size CountOut) Code {
	s.flush()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.attached {
		return p.fail(c, function, ErrBuffer, "no buffer is attached")
	}
	at := uintptr(s.address)
	if s.automatic {
		at += 4096 // as C has it; see BufferAutomatic
		s.size = 0
	}
	*(*uintptr)(address) = at
	fits := size.Set(s.size)
	s.attached, s.automatic, s.address, s.size = false, false, nil, 0
	if !fits {
		return p.fail(c, function, ErrValueTooLarge, "the size of the buffer doesn't fit an int")
	}
	return Success
}

// BufferAttach is MPI_Buffer_attach.
func (p *Process) BufferAttach(buffer unsafe.Pointer, size int64) Code {
	if !p.live() {
		return p.outOfTime("MPI_Buffer_attach")
	}
	return p.attach(nil, &p.sendBuffer, "MPI_Buffer_attach", buffer, size)
}

// BufferDetach is MPI_Buffer_detach.
func (p *Process) BufferDetach(bufferAddr unsafe.Pointer, size CountOut) Code {
	if !p.live() {
		return p.outOfTime("MPI_Buffer_detach")
	}
	return p.detach(nil, &p.sendBuffer, "MPI_Buffer_detach", bufferAddr, size)
}

// BufferFlush is MPI_Buffer_flush.
func (p *Process) BufferFlush() Code {
	if !p.live() {
		return p.outOfTime("MPI_Buffer_flush")
	}
	p.sendBuffer.flush()
	return Success
}

// BufferIflush is MPI_Buffer_iflush.
func (p *Process) BufferIflush(request *Request) Code {
	if !p.live() {
		return p.outOfTime("MPI_Buffer_iflush")
	}
	return p.iflush(p.self.Load(), &p.sendBuffer, "MPI_Buffer_iflush", request)
}

// CommAttachBuffer is MPI_Comm_attach_buffer.
func (p *Process) CommAttachBuffer(comm Comm, buffer unsafe.Pointer, size int64) Code {
	c := p.communicator(comm)
	if c == nil {
		return p.noComm("MPI_Comm_attach_buffer", comm)
	}
	return p.attach(c, &c.sendBuffer, "MPI_Comm_attach_buffer", buffer, size)
}

// CommDetachBuffer is MPI_Comm_detach_buffer.
func (p *Process) CommDetachBuffer(comm Comm, bufferAddr unsafe.Pointer, size CountOut) Code {
	c := p.communicator(comm)
	if c == nil {
		return p.noComm("MPI_Comm_detach_buffer", comm)
	}
	return p.detach(c, &c.sendBuffer, "MPI_Comm_detach_buffer", bufferAddr, size)
}

// CommFlushBuffer is MPI_Comm_flush_buffer.
func (p *Process) CommFlushBuffer(comm Comm) Code {
	c := p.communicator(comm)
	if c == nil {
		return p.noComm("MPI_Comm_flush_buffer", comm)
	}
	c.sendBuffer.flush()
	return Success
}

// CommIflushBuffer is MPI_Comm_iflush_buffer.
func (p *Process) CommIflushBuffer(comm Comm, request *Request) Code {
	c := p.communicator(comm)
	if c == nil {
		return p.noComm("MPI_Comm_iflush_buffer", comm)
	}
	return p.iflush(c, &c.sendBuffer, "MPI_Comm_iflush_buffer", request)
}
