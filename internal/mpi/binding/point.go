package binding

import (
	"errors"
	"unsafe"

	"banyan/internal/mpi/comm"
	types "banyan/internal/mpi/datatype"
	"banyan/internal/runtime/lane"
	"banyan/internal/runtime/process"
)

// mode is one of MPI's ways to send. Ready sends are standard sends: that the receive is posted
// doesn't help this library.
type mode uint8

const (
	standard mode = iota
	synchronous
	buffered
)

// Send is MPI_Send.
func (p *Process) Send(buf unsafe.Pointer, count int64, datatype Datatype, dest, tag int32, comm Comm) Code {
	return p.send("MPI_Send", standard, buf, count, datatype, dest, tag, comm)
}

// Ssend is MPI_Ssend.
func (p *Process) Ssend(buf unsafe.Pointer, count int64, datatype Datatype, dest, tag int32, comm Comm) Code {
	return p.send("MPI_Ssend", synchronous, buf, count, datatype, dest, tag, comm)
}

// Bsend is MPI_Bsend.
func (p *Process) Bsend(buf unsafe.Pointer, count int64, datatype Datatype, dest, tag int32, comm Comm) Code {
	return p.send("MPI_Bsend", buffered, buf, count, datatype, dest, tag, comm)
}

// Rsend is MPI_Rsend.
func (p *Process) Rsend(buf unsafe.Pointer, count int64, datatype Datatype, dest, tag int32, comm Comm) Code {
	return p.send("MPI_Rsend", standard, buf, count, datatype, dest, tag, comm)
}

func (p *Process) send(function string, m mode, buf unsafe.Pointer, count int64, datatype Datatype, dest, tag int32, comm Comm) Code {
	c := p.communicator(comm)
	if c == nil {
		return p.noComm(function, comm)
	}
	if dest < 0 || int(dest) >= c.comm.Size() || tag < 0 {
		return p.checkSend(c, function, dest, tag)
	}
	if b, ok := p.plain.bytes(buf, count, datatype); ok && m == standard {
		if err := c.comm.Send(b, int(dest), int(tag)); err != nil {
			return p.failWith(c, function, err)
		}
		return Success
	}
	d, code := p.incoming(c, function, buf, count, datatype)
	if code != Success {
		return code
	}
	var err error
	if m == standard && d.gradual() {
		g := graduals.Get().(*gradual)
		*g = gradual{data: d, move: (*types.Type).Pack}
		err = c.comm.SendGradually(d.bytes, g, int(dest), int(tag))
		g.end()
		d.release()
		if err != nil {
			return p.failWith(c, function, err)
		}
		return Success
	}
	d.pack()
	switch m {
	case standard:
		err = c.comm.Send(d.bytes, int(dest), int(tag))
	case synchronous:
		err = c.comm.Ssend(d.bytes, int(dest), int(tag))
	case buffered:
		_, _, code := p.bsend(c, function, &d, dest, tag)
		return code
	}
	d.release()
	if err != nil {
		return p.failWith(c, function, err)
	}
	return Success
}

// checkSend is the error of a destination or a tag. It is Success for MPI_PROC_NULL with a
// valid tag.
func (p *Process) checkSend(c *communicator, function string, dest, tag int32) Code {
	switch n := int32(c.comm.Size()); {
	case dest != ProcNull && (dest < 0 || dest >= n):
		return p.fail(c, function, ErrRank, "the destination is %d, and the communicator has %d ranks", dest, n)
	case tag < 0:
		return p.fail(c, function, ErrTag, "the tag is %d, and must not be negative", tag)
	case dest == ProcNull:
		return p.unrevoked(c, function)
	}
	return Success
}

// unrevoked is the error of a function that does nothing, as with MPI_PROC_NULL, in a
// communicator that is revoked.
func (p *Process) unrevoked(c *communicator, function string) Code {
	if err := c.comm.Usable(); err != nil {
		return p.failWith(c, function, err)
	}
	return Success
}

// checkReceive is checkSend for a source, which may be MPI_ANY_SOURCE, and a tag, which may be
// MPI_ANY_TAG.
func (p *Process) checkReceive(c *communicator, function string, source, tag int32) Code {
	switch n := int32(c.comm.Size()); {
	case source != ProcNull && source != AnySource && (source < 0 || source >= n):
		return p.fail(c, function, ErrRank, "the source is %d, and the communicator has %d ranks", source, n)
	case tag < 0 && tag != AnyTag:
		return p.fail(c, function, ErrTag, "the tag is %d, and must not be negative", tag)
	case source == ProcNull:
		return p.unrevoked(c, function)
	}
	return Success
}

// tagOf is a receive's tag in package comm.
func tagOf(tag int32) int {
	if tag == AnyTag {
		return comm.AnyTag
	}
	return int(tag)
}

// Isend is MPI_Isend.
func (p *Process) Isend(buf unsafe.Pointer, count int64, datatype Datatype, dest, tag int32, comm Comm, request *Request) Code {
	return p.isend("MPI_Isend", standard, buf, count, datatype, dest, tag, comm, request)
}

// Issend is MPI_Issend.
func (p *Process) Issend(buf unsafe.Pointer, count int64, datatype Datatype, dest, tag int32, comm Comm, request *Request) Code {
	return p.isend("MPI_Issend", synchronous, buf, count, datatype, dest, tag, comm, request)
}

// Ibsend is MPI_Ibsend.
func (p *Process) Ibsend(buf unsafe.Pointer, count int64, datatype Datatype, dest, tag int32, comm Comm, request *Request) Code {
	return p.isend("MPI_Ibsend", buffered, buf, count, datatype, dest, tag, comm, request)
}

