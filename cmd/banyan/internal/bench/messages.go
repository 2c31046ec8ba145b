package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"banyan/bench"
	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/job/launcher"
	"banyan/internal/study/table"
)

type messagesFlags struct {
	transports []string
	replicas   []int
	rounds     int
	operations int
	format     table.Format
}

func messagesCommand() *cobra.Command {
	var f messagesFlags
	cmd := &cobra.Command{
		Use:   "messages",
		Short: "Latency and bandwidth of messages, broadcasts and reductions",
		Long: `Messages measures a ping-pong (one way), a barrier, a broadcast and a reduction
over each transport, with each number of replicas. A round is one job of every
configuration; the figures are medians of the rounds, with quartiles. Broadcast and
reduction are timed with a barrier after each. The ping-pong over plain net.Conns of Go is
measured beside them, as a peer, and so is the machine's floor: two threads hand a word
to and fro in two cache lines.

Processes beyond the machine's cores share them: compare ratios rather than figures.`,
		Example: `  banyan bench messages
  banyan bench messages --transport tcp,encrypted --replicas 1
  banyan bench messages --transport tcp --replicas 1,2,3 --rounds 20 --format csv`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.OutOrStdout()) },
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.transports, "transport", []string{launcher.TransportSHM, launcher.TransportTCP, bench.LocalTransport}, "transports to measure: shm, tcp, encrypted (tcp with --encrypt=tcp), inproc")
	flags.IntSliceVar(&f.replicas, "replicas", []int{1, 2}, "numbers of replicas to measure")
	cli.CountFlag(flags, &f.rounds, "rounds", 10, "rounds")
	cli.CountFlag(flags, &f.operations, "operations", bench.DefaultOperations, "how often a job repeats small messages; it repeats larger ones less often")
	cli.FormatFlag(flags, &f.format)
	return cmd
}

func (f *messagesFlags) run(out io.Writer) error {
	var settings []bench.Setting
	for _, t := range f.transports {
		if t != launcher.TransportSHM && t != launcher.TransportTCP && t != bench.EncryptedTransport && t != bench.LocalTransport {
			return fmt.Errorf("there is no transport %q: --transport takes shm, tcp, encrypted and inproc", t)
		}
		for _, r := range f.replicas {
			if r < 1 {
				return fmt.Errorf("--replicas %d: a rank needs one at least", r)
			}
			settings = append(settings, bench.Setting{Transport: t, Replicas: r})
		}
	}
	settings = append(settings, bench.Setting{Transport: bench.PeerTransport, Replicas: 1},
		bench.Setting{Transport: bench.FloorTransport, Replicas: 1})
	self, err := os.Executable()
	if err != nil {
		return err
	}
	bar := progress.NewLong(f.rounds, "rounds")
	rows, err := bench.Run(settings, f.rounds, bench.Jobs{Worker: []string{self, "bench", messagesRole}, Operations: f.operations}.Run, bar.Set)
	bar.Clear()
	if err != nil {
		return cli.Failed(err)
	}
	switch f.format {
	case table.CSV:
		return bench.WriteCSV(out, rows)
	case table.JSON:
		return json.NewEncoder(out).Encode(rows)
	}
	return bench.WriteTable(out, rows)
}

// messagesRole names the hidden subcommand that the jobs of bench messages run.
const messagesRole = "worker"

func workerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    messagesRole,
		Short:  "The program that banyan bench runs",
		Hidden: true,
		Args:   cobra.ArbitraryArgs,
		RunE:   func(cmd *cobra.Command, args []string) error { return bench.Perform(cmd.OutOrStdout(), args) },
	}
}
