package sim

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/proto"
	"banyan/internal/study/detection/qos"
	"banyan/internal/study/report"
	"banyan/internal/study/table"
)

// qualityFlags are the flags of "sim quality", as given.
type qualityFlags struct {
	nodes                               []int
	period, tau, retransmit, stallEvery time.Duration
	cutFor                              time.Duration
	loss, cut                           []float64
	stall                               []time.Duration
	deaths                              []int
	systems                             []string
	within                              float64
	out, command                        string
	format                              table.Format
	spec                                qos.Spec
}

func qualityCommand() *cobra.Command {
	var f qualityFlags
	cmd := &cobra.Command{
		Use:   "quality",
		Short: "Compare failure detectors under loss and load, at equal cost",
		Long: `Compares the ring of heartbeats that real jobs run with a randomised detector, SWIM:
the machines of both, simulated under the one-port model with the same loss, stalls and broken
links. The ring sends one message for each node and period η; SWIM's period is chosen such that
it sends as many. For each detector, time-out and combination of conditions it measures, with
95 % confidence intervals (Chen, Toueg and Aguilera, IEEE Trans. Computers 51(5), 2002):

  first, all   detection time: from a death until the first live node declares it, and
               until all do; of several deaths, the last
  mistakes     false declarations of death: how many, their rate for one node and η, the mean
               time from one to the next (recurrence) and how long one lasts (duration)
  accuracy     the share of time in which a live node isn't declared dead
  fatal        mistakes by which the ring lost a live node: it stops when it learns that it is
               excluded; SWIM's victims refute

Times are in η. The systems are ring (datagrams, which may be lost), ring-stream (as real jobs
run it, over TCP: a lost message comes late), swim (random targets) and swim-rr (every target in
turn). The column timeout is the parameter that is swept: δ in η for the ring; for SWIM the time in
which suspects may refute, in its own periods. The column mediators is how many others are asked to
probe a silent node: by SWIM always, by the ring with --opinions.

Exit codes: 0; 1 if it was interrupted; 2 if the command line is wrong.`,
		Example: `  # one in a hundred messages lost
  banyan sim quality --loss 0.01

  # every node stands still for 200 ms every 10 s, on average: the fastest detector of each kind that is
  # wrong about a node less than once in 5,000 periods
  banyan sim quality --stall 200ms --within 2e-4

  # the curves of detection time against mistakes, as a page
  banyan sim quality --loss 0.01,0.05,0.1 --timeouts 1.5,2.5,3.5,4.5,5.5,6.5,8.5,10.5 --out curves

  # four neighbours on the ring die together; 1 % of all links are broken
  banyan sim quality --deaths 4
  banyan sim quality --cut 0.01

  # the ring without and with a second opinion: 1 % of all links are broken at any time, for 1 s each
  banyan sim quality --system ring --cut 0.01 --cut-for 1s --opinions 0,3`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.command = "banyan sim quality" + cli.Given(cmd.Flags())
			if f.out != "" {
				if err := report.Prepare(f.out); err != nil {
					return fmt.Errorf("--out: %w", err)
				}
			}
			return f.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntSliceVarP(&f.nodes, "nodes", "n", []int{64}, "number of nodes, or several")
	flags.DurationVar(&f.period, "period", 100*time.Millisecond, "heartbeat period η of the ring")
	flags.DurationVar(&f.tau, "tau", time.Millisecond, "longest time τ of a message")
	flags.Float64SliceVar(&f.loss, "loss", []float64{0}, "probability that a message is lost, or several")
	flags.DurationVar(&f.retransmit, "retransmit", 200*time.Millisecond, "how late a lost message is on a stream; each further loss doubles it")
	flags.DurationSliceVar(&f.stall, "stall", []time.Duration{0}, "mean time for which a node stands still, or several")
	flags.DurationVar(&f.stallEvery, "stall-every", 10*time.Second, "mean time between two stalls of a node")
	flags.Float64SliceVar(&f.cut, "cut", []float64{0}, "share of pairs of nodes that can't reach each other, or several")
	flags.DurationVar(&f.cutFor, "cut-for", 0, "how long they can't; then other pairs can't (0: they never can)")
	flags.IntSliceVar(&f.deaths, "deaths", []int{1}, "neighbours that die at the same time, or several numbers")
	flags.StringSliceVar(&f.systems, "system", []string{"ring", "ring-stream", "swim", "swim-rr"}, "systems to compare")
	flags.Float64SliceVar(&f.spec.Timeouts, "timeouts", []float64{1.5, 2.5, 3.5, 4.5, 6.5, 10.5}, "time-outs δ of the ring, in η")
	flags.Float64SliceVar(&f.spec.Suspicions, "suspicions", []float64{0, 2, 4, 6, 8, 12}, "time-outs of SWIM's suspects, in its periods")
	flags.IntSliceVar(&f.spec.Mediators, "mediators", []int{3}, "nodes that SWIM asks for indirect pings, or several numbers")
	flags.IntSliceVar(&f.spec.Opinions, "opinions", []int{0}, "nodes that an observer on the ring asks for a second opinion, or several numbers; jobs ask 3")
	flags.IntVar(&f.spec.Detections, "detections", 200, "runs with deaths, of each kind")
	flags.IntVar(&f.spec.Watches, "watches", 20, "runs without deaths, of each kind")
	flags.IntVar(&f.spec.WatchPeriods, "watch-periods", 1000, "length of a run without deaths, in η")
	flags.Float64Var(&f.within, "within", 0, "only the fastest of each system with at most so many mistakes for a node and η, with 97.5 % confidence")
	flags.Uint64Var(&f.spec.Seed, "seed", 1, "seed of everything random")
	cli.WorkersFlag(flags, &f.spec.Workers, "runs simulated")
	flags.StringVar(&f.out, "out", "", "also draw the curves, as a page in `DIR`")
	cli.FormatFlag(flags, &f.format)
	return cmd
}

func (f *qualityFlags) run(ctx context.Context, w io.Writer) error {
	if !(f.within >= 0) {
		return fmt.Errorf("--within: %g: want a rate", f.within)
	}
	for _, name := range f.systems {
		system, err := qos.ParseSystem(name)
		if err != nil {
			return fmt.Errorf("--system: %w", err)
		}
		f.spec.Systems = append(f.spec.Systems, system)
	}
	f.spec.Scenarios = f.scenarios()
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	bar := progress.New(f.spec.Runs(), "simulating detectors")
	f.spec.Done = bar.Set
	rows, err := f.spec.Run(ctx)
	bar.Clear()
	if err != nil {
		return cli.Stopped(cli.FlagError(err, nil))
	}
	if f.out != "" {
		if err := qos.Curves(rows, f.command).Write(f.out); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	if f.within > 0 {
		rows = qos.Fastest(rows, f.within)
	}
	columns := qualityColumns
	if f.format == table.Text {
		columns = f.textColumns()
	}
	return table.Write(w, f.format, columns, rows)
}

// scenarios are all combinations of the conditions.
func (f *qualityFlags) scenarios() []qos.Scenario {
	list := []qos.Scenario{{
		Period: proto.Time(f.period), Tau: proto.Time(f.tau),
		Retransmit: proto.Time(f.retransmit), StallEvery: proto.Time(f.stallEvery),
		CutFor: proto.Time(f.cutFor),
	}}
	list = vary(list, f.nodes, func(s *qos.Scenario, n int) { s.Nodes = n })
	list = vary(list, f.loss, func(s *qos.Scenario, p float64) { s.Loss = p })
	list = vary(list, f.stall, func(s *qos.Scenario, d time.Duration) { s.Stall = proto.Time(d) })
	list = vary(list, f.cut, func(s *qos.Scenario, p float64) { s.Cut = p })
	return vary(list, f.deaths, func(s *qos.Scenario, n int) { s.Deaths = n })
}

// vary makes of each scenario one for each value.
func vary[T any](list []qos.Scenario, values []T, set func(*qos.Scenario, T)) []qos.Scenario {
	var varied []qos.Scenario
	for _, s := range list {
		for _, v := range values {
			set(&s, v)
			varied = append(varied, s)
		}
	}
	return varied
}

// qualityColumns are those of csv and json. Times are in η unless the name has a unit.
var qualityColumns = []table.Column[qos.Row]{
	nodesColumn,
	table.Col("period_ms", func(r *qos.Row) any { return float64(r.Scenario.Period) / 1e6 }),
	table.Col("tau_ms", func(r *qos.Row) any { return float64(r.Scenario.Tau) / 1e6 }),
	lossColumn, stallColumn,
	table.Col("stall_every_ms", func(r *qos.Row) any { return float64(r.Scenario.StallEvery) / 1e6 }),
	cutColumn, table.Col("cut_for_ms", func(r *qos.Row) any { return float64(r.Scenario.CutFor) / 1e6 }),
	deathsColumn, systemColumn,
	table.Col("mediators", func(r *qos.Row) any { return r.Subject.Mediators }),
	timeoutColumn,
	table.Col("swim_period", func(r *qos.Row) any { return float64(r.Subject.SwimPeriod) / float64(r.Scenario.Period) }),
	table.Col("detections", func(r *qos.Row) any { return r.All.Count }),
	table.Col("first", func(r *qos.Row) any { return table.Optional(r.First.Mean, r.First.Count > 0) }),
	table.Col("first_low", func(r *qos.Row) any { return table.Optional(r.First.Low, r.First.Count > 1) }),
	table.Col("first_high", func(r *qos.Row) any { return table.Optional(r.First.High, r.First.Count > 1) }),
	table.Col("first_p99", func(r *qos.Row) any { return table.Optional(r.First.P99, r.First.Count > 0) }),
	table.Col("all", func(r *qos.Row) any { return table.Optional(r.All.Mean, r.All.Count > 0) }),
	table.Col("all_low", func(r *qos.Row) any { return table.Optional(r.All.Low, r.All.Count > 1) }),
	table.Col("all_high", func(r *qos.Row) any { return table.Optional(r.All.High, r.All.Count > 1) }),
	table.Col("all_p99", func(r *qos.Row) any { return table.Optional(r.All.P99, r.All.Count > 0) }),
	table.Col("all_max", func(r *qos.Row) any { return table.Optional(r.All.Max, r.All.Count > 0) }),
	table.Col("undetected", func(r *qos.Row) any { return r.Undetected }),
	table.Col("declared_before", func(r *qos.Row) any { return r.Wrongly }),
	table.Col("mistakes", func(r *qos.Row) any { return r.Mistakes.Events }),
	table.Col("rate", func(r *qos.Row) any { return r.Mistakes.Rate }),
	table.Col("rate_low", func(r *qos.Row) any { return r.Mistakes.Low }),
	table.Col("rate_high", func(r *qos.Row) any { return r.Mistakes.High }),
	table.Col("recurrence", func(r *qos.Row) any { return table.Optional(r.Recurrence(), r.Mistakes.Events > 0) }),
	durationColumn,
	table.Col("fatal", func(r *qos.Row) any { return r.Fatal }),
	table.Col("accuracy", func(r *qos.Row) any { return r.Accuracy }),
	table.Col("suspected_rate", func(r *qos.Row) any { return r.Suspected }),
	messagesColumn,
}

var (
	nodesColumn    = table.Col("nodes", func(r *qos.Row) any { return r.Scenario.Nodes })
	lossColumn     = table.Col("loss", func(r *qos.Row) any { return r.Scenario.Loss })
	stallColumn    = table.Col("stall_ms", func(r *qos.Row) any { return float64(r.Scenario.Stall) / 1e6 })
	cutColumn      = table.Col("cut", func(r *qos.Row) any { return r.Scenario.Cut })
	deathsColumn   = table.Col("deaths", func(r *qos.Row) any { return r.Scenario.Deaths })
	systemColumn   = table.Col("system", func(r *qos.Row) any { return r.Subject.System.String() })
	timeoutColumn  = table.Col("timeout", func(r *qos.Row) any { return r.Subject.Timeout })
	durationColumn = table.Col("duration", func(r *qos.Row) any { return table.Optional(r.Duration.Mean, r.Duration.Count > 0) })
	messagesColumn = table.Col("messages", func(r *qos.Row) any { return r.Messages })
)

// textColumns are those for people: what was varied, and the most telling results.
func (f *qualityFlags) textColumns() []table.Column[qos.Row] {
	var list []table.Column[qos.Row]
	for _, c := range []struct {
		varied bool
		column table.Column[qos.Row]
	}{
		{len(f.nodes) > 1, nodesColumn}, {len(f.loss) > 1, lossColumn}, {len(f.stall) > 1, stallColumn},
		{len(f.cut) > 1, cutColumn}, {len(f.deaths) > 1, deathsColumn},
		{true, systemColumn},
		{len(f.spec.Mediators) > 1 || len(f.spec.Opinions) > 1, table.Col("mediators", func(r *qos.Row) any { return r.Subject.Mediators })},
		{true, timeoutColumn},
	} {
		if c.varied {
			list = append(list, c.column)
		}
	}
	return append(list, []table.Column[qos.Row]{
		table.Col("first", func(r *qos.Row) any { return spread(&r.First) }),
		table.Col("all", func(r *qos.Row) any { return spread(&r.All) }),
		table.Col("p99", func(r *qos.Row) any { return table.Optional(r.All.P99, r.All.Count > 0) }),
		table.Col("mistakes", func(r *qos.Row) any { return r.Mistakes.Events }),
		table.Col("rate", func(r *qos.Row) any {
			return fmt.Sprintf("%.2g (%.2g–%.2g)", r.Mistakes.Rate, r.Mistakes.Low, r.Mistakes.High)
		}),
		durationColumn,
		table.Col("fatal", func(r *qos.Row) any { return r.Fatal }),
		table.Col("accuracy", func(r *qos.Row) any { return fmt.Sprintf("%.6f", r.Accuracy) }),
		messagesColumn,
		table.Col("missed", func(r *qos.Row) any { return r.Undetected }),
	}...)
}

// spread is a mean and half the width of its confidence interval.
func spread(s *qos.Sample) any {
	switch s.Count {
	case 0:
		return nil
	case 1:
		return fmt.Sprintf("%.2f", s.Mean)
	}
	return fmt.Sprintf("%.2f ±%.2f", s.Mean, s.High-s.Mean)
}
