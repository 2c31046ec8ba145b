package logp

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Format is how a table is written.
type Format string

// Formats.
const (
	Text Format = "table" // for people: columns, aligned
	CSV  Format = "csv"
	JSON Format = "json" // an array of objects, one for each row
)

// Validate returns an error for an unknown format.
func (f Format) Validate() error {
	switch f {
	case Text, CSV, JSON:
		return nil
	}
	return fmt.Errorf("unknown format %q: want table, csv or json", f)
}

// Write writes the table in a format.
func (t *Table) Write(w io.Writer, f Format) error {
	switch f {
	case CSV:
		return t.writeCSV(w)
	case JSON:
		return t.writeJSON(w)
	case Text:
		return t.writeText(w)
	}
	return f.Validate()
}

func (t *Table) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(t.Columns); err != nil {
		return err
	}
	for i := range t.Rows {
		if err := out.Write(t.fields(i)); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func (t *Table) fields(row int) []string {
	fields := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		fields[i] = t.Rows[row].Field(c)
	}
	return fields
}

// textLimit is the width at which long lists of failed processes are cut.
const textLimit = 24

// writeText writes one row as lines of a name and a value, several as columns.
func (t *Table) writeText(w io.Writer) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(t.Rows) == 1 {
		for i, field := range t.fields(0) {
			if field != "" && field != "-" {
				fmt.Fprintf(out, "%s\t%s\n", t.Columns[i], cut(field))
			}
		}
		return out.Flush()
	}
	fmt.Fprintln(out, strings.Join(t.Columns, "\t"))
	for i := range t.Rows {
		fields := t.fields(i)
		for j := range fields {
			fields[j] = cut(fields[j])
		}
		fmt.Fprintln(out, strings.Join(fields, "\t"))
	}
	return out.Flush()
}

func cut(s string) string {
	if len(s) > textLimit {
		return s[:textLimit-1] + "…"
	}
	return s
}

// writeJSON writes an object for each row, with all columns that it fills, whatever
// columns the table has.
func (t *Table) writeJSON(w io.Writer) error {
	out := bufio.NewWriter(w) // keeps its first error
	out.WriteByte('[')
	for i := range t.Rows {
		out.WriteString(separator(i > 0) + "  {")
		some := false
		for _, c := range columns {
			if !c.filled(&t.Rows[i]) && c.name != "failed" { // that is a list, if an empty one
				continue
			}
			text, err := json.Marshal(c.get(&t.Rows[i]))
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%s    %q: %s", separator(some), c.name, text)
			some = true
		}
		out.WriteString("\n  }")
	}
	if len(t.Rows) > 0 {
		out.WriteByte('\n')
	}
	out.WriteString("]\n")
	return out.Flush()
}

// separator ends what came before, if there is something, and its line.
func separator(some bool) string {
	if some {
		return ",\n"
	}
	return "\n"
}
