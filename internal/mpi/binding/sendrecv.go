package binding

import (
	"unsafe"

	"banyan/internal/mpi/comm"
)

// exchange is the checked arguments of a combined send and receive.
type exchange struct {
	c                            *communicator
	out, in                      data
	dest, sendtag, source, rctag int32
}

// exchanging checks the peers and the tags.
func (p *Process) exchanging(function string, dest, sendtag, source, recvtag int32, comm Comm) (exchange, Code) {
	c := p.communicator(comm)
	if c == nil {
		return exchange{}, p.noComm(function, comm)
	}
	x := exchange{c: c, dest: dest, sendtag: sendtag, source: source, rctag: recvtag}
	if code := p.checkSend(c, function, dest, sendtag); code != Success {
		return x, code
	}
	return x, p.checkReceive(c, function, source, recvtag)
}

// exchangeBuffers prepares the data of MPI_Sendrecv.
func (p *Process) exchangeBuffers(x *exchange, function string, sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype) (code Code) {
	if x.in, code = p.incoming(x.c, function, recvbuf, recvcount, recvtype); code != Success {
		return code
	}
	if x.out, code = p.outgoing(x.c, function, sendbuf, sendcount, sendtype); code != Success {
		x.in.release()
	}
	return code
}

// replaceBuffers prepares the data of MPI_Sendrecv_replace. It copies the data to send.
func (p *Process) replaceBuffers(x *exchange, function string, buf unsafe.Pointer, count int64, datatype Datatype) Code {
	code := p.exchangeBuffers(x, function, buf, count, datatype, buf, count, datatype)
	if code == Success {
		x.out.keep()
	}
	return code
}

// keep makes the data of a send independent of the program's memory.
func (d *data) keep() {
	if d.pooled == nil && len(d.bytes) > 0 {
		own := scratch.take(int64(len(d.bytes)))
		d.bytes = (*own)[:copy(*own, d.bytes)]
		d.pooled = own
	}
}

// Sendrecv is MPI_Sendrecv.
func (p *Process) Sendrecv(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, dest, sendtag int32, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, source, recvtag int32, comm Comm, status *Status) Code {
	x, code := p.exchanging("MPI_Sendrecv", dest, sendtag, source, recvtag, comm)
	if code == Success {
		code = p.exchangeBuffers(&x, "MPI_Sendrecv", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype)
	}
	if code != Success {
		return code
	}
	return p.exchange(&x, "MPI_Sendrecv", status)
}

// SendrecvReplace is MPI_Sendrecv_replace.
func (p *Process) SendrecvReplace(buf unsafe.Pointer, count int64, datatype Datatype, dest, sendtag, source, recvtag int32, comm Comm, status *Status) Code {
	x, code := p.exchanging("MPI_Sendrecv_replace", dest, sendtag, source, recvtag, comm)
	if code == Success {
		code = p.replaceBuffers(&x, "MPI_Sendrecv_replace", buf, count, datatype)
	}
	if code != Success {
		return code
	}
	return p.exchange(&x, "MPI_Sendrecv_replace", status)
}

// exchange sends and receives, and waits for both.
func (p *Process) exchange(x *exchange, function string, status *Status) Code {
	defer x.out.release()
	var in comm.Pending
	var err error
	if x.source != ProcNull {
		if in, err = x.c.comm.Irecv(x.in.bytes, int(x.source), tagOf(x.rctag)); err != nil {
			x.in.release()
			return p.failWith(x.c, function, err)
		}
	}
	if x.dest != ProcNull {
		err = x.c.comm.Send(x.out.bytes, int(x.dest), int(x.sendtag))
	}
	if x.source == ProcNull {
		x.in.release()
		status.set(ProcNull, AnyTag, 0)
		if err != nil {
			return p.failWith(x.c, function, err)
		}
		return Success
	}
	if err != nil {
		in.Cancel()
		in.Wait()
		x.in.release()
		return p.failWith(x.c, function, err)
	}
	s, err := in.WaitOrWithdraw()
	return p.receivedNow(x.c, function, &x.in, s, err, status)
}

// Isendrecv is MPI_Isendrecv.
func (p *Process) Isendrecv(sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, dest, sendtag int32, recvbuf unsafe.Pointer, recvcount int64, recvtype Datatype, source, recvtag int32, comm Comm, request *Request) Code {
	x, code := p.exchanging("MPI_Isendrecv", dest, sendtag, source, recvtag, comm)
	if code == Success {
		code = p.exchangeBuffers(&x, "MPI_Isendrecv", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype)
	}
	if code != Success {
		return code
	}
	return p.startExchange(&x, "MPI_Isendrecv", request)
}

// IsendrecvReplace is MPI_Isendrecv_replace.
func (p *Process) IsendrecvReplace(buf unsafe.Pointer, count int64, datatype Datatype, dest, sendtag, source, recvtag int32, comm Comm, request *Request) Code {
	x, code := p.exchanging("MPI_Isendrecv_replace", dest, sendtag, source, recvtag, comm)
	if code == Success {
		code = p.replaceBuffers(&x, "MPI_Isendrecv_replace", buf, count, datatype)
	}
	if code != Success {
		return code
	}
	return p.startExchange(&x, "MPI_Isendrecv_replace", request)
}

// startExchange makes the request of an exchange. It ends when both the receive and the send
// have ended.
func (p *Process) startExchange(x *exchange, function string, request *Request) Code {
	r := p.newRequest(x.c, function)
	r.noProc = x.source == ProcNull
	r.follow(r.handle)
	var err error
	if x.source == ProcNull {
		x.in.release()
	} else {
		if r.pending, err = x.c.comm.Irecv(x.in.bytes, int(x.source), tagOf(x.rctag)); err == nil {
			r.d = x.in
			r.follow(r.pending.Handle())
		}
	}
	if x.dest == ProcNull || err != nil {
		x.out.release()
	} else if r.send, err = x.c.comm.Isend(x.out.bytes, int(x.dest), int(x.sendtag)); err == nil {
		r.sent, r.also = x.out, append(r.also[:0], r.send.Handle())
	}
	if err != nil { // the arguments have been checked: this is the end of the job
		return p.failWith(x.c, function, err)
	}
	return p.publish(r, request)
}
