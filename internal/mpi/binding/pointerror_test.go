package binding

import (
	"fmt"
	"slices"
	"testing"
	"unsafe"
)

// A message that doesn't fit fills the buffer, and no other memory or message.
func TestTruncation(t *testing.T) {
	returning(t, 2, func(t *testing.T, p *Process) {
		for _, n := range messageSizes[2:] {
			want := numbers(n, 7)
			if rankOf(p) == 0 {
				ok(t, "Send", p.Send(ints(want), int64(n), TypeInt, 1, 1, CommWorld))
				ok(t, "Ssend", p.Ssend(ints(want), int64(n), TypeInt, 1, 1, CommWorld))
				ok(t, "Send", p.Send(ints(want), int64(n), TypeInt, 1, 2, CommWorld))
				continue
			}
			for _, room := range []int{n / 2, 0} {
				got := make([]int32, n)
				got[room] = -1
				var s Status
				wantCode(t, "Recv", p.Recv(ints(got), int64(room), TypeInt, 0, 1, CommWorld, &s), ErrTruncate)
				wantStatus(t, "Recv", &s, 0, 1, int64(4*room))
				if !slices.Equal(got[:room], want[:room]) || got[room] != -1 {
					t.Errorf("%d of %d ints: the buffer doesn't hold what fits", room, n)
				}
			}
			got := make([]int32, n)
			ok(t, "Recv", p.Recv(ints(got), int64(n), TypeInt, 0, 2, CommWorld, nil))
			if !slices.Equal(got, want) {
				t.Error("the message after truncated ones is spoiled")
			}
		}
	})
}

// With MPI_PROC_NULL each operation ends at once, and its status says so.
func TestProcNull(t *testing.T) {
	ranks(t, 1, func(t *testing.T, p *Process) {
		x := []int32{5}
		var s Status
		var flag int32
		var m Message
		null := func(what string, code Code) {
			t.Helper()
			ok(t, what, code)
			wantStatus(t, what, &s, ProcNull, AnyTag, 0)
			s = Status{}
		}
		for _, send := range []func(unsafe.Pointer, int64, Datatype, int32, int32, Comm) Code{p.Send, p.Ssend, p.Bsend, p.Rsend} {
			ok(t, "a send", send(ints(x), 1, TypeInt, ProcNull, 0, CommWorld))
		}
		null("Recv", p.Recv(ints(x), 1, TypeInt, ProcNull, 0, CommWorld, &s))
		null("Probe", p.Probe(ProcNull, AnyTag, CommWorld, &s))
		null("Iprobe", p.Iprobe(ProcNull, AnyTag, CommWorld, &flag, &s))
		null("Mprobe", p.Mprobe(ProcNull, AnyTag, CommWorld, &m, &s))
		null("Mrecv", p.Mrecv(ints(x), 1, TypeInt, &m, &s))
		null("Improbe", p.Improbe(ProcNull, AnyTag, CommWorld, &flag, &m, &s))
		if flag != 1 || m != MessageNoProc {
			t.Errorf("Improbe finds %d, %#x", flag, m)
		}
		null("Sendrecv", p.Sendrecv(ints(x), 1, TypeInt, ProcNull, 0, ints(x), 1, TypeInt, ProcNull, 0, CommWorld, &s))
		waited := func(what string, code Code, r *Request) {
			t.Helper()
			ok(t, what, code)
			null(what, p.Wait(r, &s))
		}
		var r Request
		waited("Imrecv", p.Imrecv(ints(x), 1, TypeInt, &m, &r), &r)
		waited("Irecv", p.Irecv(ints(x), 1, TypeInt, ProcNull, 0, CommWorld, &r), &r)
		waited("Isendrecv", p.Isendrecv(ints(x), 1, TypeInt, 0, 9, ints(x), 1, TypeInt, ProcNull, 0, CommWorld, &r), &r)
		ok(t, "Recv", p.Recv(ints(x), 1, TypeInt, 0, 9, CommWorld, nil))
		ok(t, "RecvInit", p.RecvInit(ints(x), 1, TypeInt, ProcNull, 0, CommWorld, &r))
		ok(t, "Start", p.Start(&r))
		null("Wait", p.Wait(&r, &s))
		ok(t, "RequestFree", p.RequestFree(&r))
		if x[0] != 5 {
			t.Error("the buffer has changed")
		}
	})
}

