package main

import (
	"math/rand/v2"
	"slices"
	"testing"

	"banyan/examples/cg/matrixmarket"
)

func TestBlocks(t *testing.T) {
	for rows := range 20 {
		for ranks := 1; ranks < 25; ranks++ {
			next := 0
			first, count := blocks(rows, ranks)
			for rank := range ranks {
				if first[rank] != next || count[rank] < rows/ranks || count[rank] > (rows+ranks-1)/ranks {
					t.Fatalf("%d rows on %d ranks: blocks %v of %v", rows, ranks, first, count)
				}
				next += count[rank]
			}
			if next != rows {
				t.Fatalf("%d rows on %d ranks: %v covers %d", rows, ranks, count, next)
			}
		}
	}
}

// TestMultiplyInBlocks compares the product by blocks, for every division, with the product by the
// whole matrix, to the bit.
func TestMultiplyInBlocks(t *testing.T) {
	const rows = 23
	random := rand.New(rand.NewPCG(1, 2))
	var entries []matrixmarket.Entry
	for row := range int32(rows) {
		for column := range int32(rows) {
			if row == column || random.IntN(4) == 0 {
				entries = append(entries, matrixmarket.Entry{Row: row, Column: column, Value: random.Float64()})
			}
		}
	}
	x := make([]float64, rows)
	for i := range x {
		x[i] = random.Float64()
	}
	want := make([]float64, rows)
	newBlock(rows, 0, rows, entries).multiply(want, x)

	for ranks := 1; ranks < 30; ranks++ {
		firsts, counts := blocks(rows, ranks)
		rest := entries
		var got []float64
		for rank, n := range divide(entries, firsts, counts) {
			b := newBlock(rows, firsts[rank], counts[rank], rest[:n])
			rest = rest[n:]
			local := b.vector()
			copy(local, x[b.first:b.first+b.count])
			for owner := range ranks {
				begin, end := b.needs(firsts[owner], counts[owner])
				if owner == rank && begin != end {
					t.Fatalf("rank %d of %d needs %d of its own elements", rank, ranks, end-begin)
				}
				for i := begin; i < end; i++ {
					row := int(b.halo[i])
					if row < firsts[owner] || row >= firsts[owner]+counts[owner] {
						t.Fatalf("row %d isn't rank %d's", row, owner)
					}
					local[b.count+i] = x[row]
				}
			}
			y := make([]float64, b.count)
			b.multiply(y, local)
			got = append(got, y...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d ranks: %v, want %v", ranks, got, want)
		}
	}
}
