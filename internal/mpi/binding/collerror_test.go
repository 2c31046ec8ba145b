package binding

import (
	"testing"
	"unsafe"
)

func address[T any](s []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }

// Wrong arguments are found before anything is sent, with the standard's classes.
func TestCollectiveArguments(t *testing.T) {
	returning(t, 1, func(t *testing.T, p *Process) {
		b, r := numbers(8, 0), RequestNull
		var derived, uncommitted Datatype
		ok(t, "TypeContiguous", p.TypeContiguous(2, TypeInt, &derived))
		ok(t, "TypeCommit", p.TypeCommit(&derived))
		ok(t, "TypeContiguous", p.TypeContiguous(2, TypeInt, &uncommitted))
		buf, out := ints(b), ints(b[4:])
		one := small(1)
		for _, c := range []struct {
			what string
			got  Code
			want Code
		}{
			{"no communicator", p.Barrier(Blocking("MPI_Barrier"), CommNull), ErrComm},
			{"a root too large", p.Bcast(Blocking("MPI_Bcast"), buf, 1, TypeInt, 1, CommWorld), ErrRoot},
			{"a negative root", p.Bcast(Nonblocking("MPI_Ibcast", &r), buf, 1, TypeInt, -1, CommWorld), ErrRoot},
			{"a negative count", p.Bcast(Blocking("MPI_Bcast"), buf, -1, TypeInt, 0, CommWorld), ErrCount},
			{"no type", p.Bcast(Blocking("MPI_Bcast"), buf, 1, DatatypeNull, 0, CommWorld), ErrType},
			{"an uncommitted type", p.Bcast(Blocking("MPI_Bcast"), buf, 1, uncommitted, 0, CommWorld), ErrType},
			{"no buffer", p.Bcast(Blocking("MPI_Bcast"), nil, 1, TypeInt, 0, CommWorld), ErrBuffer},
			{"a broadcast in place", p.Bcast(Blocking("MPI_Bcast"), InPlace, 1, TypeInt, 0, CommWorld), ErrBuffer},
			{"no operation", p.Allreduce(Blocking("MPI_Allreduce"), buf, out, 1, TypeInt, OpNull, CommWorld), ErrOp},
			{"an operation of a derived type", p.Allreduce(Blocking("MPI_Allreduce"), buf, out, 1, derived, OpSum, CommWorld), ErrOp},
			{"an operation not defined for the type", p.Allreduce(Blocking("MPI_Allreduce"), buf, out, 1, TypeFloat, OpBand, CommWorld), ErrOp},
			{"a result in place", p.Allreduce(Blocking("MPI_Allreduce"), buf, InPlace, 1, TypeInt, OpSum, CommWorld), ErrBuffer},
			{"parts that differ", p.Gather(Blocking("MPI_Gather"), buf, 2, TypeInt, out, 1, TypeInt, 0, CommWorld), ErrCount},
			{"a negative part", p.Gather(Blocking("MPI_Gather"), buf, 1, TypeInt, out, -1, TypeInt, 0, CommWorld), ErrCount},
			{"no counts", p.Allgatherv(Blocking("MPI_Allgatherv"), buf, 1, TypeInt, out, Counts{}, one, TypeInt, CommWorld), ErrArg},
			{"no types", p.Alltoallw(Blocking("MPI_Alltoallw"), buf, one, one, nil, out, one, one, nil, CommWorld), ErrArg},
			{"a negative count in a list", p.ReduceScatter(Blocking("MPI_Reduce_scatter"), buf, out, small(-1), TypeInt, OpSum, CommWorld), ErrCount},
			{"no topology", p.NeighborAllgather(Blocking("MPI_Neighbor_allgather"), buf, 1, TypeInt, out, 1, TypeInt, CommWorld), ErrTopology},
			{"in place", p.Scan(Blocking("MPI_Scan"), InPlace, buf, 1, TypeInt, OpSum, CommWorld), Success},
			{"nothing", p.Allreduce(Blocking("MPI_Allreduce"), nil, nil, 0, TypeInt, OpSum, CommWorld), Success},
		} {
			wantCode(t, c.what, c.got, c.want)
		}
		if r != RequestNull {
			t.Error("an operation that wasn't started has a request")
		}
	})
}

// Ranks that wait in a collective get an error when another dies.
func TestCollectiveOfTheDead(t *testing.T) {
	returning(t, 3, func(t *testing.T, p *Process) {
		if rankOf(p) == 1 {
			p.job.(*testMember).Die()
			return
		}
		a, b := numbers(2, 0), numbers(2, 0)
		var r Request
		ok(t, "Iallreduce", p.Allreduce(Nonblocking("MPI_Iallreduce", &r), ints(a), ints(b), 2, TypeInt, OpSum, CommWorld))
		wantCode(t, "Wait", p.Wait(&r, nil), ErrProcFailed)
		wantCode(t, "Barrier", p.Barrier(Blocking("MPI_Barrier"), CommWorld), ErrProcFailed)
		p.job.(*testMember).Die()
	})
}

// Predefined operations on their types, a pair with padding among them.
func TestPredefinedReductions(t *testing.T) {
	ranks(t, 4, func(t *testing.T, p *Process) {
		type doubleInt struct {
			value float64
			index int32
		}
		me := int32(rankOf(p))
		in := []doubleInt{{float64((me * 3) % 4), me}, {1, 10 - me}}
		out := make([]doubleInt, 2)
		ok(t, "Allreduce", p.Allreduce(Blocking("MPI_Allreduce"), address(in), address(out), 2, TypeDoubleInt, OpMaxloc, CommWorld))
		if out[0] != (doubleInt{3, 1}) || out[1] != (doubleInt{1, 7}) {
			t.Errorf("MAXLOC: %v", out)
		}
		sum, x := []float64{0}, []float64{0.5}
		ok(t, "Reduce", p.Reduce(Blocking("MPI_Reduce"), address(x), address(sum), 1, TypeDouble, OpSum, 2, CommWorld))
		if me == 2 && sum[0] != 2 {
			t.Errorf("SUM: %v", sum)
		}
	})
}
