package binding

import (
	"unsafe"

	"banyan/internal/mpi/comm"
)

// message is the object of a Message: a message that MPI_Mprobe or MPI_Improbe has matched.
type message struct {
	c *communicator
	m comm.Message
}

// probing checks the arguments of a probe. For MPI_PROC_NULL it fills in the status and returns
// none.
func (p *Process) probing(function string, source, tag int32, comm Comm, status *Status) (c *communicator, none bool, code Code) {
	if c = p.communicator(comm); c == nil {
		return nil, true, p.noComm(function, comm)
	}
	if code := p.checkReceive(c, function, source, tag); code != Success {
		return nil, true, code
	}
	if source == ProcNull {
		status.set(ProcNull, AnyTag, 0)
		return c, true, Success
	}
	return c, false, Success
}

func (s *Status) found(st comm.Status) { s.set(int32(st.Source), int32(st.Tag), int64(st.Bytes)) }

// Probe is MPI_Probe.
func (p *Process) Probe(source, tag int32, comm Comm, status *Status) Code {
	c, none, code := p.probing("MPI_Probe", source, tag, comm, status)
	if none {
		return code
	}
	s, err := c.comm.Probe(int(source), tagOf(tag))
	if err != nil {
		return p.failWith(c, "MPI_Probe", err)
	}
	status.found(s)
	return Success
}

// Iprobe is MPI_Iprobe.
func (p *Process) Iprobe(source, tag int32, comm Comm, flag *int32, status *Status) Code {
	*flag = 1
	c, none, code := p.probing("MPI_Iprobe", source, tag, comm, status)
	if none {
		return code
	}
	s, ok, err := c.comm.Iprobe(int(source), tagOf(tag))
	if *flag = truth(ok); err != nil {
		return p.failWith(c, "MPI_Iprobe", err)
	}
	if ok {
		status.found(s)
	}
	return Success
}

// Mprobe is MPI_Mprobe.
func (p *Process) Mprobe(source, tag int32, comm Comm, message *Message, status *Status) Code {
	*message = MessageNoProc
	c, none, code := p.probing("MPI_Mprobe", source, tag, comm, status)
	if none {
		return code
	}
	m, err := c.comm.Mprobe(int(source), tagOf(tag))
	if err != nil {
		*message = MessageNull
		return p.failWith(c, "MPI_Mprobe", err)
	}
	return p.hold(c, "MPI_Mprobe", m, message, status)
}

// Improbe is MPI_Improbe.
func (p *Process) Improbe(source, tag int32, comm Comm, flag *int32, message *Message, status *Status) Code {
	*flag, *message = 1, MessageNoProc
	c, none, code := p.probing("MPI_Improbe", source, tag, comm, status)
	if none {
		return code
	}
	m, ok, err := c.comm.Improbe(int(source), tagOf(tag))
	if !ok {
		*flag, *message = 0, MessageNull
		if err != nil {
			return p.failWith(c, "MPI_Improbe", err)
		}
		return Success
	}
	return p.hold(c, "MPI_Improbe", m, message, status)
}

// hold gives a matched message its handle.
func (p *Process) hold(c *communicator, function string, m comm.Message, h *Message, status *Status) Code {
	n := p.messages.add(&message{c, m})
	if n == 0 {
		return p.fail(c, function, ErrNoMem, "there are too many messages that were probed and not received")
	}
	*h = Message(n)
	c.retain()
	status.found(m.Status())
	return Success
}

// Mrecv is MPI_Mrecv.
func (p *Process) Mrecv(buf unsafe.Pointer, count int64, datatype Datatype, message *Message, status *Status) Code {
	if *message == MessageNoProc {
		*message = MessageNull
		status.set(ProcNull, AnyTag, 0)
		return Success
	}
	m, d, code := p.release(buf, count, datatype, message, "MPI_Mrecv")
	if m == nil {
		return code
	}
	s, err := m.m.Recv(d.bytes)
	defer m.c.release()
	return p.receivedNow(m.c, "MPI_Mrecv", &d, s, err, status)
}

// Imrecv is MPI_Imrecv.
func (p *Process) Imrecv(buf unsafe.Pointer, count int64, datatype Datatype, message *Message, request *Request) Code {
	if *message == MessageNoProc {
		*message, *request = MessageNull, noProcHandle
		return Success
	}
	m, d, code := p.release(buf, count, datatype, message, "MPI_Imrecv")
	if m == nil {
		return code
	}
	r := p.newRequest(m.c, "MPI_Imrecv")
	m.c.release() // the request has retained it
	r.pending, r.d = m.m.Irecv(d.bytes), d
	r.follow(r.pending.Handle())
	return p.publish(r, request)
}

// release looks a message up and frees its handle, unless an argument is wrong.
func (p *Process) release(buf unsafe.Pointer, count int64, datatype Datatype, h *Message, function string) (*message, data, Code) {
	if !p.live() {
		return nil, data{}, p.outOfTime(function)
	}
	m := p.messages.get(uintptr(*h))
	if m == nil {
		if *h == MessageNull {
			return nil, data{}, p.fail(nil, function, ErrRequest, "the message is MPI_MESSAGE_NULL")
		}
		return nil, data{}, p.noHandle(nil, function, ErrRequest, "message", uintptr(*h))
	}
	d, code := p.incoming(m.c, function, buf, count, datatype)
	if code != Success {
		return nil, data{}, code
	}
	p.messages.remove(uintptr(*h))
	*h = MessageNull
	return m, d, Success
}
