package main

import (
	"slices"
	"sort"

	"banyan/examples/cg/matrixmarket"
)

// blocks divides rows into contiguous blocks of nearly the same size, one for each rank. It returns
// the first row of each block and its number of rows.
func blocks(rows, ranks int) (first, count []int) {
	for rank := range ranks {
		begin, end := rank*rows/ranks, (rank+1)*rows/ranks
		first, count = append(first, begin), append(count, end-begin)
	}
	return first, count
}

// block is the part of a square matrix that one rank owns: some rows, compressed.
// Its columns are numbered for a local vector: first the rank's own elements,
// then those of others that its rows refer to, the halo.
type block struct {
	total        int       // rows of the whole matrix
	first, count int       // rows owned
	start        []int     // entries of row i are start[i] … start[i+1]-1
	column       []int32   // of each entry, in the local vector
	value        []float64 // of each entry
	diagonal     []float64 // of each row
	halo         []int32   // rows, in the whole matrix, of the halo's elements, ascending
}

// newBlock makes a block from its entries, in the order of their rows. Each row
// has an entry on the diagonal.
func newBlock(total, first, count int, entries []matrixmarket.Entry) *block {
	b := &block{total: total, first: first, count: count, start: make([]int, count+1), diagonal: make([]float64, count)}
	for _, e := range entries {
		if !b.owns(e.Column) {
			b.halo = append(b.halo, e.Column)
		}
	}
	slices.Sort(b.halo)
	b.halo = slices.Compact(b.halo)
	for i, e := range entries {
		row := int(e.Row) - first
		column := e.Column - int32(first)
		if !b.owns(e.Column) {
			at, _ := slices.BinarySearch(b.halo, e.Column)
			column = int32(count + at)
		}
		b.start[row+1] = i + 1
		b.column = append(b.column, column)
		b.value = append(b.value, e.Value)
		if e.Row == e.Column {
			b.diagonal[row] = e.Value
		}
	}
	return b
}

func (b *block) owns(column int32) bool {
	return int(column) >= b.first && int(column) < b.first+b.count
}

// vector returns a local vector of zeros, with its halo.
func (b *block) vector() []float64 { return make([]float64, b.count+len(b.halo)) }

// needs returns the range of the halo's elements that belong to rows first … first+count-1.
func (b *block) needs(first, count int) (begin, end int) {
	at := func(row int) int {
		return sort.Search(len(b.halo), func(i int) bool { return int(b.halo[i]) >= row })
	}
	return at(first), at(first + count)
}

// multiply computes y = A·x for the rows owned; x has its halo.
func (b *block) multiply(y, x []float64) {
	for row := range y {
		sum := 0.0
		for i := b.start[row]; i < b.start[row+1]; i++ {
			sum += b.value[i] * x[b.column[i]]
		}
		y[row] = sum
	}
}
