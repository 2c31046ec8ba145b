package comm_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"

	"banyan/internal/mpi/comm"
)

// affine composes maps x → a·x + b modulo 251, of two bytes each: associative and
// not commutative, so the order of a reduction shows.
func affine(left, right []byte) {
	for i := 0; i < len(left); i += 2 {
		a, b := int(left[i]), int(left[i+1])
		left[i], left[i+1] = byte(a*int(right[i])%251), byte((b*int(right[i])+int(right[i+1]))%251)
	}
}

// piece is one collective of a medley: its plan and the expected result.
type piece struct {
	name string
	plan *comm.Plan
	want func() error
}

// data are the bytes that a rank gives to collective number i. Every rank can compute those of all
// ranks.
func data(i, rank, n int) []byte {
	b := make([]byte, n)
	for k := range b {
		b[k] = byte(1 + (i*31+rank*7+k*k)%250)
	}
	return b
}

func equal(have, want []byte) func() error {
	return func() error {
		if !bytes.Equal(have, want) {
			return fmt.Errorf("another result in %d bytes", len(want))
		}
		return nil
	}
}

// sizes are those of the collectives in a medley, in bytes: for both protocols and all algorithms.
var sizes = []int{0, 2, 14, 1000, 40_000, 150_000}

// choose is the i-th random collective of a medley, the same at all ranks.
func choose(rng *rand.Rand, w *comm.Comm, i int) piece {
	n, me := w.Size(), w.Rank()
	m, root := sizes[rng.IntN(len(sizes))], rng.IntN(n)
	op := comm.Op{Combiner: comm.Func(affine), Size: 2, Foreign: rng.IntN(2) == 0}
	fold := func(from, to int) []byte {
		acc := data(i, from, m)
		for r := from + 1; r < to; r++ {
			affine(acc, data(i, r, m))
		}
		return acc
	}
	var everyone []byte
	for r := range n {
		everyone = append(everyone, data(i, r, m)...)
	}
	send, recv := data(i, me, m), make([]byte, m)
	nothing := func() error { return nil }
	switch rng.IntN(11) {
	case 0:
		return piece{"barrier", w.Barrier(), nothing}
	case 1:
		if me == root {
			copy(recv, send)
		}
		return piece{"bcast", w.Bcast(recv, root), equal(recv, data(i, root, m))}
	case 2:
		want := equal(recv, fold(0, n))
		if me != root {
			want = nothing
		}
		return piece{"reduce", w.Reduce(send, recv, op, root), want}
	case 3:
		return piece{"allreduce", w.Allreduce(send, recv, op), equal(recv, fold(0, n))}
	case 4:
		return piece{"scan", w.Scan(send, recv, op), equal(recv, fold(0, me+1))}
	case 5:
		if me == 0 {
			return piece{"exscan", w.Exscan(send, recv, op), nothing}
		}
		return piece{"exscan", w.Exscan(send, recv, op), equal(recv, fold(0, me))}
	case 6:
		all := make([]byte, n*m)
		want := equal(all, everyone)
		if me != root {
			want = nothing
		}
		return piece{"gather", w.Gather(send, all, root), want}
	case 7:
		return piece{"scatter", w.Scatter(everyone, recv, root), equal(recv, send)}
	case 8:
		all := make([]byte, n*m)
		return piece{"allgather", w.Allgather(send, all), equal(all, everyone)}
	case 9:
		all := make([]byte, n*m)
		var want []byte
		for r := range n {
			want = append(want, data(i+r, me, m)...)
		}
		var out []byte
		for r := range n {
			out = append(out, data(i+me, r, m)...)
		}
		return piece{"alltoall", w.Alltoall(out, all, 1), equal(all, want)}
	default:
		parts := make([]int, n)
		whole := 0
		for r := range n {
			parts[r] = (r * 3) % 5 * m / 20
			if r == me {
				recv = make([]byte, 2*parts[r])
			}
			whole += 2 * parts[r]
		}
		sum := data(i, 0, whole)
		for r := 1; r < n; r++ {
			affine(sum, data(i, r, whole))
		}
		at := 0
		for r := range me {
			at += 2 * parts[r]
		}
		return piece{"reduce-scatter", w.ReduceScatter(data(i, me, whole), recv, slices.Clone(parts), op),
			equal(recv, sum[at:at+len(recv)])}
	}
}
