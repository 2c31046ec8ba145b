package job

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"banyan/cmd/banyan/internal/cli"
	"banyan/internal/job/launcher"
	"banyan/internal/job/trial"
)

const checkLong = `Check runs PROGRAM several times with every rank replicated. It perturbs the timing
in another way for each replica and each run, and compares what the replicas of each
rank send, call by call. Replication masks deaths only if they send the same messages in
the same order, whatever the timing: send-determinism.

It reports the first call that differs in control (function, destination or root, tag,
communicator, length), in both replicas, and the receive before it that is most
likely the cause. Calls in which only the data differs are counted apart, by function
and line. Such a difference is harmless where a program sums up timers, but not where
later messages depend on it. With --strict it is a failure, for the CI of programs
without such timers. The gaps of derived datatypes don't count.

Messages of different sources, and the ends of requests, come in other orders than
usual; those of one source keep theirs, as MPI demands. For the program this looks like
a slow network. The seeds repeat the delays, but not the machine: a run that found
something may have to be repeated a few times.

Exit code: 0 if no run found a difference, or only differences in data; 1 if the
replicas of a rank differ in control, or with --strict in data; 2 if the command line is
wrong; 3 if the program failed, sent nothing, or nothing moved for --patience, and no
difference shows why; 126 or 127 if the program can't be run or isn't there; 128 + signal
number if a signal ended banyan. docs/guide/check.md says how to mend what it finds.`

const checkExample = `  banyan check -n 4 ./program
  banyan check -n 8 --runs 20 --seed 7 ./program --its-own-flag
  banyan check -n 4 --strict --runs 10 ./program
  banyan check -n 1 ./master : -n 3 ./worker
  banyan check -n 4 --replicas 3 --format json ./program`

// Exit codes of banyan check.
const (
	checkDiverged = 1
	checkFailed   = 3
)

// checkFlags are the flags of banyan check.
type checkFlags struct {
	part      partFlags
	runs      int
	seed      uint64
	replicas  int
	transport string
	order     string
	patience  time.Duration
	stdin     string
	strict    bool
	show      bool
	format    string

	programs []launcher.Part
	parts    []*partFlags
	input    []byte
}

// Bar shows how many runs are done.
type Bar interface {
	Set(done int)
	Clear()
}

// CheckCommand returns banyan check. The caller makes the bar. What draws it isn't linked into
// mpiexec, which has other commands of this package.
func CheckCommand(bar func(total int, what string) Bar) *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:     "check [flags] PROGRAM [ARGS…] [: [flags] PROGRAM [ARGS…]]…",
		Short:   "Check that a program's replicas send the same, whatever the timing",
		Long:    checkLong,
		Example: checkExample,
		// Flags are read by parse, as those of banyan run.
		DisableFlagParsing: true,
		ValidArgsFunction:  completeFlags,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch err := f.parse(cmd, args); {
			case errors.Is(err, pflag.ErrHelp):
				return cmd.Help()
			case err != nil:
				return err
			}
			remark(f.parts)
			return f.run(cmd.OutOrStdout(), bar(f.runs, "checking"))
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.part.add(flags)
	flags.IntVar(&f.runs, "runs", 5, "how often to run the program")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the first run's delays; the next run has the next seed")
	flags.IntVar(&f.replicas, "replicas", 2, "processes per rank")
	flags.StringVar(&f.transport, "transport", launcher.TransportAuto, "how messages travel: auto, shm or tcp")
	flags.StringVar(&f.order, "order", launcher.OrderFree, "who decides what timing decides, as for banyan run: free, leader, leader,clock or auto")
	flags.DurationVar(&f.patience, "patience", time.Minute, "end a run in which no rank sends for so long")
	flags.StringVar(&f.stdin, "stdin", "", "rank 0 reads `FILE` as its input, in each run")
	flags.BoolVar(&f.strict, "strict", false, "exit with 1 also if only data differs")
	flags.BoolVar(&f.show, "show", false, "let the program's output through")
	flags.StringVar(&f.format, "format", "table", "table or json")
	return cmd
}

func (f *checkFlags) parse(cmd *cobra.Command, args []string) (err error) {
	flags := cmd.Flags()
	if f.programs, f.parts, err = f.part.parseAll(flags, args); err != nil {
		return err
	}
	if err := hereOnly(f.programs, f.parts); err != nil {
		return err
	}
	if help, err := flags.GetBool("help"); err == nil && help {
		return pflag.ErrHelp
	}
	switch {
	case f.programs[0].Program == "":
		return errors.New("no program is given (see banyan check --help)")
	case f.runs < 1:
		return fmt.Errorf("--runs is %d: want at least 1", f.runs)
	case f.replicas < 2:
		return fmt.Errorf("--replicas is %d: want at least 2, to compare", f.replicas)
	case f.transport == launcher.TransportInproc:
		return errors.New("--transport inproc has no replicas")
	case f.patience <= 0:
		return fmt.Errorf("--patience is %v: want more than 0", f.patience)
	case f.format != "table" && f.format != "json":
		return fmt.Errorf("--format is %q: want table or json", f.format)
	case f.stdin != "":
		if f.input, err = os.ReadFile(f.stdin); err != nil {
			return fmt.Errorf("--stdin: %w", err)
		}
	}
	return nil
}

// run makes the runs and writes the verdict.
func (f *checkFlags) run(out io.Writer, bar Bar) error {
	v, err := trial.Run(trial.Config{
		Job: f.job(), Input: func() io.Reader { return bytes.NewReader(f.input) },
		Runs: f.runs, Seed: f.seed, Patience: f.patience, Progress: bar.Set,
	})
	bar.Clear()
	if err != nil {
		return checkError(err)
	}
	if f.format == "json" {
		err = v.WriteJSON(out)
	} else {
		err = v.WriteText(out, f.strict)
	}
	switch {
	case err != nil:
		return err
	case v.Diverged() || f.strict && v.Payload != nil && v.Failure == "":
		return cli.Exit(checkDiverged, nil)
	case v.Failure != "":
		return cli.Exit(checkFailed, nil)
	}
	return nil
}

// checkError gives an error its exit code.
func checkError(err error) error {
	var start *launcher.StartError
	var interrupted *trial.InterruptedError
	switch {
	case errors.As(err, &start):
		return cli.Exit(start.Code, err)
	case errors.As(err, &interrupted):
		return cli.Exit(interrupted.ExitCode, nil) // the user knows
	}
	return cli.Exit(checkFailed, err)
}

// job is the job of each run.
func (f *checkFlags) job() launcher.Config {
	first := f.programs[0]
	c := launcher.Config{
		Ranks: first.Ranks, Program: first.Program, Args: first.Args, Dir: first.Dir, Env: first.Env, More: f.programs[1:],
		Replicas: f.replicas, Transport: f.transport, Order: f.order, Bind: launcher.BindAuto,
	}
	if f.show {
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		if f.format == "json" {
			c.Stdout = os.Stderr
		}
	}
	return c
}
