// Package join makes an operating-system process part of a job: it finds the other processes over
// PMI, shares a secret with them, opens the transport, starts the engine, and obeys the job's
// supervisor. A program that no launcher has started is a job of one process. One that was started
// several times over by a launcher without PMI is refused (alone.go).
//
// # The steps
//
//  1. PMI and the environment say which process this is (identity.go), and how the job runs
//     (settings.go).
//  2. Wire-up (wireup.go): our launcher has made a secret for the job. Under another one, every
//     process puts random bytes under a key of its own and passes a barrier. The job's secret is
//     the entry of the lowest process that has one. All find the same, since a process that dies
//     before the barrier either has put its entry or never will. PMI also says which processes
//     share a host: where all do, they listen at the loopback address only (address.go).
//  3. A spare process (package spares) waits until it is given a replica slot. If the job ends
//     first, the process ends within Join. Otherwise it goes on as the replacement in that slot
//     (spare.go).
//  4. Every process listens, puts its business card and passes a barrier (network.go). Under our
//     launcher that is the only one, and a process waits for PMI three times in all. From then on
//     two processes connect when one of them first has something to send.
//  5. The process tells its supervisor that it has come, and acts on what the supervisor and the
//     engine say (supervisor.go, events.go) until it leaves (end.go). Before its program begins, a
//     replacement waits for its donor's log, and one in leader order that is to load a snapshot for
//     its part of that.
//
// # The supervisor
//
// The supervisor is the party outside the process that hears of deaths and has dead replicas
// replaced. There are three kinds: the launcher at the other end of the lifeline ("banyan run",
// lifeline.go), the spare leader of a job with spares under another launcher (spareled.go), and
// none (unsupervised).
//
// # Limits
//
// The secret travels over PMI only. It is as safe as the launcher's channel to its processes,
// which with "banyan run" is an inherited socket.
package join

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"

	"banyan/internal/counters"
	"banyan/internal/job/check"
	"banyan/internal/job/control"
	"banyan/internal/job/env"
	"banyan/internal/job/pmi"
	"banyan/internal/proto"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/lane"
	"banyan/internal/runtime/process"
	"banyan/internal/runtime/transport/inproc"
	"banyan/internal/runtime/transport/mesh"
)

// minProcs is the least GOMAXPROCS: a thread that polls would otherwise keep the progress thread
// from running for milliseconds.
const minProcs = 16

// Options are what a program may ask of its job.
type Options struct {
	// SurviveRankLoss says that the program goes on when a rank is lost: its calls return errors
	// instead of the job's end.
	SurviveRankLoss bool
	// Heard, if set, is called with each event that concerns the process as a whole, before the
	// job acts on it. It must not wait for anything.
	Heard func(engine.Event)
	// Lane says that the C of this process may use the rings, where the job allows it; see
	// engine.Config.Lane.
	Lane bool
	// Where says where a program that isn't in Go makes the present call, for an error in the
	// middle of it; nil: the program is in Go.
	Where func() string
	// Threads knows the threads of such a program; see engine.Config.Threads.
	Threads engine.Threads
	// TypeName names the types of data that the program sends; see process.Config.
	TypeName func(t uint32) string
}

// Job is this process's part of a job.
type Job struct {
	Engine *engine.Engine

	options  Options
	log      *slog.Logger
	launcher *pmi.Client // nil if no launcher has started this process
	identity
	settings
	wireup // empty in a job of one
	cards  firstCards
	network
	supervisor supervisor
	checking   checking
	survive    atomic.Bool // the program goes on when a rank is lost
	losses     losses      // what watch knows of them
	snapshots  *snapshots  // nil: none are taken
	dynamic    dynamic
	ending
}

