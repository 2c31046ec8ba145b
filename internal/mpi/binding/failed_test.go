package binding

import (
	"testing"
	"unsafe"
)

// dies ends a rank of a test as a kill would.
func dies(p *Process) { p.job.(*testMember).Die() }

// What had arrived before a death is received, and what hadn't isn't.
func TestMessagesOfTheDead(t *testing.T) {
	returning(t, 2, func(t *testing.T, p *Process) {
		x := int32(rankOf(p))
		if x == 1 {
			ok(t, "Send", p.Send(unsafe.Pointer(&x), 1, TypeInt, 0, 7, CommWorld))
			dies(p)
			return
		}
		wantCode(t, "Recv of what wasn't sent", p.Recv(unsafe.Pointer(&x), 1, TypeInt, 1, 8, CommWorld, nil), ErrProcFailed)
		ok(t, "Recv of what was sent", p.Recv(unsafe.Pointer(&x), 1, TypeInt, AnySource, 7, CommWorld, nil))
		wantCode(t, "Probe", p.Probe(AnySource, 7, CommWorld, nil), ErrProcFailed)
		var r Request
		ok(t, "Isend to the dead", p.Isend(unsafe.Pointer(&x), 1, TypeInt, 1, 0, CommWorld, &r))
		wantCode(t, "Wait of Isend", p.Wait(&r, nil), ErrProcFailed)
		if r != RequestNull {
			t.Error("a send that has failed keeps its request")
		}
	})
}

// While a failure isn't acknowledged, a receive from any source that waits is withdrawn, and one in
// the background goes on. Once the failure is acknowledged both work.
func TestAnySourceAfterAFailure(t *testing.T) {
	returning(t, 3, func(t *testing.T, p *Process) {
		x, y, n := int32(-1), int32(rankOf(p)), int32(0)
		switch y {
		case 1:
			dies(p)
		case 2:
			ok(t, "Recv", p.Recv(unsafe.Pointer(&x), 1, TypeInt, 0, 0, CommWorld, nil))
			for range 2 {
				ok(t, "Send", p.Send(unsafe.Pointer(&y), 1, TypeInt, 0, 5, CommWorld))
			}
		case 0:
			var r, s Request
			var flag int32
			ok(t, "Irecv", p.Irecv(unsafe.Pointer(&x), 1, TypeInt, AnySource, 5, CommWorld, &r))
			wantCode(t, "Wait", p.Wait(&r, nil), ErrProcFailedPending)
			wantCode(t, "Test", p.Test(&r, &flag, nil), ErrProcFailedPending)
			wantCode(t, "Recv", p.Recv(unsafe.Pointer(&y), 1, TypeInt, AnySource, 5, CommWorld, nil), ErrProcFailed)
			wantCode(t, "Sendrecv", p.Sendrecv(nil, 0, TypeByte, ProcNull, 0, unsafe.Pointer(&y), 1, TypeInt, AnySource, 5, CommWorld, nil), ErrProcFailed)
			wantCode(t, "Iprobe", p.Iprobe(AnySource, 5, CommWorld, &flag, nil), ErrProcFailed)
			ok(t, "Irecv", p.Irecv(unsafe.Pointer(&y), 1, TypeInt, AnySource, 6, CommWorld, &s))
			wantCode(t, "a later Irecv", p.Wait(&s, nil), ErrProcFailedPending)
			ok(t, "Cancel", p.Cancel(&s))
			var status Status
			ok(t, "Wait of what was cancelled", p.Wait(&s, &status))
			if !status.Cancelled() {
				t.Error("the receive isn't cancelled")
			}

			var failed Group
			ok(t, "CommGetFailed", p.CommGetFailed(CommWorld, &failed))
			if g := p.group(failed); g == nil || len(g.ranks) != 1 || g.ranks[0] != 1 {
				t.Errorf("failed: %v", g)
			}
			ok(t, "CommAckFailed of none", p.CommAckFailed(CommWorld, 0, &n))
			wantCode(t, "Wait", p.Wait(&r, nil), ErrProcFailedPending)
			ok(t, "CommFailureAck", p.CommFailureAck(CommWorld))
			ok(t, "CommAckFailed", p.CommAckFailed(CommWorld, 0, &n))
			if n != 1 {
				t.Errorf("%d are acknowledged", n)
			}
			ok(t, "CommFailureGetAcked", p.CommFailureGetAcked(CommWorld, &failed))
			if g := p.group(failed); g == nil || len(g.ranks) != 1 {
				t.Errorf("acknowledged: %v", g)
			}
			ok(t, "Test", p.Test(&r, &flag, nil))
			if flag != 0 {
				t.Error("the receive has ended without a message")
			}
			ok(t, "Send", p.Send(unsafe.Pointer(&y), 1, TypeInt, 2, 0, CommWorld))
			ok(t, "Wait", p.Wait(&r, nil))
			ok(t, "Recv", p.Recv(unsafe.Pointer(&y), 1, TypeInt, AnySource, 5, CommWorld, nil))
			if x != 2 || y != 2 {
				t.Errorf("received %d and %d", x, y)
			}
		}
	})
}

