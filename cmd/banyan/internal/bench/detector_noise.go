package bench

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"banyan/bench/detection"
	"banyan/bench/noise"
	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/study/report"
	"banyan/internal/study/table"
)

const detectorNoiseLong = `Noise measures what the heartbeats of the failure detector cost an application (figure 8 of the paper):
the latency of a message of 8 bytes, the bandwidth of messages of 1 MiB, an all-reduction of 8 bytes,
and a solver (examples/cg), at each period η with δ = --ratio times η.

  ratio         the time of an operation to that at the longest η in the same round: median
  cpu_s         processor time of the job
  instructions  that heartbeats add to an operation: those of one period, counted by stepping a process
                that does nothing else, times the operation's time in periods. The machine's load doesn't
                change those of a period. (linux on amd64, with the permission to trace processes.)
  failed        jobs that ended with an error: a live process was taken for dead

Exit codes: 0; 1 if something couldn't be measured, 130 if it was interrupted; 2 if the command line is
wrong.`

const detectorNoiseExample = `  banyan bench detector noise --out figure8
  banyan bench detector noise --only latency,solver --period 1ms,10ms,100ms,1s --rounds 10
  banyan bench detector noise --count        # the instructions of a heartbeat alone`

type detectorNoiseFlags struct {
	plan   noise.Plan
	only   []string
	count  bool
	out    string
	format table.Format
}

