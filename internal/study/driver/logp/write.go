package logp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"banyan/internal/study/table"
)

// Write writes the table in a format.
func (t *Table) Write(w io.Writer, f table.Format) error {
	switch f {
	case table.CSV:
		return table.Write(w, f, t.texts(func(text string) string { return text }), t.Rows)
	case table.JSON:
		return t.writeJSON(w)
	case table.Text:
		return t.writeText(w)
	}
	return f.Validate()
}

// texts returns the table's columns, whose values are texts that show has shortened.
func (t *Table) texts(show func(string) string) []table.Column[Row] {
	list := make([]table.Column[Row], len(t.Columns))
	for i, name := range t.Columns {
		list[i] = table.Col(name, func(r *Row) any { return show(r.Field(name)) })
	}
	return list
}

// writeText writes one row as lines of a name and a value, several as columns.
func (t *Table) writeText(w io.Writer) error {
	if len(t.Rows) == 1 {
		return table.WriteRecord(w, t.texts(func(text string) string {
			if text == "-" { // the case has no such part
				return ""
			}
			return cut(text)
		}), &t.Rows[0])
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, strings.Join(t.Columns, "\t"))
	for i := range t.Rows {
		fields := make([]string, len(t.Columns))
		for j, name := range t.Columns {
			fields[j] = cut(t.Rows[i].Field(name))
		}
		fmt.Fprintln(out, strings.Join(fields, "\t"))
	}
	return out.Flush()
}

// textLimit is the width at which long lists of failed processes are cut.
const textLimit = 24

func cut(s string) string {
	if len(s) > textLimit {
		return s[:textLimit-1] + "…"
	}
	return s
}

// writeJSON writes an object for each row. It has every column that the row fills, also those that
// the table lacks.
func (t *Table) writeJSON(w io.Writer) error {
	out := bufio.NewWriter(w) // keeps its first error
	out.WriteByte('[')
	for i := range t.Rows {
		out.WriteString(separator(i > 0) + "  {")
		some := false
		for _, c := range columns {
			if !c.filled(&t.Rows[i]) && c.name != "failed" { // an empty list is a list
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

// separator ends the line before, with a comma if an entry stands on it.
func separator(some bool) string {
	if some {
		return ",\n"
	}
	return "\n"
}
