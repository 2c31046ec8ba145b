// Package env names the environment variables of Banyan and parses and formats their values.
//
// Every variable BANYAN_* that a launcher, a process of a job, a command or a benchmark reads or
// writes is a constant of this package, with what sets it, what reads it, its values and its
// default. A house rule refuses such names elsewhere. Variables that only tests read stay in the
// tests: BANYAN_TEST_*, BANYAN_EXPLORE, BANYAN_SEED, BANYAN_TOUR and BANYAN_UPDATE.
//
// Under "banyan run" the launcher sets the variables of a job (SetByLauncher). Under another
// launcher the user sets them, the same for all processes of the job. An empty value means the
// same as none.
//
// The variables of PMI (PMI_FD, PMI_RANK …) aren't ours: package pmi has them.
package env

import "fmt"

// Entry is a variable with its value, as os.Environ and exec.Cmd.Env have it.
func Entry(name string, value any) string { return fmt.Sprint(name, "=", value) }

// The layout of a job and what its processes do with each other.
const (
	// Replicas says how many replicas each rank has: one number for all ranks, or one for each
	// rank with commas between. Default: 1. Set by the launcher or the user; read by join.
	// See FormatReplicas and ReadReplicas.
	Replicas = "BANYAN_REPLICAS"
	// Protocol says how replicas send: ProtocolParallel (the default) or ProtocolMirror.
	// Set by the launcher or the user; read by join.
	Protocol = "BANYAN_PROTOCOL"
	// Order says who decides what timing decides: OrderFree (the default), nobody, so the program
	// has to be send-deterministic; OrderLeader, one replica of each rank; OrderClocks; or
	// OrderAuto. Set by the launcher or the user; read by join. See ParseOrder.
	Order = "BANYAN_ORDER"
	// Verify says whether replicas compare what they send: "true", or anything else for no.
	// Default: no. Set by the launcher or the user; read by join.
	Verify = "BANYAN_VERIFY"
	// Acknowledge says when eager messages are acknowledged to the sender's other replicas:
	// AcknowledgeTogether (the default) or AcknowledgeEach. Set by the replication benchmark, to
	// measure the latter; read by join.
	Acknowledge = "BANYAN_ACKNOWLEDGE"
	// Transport says which media carry messages: TransportAuto (the default), TransportSHM or
	// TransportTCP. Set by the launcher or the user; read by join, which refuses a job in which
	// some processes have TransportTCP and others don't.
	Transport = "BANYAN_TRANSPORT"
	// Encrypt says which connections are encrypted: EncryptNone (the default), EncryptHosts or
	// EncryptTCP. Set by the launcher or the user; read by "banyan run" and join, which refuses a
	// job whose processes differ. See ParseEncrypt.
	Encrypt = "BANYAN_ENCRYPT"
	// Address says where a process listens: an address, a host name, or the name of a network
	// interface. Default: the loopback address if all processes share a host for good (see
	// Elsewhere), else an address of the host. Set by the user; read by join.
	Address = "BANYAN_ADDRESS"
	// Elsewhere is "1" if replacements may run on other hosts than the processes that the job
	// starts with: those must be reached from there, also if they share a host. Default: none
	// do. Set by the launcher; read by join.
	Elsewhere = "BANYAN_ELSEWHERE"
	// Cores is how many cores of the host the processes of the job share. A process that is
	// bound to some cores sees only its own. Default: the cores that the process sees. Set by
	// the launcher and by the replication benchmark; read by join.
	Cores = "BANYAN_CORES"
	// Bcast names the tree and the correction of all broadcasts, such as
	// "tree=lame,correction=checked". Default: BcastAuto, each communicator chooses. Set by the
	// launcher or the user; read by "banyan run" and join, which refuses a job whose processes
	// differ. See ParseBcast and FormatBcast.
	Bcast = "BANYAN_BCAST"
	// LocalRanks is how many ranks run as goroutines of the one process that "banyan run
	// --transport inproc" starts. Default: none do. Set by the launcher; read by join.
	LocalRanks = "BANYAN_LOCAL_RANKS"
	// Lane is LaneOff if the C library leaves every message to Go. Default: it sends and receives
	// small ones within a host itself. Set by tests; read by join.
	Lane = "BANYAN_LANE"
	// FaultTolerance is FaultToleranceNo if the job ends when a rank is lost, whatever the program
	// says. Set by the launcher; read by join.
	FaultTolerance = "BANYAN_WITH_FT"
	// InitialErrhandler is the error handler with which MPI_COMM_WORLD and MPI_COMM_SELF start.
	// Default: ErrorsAreFatal. Set by the launcher or the user; read by join. See ParseErrhandler.
	InitialErrhandler = "BANYAN_INITIAL_ERRHANDLER"
	// SpareRanks is how many of the last ranks wait to take the place of dead ones. Default:
	// none. Set by the launcher; read by join.
	SpareRanks = "BANYAN_SPARE_RANKS"
	// Alone is "1" if a process that has no PMI is a job of one, although another launcher has
	// started several. Default: join refuses to start such a process. Set by the user, and by
	// join for the programs that a process of a job starts; read by join. See ReadAlone.
	Alone = "BANYAN_ALONE"
)

