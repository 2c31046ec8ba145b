// Package job is the commands that start jobs: banyan run and banyan check.
package job

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"banyan/cmd/banyan/internal/cli"
	"banyan/internal/fault"
	"banyan/internal/job/env"
	"banyan/internal/job/launcher"
	"banyan/internal/job/succession"
)

const runLong = `Run starts PROGRAM as a job of message-passing processes, on this machine or on several, and
ends with its exit code.

With --replicas, every rank runs as several processes, its replicas. When one of them
dies, another takes over, and neither the program nor its output shows it: stdout and
stderr carry every byte of a rank just once. A line on stderr reports each death. The
job ends early only if the last replica of a rank dies. With --replicate, only some
ranks run as several processes: those whose loss would cost most, or whose hosts are the
least reliable. With --heal, a new process replaces a replica that has died, if the
program says where it can take over another replica's state; docs/guide/replication.md
says how.

With --rollback, a job survives the loss of a rank, too, and loses only the time since
its last snapshot: the state that the program registers is kept in memory, at a safe point
of all ranks, every --snapshot-every. When a rank has no replica left (without replicas: when
its process dies), all processes start again and go on from there. Replicas may be in leader order.
With --snapshot-dir snapshots are kept on disk, too, and --resume goes on from them
in another job. docs/guide/rollback.md says more.

With --verify, the data that replicas send is compared. It finds data that a fault of
the hardware has changed and nothing else has noticed. If the rank has 2 replicas the
job ends then; of 3, the replica that differs is killed, with the one that received its
data, and the job goes on. docs/guide/check.md says more.

Standard input goes to rank 0 (to all its replicas).

With --status, a page shows the job while it runs: its processes on their hosts, deaths and heals
on a timeline, how many more deaths it survives. The page's address, with the token that it asks
for, is printed on stderr. Every other host of the job has the page, too. A report whose name
ends in .html is that page, as one file. --events writes the same events as JSON lines, --on-event
calls a command. banyan top shows a job in a terminal. docs/guide/status.md says more.

A job ends with this command, unless it runs with --detach or --on-console-loss=continue: then
banyan jobs lists it and banyan attach shows it, with all output that wasn't shown yet, whether
it still runs or has ended. On at least three machines it then goes on even if the machine dies on
which it was started; a host of --witness counts. With --witness-dir, which names a directory on
a file system that all hosts share, two machines are enough: if one dies or they can't reach each
other, one of them goes on. docs/guide/jobs.md says more.

Exit code: that of the program (128 + signal number if it died by a signal); 1 if
a rank was lost because its replicas ended in different ways; 124 if it took longer than
--timeout; 125 if --verify found data that differs; 126 or 127 if the program
can't be run or isn't there; 2 if the command line is wrong; 128 + signal number if
a signal ended banyan itself.

Fault plans make processes fail, to show what happens then. A plan is entries, separated
by ";":

  kill rank=2 replica=1 at=300ms      kill a process 300 ms after the start
  kill rank=0 at=send:1000            just before its 1000th message (replica 0)
  stop rank=1 replica=1 at=1s         freeze it: the others must detect that
  flip rank=1 at=send:100             send a wrong bit: --verify must find it
  random count=2 within=1s seed=7     two processes at random, so that every rank
                                      keeps a replica (any with --rollback)

A process whose heartbeats stop for the heartbeat timeout is taken for dead, and killed.
A process that computes goes on sending them. A process with a debugger attached is
excepted; --debug excepts all, however they are stopped. See docs/guide/detector.md.

Several programs share a job with ":" between them; the ranks are counted in their
order. Each has -n, --env, --wdir, --host and --hostfile of its own; all other
flags stand before the first.

Several hosts: --host and --hostfile name them, with the number of processes that each is
for; without numbers the processes are spread evenly. Inside an allocation of Slurm or PBS
its hosts are used unasked. An agent is started on each host, by srun inside Slurm, else by
ssh. Replicas of a rank never share a host; with rack=NAME in the host file they share no
rack either, where that can be had. banyan and the program must be on all hosts, the same
build. A host that doesn't come up is replaced by one of --spare-hosts. With --listen, banyan
starts no agents but waits for some that something else starts, such as Kubernetes; those that
come later take the processes of hosts that were lost. docs/guide/hosts.md says more.

mpiexec and mpirun are this command under other names. It understands -np, -genv, -x,
-wd, -H and -machinefile of other MPIs' mpiexec, with one dash or two; options that have
no meaning here (--mca, --map-by) are left out, with a remark.

MPI_Bcast chooses its algorithm by the members, their hosts and the size. With --bcast, or the
environment variable BANYAN_BCAST, all broadcasts of the job run over the tree that you name, also
within shared memory, followed by the correction that you name:

  tree=KIND        binomial, kary:K, lame:K, optimal:L:O, chain, star, or gossip:ROUNDS in
                   place of a tree
  correction=KIND  none, checked, delayed:TIME, failure-proof; or skip-ahead, ordered, optimized
                   or opportunistic, with :EACH or :LEFT:RIGHT neighbours (default skip-ahead:2:0)
  numbering=ORDER  interleaved or inorder
  after=TIME       how long a process waits before it corrects (default 50us)

What can't work in a job is refused: replicas, a synchronized start, gossip for a time,
acknowledged trees. docs/design/broadcast.md says more.

With the environment variable BANYAN_DEBUG=1 the launcher reports what it does, and the
processes report which deaths they learn of, and how.`

