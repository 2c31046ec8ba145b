package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"banyan/internal/fault"
	"banyan/internal/launch"
)

const runLong = `Run starts PROGRAM as a job of message-passing processes on this machine and
ends with its exit code.

With --replicas, every rank runs as several processes. When one of them dies,
another of the same rank goes on in its place, and neither the program nor its
output shows it: stdout and stderr carry every byte of a rank just once. Each
death is told in a line on stderr. The job ends early only if the last replica of
a rank dies.

Standard input goes to rank 0 (to all its replicas).

Exit code: that of the program (128 + signal number if it died by a signal); 1 if
a rank was lost whose replicas ended in different ways; 126 or 127 if the program
can't be run or isn't there; 2 if the command line is wrong; 128 + signal number if
banyan itself was told to end by a signal.

Fault plans try what happens when processes fail. A plan is entries, separated
by ";":

  kill rank=2 replica=1 at=300ms      kill a process 300 ms after the start
  kill rank=0 at=send:1000            just before its 1000th message (replica 0)
  stop rank=1 replica=1 at=1s         freeze it: others must find out
  random count=2 within=1s seed=7     two processes at random, so that every rank
                                      keeps a replica

A process that is silent for the heartbeat timeout is held for dead, and killed.
One that computes isn't silent, and one with a debugger attached is excused; --debug
excuses all, however they are stopped. docs/detector.md tells the rest.

All processes run on this host; several hosts aren't supported yet. Under other
launchers (mpiexec of MPICH, srun), start programs with those instead.

The environment variable BANYAN_DEBUG=1 has the launcher tell what it does, and
the processes which deaths they learn of, and how.`

const runExample = `  banyan run -n 4 ./cg matrix.mtx
  banyan run -n 4 --replicas 2 --fault "kill rank=2 at=300ms" ./cg matrix.mtx
  banyan run -n 2 --label --report report.json ./program --its-own-flag
  banyan run -n 4 --trace run.jsonl ./hello && banyan trace run.jsonl --svg run.svg
  banyan run -n 2 --debug ./program
  banyan run -n 8 --transport inproc ./program`

// runFlags are the flags of banyan run.
type runFlags struct {
	config launch.Config
	faults string
	report string
}

func newRunCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:     "run [flags] PROGRAM [ARGS…]",
		Short:   "Run a program as a job of communicating, possibly replicated processes",
		Long:    runLong,
		Example: runExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no program is given (see banyan run --help)")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.config.Program, f.config.Args = args[0], args[1:]
			f.config.Stdin, f.config.Stdout, f.config.Stderr = jobInput(), os.Stdout, os.Stderr
			return f.run()
		},
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false) // what follows PROGRAM is the program's
	flags.SortFlags = false
	flags.IntVarP(&f.config.Ranks, "ranks", "n", 1, "number of ranks")
	flags.IntVar(&f.config.Replicas, "replicas", 1, "processes per rank; more than 1 survive deaths")
	flags.StringVar(&f.faults, "fault", "", "`PLAN` of processes to kill or stop (see above)")
	flags.StringVar(&f.config.Transport, "transport", launch.TransportAuto,
		"how messages travel: auto, tcp, or inproc (all ranks in one process, for Go programs that use mpi.Main)")
	flags.StringVar(&f.report, "report", "", "write what happened to `FILE`, as JSON")
	flags.StringVar(&f.config.Trace, "trace", "", "record every frame in `FILE`, for banyan trace")
	flags.BoolVar(&f.config.Label, "label", false, "put [rank] in front of every line of output")
	flags.DurationVar(&f.config.HeartbeatPeriod, "heartbeat-period", 0,
		fmt.Sprintf("how often processes show that they live (default %v, or a tenth of a shorter timeout)", launch.DefaultHeartbeatPeriod))
	flags.DurationVar(&f.config.HeartbeatTimeout, "heartbeat-timeout", 0,
		fmt.Sprintf("how long a silent process is held for alive (default %v, or ten longer periods)", launch.DefaultHeartbeatTimeout))
	flags.BoolVar(&f.config.Debug, "debug", false, "hold no process for dead because it is silent")
	return cmd
}

// run runs the job that the flags describe.
func (f *runFlags) run() (err error) {
	if os.Getenv("BANYAN_DEBUG") != "" {
		slog.SetLogLoggerLevel(slog.LevelDebug)
	}
	if f.config.Faults, err = fault.Parse(f.faults); err != nil {
		return err
	}
	f.config.Env = os.Environ()
	var file *os.File
	if f.report != "" {
		// Before the job, so that a bad name doesn't cost its report.
		if file, err = os.OpenFile(f.report, os.O_WRONLY|os.O_CREATE, 0o666); err != nil {
			return fmt.Errorf("the report: %w", err)
		}
		defer file.Close()
	}
	report, err := launch.Run(f.config)
	if e := (*launch.StartError)(nil); errors.As(err, &e) {
		return &exitError{e.Code, err}
	}
	if err != nil {
		return err
	}
	if file != nil {
		file.Truncate(0) // a device can't be, and needn't
		if err := errors.Join(report.Write(file), file.Close()); err != nil {
			return &exitError{max(report.ExitCode, 1), fmt.Errorf("the report: %w", err)}
		}
	}
	if report.ExitCode != 0 {
		return &exitError{code: report.ExitCode} // stderr has the reason already
	}
	return nil
}

// jobInput is the job's standard input: nothing if that is a terminal which
// belongs to somebody else, for reading it would stop the launcher.
func jobInput() io.Reader {
	foreground, err := unix.IoctlGetInt(int(os.Stdin.Fd()), unix.TIOCGPGRP)
	if err == nil && foreground != unix.Getpgrp() {
		return strings.NewReader("")
	}
	return os.Stdin
}