func detectorNoiseCommand() *cobra.Command {
	var f detectorNoiseFlags
	cmd := &cobra.Command{
		Use:     "noise",
		Short:   "What heartbeats cost messages and a solver",
		Long:    detectorNoiseLong,
		Example: detectorNoiseExample,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	all := []string{}
	for _, k := range noise.Kinds {
		all = append(all, string(k))
	}
	flags.StringSliceVar(&f.only, "only", all, "what is measured")
	flags.DurationSliceVar(&f.plan.Periods, "period", noise.Periods(), "periods η")
	flags.IntVar(&f.plan.Ratio, "ratio", 10, "δ in periods")
	flags.IntVar(&f.plan.Ranks, "ranks", 2, "ranks of the all-reduction and the solver; messages go between two")
	flags.IntVar(&f.plan.Rounds, "rounds", 6, "rounds: jobs of each kind at each period")
	flags.DurationVar(&f.plan.Span, "duration", time.Second, "time of one measurement of messages")
	flags.IntVar(&f.plan.Solves, "solves", 25, "right-hand sides that the solver solves")
	flags.StringVar(&f.plan.Matrix, "matrix", "", "the `file` that it solves (default the demo's, in the source tree)")
	flags.DurationVar(&f.plan.Limit, "timeout", time.Minute, "ends a job that takes longer")
	flags.BoolVar(&f.count, "count", false, "only count the instructions of a heartbeat")
	flags.StringVarP(&f.out, "out", "o", "", "also write a report with charts and the paper's claims to directory `DIR`")
	cli.FormatFlag(flags, &f.format)
	return cmd
}

func (f *detectorNoiseFlags) run(ctx context.Context, out, notes io.Writer) error {
	for _, name := range f.only {
		f.plan.Kinds = append(f.plan.Kinds, noise.Kind(name))
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	bin := filepath.Dir(self)
	f.plan.Banyan, f.plan.Role = self, []string{self, "bench", detectorNoiseRole}
	f.plan.CG = []string{filepath.Join(bin, "cg"), "-any-source=false"}
	if f.plan.Matrix == "" {
		f.plan.Matrix = filepath.Join(bin, "..", "examples", "cg", "data", "bcsstk16.mtx.gz")
	}
	if err := f.plan.Check(); err != nil {
		return err
	}
	for _, k := range f.plan.Kinds {
		if k != noise.Solver || f.count {
			continue
		}
		if _, err := os.Stat(f.plan.CG[0]); err != nil {
			return cli.Failedf("there is no solver %s: is Banyan built (make build)? --only latency,bandwidth,allreduce does without", f.plan.CG[0])
		}
		if _, err := os.Stat(f.plan.Matrix); err != nil {
			return fmt.Errorf("--matrix: %w", err)
		}
	}
	if err := prepareReport(f.out); err != nil {
		return err
	}
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	var bar progress.Steps
	bar.Set("counting instructions", 0, 1)
	heartbeats, err := detection.CountHeartbeats(ctx, []string{self, "bench", detectorRole}, detection.CountedSpan)
	bar.Clear()
	switch {
	case ctx.Err() != nil || f.count && err != nil:
		return unmeasured(ctx, err)
	case err != nil:
		fmt.Fprintf(notes, "banyan: instructions aren't counted: %v\n", err)
	}
	if f.count {
		return table.Write(out, f.format, heartbeatColumns, []detection.Heartbeats{heartbeats})
	}
	done := 0
	rows, err := f.plan.Run(ctx, func() {
		done++
		bar.Set("jobs", done, f.plan.Size())
	})
	bar.Clear()
	if err != nil {
		return unmeasured(ctx, err)
	}
	lines := make([]noiseRow, len(rows))
	for i := range rows {
		lines[i] = noiseRow{&rows[i], heartbeats.Instructions}
	}
	if err := table.Write(out, f.format, noiseColumns, lines); err != nil {
		return err
	}
	if f.out == "" {
		return nil
	}
	return noise.Report(commandLine(), []report.Setting{detection.Machine()}, &f.plan, rows, heartbeats.Instructions).Write(f.out)
}

var heartbeatColumns = []table.Column[detection.Heartbeats]{
	table.Col("instructions_per_period", func(h *detection.Heartbeats) any { return h.Instructions }),
	table.Col("periods", func(h *detection.Heartbeats) any { return h.Periods }),
	table.Col("idle_instructions_per_s", func(h *detection.Heartbeats) any { return h.Idle }),
}

// noiseRow is a row with the instructions of a period, 0 if they aren't known.
type noiseRow struct {
	*noise.Row
	perPeriod float64
}

func number(x float64) any { return table.Optional(x, !math.IsNaN(x)) }

var noiseColumns = []table.Column[noiseRow]{
	table.Col("what", func(r *noiseRow) any { return string(r.Kind) }),
	table.Col("period_ms", func(r *noiseRow) any { return inMilliseconds(r.Period) }),
	table.Col("value", func(r *noiseRow) any { return number(r.Value()) }),
	table.Col("unit", func(r *noiseRow) any { return r.Unit() }),
	table.Col("ratio", func(r *noiseRow) any { return number(r.Ratio.Median) }),
	table.Col("ratio_q1", func(r *noiseRow) any { return number(r.Ratio.Low) }),
	table.Col("ratio_q3", func(r *noiseRow) any { return number(r.Ratio.High) }),
	table.Col("cpu_s", func(r *noiseRow) any { return number(r.CPU.Median) }),
	table.Col("instructions", func(r *noiseRow) any {
		n := r.Instructions(r.perPeriod)
		return table.Optional(n, r.perPeriod > 0 && !math.IsNaN(n))
	}),
	table.Col("rounds", func(r *noiseRow) any { return r.Rounds }),
	table.Col("failed", func(r *noiseRow) any { return r.Failed }),
	table.Col("why", func(r *noiseRow) any { return r.Why }),
}

// detectorNoiseRole names the hidden subcommand that the jobs of bench detector noise run.
const detectorNoiseRole = "detector-noise-role"

func detectorNoiseRoleCommand() *cobra.Command {
	return &cobra.Command{
		Use:    detectorNoiseRole,
		Short:  "What the jobs of banyan bench detector noise run",
		Hidden: true,
		Args:   cobra.ArbitraryArgs,
		RunE:   func(_ *cobra.Command, args []string) error { return noise.Perform(args) },
	}
}
