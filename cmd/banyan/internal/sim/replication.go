package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/fault"
	"banyan/internal/study/field"
	"banyan/internal/study/planning/risk"
	"banyan/internal/study/replication"
	"banyan/internal/study/replication/pattern"
	"banyan/internal/study/table"
)

// replicationFlags are the flags of "sim replication", as given.
type replicationFlags struct {
	s               replication.Settings
	ranks, replicas []int
	bytes           []int64
	protocols       []string
	network, crash  string
	stamps          bool
	out             string
	format          table.Format
	workers         int

	compute, detection, spread, healAfter            risk.Seconds
	latency, overhead, gap, acknowledge, bookkeeping risk.Seconds
	perByte, perCopy                                 float64
}

func replicationCommand() *cobra.Command {
	f := replicationFlags{compute: 1e-3, detection: 500e-6}
	cmd := &cobra.Command{
		Use:   "replication",
		Short: "Simulate replicated jobs, and what replication costs them",
		Long: `Simulates a program's communication without replicas and with them, in LogGP time, and
compares the two. The machines of replication, matching and causality are those of real jobs; a
process has a processor of its own. A program is a pattern:

  halo2d, halo3d  exchange with the neighbours of a 2-D or 3-D grid of blocks
  stencil-cg      conjugate gradients on such a grid: halo3d and two sums over all ranks
  cg              NAS CG's: rows and columns of processes; ranks are a power of two
  multigrid       a V-cycle over --levels 3-D grids, and a sum over all ranks
  fft, pencil     exchanges of all with all, or within rows and columns
  sweep           wavefronts from four corners, in --blocks of planes
  gather          a master that receives from any source, and its workers

--protocol printed is the parallel protocol as its paper prints it: each message is acknowledged
at once, and a send has ended when all replicas of its receiver have it.

--bytes is the size of one message, --compute the computation of one step, which takes up to some
times --jitter longer (exponentially distributed). What messages cost comes from --network: a name
(infiniband, ethernet) or a FILE in JSON, and from flags that change single costs.

The overhead is the time of the replicated job over that of the same job without replicas and
deaths, less 1. The pause is the longest time from a death until a process has the next message of
the dead one's rank. retained_peak is the most that a process keeps for other replicas in bytes,
retained_mean the mean over processes and time.

--crash is a fault plan of kills (docs/guide/replication.md): at a time, before a process's N-th
send, or, as at=step:N, before its step N (from 0). The others hear of a death after --detection.

With --heal-after the dead are replaced, one at a time: so long after a death a replacement waits
for a donor, a live replica of its rank, which sends it --state bytes at the end of a step. healing_ms
is the longest time from a death until the replacement's program goes on, donor_pause_us the
longest that a donor's waits.`,
		Example: `  # a halo exchange of 64 × 64 blocks, two replicas each, with both protocols
  banyan sim replication --pattern halo2d --ranks 4096 --protocol parallel,mirror

  # the paper's scale: CG of 256 ranks, for messages from 8 bytes to 1 MiB
  banyan sim replication --pattern cg --ranks 256 --bytes 8,8192,1048576 --compute 5ms --steps 50

  # a death in step 10, noticed after 200 µs; for a program
  banyan sim replication --ranks 64 --crash 'kill rank=3 at=step:10' --detection 200us --format json

  # both replicas of a rank die, the second after the first has been replaced
  banyan sim replication --ranks 64 --crash 'kill rank=3 at=10ms; kill rank=3 replica=1 at=60ms' --heal-after 20ms --state 16777216

  # on another network, as measured there
  banyan sim replication --pattern fft --ranks 256 --network cluster.json --out fft.csv --format csv`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			jobs, err := f.jobs(cmd.Flags())
			if err != nil {
				return cli.FlagError(err, nil)
			}
			return f.simulate(cmd.Context(), cmd.OutOrStdout(), jobs)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.s.Pattern.Kind, "pattern", "halo2d", strings.Join(pattern.Kinds(), ", "))
	flags.IntSliceVarP(&f.ranks, "ranks", "n", []int{256}, "number of ranks, or several")
	flags.IntSliceVarP(&f.replicas, "replicas", "r", []int{2}, "replicas of each rank, or several")
	flags.StringSliceVar(&f.protocols, "protocol", []string{"parallel"}, "parallel, mirror or printed, or several")
	flags.Int64SliceVar(&f.bytes, "bytes", []int64{8192}, "bytes of a message, or several")
	flags.IntVar(&f.s.Steps, "steps", 100, "steps of the program")
	flags.Var(&f.compute, "compute", "computation of a step")
	flags.Float64Var(&f.s.Jitter, "jitter", .01, "how much longer computation takes in the mean, as a part of it")
	flags.BoolVar(&f.s.Pattern.Any, "any-source", false, "receive halos from any source")
	flags.IntVar(&f.s.Pattern.Levels, "levels", 0, "grids of multigrid (default 5)")
	flags.IntVar(&f.s.Pattern.Blocks, "blocks", 0, "blocks of planes of sweep (default 4)")
	flags.StringVar(&f.crash, "crash", "", "fault `PLAN`: who dies when")
	flags.Var(&f.detection, "detection", "time from a death until the others hear of it")
	flags.Var(&f.spread, "spread", "each hears of it up to so much later")
	flags.Var(&f.healAfter, "heal-after", "time from a death until a replacement waits (default nobody is replaced)")
	flags.Int64Var(&f.s.Healing.State, "state", 1<<20, "bytes of a program's state, which a donor sends")
	flags.StringVar(&f.network, "network", "infiniband", "what messages cost: infiniband, ethernet or a `FILE`")
	flags.Var(&f.latency, "latency", "L, instead of the network's")
	flags.Var(&f.overhead, "overhead", "o, instead of the network's")
	flags.Var(&f.gap, "gap", "g, instead of the network's")
	flags.Float64Var(&f.perByte, "per-byte", 0, "G in nanoseconds, instead of the network's")
	flags.Float64Var(&f.perCopy, "per-copy", 0, "nanoseconds to copy a byte, instead of the network's")
	flags.Var(&f.acknowledge, "acknowledge", "overhead of an acknowledgement, instead of the network's")
	flags.Var(&f.bookkeeping, "replication", "what replication adds to an overhead, instead of the network's")
	for _, name := range []string{"spread", "heal-after", "latency", "overhead", "gap", "per-byte", "per-copy", "acknowledge", "replication", "levels", "blocks"} {
		flags.Lookup(name).DefValue = ""
	}
	flags.BoolVar(&f.stamps, "stamps", true, "messages carry causal stamps, 4 bytes for each rank, as in real jobs")
	flags.Uint64Var(&f.s.Seed, "seed", 1, "seed of all draws")
	flags.StringVar(&f.out, "out", "", "write the table to `FILE`")
	cli.CountFlag(flags, &f.workers, "workers", runtime.NumCPU(), "cores that a simulation uses; the outcome is the same")
	cli.FormatFlag(flags, &f.format)
	return cmd
}

