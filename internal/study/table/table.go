// Package table writes the tables that commands print: aligned for people, as CSV, or as JSON.
//
// A table is a list of columns over rows of one type, so that one list serves all formats.
package table

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
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

// Set, String and Type make a *Format a command-line flag.
func (f *Format) Set(text string) error {
	format := Format(text)
	if err := format.Validate(); err != nil {
		return err
	}
	*f = format
	return nil
}

func (f *Format) String() string { return string(*f) }

// Type is what a command's help calls the flag's value.
func (*Format) Type() string { return "string" }

// Significant digits of fractions.
const (
	forPrograms = 9
	forPeople   = 4
)

// Column is one column of a table whose rows are T. Its values are numbers, strings and booleans;
// nil stands for a value that is missing.
type Column[T any] struct {
	Name  string
	Value func(*T) any
}

// Col returns a column.
func Col[T any](name string, value func(*T) any) Column[T] { return Column[T]{name, value} }

// Optional returns x, or nil if it isn't known.
func Optional(x float64, known bool) any {
	if !known {
		return nil
	}
	return x
}

// Write writes a table. The objects of JSON have the columns in their order.
func Write[T any](w io.Writer, format Format, columns []Column[T], rows []T) error {
	switch format {
	case CSV:
		return writeCSV(w, columns, rows)
	case JSON:
		return writeJSON(w, columns, rows)
	case Text:
		return writeText(w, columns, rows)
	}
	return format.Validate()
}

// WriteRecord writes one row for people: a line for each column that has a value.
func WriteRecord[T any](w io.Writer, columns []Column[T], row *T) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, text := range texts(columns, row, forPeople) {
		if text != "" {
			fmt.Fprintf(out, "%s\t%s\n", columns[i].Name, text)
		}
	}
	return out.Flush()
}

func writeCSV[T any](w io.Writer, columns []Column[T], rows []T) error {
	out := csv.NewWriter(w)
	if err := out.Write(names(columns)); err != nil {
		return err
	}
	for i := range rows {
		if err := out.Write(texts(columns, &rows[i], forPrograms)); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func writeText[T any](w io.Writer, columns []Column[T], rows []T) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(fields []string) {
		for i, f := range fields {
			if f == "" {
				fields[i] = "-"
			}
		}
		fmt.Fprintln(out, strings.Join(fields, "\t")) // no tab at the end, so no trailing blanks
	}
	line(names(columns))
	for i := range rows {
		line(texts(columns, &rows[i], forPeople))
	}
	return out.Flush()
}

func names[T any](columns []Column[T]) []string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = c.Name
	}
	return list
}

// texts returns the fields of a row, fractions with so many significant digits.
func texts[T any](columns []Column[T], row *T, digits int) []string {
	list := make([]string, len(columns))
	for i, c := range columns {
		switch v := c.Value(row).(type) {
		case nil:
		case float64:
			list[i] = strconv.FormatFloat(v, 'g', digits, 64)
		default:
			list[i] = fmt.Sprint(v)
		}
	}
	return list
}

func writeJSON[T any](w io.Writer, columns []Column[T], rows []T) error {
	var out bytes.Buffer
	out.WriteString("[")
	for i := range rows {
		if i > 0 {
			out.WriteString(",")
		}
		out.WriteString("\n  {")
		for j, c := range columns {
			value := c.Value(&rows[i])
			if v, ok := value.(float64); ok {
				value = json.Number(strconv.FormatFloat(v, 'g', forPrograms, 64))
			}
			text, err := json.Marshal(value)
			if err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
			if j > 0 {
				out.WriteString(", ")
			}
			fmt.Fprintf(&out, "%q: %s", c.Name, text)
		}
		out.WriteString("}")
	}
	out.WriteString("\n]\n")
	_, err := w.Write(out.Bytes())
	return err
}
