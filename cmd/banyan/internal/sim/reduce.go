package sim

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/study/driver/logp"
	"banyan/internal/study/table"
	"banyan/internal/topology"
	"banyan/internal/trace"
)

// reduceFlags are the flags of "sim reduce", as given.
type reduceFlags struct {
	c               logp.Reduction
	tree, numbering string
	k               int
	failed          failedFlags
	seed            uint64
	format          table.Format
	trace           string
	model           modelFlags
}

func reduceCommand() *cobra.Command {
	var f reduceFlags
	cmd := &cobra.Command{
		Use:   "reduce",
		Short: "Simulate a reduction along a corrected tree",
		Long: `Simulates one reduction: the contributions of all processes are combined at process 0,
although some are dead, without a failure detector. Each process first sends a copy of its
contribution to its neighbours on the ring. Then the contributions go up a tree; a parent stops
waiting for a silent child at a time known in advance. For a sum, contributions that dead processes
cut off are taken from their neighbours' copies in a second pass up the tree, so that none is
counted twice; with --idempotent (a maximum) all copies are combined in the first pass.
See docs/design/reduction.md.

The output is the messages sent; the latency, after which the root has the result; the
quiescence, after which nothing is under way; the live processes; the contributions included; the
live ones missing; those that the root knows by name to be missing; and the longest list of silent
processes in a message.`,
		Example: `  # a sum over 1,024 processes, and with ten of them dead
  banyan sim reduce --procs 1024
  banyan sim reduce --procs 1024 --failed-count 10 --seed 7

  # a maximum, of which 2 % are dead, over the optimal tree; for a program
  banyan sim reduce --procs 65536 --tree optimal --idempotent --failed-rate 2% --format json

  # a plain tree, without copies: what two deaths cost
  banyan sim reduce --procs 1024 --distance 0 --failed 1,6

  # a death on the way, and a picture of it
  banyan sim reduce --procs 16 --crash 'kill rank=1 at=step:5' --trace run.jsonl
  banyan trace run.jsonl --svg run.svg`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.complete(cmd.Flags()); err != nil {
				return err
			}
			o, err := f.simulate()
			if err != nil {
				return err
			}
			return writeReduction(cmd.OutOrStdout(), f.format, reductionRow{&f.c, o})
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntVarP(&f.c.Case.Procs, "procs", "n", 64, "number of processes")
	flags.IntVar(&f.c.Case.Latency, "latency", 2, "latency `L` of a message, in steps")
	flags.IntVar(&f.c.Case.Overhead, "overhead", 1, "overhead `o` of sending and receiving, in steps")
	flags.StringVar(&f.tree, "tree", "binomial", "binomial, kary, lame or optimal")
	flags.IntVar(&f.k, "k", 2, "children in a k-ary tree, order of a Lamé tree")
	flags.StringVar(&f.numbering, "numbering", "interleaved", "interleaved or inorder")
	flags.IntVar(&f.c.Distance, "distance", 2, "neighbours on each side that get a copy, 0 for a plain tree")
	flags.BoolVar(&f.c.Idempotent, "idempotent", false, "the operation may count a contribution twice, as a maximum may")
	f.failed.register(flags)
	flags.Uint64Var(&f.seed, "seed", 1, "seed of all random choices")
	cli.FormatFlag(flags, &f.format)
	flags.StringVar(&f.trace, "trace", "", "write all events to `FILE` as JSON lines")
	f.model.register(flags)
	return cmd
}

// complete makes a case of the flags.
func (f *reduceFlags) complete(flags *pflag.FlagSet) error {
	c := &f.c.Case
	c.Tree = logp.TreeKind(f.tree)
	var err error
	if c.Numbering, err = topology.ParseNumbering(f.numbering); err != nil {
		return fmt.Errorf("--numbering: %w", err)
	}
	if c.Tree.NeedsK() || flags.Changed("k") {
		c.K = f.k
	}
	if !flags.Changed("distance") {
		f.c.Distance = min(f.c.Distance, max(1, c.Procs-1))
	}
	if err := f.c.Validate(); err != nil {
		return flagError(err)
	}
	if err := f.failed.apply(c, f.seed); err != nil {
		return err
	}
	return f.model.apply(c, f.seed)
}

func (f *reduceFlags) simulate() (logp.ReductionOutcome, error) {
	bar := progress.New(-1, "simulating messages")
	defer bar.Clear()
	s := logp.Simulator{Progress: bar.Set}
	if f.trace == "" {
		o, err := s.Reduce(&f.c, nil)
		return o, flagError(err)
	}
	var o logp.ReductionOutcome
	err := writeTrace(f.trace, f.c.TraceHeader(), func(t *trace.Writer) (err error) {
		o, err = s.Reduce(&f.c, t)
		return err
	})
	return o, flagError(err)
}

// reductionRow is a reduction and its outcome.
type reductionRow struct {
	c *logp.Reduction
	o logp.ReductionOutcome
}

var reductionColumns = []table.Column[reductionRow]{
	table.Col("procs", func(r *reductionRow) any { return r.c.Case.Procs }),
	table.Col("L", func(r *reductionRow) any { return r.c.Case.Latency }),
	table.Col("o", func(r *reductionRow) any { return r.c.Case.Overhead }),
	table.Col("tree", func(r *reductionRow) any { return string(r.c.Case.Tree) }),
	table.Col("k", func(r *reductionRow) any {
		if r.c.Case.K == 0 {
			return nil
		}
		return r.c.Case.K
	}),
	table.Col("numbering", func(r *reductionRow) any { return r.c.Case.Numbering.String() }),
	table.Col("distance", func(r *reductionRow) any { return r.c.Distance }),
	table.Col("idempotent", func(r *reductionRow) any { return r.c.Idempotent }),
	table.Col("failed_count", func(r *reductionRow) any { return r.c.Case.Procs - r.o.Live - r.o.Crashed }),
	table.Col("messages", func(r *reductionRow) any { return r.o.Messages }),
	table.Col("latency", func(r *reductionRow) any { return int(r.o.Latency) }),
	table.Col("quiescence", func(r *reductionRow) any { return int(r.o.Quiescence) }),
	table.Col("live", func(r *reductionRow) any { return r.o.Live }),
	table.Col("included", func(r *reductionRow) any { return r.o.Included }),
	table.Col("missing", func(r *reductionRow) any { return r.o.Missing }),
	table.Col("named", func(r *reductionRow) any { return r.o.Named }),
	table.Col("mended", func(r *reductionRow) any { return r.o.Mended }),
	table.Col("longest_list", func(r *reductionRow) any { return r.o.Longest }),
	table.Col("crashed", func(r *reductionRow) any { return r.o.Crashed }),
}

// writeReduction writes one reduction; for people a line for each column.
func writeReduction(w io.Writer, format table.Format, row reductionRow) error {
	if format != table.Text {
		return table.Write(w, format, reductionColumns, []reductionRow{row})
	}
	return table.WriteRecord(w, reductionColumns, &row)
}
