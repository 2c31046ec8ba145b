package logp

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
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
	for _, c := range t.Columns {
		fmt.Fprintf(out, "%s\t", c)
	}
	fmt.Fprintln(out)
	for i := range t.Rows {
		for _, field := range t.fields(i) {
			fmt.Fprintf(out, "%s\t", cut(field))
		}
		fmt.Fprintln(out)
	}
	return out.Flush()
}

func cut(s string) string {
	if len(s) > textLimit {
		return s[:textLimit-1] + "…"
	}
	return s
}

// object is a row in JSON, whatever columns the table has.
type object struct {
	Procs      int    `json:"procs"`
	Latency    int    `json:"L"`
	Overhead   int    `json:"o"`
	Tree       string `json:"tree"`
	K          int    `json:"k,omitempty"`
	Numbering  string `json:"numbering"`
	Correction string `json:"correction"`
	Distance   int    `json:"distance,omitempty"`
	Start      string `json:"start"`
	Failed     []int  `json:"failed"`
	Messages   int    `json:"messages"`
	Unreached  int    `json:"unreached"`
	Coloring   int64  `json:"coloring"`
	Quiescence int64  `json:"quiescence"`
	MaxGap     int    `json:"max_gap"`
}

func (t *Table) writeJSON(w io.Writer) error {
	objects := make([]object, len(t.Rows))
	for i := range t.Rows {
		r := &t.Rows[i]
		objects[i] = object{
			Procs: r.Procs, Latency: r.Latency, Overhead: r.Overhead,
			Tree: string(r.Tree), K: r.K, Numbering: r.Numbering.String(),
			Correction: r.Correction.String(), Distance: r.Distance, Start: r.start(),
			Failed:   append([]int{}, r.Failed...),
			Messages: r.Outcome.Messages, Unreached: r.Outcome.Unreached,
			Coloring: int64(r.Outcome.Coloring), Quiescence: int64(r.Outcome.Quiescence), MaxGap: r.Outcome.MaxGap,
		}
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(objects)
}
