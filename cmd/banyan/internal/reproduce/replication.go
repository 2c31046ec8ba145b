package reproduce

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	benchreplication "banyan/bench/replication"
	"banyan/cmd/banyan/internal/bench"
	"banyan/cmd/banyan/internal/cli"
	"banyan/internal/study/report"
	"banyan/internal/study/reproduce/replication"
)

const replicationLong = `Repeats figure 7 and tables 1 and 2 of Lefray, Ropars and Schiper, "Replication for Send-Deterministic
MPI HPC Applications" (2013), in form, on this machine: a ping-pong over the message's size, and
applications, with two replicas of each rank and without. Besides, it counts what the protocols send,
and measures the pause after a death, which the paper left for later.

The paper has a core for each process. Here a job with r replicas is compared with r jobs without
replicas side by side, on the same cores, as "banyan bench replication" does. Overheads have intervals
of 95 % confidence. So that they mean something, nothing else should run on the machine.

The project's own programs, cg and multigrid, stand for the NAS benchmarks CG and MG. Programs of
yours join them: --program './bt.A.4 arguments', as often as you like. Of a name such as bt.A.4, ft.B.2
or test_HPCCG the report knows which row of the tables it belongs to. A program has --ranks ranks,
unless it begins with "-n RANKS", or is a NAS benchmark, whose name says how many it is built for. Let it
run for seconds. What it prints with replicas must be what it prints without, but for times; otherwise
it is named, and nothing more is measured.

256 ranks don't fit a small machine. --predicted reads what "banyan sim replication --format csv" says of
them, once or several times; --predicted CG=FILE says which row of the tables a file is for, where its
pattern's name doesn't.

It can be stopped at any moment (Ctrl-C, a kill, a loss of power): the same command goes on, at the
round that it was in. What is measured is in DIR/pieces until the report is there; what another machine,
other flags or another build of Banyan or of a program has measured is refused.

The report has all runs as DIR/measured.csv, and --measured makes it again from such a file, or from that of
"banyan bench replication --samples"; --measured none does without.

It takes a quarter of an hour; with --quick under a minute, to see the form; with --full up to an
hour, with the mirror protocol for the applications, too. There the rounds of a program, or of a size of
the ping-pong, end when their intervals are narrow enough to tell what the paper's claims ask: after 16
at least, and 80 at most. A program of yours adds its time twice for each of 18, 6 or 16 to 80 rounds.

With --only some parts are measured at a time, each useful alone: the report has what is there so far,
and the same command line with other parts, or without --only, goes on from it.

Exit codes: 0, whatever the claims; 1 if it was interrupted or something doesn't run; 2 if the command
line or a file is wrong, or a file can't be written.`

const replicationExample = `  # the report, in a quarter of an hour
  banyan reproduce replication --out replication

  # with programs of your own beside the built-in ones
  banyan reproduce replication --out mine --program './bt.A.4' --program '-n 4 ./test_HPCCG 64 64 64'

  # does it work here?
  banyan reproduce replication --out /tmp/quick --quick

  # narrow intervals, a part at a time
  banyan reproduce replication --out full --full --only pingpong,frames,instructions,failover
  banyan reproduce replication --out full --full --only applications

  # go on after Ctrl-C, a kill or a restart of the machine
  banyan reproduce replication --out replication

  # beside a simulation of 256 ranks
  banyan sim replication --pattern cg --ranks 256 --format csv > cg.csv
  banyan reproduce replication --out replication --predicted cg.csv

  # the same report again, from its runs; the claims as JSON
  banyan reproduce replication --measured replication/measured.csv --out again --format json`

// replicationFlags are the flags of "reproduce replication", as given.
type replicationFlags struct {
	common    commonFlags
	programs  []string
	only      []string
	ranks     int
	replicas  int
	limit     time.Duration
	measured  string
	predicted []string
}

