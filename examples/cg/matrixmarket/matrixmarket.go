// Package matrixmarket reads sparse matrices in the Matrix Market exchange format
// (Boisvert, Pozo, Remington: The Matrix Market Exchange Formats, NISTIR 5935),
// plain or compressed with gzip.
//
// It takes coordinate matrices of real or integer values or of the mere pattern
// (all ones), general or symmetric. The memory it needs is bounded by the length
// of the file, not by the sizes that the file claims.
package matrixmarket

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// Matrix is a sparse matrix.
type Matrix struct {
	Rows, Columns int
	// Entries are in the order of their rows, then columns. No two have the same row and column.
	// A symmetric file's entries are here on both sides of the diagonal.
	Entries []Entry
}

// Entry is one value; rows and columns count from 0.
type Entry struct {
	Row, Column int32
	Value       float64
}

const (
	maxLine = 1024    // characters; the format's own limit
	trusted = 1 << 16 // entries allocated because the file's banner says so
)

// Read reads a matrix to the end of r. It adds up values of the same row and column. An error names
// the line of the (uncompressed) text.
func Read(r io.Reader) (*Matrix, error) {
	buffered := bufio.NewReader(r)
	if magic, err := buffered.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		plain, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		return read(plain)
	}
	return read(buffered)
}

func read(r io.Reader) (*Matrix, error) {
	lines := &lineReader{scanner: bufio.NewScanner(r)}
	lines.scanner.Buffer(make([]byte, maxLine+2), maxLine+2)
	m, err := parse(lines)
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", lines.number, err)
	}
	return m, nil
}

func parse(lines *lineReader) (*Matrix, error) {
	form, err := parseBanner(lines)
	if err != nil {
		return nil, err
	}
	fields, err := lines.next("the line with the sizes")
	if err != nil {
		return nil, err
	}
	var sizes [3]int
	if len(fields) != len(sizes) {
		return nil, fmt.Errorf("%d numbers, want 3: rows, columns, entries", len(fields))
	}
	for i, what := range []string{"rows", "columns", "entries"} {
		if sizes[i], err = parseInt(fields[i], what, 0, math.MaxInt32); err != nil {
			return nil, err
		}
	}
	m := &Matrix{Rows: sizes[0], Columns: sizes[1]}
	if form.symmetric && m.Rows != m.Columns {
		return nil, fmt.Errorf("symmetric, but %d by %d", m.Rows, m.Columns)
	}
	m.Entries = make([]Entry, 0, min(sizes[2], trusted))
	for i := range sizes[2] {
		fields, err := lines.next(fmt.Sprintf("entry %d of %d", i+1, sizes[2]))
		if err != nil {
			return nil, err
		}
		entry, err := parseEntry(fields, form, m)
		if err != nil {
			return nil, err
		}
		m.Entries = append(m.Entries, entry)
		if form.symmetric && entry.Row != entry.Column {
			m.Entries = append(m.Entries, Entry{entry.Column, entry.Row, entry.Value})
		}
	}
	if _, err := lines.next(""); err != io.EOF {
		return nil, cmp.Or(err, fmt.Errorf("more than the %d entries announced", sizes[2]))
	}
	m.Entries = sum(m.Entries)
	for _, e := range m.Entries {
		if math.IsInf(e.Value, 0) {
			return nil, fmt.Errorf("the values of entry (%d, %d) add up to infinity", e.Row+1, e.Column+1)
		}
	}
	return m, nil
}

// form is what the banner, the first line, says about the entries.
type form struct{ pattern, integer, symmetric bool }

func parseBanner(lines *lineReader) (form, error) {
	words, err := lines.banner()
	if err != nil {
		return form{}, err
	}
	if len(words) != 5 || words[0] != "%%matrixmarket" {
		return form{}, errors.New("not a Matrix Market file: it must begin with %%MatrixMarket matrix coordinate …")
	}
	var f form
	if words[1] != "matrix" || words[2] != "coordinate" {
		return form{}, fmt.Errorf("%s %s; only matrix coordinate is supported", words[1], words[2])
	}
	switch words[3] {
	case "real":
	case "integer":
		f.integer = true
	case "pattern":
		f.pattern = true
	default:
		return form{}, fmt.Errorf("values %q; only real, integer and pattern are supported", words[3])
	}
	switch words[4] {
	case "general":
	case "symmetric":
		f.symmetric = true
	default:
		return form{}, fmt.Errorf("symmetry %q; only general and symmetric are supported", words[4])
	}
	return f, nil
}

