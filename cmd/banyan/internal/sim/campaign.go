package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/study/campaign"
)

func campaignCommand() *cobra.Command {
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
  correction: [none, ack, checked, optimized:2, ordered:2, skip-ahead:0:4, opportunistic:2, delayed:8, failure-proof]
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
			if out == "" {
				out = strings.TrimSuffix(args[0], filepath.Ext(args[0])) + ".csv"
			}
			return simulateCampaign(cmd, args[0], out, workers)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVarP(&out, "out", "o", "", "results, `FILE`.csv or .parquet (default the spec's name with .csv)")
	cli.WorkersFlag(flags, &workers, "broadcasts simulated")
	return cmd
}

// simulateCampaign runs a spec, or what its file of results lacks of it.
func simulateCampaign(cmd *cobra.Command, path, out string, workers int) error {
	var spec *campaign.Spec
	err := cli.ReadFile(path, func(file io.Reader) (err error) {
		if spec, err = campaign.Parse(file); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	ctx, stop := cli.Interruptible(cmd.Context())
	defer stop()
	journal := campaign.Journal(out)
	var bar progress.Steps
	before, there := -1, 0 // broadcasts in the file: before this run, and now
	err = spec.Run(ctx, journal, workers, func(done, total int) {
		if before < 0 {
			before = done
		}
		there = done
		bar.Set("broadcasts", done, total)
	})
	bar.Clear()
	if errors.Is(err, context.Canceled) {
		return cli.Failedf("interrupted: %s has %d of %d broadcasts; the same command goes on from there", journal, there, spec.Total())
	}
	if err != nil {
		return err
	}
	if journal != out {
		rows := progress.New(spec.Total(), "writing Parquet")
		err := spec.WriteParquet(journal, out, func(done, _ int) { rows.Set(done) })
		rows.Clear()
		if err != nil {
			return err
		}
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %d broadcasts, %d new\n", out, spec.Total(), spec.Total()-before)
	return nil
}
