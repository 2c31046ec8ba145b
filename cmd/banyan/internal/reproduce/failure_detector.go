package reproduce

import (
	"context"

	"github.com/spf13/cobra"

	"banyan/internal/study/report"
	"banyan/internal/study/reproduce/failuredetector"
)

func failureDetectorCommand() *cobra.Command {
	var f commonFlags
	cmd := &cobra.Command{
		Use:   "failure-detector",
		Short: "Repeat the simulations of the failure-detector paper",
		Long: `Repeats every simulation of Bosilca et al., "A Failure Detector for HPC Platforms"
(RR-9024): figures 3, 4a, 4b, 5, 6 and 7, up to 256,000 nodes, and the numbers of their text.
Figure 10 (several victims at once, concurrent broadcasts), which the paper measured, is simulated
too. What can be measured of section 5 on a machine is measured by "banyan bench detector".

Each point of figures 4 and 5 is run 10,000 times by an abstraction without heartbeats, as in
the paper, and by the detector's own machines, with every heartbeat and every copy of a
broadcast, less often the larger it is: by default once or twice at 256,000 nodes, with --full
some 20 times. The report says how far the two are apart.

It takes some minutes; with --quick (fewer runs, machines up to 1,024 nodes) under a minute, with
--full some half an hour on two cores, and 0.5 GB of memory for each worker. The report doesn't depend on the
number of workers. It can be stopped at any moment (Ctrl-C, a kill, a loss of power): the same
command goes on where it was, and ends with the same report. What is done is in DIR/pieces,
which takes one seed and one of --quick, --full and neither; another one is refused. Only a run
of the machines, a minute or two at 256,000 nodes, is begun anew.

Exit codes: 0, whatever the claims; 1 if it was interrupted; 2 if the command line is
wrong or a file can't be written.`,
		Example: `  # the report
  banyan reproduce failure-detector --out failure-detector

  # does it work here?
  banyan reproduce failure-detector --out /tmp/quick --quick

  # the machines as often as can be afforded
  banyan reproduce failure-detector --out full --full

  # go on after Ctrl-C, a kill or a restart of the machine
  banyan reproduce failure-detector --out full --full`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			p := failuredetector.Default()
			switch {
			case f.quick:
				p = failuredetector.Quick()
			case f.full:
				p = failuredetector.Full()
			}
			p.Seed, p.Workers = f.seed, f.workers
			return reproduce(cmd, &f, f.goesOn(cmd), func(ctx context.Context, progress func(string, int, int)) (*report.Report, error) {
				return failuredetector.Run(ctx, f.pieces(), p, progress)
			})
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVarP(&f.out, "out", "o", "", "directory of the report, `DIR`")
	f.register(flags, "few runs: under a minute, and rough", "the machines some 20 times at 256,000 nodes", "failures", "runs")
	return cmd
}