const runExample = `  banyan run -n 4 ./cg matrix.mtx
  banyan run -n 4 --replicas 2 --fault "kill rank=2 at=300ms" ./cg matrix.mtx
  banyan run -n 8 --replicas 2 --replicate 0-3,7 ./cg matrix.mtx
  banyan run -n 4 --replicas 2 --heal --fault "kill rank=2 at=300ms" ./cg matrix.mtx
  banyan run -n 4 --rollback --snapshot-every 30s ./program
  banyan run -n 4 --replicas 2 --heal --rollback ./program
  banyan run -n 4 --rollback --snapshot-dir snapshots --resume ./program
  banyan run -n 4 --rollback --measure-costs --fault "kill rank=2 at=30s" ./program
  banyan run -n 2 --label --report report.json ./program --its-own-flag
  banyan run -n 4 --replicas 2 --heal --status :8080 --report run.html ./program
  banyan run -n 4 --events events.jsonl --on-event ./page-me ./program
  banyan run -n 4 --trace run.jsonl ./hello && banyan trace run.jsonl --svg run.svg
  banyan run -n 1 ./master : -n 7 --env THREADS=2 ./worker
  banyan run -n 8 --bcast tree=lame,correction=checked ./program
  banyan run -n 8 --encrypt ./program
  banyan run -n 2 --debug ./program
  banyan run -n 8 --detach --output out --error err ./program
  banyan run --host a:8,b:8 --replicas 2 ./program
  banyan run --host a:8,b:8 --replicas 2 --witness c --detach ./program
  banyan run --host a:8,b:8 --replicas 2 --witness-dir /nfs/me --detach ./program
  banyan run --hostfile hosts --replicas 2 --heal --spare-hosts 1 ./program
  banyan run --listen :7117 --agents 4 --key-file job.key -n 8 --replicas 2 ./program
  banyan run -n 8 --transport inproc ./program`

// runFlags are the flags of banyan run.
type runFlags struct {
	config              launcher.Config
	part                partFlags // of the first program
	hosts               hostFlags
	show                showFlags
	watch               watchFlags
	replicas, replicate string
	faults              string
	report              string
	timeout             string
	outputs             files                     // that are open
	parts               []*partFlags              // of all programs
	begin               BeginWatch                // nil: it can't be watched
	shown               Watch                     // nil: nothing shows the job beside its console
	other               func(args []string) error // runs all but jobs of this machine; nil: this command does
	will                *succession.Will          // nil: the job ends with this process
	owner               *succession.Owner         // nil: nobody goes on
	ends                []func()                  // are called at last, the last one first
}

// RunCommand returns banyan run. begin shows jobs that are to be watched.
func RunCommand(begin BeginWatch) *cobra.Command { return (&runFlags{begin: begin}).command() }

// LocalCommand returns banyan run for jobs of this machine that end with the command. With the
// arguments of any other job, and with a call for help, it calls other.
func LocalCommand(other func(args []string) error) *cobra.Command {
	f := &runFlags{other: other}
	return f.command()
}

