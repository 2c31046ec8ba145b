package replication

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Prediction is a simulated run, with replicas and without.
type Prediction struct {
	Pattern string // of communication
	// StandsFor is the row of the paper's tables: BT, CG …; "" for none.
	StandsFor       string
	Ranks, Replicas int
	Setting         Setting // Parallel or Mirror
	Bytes           string  // of a message, and
	Compute         string  // µs that a step computes, as the file has them; "" if it hasn't
	// Native and Replicated are seconds.
	Native, Replicated float64
}

func (p *Prediction) overhead() float64 { return p.Replicated / p.Native }

func (p *Prediction) validate() error {
	switch {
	case p.Ranks < 2 || p.Replicas < 2:
		return fmt.Errorf("%d ranks with %d replicas: want 2 of each at least", p.Ranks, p.Replicas)
	case p.Setting != Parallel && p.Setting != Mirror:
		return fmt.Errorf("protocol: %.40q: there are parallel and mirror", p.Setting)
	case !(p.Native > 0 && p.Replicated > 0):
		return errors.New("want times above 0")
	case p.StandsFor != "" && printedRow(p.StandsFor) == nil:
		return fmt.Errorf("row %.40q: the paper's tables have %s", p.StandsFor, strings.Join(printedNames(), ", "))
	}
	return nil
}

// ReadPredictions reads a CSV with the columns pattern, ranks, replicas, protocol, native_ms and
// replicated_ms, as banyan sim replication writes; bytes and compute_us are shown if it has them,
// runs with deaths are left out, and other columns don't matter. row is the row of the paper's
// tables; "": the pattern's name decides. Errors name the line.
func ReadPredictions(r io.Reader, row string) ([]Prediction, error) {
	in := csv.NewReader(r)
	head, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("is empty")
	}
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for _, name := range []string{"pattern", "ranks", "replicas", "protocol", "native_ms", "replicated_ms"} {
		if at[name] = slices.Index(head, name); at[name] < 0 {
			return nil, fmt.Errorf("heading %.200q: there is no column %s", strings.Join(head, ","), name)
		}
	}
	shown := func(fields []string, name string) string {
		if i := slices.Index(head, name); i >= 0 {
			return fields[i]
		}
		return ""
	}
	var all []Prediction
	for {
		fields, err := in.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		line, _ := in.FieldPos(0)
		p := Prediction{Pattern: fields[at["pattern"]], Setting: Setting(fields[at["protocol"]])}
		p.Bytes, p.Compute = shown(fields, "bytes"), shown(fields, "compute_us")
		if p.StandsFor = row; row == "" {
			p.StandsFor = rowOf(p.Pattern)
		}
		for name, to := range map[string]*int{"ranks": &p.Ranks, "replicas": &p.Replicas} {
			if *to, err = strconv.Atoi(fields[at[name]]); err != nil {
				return nil, fmt.Errorf("line %d: %s: %.40q: want a number", line, name, fields[at[name]])
			}
		}
		for name, to := range map[string]*float64{"native_ms": &p.Native, "replicated_ms": &p.Replicated} {
			if *to, err = strconv.ParseFloat(fields[at[name]], 64); err != nil {
				return nil, fmt.Errorf("line %d: %s: %.40q: want milliseconds", line, name, fields[at[name]])
			}
			*to /= 1e3
		}
		if err := p.validate(); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		if deaths := shown(fields, "deaths"); deaths == "" || deaths == "0" {
			all = append(all, p)
		}
	}
}
