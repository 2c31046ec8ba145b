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

	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/study/driver/logp"
	"banyan/internal/study/field"
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
	Case      logp.Case // without Failed, Crashes and seeds
	Dead      int       // how many processes are dead in each run,
	DeadNodes int       // and how many nodes besides
	Crashes   int       // how many processes die on the way
	text      string    // its columns
	key       string    // what its seeds are made of
}

// Total is the number of broadcasts.
func (s *Spec) Total() int { return len(s.Points) * s.Runs }

// maxTotal and maxPoints bound a campaign: more would be a mistake in the spec.
const (
	maxTotal  = 1 << 40
	maxPoints = 1 << 18
)

// fields are the keys of a spec with their defaults, "" if they must be there.
var fields = []struct{ name, otherwise string }{
	{"seed", "1"}, {"runs", ""}, {"procs", ""}, {"L", "2"}, {"o", "1"}, {"tree", "binomial"},
	{"numbering", "interleaved"}, {"correction", "checked"}, {"start", "default"}, {"failed", "0"},
	{"failed_nodes", "0"}, {"crashes", "0"}, {"gap", "0"}, {"node_size", "0"},
	{"placement", "consecutive"}, {"latency_within", "0"}, {"noise", "0"},
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

// wrong returns an error about a value.
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
	combinations := 1
	for _, f := range fields {
		if combinations *= len(values[f.name]); combinations > maxPoints {
			return values.wrong(f.name, values[f.name][0], fmt.Errorf("more than %d combinations with those of the other fields", maxPoints))
		}
	}
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
			var wrong *field.Error
			if !errors.As(err, &wrong) {
				return err
			}
			name := specField(wrong.Field)
			return values.wrong(name, chosen[name], wrong.Err)
		}
		if p.text, p.key = p.columns(); !known[p.text] {
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
	case "k", "gossip_time", "gossip_rounds":
		return "tree"
	case "distance", "delay":
		return "correction"
	}
	return part
}

// point makes one point. Its error is a *field.Error.
func point(chosen map[string]value) (p Point, err error) {
	c := &p.Case
	for _, n := range []struct {
		field string
		to    *int
	}{
		{"procs", &c.Procs}, {"L", &c.Latency}, {"o", &c.Overhead}, {"failed_nodes", &p.DeadNodes}, {"gap", &c.Model.Gap},
		{"node_size", &c.Model.Nodes.Size}, {"latency_within", &c.Model.LatencyWithin}, {"noise", &c.Model.Noise},
	} {
		text := chosen[n.field].text
		if *n.to, err = strconv.Atoi(text); err != nil {
			return p, field.Wrap(n.field, fmt.Errorf("%q is no number", text))
		}
	}
	for _, part := range []struct {
		field string
		set   func(*logp.Case, string) error
	}{
		{"tree", setTree}, {"numbering", setNumbering}, {"correction", setCorrection}, {"start", setStart}, {"placement", setPlacement},
	} {
		if err := part.set(c, chosen[part.field].text); err != nil {
			return p, field.Wrap(part.field, err)
		}
	}
	// Without nodes in this combination, their settings don't matter.
	if c.Model.Nodes.Size == 0 {
		c.Model.Nodes.Placement = 0
		if chosen["node_size"].line != 0 {
			c.Model.LatencyWithin = 0
		}
	}
	if err := c.Validate(); err != nil {
		return p, err
	}
	if p.Dead, err = deadCount(chosen["failed"].text, c.Procs); err != nil {
		return p, field.Wrap("failed", err)
	}
	if p.DeadNodes != 0 {
		if c.Model.Nodes.Size == 0 {
			return p, field.Wrap("failed_nodes", fmt.Errorf("%d: there are no nodes", p.DeadNodes))
		}
		if others := c.Model.Nodes.Count(c.Procs) - 1; p.DeadNodes < 0 || p.DeadNodes > others {
			return p, field.Wrap("failed_nodes", fmt.Errorf("%d: want 0 to %d, since the root lives", p.DeadNodes, others))
		}
	}
	if p.Crashes, err = deadCount(chosen["crashes"].text, c.Procs); err != nil {
		return p, field.Wrap("crashes", err)
	}
	if dead := p.Dead + p.DeadNodes*c.Model.Nodes.Size; p.Crashes > max(0, c.Procs-1-dead) {
		return p, field.Wrap("crashes", fmt.Errorf("%d of %d processes, of which up to %d are dead and one is the root", p.Crashes, c.Procs, dead))
	}
	return p, nil
}

// setTree reads "binomial", "kary:4", or "gossip:20" for so many steps and
// "gossip-rounds:12" for so many rounds.
func setTree(c *logp.Case, text string) error {
	name, number, err := parameter(text)
	switch name {
	case "gossip":
		c.Tree, c.Gossip.Until = logp.Gossip, proto.Time(number)
	case "gossip-rounds":
		c.Tree, c.Gossip.Rounds = logp.Gossip, number
	default:
		c.Tree, c.K = logp.TreeKind(name), number
	}
	return err
}

// setNumbering reads a numbering. Gossip has none.
func setNumbering(c *logp.Case, text string) (err error) {
	c.Numbering, err = topology.ParseNumbering(text)
	if c.Tree == logp.Gossip {
		c.Numbering = topology.Interleaved
	}
	return err
}

// setCorrection reads "checked", "optimized:2", "opportunistic:0:4" for other distances to the
// left than to the right, or "delayed:8" for a delay.
func setCorrection(c *logp.Case, text string) (err error) {
	name, number, given := strings.Cut(text, ":")
	if c.Correction, err = broadcast.ParseCorrection(name); err != nil || !given {
		return err
	}
	if c.Correction == broadcast.Delayed {
		if c.Delay, err = strconv.Atoi(number); err != nil || c.Delay < 0 {
			return fmt.Errorf("%q: want delayed:N with N from 0 on", text)
		}
		return nil
	}
	return c.SetDistance(number)
}

func setStart(c *logp.Case, text string) (err error) {
	if text == "default" || !c.Correction.Corrects() {
		text = c.Correction.DefaultStart()
	}
	c.Synchronised, err = logp.ParseStart(text, c.Correction)
	return err
}

func setPlacement(c *logp.Case, text string) (err error) {
	c.Model.Nodes.Placement, err = logp.ParsePlacement(text)
	return err
}

// parameter splits "kary:4" into the name and the number, 0 if there is none.
func parameter(text string) (name string, number int, err error) {
	name, digits, given := strings.Cut(text, ":")
	if !given {
		return name, 0, nil
	}
	if number, err = strconv.Atoi(digits); err != nil || number < 1 {
		return name, 0, fmt.Errorf("%q: want %s:N with N from 1 on", text, name)
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
