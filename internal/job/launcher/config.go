package launcher

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"banyan/internal/fault"
	"banyan/internal/job/agent"
	"banyan/internal/job/console"
	"banyan/internal/job/env"
	"banyan/internal/layout"
	"banyan/internal/proto"
)

// Transports that a job can ask for.
const (
	TransportAuto   = env.TransportAuto   // the best of these
	TransportSHM    = env.TransportSHM    // a process per replica, connected by shared memory
	TransportTCP    = env.TransportTCP    // a process per replica, connected by TCP
	TransportInproc = env.TransportInproc // all ranks are goroutines of one process
)

// What a job can have encrypted.
const (
	EncryptNone  = env.EncryptNone  // nothing
	EncryptHosts = env.EncryptHosts // what leaves the host
	EncryptTCP   = env.EncryptTCP   // all that travels over TCP
)

// Protocols of replication.
const (
	ProtocolParallel = env.ProtocolParallel // each replica sends to one of a rank, and keeps messages until the others have them
	ProtocolMirror   = env.ProtocolMirror   // each replica sends to all
)

// Orders of what timing decides.
const (
	OrderFree   = env.OrderFree   // each replica goes by its own timing: the program has to be send-deterministic
	OrderLeader = env.OrderLeader // one replica of each rank decides, its siblings follow
	OrderClocks = env.OrderClocks // so, and what clocks tell and what random numbers are in C and Fortran
	OrderAuto   = env.OrderAuto   // as OrderLeader, from the rank's first call on that timing can decide
)

