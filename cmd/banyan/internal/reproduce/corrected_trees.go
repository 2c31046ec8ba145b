package reproduce

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/study/report"
	"banyan/internal/study/reproduce/correctedtrees"
)

func correctedTreesCommand() *cobra.Command {
	var f commonFlags
	cmd := &cobra.Command{
		Use:   "corrected-trees",
		Short: "Repeat the simulations of the corrected-trees paper",
		Long: `Repeats every simulation of Küttler et al., "Corrected Trees for Reliable Group
Communication" (PPoPP '19): figures 1b, 6, 7, 8, 9, 10 and 14 and table 1, with
65,536 processes, L = 2, o = 1, fault rates of 0.01 to 4 % and four trees.

By default each tree and fault rate is simulated 1,000 times, which takes minutes; with
--full 100,000 times, as in the paper, which takes half an hour of one core. What only the
event-driven engine can run (opportunistic correction, gossip) is run 100 and 250 times,
which is enough for means; the report says how often each.

Figure 1b has 1, 2 and 5 dead processes, as the paper's, and figure-1b-more has more. How
many messages gossip sends if it leaves nobody uncoloured in 100,000 broadcasts is found
by so many with --full, and extrapolated from fewer otherwise (table gossip-safety).

It can be stopped at any moment (Ctrl-C, a kill, a loss of power): the same command goes on
where it was, and ends with the same files, byte for byte. All broadcasts with dead processes
are in DIR/runs, one line each with its seed, everything else that is done in DIR/pieces. A
directory takes one seed and one of --quick, --full and neither; another one is refused, and
so is what a version of this program began whose simulator has other outcomes. The report
doesn't depend on the number of workers.

Exit codes: 0, whatever the claims; 1 if it was interrupted; 2 if the command line is
wrong or a file can't be written.`,
		Example: `  # the report, with confidence intervals
  banyan reproduce corrected-trees --out corrected-trees

  # does it work here?
  banyan reproduce corrected-trees --out /tmp/quick --quick

  # as many broadcasts as the paper
  banyan reproduce corrected-trees --out full --full

  # go on after Ctrl-C, a kill or a restart of the machine
  banyan reproduce corrected-trees --out full --full`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			p := correctedtrees.Default()
			switch {
			case f.quick:
				p = correctedtrees.Quick()
			case f.full:
				p = correctedtrees.Full()
			}
			p.Seed, p.Workers = f.seed, f.workers
			var bar progress.Steps
			steps, err := correctedtrees.Estimate(p, bar.Set)
			bar.Clear()
			if err != nil {
				return err
			}
			for _, s := range steps {
				f.planned = append(f.planned, plannedStep{s.Name, s.Takes})
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "banyan: from the beginning this takes about %s with %d workers\n", roughly(newCountdown(f.planned).planned()), f.workers)
			return reproduce(cmd, &f, f.goesOn(cmd), func(ctx context.Context, progress func(string, int, int)) (*report.Report, error) {
				return correctedtrees.Run(ctx, f.out, p, progress)
			})
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVarP(&f.out, "out", "o", "", "directory of the report, `DIR`")
	f.register(flags, "few broadcasts: under a minute, and rough", "as many broadcasts as the paper", "dead", "broadcasts simulated")
	return cmd
}

// roughly is a duration in words, without false precision.
func roughly(d time.Duration) string {
	switch {
	case d < 90*time.Second:
		return fmt.Sprintf("%d seconds", max(1, int(d.Round(time.Second).Seconds())))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d minutes", int(d.Round(time.Minute).Minutes()))
	}
	return fmt.Sprintf("%.1f hours", d.Hours())
}
