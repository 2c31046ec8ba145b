package binding

import (
	"testing"
	"unsafe"

	"banyan/internal/runtime/process"
)

// cancellable are the functions that start a send that can be cancelled.
var cancellable = map[string]func(p *Process, b []byte, dest int32, r *Request) Code{
	"MPI_Isend": func(p *Process, b []byte, dest int32, r *Request) Code {
		return p.Isend(address(b), int64(len(b)), TypeByte, dest, 1, CommWorld, r)
	},
	"MPI_Issend": func(p *Process, b []byte, dest int32, r *Request) Code {
		return p.Issend(address(b), int64(len(b)), TypeByte, dest, 1, CommWorld, r)
	},
	"MPI_Ibsend": func(p *Process, b []byte, dest int32, r *Request) Code {
		return p.Ibsend(address(b), int64(len(b)), TypeByte, dest, 1, CommWorld, r)
	},
	"MPI_Send_init": func(p *Process, b []byte, dest int32, r *Request) Code {
		p.SendInit(address(b), int64(len(b)), TypeByte, dest, 1, CommWorld, r)
		return p.Start(r)
	},
	"MPI_Bsend_init": func(p *Process, b []byte, dest int32, r *Request) Code {
		p.BsendInit(address(b), int64(len(b)), TypeByte, dest, 1, CommWorld, r)
		return p.Start(r)
	},
}

// cancels cancellable a send, cancels it, and tells whether it was.
func cancels(t *testing.T, p *Process, function string, b []byte, dest int32) bool {
	t.Helper()
	var r Request
	var s Status
	ok(t, function, cancellable[function](p, b, dest, &r))
	ok(t, "MPI_Cancel", p.Cancel(&r))
	ok(t, "MPI_Cancel", p.Cancel(&r))
	ok(t, "MPI_Wait", p.Wait(&r, &s))
	if r != RequestNull {
		ok(t, "MPI_Request_free", p.RequestFree(&r))
	}
	var flag int32
	ok(t, "MPI_Test_cancelled", p.TestCancelled(&s, &flag))
	return flag != 0
}

var cancelledSizes = []int{0, 8, process.EagerLimit, process.EagerLimit + 1, 300_000}

// A send that no receive has matched is cancelled, of whatever mode and size, to another rank and
// to itself; the next one is received.
func TestCancelSends(t *testing.T) {
	ranks(t, 2, func(t *testing.T, p *Process) {
		self := int32(rankOf(p))
		buffer := make([]byte, 1<<20)
		ok(t, "MPI_Buffer_attach", p.BufferAttach(address(buffer), int64(len(buffer))))
		for function := range cancellable {
			for _, size := range cancelledSizes {
				b := make([]byte, size)
				if !cancels(t, p, function, b, self) {
					t.Errorf("%s of %d bytes to the own rank isn't cancelled", function, size)
				}
			}
		}
		var flag int32
		ok(t, "MPI_Iprobe", p.Iprobe(AnySource, 1, CommSelf, &flag, nil))
		for _, function := range []string{"MPI_Isend", "MPI_Issend", "MPI_Ibsend", "MPI_Send_init", "MPI_Bsend_init"} {
			for _, size := range cancelledSizes {
				b := []byte{1}
				if self == 0 {
					if !cancels(t, p, function, make([]byte, size), 1) {
						t.Errorf("%s of %d bytes isn't cancelled", function, size)
					}
					ok(t, "MPI_Send", p.Send(address(b), 1, TypeByte, 1, 2, CommWorld))
					ok(t, "MPI_Recv", p.Recv(address(b), 1, TypeByte, 1, 2, CommWorld, nil))
					continue
				}
				ok(t, "MPI_Recv", p.Recv(address(b), 1, TypeByte, 0, 2, CommWorld, nil))
				if ok(t, "MPI_Iprobe", p.Iprobe(0, 1, CommWorld, &flag, nil)); flag != 0 {
					t.Errorf("%s of %d bytes: the message is there", function, size)
				}
				ok(t, "MPI_Send", p.Send(address(b), 1, TypeByte, 0, 2, CommWorld))
			}
		}
		var was uintptr
		var size int32
		ok(t, "MPI_Buffer_detach", p.BufferDetach(unsafe.Pointer(&was), CountOut{P: unsafe.Pointer(&size)}))
	})
}

// A job with replicas cancels no send.
func TestCancelNoSends(t *testing.T) {
	replicated(t, 2, 2, func(t *testing.T, p *Process) {
		for _, size := range cancelledSizes {
			b := make([]byte, size)
			if rankOf(p) == 0 {
				if cancels(t, p, "MPI_Isend", b, 1) {
					t.Errorf("a send of %d bytes is cancelled", size)
				}
			} else {
				ok(t, "MPI_Recv", p.Recv(address(b), int64(size), TypeByte, 0, 1, CommWorld, nil))
			}
		}
	})
}
