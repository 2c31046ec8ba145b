package membership

import (
	"context"
	"slices"
	"time"

	"banyan/bench/contention"
	"banyan/internal/study/planning/viewtime"
)

// ContentionPause is from one round of the contention's bench to the next: nodes have come to rest
// by then, as they are at rest before a change of view.
const ContentionPause = 10 * time.Millisecond

// ProposalSize is how many bytes a proposal has that tells of a death in a group of 47.
func ProposalSize() (int, error) {
	message, _, _, err := proposal(paperMembers-1, 2)
	return len(message), err
}

const (
	contentionSizes = 6 // numbers of nodes, from few to the largest group
	contentionRuns  = 3
)

// contentionPlans say how the latency under contention is measured that the model of a plan needs:
// for each arity, with up to as many nodes as the largest group has processes.
func (p *Plan) contentionPlans() ([]contention.Plan, error) {
	size, err := ProposalSize()
	if err != nil {
		return nil, err
	}
	most := slices.Max(p.N)
	if p.Apart >= 2 {
		most = min(most, p.Apart) // goroutines are judged by what their number of processes would take
	}
	most = min(most, contention.MaxNodes)
	var plans []contention.Plan
	for _, arity := range p.Arities {
		children := min(arity, most-1) // a node of a smaller tree has no more
		var nodes []int
		for i := range contentionSizes {
			n := children + 1 + (most-children-1)*i/(contentionSizes-1)
			if len(nodes) == 0 || n > nodes[len(nodes)-1] {
				nodes = append(nodes, n)
			}
		}
		plans = append(plans, contention.Plan{Children: []int{children}, Nodes: nodes, Runs: contentionRuns, Size: size, Pause: ContentionPause, Again: p.ContentionAgain})
	}
	return plans, nil
}

// measureContention measures it, and calls done with how many runs are over.
func (p *Plan) measureContention(ctx context.Context, done func(runs int)) (*viewtime.Contended, error) {
	plans, err := p.contentionPlans()
	if err != nil {
		return nil, err
	}
	var all []viewtime.Latency
	runs := 0
	for i := range plans {
		rows, err := plans[i].Run(ctx, func(n int) { done(runs + n) })
		if err != nil {
			return nil, err
		}
		runs += len(rows)
		for _, l := range contention.Latencies(rows) {
			l.Children = p.Arities[i]
			all = append(all, l)
		}
	}
	return viewtime.NewContended(all)
}
