package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"banyan/bench/replication"
	"banyan/cmd/banyan/internal/cli"
	"banyan/internal/job/launcher"
	"banyan/internal/study/table"
)

const replicationLong = `Replication compares a job whose ranks have several replicas with as many jobs without
replicas, side by side: started at once, as many processes on the same cores. So the machine
needn't have a core for each process. The overhead is the ratio of the times until all is done, less 1:
the median of the rounds, and the quartiles; for applications an estimate with its interval of 95 %
confidence, from six rounds on. Applications have two: by the time that passed, and (cpu) by the time of
all processors. With fewer --settings there are more rounds in the same time, and the compared runs are
nearer to each other.

With a program of yours, "-- PROGRAM ARGUMENTS", only that is measured, as an application; not with
--verify, since many programs sum up times, which differ. What it prints with replicas must be what it
prints without, but for lines that differ there, too.

  pingpong      a message to and fro, over its size, in C and in Go: the paper's figure 7;
                both protocols. "alone" is one job without replicas that has the machine for itself,
                "verified" the parallel protocol with --verify, "each" that protocol with an
                acknowledgement for each message, as in the paper
  instructions  the instructions of a message sent and one received, which don't depend on cores
  applications  two solvers, receiving by name and from any source: tables 1 and 2 in form.
                What they print has to be the same in every setting
  frames        how many frames are acknowledgements, and how many of those go where messages go, too
  broadcast     plain trees over replication, and corrected trees over as many processes without it:
                would replicated jobs gain by them? (decision 19); of 4 ranks at least
  order         what leader order (banyan run --order leader) costs: a ping-pong from any source, and
                the paper's figure 2, a message for a receive that names its source or doesn't, both in
                free order too; and a farm whose master serves the first worker that is free,
                with tasks that compute, and with ones that wait
  failover      rank 0 sends 5,000 messages a second, a replica of it is killed; from the kill to
                the next message that its receiver has from the substitute
  heal          a replica of rank 0, which has a state of some bytes, is killed and replaced: the longest
                that rank 1 waits for a message meanwhile, and from the kill to the first of the replacement

--samples writes each run's figures, from which "banyan reproduce replication --measured" makes its report.

docs/results/replication-bench.md describes the method, and what the figures mean.`

const replicationExample = `  banyan bench replication
  banyan bench replication --only applications --rounds 20 --format csv
  banyan bench replication --only applications --settings parallel --rounds 40
  banyan bench replication --only pingpong --chart figure7     (figure7-latency.svg, figure7-throughput.svg)
  banyan bench replication --only failover --kills 100
  banyan bench replication --ranks 4 --rounds 20 --timeout 10m -- ./solver input.dat`

// parts of the benchmark, in their order.
const (
	partPingPong     = "pingpong"
	partInstructions = "instructions"
	partApplications = "applications"
	partFrames       = "frames"
	partBroadcast    = "broadcast"
	partOrder        = "order"
	partFailover     = "failover"
	partHeal         = "heal"
)

var replicationParts = []string{partPingPong, partInstructions, partApplications, partFrames, partBroadcast, partOrder, partFailover, partHeal}

type replicationFlags struct {
	bench      replication.Bench
	only       []string
	settings   []string
	program    []string // the user's, in place of the applications
	sizes      []int
	transports []string
	matrix     string
	kills      int
	heals      int
	states     []int
	seed       uint64
	chart      string
	samples    string
	format     table.Format
}

