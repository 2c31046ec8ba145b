package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"banyan/bench/idle"
	"banyan/bench/membership"
	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/study/planning/risk"
	"banyan/internal/study/table"
)

const membershipLong = `Membership starts a group of so many members (-n, before the change), causes a change,
and measures how long the others take to agree:

  --fault node       a member other than the most senior one, the coordinator, is killed
  --fault root       the coordinator is killed
  --fault several:K  K others are killed at once (several: 2)
  --fault join       one more joins

  stabilise_us   as the paper defines it (Varma et al., 2006): from the coordinator's first step, after
                 detection, until it has all acknowledgements. It doesn't wait for more deaths.
  commit_us      from then until the last member has installed the view
  messages       that all members sent for it: with n live members 2(n-1) to agree and n-1 to commit
  busy           the share of all processors' time that the members used until all had the view: near 1
                 the machine's processors set the pace, not the height of the tree

Members are those of package group, over loopback TCP. Each is a process of its own in groups of up to
--processes members; in larger ones they are goroutines, up to 128 in a process, which the table shows
and a line on stderr says.

Beside the measurement are the times of the models of "banyan plan membership" for this machine and the
members that agree: base_model_us with L, half a round trip of a proposal between two processes, and Ocp,
a member's computation, both measured first; contention_model_us with L as "banyan bench contention"
measures it among as many nodes, as --contention names it or measured first. The model goes on in a line
beyond the most nodes of that. A line on stderr says how far the medians are from both models.
All members share one machine: the figures contain its other work.

With --idle DURATION it measures instead what a group costs that does nothing, of package group and of
hashicorp/memberlist, both as they are by default, all members as goroutines of one process:

  cpu_percent    processor time, in percent of a core
  packets_s      packets over loopback a second, with acknowledgements of TCP; bytes_s with headers
  founded_s      from the first member's start until all knew all
  death_ms       from the end of a member, whose sockets close without a word, until the last knew: the
                 median of --runs deaths after the idle time. memberlist needs seconds to be sure.

table has medians, csv and json a row for each run. "banyan plan membership --fit" and "banyan reproduce
membership --measured" read the CSV.

Exit codes: 0; 1 if something couldn't be measured, 130 if it was interrupted (what was measured is printed
all the same); 2 if the command line is wrong.`

const membershipExample = `  banyan bench membership -n 3..47 --arity 2,4 --runs 5 --format csv > measured.csv
  banyan bench contention --format csv > contention.csv
  banyan bench membership -n 3..47 --contention contention.csv

  banyan bench membership -n 47 --fault root
  banyan bench membership -n 8,16,32,47 --fault node,root,several,join --svg membership.svg
  banyan bench membership -n 64,128,256,512 --processes 0    # goroutines

  banyan bench membership --idle 20s -n 8,16,32,50,128,256 --runs 3    # beside memberlist
  banyan bench membership --idle 20s -n 1024 --peer "" --runs 1`

// membershipFlags are the flags of "bench membership", as given.
type membershipFlags struct {
	plan       membership.Plan
	n          string
	faults     []string
	contention string
	svg        string
	idle       time.Duration
	peer       string
	format     table.Format
}