func replicationCommand() *cobra.Command {
	var f replicationFlags
	cmd := &cobra.Command{
		Use:     "replication",
		Short:   "Repeat the measurements of the replication paper",
		Long:    replicationLong,
		Example: replicationExample,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVarP(&f.common.out, "out", "o", "", "directory of the report, `DIR`")
	flags.StringArrayVar(&f.programs, "program", nil, "also measure this `PROGRAM` with its arguments; may be repeated")
	flags.StringSliceVar(&f.only, "only", nil, "measure these parts now, of "+strings.Join(slices.Sorted(maps.Keys(reproducedParts)), ", ")+" (default all)")
	flags.IntVar(&f.ranks, "ranks", 2, "ranks of the applications")
	flags.IntVar(&f.replicas, "replicas", 2, "replicas of each rank")
	flags.DurationVar(&f.limit, "timeout", 10*time.Minute, "ends a job that takes longer")
	flags.StringVar(&f.measured, "measured", "", "CSV `file` of runs, or none (default: measure now)")
	flags.StringArrayVar(&f.predicted, "predicted", nil, "CSV of banyan sim replication, `[ROW=]FILE`; may be repeated")
	f.common.register(flags, "under a minute, and rough", "up to five times as many rounds, as intervals need them, and mirror", "victims", "")
	return cmd
}

func (f *replicationFlags) run(cmd *cobra.Command) error {
	var p replication.Parameters
	var samples []benchreplication.Sample
	if err := f.common.valid(); err != nil {
		return err
	}
	var err error
	measure := f.measured == ""
	switch {
	case measure:
	case len(f.programs) > 0:
		return errors.New("--program: nothing is run with --measured")
	case len(f.only) > 0:
		return errors.New("--only: nothing is run with --measured")
	case f.measured != noMeasurements:
		if samples, err = readSamples(f.measured); err != nil {
			return fmt.Errorf("--measured: %w", err)
		}
		p.Measured, p.MeasuredBy = runs(samples), "from "+f.measured
	}
	for _, from := range f.predicted {
		more, err := readPredictions(from)
		if err != nil {
			return fmt.Errorf("--predicted: %w", err)
		}
		p.Predicted = append(p.Predicted, more...)
	}
	p.PredictedBy = "from " + strings.Join(f.predicted, ", ")
	p.Command = "banyan reproduce replication --out DIR" + f.given()
	k := keeping{}
	if k.parts, err = parseParts(f.only); err != nil {
		return fmt.Errorf("--only: %w", err)
	}
	programs, err := parsePrograms(f.programs)
	if err != nil {
		return fmt.Errorf("--program: %w", err)
	}
	var b *benchreplication.Bench
	var plan benchreplication.Plan
	if measure {
		if b, plan, err = f.plan(programs); err != nil {
			return err
		}
	}
	if err := f.common.check(); err != nil {
		return err
	}
	if measure {
		if k.store, err = f.open(plan); err != nil {
			return err
		}
	}
	err = reproduce(cmd, &f.common, f.common.goesOn(cmd), func(ctx context.Context, progress func(string, int, int)) (*report.Report, error) {
		if measure {
			var err error
			if samples, err = f.measure(ctx, b, plan, &k, progress); err != nil {
				return nil, err
			}
			p.Measured = runs(samples)
			p.MeasuredBy = fmt.Sprintf("on a machine with %d processors", runtime.NumCPU())
		}
		r, err := replication.Run(p)
		if err == nil {
			r.Sections = append(r.Sections, report.Section{Title: "All runs", Tables: []*report.Table{samplesTable(samples)}})
		}
		return r, err
	})
	if err != nil {
		_ = k.store.Close() // that it was interrupted, or why it doesn't run, is to be said alone
		return err
	}
	if k.missing {
		fmt.Fprintf(cmd.ErrOrStderr(), "banyan: the report has what is measured so far; %s keeps it for the parts that are missing\n", f.common.out)
		return k.store.Close()
	}
	return k.store.Discard() // the next measures anew
}

// given are the flags that make the report again.
func (f *replicationFlags) given() string {
	var text strings.Builder
	switch {
	case f.common.quick:
		text.WriteString(" --quick")
	case f.common.full:
		text.WriteString(" --full")
	}
	for _, p := range f.programs {
		fmt.Fprintf(&text, " --program '%s'", strings.ReplaceAll(p, "'", `'\''`))
	}
	if f.ranks != 2 || f.replicas != 2 {
		fmt.Fprintf(&text, " --ranks %d --replicas %d", f.ranks, f.replicas)
	}
	if f.measured != "" {
		text.WriteString(" --measured " + f.measured)
	}
	for _, p := range f.predicted {
		text.WriteString(" --predicted " + p)
	}
	return text.String()
}

// parsePrograms reads --program.
func parsePrograms(texts []string) (all []benchreplication.Application, err error) {
	named := map[string]bool{"cg": true, "multigrid": true}
	for _, text := range texts {
		a, err := benchreplication.ParseProgram(text)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		if named[a.Name] {
			return nil, fmt.Errorf("%q: there are two programs called %s", text, a.Name)
		}
		named[a.Name] = true
		all = append(all, a)
	}
	return all, nil
}

// plan says what to measure. Where Banyan isn't built as a whole, less is, and stderr says so.
func (f *replicationFlags) plan(programs []benchreplication.Application) (*benchreplication.Bench, benchreplication.Plan, error) {
	scale := benchreplication.Default
	switch {
	case f.common.quick:
		scale = benchreplication.Quick
	case f.common.full:
		scale = benchreplication.Full
	}
	plan := benchreplication.PlanOf(scale)
	b, bin, err := bench.Replication(f.ranks, f.replicas, f.limit)
	if err != nil {
		return nil, plan, err
	}
	own, err := bin.Applications("", plan.Share)
	if err != nil {
		if len(programs) == 0 {
			return nil, plan, err
		}
		fmt.Fprintf(os.Stderr, "banyan: %v Only the programs given are measured.\n", err)
	}
	plan.Applications = append(programs, own...)
	plan.MPICC = bin.MPICC()
	if plan.Bin = string(bin); plan.MPICC != "" {
		plan.Counted = benchreplication.CountedSizes()
	} else {
		fmt.Fprintln(os.Stderr, "banyan: there is no library for C beside the command (make build): the ping-pong is Go's")
	}
	return b, plan, nil
}

// samplesFile has all runs.
func (f *replicationFlags) samplesFile() string { return filepath.Join(f.common.out, samplesName) }

const samplesName = "measured.csv"

// measure carries a plan out, but for what is kept. It writes what it has even if it can't go on.
func (f *replicationFlags) measure(ctx context.Context, b *benchreplication.Bench, plan benchreplication.Plan, k *keeping, progress func(string, int, int)) (samples []benchreplication.Sample, err error) {
	defer func() { err = errors.Join(err, f.writeSamples(samples)) }()
	b.Keep = k.keep(ctx)
	b.Dir = filepath.Join(f.common.pieces(), "work")
	if err := errors.Join(os.RemoveAll(b.Dir), os.Mkdir(b.Dir, 0o777)); err != nil { // a kill leaves it
		return nil, err
	}
	defer os.RemoveAll(b.Dir)
	done := 0
	b.Record = func(s benchreplication.Sample) { samples = append(samples, s) }
	b.Progress = func() { done++; progress("measuring this machine", done, plan.Steps()) }
	progress("measuring this machine", 0, plan.Steps())
	err = b.Carry(ctx, plan, f.common.seed)
	if ctx.Err() != nil {
		return samples, context.Canceled
	}
	if err != nil {
		return samples, cli.Failed(fmt.Errorf("measuring this machine: %w", err))
	}
	return samples, nil
}

// writeSamples writes measured.csv.
func (f *replicationFlags) writeSamples(samples []benchreplication.Sample) error {
	file, err := os.Create(f.samplesFile())
	if err != nil {
		return err
	}
	return errors.Join(benchreplication.WriteCSV(file, samples), file.Close())
}

// samplesTable is measured.csv.
func samplesTable(samples []benchreplication.Sample) *report.Table {
	t := &report.Table{
		Name: strings.TrimSuffix(samplesName, ".csv"), Title: "All runs", Hidden: true, Columns: benchreplication.Columns(),
	}
	for i := range samples {
		t.Rows = append(t.Rows, samples[i].Fields())
	}
	return t
}

// readSamples reads the runs of a file.
func readSamples(path string) ([]benchreplication.Sample, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	samples, err := benchreplication.ReadCSV(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return samples, nil
}

// runs are the samples as the study has them, without settings that it doesn't know.
func runs(samples []benchreplication.Sample) (all []replication.Measurement) {
	for _, s := range samples {
		if s.Setting == benchreplication.Verified {
			continue
		}
		all = append(all, replication.Measurement{
			Part: replication.Part(s.Part), Name: s.Name, Bytes: s.Bytes, Ranks: s.Ranks, Replicas: s.Replicas,
			Setting: replication.Setting(s.Setting.String()), Round: s.Round, Seconds: s.Seconds, CPU: s.CPU,
			Messages: s.Messages, Acknowledgements: s.Acknowledgements, Instructions: s.Instructions,
		})
	}
	return all
}

// readPredictions reads [ROW=]FILE.
func readPredictions(from string) (all []replication.Prediction, err error) {
	row, path, named := strings.Cut(from, "=")
	if !named {
		row, path = "", from
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if all, err = replication.ReadPredictions(file, row); err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	return all, nil
}