// Values of Protocol, Order, Acknowledge, Lane, FaultTolerance and Transport.
const (
	ProtocolParallel = "parallel" // each replica sends to one, and keeps copies for the others
	ProtocolMirror   = "mirror"   // each replica sends to all

	OrderFree   = "free"   // each replica goes by its own timing
	OrderLeader = "leader" // one replica of each rank decides what timing decides, its siblings follow
	OrderAuto   = "auto"   // the same, from the rank's first call on that timing can decide
	// OrderClocks is OrderLeader, and the leader decides what the system's clocks tell programs in
	// C and Fortran, their random numbers and process ids.
	OrderClocks = "leader,clock"

	AcknowledgeTogether = "together" // many with one frame
	AcknowledgeEach     = "each"     // each with a frame of its own, at once, as in the paper

	LaneOff = "off"

	FaultToleranceNo = "no"

	TransportAuto   = "auto"   // shared memory within a host, TCP between hosts
	TransportSHM    = "shm"    // shared memory only: a process of another host can't be reached
	TransportTCP    = "tcp"    // TCP everywhere
	TransportInproc = "inproc" // goroutines of one process; see LocalRanks
)

// The detection of failures. See ReadHeartbeats.
const (
	// HeartbeatPeriod is η, a duration such as "100ms": the time between two heartbeats.
	// Set by the launcher or the user; read by join.
	HeartbeatPeriod = "BANYAN_HEARTBEAT_PERIOD"
	// HeartbeatTimeout is δ, a duration: a process that is silent for longer counts as dead.
	// Set by the launcher or the user; read by join.
	HeartbeatTimeout = "BANYAN_HEARTBEAT_TIMEOUT"
)

// Several hosts.
const (
	// Leased is a duration: agents with leases decide which processes of a cut network go on, and a
	// lost host is known as such within that time. Default: the processes decide themselves. Set by
	// the launcher; read by join. See ReadLeased.
	Leased = "BANYAN_LEASED"
	// SSH is the command that stands in the place of ssh, with options, such as "ssh -p 2222".
	// Default: ssh. Set by the user; read by "banyan run".
	SSH = "BANYAN_SSH"
)

// The launcher's lifeline, and the replacement of dead replicas.
const (
	// GuardFD is the descriptor on which an agent tells its parent what to do when the agent dies.
	// Default: it has no such parent. Set by guard; read and removed by guard.
	GuardFD = "BANYAN_GUARD_FD"
	// ControlFD is the descriptor of the lifeline (package control). Default: there is no
	// lifeline. Set by the launcher; read and removed by control.
	ControlFD = "BANYAN_CONTROL_FD"
	// Heal is "1" if the launcher replaces dead replicas. Default: it doesn't. Set by the
	// launcher; read by join.
	Heal = "BANYAN_HEAL"
	// Incarnations tells a replacement how often each process has been replaced, and which are
	// dead. Default: this process isn't a replacement. Set by the launcher; read by join.
	// See FormatIncarnations and ReadIncarnations.
	Incarnations = "BANYAN_INCARNATIONS"
	// OutputFDs names the two descriptors that become a replacement's stdout and stderr once
	// it has its donor's state. Set by the launcher; read and removed by join. See
	// FormatFDs and TakeOutputFDs.
	OutputFDs = "BANYAN_OUTPUT_FDS"
	// Rollback says that snapshots are taken of the job, and with which this process begins.
	// Default: none are. Set by the launcher; read by join. See FormatRollback and ReadRollback.
	Rollback = "BANYAN_ROLLBACK"
	// SnapshotFDs names the two descriptors of the memory in which a process's snapshots are kept.
	// Set by the agent; read and removed by join. See TakeSnapshotFDs.
	SnapshotFDs = "BANYAN_SNAPSHOT_FDS"
	// CountersFD is the descriptor of the memory in which a process counts for those who watch it.
	// Default: it counts for nobody. Set by the agent; read and removed by join. See
	// TakeCountersFD.
	CountersFD = "BANYAN_COUNTERS_FD"
	// Spares is how many of the processes that another launcher has started are spares: the
	// last ones. Default: 0. Set by the user; read by join. "banyan run" warns that it ignores
	// the variable.
	Spares = "BANYAN_SPARES"
)

