package binding

import (
	"slices"
	"testing"
)

// A receive is cancelled if no message has arrived. Otherwise it ends as usual.
func TestCancel(t *testing.T) {
	ranks(t, 1, func(t *testing.T, p *Process) {
		x := []int32{0}
		var r Request
		var s Status
		var flag int32
		ok(t, "Irecv", p.Irecv(ints(x), 1, TypeInt, AnySource, 1, CommWorld, &r))
		ok(t, "Cancel", p.Cancel(&r))
		ok(t, "Wait", p.Wait(&r, &s))
		if ok(t, "TestCancelled", p.TestCancelled(&s, &flag)); flag != 1 {
			t.Error("the receive isn't cancelled")
		}
		ok(t, "Send", p.Send(ints([]int32{3}), 1, TypeInt, 0, 1, CommWorld))
		ok(t, "Irecv", p.Irecv(ints(x), 1, TypeInt, AnySource, 1, CommWorld, &r))
		ok(t, "Cancel", p.Cancel(&r))
		ok(t, "Wait", p.Wait(&r, &s))
		if ok(t, "TestCancelled", p.TestCancelled(&s, &flag)); flag != 0 || x[0] != 3 {
			t.Error("a receive that had its message is cancelled")
		}
		ok(t, "Issend", p.Issend(ints(x), 1, TypeInt, 0, 2, CommWorld, &r))
		ok(t, "Recv", p.Recv(ints(x), 1, TypeInt, 0, 2, CommWorld, &s))
		ok(t, "Cancel", p.Cancel(&r))
		if ok(t, "Wait", p.Wait(&r, &s)); s.Cancelled() {
			t.Error("a send is cancelled whose message was received")
		}
	})
}

// The operation of a freed request goes on. Its data arrives, also in a type that isn't
// contiguous, and also if the communicator is freed meanwhile.
func TestFreeActive(t *testing.T) {
	ranks(t, 2, func(t *testing.T, p *Process) {
		var comm Comm
		ok(t, "CommDup", p.CommDup(CommWorld, &comm))
		large := numbers(100_000, 1)
		var r Request
		if rankOf(p) == 0 {
			ok(t, "Isend", p.Isend(ints(large), int64(len(large)), TypeInt, 1, 1, comm, &r))
			ok(t, "RequestFree", p.RequestFree(&r))
			ok(t, "CommFree", p.CommFree(&comm))
			ok(t, "Recv", p.Recv(ints(large), 1, TypeInt, 1, 2, CommWorld, nil))
			return
		}
		got := make([]int32, len(large))
		ok(t, "Irecv", p.Irecv(ints(got), int64(len(large)), TypeInt, 0, 1, comm, &r))
		ok(t, "CommFree", p.CommFree(&comm))
		ok(t, "Wait", p.Wait(&r, nil))
		if !slices.Equal(got, large) {
			t.Error("the message is spoiled")
		}
		ok(t, "Send", p.Send(ints(large), 1, TypeInt, 0, 2, CommWorld))
	})
}