// Irsend is MPI_Irsend.
func (p *Process) Irsend(buf unsafe.Pointer, count int64, datatype Datatype, dest, tag int32, comm Comm, request *Request) Code {
	return p.isend("MPI_Irsend", standard, buf, count, datatype, dest, tag, comm, request)
}

func (p *Process) isend(function string, m mode, buf unsafe.Pointer, count int64, datatype Datatype, dest, tag int32, comm Comm, request *Request) Code {
	c := p.communicator(comm)
	if c == nil {
		return p.noComm(function, comm)
	}
	*request = sentHandle // of MPI_PROC_NULL, too
	if dest < 0 || int(dest) >= c.comm.Size() || tag < 0 {
		return p.checkSend(c, function, dest, tag)
	}
	var d data
	var ok bool
	if d.bytes, ok = p.plain.bytes(buf, count, datatype); !ok {
		var code Code
		if d, code = p.outgoing(c, function, buf, count, datatype); code != Success {
			return code
		}
	}
	if m == buffered {
		return p.ibsend(c, function, &d, dest, tag, request)
	}
	pending, err := c.begin(m, d.bytes, dest, tag)
	if err != nil {
		d.release()
		return p.failWith(c, function, err)
	}
	return p.sends(c, function, pending, d, request)
}

// sends makes the request of a send that was started. It takes the data over.
func (p *Process) sends(c *communicator, function string, pending comm.Pending, d data, request *Request) Code {
	if pending.Ended() {
		d.release()
		d = data{}
		// A number is that of an engine, and a handle says nothing of which.
		if pending.Number() == 0 || pending.Engine() == p.job.Engine() {
			*request = Request(lane.SentOf(pending.Number()))
			return Success
		}
	}
	r := p.newRequest(c, function)
	r.pending, r.d = pending, d
	r.follow(pending.Handle())
	return p.publish(r, request)
}

// begin starts a send of a message.
func (c *communicator) begin(m mode, bytes []byte, dest, tag int32) (comm.Pending, error) {
	if m == synchronous {
		return c.comm.Issend(bytes, int(dest), int(tag))
	}
	return c.comm.Isend(bytes, int(dest), int(tag))
}

// Recv is MPI_Recv.
func (p *Process) Recv(buf unsafe.Pointer, count int64, datatype Datatype, source, tag int32, comm Comm, status *Status) Code {
	c := p.communicator(comm)
	if c == nil {
		return p.noComm("MPI_Recv", comm)
	}
	if source < 0 || int(source) >= c.comm.Size() || tag < 0 {
		if code := p.checkReceive(c, "MPI_Recv", source, tag); code != Success {
			return code
		}
		if source == ProcNull {
			status.set(ProcNull, AnyTag, 0)
			return Success
		}
	}
	if b, ok := p.plain.bytes(buf, count, datatype); ok {
		s, err := c.comm.Recv(b, int(source), tagOf(tag))
		if err == nil {
			status.found(s)
			return Success
		}
		return p.receivedNow(c, "MPI_Recv", &data{bytes: b}, s, err, status)
	}
	d, code := p.incoming(c, "MPI_Recv", buf, count, datatype)
	if code != Success {
		return code
	}
	if d.gradual() {
		g := graduals.Get().(*gradual)
		*g = gradual{data: d, move: (*types.Type).Unpack}
		s, err := c.comm.RecvGradually(d.bytes, g, int(source), tagOf(tag))
		d.unpacked = int64(g.done)
		g.end()
		return p.receivedNow(c, "MPI_Recv", &d, s, err, status)
	}
	s, err := c.comm.Recv(d.bytes, int(source), tagOf(tag))
	return p.receivedNow(c, "MPI_Recv", &d, s, err, status)
}

// receivedNow ends a blocking receive.
func (p *Process) receivedNow(c *communicator, function string, d *data, s comm.Status, err error, status *Status) Code {
	n := int64(s.Bytes)
	if err != nil {
		if n = min(n, int64(len(d.bytes))); !errors.Is(err, process.ErrTruncated) {
			n = 0
		}
	}
	d.unpack(n)
	d.release()
	status.set(int32(s.Source), int32(s.Tag), n)
	if err != nil {
		return p.failWith(c, function, err)
	}
	return Success
}

// Irecv is MPI_Irecv.
func (p *Process) Irecv(buf unsafe.Pointer, count int64, datatype Datatype, source, tag int32, comm Comm, request *Request) Code {
	c := p.communicator(comm)
	if c == nil {
		return p.noComm("MPI_Irecv", comm)
	}
	if source < 0 || int(source) >= c.comm.Size() || tag < 0 {
		if code := p.checkReceive(c, "MPI_Irecv", source, tag); code != Success {
			return code
		}
		if source == ProcNull {
			*request = noProcHandle
			return Success
		}
	}
	var d data
	var ok bool
	if d.bytes, ok = p.plain.bytes(buf, count, datatype); !ok {
		var code Code
		if d, code = p.incoming(c, "MPI_Irecv", buf, count, datatype); code != Success {
			return code
		}
	} else if note, ok := c.comm.Note(uint64(comm), d.bytes, int(source), tagOf(tag), false); ok {
		*request = Request(note)
		return Success
	}
	pending, err := c.comm.Irecv(d.bytes, int(source), tagOf(tag))
	if err != nil {
		d.release()
		return p.failWith(c, "MPI_Irecv", err)
	}
	r := p.newRequest(c, "MPI_Irecv")
	r.pending, r.d = pending, d
	r.follow(pending.Handle())
	return p.publish(r, request)
}
