package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"banyan/internal/study/driver/logp"
)

// column is one column of a table whose rows are T. Its values are numbers, strings
// and, for what there isn't, nil.
type column[T any] struct {
	name  string
	value func(*T) any
}

// digits is how many significant ones fractions have where programs read them.
const digits = 9

// writeRows writes a table: aligned for people, as CSV, or as a JSON array of objects
// that have the columns in their order.
func writeRows[T any](w io.Writer, format logp.Format, columns []column[T], rows []T) error {
	switch format {
	case logp.CSV:
		out := csv.NewWriter(w)
		if err := out.Write(names(columns)); err != nil {
			return err
		}
		for i := range rows {
			if err := out.Write(texts(columns, &rows[i], digits)); err != nil {
				return err
			}
		}
		out.Flush()
		return out.Error()
	case logp.JSON:
		return writeObjects(w, columns, rows)
	case logp.Text:
		out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		line := func(fields []string) {
			for i, f := range fields {
				if f == "" {
					fields[i] = "-"
				}
			}
			fmt.Fprintln(out, strings.Join(fields, "\t")) // no tab, so no blanks, at the end
		}
		line(names(columns))
		for i := range rows {
			line(texts(columns, &rows[i], 4))
		}
		return out.Flush()
	}
	return format.Validate()
}

func names[T any](columns []column[T]) []string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = c.name
	}
	return list
}

// texts are the fields of a row, fractions with so many significant digits.
func texts[T any](columns []column[T], row *T, digits int) []string {
	list := make([]string, len(columns))
	for i, c := range columns {
		switch v := c.value(row).(type) {
		case nil:
		case float64:
			list[i] = strconv.FormatFloat(v, 'g', digits, 64)
		default:
			list[i] = fmt.Sprint(v)
		}
	}
	return list
}

func writeObjects[T any](w io.Writer, columns []column[T], rows []T) error {
	var out bytes.Buffer
	out.WriteString("[")
	for i := range rows {
		if i > 0 {
			out.WriteString(",")
		}
		out.WriteString("\n  {")
		for j, c := range columns {
			value := c.value(&rows[i])
			if v, ok := value.(float64); ok {
				value = json.Number(strconv.FormatFloat(v, 'g', digits, 64))
			}
			text, err := json.Marshal(value)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if j > 0 {
				out.WriteString(", ")
			}
			fmt.Fprintf(&out, "%q: %s", c.name, text)
		}
		out.WriteString("}")
	}
	out.WriteString("\n]\n")
	_, err := w.Write(out.Bytes())
	return err
}
