package binding

import "unsafe"

// SendInit is MPI_Send_init.
func (p *Process) SendInit(buf unsafe.Pointer, count int64, datatype Datatype, dest, tag int32, comm Comm, request *Request) Code {
	return p.sendInit("MPI_Send_init", standard, buf, count, datatype, dest, tag, comm, request)
}

// SsendInit is MPI_Ssend_init.
func (p *Process) SsendInit(buf unsafe.Pointer, count int64, datatype Datatype, dest, tag int32, comm Comm, request *Request) Code {
	return p.sendInit("MPI_Ssend_init", synchronous, buf, count, datatype, dest, tag, comm, request)
}

// BsendInit is MPI_Bsend_init.
func (p *Process) BsendInit(buf unsafe.Pointer, count int64, datatype Datatype, dest, tag int32, comm Comm, request *Request) Code {
	return p.sendInit("MPI_Bsend_init", buffered, buf, count, datatype, dest, tag, comm, request)
}

// RsendInit is MPI_Rsend_init.
func (p *Process) RsendInit(buf unsafe.Pointer, count int64, datatype Datatype, dest, tag int32, comm Comm, request *Request) Code {
	return p.sendInit("MPI_Rsend_init", standard, buf, count, datatype, dest, tag, comm, request)
}

// sendInit makes a persistent send. If the message must be packed, the request keeps its
// buffer, and each start packs it anew.
func (p *Process) sendInit(function string, m mode, buf unsafe.Pointer, count int64, datatype Datatype, dest, tag int32, comm Comm, request *Request) Code {
	c := p.communicator(comm)
	if c == nil {
		return p.noComm(function, comm)
	}
	if code := p.checkSend(c, function, dest, tag); code != Success {
		return code
	}
	if dest == ProcNull {
		return p.initNoProc(c, function, AnySource, request)
	}
	d, code := p.incoming(c, function, buf, count, datatype)
	if code != Success {
		return code
	}
	r := p.newRequest(c, function)
	r.d = d
	r.begin = p.beginSend(m, dest, tag)
	return p.publish(r, request)
}

func (p *Process) beginSend(m mode, dest, tag int32) beginning {
	return func(r *request) Code {
		r.d.pack()
		if m == buffered {
			return p.beginBuffered(r, dest, tag)
		}
		pending, err := r.c.begin(m, r.d.bytes, dest, tag)
		if err != nil {
			return p.failWith(r.c, r.function, err)
		}
		r.pending = pending
		r.follow(pending.Handle())
		return Success
	}
}

// pack copies the program's data into the message, if the message has its own buffer.
func (d *data) pack() {
	if d.pooled != nil {
		d.typ.Pack(d.bytes, d.buf, d.count, 0)
	}
}

// shared is the same data, without the right to release it.
func (d data) shared() *data {
	d.pooled = nil
	return &d
}

// RecvInit is MPI_Recv_init.
func (p *Process) RecvInit(buf unsafe.Pointer, count int64, datatype Datatype, source, tag int32, comm Comm, request *Request) Code {
	c := p.communicator(comm)
	if c == nil {
		return p.noComm("MPI_Recv_init", comm)
	}
	if code := p.checkReceive(c, "MPI_Recv_init", source, tag); code != Success {
		return code
	}
	if source == ProcNull {
		return p.initNoProc(c, "MPI_Recv_init", ProcNull, request)
	}
	d, code := p.incoming(c, "MPI_Recv_init", buf, count, datatype)
	if code != Success {
		return code
	}
	r := p.newRequest(c, "MPI_Recv_init")
	r.d = d
	r.begin = p.beginReceive(source, tag)
	return p.publish(r, request)
}

func (p *Process) beginReceive(source, tag int32) beginning {
	return func(r *request) Code {
		pending, err := r.c.comm.Irecv(r.d.bytes, int(source), tagOf(tag))
		if err != nil {
			return p.failWith(r.c, r.function, err)
		}
		r.pending = pending
		r.follow(pending.Handle())
		return Success
	}
}

// initNoProc makes a persistent operation with MPI_PROC_NULL. source is the source in its
// status.
func (p *Process) initNoProc(c *communicator, function string, source int32, request *Request) Code {
	r := p.newRequest(c, function)
	r.begin = p.beginNothing(source)
	return p.publish(r, request)
}

func (p *Process) beginNothing(source int32) beginning {
	return func(r *request) Code {
		if code := p.unrevoked(r.c, r.function); code != Success {
			return code
		}
		r.settle(source)
		return Success
	}
}

// Start is MPI_Start.
func (p *Process) Start(request *Request) Code { return p.start("MPI_Start", request) }

// Startall is MPI_Startall.
func (p *Process) Startall(count int32, arrayOfRequests *Request) Code {
	if !p.live() {
		return p.outOfTime("MPI_Startall")
	}
	if count < 0 {
		return p.fail(nil, "MPI_Startall", ErrCount, "the count is %d", count)
	}
	requests := array(arrayOfRequests, count)
	for i := range requests {
		if code := p.start("MPI_Startall", &requests[i]); code != Success {
			return code
		}
	}
	return Success
}

func (p *Process) start(function string, request *Request) Code {
	if !p.live() {
		return p.outOfTime(function)
	}
	r := p.request(*request)
	switch {
	case r == nil:
		return p.noRequest(function, *request)
	case r.begin == nil:
		return p.fail(r.c, function, ErrRequest, "the request %#x is not persistent", uintptr(*request))
	case r.state != inactive:
		return p.fail(r.c, function, ErrRequest, "the request %#x, of %s, is active already", uintptr(*request), r.function)
	}
	return r.begin(r)
}
