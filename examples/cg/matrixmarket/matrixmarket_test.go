package matrixmarket

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	tests := []struct {
		name, text string
		want       Matrix
	}{
		{"general real", "%%MatrixMarket matrix coordinate real general\n% a comment\n\n2 3 2\n2 3 -1.5e1\n1 1 2\n",
			Matrix{2, 3, []Entry{{0, 0, 2}, {1, 2, -15}}}},
		{"symmetric integer", "%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 1 4\n2 1 7\n",
			Matrix{2, 2, []Entry{{0, 0, 4}, {0, 1, 7}, {1, 0, 7}}}},
		{"pattern", "%%matrixmarket MATRIX Coordinate Pattern General\r\n1 2 1\r\n1 2\r\n",
			Matrix{1, 2, []Entry{{0, 1, 1}}}},
		{"duplicates", "%%MatrixMarket matrix coordinate real general\n1 1 3\n1 1 1\n1 1 2\n1 1 3",
			Matrix{1, 1, []Entry{{0, 0, 6}}}},
		{"empty matrix", "%%MatrixMarket matrix coordinate real general\n0 0 0\n", Matrix{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, text := range []string{test.text, compress(t, test.text)} {
				got, err := Read(strings.NewReader(text))
				if err != nil {
					t.Fatal(err)
				}
				if got.Rows != test.want.Rows || got.Columns != test.want.Columns || !slices.Equal(got.Entries, test.want.Entries) {
					t.Errorf("got %v, want %v", *got, test.want)
				}
			}
		})
	}
}

func TestReadErrors(t *testing.T) {
	const real = "%%MatrixMarket matrix coordinate real general\n"
	tests := []struct{ name, text, want string }{
		{"empty", "", "line 1: the file is empty"},
		{"something else", "hello\n", "line 1: not a Matrix Market file"},
		{"array", "%%MatrixMarket matrix array real general\n", "line 1: matrix array; only"},
		{"complex", "%%MatrixMarket matrix coordinate complex general\n", `line 1: values "complex"`},
		{"skew", "%%MatrixMarket matrix coordinate real skew-symmetric\n", `line 1: symmetry "skew-symmetric"`},
		{"no sizes", real + "% only this\n", "line 3: the file ends before the line with the sizes"},
		{"two sizes", real + "2 2\n", "line 2: 2 numbers, want 3"},
		{"negative size", real + "-1 2 1\n", "line 2: rows -1 is not between 0 and"},
		{"huge size", real + "99999999999999999999 2 1\n", "line 2: rows 99999999999999999999 is not between"},
		{"size no number", real + "2 two 1\n", `line 2: columns "two" is not an integer`},
		{"not square", "%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n", "line 2: symmetric, but 2 by 3"},
		{"too few", real + "2 2 2\n1 1 1\n", "line 4: the file ends before entry 2 of 2"},
		{"too many", real + "2 2 1\n1 1 1\n2 2 1\n", "line 4: more than the 1 entries"},
		{"row out of range", real + "2 2 1\n3 1 1\n", "line 3: row 3 is not between 1 and 2"},
		{"column zero", real + "2 2 1\n1 0 1\n", "line 3: column 0 is not between 1 and 2"},
		{"missing value", real + "2 2 1\n1 1\n", "line 3: 2 numbers, want 3"},
		{"no value", real + "2 2 1\n1 1 x\n", `line 3: value "x" is not a finite number`},
		{"infinite value", real + "2 2 1\n1 1 Inf\n", `line 3: value "Inf" is not a finite number`},
		{"fraction", "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 0.5\n", `line 3: value "0.5" is not an integer`},
		{"above the diagonal", "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n", "line 3: entry (1, 2) is above"},
		{"overflow", real + "1 1 2\n1 1 1e308\n1 1 1e308\n", "entry (1, 1) add up to infinity"},
		{"long line", real + strings.Repeat(" ", 2000), "line 2: more than 1024 characters"},
		{"cut gzip", compress(t, real+"2 2 1\n1 1 1\n")[:40], "line 1: reading: unexpected EOF"},
		{"bad gzip", "\x1f\x8bnonsense", "gzip: "},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Read(strings.NewReader(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want …%s…", err, test.want)
			}
		})
	}
}

func TestReadBcsstk16(t *testing.T) {
	file, err := os.Open("../data/bcsstk16.mtx.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	m, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	// The file has 147,631 entries, 4,884 of them on the diagonal.
	if m.Rows != 4884 || m.Columns != 4884 || len(m.Entries) != 2*147631-4884 {
		t.Errorf("%d by %d with %d entries", m.Rows, m.Columns, len(m.Entries))
	}
}

// FuzzRead checks that every accepted matrix is well formed, and reads the same when written again.
func FuzzRead(f *testing.F) {
	f.Add([]byte("%%MatrixMarket matrix coordinate real general\n% c\n2 3 2\n2 3 -1.5e1\n1 1 2\n"))
	f.Add([]byte("%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 1 4\n2 1 7\n"))
	f.Add([]byte("%%MatrixMarket matrix coordinate pattern general\n1 2 1\n1 2\n"))
	f.Add([]byte("%%MatrixMarket matrix coordinate real general\n2147483647 2147483647 2147483647\n1 1 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		text := fmt.Sprintf("%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", m.Rows, m.Columns, len(m.Entries))
		for i, e := range m.Entries {
			if e.Row < 0 || int(e.Row) >= m.Rows || e.Column < 0 || int(e.Column) >= m.Columns {
				t.Fatalf("entry %d at (%d, %d) of %d by %d", i, e.Row, e.Column, m.Rows, m.Columns)
			}
			if i > 0 && (m.Entries[i-1].Row > e.Row || m.Entries[i-1].Row == e.Row && m.Entries[i-1].Column >= e.Column) {
				t.Fatalf("entry %d is out of order", i)
			}
			text += fmt.Sprintf("%d %d %v\n", e.Row+1, e.Column+1, e.Value)
		}
		again, err := Read(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(again.Entries, m.Entries) {
			t.Fatalf("read %v, written and read again %v", m.Entries, again.Entries)
		}
	})
}

func compress(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
