package binding

import (
	"slices"
	"testing"
)

// Exchanges along a line whose ends have MPI_PROC_NULL as neighbour, blocking and not.
func TestSendrecv(t *testing.T) {
	const n = 3
	ranks(t, n, func(t *testing.T, p *Process) {
		me := int32(rankOf(p))
		right, left := me+1, me-1
		if right == n {
			right = ProcNull
		}
		if left < 0 {
			left = ProcNull
		}
		for _, size := range []int{1, 40_000} {
			out, in := numbers(size, int(me)), numbers(size, 99)
			want := numbers(size, int(left))
			var s Status
			check := func(what string, code Code, got []int32) {
				t.Helper()
				ok(t, what, code)
				if left == ProcNull {
					wantStatus(t, what, &s, ProcNull, AnyTag, 0)
					return
				}
				wantStatus(t, what, &s, left, 5, int64(4*size))
				if !slices.Equal(got, want) {
					t.Errorf("%s: the message is spoiled", what)
				}
			}
			check("Sendrecv", p.Sendrecv(ints(out), int64(size), TypeInt, right, 5, ints(in), int64(size), TypeInt, left, 5, CommWorld, &s), in)
			both := slices.Clone(out)
			check("SendrecvReplace", p.SendrecvReplace(ints(both), int64(size), TypeInt, right, 5, left, 5, CommWorld, &s), both)
			var r Request
			clear(in)
			ok(t, "Isendrecv", p.Isendrecv(ints(out), int64(size), TypeInt, right, 5, ints(in), int64(size), TypeInt, left, 5, CommWorld, &r))
			check("Isendrecv", p.Wait(&r, &s), in)
			both = slices.Clone(out)
			ok(t, "IsendrecvReplace", p.IsendrecvReplace(ints(both), int64(size), TypeInt, right, 5, left, 5, CommWorld, &r))
			check("IsendrecvReplace", p.Wait(&r, &s), both)
		}
	})
}