// Config describes a job. Ranks, Replicas, Program and the streams must be set.
type Config struct {
	// Ranks, Program, Args, Env and Dir are those of the first Part.
	Ranks    int
	Program  string
	Args     []string
	Env      []string
	Dir      string
	More     []Part // what the ranks after these run
	Replicas int    // of each rank, at least 1
	// Degrees are the numbers of replicas of each rank, if ranks differ in them. They take
	// precedence over Replicas.
	Degrees []int
	// Protocol is one of the Protocol constants. Empty: parallel.
	Protocol string
	// Order is one of the Order constants. Empty: free.
	Order string
	// Verify has the replicas compare the data that they send.
	Verify bool

	// Bind says on which cores processes may run: one of the Bind constants, or a list of
	// cores. Empty: BindAuto.
	Bind string
	// Limit ends a job that takes longer. 0: never.
	Limit time.Duration
	// Stop, if closed, ends the job at once.
	Stop <-chan struct{}

	Transport string // empty: auto
	// Encrypt is one of the Encrypt constants. Empty: nothing is encrypted.
	Encrypt string
	// Bcast names the tree and the correction of all broadcasts, as env.ParseBcast reads it.
	// Empty or env.BcastAuto: each communicator chooses.
	Bcast  string
	Faults fault.Plan
	// Connected and Gathered are how long it took until the other hosts had answered, and until
	// their agents had come. They are for the report.
	Connected, Gathered time.Duration
	// HeartbeatPeriod and HeartbeatTimeout are the detector's η and δ. 0: the default, or a
	// value that fits the other one.
	HeartbeatPeriod, HeartbeatTimeout time.Duration
	// Debug says that silent processes aren't taken for dead, because a person may stop them in
	// a debugger.
	Debug bool

	// FaultTolerance is one of the FaultTolerance constants: whether the job goes on when a rank is
	// lost. Empty: FaultToleranceAuto.
	FaultTolerance string
	// InitialErrhandler is the error handler with which the program starts, as the standard's
	// mpiexec names it; empty: mpi_errors_are_fatal, or what the environment says.
	InitialErrhandler string

	// SpareRanks is how many of the job's last ranks wait to take the place of dead ones.
	SpareRanks int

	// Heal has dead replicas replaced, if the program has safe points.
	Heal      bool
	healLimit time.Duration // of each phase of a replacement, for tests; 0: recovery.Limit

	// Rollback has snapshots taken of a job, and has it go back to the last one
	// when a rank has no replica left. SnapshotEvery is how often; 0: DefaultSnapshotEvery.
	Rollback      bool
	SnapshotEvery time.Duration
	// SnapshotDir, if it isn't empty, is where snapshots are kept on disk, too: one of so many
	// as SnapshotDirEvery says; 0: all. ResumeSnapshot has the job go on from the last one that
	// is there.
	SnapshotDir      string
	SnapshotDirEvery int
	ResumeSnapshot   bool
	// MeasureCosts has the launcher say at the end what snapshots and rollbacks cost.
	MeasureCosts bool

	// verdict is within which time a lost host is known as such, for tests; 0: verdictLimit.
	verdict time.Duration

	// PrivateDir has each process start in a directory of its own below this one, named
	// RANK-REPLICA. Empty: processes start in Dir.
	PrivateDir string

	// Label puts the rank in front of every line of output.
	Label bool

	// Trace is the file for the trace of all frames, empty for none.
	Trace string

	// Agents start the processes, one agent on each host. The caller closes them, when Run has
	// returned. Empty: this host is the only one, and its agent is in this process.
	Agents []agent.Agent
	// Names is what the hosts of the agents are called. nil: what they call themselves.
	Names []string
	// Arrivals are hosts that are added while the job runs, for replacements. The caller closes
	// their agents, too, when Run has returned. nil: there are none.
	Arrivals <-chan Arrival
	// Places is the agent on which each process starts, by process number. nil: all start on the
	// first.
	Places []int
	// Rehome chooses the agents of replacements. nil: the same host as before; if that is lost,
	// the one with the fewest processes.
	Rehome Rehome
	// Evacuate chooses those of processes that leave a host which is drained. nil: for each the
	// host with the fewest processes.
	Evacuate Evacuate
	// AddHosts adds the hosts of a list to the job: their agents come by Arrivals. It returns their
	// names, and may take as long as agents need to start; what it tells meanwhile is for the user
	// who asked. nil: none can be added.
	AddHosts func(ctx context.Context, list string, tell func(text string)) (names []string, err error)
	// AllowSharedHost lets a replacement start on a host that runs another replica of its rank,
	// though there are several hosts.
	AllowSharedHost bool

	// Requests answers requests about the job. It is told how the job is. nil: nothing does.
	Requests *console.Server

	// Watch is told how the job is while it runs. nil: nothing is.
	Watch Watcher
	// Counted has the processes count for Watch: messages, bytes, safe points, what they wait for.
	Counted bool
	// TraceDir is where traces go that those who watch ask for; empty: the working directory.
	TraceDir string
	// Racks are what fails together with each agent's host, beside what the agent says; empty:
	// unknown.
	Racks []string

	// Signals are passed to the job as those that this process is sent. nil: there are none.
	Signals <-chan os.Signal
	// Started, if it isn't nil, is called when all processes have started.
	Started func()

	// Stdin goes to every replica of rank 0. A Read that is still waiting when the job ends is
	// abandoned.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Screen, if given, shows the output in place of Stdout and Stderr.
	Screen Screen

	// Keep, if given, is told the job's State when that has changed, encoded. It calls kept once
	// the state can't be lost; until then it isn't called again. What would make another
	// launcher go wrong that has an older state waits for that.
	Keep func(state []byte, kept func())
	// Parent is the port at which the processes wait that have spawned this job; empty: none have.
	// firstIncarnation is above those of all other processes of its agents; labels is what
	// labels have before its ranks: the number of the job among those that its parent has spawned.
	// ancestor answers requests about the job that nobody has spawned, for this one, too.
	Parent   string
	labels   string
	ancestor *console.Server
	// Slots is for how many processes the hosts were named or allocated; 0: that isn't known.
	Slots            int
	firstIncarnation proto.Incarnation
	// Part, if given, has the agents decide without a host that leaves; its agent has no processes
	// any more. parted is called when they do, and nobody needs what its agent has of the output.
	// Until then the agent isn't ended. It must not wait.
	Part func(agent int, parted func())
}

// Values of FaultTolerance.
const (
	FaultToleranceAuto = "auto"               // the job goes on if the program has set a handler for it
	FaultToleranceULFM = "ulfm"               // it goes on, and each rank's error handler decides
	FaultToleranceMPI  = "mpi"                // the same, as Open MPI has it
	FaultToleranceNo   = env.FaultToleranceNo // it ends, whatever the program says
)

