package bench

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"banyan/bench/broadcast"
	"banyan/bench/peers"
	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/study/table"
)

type broadcastFlags struct {
	plan               broadcast.Plan
	trees, corrections []string
	after              time.Duration
	out, chart, dir    string
	libraries          []string
	format             table.Format
}

const broadcastLong = `Broadcast measures the latency of MPI_Bcast over trees, corrections, dead ranks, numbers
of ranks and sizes, beside Open MPI and MPICH if they are installed (as mpicc.openmpi and
mpicc.mpich), which run without dead ranks.

The latency is from the root's call to the last return at a live rank. Dead ranks are stopped
(SIGSTOP), and nobody notices before they go on: so it's the correction that has to reach those
below them. A broadcast that hasn't reached all live ranks after --limit is counted as missed.

In each round every setting runs once, in an order that rotates. The ratio is that to the plain tree
(the first --tree with the correction none, no rank dead) within each round: median and quartiles.
An interrupted measurement shows the rounds that are whole, and exits with code 130.
Tree "auto" is what Banyan chooses without --bcast. Trees and corrections are written as in
"banyan run --bcast".

With --host each host has its share of the ranks, in blocks. Every library starts them there by
ssh. If the hosts don't share a directory of temporary files, --dir names one that they do.`

func broadcastCommand() *cobra.Command {
	var f broadcastFlags
	cmd := &cobra.Command{
		Use:   "broadcast",
		Short: "What it costs to protect a broadcast: trees and corrections beside Open MPI and MPICH",
		Long:  broadcastLong,
		Example: `  banyan bench broadcast
  banyan bench broadcast --ranks 8,16,64 --bytes 8,1024,65536,1048576 --dead 0,1,2,5 --rounds 10 --out bcast.csv --format csv
  banyan bench broadcast --tree binomial,kary:4 --correction none,opportunistic:1,delayed --chart protection.svg
  banyan bench broadcast --host h0,h1,h2,h3 --ranks 8,64 --tree binomial`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	p := &f.plan
	flags.IntSliceVarP(&p.Ranks, "ranks", "n", []int{8}, "numbers of ranks, 2 to 64")
	flags.IntSliceVar(&p.Bytes, "bytes", []int{8, 64 << 10}, "sizes, 1 to 1048576")
	flags.StringSliceVar(&f.trees, "tree", []string{"binomial", "lame", "gossip"}, "trees, as binomial, kary:4, lame:2, optimal:2:1, chain, star, gossip:8")
	flags.StringSliceVar(&f.corrections, "correction", []string{"none", "skip-ahead:1", "skip-ahead:2", "checked"}, "corrections, as none, checked, skip-ahead:2:0, delayed, failure-proof")
	flags.DurationVar(&f.after, "after", 50*time.Microsecond, "how long a rank waits before it corrects")
	flags.Float64SliceVar(&p.Dead, "dead", []float64{0, 5}, "percent of the ranks that are dead, rounded up")
	flags.StringVar(&p.Transport, "transport", "auto", "auto, shm or tcp")
	flags.StringSliceVar(&p.Hosts, "host", nil, "hosts on which the ranks are, as h0,h1 (default this machine alone)")
	flags.StringSliceVar(&f.libraries, "library", nil, "measure these libraries only: banyan, openmpi, mpich. MPICH takes minutes with many more ranks than cores")
	flags.StringVar(&f.dir, "dir", "", "make the programs in a new folder of `DIR`, which all hosts share (default that of temporary files)")
	cli.CountFlag(flags, &p.Rounds, "rounds", 5, "rounds")
	cli.CountFlag(flags, &p.Count, "count", 20, "broadcasts of a job; fewer if they are large")
	flags.DurationVar(&p.Limit, "limit", 250*time.Millisecond, "when a broadcast is missed")
	flags.Uint64Var(&p.Seed, "seed", 1, "draws the dead ranks")
	flags.StringVar(&f.out, "out", "", "write the table to `FILE`")
	flags.StringVar(&f.chart, "chart", "", "also draw the ratios to `FILE`, as SVG")
	cli.FormatFlag(flags, &f.format)
	return cmd
}

func (f *broadcastFlags) run(cmd *cobra.Command) (err error) {
	if f.plan.Schemes, err = broadcast.Schemes(f.trees, f.corrections, f.after); err != nil {
		return err
	}
	if err := f.plan.Check(); err != nil {
		return err
	}
	if _, err := chosen(peers.Libraries(""), f.libraries); err != nil {
		return err
	}
	if len(f.libraries) > 0 && !slices.Contains(f.libraries, "banyan") {
		return errors.New("--library: the ratios are to a tree of banyan's, so it must be among them")
	}
	out := cmd.OutOrStdout()
	var files [2]*os.File
	for i, name := range []string{f.out, f.chart} { // refuse a bad name before measuring
		if name == "" {
			continue
		}
		if files[i], err = os.Create(name); err != nil {
			return err
		}
		defer files[i].Close()
	}
	if files[0] != nil {
		out = files[0]
	}
	rows, interrupted := f.measure(cmd)
	if len(rows) == 0 && interrupted != nil {
		return interrupted
	}
	if err := table.Write(out, f.format, protectionColumns(), rows); err != nil {
		return err
	}
	if files[1] != nil {
		if err := drawBroadcasts(files[1], rows); err != nil {
			return err
		}
	}
	return interrupted
}

func drawBroadcasts(w io.Writer, rows []broadcast.Row) error {
	svg, err := broadcast.Chart(rows).SVG()
	if err != nil {
		return fmt.Errorf("--chart: %w", err)
	}
	_, err = w.Write(svg)
	return err
}

// measure returns the rows of the rounds that are whole also with an error.
func (f *broadcastFlags) measure(cmd *cobra.Command) ([]broadcast.Row, error) {
	shop, err := openWorkshopIn(f.dir)
	if err != nil {
		return nil, err
	}
	defer shop.close()
	libraries, err := chosen(peers.Libraries(shop.bin), f.libraries)
	if err != nil {
		return nil, err
	}
	b, missing, err := broadcast.Build(shop.dir, libraries)
	if err != nil {
		return nil, cli.Failed(err)
	}
	for _, name := range missing {
		if err := shop.lacks(name, len(f.libraries) > 0); err != nil {
			return nil, err
		}
	}
	ctx, stop := cli.Interruptible(cmd.Context())
	defer stop()
	bar := progress.NewLong(f.plan.Rounds*len(f.plan.Settings(b.Peers())), "jobs")
	rows, err := b.Run(ctx, &f.plan, bar.Step, func(err error) {
		bar.Clear()
		fmt.Fprintf(os.Stderr, "banyan: a job of another library failed, and is left out: %v\n", err)
	})
	bar.Clear()
	return rows, unmeasured(ctx, err)
}

// protectionColumns are the columns of the table: times in µs.
func protectionColumns() []table.Column[broadcast.Row] {
	return []table.Column[broadcast.Row]{
		table.Col("library", func(r *broadcast.Row) any { return r.Library }),
		table.Col("tree", func(r *broadcast.Row) any { return r.Tree() }),
		table.Col("correction", func(r *broadcast.Row) any { return r.Correction() }),
		table.Col("ranks", func(r *broadcast.Row) any { return r.Ranks }),
		table.Col("bytes", func(r *broadcast.Row) any { return r.Bytes }),
		table.Col("dead", func(r *broadcast.Row) any { return r.Dead }),
		table.Col("latency_us", func(r *broadcast.Row) any { return known(r.Latency.Median / 1e3) }),
		table.Col("latency_low_us", func(r *broadcast.Row) any { return known(r.Latency.Low / 1e3) }),
		table.Col("latency_high_us", func(r *broadcast.Row) any { return known(r.Latency.High / 1e3) }),
		table.Col("ratio", func(r *broadcast.Row) any { return known(r.Ratio.Median) }),
		table.Col("ratio_low", func(r *broadcast.Row) any { return known(r.Ratio.Low) }),
		table.Col("ratio_high", func(r *broadcast.Row) any { return known(r.Ratio.High) }),
		table.Col("missed", func(r *broadcast.Row) any { return r.Missed }),
	}
}