func replicationCommand() *cobra.Command {
	var f replicationFlags
	cmd := &cobra.Command{
		Use:     "replication [flags] [-- PROGRAM [ARGUMENT]...]",
		Short:   "The cost of replication, and how long a death holds a job up",
		Long:    replicationLong,
		Example: replicationExample,
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.program = args
			return f.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringSliceVar(&f.only, "only", nil, "parts to measure: "+strings.Join(replicationParts, ", ")+" (default all)")
	flags.StringSliceVar(&f.settings, "settings", nil, "replicated jobs of ping-pongs and applications: "+strings.Join(replicatedNames(), ", ")+" (default all but each)")
	flags.IntVar(&f.bench.Rounds, "rounds", 6, "rounds")
	flags.BoolVar(&f.bench.Quick, "quick", false, "ping-pongs, broadcasts and leader order a twentieth as long: shows that all works, not what it takes")
	flags.IntVar(&f.bench.Ranks, "ranks", 2, "ranks of the applications and broadcasts")
	flags.IntVar(&f.bench.Replicas, "replicas", 2, "replicas of each rank")
	flags.DurationVar(&f.bench.Limit, "timeout", replication.DefaultLimit, "ends a job that takes longer")
	flags.IntSliceVar(&f.sizes, "bytes", replication.Sizes(), "sizes of the ping-pong's messages")
	flags.StringVar(&f.matrix, "matrix", "", "the `file` that cg solves (default the demo's, in the source tree)")
	flags.IntVar(&f.kills, "kills", 20, "kills of each kind, one a job")
	flags.StringSliceVar(&f.transports, "transport", []string{launcher.TransportSHM, launcher.TransportTCP}, "transports of the failover: shm, tcp")
	flags.IntSliceVar(&f.states, "state", []int{1 << 20, 64 << 20, 1 << 30}, "bytes of the state that is healed; the machine needs four times that")
	flags.IntVar(&f.heals, "heals", 3, "heals of each state, one a job")
	flags.Uint64Var(&f.seed, "seed", 1, "draws the victims, and when they are killed")
	flags.StringVar(&f.chart, "chart", "", "also draw the ping-pong: `NAME`-latency.svg and NAME-throughput.svg")
	flags.StringVar(&f.samples, "samples", "", "also write what each run of the ping-pong, applications and failover gave: CSV `FILE`")
	cli.FormatFlag(flags, &f.format)
	flags.Lookup("format").Usage = "table, or with one part csv or json"
	return cmd
}

// replicated are the settings that --settings may name.
func replicated() []replication.Setting { return append(replication.Replicated(), replication.Each) }

// replicatedNames are the values of --settings.
func replicatedNames() (names []string) {
	for _, s := range replicated() {
		names = append(names, s.String())
	}
	return names
}

// check refuses what can't be measured, and fills in defaults.
func (f *replicationFlags) check() error {
	for _, part := range f.only {
		if !slices.Contains(replicationParts, part) {
			return fmt.Errorf("--only %q: there are %s", part, strings.Join(replicationParts, ", "))
		}
	}
	f.bench.Settings = nil
	for _, name := range f.settings {
		i := slices.Index(replicatedNames(), name)
		if i < 0 {
			return fmt.Errorf("--settings %q: there are %s", name, strings.Join(replicatedNames(), ", "))
		}
		f.bench.Settings = append(f.bench.Settings, replicated()[i])
	}
	if len(f.program) > 0 {
		if slices.Contains(f.bench.Settings, replication.Verified) {
			return fmt.Errorf("--settings %s: a program of yours isn't run with --verify", replication.Verified)
		}
		if f.bench.Settings == nil {
			f.bench.Settings = []replication.Setting{replication.Parallel, replication.Mirror}
		}
		if slices.ContainsFunc(f.only, func(part string) bool { return part != partApplications }) {
			return errors.New("--only: a program of yours is measured as the applications are, not otherwise")
		}
		f.only = []string{partApplications}
	}
	if len(f.only) == 0 {
		f.only = replicationParts
	}
	if f.format != table.Text && len(f.only) != 1 {
		return fmt.Errorf("--format %s: the parts have different columns: choose one with --only", f.format)
	}
	for _, size := range f.sizes {
		if size < 0 || size > 1<<28 {
			return fmt.Errorf("--bytes %d: want 0 to 2^28", size)
		}
	}
	for _, t := range f.transports {
		if t != launcher.TransportSHM && t != launcher.TransportTCP {
			return fmt.Errorf("--transport %q: there are shm and tcp", t)
		}
	}
	for _, state := range f.states {
		if state < 1 || state > 1<<32 {
			return fmt.Errorf("--state %d: want 1 to 2^32", state)
		}
	}
	switch {
	case f.kills < 1:
		return fmt.Errorf("--kills %d: want at least 1", f.kills)
	case f.heals < 1:
		return fmt.Errorf("--heals %d: want at least 1", f.heals)
	case len(f.sizes) == 0:
		return errors.New("--bytes: want a size at least")
	case f.chart != "" && !slices.Contains(f.only, partPingPong):
		return errors.New("--chart draws the ping-pong, which isn't measured")
	}
	return nil
}

func (f *replicationFlags) run(ctx context.Context, out io.Writer) (failed error) {
	if err := f.check(); err != nil {
		return err
	}
	bench, bin, err := Replication(f.bench.Ranks, f.bench.Replicas, f.bench.Limit)
	if err != nil {
		return err
	}
	bench.Rounds, bench.Settings, bench.Quick = f.bench.Rounds, f.bench.Settings, f.bench.Quick
	f.bench = *bench
	if err := f.bench.Check(); err != nil {
		return fmt.Errorf("--%w", err)
	}
	var applications []replication.Application
	if slices.Contains(f.only, partApplications) || slices.Contains(f.only, partFrames) {
		if applications, err = f.applications(bin); err != nil {
			return err
		}
	}
	if f.bench.Dir, err = os.MkdirTemp("", "banyan-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(f.bench.Dir)
	var samples []replication.Sample
	if f.samples != "" {
		file, err := os.Create(f.samples) // refuse a bad name before measuring
		if err != nil {
			return fmt.Errorf("--samples: %w", err)
		}
		f.bench.Record = func(s replication.Sample) { samples = append(samples, s) }
		// What has been measured is written even if the rest fails.
		defer func() {
			if written := errors.Join(replication.WriteCSV(file, samples), file.Close()); written != nil && failed == nil {
				failed = fmt.Errorf("--samples: %w", written)
			}
		}()
	}
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	for i, part := range f.only {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if err = f.part(ctx, out, part, bin, applications); err != nil {
			break
		}
	}
	return unmeasured(ctx, err)
}

// Replication is a bench of jobs with so many ranks and replicas, which end at a limit, and where
// Banyan's programs are.
func Replication(ranks, replicas int, limit time.Duration) (*replication.Bench, replication.Installed, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	b := &replication.Bench{
		Banyan: self, Role: []string{self, "bench", replicationRole},
		Ranks: ranks, Replicas: replicas, Rounds: 1, Limit: limit,
	}
	if err := b.Check(); err != nil {
		return nil, "", fmt.Errorf("--%w", err)
	}
	return b, replication.Installed(filepath.Dir(self)), nil
}

// mpicc returns the compiler beside the command, or "" if the library isn't built; then it prints
// the consequence.
func mpicc(bin replication.Installed, consequence string) string {
	path := bin.MPICC()
	if path == "" {
		fmt.Fprintf(os.Stderr, "banyan: there is no library for C beside the command (make build): %s\n", consequence)
	}
	return path
}

// replicationRole names the hidden subcommand that the jobs of bench replication run.
const replicationRole = "replication-role"

func replicationRoleCommand() *cobra.Command {
	return &cobra.Command{
		Use:    replicationRole,
		Short:  "A process that banyan bench replication starts",
		Hidden: true,
		Args:   cobra.ArbitraryArgs,
		RunE:   func(_ *cobra.Command, args []string) error { return replication.Perform(args) },
	}
}