func membershipCommand() *cobra.Command {
	var f membershipFlags
	cmd := &cobra.Command{
		Use:     "membership",
		Short:   "How long a group takes to agree on a change of its members",
		Long:    membershipLong,
		Example: membershipExample,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVarP(&f.n, "members", "n", "8,16,32,47", "numbers of members, or ranges such as 3..47")
	flags.IntSliceVar(&f.plan.Arities, "arity", []int{2, 4}, "children in the tree, a power of two, or several")
	flags.StringSliceVar(&f.faults, "fault", []string{"node"}, "node, root, several, several:K or join, or several of them")
	flags.IntVar(&f.plan.Runs, "runs", 5, "runs of each")
	flags.IntVar(&f.plan.Apart, "processes", 64, "up to how many members each is a process; more are goroutines")
	flags.Uint64Var(&f.plan.Seed, "seed", 1, "draws the victims")
	flags.StringVar(&f.contention, "contention", "", "CSV `file` of banyan bench contention, for the model (default: measure it now)")
	flags.StringVar(&f.svg, "svg", "", "also draw it, with the models, to `FILE`")
	flags.DurationVar(&f.idle, "idle", 0, "measure idle groups for so long, and then --runs deaths in each")
	flags.StringVar(&f.peer, "peer", string(idle.Memberlist), "system beside the idle groups; \"\": none")
	cli.FormatFlag(flags, &f.format)
	return cmd
}

func (f *membershipFlags) run(ctx context.Context, out, notes io.Writer) (err error) {
	if f.idle != 0 {
		systems := []string{string(idle.Banyan)}
		if f.peer != "" {
			systems = append(systems, f.peer)
		}
		return idleGroups(ctx, f.n, f.idle, f.plan.Runs, systems, f.format, out, notes)
	}
	if f.plan.N, err = membership.ParseMembers(f.n); err != nil {
		return fmt.Errorf("-n: %w", err)
	}
	for _, text := range f.faults {
		fault, err := membership.ParseFault(text)
		if err != nil {
			return fmt.Errorf("--fault: %w", err)
		}
		f.plan.Faults = append(f.plan.Faults, fault)
	}
	if f.plan.Again, err = MembershipAgain(); err != nil {
		return err
	}
	if f.plan.ContentionAgain, err = ContentionAgain(); err != nil {
		return err
	}
	if f.contention != "" {
		if f.plan.Contended, err = ReadContention(f.contention); err != nil {
			return err
		}
	}
	if err := f.plan.Check(); err != nil {
		return err
	}
	var picture *os.File
	if f.svg != "" { // refuse a bad name before measuring
		if picture, err = os.Create(f.svg); err != nil {
			return fmt.Errorf("--svg: %w", err)
		}
		defer picture.Close()
	}
	result, err := measureMembership(ctx, &f.plan)
	if result == nil {
		return err
	}
	f.note(notes, result)
	failed := err
	if len(result.Rows) == 0 {
		return failed
	}
	if err := f.write(out, result); err != nil {
		return err
	}
	if picture != nil {
		svg, err := membership.Chart(membership.Summarise(result.Rows)).SVG()
		if err == nil {
			_, err = picture.Write(svg)
		}
		if err != nil {
			return fmt.Errorf("--svg: %w", err)
		}
	}
	return failed
}

// MembershipAgain is how to start a process of the bench.
func MembershipAgain() ([]string, error) {
	program, err := os.Executable()
	return []string{program, "bench", membershipRole}, err
}

// measureMembership carries a plan out with a progress bar. It returns what was measured, and the
// errors of the rest.
func measureMembership(ctx context.Context, p *membership.Plan) (*membership.Result, error) {
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	bar := progress.NewLong(p.Size(), "runs")
	result, err := p.Run(ctx, bar.Set)
	bar.Clear()
	return result, unmeasured(ctx, err)
}

// note prints what isn't in the rows.
func (f *membershipFlags) note(w io.Writer, r *membership.Result) {
	say := func(format string, args ...any) { fmt.Fprintf(w, "banyan: "+format+"\n", args...) }
	for _, n := range f.plan.N {
		if n > f.plan.Apart {
			say("members of groups of more than %d are goroutines, up to 128 in a process; all others are processes", f.plan.Apart)
			break
		}
	}
	say("this machine, with %d processors: L = %v, Ocp = %v", runtime.NumCPU(), r.Machine.Latency, r.Machine.Compute)
	for _, m := range r.Matches {
		among := map[bool]string{true: "processes", false: "goroutines"}[m.Apart]
		say("%s: the %d medians of single deaths are %v off the contention model (root mean square), %v off the base model", among, m.Count, m.Contention, m.Base)
	}
}

func (f *membershipFlags) write(w io.Writer, r *membership.Result) error {
	switch f.format {
	case table.CSV:
		return membership.WriteCSV(w, r.Rows)
	case table.JSON:
		return table.Write(w, table.JSON, membershipRunColumns, r.Rows)
	}
	columns := append([]table.Column[membership.Summary]{
		table.Col("n", func(s *membership.Summary) any { return s.N }),
		table.Col("members", func(s *membership.Summary) any {
			if s.N <= f.plan.Apart {
				return "processes"
			}
			return "goroutines"
		}),
	}, membershipSummaryColumns...)
	var rows []membership.Summary
	for _, s := range membership.Summarise(r.Rows) {
		rows = append(rows, *s)
	}
	return table.Write(w, table.Text, columns, rows)
}

func inMicroseconds(s risk.Seconds) any { return float64(s) * 1e6 }

// roundedMicroseconds is for people.
func roundedMicroseconds(s risk.Seconds) any { return fmt.Sprintf("%.0f", float64(s)*1e6) }

// membershipRunColumns are those of the CSV.
var membershipRunColumns = []table.Column[membership.Row]{
	table.Col("n", func(r *membership.Row) any { return r.N }),
	table.Col("arity", func(r *membership.Row) any { return r.Arity }),
	table.Col("fault", func(r *membership.Row) any { return r.Fault.String() }),
	table.Col("run", func(r *membership.Row) any { return r.Run }),
	table.Col("stabilise_us", func(r *membership.Row) any { return inMicroseconds(r.Stabilise) }),
	table.Col("commit_us", func(r *membership.Row) any { return inMicroseconds(r.Commit) }),
	table.Col("messages", func(r *membership.Row) any { return r.Messages }),
	table.Col("busy", func(r *membership.Row) any { return r.Busy }),
	table.Col("base_model_us", func(r *membership.Row) any { return inMicroseconds(r.Base) }),
	table.Col("contention_model_us", func(r *membership.Row) any { return inMicroseconds(r.Contention) }),
}

// membershipSummaryColumns are medians, for people.
var membershipSummaryColumns = []table.Column[membership.Summary]{
	table.Col("arity", func(s *membership.Summary) any { return s.Arity }),
	table.Col("fault", func(s *membership.Summary) any { return s.Fault.String() }),
	table.Col("runs", func(s *membership.Summary) any { return s.Runs }),
	table.Col("stabilise_us", func(s *membership.Summary) any { return roundedMicroseconds(s.Stabilise) }),
	table.Col("least", func(s *membership.Summary) any { return roundedMicroseconds(s.Least) }),
	table.Col("most", func(s *membership.Summary) any { return roundedMicroseconds(s.Most) }),
	table.Col("commit_us", func(s *membership.Summary) any { return roundedMicroseconds(s.Commit) }),
	table.Col("messages", func(s *membership.Summary) any {
		if s.LeastSent == s.MostSent {
			return s.MostSent
		}
		return fmt.Sprintf("%d-%d", s.LeastSent, s.MostSent)
	}),
	table.Col("busy", func(s *membership.Summary) any { return fmt.Sprintf("%.2f", s.Busy) }),
	table.Col("base_model_us", func(s *membership.Summary) any { return roundedMicroseconds(s.Base) }),
	table.Col("contention_model_us", func(s *membership.Summary) any { return roundedMicroseconds(s.Contention) }),
}

// membershipRole names the hidden subcommand that bench membership starts.
const membershipRole = "membership-role"

func membershipRoleCommand() *cobra.Command {
	return &cobra.Command{
		Use:    membershipRole,
		Short:  "A process that banyan bench membership starts",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(*cobra.Command, []string) error { return membership.Perform() },
	}
}
