package sim

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"banyan/cmd/banyan/internal/cli"
	"banyan/internal/proto"
	"banyan/internal/study/agreement"
	"banyan/internal/study/table"
	"banyan/internal/topology"
)

// agreementFlags are the flags of "sim agreement", as given.
type agreementFlags struct {
	c         agreement.Case
	numbering string
	k         int
	dead      []int
	kill      []string
	format    table.Format
}

func agreementCommand() *cobra.Command {
	var f agreementFlags
	cmd := &cobra.Command{
		Use:   "agreement",
		Short: "Simulate an agreement that survives deaths: agree and shrink",
		Long: `Simulates one agreement of the members of a communicator, as MPI's agree and shrink make it (the
machine of internal/proto/agreement). Contributions go up a tree of the living, the lowest live
member decides, and the decision comes down; each member returns when it has it. When the root dies,
all report to the next one. With --strict no member returns before all live ones have the decision,
which takes a second agreement.

All enter at step 0. All live members hear of a death --notice steps after it.

The output is the messages sent and their bytes, without headers; when the first and the last live
member returned; the quiescence, after which nothing is under way; the live members; the
contributions that aren't in the decision; and with --close the messages by which the members
afterwards agree to forget it.`,
		Example: `  # 64 members in a tree, and in a star
  banyan sim agreement --procs 64
  banyan sim agreement --procs 64 --tree star

  # beside it, a reduction and a broadcast along a plain tree
  banyan sim reduce --procs 64 --distance 0
  banyan sim broadcast --procs 64 --correction none

  # the root dies when it has told some, and all hear of it 50 steps later
  banyan sim agreement --procs 64 --kill 0@26 --notice 50

  # two members are known to be dead; for a program
  banyan sim agreement --procs 64 --dead 0,1 --format json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.complete(cmd.Flags()); err != nil {
				return err
			}
			o, err := agreement.Simulate(&f.c)
			if err != nil {
				return flagError(err)
			}
			return writeAgreement(cmd.OutOrStdout(), f.format, agreementRow{&f.c, o})
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntVarP(&f.c.Procs, "procs", "n", 64, "number of members")
	flags.IntVar(&f.c.Latency, "latency", 2, "latency `L` of a message, in steps")
	flags.IntVar(&f.c.Overhead, "overhead", 1, "overhead `o` of sending and receiving, in steps")
	flags.StringVar(&f.c.Tree, "tree", "binomial", "star, binomial, kary, lame or optimal")
	flags.IntVar(&f.k, "k", 2, "children in a k-ary tree, order of a Lamé tree")
	flags.StringVar(&f.numbering, "numbering", "inorder", "interleaved or inorder")
	flags.IntSliceVar(&f.dead, "dead", nil, "`MEMBERS` that are dead, and known to be")
	flags.StringSliceVar(&f.kill, "kill", nil, "deaths on the way, as `MEMBER@STEP`")
	flags.IntVar(&f.c.Notice, "notice", 20, "`STEPS` from a death until all live members have heard of it")
	flags.BoolVar(&f.c.Strict, "strict", false, "a member returns when all live ones have the decision")
	flags.BoolVar(&f.c.Close, "close", false, "the members close the communicator afterwards")
	cli.FormatFlag(flags, &f.format)
	return cmd
}

// complete makes a case of the flags.
func (f *agreementFlags) complete(flags *pflag.FlagSet) error {
	var err error
	if f.c.Numbering, err = topology.ParseNumbering(f.numbering); err != nil {
		return fmt.Errorf("--numbering: %w", err)
	}
	if f.c.Tree == "kary" || f.c.Tree == "lame" || flags.Changed("k") {
		f.c.K = f.k
	}
	for _, member := range f.dead {
		f.c.Deaths = append(f.c.Deaths, agreement.Death{Member: member, At: -1})
	}
	for _, text := range f.kill {
		d, err := parseDeath(text)
		if err != nil {
			return fmt.Errorf("--kill: %w", err)
		}
		f.c.Deaths = append(f.c.Deaths, d)
	}
	return flagError(f.c.Validate())
}

func parseDeath(text string) (agreement.Death, error) {
	member, at, found := strings.Cut(text, "@")
	m, err := strconv.Atoi(member)
	step, err2 := strconv.ParseInt(at, 10, 32)
	if !found || err != nil || err2 != nil || step < 0 {
		return agreement.Death{}, fmt.Errorf("%q: want MEMBER@STEP, such as 0@26", text)
	}
	return agreement.Death{Member: m, At: proto.Time(step)}, nil
}

// agreementRow is an agreement and its outcome.
type agreementRow struct {
	c *agreement.Case
	o agreement.Outcome
}

var agreementColumns = []table.Column[agreementRow]{
	table.Col("procs", func(r *agreementRow) any { return r.c.Procs }),
	table.Col("L", func(r *agreementRow) any { return r.c.Latency }),
	table.Col("o", func(r *agreementRow) any { return r.c.Overhead }),
	table.Col("tree", func(r *agreementRow) any { return r.c.Tree }),
	table.Col("k", func(r *agreementRow) any {
		if r.c.K == 0 {
			return nil
		}
		return r.c.K
	}),
	table.Col("numbering", func(r *agreementRow) any { return r.c.Numbering.String() }),
	table.Col("notice", func(r *agreementRow) any { return r.c.Notice }),
	table.Col("strict", func(r *agreementRow) any { return r.c.Strict }),
	table.Col("messages", func(r *agreementRow) any { return r.o.Messages }),
	table.Col("bytes", func(r *agreementRow) any { return r.o.Bytes }),
	table.Col("first", func(r *agreementRow) any { return int(r.o.First) }),
	table.Col("latency", func(r *agreementRow) any { return int(r.o.Latency) }),
	table.Col("quiescence", func(r *agreementRow) any { return int(r.o.Quiescence) }),
	table.Col("live", func(r *agreementRow) any { return r.o.Live }),
	table.Col("missing", func(r *agreementRow) any { return r.o.Missing }),
	table.Col("close_messages", func(r *agreementRow) any { return r.o.CloseMessages }),
}

// writeAgreement writes one agreement; for people a line for each column.
func writeAgreement(w io.Writer, format table.Format, row agreementRow) error {
	if format != table.Text {
		return table.Write(w, format, agreementColumns, []agreementRow{row})
	}
	return table.WriteRecord(w, agreementColumns, &row)
}
