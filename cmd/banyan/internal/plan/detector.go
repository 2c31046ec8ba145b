package plan

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"banyan/cmd/banyan/internal/cli"
	"banyan/internal/runtime/wire"
	"banyan/internal/study/planning/risk"
	"banyan/internal/study/table"
)

// detectorFlags are the flags of "plan detector", as given.
type detectorFlags struct {
	nodes  []int
	goal   risk.Goal
	format table.Format
}

func detectorCommand() *cobra.Command {
	f := detectorFlags{goal: risk.Goal{
		Platform: risk.Platform{Tau: 1e-6}, Risk: 1e-9, Rate: 10, Jitter: 50e-3, FrameBytes: wire.HeaderSize,
	}}
	cmd := &cobra.Command{
		Use:   "detector",
		Short: "Which heartbeat period η and time-out δ, at what cost and risk",
		Long: `The failure detector is proven to lead n nodes back to a stable configuration after
up to M = ⌊log2 n⌋ − 1 overlapping failures, in a time T(M) that grows with the time-out δ.
This command computes the largest δ for which more than M failures strike within T(M)
with no more than the accepted risk (Bosilca et al., RR-9024, section 3.3, figure 3), and
recommends η and δ:

  η   as short as --rate allows, and at least 3τ;
  δ   10η, so that several heartbeats in a row may be missing; no less than
      η + τ + jitter, so that no late heartbeat is taken for a death, and no less than
      4η + 2τ, which the detector needs to distinguish its own stall from another's
      silence; no more than the risk allows.

Spans are numbers with a unit: y (365.25 days), d, h, m, s, ms, us, ns. With several sizes
the table has a row for each. A node is a unit that fails alone and is watched alone: a
process, for a job of banyan run.

Exit codes: 0; 2 if the command line is wrong or no δ satisfies all of it.`,
		Example: `  # 256,000 nodes that fail every 20 years each
  banyan plan detector --nodes 256000 --mtbf-node 20y --tau 1us --risk 1e-9

  # the curve of figure 3 for 45 years, to be drawn
  banyan plan detector --nodes 1000,4000,16000,64000,256000 --mtbf-node 45y --format csv

  # a small cluster on TCP whose nodes may be late by half a second
  banyan plan detector --nodes 64 --mtbf-node 5y --tau 2ms --jitter 500ms`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntSliceVarP(&f.nodes, "nodes", "n", nil, "number of nodes, or several")
	flags.Var(&f.goal.MTBF, "mtbf-node", "mean time between failures of one node")
	flags.Lookup("mtbf-node").DefValue = "" // it must be given
	flags.Var(&f.goal.Tau, "tau", "longest time `span` τ that a message takes")
	flags.Float64Var(&f.goal.Risk, "risk", f.goal.Risk, "accepted probability of more overlapping failures than are covered")
	flags.Float64Var(&f.goal.Rate, "rate", f.goal.Rate, "heartbeats a second that each node may send")
	flags.Var(&f.goal.Jitter, "jitter", "longest `span` that a living node's heartbeat is late, beyond τ")
	cli.FormatFlag(flags, &f.format)
	for _, required := range []string{"nodes", "mtbf-node"} {
		if err := cmd.MarkFlagRequired(required); err != nil {
			panic(err) // there is no such flag
		}
	}
	return cmd
}

func (f *detectorFlags) run(w io.Writer) error {
	plans := make([]risk.Plan, 0, len(f.nodes))
	for _, n := range f.nodes {
		goal := f.goal
		goal.Nodes = n
		plan, err := risk.Recommend(goal)
		if err != nil {
			return cli.FlagError(err, map[string]string{"mtbf": "mtbf-node"})
		}
		plans = append(plans, plan)
	}
	if f.format == table.Text && len(plans) == 1 {
		return explainDetector(w, &plans[0])
	}
	return table.Write(w, f.format, detectorColumns, plans)
}

// detectorColumns are those of csv and json. Spans are in seconds.
var detectorColumns = []table.Column[risk.Plan]{
	table.Col("nodes", func(p *risk.Plan) any { return p.Nodes }),
	table.Col("mtbf_node_s", func(p *risk.Plan) any { return float64(p.MTBF) }),
	table.Col("tau_s", func(p *risk.Plan) any { return float64(p.Tau) }),
	table.Col("accepted_risk", func(p *risk.Plan) any { return p.Goal.Risk }),
	table.Col("covered_failures", func(p *risk.Plan) any { return p.MaxFailures }),
	table.Col("largest_timeout_s", func(p *risk.Plan) any { return float64(p.LargestTimeout) }),
	table.Col("least_timeout_s", func(p *risk.Plan) any { return float64(p.LeastTimeout) }),
	table.Col("period_s", func(p *risk.Plan) any { return float64(p.Period) }),
	table.Col("timeout_s", func(p *risk.Plan) any { return float64(p.Timeout) }),
	table.Col("detection_s", func(p *risk.Plan) any { return float64(p.Detection) }),
	table.Col("worst_detection_s", func(p *risk.Plan) any { return float64(p.WorstDetection) }),
	table.Col("stable_one_s", func(p *risk.Plan) any { return float64(p.Stable1) }),
	table.Col("stable_all_s", func(p *risk.Plan) any { return float64(p.StableM) }),
	table.Col("risk", func(p *risk.Plan) any { return p.Risk }),
	table.Col("messages_per_node_s", func(p *risk.Plan) any { return p.MessagesPerSecond }),
	table.Col("bytes_per_node_s", func(p *risk.Plan) any { return p.BytesPerSecond }),
}

// explainDetector writes one plan for people, with the reasons.
func explainDetector(w io.Writer, p *risk.Plan) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name string, value any, why string, args ...any) {
		fmt.Fprintf(out, "%s\t%v\t%s\n", name, value, fmt.Sprintf(why, args...))
	}
	line("nodes", p.Nodes, "one of them fails every %v (%v each)", p.Interval(), p.MTBF)
	line("covered", p.MaxFailures, "overlapping failures, ⌊log2 n⌋ − 1")
	line("largest δ", p.LargestTimeout, "above, more would overlap with a risk of over %g", p.Goal.Risk)
	line("least δ", p.LeastTimeout, "%v", p.Limit)
	line("η", p.Period, "%s", periodReason(p))
	line("δ", p.Timeout, "%s", timeoutReason(p))
	line("detection", p.Detection, "on average, by the observer: δ − η/2; at worst %v", p.WorstDetection)
	line("stable", p.Stable1, "at most, after one failure: all know, the ring is closed")
	line("", p.StableM, "at most, after %d overlapping ones", p.MaxFailures)
	line("risk", strconv.FormatFloat(p.Risk, 'g', 3, 64), "that more strike within that time")
	line("overhead", strconv.FormatFloat(p.MessagesPerSecond, 'g', 4, 64),
		"messages of %d bytes a second sent by each node, and received: %.4g B/s", p.FrameBytes, p.BytesPerSecond)
	if quiet := p.LargestTimeout / risk.Beats; quiet > p.Period {
		line("at least", strconv.FormatFloat(float64(1/quiet), 'g', 3, 64), "messages a second: the risk allows η up to %v with the largest δ", quiet)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nbanyan run --heartbeat-period %v --heartbeat-timeout %v …\n", clock(p.Period), clock(p.Timeout))
	return err
}

func periodReason(p *risk.Plan) string {
	if p.Period > risk.Seconds(1/p.Rate)*(1+1e-9) {
		return "3τ: broadcasts need room between heartbeats"
	}
	return fmt.Sprintf("%g heartbeats a second are allowed", p.Rate)
}

func timeoutReason(p *risk.Plan) string {
	switch beats := float64(p.Timeout / p.Period); {
	case p.Timeout == p.LargestTimeout:
		return fmt.Sprintf("the largest for the risk, %.3g η", beats)
	case p.Timeout == p.LeastTimeout:
		return fmt.Sprintf("the least that is accurate, %.3g η", beats)
	default:
		missing := int(float64((p.Timeout-p.Tau-p.Jitter)/p.Period)) - 1
		return fmt.Sprintf("%.3gη: %d heartbeats in a row may be missing and the next late", beats, missing)
	}
}

// clock is a span for the flags of run, to the microsecond.
func clock(s risk.Seconds) time.Duration {
	return time.Duration(float64(s) * 1e9).Round(time.Microsecond)
}
