package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"banyan/bench/peers"
	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/study/table"
)

type mpiFlags struct {
	kinds     []string
	libraries []string
	programs  []string
	procs     []int
	limit     time.Duration
	rounds    int
	format    table.Format
}

func mpiCommand() *cobra.Command {
	var f mpiFlags
	cmd := &cobra.Command{
		Use:   "mpi",
		Short: "The C library beside Open MPI and MPICH, on one C program or on programs of yours",
		Long: `Mpi builds one C program with the mpicc of Banyan, and with those of Open MPI and
MPICH if they are installed (as mpicc.openmpi and mpicc.mpich, the names that Debian gives
them), and measures all in turn, round after round. There are these kinds of rows:

  latency     ping-pong, one way
  stream      windows of 64 messages in one direction
  written     ping-pong and stream of large messages whose sender has written each line of them since
              the last one, as programs do: what nobody has written since may lie in the caches of
              the receiver's core, and reads fast
  barrier, bcast, allreduce, alltoall
              as loops with a barrier inside
  vector, indexed, struct
              ping-pong and stream of types with gaps: a column of a matrix, blocks of one to
              three numbers, an array of structs with padding; bytes are those of data
  rate        messages to a receiver that always has 64 receives posted
  posted      ping-pong beside 1,000 receives that are posted for other tags
  put, get, accumulate, fetch
              one-sided communication with a rank that waits: one operation and a flush; fetch is
              MPI_Fetch_and_op. put-stream: a window of 64; -created: of memory that the program
              has allocated, not the library
  lock, start, fence
              epochs with one put each: MPI_Win_lock and _unlock (shared; -exclusive; -all; -contended:
              both ranks want it), MPI_Win_start and _complete beside _post and _wait, one way, and
              MPI_Win_fence
  unexpected  ping-pong beside 1,000 messages of other tags that nobody receives
  threads     ping-pong of 2 and of 4 threads in each process at once (MPI_THREAD_MULTIPLE):
              the time of one message of them all

The ratio is that of Banyan to the better peer within each round: median and quartiles.
The floor is the time in which two processes of this machine hand a cache line over; floor_us is
that of the moments in which a row was measured. Compare times only of rows with the same: two
virtual cores may be near to each other in some minutes and far in others.

With --program any program is measured instead, which you have built for each library. {lib} in
its command stands for the library: banyan, openmpi, mpich. A shell reads the command, so there
may be quotes and redirections. The time is that of the whole job, start and end included, by the
clock on the wall. What the programs print isn't shown, unless one fails: that ends the bench.
--program may be given several times.

"make bench-mpi" installs the peers and runs all rows.`,
		Example: `  banyan bench mpi
  banyan bench mpi --kind latency,barrier --rounds 20 --format csv
  banyan bench mpi --kind vector,indexed,struct
  banyan bench mpi --program './solver-{lib} 500' --procs 1,2,4
  banyan bench mpi --program 'build/{lib}/xhpcg --nx=32' --library banyan,openmpi --rounds 6`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.kinds, "kind", nil, "kinds of rows: "+strings.Join(peers.Families(), ", ")+" (default all)")
	flags.StringArrayVar(&f.programs, "program", nil, "measure this `COMMAND` instead, with {lib} in it")
	flags.IntSliceVar(&f.procs, "procs", []int{2}, "of programs: numbers of processes")
	flags.DurationVar(&f.limit, "limit", 10*time.Minute, "of programs: the longest time that one may take")
	flags.StringSliceVar(&f.libraries, "library", nil, "measure these libraries only: banyan, openmpi, mpich (the ratio is that of the first of them)")
	cli.CountFlag(flags, &f.rounds, "rounds", 10, "rounds")
	cli.FormatFlag(flags, &f.format)
	return cmd
}

