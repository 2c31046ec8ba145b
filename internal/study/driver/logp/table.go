package logp

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"banyan/internal/proto/broadcast"
	"banyan/internal/study/field"
)

// Table is cases and what is known of their outcomes.
type Table struct {
	Columns []string // in the order in which they were read and are written
	Rows    []Row
}

// Row is one case of a table.
type Row struct {
	Line int // where it was read
	Case
	Expected map[string]string // the columns of the outcome that the table had, as text
	Outcome  Outcome
}

// ReadTable reads a table as CSV. Its first line names the columns, in any order; those of the
// outcome may be missing. distance is the distance of opportunistic corrections, as for
// [Case.SetDistance], where the table has no column for it. Every case returned is valid.
// Errors name the line and the column.
func ReadTable(r io.Reader, distance string) (*Table, error) {
	in := csv.NewReader(r)
	in.ReuseRecord = true
	header, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("empty: want a line that names the columns")
	}
	if err != nil {
		return nil, err
	}
	t := &Table{Columns: slices.Clone(header)}
	if err := checkColumns(t.Columns); err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return nil, err
		}
		line, _ := in.FieldPos(0)
		row, err := readRow(t.Columns, record, distance)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		row.Line = line
		t.Rows = append(t.Rows, row)
	}
}

func checkColumns(names []string) error {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return fmt.Errorf("column %q is there twice", name)
		}
		if _, known := columnNamed(name); !known {
			return fmt.Errorf("unknown column %q: want %s", name, strings.Join(AllColumns(), ","))
		}
	}
	for _, c := range columns {
		if c.use == needed && !slices.Contains(names, c.name) {
			return fmt.Errorf("column %q is missing", c.name)
		}
	}
	return nil
}

// AllColumns are all columns that a table may have.
func AllColumns() []string {
	var names []string
	for _, c := range columns {
		names = append(names, c.name)
	}
	return names
}

// NewTable is a table of cases that weren't read. It has the columns that all tables have,
// distance and max_gap, and every other column that some row fills.
func NewTable(rows ...Row) *Table {
	t := &Table{Rows: rows}
	for _, c := range columns {
		if slices.ContainsFunc(rows, func(r Row) bool { return c.filled(&r) }) || c.use == needed || c.name == "distance" {
			t.Columns = append(t.Columns, c.name)
		}
	}
	return t
}

func readRow(names, record []string, distance string) (Row, error) {
	row := Row{Expected: map[string]string{}}
	for _, c := range columns {
		i := slices.Index(names, c.name)
		if i < 0 {
			if c.name == "distance" && row.Correction.HasDistance() {
				if err := row.SetDistance(distance); err != nil {
					return row, field.Wrap(c.name, err)
				}
			}
			continue
		}
		text := record[i]
		var err error
		if c.set != nil {
			err = c.set(&row.Case, text)
		} else if text != "" {
			row.Expected[c.name] = text
			_, err = parseNumber(text)
		}
		if err != nil {
			return row, field.Wrap(c.name, err)
		}
	}
	return row, row.Validate()
}

// ParseStart reads the start of a correction: "synchronized", "overlapped", or
// "-" where there is none to start.
func ParseStart(s string, c broadcast.Correction) (synchronised bool, err error) {
	switch {
	case !c.Corrects() && s == "-":
		return false, nil
	case !c.Corrects():
		return false, fmt.Errorf("%q: correction %s has none, write -", s, c)
	case s == "synchronized":
		return true, nil
	case s == "overlapped":
		return false, nil
	}
	return false, fmt.Errorf("unknown start %q: want synchronized or overlapped", s)
}

// ParseProcesses reads numbers of processes.
func ParseProcesses(fields []string) ([]int, error) {
	var processes []int
	for _, f := range fields {
		p, err := strconv.Atoi(f)
		if err != nil {
			return nil, fmt.Errorf("%q is no number of a process", f)
		}
		processes = append(processes, p)
	}
	return processes, nil
}

// Field is a row's value in a column.
func (r *Row) Field(name string) string {
	c, known := columnNamed(name)
	if !known {
		return ""
	}
	return c.text(r)
}

// Difference says how the outcome differs from the expected one, or is "".
func (r *Row) Difference() string {
	var d []string
	for _, c := range columns {
		want, given := r.Expected[c.name]
		if got := c.text(r); given && got != want {
			d = append(d, fmt.Sprintf("%s is %s, the table says %s", c.name, got, want))
		}
	}
	return strings.Join(d, "; ")
}

// Run simulates every row. done, if not nil, is called after each.
func (t *Table) Run(s *Simulator, done func(rows int)) error {
	for i := range t.Rows {
		row := &t.Rows[i]
		outcome, err := s.Run(&row.Case, nil)
		if err != nil {
			return fmt.Errorf("line %d: %w", row.Line, err)
		}
		row.Outcome = outcome
		if done != nil {
			done(i + 1)
		}
	}
	return nil
}

// AddOutcomeColumns adds the columns of the outcome that the table lacks.
func (t *Table) AddOutcomeColumns() {
	for _, c := range columns {
		if c.use == outcome && !slices.Contains(t.Columns, c.name) {
			t.Columns = append(t.Columns, c.name)
		}
	}
}
