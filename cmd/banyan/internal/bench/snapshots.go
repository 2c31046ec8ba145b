package bench

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"banyan/bench/snapshots"
	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/study/table"
)

const snapshotsLong = `Snapshots builds a C program with much state, runs it with banyan run --rollback, and kills its last
rank. Each step changes some of 100 pages of 4 KiB.

  first_ms     for how long each of the first two snapshots held the ranks up, which write all: the longest
  held_ms      for how long a later one did, from when the first rank stood until all went on: median
  held_ms_max  the longest of those
  stood_ms     how long the slowest rank took to keep its part: median
  changed_mib  what all ranks had to write, of state_mib: median
  copied_mib   what went to other hosts: median
  took_ms      until a later snapshot was committed: median
  again_ms     from the death until all processes were started again: median
  back_ms      from the death until all ranks went on from a snapshot: median

A rank's state takes its size three times while the job runs, and twice more on a host that is a buddy.`

type snapshotsFlags struct {
	bench    snapshots.Bench
	mib      []int
	percents []int
	dir      string
	rounds   int
	format   table.Format
}

func snapshotsCommand() *cobra.Command {
	var f snapshotsFlags
	cmd := &cobra.Command{
		Use:   "snapshots",
		Short: "How long snapshots of much state hold a program up, and how long the way back takes",
		Long:  snapshotsLong,
		Example: `  banyan bench snapshots
  banyan bench snapshots --mib 1024 --percent 1,10,100
  banyan bench snapshots --host h0:1,h1:1 --dir ~ --mib 64 --format csv`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntSliceVar(&f.mib, "mib", []int{64, 1024}, "MiB of state of each rank")
	flags.IntSliceVar(&f.percents, "percent", []int{1, 100}, "how many of 100 pages a step changes")
	flags.IntVarP(&f.bench.Ranks, "ranks", "n", 2, "ranks")
	flags.DurationVar(&f.bench.Every, "every", 2*time.Second, "time from one snapshot to the next")
	flags.DurationVar(&f.bench.Last, "last", 20*time.Second, "how long the program runs from its start; the rank dies after three quarters of it")
	cli.CountFlag(flags, &f.rounds, "rounds", 1, "jobs of each kind")
	flags.StringVar(&f.bench.Hosts, "host", "", "run on these `HOSTS`, as h0:1,h1:1 (default: this one)")
	flags.StringVar(&f.dir, "dir", "", "make the program in a new folder of `DIR`, which all hosts share (default that of temporary files)")
	cli.FormatFlag(flags, &f.format)
	return cmd
}

// kept is a row of the table.
type kept struct {
	snapshots.State
	first, later []snapshots.Snapshot
	again, back  []float64
}

// check refuses what can't be measured, and gives the rows to be filled.
func (f *snapshotsFlags) check() (rows []kept, err error) {
	b := f.bench
	if b.Ranks < 2 || b.Ranks > 64 {
		return nil, fmt.Errorf("-n %d: 2 to 64", b.Ranks)
	}
	if b.Every < 10*time.Millisecond || b.Last < 4*b.Every {
		return nil, fmt.Errorf("--last %v and --every %v: there must be time for four snapshots, 10ms apart at least", b.Last, b.Every)
	}
	for _, mib := range f.mib {
		for _, percent := range f.percents {
			if mib < 1 || mib > 8192 { // a count of MPI is an int
				return nil, fmt.Errorf("--mib %d: 1 to 8192", mib)
			}
			if percent < 0 || percent > 100 {
				return nil, fmt.Errorf("--percent %d: 0 to 100", percent)
			}
			rows = append(rows, kept{State: snapshots.State{MiB: mib, Percent: percent}})
		}
	}
	return rows, nil
}

func (f *snapshotsFlags) run(cmd *cobra.Command) error {
	rows, err := f.check()
	if err != nil {
		return err
	}
	shop, err := openWorkshopIn(f.dir)
	if err != nil {
		return err
	}
	defer shop.close()
	f.bench.Launcher = filepath.Join(shop.bin, "banyan")
	program, err := snapshots.Build(shop.dir, filepath.Join(shop.bin, "mpicc"))
	if err != nil {
		return cli.Failed(err)
	}
	ctx, stop := cli.Interruptible(cmd.Context())
	defer stop()
	bar := progress.NewLong(f.rounds*len(rows), "jobs")
	defer bar.Clear()
	for range f.rounds {
		for i := range rows {
			j, err := f.bench.Run(ctx, program, rows[i].State)
			if err != nil {
				return unmeasured(ctx, err)
			}
			rows[i].first, rows[i].later = append(rows[i].first, j.First...), append(rows[i].later, j.Later...)
			rows[i].again, rows[i].back = append(rows[i].again, j.Again), append(rows[i].back, j.Back)
			bar.Step()
		}
	}
	bar.Clear()
	return table.Write(cmd.OutOrStdout(), f.format, f.columns(), rows)
}

func (f *snapshotsFlags) columns() []table.Column[kept] {
	figure := func(some []snapshots.Snapshot, share, unit float64, of func(s *snapshots.Snapshot) float64) any {
		values := make([]float64, len(some))
		for i := range some {
			values[i] = of(&some[i]) / unit
		}
		return quantile(values, share)
	}
	held := func(s *snapshots.Snapshot) float64 { return s.Held }
	const ms, mib = 1e-3, 1 << 20
	later := func(name string, share, unit float64, of func(s *snapshots.Snapshot) float64) table.Column[kept] {
		return table.Col(name, func(r *kept) any { return figure(r.later, share, unit, of) })
	}
	return []table.Column[kept]{
		table.Col("ranks", func(*kept) any { return f.bench.Ranks }),
		table.Col("mib", func(r *kept) any { return r.MiB }),
		table.Col("percent", func(r *kept) any { return r.Percent }),
		table.Col("snapshots", func(r *kept) any { return len(r.first) + len(r.later) }),
		table.Col("first_ms", func(r *kept) any { return figure(r.first, 1, ms, held) }),
		later("held_ms", 0.5, ms, held),
		later("held_ms_max", 1, ms, held),
		later("stood_ms", 0.5, ms, func(s *snapshots.Snapshot) float64 { return s.Stood }),
		later("state_mib", 0.5, mib, func(s *snapshots.Snapshot) float64 { return float64(s.Bytes) }),
		later("changed_mib", 0.5, mib, func(s *snapshots.Snapshot) float64 { return float64(s.Changed) }),
		later("copied_mib", 0.5, mib, func(s *snapshots.Snapshot) float64 { return float64(s.Copied) }),
		later("took_ms", 0.5, ms, func(s *snapshots.Snapshot) float64 { return s.Took }),
		table.Col("again_ms", func(r *kept) any { return quantile(r.again, 0.5) / ms }),
		table.Col("back_ms", func(r *kept) any { return quantile(r.back, 0.5) / ms }),
	}
}