// command makes the command that reads these flags.
func (f *runFlags) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "run [flags] PROGRAM [ARGS…] [: [flags] PROGRAM [ARGS…]]…",
		Short:   "Run a program as a job of communicating, possibly replicated processes",
		Long:    runLong,
		Example: runExample,
		// Flags are read by parse, which knows other spellings.
		DisableFlagParsing: true,
		ValidArgsFunction:  completeFlags,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch err := f.parse(cmd, args); {
		case errors.Is(err, pflag.ErrHelp) && f.other != nil:
			return f.other(args)
		case errors.Is(err, pflag.ErrHelp):
			return cmd.Help()
		case err != nil:
			return err
		}
		apart, err := f.show.apart()
		if err != nil {
			return err
		}
		if f.other != nil && (apart || !f.hosts.alone() || f.watched()) {
			return f.other(args)
		}
		remark(f.parts)
		if apart {
			return f.show.launch(f.config.Program, args)
		}
		if f.hosts.witness != "" || f.hosts.witnessDir != "" {
			return errors.New("--witness and --witness-dir are for jobs that outlive their launcher: add --detach, or --on-console-loss=continue")
		}
		f.config.Stdin, f.config.Stdout, f.config.Stderr = jobInput(), os.Stdout, os.Stderr
		f.config.Requests = openSocket(f.config)
		defer f.config.Requests.Close()
		defer f.close()
		return f.run()
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.part.add(flags)
	f.hosts.add(flags)
	f.show.add(flags)
	f.watch.add(flags)
	flags.StringVar(&f.replicas, "replicas", "1", "`NUMBER` of processes per rank; more than 1 survive deaths. Or RANKS:NUMBER, as 0-3:2,7:3; other ranks then have 1")
	flags.StringVar(&f.replicate, "replicate", "", "the `RANKS` that --replicas applies to, as 0-3,7; others have one process")
	flags.BoolVar(&f.config.Verify, "verify", false, "compare the data that replicas send: a silent corruption ends the job, or with 3 replicas is outvoted")
	flags.StringVar(&f.config.Protocol, "protocol", launcher.ProtocolParallel, "how replicas send: parallel (each to one, keeping copies for the others until these have them) or mirror (each to all)")
	flags.StringVar(&f.config.Order, "order", launcher.OrderFree, "who decides what timing decides: free (each replica; the program must be send-deterministic), leader (one replica of each rank, which the others follow), leader,clock\n(also what time, getrandom, getpid and the like say in C and Fortran) or auto\n(leader, for each rank from its first call on that timing can decide)")
	flags.BoolVar(&f.config.Heal, "heal", false, "replace a replica that has died, where the program has safe points")
	flags.BoolVar(&f.config.Rollback, "rollback", false, "take snapshots of a program with safe points, and go back to the last one when a rank is lost")
	flags.DurationVar(&f.config.SnapshotEvery, "snapshot-every", 0, fmt.Sprintf("how often --rollback takes a snapshot (default %v)", launcher.DefaultSnapshotEvery))
	flags.StringVar(&f.config.SnapshotDir, "snapshot-dir", "", "keep the snapshots of --rollback in `DIR`, too: the last two, until the job ends well")
	flags.BoolVar(&f.config.MeasureCosts, "measure-costs", false, "say at the end what snapshots and the ways back to them cost, as banyan plan replication takes it")
	flags.IntVar(&f.config.SnapshotDirEvery, "snapshot-dir-every", 0, "write one of `N` snapshots to --snapshot-dir; the others are in memory only (default 1)")
	flags.BoolVar(&f.config.ResumeSnapshot, "resume", false, "go on from the last whole snapshot in the --snapshot-dir of a job that has ended")
	flags.StringVar(&f.config.FaultTolerance, "with-ft", launcher.FaultToleranceAuto, "whether the job goes on when a rank is lost (without replicas, or in leader order): auto (if the program has set an error handler for that), ulfm or mpi (yes, and each rank's\nerror handler decides), no")
	flags.StringVar(&f.config.InitialErrhandler, "initial-errhandler", "", "the error `HANDLER` with which the program starts: mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return (default $BANYAN_INITIAL_ERRHANDLER, or mpi_errors_are_fatal)")
	flags.IntVar(&f.config.SpareRanks, "spare-ranks", 0, "start `N` more ranks, which wait to take the rank of a dead one, in programs that handle failures themselves")
	flags.StringVar(&f.faults, "fault", "", "`PLAN` of processes to kill or stop (see above)")
	flags.StringVar(&f.config.Transport, "transport", launcher.TransportAuto,
		"how messages travel: auto, shm, tcp, or inproc (all ranks in one process, for Go programs that use mpi.Main)")
	flags.StringVar(&f.config.Encrypt, "encrypt", "", "encrypt what leaves the host (hosts, also if no value is given), all that travels over TCP (tcp), or nothing (none) (default $BANYAN_ENCRYPT, or none)")
	flags.Lookup("encrypt").NoOptDefVal = launcher.EncryptHosts
	flags.StringVar(&f.config.Bcast, "bcast", "", "the tree and the correction of all broadcasts, as `SCHEME` tree=lame,correction=checked (see above; default $BANYAN_BCAST, or\nauto: each communicator chooses)")
	flags.StringVar(&f.config.Bind, "bind-to", launcher.BindAuto, "where each process may run: auto (on its share of the cores, if there are enough), core (on one, in turn, replicas of a rank on different ones), none (anywhere), or a list of cores (in turn)")
	flags.StringVar(&f.timeout, "timeout", "", "end the job after a `TIME`: seconds, or as 1h30m (default $MPIEXEC_TIMEOUT, or never)")
	flags.StringVar(&f.report, "report", "", "write what happened to `FILE`: the page of --status if its name ends in .html, else JSON")
	flags.StringVar(&f.config.Trace, "trace", "", "record every frame in `FILE`, for banyan trace")
	flags.StringVar(&f.config.PrivateDir, "private-dir", "", "start each process in a directory of its own, `DIR`/RANK-REPLICA, which is made if needed")
	flags.BoolVar(&f.config.Label, "label", false, "put [rank] in front of every line of output")
	flags.DurationVar(&f.config.HeartbeatPeriod, "heartbeat-period", 0,
		fmt.Sprintf("how often processes send heartbeats (default %v, or a tenth of a shorter timeout; longer on cores with more than 50 processes)", launcher.DefaultHeartbeatPeriod))
	flags.DurationVar(&f.config.HeartbeatTimeout, "heartbeat-timeout", 0,
		fmt.Sprintf("silence after which a process is taken for dead (default %v, or ten longer periods)", launcher.DefaultHeartbeatTimeout))
	flags.BoolVar(&f.config.Debug, "debug", false, "take no process for dead because it is silent")
	return cmd
}

