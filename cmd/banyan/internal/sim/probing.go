package sim

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/study/detection/probing"
	"banyan/internal/study/table"
)

// probingFlags are the flags of "sim probing", as given.
type probingFlags struct {
	nodes         []int
	runs, workers int
	seed          uint64
	risk          float64
	format        table.Format
}

func probingCommand() *cobra.Command {
	var f probingFlags
	cmd := &cobra.Command{
		Use:   "probing",
		Short: "How many rounds of random probes reach every node, and how many hit one",
		Long: `In a round of a randomised failure detector each node probes one other, chosen at
random. This command simulates how many rounds pass until every node has been probed, and how
many probes hit the most probed node in a round, which a time-out must allow for (Bosilca et al.,
RR-9024, figures 6 and 7). Beside them are the exact probability that a node isn't probed in a
round, and the rounds after which a given node (rounds_one), or any of them (rounds_all), has not
been probed with a probability of no more than --risk.

Exit codes: 0; 1 if it was interrupted; 2 if the command line is wrong.`,
		Example: `  # the sizes that the report's text mentions
  banyan sim probing --nodes 20000,100000 --runs 1000

  # both figures, with 10,000 runs a point as in the report: some minutes
  banyan sim probing --nodes 1000,4000,16000,64000,100000,256000 --runs 10000 --format csv`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntSliceVarP(&f.nodes, "nodes", "n", []int{100_000}, "number of nodes, or several")
	flags.IntVar(&f.runs, "runs", 1000, "runs of each size and quantity")
	flags.Float64Var(&f.risk, "risk", 1e-9, "accepted probability that a node isn't probed")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of all draws")
	cli.WorkersFlag(flags, &f.workers, "runs simulated")
	cli.FormatFlag(flags, &f.format)
	return cmd
}

// probingRow is a size and its results.
type probingRow struct {
	nodes        int
	risk         float64
	rounds, most probing.Histogram
}

func (f *probingFlags) run(ctx context.Context, w io.Writer) error {
	switch {
	case !(f.risk > 0 && f.risk < 1):
		return fmt.Errorf("--risk: %g: want a probability above 0 and below 1", f.risk)
	case f.runs < 1:
		return fmt.Errorf("--runs: %d: want at least 1", f.runs)
	}
	for _, n := range f.nodes {
		spec := probing.Spec{Nodes: n, Runs: f.runs}
		if err := spec.Validate(); err != nil {
			return fmt.Errorf("--nodes: %w", err)
		}
	}
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	bar := progress.New(2*f.runs*len(f.nodes), "simulating rounds")
	defer bar.Clear()
	rows := make([]probingRow, 0, len(f.nodes))
	before := 0
	for _, n := range f.nodes {
		spec := probing.Spec{Nodes: n, Runs: f.runs, Seed: f.seed, Workers: f.workers}
		spec.Done = func(runs int) { bar.Set(before + runs) }
		row := probingRow{nodes: n, risk: f.risk}
		var err error
		if row.rounds, err = probing.RoundsUntilAll(ctx, spec); err == nil {
			before += f.runs
			row.most, err = probing.MostProbes(ctx, spec)
			before += f.runs
		}
		if err != nil {
			return cli.Stopped(err)
		}
		rows = append(rows, row)
	}
	bar.Clear()
	return table.Write(w, f.format, probingColumns, rows)
}

var probingColumns = []table.Column[probingRow]{
	table.Col("nodes", func(r *probingRow) any { return r.nodes }),
	table.Col("unprobed", func(r *probingRow) any { return probing.Unprobed(r.nodes) }),
	table.Col("rounds_one", func(r *probingRow) any { return probing.RoundsForOne(r.nodes, r.risk) }),
	table.Col("rounds_all", func(r *probingRow) any { return probing.RoundsForAll(r.nodes, r.risk) }),
	table.Col("rounds_theory", func(r *probingRow) any { return probing.MeanRounds(r.nodes) }),
	table.Col("runs", func(r *probingRow) any { return r.rounds.Runs() }),
	table.Col("rounds_mean", func(r *probingRow) any { return mean(&r.rounds) }),
	table.Col("rounds_half_width", func(r *probingRow) any { return halfWidth(&r.rounds) }),
	table.Col("rounds_max", func(r *probingRow) any { return r.rounds.Quantile(1) }),
	table.Col("most_mean", func(r *probingRow) any { return mean(&r.most) }),
	table.Col("most_half_width", func(r *probingRow) any { return halfWidth(&r.most) }),
	table.Col("most_max", func(r *probingRow) any { return r.most.Quantile(1) }),
}

func mean(h *probing.Histogram) float64 {
	m, _ := h.Mean()
	return m
}

// halfWidth is nil for a single run.
func halfWidth(h *probing.Histogram) any {
	_, half := h.Mean()
	return table.Optional(half, h.Runs() > 1)
}
