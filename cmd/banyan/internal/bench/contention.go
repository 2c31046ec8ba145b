package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"banyan/bench/contention"
	"banyan/bench/membership"
	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/study/planning/risk"
	"banyan/internal/study/planning/viewtime"
	"banyan/internal/study/report"
	reproduction "banyan/internal/study/reproduce/membership"
	"banyan/internal/study/table"
)

const contentionLong = `Contention measures how much longer a message takes when other nodes send at the same time:
figure 7 of Varma et al., "Scalable, Fault-Tolerant Membership for MPI Tasks on HPC Systems" (2006).

So many nodes (-n), each a process, stand in groups of a parent with its children (--children): 1 makes
pairs, 2 and 4 are the paper's other structures. In a round a parent sends a message to each of its
children, one after the other, and each sends one back:

  latency_us     half of the time until the parent has all answers: the median of its rounds, and the
                 mean of the parents; in the table the median of the runs
  least, most    the same of a single parent
  work_us        the time of processors that the nodes use for a message, sent and received

All groups begin a round at the same moment, each --pause, so that nodes come to it from rest, as they
come to a change of view; with --pause 0 rounds follow each other at once. Nodes that make no whole
group take no part. Messages go over loopback TCP: what the nodes contend for is this machine.

The CSV is what "banyan plan membership", "banyan bench membership" and "banyan reproduce membership"
read as --contention: it takes the place of L in the model of a view.

Exit codes: 0; 1 if something couldn't be measured, 130 if it was interrupted (what was measured is printed
all the same); 2 if the command line is wrong.`

const contentionExample = `  banyan bench contention                                   # half a minute
  banyan bench contention --format csv > contention.csv
  banyan plan membership --nodes 16,47,128 --arity 2,4 --contention contention.csv --measure

  banyan bench contention -n 2..12,16,24,32,40,47 --out figure-7    # with a chart
  banyan bench contention --pause 0                                 # rounds without a rest`

// contentionFlags are the flags of "bench contention", as given.
type contentionFlags struct {
	plan   contention.Plan
	n      string
	out    string
	format table.Format
}

func contentionCommand() *cobra.Command {
	var f contentionFlags
	cmd := &cobra.Command{
		Use:     "contention",
		Short:   "How much longer a message takes when other nodes send too",
		Long:    contentionLong,
		Example: contentionExample,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), "banyan bench contention"+cli.Given(cmd.Flags()))
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVarP(&f.n, "nodes", "n", "2,4,8,12,16,24,32,40,47", "numbers of nodes, or ranges such as 3..47")
	flags.IntSliceVar(&f.plan.Children, "children", []int{1, 2, 4}, "children of a parent, or several; 1 makes pairs")
	flags.IntVar(&f.plan.Runs, "runs", 5, "runs of each, of 0.2 s")
	flags.DurationVar(&f.plan.Pause, "pause", membership.ContentionPause, "from one round to the next; 0: at once")
	flags.IntVar(&f.plan.Size, "size", 0, "bytes of a message (default: of a proposal in a group of 47)")
	flags.Lookup("size").DefValue = "0" // a zero default isn't shown
	flags.StringVarP(&f.out, "out", "o", "", "also draw it, as a page in `DIR`")
	cli.FormatFlag(flags, &f.format)
	return cmd
}

