package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/proto"
	"banyan/internal/study/detection/stabilisation"
	"banyan/internal/study/planning/risk"
	"banyan/internal/study/table"
)

// detectorFlags are the flags of "sim detector", as given.
type detectorFlags struct {
	nodes                []int
	period, timeout, tau risk.Seconds
	failures             string
	within, gap, mtbf    risk.Seconds
	wholeHost            bool
	hostSize             int
	ring, engine         string
	format               table.Format
	runs, workers        int
	seed                 uint64
	each, fixed          bool
}

func detectorCommand() *cobra.Command {
	f := detectorFlags{period: 10, timeout: 60, tau: 1e-6}
	cmd := &cobra.Command{
		Use:   "detector",
		Short: "Simulate the failure detector until all know of all failures",
		Long: `Simulates the failure detector under the one-port model: a node sends and receives one
message at a time, and each takes a time drawn from (0, τ]. In each run one node fails at time
0, and others later, by one of four laws:

  --failures N --within W   N in all, the others at times drawn from (0, W]
  --failures N --gap G      N in all, one after the other, G apart on average
  --mtbf M                  each node fails once in M on average, until all is known
  --host-failure            all nodes of one host, at once

A run ends when the configuration is stable: every live node knows of every failure.
The output is the time until all know of the first failure and until all know of all, the
failures that had struck by then, broadcasts and messages (since the first failure), and
theorem 1's bound T(f) (Bosilca et al., RR-9024).

The abstract engine computes when time-outs expire, as the authors' simulator did, and takes a
fraction of a millisecond for a run of any size; its numbers of heartbeats and news are
computed. The machine engine runs the detector of real jobs, each heartbeat of each
node. Both play the same failures for the same seed.

Spans are numbers with a unit: y, d, h, m, s, ms, us, ns.

Exit codes: 0; 1 if it was interrupted; 2 if the command line is wrong.`,
		Example: `  # 16 of 256,000 nodes fail within 50 s, 1,000 times (figure 4a's largest point)
  banyan sim detector --nodes 256000 --failures max --runs 1000

  # the same by the machines themselves, once
  banyan sim detector --nodes 256000 --failures max --engine machine

  # nodes that fail once a year each (figure 5)
  banyan sim detector --nodes 32000,64000,128000,256000 --mtbf 1y --runs 10000

  # what a dead host of 16 costs on a ring by rank, and on one that is interleaved
  banyan sim detector --nodes 1024 --host-size 16 --host-failure --ring rank
  banyan sim detector --nodes 1024 --host-size 16 --host-failure --ring interleaved

  # each run's outcome, to be drawn
  banyan sim detector --nodes 4096 --failures 11 --runs 10000 --each --format csv`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			campaigns, err := f.campaigns(cmd.Flags())
			if err != nil {
				return err
			}
			return f.simulate(cmd.Context(), cmd.OutOrStdout(), campaigns)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntSliceVarP(&f.nodes, "nodes", "n", []int{1024}, "number of nodes, or several")
	flags.Var(&f.period, "period", "time between heartbeats, η")
	flags.Var(&f.timeout, "timeout", "silence after which a node is taken for dead, δ")
	flags.Var(&f.tau, "tau", "longest time of a message, τ")
	flags.BoolVar(&f.fixed, "fixed", false, "every message takes τ, not a time drawn from (0, τ]")
	flags.StringVar(&f.failures, "failures", "1", "failures in each run, or max for the ⌊log2 n⌋ - 1 that theorem 1 covers")
	flags.Var(&f.within, "within", "window in which they strike (default δ - η: before the first is detected)")
	flags.Var(&f.gap, "gap", "they strike one after the other, so far apart on average")
	flags.Var(&f.mtbf, "mtbf", "nodes fail at random, once in this time each on average")
	for _, name := range []string{"within", "gap", "mtbf"} {
		flags.Lookup(name).DefValue = "" // that of 0s says nothing
	}
	flags.BoolVar(&f.wholeHost, "host-failure", false, "a whole host fails")
	flags.IntVar(&f.hostSize, "host-size", 1, "nodes that share a host, in the order of ranks")
	flags.StringVar(&f.ring, "ring", "rank", "order of the ring: rank, or interleaved by host")
	flags.StringVar(&f.engine, "engine", "abstract", "abstract or machine")
	flags.IntVar(&f.runs, "runs", 1, "runs for each number of nodes")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of all draws")
	cli.WorkersFlag(flags, &f.workers, "runs")
	cli.FormatFlag(flags, &f.format)
	flags.BoolVar(&f.each, "each", false, "print each run, not a summary")
	return cmd
}

// nanoseconds returns those of a span; a span that is too long gives more than any setting may
// be.
func nanoseconds(s risk.Seconds) proto.Time {
	if ns := float64(s) * 1e9; ns < float64(stabilisation.MaxTime) {
		return proto.Time(ns + 0.5)
	}
	return proto.Never
}

// campaigns makes a campaign for each number of nodes.
func (f *detectorFlags) campaigns(flags *pflag.FlagSet) ([]stabilisation.Campaign, error) {
	s := stabilisation.Settings{
		Period: nanoseconds(f.period), Timeout: nanoseconds(f.timeout), Tau: nanoseconds(f.tau), Fixed: f.fixed, HostSize: f.hostSize,
	}
	if err := f.law(&s, flags); err != nil {
		return nil, err
	}
	switch f.ring {
	case "rank":
	case "interleaved":
		s.Order = stabilisation.Interleaved
	default:
		return nil, fmt.Errorf("--ring: unknown order %q: want rank or interleaved", f.ring)
	}
	engine := stabilisation.Abstract
	switch f.engine {
	case "abstract":
	case "machine":
		engine = stabilisation.Machine
	default:
		return nil, fmt.Errorf("--engine: unknown engine %q: want abstract or machine", f.engine)
	}
	if len(f.nodes) == 0 {
		return nil, errors.New("--nodes: want at least one number")
	}
	var campaigns []stabilisation.Campaign
	for _, n := range f.nodes {
		c := stabilisation.Campaign{Settings: s, Engine: engine, Runs: f.runs, Seed: f.seed, Workers: f.workers}
		c.Nodes = n
		if c.Failures == 0 {
			c.Failures = max(1, c.MostFailures())
		}
		if err := c.Validate(); err != nil {
			return nil, fmt.Errorf("--%w", err) // fields are called as the flags
		}
		campaigns = append(campaigns, c)
	}
	return campaigns, nil
}

// law sets when nodes fail. 0 failures stand for the most that are covered.
func (f *detectorFlags) law(s *stabilisation.Settings, flags *pflag.FlagSet) error {
	s.Law, s.Failures = stabilisation.Forced, 1
	chosen := "failures"
	for _, other := range []struct {
		flag string
		law  stabilisation.Law
	}{{"gap", stabilisation.Paced}, {"mtbf", stabilisation.Exponential}, {"host-failure", stabilisation.WholeHost}} {
		if !flags.Changed(other.flag) {
			continue
		}
		if s.Law != stabilisation.Forced {
			return fmt.Errorf("--%s: excludes --%s: failures follow one law", other.flag, chosen)
		}
		s.Law, chosen = other.law, other.flag
	}
	if flags.Changed("failures") && (s.Law == stabilisation.Exponential || s.Law == stabilisation.WholeHost) {
		return fmt.Errorf("--failures: has no meaning with --%s, which says how many fail", chosen)
	}
	if flags.Changed("within") && s.Law != stabilisation.Forced {
		return fmt.Errorf("--within: has no meaning with --%s, which says when they fail", chosen)
	}
	if flags.Changed("host-failure") && !f.wholeHost {
		return errors.New("--host-failure: false: leave it out")
	}
	if f.failures == "max" {
		s.Failures = 0
	} else {
		n, err := strconv.Atoi(f.failures)
		if err != nil || n < 1 {
			return fmt.Errorf("--failures: %q: want a number from 1, or max", f.failures)
		}
		s.Failures = n
	}
	s.Gap, s.MTBF = nanoseconds(f.gap), nanoseconds(f.mtbf)
	if s.Within = nanoseconds(f.within); !flags.Changed("within") {
		s.Within = max(1, s.Timeout-s.Period)
	}
	return nil
}

func (f *detectorFlags) simulate(ctx context.Context, w io.Writer, campaigns []stabilisation.Campaign) error {
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	bar := progress.New(f.runs*len(campaigns), "simulating detectors")
	var summaries, runs []detectorRow
	for i := range campaigns {
		c := &campaigns[i]
		outcomes, err := c.Run(ctx, func(done int) { bar.Set(i*f.runs + done) })
		if err != nil {
			bar.Clear()
			return cli.Stopped(err)
		}
		summaries = append(summaries, detectorRow{Campaign: c, summary: c.Summarise(outcomes)})
		if f.each {
			for run := range outcomes {
				runs = append(runs, detectorRow{Campaign: c, run: run, Outcome: outcomes[run]})
			}
		}
	}
	bar.Clear()
	switch {
	case f.each:
		return table.Write(w, f.format, detectorRunColumns, runs)
	case f.format == table.Text && len(summaries) == 1:
		return explainStabilisation(w, &summaries[0])
	default:
		return table.Write(w, f.format, detectorColumns, summaries)
	}
}
