package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"banyan/internal/study/campaign"
)

func newSimCampaignCommand() *cobra.Command {
	var out string
	var workers int
	cmd := &cobra.Command{
		Use:   "campaign SPEC.yaml",
		Short: "Simulate every combination of parameters, many times each",
		Long: `Simulates broadcasts for every combination of the parameters in a spec, with other
dead processes in each run, and appends one line of CSV for each to a file as they
come. After a kill the same command goes on where the file ends. The file
doesn't depend on the number of workers.

With --out FILE.parquet the lines go to FILE.csv, and when all are there FILE.parquet
is made of them, whole or not at all.

A spec is YAML. Each field but runs and seed is a value or a list of values:

  runs: 1000                        of each combination
  seed: 1                           another one draws other dead
  procs: 65536
  L: 2                              latency of a message, in steps
  o: 1                              overhead of sending and receiving
  gap: 0                            between two sends, and two receives; 0 is o
  tree: [binomial, kary:4, lame:2, optimal, gossip:26, gossip-rounds:14]
  numbering: interleaved            or inorder
  correction: [none, ack, checked, opportunistic:2, optimized:0:4, delayed:8, failure-proof]
  start: default                    or synchronized, overlapped
  failed: [0, 10, 0.1%]             dead processes, or a share of all (rounded)
  crashes: [0, 10, 0.1%]            processes that die on the way
  node_size: [0, 16]                processes of a node; 0: no nodes
  placement: consecutive            or shuffled, striped
  latency_within: 1                 latency within a node
  failed_nodes: 0                   nodes that are dead
  noise: 0                          up to so many steps more for each message

Only runs and procs must be there; the defaults of the others are seed 1, L 2, o 1,
binomial, interleaved, checked, default, consecutive and 0. Gossip is for so many steps or
rounds. The number of a correction is its distance, to both sides or (0:4) to the left and to
the right, or its delay.

Each line has its run's seed. The same flags and --seed of banyan sim broadcast, with
--failed-count, --failed-nodes and --crash-count, make the same broadcast.

Exit codes: 0; 1 if it was interrupted; 2 if the command line, the spec or the
file is wrong.`,
		Example: `  # the campaign of spec.yaml, into spec.csv
  banyan sim campaign spec.yaml

  # into results.csv and, typed and compressed, results.parquet
  banyan sim campaign spec.yaml --out results.parquet

  # on one core
  banyan sim campaign spec.yaml --workers 1`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if workers < 1 {
				return fmt.Errorf("--workers: %d: want at least 1", workers)
			}
			if out == "" {
				out = strings.TrimSuffix(args[0], filepath.Ext(args[0])) + ".csv"
			}
			return simulateCampaign(cmd, args[0], out, workers)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVarP(&out, "out", "o", "", "results, `FILE`.csv or .parquet (default the spec's name with .csv)")
	flags.IntVar(&workers, "workers", runtime.NumCPU(), "broadcasts simulated at a time")
	return cmd
}

// simulateCampaign runs a spec, or what its file of results lacks of it.
func simulateCampaign(cmd *cobra.Command, path, out string, workers int) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	spec, err := campaign.Parse(file)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	journal := campaign.Journal(out)
	bar := campaignBar{off: !isTerminal(os.Stderr)}
	err = spec.Run(ctx, journal, workers, bar.set)
	bar.clear()
	if errors.Is(err, context.Canceled) {
		return &exitError{1, fmt.Errorf("interrupted: %s has %d of %d broadcasts; the same command goes on from there", journal, bar.done, spec.Total())}
	}
	if err != nil {
		return err
	}
	if journal != out {
		rows := newProgressOf(spec.Total(), "writing Parquet")
		err := spec.WriteParquet(journal, out, func(done, _ int) { rows.set(done) })
		rows.clear()
		if err != nil {
			return err
		}
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %d broadcasts, %d new\n", out, spec.Total(), spec.Total()-bar.from)
	return nil
}

// campaignBar shows on a terminal how far a campaign is, and the time left. What a
// file held before it began doesn't count for that.
type campaignBar struct {
	off        bool
	began      time.Time
	from, done int
	bar        *progressbar.ProgressBar
}

// set is a campaign.Progress.
func (b *campaignBar) set(done, total int) {
	if b.began.IsZero() {
		b.began, b.from = time.Now(), done
	}
	b.done = done
	if b.off || b.from == total {
		return
	}
	if b.bar == nil {
		b.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(os.Stderr),
			progressbar.OptionShowCount(),
			progressbar.OptionSetElapsedTime(false),
			progressbar.OptionSetPredictTime(false), // it would count what was done before
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionFullWidth(),
			progressbar.OptionClearOnFinish(),
		)
	}
	b.bar.Describe("broadcasts" + b.left(total))
	// A terminal that can't be written to is no reason to stop.
	_ = b.bar.Set(done)
}

// left is about how long it will take, once that can be told.
func (b *campaignBar) left(total int) string {
	passed := time.Since(b.began)
	if b.done == b.from || passed < time.Second {
		return ""
	}
	left := time.Duration(float64(passed) / float64(b.done-b.from) * float64(total-b.done))
	return fmt.Sprintf(", %v left", left.Round(time.Second))
}

// clear takes the bar away.
func (b *campaignBar) clear() {
	if b.bar != nil {
		_ = b.bar.Clear()
	}
}