// parse reads the command line.
func (f *runFlags) parse(cmd *cobra.Command, args []string) error {
	parts, all, err := f.part.parseAll(cmd.Flags(), args)
	if err != nil {
		return err
	}
	if help, err := cmd.Flags().GetBool("help"); err == nil && help {
		return pflag.ErrHelp
	}
	f.parts = all
	if err := f.hosts.find(all); err != nil {
		return err
	}
	for i, p := range all {
		if !p.ranksSaid && f.hosts.list != nil {
			parts[i].Ranks = f.hosts.ranks(p.list, f.replicas)
		}
	}
	c := &f.config
	if c.SpareRanks > 0 { // they run the last program
		parts[len(parts)-1].Ranks += c.SpareRanks
	}
	c.Ranks, c.Program, c.Args, c.Env, c.Dir = parts[0].Ranks, parts[0].Program, parts[0].Args, parts[0].Env, parts[0].Dir
	c.More = parts[1:]
	if c.Program == "" {
		return errors.New("no program is given (see banyan run --help)")
	}
	if f.replicate == "" && cmd.Flags().Changed("replicate") {
		return errors.New("--replicate is empty: want ranks, such as 0-3,7; leave it out for all")
	}
	if c.Degrees, c.Replicas, err = degrees(f.replicas, f.replicate, min(ranksOf(parts), launcher.MaxProcs)); err != nil {
		return err
	}
	if !cmd.Flags().Changed("encrypt") {
		c.Encrypt = os.Getenv(env.Encrypt)
	}
	if !cmd.Flags().Changed("bcast") {
		c.Bcast = os.Getenv(env.Bcast)
	}
	if !cmd.Flags().Changed("initial-errhandler") {
		c.InitialErrhandler = os.Getenv(env.InitialErrhandler)
	}
	return f.parseTimeout()
}