// A message that comes ends a receive that shows a failure.
func TestMessageWinsOverPending(t *testing.T) {
	returning(t, 3, func(t *testing.T, p *Process) {
		large := make([]int32, 50_000)
		switch x := int32(0); rankOf(p) {
		case 1:
			dies(p)
		case 2:
			ok(t, "Recv", p.Recv(unsafe.Pointer(&x), 1, TypeInt, 0, 0, CommWorld, nil))
			large[9] = 9
			ok(t, "Send", p.Send(ints(large), int64(len(large)), TypeInt, 0, 5, CommWorld))
		case 0:
			var r Request
			ok(t, "Irecv", p.Irecv(ints(large), int64(len(large)), TypeInt, AnySource, 5, CommWorld, &r))
			wantCode(t, "Wait", p.Wait(&r, nil), ErrProcFailedPending)
			ok(t, "Send", p.Send(unsafe.Pointer(&x), 1, TypeInt, 2, 0, CommWorld))
			for code := ErrProcFailedPending; code != Success; {
				if code = p.Wait(&r, nil); code != Success && code != ErrProcFailedPending {
					t.Fatalf("Wait: %d", code)
				}
			}
			if large[9] != 9 {
				t.Error("the message isn't there")
			}
		}
	})
}

// MPI_Waitall and MPI_Testall return when one request has failed; the others go on.
func TestWaitallAfterAFailure(t *testing.T) {
	for name, wait := range map[string]func(p *Process, rs []Request, ss []Status) Code{
		"Waitall": func(p *Process, rs []Request, ss []Status) Code { return p.Waitall(3, &rs[0], &ss[0]) },
		"Testall": func(p *Process, rs []Request, ss []Status) (code Code) {
			for flag := int32(0); flag == 0; {
				code = p.Testall(3, &rs[0], &flag, &ss[0])
			}
			return code
		},
	} {
		t.Run(name, func(t *testing.T) {
			returning(t, 3, func(t *testing.T, p *Process) {
				x := numbers(3, 0)
				switch rankOf(p) {
				case 1:
					dies(p)
				case 2:
					ok(t, "Recv", p.Recv(ints(x), 1, TypeInt, 0, 0, CommWorld, nil))
					ok(t, "Send", p.Send(ints(x), 1, TypeInt, 0, 2, CommWorld))
				case 0:
					rs, ss := make([]Request, 3), make([]Status, 3)
					for i, source := range []int32{2, 1, AnySource} {
						ok(t, "Irecv", p.Irecv(ints(x[i:]), 1, TypeInt, source, int32(2+10*i), CommWorld, &rs[i]))
					}
					wantCode(t, name, wait(p, rs, ss), ErrInStatus)
					for i, want := range []Code{ErrPending, ErrProcFailed, ErrProcFailedPending} {
						if Code(ss[i].Error) != want && (i != 2 || Code(ss[i].Error) != ErrPending) || (rs[i] == RequestNull) != (i == 1) {
							t.Errorf("status %d has the error %d, want %d; the request is %#x", i, ss[i].Error, want, rs[i])
						}
					}
					ok(t, "Send", p.Send(ints(x), 1, TypeInt, 2, 0, CommWorld))
					ok(t, "Wait", p.Wait(&rs[0], nil))
					ok(t, "Cancel", p.Cancel(&rs[2]))
					ok(t, "Wait", p.Wait(&rs[2], nil))
				}
			})
		})
	}
}
