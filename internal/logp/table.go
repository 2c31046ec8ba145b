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
	"banyan/internal/topology"
)

// Columns of a table of cases and outcomes. "k" is empty where the tree has
// none, "start" is "-" where there are no corrections, "failed" is numbers
// separated by spaces.
var (
	caseColumns    = []string{"procs", "L", "o", "tree", "k", "numbering", "correction", "start", "failed"}
	outcomeColumns = []string{"messages", "unreached", "coloring", "quiescence"}
	// optionalColumns may be there too.
	optionalColumns = []string{"distance", "max_gap"}
)

// AllColumns are those of a table that wasn't read.
func AllColumns() []string {
	return slices.Concat(caseColumns, optionalColumns[:1], outcomeColumns, optionalColumns[1:])
}

// Table is cases and what is known of their outcomes.
type Table struct {
	Columns []string // in the order in which they were read and are written
	Rows    []Row
}

// Row is one case of a table.
type Row struct {
	Line int // where it was read
	Case
	Expected map[string]string // the columns of the outcome that were there, as they were
	Outcome  Outcome
}

// ReadTable reads a table as CSV. Its first line names the columns, in any
// order; those of the outcome may be missing. distance is that of optimised
// corrections where the table has no column for it. Every case is valid. Errors
// name line and column.
func ReadTable(r io.Reader, distance int) (*Table, error) {
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

func checkColumns(columns []string) error {
	for i, c := range columns {
		if slices.Contains(columns[:i], c) {
			return fmt.Errorf("column %q is there twice", c)
		}
		if !slices.Contains(AllColumns(), c) {
			return fmt.Errorf("unknown column %q: want %s", c, strings.Join(AllColumns(), ","))
		}
	}
	for _, c := range caseColumns {
		if !slices.Contains(columns, c) {
			return fmt.Errorf("column %q is missing", c)
		}
	}
	return nil
}

func readRow(columns, record []string, distance int) (Row, error) {
	row := Row{Expected: map[string]string{}}
	distanceGiven := slices.Contains(columns, "distance")
	start := ""
	for i, field := range record {
		column := columns[i]
		var err error
		switch column {
		case "start":
			start = field
		case "messages", "unreached", "coloring", "quiescence", "max_gap":
			if field != "" {
				_, err = strconv.Atoi(field)
				row.Expected[column] = field
			}
		default:
			err = row.setField(column, field)
		}
		if err != nil {
			return row, &FieldError{column, err}
		}
	}
	if row.Correction.HasDistance() && !distanceGiven {
		row.Distance = distance
	}
	var err error
	if row.Synchronised, err = ParseStart(start, row.Correction); err != nil {
		return row, &FieldError{"start", err}
	}
	return row, row.Validate()
}

// setField sets the part of a case that a column holds.
func (c *Case) setField(column, field string) (err error) {
	switch column {
	case "procs":
		c.Procs, err = strconv.Atoi(field)
	case "L":
		c.Latency, err = strconv.Atoi(field)
	case "o":
		c.Overhead, err = strconv.Atoi(field)
	case "tree":
		c.Tree = TreeKind(field)
	case "k":
		if field != "" {
			c.K, err = strconv.Atoi(field)
		}
	case "distance":
		if field != "" {
			c.Distance, err = strconv.Atoi(field)
		}
	case "numbering":
		c.Numbering, err = topology.ParseNumbering(field)
	case "correction":
		c.Correction, err = broadcast.ParseCorrection(field)
	case "failed":
		c.Failed, err = ParseProcesses(strings.Fields(field))
	}
	return err
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

// start is the inverse of ParseStart.
func (c *Case) start() string {
	switch {
	case !c.Correction.Corrects():
		return "-"
	case c.Synchronised:
		return "synchronized"
	}
	return "overlapped"
}

// Field is what a row has in a column.
func (r *Row) Field(column string) string {
	switch column {
	case "procs":
		return strconv.Itoa(r.Procs)
	case "L":
		return strconv.Itoa(r.Latency)
	case "o":
		return strconv.Itoa(r.Overhead)
	case "tree":
		return string(r.Tree)
	case "k":
		return unlessZero(r.K)
	case "distance":
		return unlessZero(r.Distance)
	case "numbering":
		return r.Numbering.String()
	case "correction":
		return r.Correction.String()
	case "start":
		return r.start()
	case "failed":
		return strings.Trim(fmt.Sprint(r.Failed), "[]")
	case "messages":
		return strconv.Itoa(r.Outcome.Messages)
	case "unreached":
		return strconv.Itoa(r.Outcome.Unreached)
	case "coloring":
		return strconv.FormatInt(int64(r.Outcome.Coloring), 10)
	case "quiescence":
		return strconv.FormatInt(int64(r.Outcome.Quiescence), 10)
	case "max_gap":
		return strconv.Itoa(r.Outcome.MaxGap)
	}
	return ""
}

func unlessZero(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// Difference says how the outcome differs from what was expected, or "".
func (r *Row) Difference() string {
	var d []string
	for _, column := range AllColumns() {
		want, given := r.Expected[column]
		if got := r.Field(column); given && got != want {
			d = append(d, fmt.Sprintf("%s is %s, the table says %s", column, got, want))
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
	for _, c := range outcomeColumns {
		if !slices.Contains(t.Columns, c) {
			t.Columns = append(t.Columns, c)
		}
	}
}
