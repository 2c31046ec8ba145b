package idle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"banyan/bench/processes"
)

// System is what is measured.
type System string

// The systems.
const (
	Banyan     System = "banyan"
	Memberlist System = "memberlist"
)

// Systems are all.
var Systems = []System{Banyan, Memberlist}

// MaxMembers bounds a group.
const MaxMembers = 1024

// Plan is what to measure.
type Plan struct {
	N       []int
	Systems []System
	Span    time.Duration // how long each group is idle
	Deaths  int           // after that, one at a time
	// Again is how to start this program so that it calls Perform.
	Again []string
}

// Row is what was measured of a group.
type Row struct {
	System      System
	N           int
	Processor   float64       // seconds a second: 0.01 is one percent of a core
	Goroutines  int           // of all members
	Descriptors int           // as well
	Packets     float64       // a second, over the loopback interface, with acknowledgements of TCP
	Bytes       float64       // a second, with headers
	Resident    int64         // bytes of memory, of the process
	Founded     time.Duration // from the first member's start until all knew all
	// Known are the times from each death until the last member knew of it.
	Known []time.Duration
	// Shared says that the process had no network of its own: packets of others are counted, too.
	Shared bool
}

// Check returns an error for a plan that can't be carried out.
func (p *Plan) Check() error {
	switch {
	case len(p.N) == 0 || len(p.Systems) == 0:
		return errors.New("want at least one number of members and one system")
	case p.Span < 100*time.Millisecond || p.Span > time.Hour:
		return fmt.Errorf("--idle %v: want 100ms to 1h", p.Span)
	case p.Deaths < 0:
		return fmt.Errorf("--runs %d: want 0 or more", p.Deaths)
	}
	for _, n := range p.N {
		if n < 2 || n > MaxMembers || n-p.Deaths < 2 && p.Deaths > 0 {
			return fmt.Errorf("-n %d: want 2 to %d members, and two more than deaths (%d)", n, MaxMembers, p.Deaths)
		}
	}
	for _, s := range p.Systems {
		if !slices.Contains(Systems, s) {
			return fmt.Errorf("system %q: want one of %q", s, Systems)
		}
	}
	return nil
}

// Size is how many groups are measured.
func (p *Plan) Size() int { return len(p.N) * len(p.Systems) }

// Run measures one group after the other, and calls done with how many are. What was measured is
// returned, with the errors of the rest.
func (p *Plan) Run(ctx context.Context, done func(groups int)) (rows []Row, err error) {
	var failures []error
	for _, n := range p.N {
		for _, s := range p.Systems {
			row, err := p.measure(ctx, task{System: s, N: n, Span: p.Span, Deaths: p.Deaths})
			switch {
			case ctx.Err() != nil:
				return rows, ctx.Err()
			case err != nil:
				failures = append(failures, fmt.Errorf("%d members of %s: %w", n, s, err))
			default:
				rows = append(rows, row)
			}
			done(len(rows) + len(failures))
		}
	}
	return rows, errors.Join(failures...)
}

// measure lets a process measure one group.
func (p *Plan) measure(ctx context.Context, t task) (row Row, err error) {
	g, err := processes.NewGroup(p.Again)
	if err != nil {
		return row, err
	}
	defer g.Close()
	ours, theirs, err := os.Pipe()
	if err != nil {
		return row, err
	}
	defer ours.Close()
	member := processes.Process{Name: "group", Env: []string{t.env()}, Files: []*os.File{theirs}, MayEnd: true, Namespace: true}
	if _, err = g.Start(member); err != nil { // it may not be allowed
		t.Shared, member.Namespace = true, false
		member.Env = []string{t.env()}
		_, err = g.Start(member)
	}
	theirs.Close()
	if err != nil {
		return row, err
	}
	stop := context.AfterFunc(ctx, func() { ours.Close() })
	defer stop()
	ours.SetReadDeadline(time.Now().Add(t.limit()))
	if err := json.NewDecoder(ours).Decode(&row); err != nil {
		return row, g.Err(fmt.Sprintf("no result (%v)", err))
	}
	return row, nil
}