// Faults, records and diagnosis.
const (
	// Fault is the fault plan of one process: what it does to itself at certain sends. Default:
	// nothing. Set by the launcher; read by join, parsed by package fault.
	Fault = "BANYAN_FAULT"
	// StatusToken is the token that "banyan run --status" asks for, or "none" for none. Default: a
	// random one. Set by the user; read by "banyan run".
	StatusToken = "BANYAN_STATUS_TOKEN"
	// Trace is the directory where each process writes a trace. Default: it writes none. Set
	// by the launcher; read by join.
	Trace = "BANYAN_TRACE"
	// TraceBegin is the time from which the times of a trace count, in nanoseconds of
	// CLOCK_MONOTONIC. Set by the launcher together with Trace; read by join.
	TraceBegin = "BANYAN_TRACE_BEGIN"
	// Calls is the directory where each process records the program's calls. Default: it
	// records none. Set by "banyan check"; read by package check in each process.
	Calls = "BANYAN_CALLS"
	// Perturb is the seed of the delays with which "banyan check" disturbs the timing of a job,
	// an unsigned number of 64 bits. Set together with Calls; read by package check.
	Perturb = "BANYAN_PERTURB"
	// Look is a call of the program, by its function and place, of which "banyan check" wants the
	// data recorded. Default: of none. Set together with Calls; read by package check.
	Look = "BANYAN_LOOK"
	// Debug, if it isn't empty, makes the launcher tell on stderr what it does, and each
	// process which deaths it learns of, and how. Set by the user; read by "banyan run" and
	// join.
	Debug = "BANYAN_DEBUG"
	// CPUProfile is the beginning of the name of the file to which each process writes a CPU
	// profile; its process id follows. Set by scripts/profile.sh; read by a C library that is
	// built with the tag profiling.
	CPUProfile = "BANYAN_CPUPROFILE"
)

// The compilers that mpicc, mpicxx and mpifort call, with flags if wanted. Set by the user; read
// by package compiler, which knows the default.
const (
	CC  = "BANYAN_CC"
	CXX = "BANYAN_CXX"
	FC  = "BANYAN_FC"
)

// The task of a process that a benchmark starts from its own program, as JSON. Set and read by
// the benchmark.
const (
	BenchDetector   = "BANYAN_BENCH_DETECTOR"
	BenchMembership = "BANYAN_BENCH_MEMBERSHIP"
	BenchIdle       = "BANYAN_BENCH_IDLE"
)

// Dynamic processes.
const (
	// Parent is the name of the port at which the processes wait that have spawned this job. It has
	// a secret. Set by the launcher; read by join, which removes it.
	Parent = "BANYAN_PARENT"
	// Spawner is the same port, for a launcher that a program without one starts to spawn others.
	// Set by join; read by "banyan run".
	Spawner = "BANYAN_SPAWNER"
	// Slots is for how many processes the job's hosts were named or allocated. Set by the launcher;
	// read by join.
	Slots = "BANYAN_SLOTS"
	// Names is the directory in which programs publish the names of services (MPI_Publish_name).
	// Default: one of the user on this host. Set by the user; read by join.
	Names = "BANYAN_NAMES"
)

// SetByLauncher are the variables that the processes of a job don't inherit from the environment of
// "banyan run": each has one only if the launcher sets it for this process. It never sets Spares.
var SetByLauncher = []string{
	ControlFD, Fault, Replicas, Protocol, Order, Verify, Heal, Elsewhere, Leased, Spares, Incarnations, OutputFDs, Rollback, SnapshotFDs, CountersFD, Cores,
	Transport, Encrypt, Bcast, FaultTolerance, InitialErrhandler, SpareRanks, LocalRanks, HeartbeatPeriod, HeartbeatTimeout, Trace, TraceBegin, StatusToken, Parent, Spawner, Slots,
}
