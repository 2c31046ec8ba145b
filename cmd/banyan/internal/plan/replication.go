package plan

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/study/chart"
	"banyan/internal/study/planning/resilience"
	"banyan/internal/study/planning/risk"
	"banyan/internal/study/report"
	"banyan/internal/study/table"
)

// replicationFlags are the flags of "plan replication", as given.
type replicationFlags struct {
	sizes   []int
	degrees []float64
	compare []string
	job     resilience.Job
	runs    int
	seed    uint64
	format  table.Format
	chart   string // file
}

func replicationCommand() *cobra.Command {
	f := replicationFlags{job: resilience.Job{Overhead: 0.05}}
	for _, given := range []struct {
		span *risk.Seconds
		text string
	}{{&f.job.MTBF, "5y"}, {&f.job.Work, "7d"}, {&f.job.Cost, "10m"}} {
		if err := given.span.Set(given.text); err != nil {
			panic(err) // the texts above are wrong
		}
	}
	cmd := &cobra.Command{
		Use:   "replication",
		Short: "Whether replicating a job pays, and from how many nodes on",
		Long: `Computes how long a job is expected to take with checkpoints alone and with replication
above them, and how much of the nodes' time is useful work.

Nodes fail independently, after exponentially distributed times. Without replication each
failure interrupts the job, which restarts from its last checkpoint. With degree r each rank has r replicas, and
only the death of a rank's last one interrupts; with degree 1.5, half of the ranks have two. From the mean
time to interruption (MTTI) follow the best interval between checkpoints and the time, by
Daly's complete expression (2006); beside it are Young's estimate of the interval, √(2·C·MTTI) − C, and
Daly's higher-order one. See docs/guide/plan-replication.md for all formulas.

What replication is compared with, one or both of:
  --compare nodes  the same machine: with degree r the job has 1/r as many ranks, and each has r
                   times the work. Then no more than 1/r of the nodes' time is useful.
  --compare ranks  the same job on r times as many nodes; --nodes says how many ranks it has.

--heal is the time from a replica's death until another has taken its place; never: not
before the job restarts. --overhead is by how much replication slows the job down.

--simulate runs each job so many times, failure by failure, to show what the formulas are worth.
--chart draws the efficiency on the same machine over the number of nodes.

A * marks the degree with which a job of that size ends first. A "-" for a time means more
than a million times the work. Failures are those of nodes until an interruption, on average.
Spans are numbers with a unit: y (365.25 days), d, h, m, s, ms, us, ns.

Exit codes: 0; 2 if the command line is wrong.`,
		Example: `  # a week's work on nodes that fail every five years each
  banyan plan replication

  # fast checkpoints, to burst buffers, and dead replicas replaced at once
  banyan plan replication --nodes 10000,100000,1000000 --checkpoint 1m --degree 1,2 --heal 30s

  # is a job of 2,000 ranks worth twice the nodes?
  banyan plan replication --compare ranks --nodes 2000 --degree 1,2 --mtbf 3y

  # the curves, and jobs simulated beside them
  banyan plan replication --compare nodes --simulate 200 --chart efficiency.svg`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.OutOrStdout(), cmd.Flags())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntSliceVarP(&f.sizes, "nodes", "n", []int{1000, 10_000, 100_000}, "number of nodes, or several `numbers` with commas")
	flags.Var(&f.job.MTBF, "mtbf", "mean time between failures of one node")
	flags.Var(&f.job.Work, "work", "time that the job takes without failures, checkpoints or replication")
	flags.Var(&f.job.Cost, "checkpoint", "time `span` that writing a checkpoint takes, C")
	flags.Var(&f.job.Restart, "restart", "time `span` from an interruption until the job computes again (default as --checkpoint)")
	flags.Lookup("restart").DefValue = ""
	flags.Float64SliceVar(&f.degrees, "degree", []float64{1, 1.5, 2, 3}, "replicas of a rank, 1 for none, or several `numbers` with commas")
	flags.Lookup("degree").DefValue = "[1,1.5,2,3]"
	flags.Var((*healing)(&f.job.Heal), "heal", "time `span` to replace a dead replica")
	flags.Var((*share)(&f.job.Overhead), "overhead", "by how much of its time replication slows the job down")
	flags.StringSliceVar(&f.compare, "compare", []string{"nodes", "ranks"}, "with the same nodes, or ranks")
	flags.IntVar(&f.runs, "simulate", 0, "also run each job so many `times`")
	flags.Uint64Var(&f.seed, "seed", 1, "of the simulation")
	flags.StringVar(&f.chart, "chart", "", "also draw it, to a `file` .svg or .png")
	cli.FormatFlag(flags, &f.format)
	return cmd
}

