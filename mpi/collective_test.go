package mpi_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"banyan/mpi"
)

func TestCollectives(t *testing.T) {
	inEveryShape(t, func(w *mpi.Comm) error {
		n, me := w.Size(), w.Rank()
		all := make([]int, n)
		for i := range all {
			all[i] = i * i
		}
		for root := range n {
			for _, length := range []int{0, 1, 1000, 8192, 8192 * 3, 50_000} { // 8192 elements fill a segment
				b := make([]int, length)
				if me == root {
					for i := range b {
						b[i] = i + root
					}
				}
				if err := mpi.Bcast(w, b, root); err != nil {
					return err
				}
				for i := range b {
					if b[i] != i+root {
						return fmt.Errorf("Bcast of %d from %d: element %d is %d", length, root, i, b[i])
					}
				}
			}
			if err := w.Barrier(); err != nil {
				return err
			}
			sum := make([]int, 2)
			if err := mpi.Reduce(w, []int{me, 1}, sum, mpi.Sum, root); err != nil {
				return err
			}
			if me == root {
				if err := want("Reduce", sum, []int{n * (n - 1) / 2, n}); err != nil {
					return err
				}
			}
			got := make([]int, n)
			if err := mpi.Gather(w, []int{me * me}, got, root); err != nil {
				return err
			}
			if me == root {
				if err := want("Gather", got, all); err != nil {
					return err
				}
			}
			part := make([]int, 1)
			if err := mpi.Scatter(w, all, part, root); err != nil {
				return err
			}
			if err := want("Scatter", part, []int{me * me}); err != nil {
				return err
			}
		}
		got := make([]int, n)
		if err := mpi.Allgather(w, []int{me * me}, got); err != nil {
			return err
		}
		if err := want("Allgather", got, all); err != nil {
			return err
		}
		scan := make([]int, 1)
		if err := mpi.Scan(w, []int{me + 1}, scan, mpi.Sum); err != nil {
			return err
		}
		if err := want("Scan", scan, []int{(me + 1) * (me + 2) / 2}); err != nil {
			return err
		}
		send, recv := make([]int, 2*n), make([]int, 2*n)
		for i := range send {
			send[i] = 1000*me + i
		}
		if err := mpi.Alltoall(w, send, recv); err != nil {
			return err
		}
		for i := range recv {
			if recv[i] != 1000*(i/2)+2*me+i%2 {
				return fmt.Errorf("Alltoall: %v", recv)
			}
		}
		return nil
	})
}

func TestVectorCollectives(t *testing.T) {
	inEveryShape(t, func(w *mpi.Comm) error {
		n, me := w.Size(), w.Rank()
		counts := make([]int, n)
		var whole []int16
		for i := range counts {
			counts[i] = (i * 3) % 4
			for j := range counts[i] {
				whole = append(whole, int16(10*i+j))
			}
		}
		mine := make([]int16, counts[me])
		if err := mpi.Scatterv(w, whole, counts, mine, 0); err != nil {
			return err
		}
		got := make([]int16, len(whole))
		if err := mpi.Gatherv(w, mine, got, counts, n-1); err != nil {
			return err
		}
		if me == n-1 {
			if err := want("Gatherv", got, whole); err != nil {
				return err
			}
		}
		clear(got)
		if err := mpi.Allgatherv(w, mine, got, counts); err != nil {
			return err
		}
		return want("Allgatherv", got, whole)
	})
}

// affine is a map x → a·x + b; composing such maps is associative and not
// commutative, so the order of a reduction shows.
func affine(inout, in []int64) {
	const m = 1_000_003
	for i := 0; i+1 < len(inout); i += 2 {
		a, b := inout[i], inout[i+1]
		inout[i], inout[i+1] = a*in[i]%m, (b*in[i]+in[i+1])%m
	}
}

func TestReductionsKeepRankOrder(t *testing.T) {
	inEveryShape(t, func(w *mpi.Comm) error {
		for _, pairs := range []int{1, 3, 10_000} { // the last is scattered
			of := func(rank int) []int64 {
				v := make([]int64, 2*pairs)
				for i := range v {
					v[i] = int64(rank*7 + i%11 + 2)
				}
				return v
			}
			expect := of(0)
			upTo := slices.Clone(expect)
			for r := 1; r < w.Size(); r++ {
				affine(expect, of(r))
				if r <= w.Rank() {
					upTo = slices.Clone(expect)
				}
			}
			got := make([]int64, 2*pairs)
			// Scattered, the data is cut between elements: pairs of them would be torn.
			if pairs < 10_000 {
				if err := mpi.Allreduce(w, of(w.Rank()), got, affine); err != nil {
					return err
				}
				if err := want("Allreduce", got, expect); err != nil {
					return err
				}
			}
			if err := mpi.Scan(w, of(w.Rank()), got, affine); err != nil {
				return err
			}
			if err := want("Scan", got, upTo); err != nil {
				return err
			}
			for root := range w.Size() {
				if err := mpi.Reduce(w, of(w.Rank()), got, affine, root); err != nil {
					return err
				}
				if w.Rank() == root {
					if err := want("Reduce", got, expect); err != nil {
						return err
					}
				}
			}
		}
		// Single elements are scattered too; their sums are exact.
		const many = 20_000
		digit := make([]float64, many)
		for i := range digit {
			digit[i] = float64((w.Rank() + i) % 9)
		}
		sum := make([]float64, many)
		if err := mpi.Allreduce(w, digit, sum, mpi.Sum); err != nil {
			return err
		}
		for i := range sum {
			expect := 0.0
			for r := range w.Size() {
				expect += float64((r + i) % 9)
			}
			if sum[i] != expect {
				return fmt.Errorf("element %d: %v, want %v", i, sum[i], expect)
			}
		}
		return nil
	})
}

func TestMismatchedBcast(t *testing.T) {
	for _, lengths := range [][2]int{{10, 20}, {65536, 10}, {10, 65536}, {65536, 131072}, {200_000, 65536}} {
		local(t, 2, func(w *mpi.Comm) error {
			err := mpi.Bcast(w, make([]byte, lengths[w.Rank()]), 0)
			if w.Rank() == 1 && !errors.Is(err, mpi.ErrMismatch) {
				return fmt.Errorf("lengths %v: %v", lengths, err)
			}
			return nil
		})
	}
}

// Rank i sends (i+2j) mod 4 elements to rank j.
func TestAlltoallv(t *testing.T) {
	inEveryShape(t, func(w *mpi.Comm) error {
		n, me := w.Size(), w.Rank()
		part := func(from, to int) (elements []int32) {
			for i := range (from + 2*to) % 4 {
				elements = append(elements, int32(100*from+10*to+i))
			}
			return elements
		}
		var send, expect []int32
		sendCounts, recvCounts := make([]int, n), make([]int, n)
		for peer := range n {
			send, sendCounts[peer] = append(send, part(me, peer)...), len(part(me, peer))
			expect, recvCounts[peer] = append(expect, part(peer, me)...), len(part(peer, me))
		}
		got := make([]int32, len(expect))
		if err := mpi.Alltoallv(w, send, sendCounts, got, recvCounts); err != nil {
			return err
		}
		if err := mpi.Alltoallv(w, send, nil, got, recvCounts); !errors.Is(err, mpi.ErrSize) {
			return fmt.Errorf("without counts: %v", err)
		}
		return want("Alltoallv", got, expect)
	})
}