// jobs are the settings of all replicated jobs.
func (f *replicationFlags) jobs(flags *pflag.FlagSet) ([]replication.Settings, error) {
	costs, err := f.costs(flags)
	if err != nil {
		return nil, err
	}
	f.s.Costs = costs
	f.s.Compute, f.s.Detection, f.s.Spread = nanoseconds(f.compute), nanoseconds(f.detection), nanoseconds(f.spread)
	f.s.Healing.After = nanoseconds(f.healAfter)
	f.s.NoStamps = !f.stamps
	plan, err := fault.Parse(f.crash)
	if err != nil {
		return nil, fmt.Errorf("--crash: %w", err)
	}
	if len(f.ranks)*len(f.replicas)*len(f.bytes)*len(f.protocols) == 0 {
		return nil, errors.New("--ranks, --replicas, --bytes and --protocol: want at least one each")
	}
	for _, p := range f.protocols {
		if p != "parallel" && p != "mirror" && p != "printed" {
			return nil, field.Errorf("protocol", "%q: want parallel, mirror or printed", p)
		}
	}
	var jobs []replication.Settings
	for _, ranks := range f.ranks {
		for _, bytes := range f.bytes {
			for _, replicas := range f.replicas {
				for _, protocol := range f.protocols {
					s := f.s
					s.Pattern.Ranks, s.Pattern.Bytes, s.Degree = ranks, bytes, replicas
					s.Mirror, s.Printed = protocol == "mirror", protocol == "printed"
					if replicas < 2 {
						return nil, field.Errorf("replicas", "%d: want at least 2; the job without replicas is simulated beside", replicas)
					}
					if _, err := pattern.New(s.Pattern); err != nil {
						return nil, err
					}
					if err := s.Validate(); err != nil {
						return nil, err
					}
					if s.Crashes, err = plan.Resolve(ranks, replicas); err != nil {
						return nil, fmt.Errorf("--crash: %w", err)
					}
					if err := s.Validate(); err != nil {
						return nil, err
					}
					jobs = append(jobs, s)
				}
			}
		}
	}
	return jobs, nil
}

