package campaign

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"banyan/internal/logp"
	"banyan/internal/proto/broadcast"
	"banyan/internal/topology"
)

// Spec is what a campaign simulates: each point so many times.
type Spec struct {
	Seed   uint64
	Runs   int // of each point, at least 1
	Points []Point
}

// Point is one combination of parameters.
type Point struct {
	Case logp.Case // without Failed
	Dead int       // how many processes are dead in each run
	text string    // its columns
}

// Total is the number of broadcasts.
func (s *Spec) Total() int { return len(s.Points) * s.Runs }

// maxTotal bounds a campaign: more would be a mistake in the spec.
const maxTotal = 1 << 40

// fields are the keys of a spec with their defaults, "" if they must be there.
var fields = []struct{ name, otherwise string }{
	{"seed", "1"}, {"runs", ""}, {"procs", ""}, {"L", "2"}, {"o", "1"}, {"tree", "binomial"},
	{"numbering", "interleaved"}, {"correction", "checked"}, {"start", "default"}, {"failed", "0"},
}

// value is a scalar of a spec, and where it is.
type value struct {
	text string
	line int // 0: a default
}

// raw is a spec as it was read: the values of each field.
type raw map[string][]value

// Parse reads a spec. Errors name line and field.
func Parse(r io.Reader) (*Spec, error) {
	var document yaml.Node
	if err := yaml.NewDecoder(r).Decode(&document); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("empty: want the fields of a campaign")
		}
		return nil, err
	}
	if len(document.Content) == 0 {
		return nil, errors.New("empty: want the fields of a campaign")
	}
	values, err := readFields(document.Content[0])
	if err != nil {
		return nil, err
	}
	var s Spec
	if err := s.readCounts(values); err != nil {
		return nil, err
	}
	if err := s.combine(values); err != nil {
		return nil, err
	}
	if s.Runs > maxTotal/len(s.Points) {
		return nil, values.wrong("runs", values["runs"][0], fmt.Errorf("%d of %d points: want at most %d in all", s.Runs, len(s.Points), maxTotal))
	}
	return &s, nil
}

func readFields(m *yaml.Node) (raw, error) {
	if m.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: want fields (runs: 1000, …)", m.Line)
	}
	values := raw{}
	for i := 0; i < len(m.Content); i += 2 {
		key, content := m.Content[i], m.Content[i+1]
		name := key.Value
		if !slices.ContainsFunc(fields, func(f struct{ name, otherwise string }) bool { return f.name == name }) {
			return nil, fmt.Errorf("line %d: unknown field %q: want %s", key.Line, name, fieldNames())
		}
		if values[name] != nil {
			return nil, fmt.Errorf("line %d: %s: is there twice", key.Line, name)
		}
		scalars := []*yaml.Node{content}
		if content.Kind == yaml.SequenceNode {
			scalars = content.Content
		}
		for _, n := range scalars {
			if n.Kind != yaml.ScalarNode || n.Value == "" {
				return nil, fmt.Errorf("line %d: %s: want a value or a list of values", n.Line, name)
			}
			values[name] = append(values[name], value{n.Value, n.Line})
		}
		if len(scalars) == 0 {
			return nil, fmt.Errorf("line %d: %s: an empty list leaves nothing to simulate", key.Line, name)
		}
	}
	for _, f := range fields {
		if values[f.name] != nil {
			continue
		}
		if f.otherwise == "" {
			return nil, fmt.Errorf("%s: is missing", f.name)
		}
		values[f.name] = []value{{text: f.otherwise}}
	}
	return values, nil
}

func fieldNames() string {
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}

// wrong is an error about a value.
func (raw) wrong(field string, v value, err error) error {
	if v.line == 0 {
		return fmt.Errorf("%s: %w", field, err)
	}
	return fmt.Errorf("line %d: %s: %w", v.line, field, err)
}

func (s *Spec) readCounts(values raw) error {
	for _, field := range []string{"seed", "runs"} {
		if v := values[field]; len(v) > 1 {
			return values.wrong(field, v[1], errors.New("want one value, not a list"))
		}
	}
	seed, runs := values["seed"][0], values["runs"][0]
	var err error
	if s.Seed, err = strconv.ParseUint(seed.text, 10, 64); err != nil {
		return values.wrong("seed", seed, fmt.Errorf("%q: want 0 to 2^64-1", seed.text))
	}
	if s.Runs, err = strconv.Atoi(runs.text); err != nil || s.Runs < 1 {
		return values.wrong("runs", runs, fmt.Errorf("%q: want a number from 1 on", runs.text))
	}
	return nil
}

