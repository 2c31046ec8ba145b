package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
)

// Table is rows of text, shown on the page and written as CSV.
type Table struct {
	Name    string // of its file, without the extension
	Title   string
	Caption string
	Columns []string
	Rows    [][]string
	// Hidden tables are written, but not shown on the page: it links to them.
	Hidden bool
}

func (t *Table) validate() error {
	for i, row := range t.Rows {
		if len(row) != len(t.Columns) {
			return fmt.Errorf("row %d has %d fields, want %d", i+1, len(row), len(t.Columns))
		}
	}
	return nil
}

func (t *Table) csv() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	// A buffer takes everything.
	_ = w.Write(t.Columns)
	_ = w.WriteAll(t.Rows)
	return b.Bytes()
}
