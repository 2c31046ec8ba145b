package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/study/oneworld"
	"banyan/internal/study/parallel"
	"banyan/internal/study/table"
)

// jobFlags are the flags of "sim job", as given.
type jobFlags struct {
	settings      oneworld.Settings
	seed          uint64
	runs, workers int
	log           bool
	bug           string
	format        table.Format
}

func jobCommand() *cobra.Command {
	f := jobFlags{}
	cmd := &cobra.Command{
		Use:   "job",
		Short: "Simulate whole jobs: processes, agents, steward and console, under faults",
		Long: `Plays whole jobs in one simulated world: the machines of the processes (replication, detector,
membership, recovery) and of the agents (leases, steward), with a model of the network, of clocks
that differ, of starting, and of output. Everything is drawn from the seed: hosts, ranks, the
program's length, and the faults, which are deaths of processes, agents, hosts and the console,
processes, agents and hosts that stop for a while, cuts that drop or reject, one-way loss, flapping and
lost packets. The same seed gives the same run.

Each run must keep the promises of jobs: the output is that of an undisturbed run, or a rank is lost
of which no replica was left, or no majority of the voters was left; a process that counts as dead
doesn't act; no wait is without end; nothing is left behind. The table counts how runs ended. A run
that breaks a promise is shown with its seed, and --log plays one run and tells what happened.

  finished     exit code 0, and the whole output
  rank lost    exit code 1: every replica of a rank had died
  no majority  no side could decide: all agents have ended
  broken       a promise was broken

--bug makes a mistake on purpose, which the checks must find.

Exit codes: 0; 1 if a promise was broken, or if it was interrupted; 2 if the command line is wrong.`,
		Example: `  # a thousand jobs
  banyan sim job --runs 1000

  # what happens in run 68, step by step
  banyan sim job --seed 68 --log

  # are mistakes found?
  banyan sim job --runs 50 --bug 'forgotten lease'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.runs < 1 || f.workers < 1 {
				return errors.New("--runs, --workers: want 1 at least")
			}
			if f.log && f.runs != 1 {
				if cmd.Flags().Changed("runs") {
					return errors.New("--log: want one run, without --runs")
				}
			}
			var err error
			if f.settings.Bug, err = oneworld.ParseBug(f.bug); err != nil {
				return fmt.Errorf("--bug: %w", err)
			}
			if err := f.settings.Validate(); err != nil {
				return fmt.Errorf("--%w", err)
			}
			cmd.SilenceUsage = true
			if f.log {
				return f.show(cmd.OutOrStdout())
			}
			return f.simulate(cmd.Context(), cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Uint64Var(&f.seed, "seed", 0, "the first run's seed; the next run has the next one")
	flags.IntVar(&f.runs, "runs", 200, "runs")
	flags.BoolVar(&f.log, "log", false, "play one run, and tell what happens")
	flags.IntVar(&f.settings.Hosts, "hosts", 0, "hosts with processes, 2 to 32; 0: as the seed says")
	flags.IntVar(&f.settings.Ranks, "ranks", 0, "ranks, 2 to 64; 0: as the seed says")
	flags.IntVar(&f.settings.Replicas, "replicas", 0, "replicas of each rank, 2 to 4; 0: as the seed says")
	flags.IntVar(&f.settings.Rounds, "rounds", 0, "rounds of the program; 0: as the seed says")
	flags.StringVar(&f.bug, "bug", oneworld.NoBug.String(), "a mistake to make: "+strings.Join(oneworld.BugNames(), ", "))
	cli.WorkersFlag(flags, &f.workers, "runs")
	cli.FormatFlag(flags, &f.format)
	return cmd
}

// show plays one run and writes what happens.
func (f *jobFlags) show(out io.Writer) error {
	s := f.settings
	s.Seed = f.seed
	s.Log = func(line string) { fmt.Fprintln(out, line) }
	r := oneworld.Run(s)
	fmt.Fprintf(out, "\n%s after %.3f s\n", r.Outcome, r.Seconds())
	if r.Err != nil {
		return cli.Failed(fmt.Errorf("seed %d: %w", f.seed, r.Err))
	}
	return nil
}

// jobRow counts the runs that ended alike.
type jobRow struct {
	outcome                string
	runs                   int
	seconds, terms, starts float64
	longest                float64
}

func (f *jobFlags) simulate(ctx context.Context, out io.Writer) error {
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	bar := progress.New(f.runs, "simulating jobs")
	results := make([]*oneworld.Result, f.runs)
	players := make([]oneworld.Player, f.workers)
	err := parallel.Each(ctx, f.runs, f.workers, bar.Set, func(worker, i int) error {
		s := f.settings
		s.Seed = f.seed + uint64(i)
		results[i] = players[worker].Run(s)
		return nil
	})
	bar.Clear()
	if err != nil {
		return cli.Stopped(err)
	}
	var rows []jobRow
	for _, name := range oneworld.Outcomes() {
		row := jobRow{outcome: name}
		for _, r := range results {
			if r.Outcome == name {
				row.runs++
				row.seconds += r.Seconds()
				row.longest = max(row.longest, r.Seconds())
				row.terms += float64(r.Terms)
				row.starts += float64(r.Started)
			}
		}
		rows = append(rows, row)
	}
	mean := func(sum func(r *jobRow) float64) func(r *jobRow) any {
		return func(r *jobRow) any { return table.Optional(sum(r)/float64(max(r.runs, 1)), r.runs > 0) }
	}
	columns := []table.Column[jobRow]{
		table.Col("outcome", func(r *jobRow) any { return r.outcome }),
		table.Col("runs", func(r *jobRow) any { return r.runs }),
		table.Col("mean_s", mean(func(r *jobRow) float64 { return r.seconds })),
		table.Col("longest_s", func(r *jobRow) any { return table.Optional(r.longest, r.runs > 0) }),
		table.Col("stewards", mean(func(r *jobRow) float64 { return r.terms })),
		table.Col("processes", mean(func(r *jobRow) float64 { return r.starts })),
	}
	if err := table.Write(out, f.format, columns, rows); err != nil {
		return err
	}
	var broken []error
	for i, r := range results {
		if r.Err != nil {
			broken = append(broken, fmt.Errorf("seed %d: %w", f.seed+uint64(i), r.Err))
		}
	}
	switch n := len(broken); {
	case n == 0:
		return nil
	case n > 5:
		return cli.Failed(fmt.Errorf("%d of %d runs broke a promise; the first are:\n%w", n, f.runs, errors.Join(broken[:5]...)))
	default:
		return cli.Failed(fmt.Errorf("%d of %d runs broke a promise:\n%w", n, f.runs, errors.Join(broken...)))
	}
}