func parseEntry(fields [][]byte, f form, m *Matrix) (Entry, error) {
	want := 3
	if f.pattern {
		want = 2
	}
	if len(fields) != want {
		return Entry{}, fmt.Errorf("%d numbers, want %d", len(fields), want)
	}
	row, err := parseInt(fields[0], "row", 1, m.Rows)
	if err != nil {
		return Entry{}, err
	}
	column, err := parseInt(fields[1], "column", 1, m.Columns)
	if err != nil {
		return Entry{}, err
	}
	if f.symmetric && column > row {
		return Entry{}, fmt.Errorf("entry (%d, %d) is above the diagonal of a symmetric matrix", row, column)
	}
	value := 1.0
	switch {
	case f.pattern:
	case f.integer:
		i, err := strconv.ParseInt(string(fields[2]), 10, 64)
		if err != nil {
			return Entry{}, fmt.Errorf("value %q is not an integer", fields[2])
		}
		value = float64(i)
	default:
		value, err = strconv.ParseFloat(string(fields[2]), 64)
		if err != nil || math.IsInf(value, 0) || math.IsNaN(value) {
			return Entry{}, fmt.Errorf("value %q is not a finite number", fields[2])
		}
	}
	return Entry{int32(row - 1), int32(column - 1), value}, nil
}

func parseInt(field []byte, what string, low, high int) (int, error) {
	i, err := strconv.Atoi(string(field))
	switch {
	case errors.Is(err, strconv.ErrSyntax):
		return 0, fmt.Errorf("%s %q is not an integer", what, field)
	case err != nil || i < low || i > high:
		return 0, fmt.Errorf("%s %s is not between %d and %d", what, field, low, high)
	}
	return i, nil
}

// sum sorts entries and adds up those of the same row and column, in the order of the file.
func sum(entries []Entry) []Entry {
	slices.SortStableFunc(entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Row, b.Row), cmp.Compare(a.Column, b.Column))
	})
	kept := entries[:0]
	for _, e := range entries {
		if last := len(kept) - 1; last >= 0 && kept[last].Row == e.Row && kept[last].Column == e.Column {
			kept[last].Value += e.Value
		} else {
			kept = append(kept, e)
		}
	}
	return kept
}

// lineReader splits text into lines and these into fields.
type lineReader struct {
	scanner *bufio.Scanner
	number  int // of the line read last, from 1
}

// banner returns the words of the first line in lower case.
func (l *lineReader) banner() ([]string, error) {
	line, err := l.line()
	if err == io.EOF {
		return nil, errors.New("the file is empty")
	}
	var words []string
	for _, w := range bytes.Fields(bytes.ToLower(line)) {
		words = append(words, string(w))
	}
	return words, err
}

// next returns the fields of the next line that is neither empty nor a comment. They are valid
// until the next call. At the end of the text the error says what is missing, or is io.EOF if
// nothing is.
func (l *lineReader) next(missing string) ([][]byte, error) {
	for {
		line, err := l.line()
		if err == io.EOF && missing != "" {
			return nil, fmt.Errorf("the file ends before %s", missing)
		}
		if err != nil {
			return nil, err
		}
		if fields := bytes.Fields(line); len(fields) > 0 && fields[0][0] != '%' {
			return fields, nil
		}
	}
}

func (l *lineReader) line() ([]byte, error) {
	l.number++
	more := l.scanner.Scan()
	switch err := l.scanner.Err(); { // checked even if there is a line: it may be cut
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("more than %d characters in the line", maxLine)
	case err != nil:
		return nil, fmt.Errorf("reading: %w", err)
	case !more:
		return nil, io.EOF
	}
	return l.scanner.Bytes(), nil
}
