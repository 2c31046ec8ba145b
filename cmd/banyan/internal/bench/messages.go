package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"

	"github.com/spf13/cobra"

	"banyan/bench"
	"banyan/cmd/banyan/internal/cli"
	"banyan/internal/job/launcher"
	"banyan/internal/study/table"
	"banyan/mpi"
)

// transportLocal runs all processes, replicas too, as goroutines of one.
const transportLocal = "inproc"

type messagesFlags struct {
	transports []string
	replicas   []int
	rounds     int
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
  banyan bench messages --transport tcp --replicas 1,2,3 --rounds 20 --format csv`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.OutOrStdout()) },
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.transports, "transport", []string{launcher.TransportSHM, launcher.TransportTCP, transportLocal}, "transports to measure: shm, tcp, inproc")
	flags.IntSliceVar(&f.replicas, "replicas", []int{1, 2}, "numbers of replicas to measure")
	cli.CountFlag(flags, &f.rounds, "rounds", 10, "rounds")
	cli.FormatFlag(flags, &f.format)
	return cmd
}

func (f *messagesFlags) run(out io.Writer) error {
	var settings []bench.Setting
	for _, t := range f.transports {
		if t != launcher.TransportSHM && t != launcher.TransportTCP && t != transportLocal {
			return fmt.Errorf("there is no transport %q: --transport takes shm, tcp and inproc", t)
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
	progress := cli.NewLongProgress(f.rounds, "rounds")
	rows, err := bench.Run(settings, f.rounds, benchJob, progress.Set)
	progress.Clear()
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

// benchJob runs one job of workers and returns rank 0's samples.
func benchJob(s bench.Setting, ranks int) ([]bench.Sample, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if s.Transport == bench.FloorTransport {
		if ranks != bench.Patterns[0].Ranks {
			return nil, nil
		}
		return bench.MeasureFloor(), nil
	}
	if s.Transport == bench.PeerTransport {
		if ranks != bench.Patterns[0].Ranks {
			return nil, nil
		}
		other := exec.Command(program, "bench", "worker")
		samples, err := bench.MeasurePeer(func(address string) error {
			other.Args = append(other.Args, "--echo="+address)
			return other.Start()
		})
		return samples, errors.Join(err, other.Wait())
	}
	cfg := launcher.Config{
		Ranks: ranks, Replicas: s.Replicas, Program: program, Args: []string{"bench", "worker"},
		Env: os.Environ(), Transport: s.Transport, Stdin: bytes.NewReader(nil),
	}
	if s.Transport == transportLocal {
		cfg.Args = append(cfg.Args, fmt.Sprint("--local=", ranks), fmt.Sprint("--replicas=", s.Replicas))
		cfg.Ranks, cfg.Replicas, cfg.Transport = 1, 1, launcher.TransportTCP
	}
	var stdout, stderr bytes.Buffer
	cfg.Stdout, cfg.Stderr = &stdout, &stderr
	report, err := launcher.Run(cfg)
	if err != nil {
		return nil, err
	}
	if report.ExitCode != 0 {
		return nil, fmt.Errorf("a job ended with %d: %s", report.ExitCode, bytes.TrimSpace(stderr.Bytes()))
	}
	var samples []bench.Sample
	return samples, json.Unmarshal(stdout.Bytes(), &samples)
}

// workerCommand returns the program that the jobs of banyan bench messages run.
func workerCommand() *cobra.Command {
	var local, replicas int
	var echo string
	cmd := &cobra.Command{
		Use:    "worker",
		Short:  "The program that banyan bench runs",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := cmd.OutOrStdout()
			if echo != "" {
				return bench.EchoPeer(echo)
			}
			if local == 0 {
				mpi.Main(func(w *mpi.Comm) error {
					samples, err := bench.Measure(w)
					if err != nil || w.Rank() > 0 {
						return err
					}
					return json.NewEncoder(out).Encode(samples)
				})
			}
			var once sync.Once // one of rank 0's replicas writes
			return mpi.Local(local, func(w *mpi.Comm) error {
				samples, err := bench.Measure(w)
				if err == nil && w.Rank() == 0 {
					once.Do(func() { err = json.NewEncoder(out).Encode(samples) })
				}
				return err
			}, mpi.WithReplicas(replicas))
		},
	}
	cmd.Flags().IntVar(&local, "local", 0, "run so many ranks in this process")
	cmd.Flags().StringVar(&echo, "echo", "", "be the peer's other side at this address")
	cmd.Flags().IntVar(&replicas, "replicas", 1, "of each")
	return cmd
}
