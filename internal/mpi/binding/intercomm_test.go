package binding

import (
	"strings"
	"sync"
	"testing"
	"unsafe"
)

// halves connects the lower half of the ranks with the upper one. Their leaders are the highest
// rank of the one and the lowest of the other.
func halves(p *Process) (group, inter Comm, code Code) {
	var size int32
	p.CommSize(CommWorld, &size)
	upper := int32(truth(rankOf(p) >= int(size)/2))
	if code = p.CommSplit(CommWorld, upper, 0, &group); code != Success {
		return group, CommNull, code
	}
	leader, other := size/2-1, size/2
	if upper == 1 {
		leader, other = 0, size/2-1
	}
	code = p.IntercommCreate(group, leader, CommWorld, other, 3, &inter)
	return group, inter, code
}

// If a leader dies, everyone in both groups gets an error that says so.
func TestIntercommWithoutALeader(t *testing.T) {
	var ready sync.WaitGroup // until the others have their groups
	ready.Add(3)
	returning(t, 4, func(t *testing.T, p *Process) {
		var group, inter Comm
		ok(t, "CommSplit", p.CommSplit(CommWorld, int32(rankOf(p)/2), 0, &group))
		ok(t, "CommSetErrhandler", p.CommSetErrhandler(group, ErrorsReturn))
		if rankOf(p) == 2 {
			ready.Wait()
			p.job.(*testMember).Die()
			return
		}
		ready.Done()
		leader, other := int32(1), int32(2)
		if rankOf(p) > 2 {
			leader, other = 0, 1
		}
		wantCode(t, "IntercommCreate", p.IntercommCreate(group, leader, CommWorld, other, 0, &inter), ErrProcFailed)
		if inter != CommNull {
			t.Errorf("there is an intercommunicator %#x", inter)
		}
	})
}

// A receive from any source isn't concerned by a death in its own group, and is by one in the
// other group.
func TestIntercommAnySource(t *testing.T) {
	var ready sync.WaitGroup // until the others are connected
	ready.Add(5)
	returning(t, 6, func(t *testing.T, p *Process) {
		_, inter, code := halves(p)
		ok(t, "IntercommCreate", code)
		ok(t, "CommSetErrhandler", p.CommSetErrhandler(inter, ErrorsReturn))
		if rankOf(p) == 5 {
			ready.Wait()
			p.job.(*testMember).Die()
			return
		}
		ready.Done()
		x := int32(rankOf(p))
		switch rankOf(p) {
		case 4: // this is in 5's group, and its receive goes on
			var in int32
			ok(t, "Recv", p.Recv(unsafe.Pointer(&in), 1, TypeInt, AnySource, 1, inter, nil))
			if in != 0 {
				t.Errorf("received %d", in)
			}
		case 0:
			wantCode(t, "Recv", p.Recv(unsafe.Pointer(&x), 1, TypeInt, AnySource, 0, inter, nil), ErrProcFailed)
			ok(t, "Send", p.Send(unsafe.Pointer(&x), 1, TypeInt, 1, 1, inter)) // to 4, who may know of the death
			ok(t, "CommFailureAck", p.CommFailureAck(inter))
			ok(t, "Recv", p.Recv(unsafe.Pointer(&x), 1, TypeInt, AnySource, 2, inter, nil))
		case 3:
			ok(t, "Send", p.Send(unsafe.Pointer(&x), 1, TypeInt, 0, 2, inter))
		}
	})
}

// Messages about wrong arguments name the groups' sizes.
func TestIntercommMessages(t *testing.T) {
	var mu sync.Mutex
	var said []string
	expectAbort(t, func(_ int, why string) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, why)
	})
	ranks(t, 2, func(t *testing.T, p *Process) {
		_, inter, code := halves(p)
		ok(t, "IntercommCreate", code)
		ok(t, "CommSetName", p.CommSetName(inter, cString("the pair")))
		x := int32(0)
		p.Bcast(Blocking("MPI_Bcast"), unsafe.Pointer(&x), 1, TypeInt, 5, inter)
	})
	const want = "MPI_Bcast on the pair, rank 0: the root is 5: neither MPI_ROOT nor MPI_PROC_NULL, and the remote group has 1 ranks (MPI_ERR_ROOT)"
	for _, s := range said {
		if !strings.Contains(s, want) {
			t.Errorf("said %q", s)
		}
	}
	if len(said) != 2 {
		t.Errorf("%d ranks abort", len(said))
	}
}