// costs are those of the network, with what flags change.
func (f *replicationFlags) costs(flags *pflag.FlagSet) (replication.Costs, error) {
	n, ok := replication.NetworkNamed(f.network)
	if !ok {
		err := cli.ReadFile(f.network, func(r io.Reader) (err error) {
			n, err = replication.ReadNetwork(r)
			return err
		})
		if errors.Is(err, os.ErrNotExist) {
			return n.Costs, field.Errorf("network", "%q: want infiniband, ethernet or a file; there is none of that name", f.network)
		}
		if err != nil {
			return n.Costs, fmt.Errorf("--network: %s: %w", f.network, err)
		}
	}
	c := &n.Costs
	for name, change := range map[string]func(){
		"latency":     func() { c.Latency = nanoseconds(f.latency) },
		"overhead":    func() { c.Overhead = nanoseconds(f.overhead) },
		"gap":         func() { c.Gap = nanoseconds(f.gap) },
		"per-byte":    func() { c.PerByte = f.perByte },
		"per-copy":    func() { c.PerCopy = f.perCopy },
		"acknowledge": func() { c.Acknowledge = nanoseconds(f.acknowledge) },
		"replication": func() { c.Replication = nanoseconds(f.bookkeeping) },
	} {
		if flags.Changed(name) {
			change()
		}
	}
	return *c, c.Validate()
}

// garbage is how much garbage is collected at a time, in percent of the memory in use. A simulated
// job grows in its first steps, and makes hardly any garbage then.
const garbage = 400

// simulate simulates all jobs, and each without replicas, and writes the table.
func (f *replicationFlags) simulate(ctx context.Context, w io.Writer, jobs []replication.Settings) error {
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	debug.SetGCPercent(garbage)
	bar := progress.New(-1, "simulating frames")
	defer bar.Clear()
	var sent int64
	run := func(s replication.Settings) (*replication.Outcome, error) {
		var frames int64
		o, err := replication.Run(ctx, s, f.workers, func(n int64) {
			frames = n
			bar.Set(int(sent + frames))
		})
		sent += frames
		if lost := (*replication.Lost)(nil); errors.As(err, &lost) {
			return nil, cli.Failedf("%d ranks of %d replicas: %w", s.Pattern.Ranks, s.Degree, err)
		}
		return o, cli.Stopped(cli.FlagError(err, nil))
	}
	var rows []replicationRow
	for i, s := range jobs {
		row := replicationRow{s: s}
		if i > 0 && jobs[i-1].Pattern == s.Pattern {
			row.native = rows[i-1].native
		} else {
			native := s
			native.Degree, native.Mirror, native.Printed, native.Crashes, native.Healing = 1, false, false, nil, replication.Healing{}
			var err error
			if row.native, err = run(native); err != nil {
				return err
			}
		}
		var err error
		if row.o, err = run(s); err != nil {
			return err
		}
		rows = append(rows, row)
	}
	bar.Clear()
	return f.write(w, rows)
}

func (f *replicationFlags) write(w io.Writer, rows []replicationRow) error {
	columns := replicationColumns
	if f.format == table.Text {
		columns = slices.DeleteFunc(slices.Clone(columns), func(c table.Column[replicationRow]) bool {
			return slices.Contains(replicationForPrograms, c.Name) || f.s.Healing.After == 0 && slices.Contains(replicationHealing, c.Name)
		})
	}
	write := func(w io.Writer) error {
		if f.format == table.Text && len(rows) == 1 {
			return table.WriteRecord(w, replicationColumns, &rows[0])
		}
		return table.Write(w, f.format, columns, rows)
	}
	if f.out == "" {
		return write(w)
	}
	if err := cli.WriteFile(f.out, write); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}
