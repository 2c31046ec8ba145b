package binding

import (
	"testing"
	"unsafe"
)

// Persistent operations are started repeatedly, each time with the present contents of the
// buffer.
func TestPersistent(t *testing.T) {
	for _, replicas := range []int{1, 2} {
		replicated(t, 2, replicas, func(t *testing.T, p *Process) {
			ok(t, "BufferAttach", p.BufferAttach(BufferAutomatic, 0))
			var every2nd Datatype
			ok(t, "TypeVector", p.TypeVector(2, 1, 2, TypeInt, &every2nd))
			ok(t, "TypeCommit", p.TypeCommit(&every2nd))
			peer := int32(1 - rankOf(p))
			large := numbers(100_000, 0)
			out, in := make([]int32, 3), make([]int32, 3)
			largeIn := make([]int32, len(large))
			rs := make([]Request, 8)
			ok(t, "RecvInit", p.RecvInit(ints(in), 1, every2nd, peer, 1, CommWorld, &rs[0]))
			ok(t, "RecvInit", p.RecvInit(ints(largeIn), int64(len(large)), TypeInt, AnySource, 2, CommWorld, &rs[1]))
			ok(t, "SendInit", p.SendInit(ints(out), 1, every2nd, peer, 1, CommWorld, &rs[2]))
			ok(t, "SsendInit", p.SsendInit(ints(large), int64(len(large)), TypeInt, peer, 2, CommWorld, &rs[3]))
			ok(t, "BsendInit", p.BsendInit(ints(large), int64(len(large)), TypeInt, peer, 3, CommWorld, &rs[4]))
			ok(t, "RecvInit", p.RecvInit(ints(largeIn), int64(len(large)), TypeInt, peer, 3, CommWorld, &rs[5]))
			ok(t, "RsendInit", p.RsendInit(ints(out), 3, TypeInt, peer, 4, CommWorld, &rs[6]))
			ok(t, "SendInit", p.SendInit(ints(out), 3, TypeInt, ProcNull, 4, CommWorld, &rs[7]))
			ok(t, "TypeFree", p.TypeFree(&every2nd)) // the requests keep it
			wantInactive := func() {
				t.Helper()
				var s Status
				flag := int32(0)
				if ok(t, "Test", p.Test(&rs[0], &flag, &s)); flag != 1 {
					t.Error("an inactive request isn't over")
				}
				wantStatus(t, "an inactive request", &s, AnySource, AnyTag, 0)
			}
			for round := range int32(20) {
				wantInactive()
				copy(out, []int32{round, -1, 2 * round})
				large[7] = round
				ss := make([]Status, 8)
				ok(t, "Startall", p.Startall(8, &rs[0]))
				ok(t, "Recv", p.Recv(ints(make([]int32, 3)), 3, TypeInt, peer, 4, CommWorld, nil))
				ok(t, "Waitall", p.Waitall(8, &rs[0], &ss[0]))
				wantStatus(t, "the small receive", &ss[0], peer, 1, 8)
				wantStatus(t, "the large receive", &ss[1], peer, 2, int64(4*len(large)))
				if in[0] != round || in[1] != 0 || in[2] != 2*round || largeIn[7] != round {
					t.Fatalf("round %d brings %v and %d", round, in, largeIn[7])
				}
			}
			wantInactive()
			var flag int32
			for i := range rs {
				ok(t, "RequestFree", p.RequestFree(&rs[i]))
			}
			if ok(t, "Testall", p.Testall(8, &rs[0], &flag, nil)); rs[0] != RequestNull || flag != 1 {
				t.Error("freed requests aren't null")
			}
			var at unsafe.Pointer
			var size int32
			ok(t, "BufferDetach", p.BufferDetach(unsafe.Pointer(&at), CountOut{P: unsafe.Pointer(&size)}))
		})
	}
}

// Only a persistent, inactive request can be started.
func TestStartErrors(t *testing.T) {
	returning(t, 1, func(t *testing.T, p *Process) {
		x := []int32{0}
		var r, irecv Request
		ok(t, "RecvInit", p.RecvInit(ints(x), 1, TypeInt, 0, 1, CommWorld, &r))
		ok(t, "Start", p.Start(&r))
		wantCode(t, "a second start", p.Start(&r), ErrRequest)
		ok(t, "Cancel", p.Cancel(&r))
		var s Status
		if ok(t, "Wait", p.Wait(&r, &s)); !s.Cancelled() {
			t.Error("the receive isn't cancelled")
		}
		wantCode(t, "Cancel", p.Cancel(&r), ErrRequest)
		ok(t, "Start", p.Start(&r))
		ok(t, "Send", p.Send(ints(x), 1, TypeInt, 0, 1, CommWorld))
		ok(t, "Wait", p.Wait(&r, &s))
		wantStatus(t, "a receive after a cancelled one", &s, 0, 1, 4)
		ok(t, "Irecv", p.Irecv(ints(x), 1, TypeInt, 0, 1, CommWorld, &irecv))
		wantCode(t, "the start of an Irecv", p.Start(&irecv), ErrRequest)
		ok(t, "Cancel", p.Cancel(&irecv))
		ok(t, "Wait", p.Wait(&irecv, nil))
	})
}
