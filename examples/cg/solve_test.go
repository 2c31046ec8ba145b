package main

import (
	"errors"
	"strings"
	"testing"

	"banyan/examples/cg/matrixmarket"
)

// alone is a team of one rank.
type alone struct{ broken error }

func (a alone) exchange([]float64) error { return nil }
func (a alone) sum([]float64) error      { return a.broken }

func quiet(int, float64) {}

// laplacian returns the matrix of a string of springs: 2 on the diagonal, -1 beside it.
func laplacian(rows int) *block {
	var entries []matrixmarket.Entry
	for i := range int32(rows) {
		if i > 0 {
			entries = append(entries, matrixmarket.Entry{Row: i, Column: i - 1, Value: -1})
		}
		entries = append(entries, matrixmarket.Entry{Row: i, Column: i, Value: 2})
		if int(i) < rows-1 {
			entries = append(entries, matrixmarket.Entry{Row: i, Column: i + 1, Value: -1})
		}
	}
	return newBlock(rows, 0, rows, entries)
}

func TestSolve(t *testing.T) {
	a := laplacian(50)
	known, b := a.vector(), make([]float64, a.count)
	for i := range known {
		known[i] = float64(i % 7)
	}
	a.multiply(b, known)
	last := -1.0
	x, iterations, err := solve(a, b, alone{}, 1e-12, 100, func(_ int, residual float64) { last = residual })
	if err != nil {
		t.Fatal(err)
	}
	// Without rounding errors it takes at most as many iterations as there are rows.
	if iterations > 60 || last > 1e-12 {
		t.Errorf("%d iterations to a residual of %g", iterations, last)
	}
	for i := range x {
		if d := x[i] - known[i]; d < -1e-9 || d > 1e-9 {
			t.Errorf("x[%d] = %g, want %g", i, x[i], known[i])
		}
	}
}

func TestSolveZero(t *testing.T) {
	x, iterations, err := solve(laplacian(3), make([]float64, 3), alone{}, 1e-10, 10, quiet)
	if err != nil || iterations != 0 || norm(x) != 0 {
		t.Errorf("x %v after %d iterations, error %v", x, iterations, err)
	}
}

func TestSolveErrors(t *testing.T) {
	b := []float64{1, 0, 0, 0, 0}
	if _, _, err := solve(laplacian(5), b, alone{}, 1e-10, 2, quiet); err == nil || !strings.Contains(err.Error(), "not converged after 2") {
		t.Errorf("too few iterations: %v", err)
	}
	indefinite := newBlock(2, 0, 2, []matrixmarket.Entry{
		{Row: 0, Column: 0, Value: 1}, {Row: 0, Column: 1, Value: 2}, {Row: 1, Column: 0, Value: 2}, {Row: 1, Column: 1, Value: 1}})
	if _, _, err := solve(indefinite, []float64{1, -1}, alone{}, 1e-10, 10, quiet); !errors.Is(err, errIndefinite) {
		t.Errorf("indefinite: %v", err)
	}
	broken := errors.New("broken")
	if _, _, err := solve(laplacian(5), b, alone{broken}, 1e-10, 10, quiet); !errors.Is(err, broken) {
		t.Errorf("broken team: %v", err)
	}
}

// TestSolveBcsstk16 checks that the demo's system takes a sane number of iterations.
func TestSolveBcsstk16(t *testing.T) {
	m, err := load("data/bcsstk16.mtx.gz")
	if err != nil {
		t.Fatal(err)
	}
	a := newBlock(m.Rows, 0, m.Rows, m.Entries)
	ones, b := a.vector(), make([]float64, a.count)
	for i := range ones {
		ones[i] = 1
	}
	a.multiply(b, ones)
	x, iterations, err := solve(a, b, alone{}, 1e-10, 2000, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if iterations < 50 || iterations > 400 || worst(x, 1) > 1e-6 {
		t.Errorf("%d iterations, largest error %g", iterations, worst(x, 1))
	}
	t.Logf("%d iterations, largest error %g", iterations, worst(x, 1))
}

func TestLoadErrors(t *testing.T) {
	const real = "%%MatrixMarket matrix coordinate real general\n"
	tests := []struct{ name, text, want string }{
		{"not square", real + "1 2 0\n", "1 by 2, not square"},
		{"no rows", real + "0 0 0\n", "0 by 0, not square"},
		{"no mirror", real + "2 2 3\n1 1 1\n2 2 1\n2 1 1\n", "isn't symmetric at (2, 1)"},
		{"other mirror", real + "2 2 4\n1 1 1\n2 2 1\n2 1 1\n1 2 2\n", "isn't symmetric at (1, 2)"},
		{"no diagonal", real + "3 3 2\n1 1 1\n3 3 1\n", "row 2 has no positive value on the diagonal"},
		{"negative diagonal", real + "2 2 2\n1 1 1\n2 2 -1\n", "row 2 has no positive value on the diagonal"},
		{"huge", real + "2147483647 2147483647 1\n1 1 1\n", "row 2 has no positive value on the diagonal"},
	}
	for _, test := range tests {
		m, err := matrixmarket.Read(strings.NewReader(test.text))
		if err != nil {
			t.Fatal(err)
		}
		if err := suits(m); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want …%s…", test.name, err, test.want)
		}
	}
	if _, err := load("data/none.mtx"); err == nil {
		t.Error("no error for a file that doesn't exist")
	}
}
