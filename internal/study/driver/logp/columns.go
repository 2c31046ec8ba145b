package logp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/topology"
)

// column is a column of a [Table]. get returns a row's value, or nil; set, for a column of the
// case, reads it. Columns are read in this order, whatever their order in the table.
type column struct {
	name string
	use  use
	get  func(*Row) any
	set  func(*Case, string) error
}

// use says what a column is for.
type use int

const (
	needed     use = iota // part of every case
	optional              // part of a case, or empty
	outcome               // part of every outcome
	outcomeToo            // an outcome that a table needn't have
)

// columns are all columns. "k" is empty where the tree has none, "numbering" is "-" for gossip,
// "start" is "-" where there are no corrections, "failed" is numbers separated by spaces,
// "crashes" is a fault plan.
var columns = []column{
	number("procs", needed, func(c *Case) *int { return &c.Procs }),
	number("L", needed, func(c *Case) *int { return &c.Latency }),
	number("o", needed, func(c *Case) *int { return &c.Overhead }),
	{"tree", needed, func(r *Row) any { return r.Tree }, func(c *Case, s string) error { c.Tree = TreeKind(s); return nil }},
	number("k", optional, func(c *Case) *int { return &c.K }).as(needed),
	{"numbering", needed, (*Row).numbering, (*Case).setNumbering},
	{"correction", needed, func(r *Row) any { return r.Correction.String() }, (*Case).setCorrection},
	{"start", needed, func(r *Row) any { return r.startName() }, (*Case).setStart},
	{"failed", needed, func(r *Row) any { return append([]int{}, r.Failed...) }, (*Case).setFailed},

	{"distance", optional, (*Row).distanceField, (*Case).SetDistance},
	number("delay", optional, func(c *Case) *int { return &c.Delay }),
	{"gossip_time", optional, func(r *Row) any { return unlessZero(r.Gossip.Until) }, (*Case).setGossipTime},
	number("gossip_rounds", optional, func(c *Case) *int { return &c.Gossip.Rounds }),
	seed("gossip_seed", func(c *Case) *uint64 { return &c.Gossip.Seed }),
	{"crashes", optional, func(r *Row) any { return unlessZero(FormatCrashes(r.Crashes)) }, (*Case).setCrashes},
	number("gap", optional, func(c *Case) *int { return &c.Model.Gap }),
	number("node_size", optional, func(c *Case) *int { return &c.Model.Nodes.Size }),
	{"placement", optional, (*Row).placement, (*Case).setPlacement},
	seed("node_seed", func(c *Case) *uint64 { return &c.Model.Nodes.Seed }),
	number("latency_within", optional, func(c *Case) *int { return &c.Model.LatencyWithin }),
	number("noise", optional, func(c *Case) *int { return &c.Model.Noise }),
	seed("noise_seed", func(c *Case) *uint64 { return &c.Model.NoiseSeed }),

	result("messages", func(o *Outcome) int { return o.Messages }),
	result("unreached", func(o *Outcome) int { return o.Unreached }),
	result("coloring", func(o *Outcome) int { return int(o.Coloring) }),
	result("quiescence", func(o *Outcome) int { return int(o.Quiescence) }),
	result("max_gap", func(o *Outcome) int { return o.MaxGap }).as(outcomeToo),
	result("crashed", func(o *Outcome) int { return o.Crashed }).as(outcomeToo),
}

func (c column) as(u use) column { c.use = u; return c }

// number is a column of a number, which is empty for 0 if it is optional.
func number(name string, u use, at func(*Case) *int) column {
	return column{name, u,
		func(r *Row) any {
			if u == needed {
				return *at(&r.Case)
			}
			return unlessZero(*at(&r.Case))
		},
		func(c *Case, s string) (err error) {
			if s != "" || u == needed {
				*at(c), err = parseNumber(s)
			}
			return err
		},
	}
}

func parseNumber(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, fmt.Errorf("%q is no number", s)
	}
	return n, nil
}

func seed(name string, at func(*Case) *uint64) column {
	return column{name, optional,
		func(r *Row) any { return unlessZero(*at(&r.Case)) },
		func(c *Case, s string) (err error) {
			if s == "" {
				return nil
			}
			if *at(c), err = strconv.ParseUint(s, 10, 64); err != nil {
				return fmt.Errorf("%q: want 0 to 2^64-1", s)
			}
			return nil
		},
	}
}

func result(name string, of func(*Outcome) int) column {
	return column{name, outcome, func(r *Row) any { return of(&r.Outcome) }, nil}
}

// text is what a row has in the column, as text.
func (c column) text(r *Row) string {
	switch v := c.get(r).(type) {
	case nil:
		return ""
	case []int:
		return strings.Trim(fmt.Sprint(v), "[]")
	default:
		return fmt.Sprint(v)
	}
}

// filled says whether a row has a value in the column that is worth showing.
func (c column) filled(r *Row) bool {
	return c.text(r) != "" && (c.name != "crashed" || len(r.Crashes) > 0)
}

func columnNamed(name string) (column, bool) {
	i := slices.IndexFunc(columns, func(c column) bool { return c.name == name })
	if i < 0 {
		return column{}, false
	}
	return columns[i], true
}

func (r *Row) numbering() any {
	if r.Tree == Gossip {
		return "-"
	}
	return r.Numbering.String()
}

func (c *Case) setNumbering(s string) (err error) {
	if c.Tree == Gossip && s == "-" {
		return nil
	}
	c.Numbering, err = topology.ParseNumbering(s)
	return err
}

func (c *Case) setCorrection(s string) (err error) {
	c.Correction, err = broadcast.ParseCorrection(s)
	return err
}

// startName is the inverse of [ParseStart].
func (c *Case) startName() string {
	switch {
	case !c.Correction.Corrects():
		return "-"
	case c.Synchronised:
		return "synchronized"
	}
	return "overlapped"
}

func (c *Case) setStart(s string) (err error) {
	c.Synchronised, err = ParseStart(s, c.Correction)
	return err
}

func (c *Case) setFailed(s string) (err error) {
	c.Failed, err = ParseProcesses(strings.Fields(s))
	return err
}

func (c *Case) setGossipTime(s string) error {
	if s == "" {
		return nil
	}
	n, err := parseNumber(s)
	c.Gossip.Until = proto.Time(n)
	return err
}

func (c *Case) setCrashes(s string) (err error) {
	if s == "" || c.Procs < 1 { // Validate refuses the latter
		return nil
	}
	c.Crashes, err = ParseCrashes(s, c.Procs)
	return err
}

func (r *Row) placement() any {
	if r.Model.Nodes.Size == 0 {
		return nil
	}
	return r.Model.Nodes.Placement.String()
}

func (c *Case) setPlacement(s string) (err error) {
	if s == "" {
		return nil
	}
	c.Model.Nodes.Placement, err = ParsePlacement(s)
	return err
}

func unlessZero[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}
