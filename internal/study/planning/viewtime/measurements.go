package viewtime

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"banyan/internal/study/planning/risk"
)

// sheet is lines of fields below a heading, as a CSV file has them.
type sheet struct {
	heading []string
	lines   [][]string
}

// newSheet takes the heading off, which must have some columns.
func newSheet(lines [][]string, columns ...string) (*sheet, error) {
	wanted := strings.Join(columns, " and ")
	if len(lines) == 0 {
		return nil, fmt.Errorf("is empty: want a heading with %s", wanted)
	}
	s := &sheet{lines: lines[1:]}
	for _, name := range lines[0] {
		s.heading = append(s.heading, strings.TrimSpace(name))
	}
	for _, name := range columns {
		if !s.has(name) {
			return nil, fmt.Errorf("heading %.200q: want the columns %s", strings.Join(s.heading, ","), wanted)
		}
	}
	for i, fields := range s.lines {
		if len(fields) != len(s.heading) {
			return nil, fmt.Errorf("line %d: has %d fields: want %d", i+2, len(fields), len(s.heading))
		}
	}
	return s, nil
}

// has says whether there is a column.
func (s *sheet) has(name string) bool { return slices.Contains(s.heading, name) }

// text is a line's value in a column, which there is.
func (s *sheet) text(line int, name string) string {
	return strings.TrimSpace(s.lines[line][slices.Index(s.heading, name)])
}

// number is that value as a number.
func (s *sheet) number(line int, name string) (int, error) {
	n, err := strconv.Atoi(s.text(line, name))
	if err != nil {
		return 0, s.wrong(line, name, "a number")
	}
	return n, nil
}

// microseconds is that value as a time, 0 or more.
func (s *sheet) microseconds(line int, name string) (risk.Seconds, error) {
	us, err := strconv.ParseFloat(s.text(line, name), 64)
	if err != nil || !(us >= 0) || math.IsInf(us, 0) {
		return 0, s.wrong(line, name, "microseconds")
	}
	return risk.Seconds(us * 1e-6), nil
}

func (s *sheet) wrong(line int, name, want string) error {
	return fmt.Errorf("line %d: %s: %.40q: want %s", line+2, name, s.text(line, name), want)
}

// ParseMeasurements takes stabilisation times from the lines of a CSV file: its columns n and
// stabilise_us, and arity and fault if it has them. Without arity all are of the given one, unless
// that is 0. With fault, n counts the members before, and lines of other faults than "node" are
// left out, as the model is for one death; the tree is that of the members that are left.
func ParseMeasurements(lines [][]string, arity int) ([]Measurement, error) {
	s, err := newSheet(lines, "n", "stabilise_us")
	if err != nil {
		return nil, err
	}
	if !s.has("arity") && arity == 0 {
		return nil, errors.New("has no column arity: say by --arity with a single number of which tree it is")
	}
	var measured []Measurement
	for i := range s.lines {
		if s.has("fault") && s.text(i, "fault") != "node" {
			continue
		}
		m := Measurement{Arity: arity}
		if m.Nodes, err = s.number(i, "n"); err != nil {
			return nil, err
		}
		if s.has("fault") {
			m.Nodes--
		}
		if s.has("arity") {
			if m.Arity, err = s.number(i, "arity"); err != nil {
				return nil, err
			}
		}
		if m.Time, err = s.microseconds(i, "stabilise_us"); err != nil {
			return nil, err
		}
		measured = append(measured, m)
	}
	return measured, nil
}

// ParseLatencies takes latencies under contention from the lines of a CSV file, its columns
// children, nodes and latency_us, as banyan bench contention writes it.
func ParseLatencies(lines [][]string) ([]Latency, error) {
	s, err := newSheet(lines, "children", "nodes", "latency_us")
	if err != nil {
		return nil, err
	}
	var measured []Latency
	for i := range s.lines {
		var l Latency
		if l.Children, err = s.number(i, "children"); err != nil {
			return nil, err
		}
		if l.Nodes, err = s.number(i, "nodes"); err != nil {
			return nil, err
		}
		if l.Time, err = s.microseconds(i, "latency_us"); err != nil {
			return nil, err
		}
		measured = append(measured, l)
	}
	return measured, nil
}
