package plan

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"banyan/internal/study/planning/risk"
	"banyan/internal/study/planning/viewtime"
)

// readMeasurements reads stabilisation times from a CSV file: its columns n and stabilise_us, and
// arity and fault if it has them. Without arity all are of the given one, unless that is 0. With
// fault, n counts the members before, and rows of other faults than "node" are left out, as the
// model is for one death; the tree is that of the members that are left.
func readMeasurements(r io.Reader, arity int) ([]viewtime.Measurement, error) {
	in := csv.NewReader(r)
	heading, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("is empty: want a heading with n and stabilise_us")
	}
	if err != nil {
		return nil, err
	}
	for i := range heading {
		heading[i] = strings.TrimSpace(heading[i])
	}
	at := func(name string) int { return slices.Index(heading, name) }
	nodesAt, timeAt, arityAt, faultAt := at("n"), at("stabilise_us"), at("arity"), at("fault")
	switch {
	case nodesAt < 0 || timeAt < 0:
		return nil, fmt.Errorf("heading %q: want the columns n and stabilise_us", strings.Join(heading, ","))
	case arityAt < 0 && arity == 0:
		return nil, errors.New("has no column arity: say by --arity with a single number of which tree it is")
	}
	var measured []viewtime.Measurement
	for {
		fields, err := in.Read()
		if errors.Is(err, io.EOF) {
			return measured, nil
		}
		if err != nil {
			return nil, err
		}
		if faultAt >= 0 && strings.TrimSpace(fields[faultAt]) != "node" {
			continue
		}
		line, _ := in.FieldPos(0)
		m := viewtime.Measurement{Arity: arity}
		if m.Nodes, err = strconv.Atoi(strings.TrimSpace(fields[nodesAt])); err != nil {
			return nil, fmt.Errorf("line %d: n: %q: want a number", line, fields[nodesAt])
		}
		if faultAt >= 0 {
			m.Nodes--
		}
		if arityAt >= 0 {
			if m.Arity, err = strconv.Atoi(strings.TrimSpace(fields[arityAt])); err != nil {
				return nil, fmt.Errorf("line %d: arity: %q: want a number", line, fields[arityAt])
			}
		}
		us, err := strconv.ParseFloat(strings.TrimSpace(fields[timeAt]), 64)
		if err != nil || !(us >= 0) || math.IsInf(us, 0) {
			return nil, fmt.Errorf("line %d: stabilise_us: %q: want microseconds", line, fields[timeAt])
		}
		m.Time = risk.Seconds(us * 1e-6)
		measured = append(measured, m)
	}
}