// healing is a flag: a span, or never, which is 0.
type healing risk.Seconds

func (h *healing) String() string {
	if *h == 0 {
		return "never"
	}
	return risk.Seconds(*h).String()
}

func (h *healing) Set(text string) error {
	if text == "never" {
		*h = 0
		return nil
	}
	span, err := risk.ParseSeconds(text)
	switch {
	case err != nil:
		return fmt.Errorf("%w, or never", err)
	case span == 0:
		return fmt.Errorf("%q: want more than 0, or never", text)
	}
	*h = healing(span)
	return nil
}

func (*healing) Type() string { return "span" }

// share is a flag: a percentage.
type share float64

func (s *share) String() string { return strconv.FormatFloat(float64(*s)*100, 'g', 6, 64) + "%" }

func (s *share) Set(text string) error {
	digits, ok := strings.CutSuffix(text, "%")
	value, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if !ok || err != nil || !(value >= 0 && value <= 1000) {
		return fmt.Errorf("%q: want a percentage from 0%% to 1000%%", text)
	}
	*s = share(value / 100)
	return nil
}

func (*share) Type() string { return "percentage" }

func (f *replicationFlags) run(w io.Writer, flags *pflag.FlagSet) error {
	if !flags.Changed("restart") {
		f.job.Restart = f.job.Cost
	}
	comparisons, err := f.check()
	if err != nil {
		return err
	}
	cases := f.job.Cases(comparisons, f.sizes, f.degrees)
	var picture *os.File
	if f.chart != "" { // refuse a bad name before simulating
		if picture, err = os.Create(f.chart); err != nil {
			return fmt.Errorf("--chart: %w", err)
		}
		defer picture.Close()
	}
	f.simulate(cases)
	if picture != nil {
		if err := f.draw(picture, cases); err != nil {
			return fmt.Errorf("--chart: %w", err)
		}
	}
	if f.format == table.Text {
		return f.tell(w, comparisons, cases)
	}
	return table.Write(w, f.format, f.columns(), cases)
}

// check returns what is compared, or what is wrong with the command line.
func (f *replicationFlags) check() ([]resilience.Comparison, error) {
	if err := f.job.Validate(); err != nil {
		return nil, fmt.Errorf("--%w", err) // fields are called as the flags
	}
	if len(f.sizes) == 0 || len(f.degrees) == 0 || len(f.compare) == 0 {
		return nil, errors.New("--nodes, --degree and --compare: want at least one each")
	}
	var comparisons []resilience.Comparison
	for _, text := range f.compare {
		c, err := resilience.ParseComparison(text)
		if err != nil {
			return nil, fmt.Errorf("--compare: %w", err)
		}
		comparisons = append(comparisons, c)
	}
	for _, d := range f.degrees {
		if err := resilience.Degree(d).Validate(); err != nil {
			return nil, fmt.Errorf("--%w", err)
		}
		for _, c := range comparisons {
			least := c.Least(resilience.Degree(d))
			for _, size := range f.sizes {
				if most := resilience.MaxNodes / resilience.MaxDegree; size < least || size > most {
					return nil, fmt.Errorf("--nodes: %d: want %d to %d for degree %v", size, least, most, d)
				}
			}
		}
	}
	if f.runs < 0 {
		return nil, fmt.Errorf("--simulate: %d: want 0 or more", f.runs)
	}
	if ext := filepath.Ext(f.chart); f.chart != "" && ext != ".svg" && ext != ".png" {
		return nil, fmt.Errorf("--chart: %s: want a name that ends in .svg or .png", f.chart)
	}
	return comparisons, nil
}

// simulate runs the jobs, except those whose single run would take too long.
func (f *replicationFlags) simulate(cases []resilience.Case) {
	if f.runs == 0 {
		return
	}
	bar := progress.New(len(cases)*f.runs, "simulating jobs")
	done := 0
	for i := range cases {
		f.job.Run(&cases[i], f.runs, f.seed, func() { done++; bar.Set(done) })
		done = (i + 1) * f.runs
	}
	bar.Clear()
}

// draw writes the chart.
func (f *replicationFlags) draw(w io.Writer, cases []resilience.Case) error {
	picture := (*report.Figure).SVG
	if filepath.Ext(f.chart) == ".png" {
		picture = (*report.Figure).PNG
	}
	content, err := picture(chart.Efficiency(&f.job, f.sizes, f.degrees, cases))
	if err == nil {
		_, err = w.Write(content)
	}
	return err
}
