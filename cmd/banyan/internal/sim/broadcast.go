package sim

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/study/campaign/incremental"
	"banyan/internal/study/driver/logp"
	"banyan/internal/study/field"
	"banyan/internal/study/table"
	"banyan/internal/topology"
	"banyan/internal/trace"
	"banyan/internal/trace/summary"
)

// broadcastFlags are the flags of "sim broadcast", as given.
type broadcastFlags struct {
	procs, latency, overhead, k, delay           int
	tree, numbering, correction, start, distance string
	failed                                       failedFlags
	seed                                         uint64
	format                                       table.Format
	trace, cases                                 string
	check                                        bool
	gossipTime, gossipRounds                     int
	model                                        modelFlags
}

func broadcastCommand() *cobra.Command {
	var f broadcastFlags
	cmd := &cobra.Command{
		Use:   "broadcast",
		Short: "Simulate a broadcast along a corrected tree, or by corrected gossip",
		Long: `Simulates one broadcast and prints a summary, or with --cases a table of broadcasts.
Times are in steps. The root, process 0, has the message from the start; a process
is coloured when it has received it.

  messages    sent by all, also to dead processes; for each process; by purpose:
              dissemination (along the tree, or gossip), correction (round the ring),
              acknowledgement; how many were lost at dead processes
  unreached   live processes that were never coloured; what coloured the others
  coloring    coloring latency: when the last live process was coloured; when half, 90 %
              and 99 % of the coloured ones were
  quiescence  quiescence latency: when nothing was under way any more, the end of the
              last receive, or an arrival at a dead process
  max_gap     the longest run round the ring of processes that dissemination did not
              reach, dead or not; how many such gaps there were, by length
  histogram   how many processes were coloured when

With --format (table, csv, json) there is instead a row with all parameters and
messages, unreached, coloring, quiescence, max_gap and, where some were to crash,
crashed: how many did.

A table for --cases is CSV with the columns procs, L, o, tree, k, numbering, correction,
start and failed (numbers separated by spaces), in any order; these may be there too:
distance, delay, gossip_time, gossip_rounds, gossip_seed, crashes (as for --crash), gap,
node_size, placement, node_seed, latency_within, noise, noise_seed, and the outcome,
which --check compares.

Synchronised checked correction among processes dead from the start is worked out from
what the deaths change, which takes a fraction of the time; all else, and with --trace
also that, is played message for message. The outcomes are the same.

Exit codes: 0; 1 if --check finds a difference; 2 if the command line or the
table is wrong.`,
		Example: `  # 1,024 processes, two of them dead, checked correction
  banyan sim broadcast --procs 1024 --correction checked --start synchronized --failed 3,17

  # the same, with 20 dead processes chosen by a seed, and a trace of all messages
  banyan sim broadcast --procs 1024 --correction checked --failed-count 20 --seed 7 --trace run.jsonl

  # gossip for 20 steps in place of a tree; corrections to three neighbours, in one direction
  banyan sim broadcast --procs 1024 --gossip-time 20
  banyan sim broadcast --procs 1024 --correction optimized --distance 0:3

  # the cost of reaching every process although some may die meanwhile
  banyan sim broadcast --procs 1024 --correction failure-proof

  # nodes of 16 with neighbours on different ones, two nodes dead, a third process dying on the way
  banyan sim broadcast --procs 1024 --node-size 16 --placement striped --failed-nodes 2 --crash 'kill rank=5 at=send:2'

  # which of the reference broadcasts come out differently?
  banyan sim broadcast --cases internal/study/driver/logp/testdata/logp-broadcast.csv --check --format csv`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.cases != "" {
				if f.format == "" {
					f.format = table.Text
				}
				return simulateCases(cmd, &f)
			}
			return simulateBroadcast(cmd, &f)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntVarP(&f.procs, "procs", "n", 64, "number of processes")
	flags.IntVar(&f.latency, "latency", 2, "latency `L` of a message, in steps")
	flags.IntVar(&f.overhead, "overhead", 1, "overhead `o` of sending and receiving, in steps")
	flags.StringVar(&f.tree, "tree", "binomial", "binomial, kary, lame, optimal or gossip")
	flags.IntVar(&f.k, "k", 2, "children in a k-ary tree, order of a Lamé tree")
	flags.IntVar(&f.gossipTime, "gossip-time", 0, "gossip in place of a tree, for so many steps")
	flags.IntVar(&f.gossipRounds, "gossip-rounds", 0, "gossip in place of a tree, for so many rounds")
	flags.StringVar(&f.numbering, "numbering", "interleaved", "interleaved or inorder")
	flags.StringVar(&f.correction, "correction", "checked", "none, ack, checked, optimized, ordered, skip-ahead, opportunistic, delayed or failure-proof")
	flags.StringVar(&f.start, "start", "", "when corrections start: synchronized (default of checked and delayed) or overlapped (of the others)")
	flags.StringVar(&f.distance, "distance", "2", "neighbours on each side that optimized, ordered, skip-ahead and opportunistic correction send\nto; `L:R` for others on the left than on the right, as in 0:4 for one direction")
	flags.IntVar(&f.delay, "delay", 0, "how long delayed correction waits for its right neighbour, in steps (default 2o + L, what a\nmessage takes)")
	f.failed.register(flags)
	flags.Uint64Var(&f.seed, "seed", 1, "seed of all random choices")
	flags.Var(&f.format, "format", "table, csv or json: a row of all parameters and results; without it one broadcast has a\nsummary, --cases a table")
	flags.StringVar(&f.trace, "trace", "", "write all events to `FILE` as JSON lines")
	flags.StringVar(&f.cases, "cases", "", "simulate every row of a table, `FILE`.csv")
	flags.BoolVar(&f.check, "check", false, "with --cases: compare with the outcomes in the table")
	f.model.register(flags)
	return cmd
}

// simulateBroadcast runs the one broadcast that the flags describe.
func simulateBroadcast(cmd *cobra.Command, f *broadcastFlags) error {
	if f.check {
		return errors.New("--check compares with a table: give one by --cases")
	}
	c, err := f.theCase(cmd.Flags())
	if err != nil {
		return err
	}
	if f.trace == "" {
		// A broadcast without a trace makes no garbage: what it allocates, it uses to its end.
		debug.SetGCPercent(-1)
	}
	var told *summary.Summary
	var listener logp.Listener
	if f.format == "" {
		told = new(summary.Summary)
		listener = told
	}
	outcome, err := f.simulate(&c, listener)
	if err != nil {
		return flagError(err)
	}
	if caveat := c.Caveat(); caveat != "" {
		fmt.Fprintf(os.Stderr, "banyan: note: %s\n", caveat)
	}
	if told != nil {
		fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n", c.Describe())
		return told.Write(cmd.OutOrStdout())
	}
	t := logp.NewTable(logp.Row{Case: c, Outcome: outcome})
	return t.Write(cmd.OutOrStdout(), f.format)
}

// simulate evaluates a case from what its deaths change, where that can be done and nobody wants to
// see each message. Otherwise it plays it.
func (f *broadcastFlags) simulate(c *logp.Case, listener logp.Listener) (outcome logp.Outcome, err error) {
	if f.trace == "" {
		if e, err := incremental.New(c); err == nil {
			e.Listener = listener
			return e.Run(c.Failed)
		} else if !errors.Is(err, incremental.ErrNotCovered) {
			return outcome, err
		}
	}
	simulator := logp.Simulator{Listener: listener}
	bar := progress.New(-1, "simulating messages")
	defer bar.Clear()
	simulator.Progress = bar.Set
	if f.trace == "" {
		return simulator.Run(c, nil)
	}
	err = writeTrace(f.trace, c.TraceHeader(), func(t *trace.Writer) (err error) {
		outcome, err = simulator.Run(c, t)
		return err
	})
	return outcome, err
}

// theCase makes a case of the flags.
func (f *broadcastFlags) theCase(flags *pflag.FlagSet) (logp.Case, error) {
	c := logp.Case{
		Procs: f.procs, Latency: f.latency, Overhead: f.overhead,
		Tree: logp.TreeKind(f.tree),
	}
	var err error
	if c.Numbering, err = topology.ParseNumbering(f.numbering); err != nil {
		return c, flagError(field.Wrap("numbering", err))
	}
	if c.Correction, err = broadcast.ParseCorrection(f.correction); err != nil {
		return c, flagError(field.Wrap("correction", err))
	}
	if (flags.Changed("gossip-time") || flags.Changed("gossip-rounds")) && !flags.Changed("tree") {
		c.Tree = logp.Gossip
	}
	c.Gossip = broadcast.Gossip{Until: proto.Time(f.gossipTime), Rounds: f.gossipRounds}
	if c.Tree == logp.Gossip {
		c.Gossip.Seed = f.seed
	}
	// Some defaults are used only with the trees and corrections that they fit.
	if c.Tree.NeedsK() || flags.Changed("k") {
		c.K = f.k
	}
	if flags.Changed("distance") || c.Correction.HasDistance() {
		if err := c.SetDistance(f.distance); err != nil {
			return c, flagError(field.Wrap("distance", err))
		}
		if !flags.Changed("distance") {
			c.Distance = min(c.Distance, max(1, c.Procs-1))
		}
	}
	if c.Delay = f.delay; c.Correction == broadcast.Delayed && !flags.Changed("delay") {
		c.Delay = 2*c.Overhead + c.Latency
	}
	start := f.start
	if start == "" {
		start = c.Correction.DefaultStart()
	}
	if c.Synchronised, err = logp.ParseStart(start, c.Correction); err != nil {
		return c, flagError(field.Wrap("start", err))
	}
	if err := f.failed.apply(&c, f.seed); err != nil {
		return c, err
	}
	return c, f.model.apply(&c, f.seed)
}

// simulateCases runs a table.
func simulateCases(cmd *cobra.Command, f *broadcastFlags) error {
	for _, name := range append([]string{
		"procs", "latency", "overhead", "tree", "k", "gossip-time", "gossip-rounds", "numbering", "correction", "start", "seed", "trace",
	}, slices.Concat(failedFlagNames, modelFlagNames)...) {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s has no meaning with --cases: the table says what to simulate", name)
		}
	}
	if err := new(logp.Case).SetDistance(f.distance); err != nil {
		return fmt.Errorf("--distance: %w", err)
	}
	var t *logp.Table
	err := cli.ReadFile(f.cases, func(file io.Reader) (err error) {
		if t, err = logp.ReadTable(file, f.distance); err != nil {
			return fmt.Errorf("%s: %w", f.cases, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	bar := progress.New(len(t.Rows), "simulating broadcasts")
	err = t.Run(new(logp.Simulator), bar.Set)
	bar.Clear()
	if err != nil {
		return fmt.Errorf("%s: %w", f.cases, err)
	}
	t.AddOutcomeColumns()
	if err := t.Write(cmd.OutOrStdout(), f.format); err != nil {
		return err
	}
	if f.check {
		return checkTable(cmd.ErrOrStderr(), t, f.cases)
	}
	return nil
}

// checkTable reports every row that differs from its table.
func checkTable(w io.Writer, t *logp.Table, path string) error {
	different, unchecked := 0, 0
	for i := range t.Rows {
		r := &t.Rows[i]
		if len(r.Expected) == 0 {
			unchecked++
		}
		if d := r.Difference(); d != "" {
			different++
			fmt.Fprintf(w, "%s: line %d: %s\n", path, r.Line, d)
		}
	}
	if different > 0 {
		return cli.Failedf("%d of %d rows differ", different, len(t.Rows))
	}
	if unchecked > 0 {
		return cli.Failedf("%d of %d rows have no outcome to check", unchecked, len(t.Rows))
	}
	fmt.Fprintf(w, "all %d rows match\n", len(t.Rows))
	return nil
}