// Join makes this process part of the job that its environment describes.
func Join(o Options) (*Job, error) {
	if n, err := LocalRanks(); err != nil || n > 1 {
		if err == nil {
			err = errors.New("--transport inproc runs all ranks in one process: the program must use mpi.Main in place of mpi.Init")
		}
		return nil, err
	}
	runtime.GOMAXPROCS(max(minProcs, runtime.GOMAXPROCS(0)))
	j := &Job{options: o, log: logger(), ending: newEnding()}
	j.supervisor = &unsupervised{j}
	if err := j.join(); err != nil {
		j.supervisor.joinFailed(err)
		return nil, fmt.Errorf("joining the job: %w", err)
	}
	return j, nil
}

// join takes the steps that the package comment lists.
func (j *Job) join() error {
	if err := j.identify(); err != nil {
		return err
	}
	if j.layout.Procs() > 1 {
		var err error
		if j.wireup, err = wireUp(j.launcher, j.supervisor.reaps(), j.identity, j.settings, j.log); err != nil {
			return err
		}
	}
	if err := j.supervisor.awaitSlot(); err != nil {
		return err
	}
	if err := j.start(); err != nil {
		return err
	}
	if j.options.SurviveRankLoss {
		j.Survive()
	}
	if err := j.supervisor.begin(); err != nil {
		return err
	}
	go j.watch()
	if j.replacement != nil {
		return j.Engine.AwaitLog()
	}
	return j.Engine.AwaitPrefix()
}

// identify finds out which process this is, how the job runs, and which supervisor it has.
func (j *Job) identify() (err error) {
	lifeline, err := control.FromEnv()
	if err != nil {
		return err
	}
	if j.launcher, err = pmi.FromEnv(lifeline != nil); err != nil {
		return err
	}
	if lifeline != nil {
		j.supervisor = newLaunched(j, lifeline)
	}
	if j.launcher == nil && lifeline == nil {
		if err := mayBeAlone(); err != nil {
			return err
		}
	} else {
		os.Setenv(env.Alone, "1") // for the programs that this process starts: they have no PMI
	}
	if j.identity, err = readIdentity(j.launcher, lifeline != nil); err != nil {
		return err
	}
	if j.settings, err = readSettings(); err != nil {
		return err
	}
	if j.scheme.Named() && j.layout.Replicated() {
		return fmt.Errorf("%s=%s: %w", env.Bcast, env.FormatBcast(j.scheme), env.ErrBcastReplicas)
	}
	if j.spares > 0 {
		j.supervisor = newSpareLed(j)
	}
	return nil
}

// start opens the network and starts the engine.
func (j *Job) start() error {
	cfg, err := j.config()
	if err != nil {
		return err
	}
	if j.layout.Procs() == 1 {
		j.Engine = engine.New(cfg, inproc.NewNetwork(1).Endpoint(0))
		return nil
	}
	cfg.Process.Hosts, cfg.Process.SharedMemory = j.hosts, j.media != mesh.Sockets
	cfg.Agreed = coresAreSet() && !j.layout.Replicated()
	if cfg.Crowd, err = j.processHosts().crowd(); err != nil {
		return err
	}
	if j.network, err = j.open(); err != nil {
		return err
	}
	cfg.Starved = j.neighbours.starved
	if j.options.Lane && j.lane && !j.layout.Replicated() {
		if cfg.Lane, err = lane.New(j.layout.Rank(j.self), j.layout.Ranks()); err != nil {
			j.log.Debug("no lane", "reason", err)
		}
	}
	j.Engine = engine.New(cfg, j.mesh)
	return nil
}