func (f *contentionFlags) run(ctx context.Context, out, notes io.Writer, command string) (err error) {
	nodes, err := membership.ParseMembers(f.n)
	if err != nil {
		return fmt.Errorf("-n: %w", err)
	}
	slices.Sort(nodes)
	f.plan.Nodes = slices.Compact(nodes)
	if f.plan.Size == 0 {
		if f.plan.Size, err = membership.ProposalSize(); err != nil {
			return err
		}
	}
	if f.plan.Again, err = ContentionAgain(); err != nil {
		return err
	}
	if err := f.plan.Check(); err != nil {
		return err
	}
	if err := prepareReport(f.out); err != nil {
		return err
	}
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	bar := progress.NewLong(f.plan.Count(), "runs")
	rows, err := f.plan.Run(ctx, bar.Set)
	bar.Clear()
	failed := unmeasured(ctx, err)
	if len(rows) == 0 {
		return failed
	}
	if err := f.write(out, rows); err != nil {
		return err
	}
	fmt.Fprintf(notes, "banyan: this machine has %d processors; messages of %d bytes, a round each %v\n", runtime.NumCPU(), f.plan.Size, f.plan.Pause)
	if f.out != "" {
		c, err := viewtime.NewContended(contention.Latencies(rows))
		if err != nil {
			return err
		}
		if err := f.page(c, command).Write(f.out); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	return failed
}

// page is the figure with its settings.
func (f *contentionFlags) page(c *viewtime.Contended, command string) *report.Report {
	figure := reproduction.Figure7(c)
	return &report.Report{
		Title:   figure.Title,
		Source:  "In form, figure 7 of Varma et al., Scalable, Fault-Tolerant Membership for MPI Tasks on HPC Systems, ICS 2006",
		Command: command,
		Settings: []report.Setting{
			{Name: "processors", Value: fmt.Sprint(runtime.NumCPU())},
			{Name: "a message", Value: fmt.Sprintf("%d bytes over loopback TCP", f.plan.Size)},
			{Name: "a round each", Value: f.plan.Pause.String()},
			{Name: "runs", Value: fmt.Sprintf("%d of %v each, medians", f.plan.Runs, contention.Span)},
		},
		Sections: []report.Section{{Title: figure.Title, Figures: []*report.Figure{figure}}},
	}
}

func (f *contentionFlags) write(w io.Writer, rows []contention.Row) error {
	if f.format != table.Text {
		return table.Write(w, f.format, contentionColumns, rows)
	}
	return table.Write(w, table.Text, contentionSummaryColumns, contention.Medians(rows))
}

// ContentionAgain is how to start a node of the contention's bench.
func ContentionAgain() ([]string, error) {
	program, err := os.Executable()
	return []string{program, "bench", contentionRole}, err
}

// ReadContention reads a CSV file of bench contention, given as --contention.
func ReadContention(path string) (*viewtime.Contended, error) {
	lines, err := cli.ReadCSV(path)
	if err != nil {
		return nil, fmt.Errorf("--contention: %w", err)
	}
	latencies, err := viewtime.ParseLatencies(lines)
	var c *viewtime.Contended
	if err == nil {
		c, err = viewtime.NewContended(latencies)
	}
	if err != nil {
		return nil, fmt.Errorf("--contention: %s: %w", path, err)
	}
	return c, nil
}

func toTenths(s risk.Seconds) any { return fmt.Sprintf("%.1f", float64(s)*1e6) }

// contentionColumns are those of the CSV.
var contentionColumns = []table.Column[contention.Row]{
	table.Col("children", func(r *contention.Row) any { return r.Children }),
	table.Col("nodes", func(r *contention.Row) any { return r.Nodes }),
	table.Col("run", func(r *contention.Row) any { return r.Run }),
	table.Col("latency_us", func(r *contention.Row) any { return inMicroseconds(r.Latency) }),
	table.Col("least_us", func(r *contention.Row) any { return inMicroseconds(r.Least) }),
	table.Col("most_us", func(r *contention.Row) any { return inMicroseconds(r.Most) }),
	table.Col("work_us", func(r *contention.Row) any { return inMicroseconds(r.Work) }),
}

// contentionSummaryColumns are for people.
var contentionSummaryColumns = []table.Column[contention.Row]{
	table.Col("children", func(r *contention.Row) any { return r.Children }),
	table.Col("nodes", func(r *contention.Row) any { return r.Nodes }),
	table.Col("latency_us", func(r *contention.Row) any { return toTenths(r.Latency) }),
	table.Col("least", func(r *contention.Row) any { return toTenths(r.Least) }),
	table.Col("most", func(r *contention.Row) any { return toTenths(r.Most) }),
	table.Col("work_us", func(r *contention.Row) any { return toTenths(r.Work) }),
}

// contentionRole names the hidden subcommand that bench contention starts.
const contentionRole = "contention-role"

func contentionRoleCommand() *cobra.Command {
	return &cobra.Command{
		Use:    contentionRole,
		Short:  "A process that banyan bench contention starts",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(*cobra.Command, []string) error { return contention.Perform() },
	}
}
