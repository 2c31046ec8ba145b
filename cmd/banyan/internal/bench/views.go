package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"

	"github.com/spf13/cobra"

	"banyan/bench/membership"
	"banyan/bench/views"
	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/study/report"
	"banyan/internal/study/table"
)

const viewsLong = `Views starts real MPI jobs, kills some of their processes, and measures how long the others take
until all hold the same view without the dead (Comm.Views of the Go API). Beside them is a group of as
many members (package group). --of says which:

  ranks      a job of -n processes, one a rank; the program goes on after the loss of a rank
  replicas   a job of -n processes, two a rank; no rank is lost
  group      -n members of a group

  --fault node       a process other than the coordinator is killed
  --fault root       the coordinator is killed, process 0
  --fault several:K  K others are killed at once (several: 2), of different ranks

  --program waiting    the processes of the job do nothing meanwhile
  --program connected  nothing, after each rank has sent each other one a message. A job connects two
                       processes when one has something for the other, otherwise while a view changes
  --program computing  they compute and never call MPI
  --program messages   two and two exchange messages of 8 bytes

  first_us   from just before the kill until the first process has the view: the coordinator, when all have
             acknowledged
  all_us     until the last has it; in the table with the least and the most

Detection is in these times, and the time for which a coordinator waits for more deaths, a twentieth of
the job's heartbeat period of 100 ms; the group gathers for as long. "banyan bench membership" measures
the agreement alone. All processes share one machine: the figures contain its other work.

table has medians, csv and json a row for each run.

Exit codes: 0; 1 if something couldn't be measured, 130 if it was interrupted (what was measured is printed
all the same); 2 if the command line is wrong.`

const viewsExample = `  banyan bench views                                            # some minutes
  banyan bench views -n 16,32 --of ranks --fault root,several:4
  banyan bench views -n 8 --of replicas --program waiting,computing,messages
  banyan bench views -n 4,8,16,32,48 --out views                # with a chart`

// viewsFlags are the flags of "bench views", as given.
type viewsFlags struct {
	plan         views.Plan
	n            string
	of, programs []string
	faults       []string
	out          string
	format       table.Format
}

func viewsCommand() *cobra.Command {
	var f viewsFlags
	cmd := &cobra.Command{
		Use:     "views",
		Short:   "How long the processes of an MPI job take to agree on a view after a death",
		Long:    viewsLong,
		Example: viewsExample,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), "banyan bench views"+cli.Given(cmd.Flags()))
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVarP(&f.n, "processes", "n", "4,8,16,32", "numbers of processes, or ranges such as 4..8")
	flags.StringSliceVar(&f.of, "of", []string{string(views.Group), string(views.Ranks), string(views.Replicas)}, "group, ranks or replicas, or several of them")
	flags.StringSliceVar(&f.programs, "program", []string{string(views.Waiting), string(views.Connected)}, "waiting, connected, computing or messages, or several of them")
	flags.StringSliceVar(&f.faults, "fault", []string{"node"}, "node, root, several or several:K, or several of them")
	flags.IntVar(&f.plan.Runs, "runs", 5, "runs of each")
	flags.Uint64Var(&f.plan.Seed, "seed", 1, "draws the victims")
	flags.StringVarP(&f.out, "out", "o", "", "also draw it, as a page in `DIR`")
	cli.FormatFlag(flags, &f.format)
	return cmd
}

func (f *viewsFlags) run(ctx context.Context, out io.Writer, command string) (err error) {
	if f.plan.N, err = membership.ParseMembers(f.n); err != nil {
		return fmt.Errorf("-n: %w", err)
	}
	for _, text := range f.of {
		f.plan.Of = append(f.plan.Of, views.Of(text))
	}
	for _, text := range f.programs {
		f.plan.Programs = append(f.plan.Programs, views.Program(text))
	}
	for _, text := range f.faults {
		fault, err := membership.ParseFault(text)
		if err != nil {
			return fmt.Errorf("--fault: %w", err)
		}
		f.plan.Faults = append(f.plan.Faults, fault)
	}
	if f.plan.Banyan, err = os.Executable(); err != nil {
		return err
	}
	f.plan.Role = []string{f.plan.Banyan, "bench", viewsRole}
	if f.plan.Again, err = MembershipAgain(); err != nil {
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
	bar := progress.NewLong(f.plan.Count(), "deaths")
	rows, err := f.plan.Run(ctx, bar.Set)
	bar.Clear()
	failed := unmeasured(ctx, err)
	if len(rows) == 0 {
		return failed
	}
	if f.format == table.Text {
		err = table.Write(out, table.Text, viewsSummaryColumns, views.Summarise(rows))
	} else {
		err = table.Write(out, f.format, viewsColumns, rows)
	}
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := f.page(views.Summarise(rows), command).Write(f.out); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	return failed
}

// page is the chart with its settings.
func (f *viewsFlags) page(all []views.Summary, command string) *report.Report {
	figure := views.Chart(all)
	return &report.Report{
		Title:   figure.Title,
		Source:  "Views after Varma et al., Scalable, Fault-Tolerant Membership for MPI Tasks on HPC Systems, ICS 2006",
		Command: command,
		Settings: []report.Setting{
			{Name: "processors", Value: strconv.Itoa(runtime.NumCPU())},
			{Name: "runs", Value: fmt.Sprintf("%d of each, medians", f.plan.Runs)},
		},
		Sections: []report.Section{{Title: figure.Title, Figures: []*report.Figure{figure}}},
	}
}

// viewsColumns are those of the CSV.
var viewsColumns = []table.Column[views.Row]{
	table.Col("of", func(r *views.Row) any { return string(r.Of) }),
	table.Col("n", func(r *views.Row) any { return r.N }),
	table.Col("program", func(r *views.Row) any { return string(r.Program) }),
	table.Col("fault", func(r *views.Row) any { return r.Fault.String() }),
	table.Col("run", func(r *views.Row) any { return r.Run }),
	table.Col("first_us", func(r *views.Row) any { return inMicroseconds(r.First) }),
	table.Col("all_us", func(r *views.Row) any { return inMicroseconds(r.All) }),
}

// viewsSummaryColumns are medians, for people.
var viewsSummaryColumns = []table.Column[views.Summary]{
	table.Col("of", func(s *views.Summary) any { return string(s.Of) }),
	table.Col("n", func(s *views.Summary) any { return s.N }),
	table.Col("program", func(s *views.Summary) any { return string(s.Program) }),
	table.Col("fault", func(s *views.Summary) any { return s.Fault.String() }),
	table.Col("runs", func(s *views.Summary) any { return s.Runs }),
	table.Col("first_us", func(s *views.Summary) any { return roundedMicroseconds(s.First) }),
	table.Col("all_us", func(s *views.Summary) any { return roundedMicroseconds(s.All) }),
	table.Col("least", func(s *views.Summary) any { return roundedMicroseconds(s.Least) }),
	table.Col("most", func(s *views.Summary) any { return roundedMicroseconds(s.Most) }),
}

// viewsRole names the hidden subcommand that the jobs of bench views run.
const viewsRole = "views-role"

func viewsRoleCommand() *cobra.Command {
	return &cobra.Command{
		Use:    viewsRole,
		Short:  "A process of a job that banyan bench views starts",
		Hidden: true,
		Args:   cobra.ArbitraryArgs,
		RunE:   func(_ *cobra.Command, args []string) error { return views.Perform(args) },
	}
}
