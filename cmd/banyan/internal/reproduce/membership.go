package reproduce

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"banyan/bench/contention"
	benchmembership "banyan/bench/membership"
	"banyan/cmd/banyan/internal/bench"
	"banyan/cmd/banyan/internal/cli"
	"banyan/internal/study/planning/viewtime"
	"banyan/internal/study/report"
	"banyan/internal/study/reproduce/membership"
)

func membershipCommand() *cobra.Command {
	var f commonFlags
	var measured, contended string
	cmd := &cobra.Command{
		Use:   "membership",
		Short: "Repeat the experiments of the membership paper",
		Long: `Repeats figures 4 to 8 of Varma et al., "Scalable, Fault-Tolerant Membership for MPI
Tasks on HPC Systems" (2006), in form, and the numbers of their text: the models with the paper's
constants (L = 4.6 µs on BlueGene/L and 118 µs over Gigabit Ethernet, Ocp = 2 µs), Banyan's protocol
with the same constants in LogP time, on BlueGene/L's torus too, and beside figures 6 and 8 what
was measured over TCP on a machine at hand, with the models for that machine.

The measurements are those of "banyan bench membership --format csv", which --measured names, and of
"banyan bench contention --format csv", --contention: figure 7, from which the contention in figures 6
and 8 is taken. Without --measured a few of both are made now: groups of 4 to 47 processes, a minute.

Besides, it runs the protocol as the paper prints it, and counts how often its views differ.

The rest takes seconds; with --full, groups of up to 2^20 nodes, a few minutes, and 1 GB of memory.
It doesn't depend on the number of workers. It can be stopped at any moment (Ctrl-C, a kill, a loss
of power): the same command goes on where it was. What was simulated is in DIR/pieces, which takes one
seed and one of --quick, --full and neither; another one is refused. What is measured without
--measured, a minute, is measured anew.

Exit codes: 0, whatever the claims; 1 if it was interrupted or this machine can't be measured; 2 if the
command line or the file is wrong, or a file can't be written.`,
		Example: `  # measure for some minutes, and set it beside the paper
  banyan bench contention -n 2..12,16,20,24,28,32,36,40,47 --format csv > contention.csv
  banyan bench membership -n 3..47,64,128,256 --contention contention.csv --format csv > measured.csv
  banyan reproduce membership --measured measured.csv --contention contention.csv --out membership

  # a few measurements, made now
  banyan reproduce membership --out membership

  # the models and the simulations alone, up to a million nodes
  banyan reproduce membership --measured none --out full --full`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p := membership.Default()
			switch {
			case f.quick:
				p = membership.Quick()
			case f.full:
				p = membership.Full()
			}
			p.Seed, p.Workers = f.seed, f.workers
			if err := f.check(); err != nil {
				return err
			}
			if measured != "" && measured != noMeasurements {
				var err error
				if p.Measured, err = readMeasured(measured); err != nil {
					return fmt.Errorf("--measured: %w", err)
				}
				p.MeasuredBy = fmt.Sprintf("%d changes of view, from %s", len(p.Measured), measured)
			}
			p.MeasuredFrom = measured
			if contended != "" {
				var err error
				if p.Contended, err = bench.ReadContention(contended); err != nil {
					return err
				}
				p.ContendedFrom = contended
			}
			return reproduce(cmd, &f, f.goesOn(cmd), func(ctx context.Context, progress func(string, int, int)) (_ *report.Report, err error) {
				if measured == "" {
					if err := measureNow(ctx, &p, f.quick, progress); err != nil {
						return nil, err
					}
				}
				store, err := membership.Open(f.pieces(), p)
				if err != nil {
					return nil, err
				}
				defer func() { err = errors.Join(err, store.Close()) }()
				return membership.Run(ctx, store, p, progress)
			})
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVarP(&f.out, "out", "o", "", "directory of the report, `DIR`")
	flags.StringVar(&measured, "measured", "", "CSV `file` of banyan bench membership, or none (default: measure a few now)")
	flags.StringVar(&contended, "contention", "", "CSV `file` of banyan bench contention (default: measured now, if the other measurements are)")
	f.register(flags, "groups of up to 2^13, few runs of the protocol as printed", "groups of up to 2^20", "failures", "runs")
	return cmd
}

// noMeasurements is what --measured takes for none.
const noMeasurements = "none"

// measureNow makes a few measurements.
func measureNow(ctx context.Context, p *membership.Parameters, quick bool, progress func(string, int, int)) error {
	plan := benchmembership.Plan{
		N: []int{4, 8, 16, 24, 32, 40, 47}, Arities: []int{2, 4}, Faults: []benchmembership.Fault{{Kind: benchmembership.Node}},
		Runs: 5, Apart: benchmembership.MaxMembers, Seed: p.Seed,
	}
	if quick {
		plan.N, plan.Runs = []int{4, 8, 16, 32}, 2
	}
	var err error
	if plan.Again, err = bench.MembershipAgain(); err != nil {
		return err
	}
	if p.Contended == nil {
		if p.Contended, err = contentionNow(ctx, quick, progress); err != nil {
			return err
		}
	}
	plan.Contended = p.Contended
	if err := plan.Check(); err != nil {
		return fmt.Errorf("--contention: %w", err)
	}
	result, err := plan.Run(ctx, func(runs int) { progress("measuring this machine", runs, plan.Size()) })
	if errors.Is(err, context.Canceled) {
		return err
	}
	if err != nil {
		return cli.Failed(fmt.Errorf("measuring this machine: %w (--measured none does without)", err))
	}
	p.Measured = measurements(result.Rows)
	p.MeasuredBy = fmt.Sprintf("%d changes of view among processes of one machine with %d processors: L = %v, Ocp = %v",
		len(p.Measured), runtime.NumCPU(), result.Machine.Latency, result.Machine.Compute)
	return nil
}

// contentionNow measures the contention for figure 7.
func contentionNow(ctx context.Context, quick bool, progress func(string, int, int)) (*viewtime.Contended, error) {
	plan := contention.Plan{
		Children: []int{1, 2, 4}, Nodes: []int{2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 47}, Runs: 3, Pause: benchmembership.ContentionPause,
	}
	if quick {
		plan.Nodes, plan.Runs = []int{2, 4, 8, 16, 24, 32}, 1
	}
	var err error
	if plan.Size, err = benchmembership.ProposalSize(); err != nil {
		return nil, err
	}
	if plan.Again, err = bench.ContentionAgain(); err != nil {
		return nil, err
	}
	rows, err := plan.Run(ctx, func(runs int) { progress("measuring the contention", runs, plan.Count()) })
	if errors.Is(err, context.Canceled) {
		return nil, err
	}
	if err != nil {
		return nil, cli.Failed(fmt.Errorf("measuring the contention: %w (--measured none does without)", err))
	}
	return viewtime.NewContended(contention.Latencies(rows))
}

// readMeasured reads the measurements of a file that the models are for: deaths of single members.
func readMeasured(path string) ([]membership.Measurement, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows, err := benchmembership.ReadCSV(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return measurements(rows), nil
}

func measurements(rows []benchmembership.Row) []membership.Measurement {
	var all []membership.Measurement
	for i := range rows {
		if r := &rows[i]; r.Fault.Kind == benchmembership.Node {
			all = append(all, membership.Measurement{
				Live: r.Agree(), Arity: r.Arity, Stabilise: r.Stabilise, Commit: r.Commit, Messages: r.Messages, Busy: r.Busy, Base: r.Base, Contention: r.Contention,
			})
		}
	}
	return all
}