// A wrong argument is an error of the standard's class, in each operation.
func TestPointErrors(t *testing.T) {
	returning(t, 2, func(t *testing.T, p *Process) {
		if rankOf(p) != 0 {
			return
		}
		x := []int32{1}
		var r Request
		var s Status
		var flag int32
		var m Message
		type args struct {
			comm     Comm
			count    int64
			datatype Datatype
			peer     int32
			tag      int32
			buf      unsafe.Pointer
			want     Code
		}
		good := args{CommWorld, 1, TypeInt, 1, 1, ints(x), Success}
		var bad []args
		with := func(want Code, change func(a *args)) {
			a := good
			a.want = want
			change(&a)
			bad = append(bad, a)
		}
		with(ErrComm, func(a *args) { a.comm = CommNull })
		with(ErrComm, func(a *args) { a.comm = Comm(TypeInt) })
		with(ErrCount, func(a *args) { a.count = -1 })
		with(ErrType, func(a *args) { a.datatype = DatatypeNull })
		with(ErrRank, func(a *args) { a.peer = 2 })
		with(ErrRank, func(a *args) { a.peer = -5 })
		with(ErrTag, func(a *args) { a.tag = -3 })
		with(ErrBuffer, func(a *args) { a.buf = nil })
		with(ErrBuffer, func(a *args) { a.buf = InPlace })
		for _, a := range bad {
			for name, code := range map[string]Code{
				"Send":            p.Send(a.buf, a.count, a.datatype, a.peer, a.tag, a.comm),
				"Ssend":           p.Ssend(a.buf, a.count, a.datatype, a.peer, a.tag, a.comm),
				"Bsend":           p.Bsend(a.buf, a.count, a.datatype, a.peer, a.tag, a.comm),
				"Isend":           p.Isend(a.buf, a.count, a.datatype, a.peer, a.tag, a.comm, &r),
				"Send_init":       p.SendInit(a.buf, a.count, a.datatype, a.peer, a.tag, a.comm, &r),
				"Recv":            p.Recv(a.buf, a.count, a.datatype, a.peer, a.tag, a.comm, &s),
				"Irecv":           p.Irecv(a.buf, a.count, a.datatype, a.peer, a.tag, a.comm, &r),
				"Recv_init":       p.RecvInit(a.buf, a.count, a.datatype, a.peer, a.tag, a.comm, &r),
				"Sendrecv":        p.Sendrecv(a.buf, a.count, a.datatype, a.peer, a.tag, ints(x), 1, TypeInt, ProcNull, 0, a.comm, &s),
				"Sendrecv's recv": p.Sendrecv(ints(x), 1, TypeInt, ProcNull, 0, a.buf, a.count, a.datatype, a.peer, a.tag, a.comm, &s),
				"Isendrecv":       p.IsendrecvReplace(a.buf, a.count, a.datatype, a.peer, a.tag, ProcNull, 0, a.comm, &r),
			} {
				wantCode(t, fmt.Sprintf("%s with %+v", name, a), code, a.want)
			}
			if a.want == ErrComm || a.want == ErrRank || a.want == ErrTag {
				wantCode(t, "Probe", p.Probe(a.peer, a.tag, a.comm, &s), a.want)
				wantCode(t, "Iprobe", p.Iprobe(a.peer, a.tag, a.comm, &flag, &s), a.want)
				wantCode(t, "Mprobe", p.Mprobe(a.peer, a.tag, a.comm, &m, &s), a.want)
				wantCode(t, "Improbe", p.Improbe(a.peer, a.tag, a.comm, &flag, &m, &s), a.want)
			}
		}
		wantCode(t, "a send to any source", p.Send(ints(x), 1, TypeInt, AnySource, 1, CommWorld), ErrRank)
		wantCode(t, "a send with any tag", p.Send(ints(x), 1, TypeInt, 1, AnyTag, CommWorld), ErrTag)
		wantCode(t, "Bsend without a buffer", p.Bsend(ints(x), 1, TypeInt, 1, 1, CommWorld), ErrBuffer)
		m = MessageNull
		wantCode(t, "Mrecv of none", p.Mrecv(ints(x), 1, TypeInt, &m, &s), ErrRequest)
		m = Message(CommWorld)
		wantCode(t, "Imrecv of a communicator", p.Imrecv(ints(x), 1, TypeInt, &m, &r), ErrRequest)
		r = Request(uintptr(123456789))
		wantCode(t, "Wait for nothing", p.Wait(&r, &s), ErrRequest)
		wantCode(t, "Test of nothing", p.Test(&r, &flag, &s), ErrRequest)
		wantCode(t, "Waitall for nothing", p.Waitall(1, &r, nil), ErrRequest)
		wantCode(t, "Waitall for -1", p.Waitall(-1, &r, nil), ErrCount)
		r = RequestNull
		wantCode(t, "Request_free", p.RequestFree(&r), ErrRequest)
		wantCode(t, "Cancel", p.Cancel(&r), ErrRequest)
		wantCode(t, "Start", p.Start(&r), ErrRequest)
	})
}