// combine makes the points: every combination, those that come out equal once.
func (s *Spec) combine(values raw) error {
	known := map[string]bool{}
	chosen := map[string]value{}
	var choose func(depth int) error
	choose = func(depth int) error {
		if depth < len(fields) {
			name := fields[depth].name
			for _, v := range values[name] {
				chosen[name] = v
				if err := choose(depth + 1); err != nil {
					return err
				}
			}
			return nil
		}
		p, err := point(chosen)
		if err != nil {
			var field *logp.FieldError
			if !errors.As(err, &field) {
				return err
			}
			name := specField(field.Field)
			return values.wrong(name, chosen[name], field.Err)
		}
		if p.text = p.columns(); !known[p.text] {
			known[p.text] = true
			s.Points = append(s.Points, p)
		}
		return nil
	}
	return choose(0)
}

// specField is the field that a part of a case was read from.
func specField(part string) string {
	switch part {
	case "k":
		return "tree"
	case "distance":
		return "correction"
	}
	return part
}

// point makes one point. Its error is a *logp.FieldError.
func point(chosen map[string]value) (p Point, err error) {
	wrong := func(field string, err error) error { return &logp.FieldError{Field: field, Err: err} }
	c := &p.Case
	for _, n := range []struct {
		field string
		to    *int
	}{{"procs", &c.Procs}, {"L", &c.Latency}, {"o", &c.Overhead}} {
		text := chosen[n.field].text
		if *n.to, err = strconv.Atoi(text); err != nil {
			return p, wrong(n.field, fmt.Errorf("%q is no number", text))
		}
	}
	name, k, err := parameter(chosen["tree"].text)
	if err != nil {
		return p, wrong("tree", err)
	}
	c.Tree, c.K = logp.TreeKind(name), k
	if c.Numbering, err = topology.ParseNumbering(chosen["numbering"].text); err != nil {
		return p, wrong("numbering", err)
	}
	name, c.Distance, err = parameter(chosen["correction"].text)
	if err != nil {
		return p, wrong("correction", err)
	}
	if c.Correction, err = broadcast.ParseCorrection(name); err != nil {
		return p, wrong("correction", err)
	}
	start := chosen["start"].text
	if start == "default" || !c.Correction.Corrects() {
		start = c.Correction.DefaultStart()
	}
	if c.Synchronised, err = logp.ParseStart(start, c.Correction); err != nil {
		return p, wrong("start", err)
	}
	if err := c.Validate(); err != nil {
		return p, err
	}
	if p.Dead, err = deadCount(chosen["failed"].text, c.Procs); err != nil {
		return p, wrong("failed", err)
	}
	return p, nil
}

// parameter splits "kary:4" into the name and the number, 0 if there is none.
func parameter(text string) (name string, number int, err error) {
	name, digits, given := strings.Cut(text, ":")
	if !given {
		return name, 0, nil
	}
	if number, err = strconv.Atoi(digits); err != nil || number < 1 {
		return "", 0, fmt.Errorf("%q: want %s:N with N from 1 on", text, name)
	}
	return name, number, nil
}

// deadCount reads a number of processes or a share of all, rounded.
func deadCount(text string, procs int) (int, error) {
	count, err := strconv.Atoi(text)
	if share, isShare := strings.CutSuffix(text, "%"); isShare {
		var percent float64
		percent, err = strconv.ParseFloat(strings.TrimSpace(share), 64)
		count = int(math.Round(max(-1, min(percent/100, 2)) * float64(procs)))
		if math.IsNaN(percent) || percent < 0 {
			count = -1
		}
	}
	if err != nil {
		return 0, fmt.Errorf("%q: want a number of processes, or a share of them as in 0.1%%", text)
	}
	if count < 0 || count >= procs {
		return 0, fmt.Errorf("%q: want 0 to %d of %d processes, since the root lives", text, procs-1, procs)
	}
	return count, nil
}