// MaxProcs bounds ranks × replicas, so that a host survives a typing error.
const MaxProcs = 4096

// Exit codes of jobs that didn't start or were ended, as shells and timeout(1) have them.
const (
	CodeUsage         = 2   // the job as described makes no sense
	CodeTimedOut      = 124 // the job took longer than its limit
	CodeNotExecutable = 126 // the program can't be executed
	CodeNotFound      = 127 // there is no such program
)

// StartError says why a job didn't start. None of its processes runs.
type StartError struct {
	Code int // exit code to end with
	Err  error
}

func (e *StartError) Error() string { return e.Err.Error() }
func (e *StartError) Unwrap() error { return e.Err }

// plan is a checked Config.
type plan struct {
	Config
	parts   []part
	ranks   int           // of all parts
	layout  layout.Layout // of all ranks; of one rank if all are in one process
	size    int           // number of processes
	planned []fault.Event
	paced   bool      // the user names neither η nor δ: see paceHeartbeats
	resumed *manifest // the snapshot on disk with which the job begins; nil: none
	damaged []string  // newer ones, and what is wrong with them
}

// inproc says whether one process runs all ranks.
func (p *plan) inproc() bool { return p.Transport == TransportInproc }

// check turns a Config into a plan, or says what is wrong with it.
func (c Config) check() (*plan, error) {
	p := &plan{Config: c}
	if err := p.checkNumbers(); err != nil {
		return nil, &StartError{CodeUsage, err}
	}
	for i := range p.parts {
		if err := p.parts[i].find(); err != nil {
			return nil, err
		}
	}
	if err := p.checkPrivate(); err != nil {
		return nil, err
	}
	if err := p.checkHosts(); err != nil {
		return nil, &StartError{CodeUsage, err}
	}
	if err := p.checkRollback(); err != nil {
		return nil, &StartError{CodeUsage, err}
	}
	if p.InitialErrhandler != "" {
		if _, err := env.ParseErrhandler(p.InitialErrhandler); err != nil {
			return nil, fmt.Errorf("--initial-errhandler: %w", err)
		}
	}
	if err := p.checkFaultTolerance(); err != nil {
		return nil, &StartError{CodeUsage, err}
	}
	return p, nil
}

// checkFaultTolerance refuses what can't work.
func (p *plan) checkFaultTolerance() error {
	switch {
	case p.SpareRanks == 0:
	case p.layout.Replicated() || p.Rollback || p.FaultTolerance == FaultToleranceNo:
		return errors.New("--spare-ranks is for programs that handle failures themselves: leave --replicas, --rollback and --with-ft no out")
	case p.SpareRanks < 0 || p.SpareRanks >= p.layout.Ranks():
		return fmt.Errorf("--spare-ranks %d: want 0 or more, beside at least one rank that isn't spare", p.SpareRanks)
	}
	switch p.FaultTolerance {
	case "":
		p.FaultTolerance = FaultToleranceAuto
	case FaultToleranceAuto, FaultToleranceNo:
	case FaultToleranceULFM, FaultToleranceMPI:
		switch {
		case p.layout.Replicated() && p.Order == OrderFree:
			return fmt.Errorf("--with-ft %s is for jobs without replicas, or in leader order (--order leader): else replicas of a rank would learn of a loss at different places", p.FaultTolerance)
		case p.Rollback:
			return fmt.Errorf("--with-ft %s is for jobs without --rollback: with it a death takes the job back to its last snapshot, and the program handles none", p.FaultTolerance)
		}
	default:
		return fmt.Errorf("--with-ft %q: want auto, ulfm, mpi or no", p.FaultTolerance)
	}
	return nil
}

