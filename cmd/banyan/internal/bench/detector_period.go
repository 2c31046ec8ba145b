package bench

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"time"

	"github.com/spf13/cobra"

	"banyan/bench/detection"
	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/study/table"
)

const detectorPeriodLong = `Period finds the smallest safe heartbeat period η of Banyan's detector and of memberlist, and
measures how fast each detects a stopped member there (figure 9 of the paper).

A period is safe if in each of --trials runs all members come up, and in the --duration from then on
no member takes a live one for dead, while --load processes compute. (What Banyan's suspect while they
come up counts too, since it is final; the peers take it back.) The search bisects the --period list: the period that it names was safe in all its runs, the next smaller
one wasn't in one of them, for the reason that the table gives. Banyan's δ is --ratio times η.

Systems are banyan and the peers: memberlist (as shipped), and memberlist-swim (SWIM alone, without
the gossip beside its pings, the exchanges of lists and the pings over TCP).

With --curve N detection is measured with N members at all periods from the smallest safe one up, too.
All members share this machine: what is safe depends on it and on what else it does.

Exit codes: 0; 1 if something couldn't be measured, 130 if it was interrupted; 2 if the command line is
wrong. What was found by then is printed all the same.`

const detectorPeriodExample = `  banyan bench detector period --out figure9
  banyan bench detector period -n 8,32 --curve 32 --trials 2 --duration 5s
  banyan bench detector period -n 16 --curve 0 --peer none --load 4 --format csv`

type detectorPeriodFlags struct {
	plan    detection.PeriodPlan
	members detectorFlags // for the peers
	out     string
	format  table.Format
}

func detectorPeriodCommand() *cobra.Command {
	var f detectorPeriodFlags
	cmd := &cobra.Command{
		Use:     "period",
		Short:   "The smallest safe heartbeat period, and how fast detection is there",
		Long:    detectorPeriodLong,
		Example: detectorPeriodExample,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntSliceVarP(&f.plan.N, "members", "n", []int{8, 16, 32, 64, 128, 256}, "numbers of members")
	flags.DurationSliceVar(&f.plan.Periods, "period", detection.Periods(), "periods η to try")
	flags.IntVar(&f.plan.Ratio, "ratio", 10, "Banyan's δ in periods")
	flags.IntVar(&f.plan.Trials, "trials", 3, "runs without a false suspicion that make a period safe")
	flags.DurationVar(&f.plan.Quiet, "duration", 5*time.Second, "time of each")
	flags.IntVar(&f.plan.Load, "load", 0, "processes that compute beside the members")
	flags.BoolVar(&f.plan.Compute, "compute", false, "every member computes and never calls its library")
	flags.StringSliceVar(&f.members.peers, "peer", []string{string(detection.Memberlist), string(detection.MemberlistSwim)}, "peers, or none")
	flags.IntVar(&f.plan.Runs, "runs", 6, "detections measured at a period")
	flags.IntVar(&f.plan.Curve, "curve", 64, "members with which all safe periods are measured; 0: none")
	flags.Uint64Var(&f.plan.Seed, "seed", 1, "draws the victims")
	flags.StringVarP(&f.out, "out", "o", "", "also write a report with charts and the paper's claims to directory `DIR`")
	cli.FormatFlag(flags, &f.format)
	return cmd
}

func (f *detectorPeriodFlags) run(ctx context.Context, out io.Writer) (err error) {
	if f.plan.Systems, err = f.members.systems(); err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	f.plan.Again = []string{program, "bench", detectorRole}
	if err := f.plan.Check(); err != nil {
		return err
	}
	if err := prepareReport(f.out); err != nil {
		return err
	}
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	var bar progress.Steps
	var all []detection.SafePeriod
	err = unmeasured(ctx, f.plan.Run(ctx, bar.Set, func(s detection.SafePeriod) error {
		all = append(all, s)
		return nil
	}))
	bar.Clear()
	if len(all) == 0 {
		return err
	}
	var rows []periodRow
	for i := range all {
		s := &all[i]
		rows = append(rows, periodRow{SafePeriod: s, what: "smallest", period: s.Safe, at: s.At})
		for _, at := range s.Curve {
			rows = append(rows, periodRow{SafePeriod: s, what: "curve", period: at.Period, at: at})
		}
	}
	err = errors.Join(err, table.Write(out, f.format, periodColumns, rows))
	if f.out != "" {
		err = errors.Join(err, detection.PeriodReport(commandLine(), &f.plan, all).Write(f.out))
	}
	return err
}

// periodRow is a smallest safe period, or a point of the curve.
type periodRow struct {
	*detection.SafePeriod
	what   string
	period time.Duration
	at     *detection.Summary // nil if there is none
}

// estimate is a figure of the detection, nil if it isn't known.
func (r *periodRow) estimate(of func(*detection.Summary) float64) any {
	if r.at == nil {
		return nil
	}
	x := of(r.at)
	return table.Optional(x, !math.IsNaN(x) && !math.IsInf(x, 0))
}

// inMilliseconds is a time, nil for none.
func inMilliseconds(d time.Duration) any {
	return table.Optional(float64(d)/float64(time.Millisecond), d > 0)
}

var periodColumns = []table.Column[periodRow]{
	table.Col("system", func(r *periodRow) any { return string(r.System) }),
	table.Col("n", func(r *periodRow) any { return r.N }),
	table.Col("what", func(r *periodRow) any { return r.what }),
	table.Col("period_ms", func(r *periodRow) any { return inMilliseconds(r.period) }),
	table.Col("first_ms", func(r *periodRow) any { return r.estimate(func(s *detection.Summary) float64 { return s.First.Value }) }),
	table.Col("last_ms", func(r *periodRow) any { return r.estimate(func(s *detection.Summary) float64 { return s.Last.Value }) }),
	table.Col("last_low", func(r *periodRow) any { return r.estimate(func(s *detection.Summary) float64 { return s.Last.Low }) }),
	table.Col("last_high", func(r *periodRow) any { return r.estimate(func(s *detection.Summary) float64 { return s.Last.High }) }),
	table.Col("messages", func(r *periodRow) any { return r.estimate(func(s *detection.Summary) float64 { return s.Messages }) }),
	table.Col("unsafe_ms", func(r *periodRow) any {
		if r.what != "smallest" {
			return nil
		}
		return inMilliseconds(r.Unsafe)
	}),
	table.Col("why", func(r *periodRow) any {
		if r.what != "smallest" {
			return ""
		}
		return r.Why
	}),
}
