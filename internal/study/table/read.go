package table

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ReadCSV reads rows under a heading that must be head, in the same order. writer says what writes
// such a file, for the error about another heading. Errors of rows name their lines.
func ReadCSV[T any](r io.Reader, head []string, writer string, parse func(fields []string) (T, error)) ([]T, error) {
	in := csv.NewReader(r)
	got, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("is empty")
	}
	if err != nil {
		return nil, err
	}
	if got, want := strings.Join(got, ","), strings.Join(head, ","); got != want {
		return nil, fmt.Errorf("heading %.200q: want %s, as %s writes", got, want, writer)
	}
	var rows []T
	for {
		fields, err := in.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		line, _ := in.FieldPos(0)
		row, err := parse(fields)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		rows = append(rows, row)
	}
}