// config is the engine's configuration.
func (j *Job) config() (engine.Config, error) {
	cfg := engine.Config{
		Process: process.Config{
			Self: j.self, Layout: j.layout, Mirror: j.mirror, Leader: j.order.Leader, Auto: j.order.Auto, AckEach: j.ackEach,
			Period: proto.Time(j.period), Timeout: proto.Time(j.timeout), Witness: j.supervisor.reaps(), Leased: proto.Time(j.leased),
			Thins:  j.thins(),
			Memory: buffersMemory(), Scheme: j.scheme, TypeName: j.options.TypeName,
		},
		HealFailed: j.replacementFailed, Unfollowed: j.unfollowed, Where: check.Here,
		FirstDecision: func(call, where string) { go j.supervisor.led(call, where) }, // the engine mustn't wait
	}
	var err error
	if cfg.SpareRanks, err = env.ReadSpareRanks(j.layout.Ranks()); err != nil {
		return cfg, err
	}
	if cfg.Counters, err = countersPage(); err != nil {
		return cfg, err
	}
	if cfg.Counters != nil {
		cfg.RecordSpan = func(s counters.Span) (engine.SpanRecorder, error) {
			return newSpanRecorder(j.self, j.layout.Procs(), &s)
		}
	}
	if cfg.BeforeSend, err = strikes(); err != nil {
		return cfg, err
	}
	j.replacement.apply(&cfg.Process, j.spares > 0)
	if j.options.Where != nil {
		cfg.Where = j.options.Where
	}
	cfg.Threads = j.options.Threads
	if j.output != nil {
		cfg.Committed = j.output.connect
	}
	if j.spares > 0 {
		cfg.Outside = lookAtInput().unread
	}
	if j.verify {
		// The engine calls it and mustn't wait.
		cfg.Process.Corrupted = func(c process.Corruption) { go j.corrupted(c) }
	}
	if cfg.Rollback, err = j.readRollback(); err != nil {
		return cfg, err
	}
	if j.checking, err = readChecking(j.self); err != nil {
		return cfg, err
	}
	j.checking.apply(&cfg)
	return cfg, record(&cfg.Process)
}

// valid says whether a process number is one of the job's.
func (j *Job) valid(p proto.Proc) bool { return p >= 0 && int(p) < j.layout.Procs() }

// Tolerant tells whether the program may handle the loss of ranks: no other way of the job to
// survive deaths hides them, and the job's user doesn't refuse.
func (j *Job) Tolerant() bool {
	return (!j.layout.Replicated() || j.thins()) && j.snapshots == nil && os.Getenv(env.FaultTolerance) != env.FaultToleranceNo
}

// Survive is Options.SurviveRankLoss for a program that says so later. It can't be taken back.
func (j *Job) Survive() {
	if !j.survive.Swap(true) {
		j.supervisor.survives()
	}
}

// Hosts numbers the host of each process, in the order of processes: nil if that isn't known, as
// in a job of one.
func (j *Job) Hosts() []int32 { return j.hosts }

// Program is which of the job's programs this process runs, from 0; -1 if that isn't known.
func (j *Job) Program() int { return j.program }

// Universe is for how many processes the job's hosts were named or allocated; 0: that isn't known.
func (j *Job) Universe() int {
	n, err := strconv.Atoi(os.Getenv(env.Slots))
	if err != nil || n < 0 || n > math.MaxInt32 {
		return 0
	}
	return n
}

// replacementFailed ends a replacement that can't fill its slot. The supervisor is told why.
func (j *Job) replacementFailed(err error) {
	m := control.Message{Type: control.HealFailed, Text: err.Error()}
	if process.Hopeless(err) {
		m.Type = control.Unhealable
	}
	j.supervisor.replacementFailed(m)
	j.exit(1)
}

// unfollowed ends the job: this process can't do as the replica that it follows.
func (j *Job) unfollowed(err error) { j.Abort(1, err.Error()) }

// askedToGiveUp ends this replacement, unless it has joined: then the supervisor is told again.
func (j *Job) askedToGiveUp(m control.Message) {
	if !j.Engine.GiveUpJoining(errors.New(m.Text)) {
		j.supervisor.recoveryStep(control.Message{Type: control.Committed})
	}
}

// stderr tells the user something about this process.
func (j *Job) stderr(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "banyan: "+format+"\n", args...)
}
