package binding

import (
	"testing"
	"unsafe"
)

// After the loss of a rank, a program can still make communicators that need no message from
// the dead rank: a duplicate, which lacks the same rank, and a communicator of the live ranks,
// in which everything works. MPI_Comm_split of the world needs all ranks, and fails at all live
// ones.
func TestCommunicatorsAfterALoss(t *testing.T) {
	returning(t, 4, func(t *testing.T, p *Process) {
		if rankOf(p) == 1 {
			p.job.(*testMember).Die()
			return
		}
		wantCode(t, "Barrier", p.Barrier(Blocking("MPI_Barrier"), CommWorld), ErrProcFailed)
		var half, dup Comm
		wantCode(t, "CommSplit", p.CommSplit(CommWorld, int32(rankOf(p)/2), 0, &half), ErrProcFailed)

		ok(t, "CommDup", p.CommDup(CommWorld, &dup))
		ok(t, "CommSetErrhandler", p.CommSetErrhandler(dup, ErrorsReturn))
		wantCode(t, "Barrier of the duplicate", p.Barrier(Blocking("MPI_Barrier"), dup), ErrProcFailed)
		wantCode(t, "Send to the dead", p.Send(nil, 0, TypeByte, 1, 0, dup), ErrProcFailed)
		x := int32(rankOf(p))
		ok(t, "Bcast of the duplicate", p.Bcast(Blocking("MPI_Bcast"), unsafe.Pointer(&x), 1, TypeInt, 2, dup))
		if x != 2 {
			t.Errorf("the broadcast brings %d", x)
		}

		var world, living Group
		dead := int32(1)
		ok(t, "CommGroup", p.CommGroup(CommWorld, &world))
		ok(t, "GroupExcl", p.GroupExcl(world, 1, &dead, &living))
		for _, what := range []string{"MPI_Comm_create", "MPI_Comm_create_group"} { // in one order at all ranks
			var rest Comm
			if what == "MPI_Comm_create" {
				ok(t, what, p.CommCreate(CommWorld, living, &rest))
			} else {
				ok(t, what, p.CommCreateGroup(CommWorld, living, 0, &rest))
			}
			ok(t, "CommSetErrhandler", p.CommSetErrhandler(rest, ErrorsReturn))
			one, sum := int32(1), int32(0)
			ok(t, what+", Allreduce", p.Allreduce(Blocking("MPI_Allreduce"), unsafe.Pointer(&one), unsafe.Pointer(&sum), 1, TypeInt, OpSum, rest))
			if sum != 3 {
				t.Errorf("%s: the sum is %d", what, sum)
			}
		}
	})
}
