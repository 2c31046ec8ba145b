package contention

import (
	"context"
	"errors"
	"fmt"
	"time"

	"banyan/internal/study/planning/risk"
)

// Plan is what to measure: every structure with every number of nodes.
type Plan struct {
	// Children are those of a parent: 1 makes pairs.
	Children []int
	// Nodes are how many there are in all. Those that make no whole group take no part.
	Nodes []int
	Runs  int // of each
	Size  int // bytes of a message
	// Pause is from the beginning of a round to that of the next.
	Pause time.Duration
	// Again is how to start this program so that it calls Perform.
	Again []string
}

const (
	// MaxNodes bounds the nodes, each of which is a process.
	MaxNodes = 256
	// MaxSize bounds a message, so that one to each child fits into the buffers of sockets and no
	// parent waits for a child that waits for it.
	MaxSize = 1 << 15
	// Span is how long a run lasts.
	Span = 200 * time.Millisecond
	// maxPause leaves several rounds for a run.
	maxPause = Span / 4
)

// point is one thing to measure.
type point struct{ children, nodes int }

// groups is how many groups the nodes of a point make.
func (p point) groups() int { return p.nodes / (p.children + 1) }

// points are those of a plan in order, without those that have no group.
func (p *Plan) points() (all []point) {
	for _, c := range p.Children {
		last := 0
		for _, n := range p.Nodes {
			x := point{c, n - n%(c+1)}
			if x.nodes > last { // several numbers may make the same groups
				all, last = append(all, x), x.nodes
			}
		}
	}
	return all
}

// Count is how many runs a plan has.
func (p *Plan) Count() int { return p.Runs * len(p.points()) }

// Check returns an error for a plan that can't be carried out. It names the flag.
func (p *Plan) Check() error {
	switch {
	case p.Runs < 1:
		return fmt.Errorf("--runs %d: want one at least", p.Runs)
	case p.Size < 1 || p.Size > MaxSize:
		return fmt.Errorf("--size %d: want 1 to %d bytes", p.Size, MaxSize)
	case p.Pause < 0 || p.Pause > maxPause:
		return fmt.Errorf("--pause %v: want 0 to %v", p.Pause, maxPause)
	case len(p.Nodes) == 0 || len(p.Children) == 0:
		return errors.New("-n and --children: want at least one each")
	}
	most := 0
	for _, n := range p.Nodes {
		if n < 2 || n > MaxNodes {
			return fmt.Errorf("-n %d: want 2 to %d nodes", n, MaxNodes)
		}
		if n <= most {
			return fmt.Errorf("-n %d: want numbers that grow", n)
		}
		most = n
	}
	for _, c := range p.Children {
		if c < 1 || c >= MaxNodes {
			return fmt.Errorf("--children %d: want 1 to %d", c, MaxNodes-1)
		}
		if c >= most {
			return fmt.Errorf("--children %d: %d nodes make no group of a parent with so many", c, most)
		}
	}
	return nil
}

// Row is what one run of a point showed.
type Row struct {
	Children, Nodes, Run int
	// Latency is half of a round trip under contention: each parent has the median of its rounds,
	// and this is the mean of the parents. Least and Most are those of a parent.
	Latency, Least, Most risk.Seconds
	// Work is the time of processors that the nodes used for a message, sent and received.
	Work risk.Seconds
}

// Run carries a plan out, and calls done with how many runs are over. It returns what was measured,
// also with an error. The end of ctx ends it.
func (p *Plan) Run(ctx context.Context, done func(runs int)) ([]Row, error) {
	var rows []Row
	points := p.points()
	most := 0
	for _, x := range points {
		most = max(most, x.nodes)
	}
	f, err := newField(ctx, p.Again, most)
	if err != nil {
		return nil, err
	}
	defer f.close()
	for _, x := range points {
		for run := range p.Runs {
			row, err := f.measure(x, p.Size, p.Pause)
			if ctx.Err() != nil {
				return rows, ctx.Err()
			}
			if err != nil {
				return rows, fmt.Errorf("%d nodes, %d children: %w", x.nodes, x.children, err)
			}
			row.Run = run
			rows = append(rows, row)
			done(len(rows))
		}
	}
	return rows, nil
}
