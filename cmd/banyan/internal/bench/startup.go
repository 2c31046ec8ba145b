package bench

import (
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"banyan/bench/peers"
	"banyan/bench/startup"
	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/study/table"
)

type startupFlags struct {
	procs  []int
	hosts  string
	dir    string
	only   []string
	rounds int
	format table.Format
}

func startupCommand() *cobra.Command {
	var f startupFlags
	cmd := &cobra.Command{
		Use:   "startup",
		Short: "How long jobs take to start, and what memory their processes take",
		Long: `Startup builds a C program with the mpicc of Banyan, and with those of Open MPI and
MPICH if they are installed (as mpicc.openmpi and mpicc.mpich), and starts it with so many
processes, all in turn, round after round. A job has started when the last rank is
past MPI_Init and a barrier; it has ended when its launcher has. in_main_ms and init_ms divide
the start: the last rank is in main (all are forked and have loaded the library), and past
MPI_Init (they have found each other by PMI). Banyan's launcher tells more: with --host,
connect_ms and agents_ms are until all other hosts had answered, and until their agents had
come; forked_ms is until all processes were forked. The hosts' clocks must agree.

A rank has taken main_cpu_ms of a processor by main, init_cpu_ms by the end of MPI_Init, and
started_cpu_ms by that of the barrier, mean of the ranks; job_cpu_ms is what the launcher and
all of its processes on this machine have taken to the end of the job. These depend little on
what else the machine does.

The memory is that of an idle rank 0.3 s later, in MiB, mean of the ranks: resident (what ranks
share counts for each of them) and in proportion (each counts its part, so that n ranks take n
times as much together).`,
		Example: `  banyan bench startup
  banyan bench startup --library banyan --procs 256,1024 --rounds 3
  banyan bench startup --library banyan --host h0,h1,h2,h3 --procs 16 --dir ~
  banyan bench startup --procs 64 --rounds 20 --format csv`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.IntSliceVar(&f.procs, "procs", []int{1, 2, 16, 64}, "numbers of processes")
	flags.StringVar(&f.hosts, "host", "", "start on these `HOSTS`, as h0:4,h1:4 or h0,h1 (default: this one)")
	flags.StringVar(&f.dir, "dir", "", "make the programs in a new folder of `DIR`, which all hosts share (default that of temporary files)")
	flags.StringSliceVar(&f.only, "library", nil, "measure these libraries only: banyan, openmpi, mpich")
	cli.CountFlag(flags, &f.rounds, "rounds", 5, "rounds")
	cli.FormatFlag(flags, &f.format)
	return cmd
}

// started is a row of the table.
type started struct {
	library string
	procs   int
	jobs    []startup.Job
}

func (f *startupFlags) run(cmd *cobra.Command) error {
	for _, n := range f.procs {
		if n < 1 || n > 4096 {
			return fmt.Errorf("--procs %d: 1 to 4096", n)
		}
	}
	shop, err := openWorkshopIn(f.dir)
	if err != nil {
		return err
	}
	defer shop.close()
	var libraries []peers.Library
	programs := make(map[string]string)
	known, err := chosen(peers.Libraries(shop.bin), f.only)
	if err != nil {
		return err
	}
	for _, l := range known {
		if _, err := exec.LookPath(l.CC); err != nil {
			if err := shop.lacks(l.Name, false); err != nil {
				return err
			}
			continue
		}
		if programs[l.Name], err = startup.Build(shop.dir, l); err != nil {
			return cli.Failed(err)
		}
		libraries = append(libraries, l)
	}
	ctx, stop := cli.Interruptible(cmd.Context())
	defer stop()
	rows := make([]started, len(f.procs)*len(libraries))
	bar := progress.NewLong(f.rounds*len(rows), "jobs")
	defer bar.Clear()
	for round := range f.rounds * len(rows) {
		i := round % len(rows)
		r, l := &rows[i], libraries[i%len(libraries)]
		r.library, r.procs = l.Name, f.procs[i/len(libraries)]
		j, err := startup.Run(ctx, l, programs[l.Name], r.procs, f.hosts)
		if err != nil && f.hosts != "" && f.dir == "" {
			err = fmt.Errorf("%w (do the hosts share %s, where the program is? --dir names a directory that they do)", err, os.TempDir())
		}
		if err != nil {
			return unmeasured(ctx, err)
		}
		r.jobs = append(r.jobs, j)
		bar.Step()
	}
	bar.Clear()
	return table.Write(cmd.OutOrStdout(), f.format, startupColumns(), rows)
}

// startupColumns are the columns of the table: medians of the rounds.
func startupColumns() []table.Column[started] {
	value := func(of func(startup.Job) float64, share float64) func(r *started) any {
		return func(r *started) any {
			all := make([]float64, len(r.jobs))
			for i, j := range r.jobs {
				all[i] = of(j)
			}
			return quantile(all, share)
		}
	}
	ms := func(d time.Duration) float64 { return float64(d) / 1e6 }
	phase := func(of func(p *startup.Phases) time.Duration) func(r *started) any {
		median := value(func(j startup.Job) float64 { return ms(of(j.Phases)) }, 0.5)
		return func(r *started) any {
			if r.jobs[0].Phases == nil {
				return "" // its launcher doesn't tell
			}
			return median(r)
		}
	}
	begun := func(j startup.Job) float64 { return ms(j.Started) }
	return []table.Column[started]{
		table.Col("library", func(r *started) any { return r.library }),
		table.Col("procs", func(r *started) any { return r.procs }),
		table.Col("connect_ms", phase(func(p *startup.Phases) time.Duration { return p.Connected })),
		table.Col("agents_ms", phase(func(p *startup.Phases) time.Duration { return p.Agents })),
		table.Col("forked_ms", phase(func(p *startup.Phases) time.Duration { return p.Forked })),
		table.Col("in_main_ms", value(func(j startup.Job) float64 { return ms(j.InMain) }, 0.5)),
		table.Col("init_ms", value(func(j startup.Job) float64 { return ms(j.Initialized) }, 0.5)),
		table.Col("started_ms", value(begun, 0.5)),
		table.Col("started_ms_min", value(begun, 0)),
		table.Col("started_ms_max", value(begun, 1)),
		table.Col("ended_ms", value(func(j startup.Job) float64 { return ms(j.Ended) }, 0.5)),
		table.Col("main_cpu_ms", value(func(j startup.Job) float64 { return ms(j.InMainCPU) }, 0.5)),
		table.Col("init_cpu_ms", value(func(j startup.Job) float64 { return ms(j.InitializedCPU) }, 0.5)),
		table.Col("started_cpu_ms", value(func(j startup.Job) float64 { return ms(j.StartedCPU) }, 0.5)),
		table.Col("job_cpu_ms", value(func(j startup.Job) float64 { return ms(j.CPU) }, 0.5)),
		table.Col("rss_mib", value(func(j startup.Job) float64 { return j.Rss / (1 << 20) }, 0.5)),
		table.Col("pss_mib", value(func(j startup.Job) float64 { return j.Pss / (1 << 20) }, 0.5)),
	}
}