// parseTimeout reads --timeout, or the environment variable that users of other launchers set.
func (f *runFlags) parseTimeout() error {
	text, name := f.timeout, "--timeout"
	if text == "" {
		text, name = os.Getenv("MPIEXEC_TIMEOUT"), "MPIEXEC_TIMEOUT"
	}
	if text == "" {
		return nil
	}
	limit, err := time.ParseDuration(text)
	if seconds, e := strconv.ParseFloat(text, 64); e == nil {
		limit, err = time.Duration(seconds*float64(time.Second)), nil
	}
	if err != nil || limit <= 0 {
		return fmt.Errorf("%s is %q: want a time such as 90 (seconds) or 1h30m", name, text)
	}
	f.config.Limit = limit
	return nil
}

// run runs the job that the flags describe.
func (f *runFlags) run() (err error) {
	if os.Getenv(env.Debug) != "" {
		slog.SetLogLoggerLevel(slog.LevelDebug)
	}
	if f.config.Faults, err = fault.Parse(f.faults); err != nil {
		return err
	}
	var file *os.File
	if f.report != "" {
		// The file is opened before the job runs, so that a bad name doesn't lose its report.
		if file, err = os.OpenFile(f.report, os.O_WRONLY|os.O_CREATE, 0o666); err != nil {
			return fmt.Errorf("the report: %w", err)
		}
		defer file.Close()
	}
	if f.outputs, err = f.show.open(&f.config); err != nil {
		return err
	}
	defer f.outputs.Close()
	if err := f.beginWatch(); err != nil {
		return err
	}
	if degrees := f.degrees(); !f.hosts.alone() && placeable(degrees) {
		ready, err := f.hosts.gather(&f.config, degrees)
		if err != nil {
			return err
		}
		f.ends = append(f.ends, ready.Close)
		if err := f.outlive(ready); err != nil {
			return err
		}
	}
	report, err := launcher.Run(f.config)
	if e := (*launcher.StartError)(nil); errors.As(err, &e) {
		return cli.Exit(e.Code, err)
	}
	if err != nil {
		return err
	}
	if f.shown != nil {
		f.shown.Close() // its last words
	}
	return conclude(report, f.outputs, file, f.page())
}

// page writes the report as a page; nil: it is JSON.
func (f *runFlags) page() func(io.Writer) error {
	if f.shown == nil || !isPage(f.report) {
		return nil
	}
	return f.shown.WriteReport
}

// conclude closes the files of a job that has ended, writes its report, and says how it ended. page
// writes the report in place of JSON, if given.
func conclude(report *launcher.Report, outputs files, file *os.File, page func(io.Writer) error) error {
	if err := outputs.Close(); err != nil {
		return cli.Exit(max(report.ExitCode, 1), err)
	}
	if file != nil {
		file.Truncate(0) // fails for a device, which needs none
		if page == nil {
			page = report.Write
		}
		if err := errors.Join(page(file), file.Close()); err != nil {
			return cli.Exit(max(report.ExitCode, 1), fmt.Errorf("the report: %w", err))
		}
	}
	if report.ExitCode != 0 {
		return cli.Exit(report.ExitCode, nil) // stderr has the reason already
	}
	return nil
}

// close ends what run has begun.
func (f *runFlags) close() {
	for _, end := range slices.Backward(f.ends) {
		end()
	}
	f.ends = nil
}

// degrees are the numbers of replicas of all ranks.
func (f *runFlags) degrees() []int {
	if f.config.Degrees != nil {
		return f.config.Degrees
	}
	ranks := f.config.Ranks
	for _, p := range f.config.More {
		ranks += p.Ranks
	}
	if ranks < 1 || ranks > launcher.MaxProcs {
		return nil
	}
	return slices.Repeat([]int{f.config.Replicas}, ranks)
}

// jobInput returns the job's standard input. It is empty if that is a terminal which another
// process group has: reading it would stop the launcher.
func jobInput() io.Reader {
	foreground, err := unix.IoctlGetInt(int(os.Stdin.Fd()), unix.TIOCGPGRP)
	if err == nil && foreground != unix.Getpgrp() {
		return strings.NewReader("")
	}
	return os.Stdin
}
