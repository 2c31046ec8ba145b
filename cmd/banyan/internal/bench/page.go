package bench

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"banyan/bench/page"
	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/study/ratio"
	"banyan/internal/study/table"
)

const pageLong = `Page measures what the page of "banyan run --status" costs a program. The program runs without the
page (off), with the page and nobody who looks (on), and with a reader that takes in what a browser
gets (open), in turn. After -- come flags of banyan run, and the program.

  seconds, cpu_seconds   a job from its start to its end, and what its processes took of processors:
                         medians of the rounds
  time, cpu              the ratio to the job without a page within a round, with an interval of 95 %
                         confidence from six rounds on
  reader_bytes           what the reader got

The program should run for some seconds. Nothing else should run on the machine.

Exit codes: 0; 1 if something couldn't be measured, 130 if it was interrupted (whole rounds are shown
all the same); 2 if the command line is wrong.`

func pageCommand() *cobra.Command {
	var rounds int
	var format table.Format
	cmd := &cobra.Command{
		Use:   "page -- [FLAGS OF banyan run] PROGRAM [ARGUMENTS]",
		Short: "What the page of a running job costs it",
		Long:  pageLong,
		Example: `  banyan bench page -- -n 2 bin/cg -solves 20 examples/cg/data/bcsstk16.mtx.gz
  banyan bench page --rounds 20 --format csv -- -n 4 --replicas 2 ./program`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("want a program after --")
			}
			for _, a := range args {
				if name, _, _ := strings.Cut(a, "="); name == "--status" {
					return errors.New("--status: the measurement gives it, where the page is to be")
				}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			self, err := os.Executable()
			if err != nil {
				return cli.Failed(err)
			}
			p := page.Plan{Banyan: filepath.Clean(self), Args: args, Rounds: rounds}
			ctx, stop := cli.Interruptible(cmd.Context())
			defer stop()
			bar := progress.NewLong(3*rounds, "jobs")
			rows, err := page.Run(ctx, &p, bar.Step)
			bar.Clear()
			if len(rows) > 0 {
				if err := table.Write(cmd.OutOrStdout(), format, pageColumns(), rows); err != nil {
					return cli.Failed(err)
				}
			}
			return unmeasured(ctx, err)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	cli.CountFlag(flags, &rounds, "rounds", 10, "rounds, of three jobs each")
	cli.FormatFlag(flags, &format)
	return cmd
}

func pageColumns() []table.Column[page.Row] {
	estimate := func(name string, of func(*page.Row) ratio.Estimate) []table.Column[page.Row] {
		return []table.Column[page.Row]{
			table.Col(name, func(r *page.Row) any { return known(of(r).Ratio) }),
			table.Col(name+"_from", func(r *page.Row) any { return known(of(r).From) }),
			table.Col(name+"_to", func(r *page.Row) any { return known(of(r).To) }),
		}
	}
	all := []table.Column[page.Row]{
		table.Col("page", func(r *page.Row) any { return string(r.Setting) }),
		table.Col("seconds", func(r *page.Row) any { return r.Seconds }),
		table.Col("cpu_seconds", func(r *page.Row) any { return r.CPU }),
	}
	all = append(all, estimate("time", func(r *page.Row) ratio.Estimate { return r.Time })...)
	all = append(all, estimate("cpu", func(r *page.Row) ratio.Estimate { return r.Processor })...)
	return append(all, table.Col("reader_bytes", func(r *page.Row) any { return r.Bytes }))
}
