package bench

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"banyan/bench/peers"
	"banyan/cmd/banyan/internal/cli"
	"banyan/internal/study/table"
)

type mpiFlags struct {
	kinds  []string
	rounds int
	format table.Format
}

func mpiCommand() *cobra.Command {
	var f mpiFlags
	cmd := &cobra.Command{
		Use:   "mpi",
		Short: "The C library beside Open MPI and MPICH, on one C program",
		Long: `Mpi builds one C program with the mpicc of Banyan, and with those of Open MPI and
MPICH if they are installed (as mpicc.openmpi and mpicc.mpich, the names that Debian gives
them), and measures all in turn, round after round: ping-pong (one way), streams of messages, barrier,
broadcast, reduction to all, all-to-all; the collectives as loops with a barrier inside.

The ratio is that of Banyan to the better peer within each round: median and quartiles.
The floor is the time in which two processes of this machine hand a cache line over.

"make bench-mpi" installs the peers and runs this.`,
		Example: `  banyan bench mpi
  banyan bench mpi --kind latency,barrier --rounds 20 --format csv`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.kinds, "kind", nil, "kinds of operations: latency, stream, barrier, bcast, allreduce, alltoall (default all)")
	cli.CountFlag(flags, &f.rounds, "rounds", 10, "rounds")
	cli.FormatFlag(flags, &f.format)
	return cmd
}

func (f *mpiFlags) run(cmd *cobra.Command) error {
	rows, err := f.rows()
	if err != nil {
		return err
	}
	shop, err := openWorkshop()
	if err != nil {
		return err
	}
	defer shop.close()
	b, missing, err := peers.Build(shop.dir, peers.Libraries(shop.bin))
	if err != nil {
		return cli.Failed(err)
	}
	for _, name := range missing {
		if err := shop.lacks(name, false); err != nil {
			return err
		}
	}
	ctx, stop := cli.Interruptible(cmd.Context())
	defer stop()
	progress := cli.NewLongProgress(f.rounds*len(rows)*len(b.Libraries), "measurements")
	results, floor, err := b.Run(ctx, rows, f.rounds, progress.Step)
	progress.Clear()
	if err != nil {
		return unmeasured(ctx, err)
	}
	if err := table.Write(cmd.OutOrStdout(), f.format, mpiColumns(b.Libraries), results); err != nil {
		return err
	}
	if f.format == table.Text {
		fmt.Fprintf(cmd.OutOrStdout(), "\nTimes in µs of one operation: medians of %d rounds. The floor, a cache line one way: %.3f µs (%.3f–%.3f).\n",
			f.rounds, floor.Median/1e3, floor.Low/1e3, floor.High/1e3)
	}
	return nil
}

// rows are those of the kinds that are asked for.
func (f *mpiFlags) rows() ([]peers.Row, error) {
	var rows []peers.Row
	for _, kind := range f.kinds {
		n := len(rows)
		for _, r := range peers.Rows() {
			if r.Kind == kind {
				rows = append(rows, r)
			}
		}
		if len(rows) == n {
			return nil, fmt.Errorf("--kind %q: there are latency, stream, barrier, bcast, allreduce and alltoall", kind)
		}
	}
	if len(f.kinds) == 0 {
		rows = peers.Rows()
	}
	return rows, nil
}

// mpiColumns are the columns of the table: times in µs.
func mpiColumns(libraries []peers.Library) []table.Column[peers.Result] {
	columns := []table.Column[peers.Result]{
		table.Col("kind", func(r *peers.Result) any { return r.Kind }),
		table.Col("bytes", func(r *peers.Result) any { return r.Bytes }),
		table.Col("procs", func(r *peers.Result) any { return r.Procs }),
		table.Col("transport", func(r *peers.Result) any {
			if r.TCP {
				return "tcp"
			}
			return "auto"
		}),
	}
	for i, l := range libraries {
		columns = append(columns, table.Col(strings.ToLower(l.Name)+"_us", func(r *peers.Result) any { return known(r.Times[i].Median / 1e3) }))
	}
	return append(columns,
		table.Col("better", func(r *peers.Result) any { return r.Better }),
		table.Col("ratio", func(r *peers.Result) any { return known(r.Ratio.Median) }),
		table.Col("ratio_low", func(r *peers.Result) any { return known(r.Ratio.Low) }),
		table.Col("ratio_high", func(r *peers.Result) any { return known(r.Ratio.High) }))
}
