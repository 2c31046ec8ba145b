package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"banyan/examples/cg/matrixmarket"
	"banyan/mpi"
)

var errNotRead = errors.New("rank 0 has no matrix")

// distribute reads the matrix at rank 0 and gives every rank its block of rows. It
// returns the number of entries of the whole matrix too. If the matrix can't be
// used, rank 0 returns why, and the others errNotRead.
func distribute(world *mpi.Comm, name string) (*block, int, error) {
	var whole *matrixmarket.Matrix
	var cause error
	sizes := []int64{-1, -1} // rows and entries; negative: there is no matrix
	if world.Rank() == 0 {
		if whole, cause = load(name); cause == nil {
			sizes[0], sizes[1] = int64(whole.Rows), int64(len(whole.Entries))
		}
	}
	if err := mpi.Bcast(world, sizes, 0); err != nil {
		return nil, 0, err
	}
	if sizes[0] < 0 {
		if cause == nil {
			cause = errNotRead
		}
		return nil, 0, cause
	}

	firsts, counts := blocks(int(sizes[0]), world.Size())
	var portions []int64 // number of entries of each rank
	var rows, columns []int32
	var values []float64
	if world.Rank() == 0 {
		portions = divide(whole.Entries, firsts, counts)
		for _, e := range whole.Entries {
			rows, columns, values = append(rows, e.Row), append(columns, e.Column), append(values, e.Value)
		}
	}
	portion := make([]int64, 1)
	if err := mpi.Scatter(world, portions, portion, 0); err != nil {
		return nil, 0, err
	}
	myRows, myColumns, myValues := make([]int32, portion[0]), make([]int32, portion[0]), make([]float64, portion[0])
	lengths := make([]int, len(portions))
	for i, n := range portions {
		lengths[i] = int(n)
	}
	if err := mpi.Scatterv(world, rows, lengths, myRows, 0); err != nil {
		return nil, 0, err
	}
	if err := mpi.Scatterv(world, columns, lengths, myColumns, 0); err != nil {
		return nil, 0, err
	}
	if err := mpi.Scatterv(world, values, lengths, myValues, 0); err != nil {
		return nil, 0, err
	}
	entries := make([]matrixmarket.Entry, portion[0])
	for i := range entries {
		entries[i] = matrixmarket.Entry{Row: myRows[i], Column: myColumns[i], Value: myValues[i]}
	}
	rank := world.Rank()
	return newBlock(int(sizes[0]), firsts[rank], counts[rank], entries), int(sizes[1]), nil
}

// load reads a matrix and checks that the method can solve it.
func load(name string) (*matrixmarket.Matrix, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	m, err := matrixmarket.Read(file)
	if err == nil {
		err = suits(m)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// suits returns an error if a matrix isn't symmetric, or if its entries show that it isn't positive
// definite.
func suits(m *matrixmarket.Matrix) error {
	if m.Rows != m.Columns || m.Rows == 0 {
		return fmt.Errorf("the matrix is %d by %d, not square", m.Rows, m.Columns)
	}
	row := int32(0) // the row whose entry on the diagonal comes next
	for _, e := range m.Entries {
		mirror, found := slices.BinarySearchFunc(m.Entries, e, func(have, want matrixmarket.Entry) int {
			return compare(have.Row, have.Column, want.Column, want.Row)
		})
		if !found || m.Entries[mirror].Value != e.Value {
			return fmt.Errorf("the matrix isn't symmetric at (%d, %d)", e.Row+1, e.Column+1)
		}
		if e.Row == e.Column {
			if e.Row != row || !(e.Value > 0) {
				break
			}
			row++
		}
	}
	if int(row) < m.Rows {
		return fmt.Errorf("row %d has no positive value on the diagonal", row+1)
	}
	return nil
}

// compare orders the entries of a matrix by row, then column.
func compare(row1, column1, row2, column2 int32) int {
	if row1 != row2 {
		return int(row1) - int(row2)
	}
	return int(column1) - int(column2)
}

// divide returns how many entries each block of rows has.
func divide(entries []matrixmarket.Entry, firsts, counts []int) []int64 {
	portions := make([]int64, len(firsts))
	for rank := range firsts {
		end := int32(firsts[rank] + counts[rank])
		for len(entries) > 0 && entries[0].Row < end {
			portions[rank]++
			entries = entries[1:]
		}
	}
	return portions
}