func (p *plan) checkNumbers() (err error) {
	if err := p.divide(); err != nil {
		return err
	}
	if err := p.layOut(); err != nil {
		return err
	}
	if p.Limit < 0 {
		return fmt.Errorf("the time limit must not be negative, as %v is", p.Limit)
	}
	if err := p.checkBind(); err != nil {
		return err
	}
	if err := p.checkBcast(); err != nil {
		return err
	}
	if p.Encrypt, err = env.ParseEncrypt(p.Encrypt); err != nil {
		return fmt.Errorf("--encrypt: %w", err)
	}
	if err := p.checkHeartbeats(); err != nil {
		return err
	}
	resolve := func() ([]fault.Event, error) { return p.Faults.ResolveDegrees(p.Degrees) }
	if p.Rollback {
		resolve = func() ([]fault.Event, error) { return p.Faults.ResolveReturning(p.Degrees) }
	}
	if p.planned, err = resolve(); err != nil {
		return err
	}
	for _, e := range p.planned {
		if e.At.Kind == fault.AtStep {
			return fmt.Errorf("fault plan (%v): steps exist in simulated runs only", e)
		}
	}
	p.size = p.layout.Procs()
	switch p.Transport {
	case "":
		p.Transport = TransportAuto
	case TransportAuto, TransportSHM, TransportTCP:
	case TransportInproc:
		return p.checkInproc()
	default:
		return fmt.Errorf("%q is no transport; there are auto, shm, tcp and inproc", p.Transport)
	}
	return nil
}

// checkBcast refuses what can't work.
func (p *plan) checkBcast() error {
	scheme, err := env.ParseBcast(p.Bcast)
	if err != nil {
		return fmt.Errorf("the broadcast %q: %w", p.Bcast, err)
	}
	if scheme.Named() && p.layout.Replicated() {
		return fmt.Errorf("the broadcast %q: %w", p.Bcast, env.ErrBcastReplicas)
	}
	p.Bcast = env.FormatBcast(scheme)
	return nil
}

// layOut gives each rank its replicas.
func (p *plan) layOut() error {
	if p.Degrees == nil {
		p.Degrees = slices.Repeat([]int{p.Replicas}, p.ranks)
	}
	if len(p.Degrees) != p.ranks {
		return fmt.Errorf("there are %d ranks, and replicas of %d of them", p.ranks, len(p.Degrees))
	}
	total := 0
	for rank, degree := range p.Degrees {
		switch total += degree; {
		case degree < 1:
			return fmt.Errorf("a rank has at least 1 replica, not %d", degree)
		case degree > layout.MaxDegree:
			return fmt.Errorf("a rank has at most %d replicas, not %d", layout.MaxDegree, degree)
		case total > MaxProcs:
			return fmt.Errorf("%d ranks and their replicas are more than %d processes (those from rank %d on)", p.ranks, MaxProcs, rank)
		}
	}
	p.layout = layout.Partial(p.Degrees)
	if p.Heal && !p.layout.Replicated() {
		return errors.New("to heal there must be replicas: a rank's only process has no replica to take its state from")
	}
	p.Replicas = p.layout.MaxDegree()
	switch p.Protocol {
	case "":
		p.Protocol = ProtocolParallel
	case ProtocolParallel, ProtocolMirror:
	default:
		return fmt.Errorf("%q is no protocol; there are parallel and mirror", p.Protocol)
	}
	if err := p.checkOrder(); err != nil {
		return err
	}
	return p.checkVerify()
}

// checkOrder refuses what leader order can't do.
func (p *plan) checkOrder() error {
	o, err := env.ParseOrder(p.Order)
	switch p.Order = cmp.Or(p.Order, OrderFree); {
	case err != nil:
		return err
	case o.Leader && !p.layout.Replicated():
		return errors.New("leader order is for ranks with replicas: one decides, the others follow")
	}
	return nil
}

// checkInproc refuses options that need a process per rank.
func (p *plan) checkInproc() error {
	p.layout, p.size = layout.Uniform(1, 1), 1
	switch {
	case len(p.More) > 0:
		return errors.New("the transport inproc has all ranks in one process: they can't run several programs")
	case p.Replicas > 1:
		return errors.New("the transport inproc has all ranks in one process: replicas would die with it")
	case p.Heal:
		return errors.New("the transport inproc has all ranks in one process: there is no replica to heal from")
	case len(p.planned) > 0:
		return errors.New("the transport inproc has all ranks in one process: a fault can't hit just one")
	case p.PrivateDir != "":
		return errors.New("the transport inproc has all ranks in one process: they can't have directories of their own")
	case p.Label:
		return errors.New("the transport inproc has all ranks in one process: its output can't be told apart by rank")
	}
	return nil
}
