package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"banyan/bench/loggp"
	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/job/launcher"
	"banyan/internal/study/table"
)

const loggpLong = `LogGP measures what messages cost on this machine, as "banyan sim replication" reads it: LogGP's
L, o, g and G, the time to copy a byte, and what replication and its acknowledgements add. A round is four
jobs of two ranks; the figures are medians of the rounds with quartiles, in nanoseconds.

Rank 0 sends messages, computes until the answers have come, and receives them: each call is timed, and
none waits. Half a ping-pong less both is L. With fewer cores than processes the processes of replicated
jobs sleep in place of computing. Nothing else should run on the machine meanwhile.

--out writes a network for "banyan sim replication --network FILE"; "banyan bench patterns --network FILE"
tells how well simulations with it agree with real jobs.

Exit codes: 0; 1 if something couldn't be measured, 130 if it was interrupted; 2 if the command line is
wrong or the file can't be written.`

const loggpExample = `  banyan bench loggp                                      # half a minute
  banyan bench loggp --out here.json
  banyan sim replication --network here.json --ranks 256
  banyan bench patterns --network here.json

  banyan bench loggp --transport tcp --rounds 20 --format csv`

// loggpFlags are the flags of "bench loggp", as given.
type loggpFlags struct {
	bench  loggp.Bench
	out    string
	format table.Format
}

// register adds what both commands have.
func registerLoggp(cmd *cobra.Command, b *loggp.Bench, format *table.Format, rounds int) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&b.Transport, "transport", launcher.TransportSHM, "transport of the jobs: shm or tcp")
	cli.CountFlag(flags, &b.Rounds, "rounds", rounds, "rounds")
	flags.DurationVar(&b.Limit, "timeout", time.Minute, "ends a job that takes longer")
	cli.FormatFlag(flags, format)
}

// prepareLoggp refuses what can't be measured, and says which program the jobs run.
func prepareLoggp(b *loggp.Bench) error {
	if b.Transport != launcher.TransportSHM && b.Transport != launcher.TransportTCP {
		return fmt.Errorf("--transport %q: there are shm and tcp", b.Transport)
	}
	if b.Limit <= 0 {
		return errors.New("--timeout: want more than 0s")
	}
	self, err := os.Executable()
	b.Worker = []string{self, "bench", loggpRole}
	return err
}

func loggpCommand() *cobra.Command {
	var f loggpFlags
	cmd := &cobra.Command{
		Use:     "loggp",
		Short:   "What messages cost here, for banyan sim replication",
		Long:    loggpLong,
		Example: loggpExample,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	registerLoggp(cmd, &f.bench, &f.format, 10)
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "also write the network to `FILE`")
	return cmd
}

var costColumns = []table.Column[loggp.Cost]{
	table.Col("cost", func(c *loggp.Cost) any { return c.Name }),
	table.Col("ns", func(c *loggp.Cost) any { return c.Median }),
	table.Col("q1", func(c *loggp.Cost) any { return c.Low }),
	table.Col("q3", func(c *loggp.Cost) any { return c.High }),
	table.Col("meaning", func(c *loggp.Cost) any { return c.Meaning }),
}

func (f *loggpFlags) run(ctx context.Context, out io.Writer) error {
	if err := prepareLoggp(&f.bench); err != nil {
		return err
	}
	if f.out != "" { // refuse a bad name before measuring
		if _, err := os.Stat(filepath.Dir(f.out)); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	bar := progress.NewLong(f.bench.Steps(), "jobs")
	f.bench.Progress = bar.Step
	costs, err := f.bench.Costs(ctx)
	bar.Clear()
	if err != nil {
		return unmeasured(ctx, err)
	}
	if f.out != "" {
		host, err := os.Hostname()
		if err != nil {
			return err
		}
		n := loggp.Network(host+", "+f.bench.Transport, costs)
		if err := cli.WriteFile(f.out, func(w io.Writer) error {
			_, err := n.WriteTo(w)
			return err
		}); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	return table.Write(out, f.format, costColumns, costs)
}

// loggpRole names the hidden subcommand that the jobs run.
const loggpRole = "loggp-role"

func loggpRoleCommand() *cobra.Command {
	return &cobra.Command{
		Use:    loggpRole,
		Short:  "The program that banyan bench loggp and patterns run",
		Hidden: true,
		Args:   cobra.ArbitraryArgs,
		RunE:   func(cmd *cobra.Command, args []string) error { return loggp.Perform(cmd.OutOrStdout(), args) },
	}
}

// oneOf is a list of words for people.
func oneOf(words []string) string { return strings.Join(words, ", ") }