func (f *mpiFlags) run(cmd *cobra.Command) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	shop, err := openWorkshop()
	if err != nil {
		return err
	}
	defer shop.close()
	libraries, err := chosen(peers.Libraries(shop.bin), f.libraries)
	if err != nil {
		return err
	}
	libraries, missing := peers.Installed(libraries)
	for _, name := range missing {
		if err := shop.lacks(name, len(f.libraries) > 0); err != nil {
			return err
		}
	}
	ctx, stop := cli.Interruptible(cmd.Context())
	defer stop()
	if len(f.programs) > 0 {
		return f.runPrograms(ctx, cmd.OutOrStdout(), libraries)
	}
	return f.runRows(ctx, cmd.OutOrStdout(), shop.dir, libraries)
}

// check refuses flags that make no sense.
func (f *mpiFlags) check(cmd *cobra.Command) error {
	if _, err := peers.Select(f.kinds); err != nil {
		return fmt.Errorf("--kind: %w", err)
	}
	if len(f.programs) > 0 {
		if len(f.kinds) > 0 {
			return errors.New("--kind and --program: there is one or the other")
		}
		return f.checkPrograms()
	}
	for _, name := range []string{"procs", "limit"} {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s is for --program", name)
		}
	}
	return nil
}

// chosen are the libraries of those names, in the order in which they are known; all if there is
// no name.
func chosen(known []peers.Library, names []string) ([]peers.Library, error) {
	for _, name := range names {
		if !slices.ContainsFunc(known, func(l peers.Library) bool { return l.Name == name }) {
			return nil, fmt.Errorf("--library %s: there are banyan, openmpi and mpich", name)
		}
	}
	return slices.DeleteFunc(known, func(l peers.Library) bool {
		return len(names) > 0 && !slices.Contains(names, l.Name)
	}), nil
}

func (f *mpiFlags) runRows(ctx context.Context, out io.Writer, dir string, libraries []peers.Library) error {
	rows, err := peers.Select(f.kinds)
	if err != nil {
		return err
	}
	b, _, err := peers.Build(dir, libraries)
	if err != nil {
		return cli.Failed(err)
	}
	bar := progress.NewLong(f.rounds*len(rows)*len(b.Libraries), "measurements")
	results, floor, err := b.Run(ctx, rows, f.rounds, bar.Step)
	bar.Clear()
	if err != nil {
		return unmeasured(ctx, err)
	}
	if err := table.Write(out, f.format, mpiColumns(b.Libraries), results); err != nil {
		return err
	}
	if f.format == table.Text {
		fmt.Fprintf(out, "\nTimes in µs of one operation: medians of %d rounds. The floor, a cache line one way: %.3f µs (%.3f–%.3f).\n",
			f.rounds, floor.Median/1e3, floor.Low/1e3, floor.High/1e3)
		compared := make([]peers.Comparison, len(results))
		for i, r := range results {
			compared[i] = r.Comparison
		}
		writeMean(out, compared)
	}
	return nil
}

// writeMean writes a line that sums ratios up, if there are any.
func writeMean(out io.Writer, all []peers.Comparison) {
	compared, ahead := 0, 0
	for _, x := range all {
		if !math.IsNaN(x.Ratio.Median) {
			compared++
		}
		if x.Ratio.Median <= 1 {
			ahead++
		}
	}
	if compared > 0 {
		fmt.Fprintf(out, "%d of %d ratios are at 1.00 or below; their geometric mean is %.2f.\n", ahead, compared, peers.Mean(all))
	}
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
		columns = append(columns, table.Col(l.Name+"_us", func(r *peers.Result) any { return known(r.Times[i].Median / 1e3) }))
	}
	columns = append(columns, ratioColumns(func(r *peers.Result) *peers.Comparison { return &r.Comparison })...)
	return append(columns, table.Col("floor_us", func(r *peers.Result) any { return known(r.Floor.Median / 1e3) }))
}

// ratioColumns are the last columns of a table of comparisons.
func ratioColumns[T any](of func(*T) *peers.Comparison) []table.Column[T] {
	return []table.Column[T]{
		table.Col("better", func(r *T) any { return of(r).Better }),
		table.Col("ratio", func(r *T) any { return known(of(r).Ratio.Median) }),
		table.Col("ratio_low", func(r *T) any { return known(of(r).Ratio.Low) }),
		table.Col("ratio_high", func(r *T) any { return known(of(r).Ratio.High) }),
	}
}
