package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"banyan/bench/loggp"
	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/study/field"
	"banyan/internal/study/planning/risk"
	"banyan/internal/study/replication"
	"banyan/internal/study/replication/pattern"
	"banyan/internal/study/table"
)

const patternsLong = `Patterns runs programs with the communication of "banyan sim replication" as real jobs on this machine,
and sets what the simulator says of each beside it: microseconds of one step, and by how much the real one
takes longer. What messages cost comes from --network, a file that "banyan bench loggp --out FILE" wrote
here; without it the costs are measured first.

The simulator gives each process a processor of its own. Where there are fewer cores than processes
(shared), the processes sleep in place of computing, so that they are seldom in each other's way; but what
they do with messages still has to share the cores, and what they wait for each other comes on top. Such
rows say whether the overheads are of one size, no more.

Exit codes: 0, however far apart they are; 1 if something couldn't be measured, 130 if it was interrupted;
2 if the command line or the file is wrong.`

const patternsExample = `  banyan bench loggp --out here.json
  banyan bench patterns --network here.json               # a minute
  banyan bench patterns --network here.json --pattern cg,fft --ranks 4 --bytes 1024,16384 --replicas 1`

// patternsFlags are the flags of "bench patterns", as given.
type patternsFlags struct {
	bench           loggp.Bench
	patterns        []string
	ranks, replicas []int
	bytes           []int64
	steps           int
	compute         risk.Seconds
	network         string
	format          table.Format
}

func patternsCommand() *cobra.Command {
	f := patternsFlags{compute: 2e-3}
	cmd := &cobra.Command{
		Use:     "patterns",
		Short:   "Simulated programs beside the same ones as real jobs",
		Long:    patternsLong,
		Example: patternsExample,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	flags := cmd.Flags()
	registerLoggp(cmd, &f.bench, &f.format, 5)
	flags.StringVar(&f.network, "network", "", "what messages cost: a `FILE` of banyan bench loggp (default measured now)")
	flags.StringSliceVar(&f.patterns, "pattern", []string{"halo2d", "stencil-cg", "cg", "fft"}, "of "+oneOf(pattern.Kinds()))
	flags.IntSliceVarP(&f.ranks, "ranks", "n", []int{2}, "number of ranks, or several")
	flags.IntSliceVarP(&f.replicas, "replicas", "r", []int{1, 2}, "replicas of each rank, or several")
	flags.Int64SliceVar(&f.bytes, "bytes", []int64{8, 16 << 10}, "bytes of a message, or several")
	flags.IntVar(&f.steps, "steps", 200, "steps of a program")
	flags.Var(&f.compute, "compute", "computation of a step")
	return cmd
}

var patternColumns = []table.Column[loggp.Compared]{
	table.Col("pattern", func(c *loggp.Compared) any { return c.Kind }),
	table.Col("ranks", func(c *loggp.Compared) any { return c.Ranks }),
	table.Col("replicas", func(c *loggp.Compared) any { return c.Replicas }),
	table.Col("bytes", func(c *loggp.Compared) any { return c.Bytes }),
	table.Col("cores", func(c *loggp.Compared) any { return cores(c.Shared) }),
	table.Col("real_us", func(c *loggp.Compared) any { return c.Real.Median }),
	table.Col("q1", func(c *loggp.Compared) any { return c.Real.Low }),
	table.Col("q3", func(c *loggp.Compared) any { return c.Real.High }),
	table.Col("simulated_us", func(c *loggp.Compared) any { return c.Simulated }),
	table.Col("real_longer_%", func(c *loggp.Compared) any { return 100 * c.Off() }),
}

func cores(shared bool) string {
	if shared {
		return "shared"
	}
	return "own"
}

// programs are all that is run.
func (f *patternsFlags) programs(c replication.Costs) (all []loggp.Program, err error) {
	const mostProcesses, mostSteps = 64, 100_000
	if f.steps < 10 || f.steps > mostSteps {
		return nil, field.Errorf("steps", "%d: want 10 to %d", f.steps, mostSteps)
	}
	for _, kind := range f.patterns {
		for _, ranks := range f.ranks {
			for _, bytes := range f.bytes {
				for _, replicas := range f.replicas {
					p := loggp.Program{Kind: kind, Ranks: ranks, Replicas: replicas, Bytes: bytes, Steps: f.steps, Compute: time.Duration(float64(f.compute) * 1e9)}
					if err := p.Validate(c); err != nil {
						return nil, err
					}
					if ranks*replicas > mostProcesses {
						return nil, field.Errorf("ranks", "%d of %d replicas: want at most %d processes, which this machine runs", ranks, replicas, mostProcesses)
					}
					all = append(all, p)
				}
			}
		}
	}
	if len(all) == 0 {
		return nil, field.Errorf("pattern", "nothing is to be run")
	}
	return all, nil
}

func (f *patternsFlags) run(ctx context.Context, out io.Writer) error {
	if err := prepareLoggp(&f.bench); err != nil {
		return err
	}
	n, _ := replication.NetworkNamed("infiniband") // only to check the programs, if the costs are measured
	if f.network != "" {
		if err := cli.ReadFile(f.network, func(r io.Reader) (err error) {
			n, err = replication.ReadNetwork(r)
			return err
		}); err != nil {
			return fmt.Errorf("--network: %s: %w", f.network, err)
		}
	}
	programs, err := f.programs(n.Costs)
	if err != nil {
		return cli.FlagError(err, nil)
	}
	if slices.ContainsFunc(programs, func(p loggp.Program) bool { return p.Ranks > runtime.NumCPU() }) {
		fmt.Fprintln(os.Stderr, "banyan: this machine has fewer cores than ranks: even jobs without replicas share them")
	}
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	jobs := f.bench.Rounds * len(programs)
	if f.network == "" {
		jobs += f.bench.Steps()
	}
	bar := progress.NewLong(jobs, "jobs")
	defer bar.Clear()
	f.bench.Progress = bar.Step
	if f.network == "" {
		costs, err := f.bench.Costs(ctx)
		if err != nil {
			return unmeasured(ctx, err)
		}
		n = loggp.Network("this machine", costs)
	}
	rows, err := f.bench.Compare(ctx, programs, n.Costs)
	if err != nil {
		return unmeasured(ctx, err)
	}
	bar.Clear()
	return table.Write(out, f.format, patternColumns, rows)
}
