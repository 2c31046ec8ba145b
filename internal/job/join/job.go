// Package join makes an operating-system process part of a job: it finds the
// others over PMI, shares a secret with them, opens the transport, starts the
// progress engine, and ties it to the launcher's lifeline.
//
// A program that nobody launched is a job of one.
//
// # The order of things
//
//  1. PMI says which process this is and how many there are; BANYAN_REPLICAS
//     says how many of them are one rank: one number for all, or one for each.
//  2. Every process puts random bytes under its own key and passes a barrier.
//     The job's secret is the entry of the lowest process that has one: the
//     same for all, since whoever dies before the barrier has put its entry or
//     never will.
//  3. Every process listens, puts its business card and passes a barrier.
//     From then on processes connect when they first have something to say.
//     PMI also says which processes share a host: where all do, they listen at
//     the loopback address only (address.go).
//
// With BANYAN_SPARES, under another launcher than "banyan run", the last processes are no part of
// the job at first (spare.go): they wait within Join until one has died, and go on from there as
// the replacement in its place.
//
// The secret travels over PMI only: it is as safe as the launcher's channel to
// its processes (inherited sockets, with banyan run).
package join

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"banyan/internal/job/check"
	"banyan/internal/job/control"
	"banyan/internal/job/env"
	"banyan/internal/job/pmi"
	"banyan/internal/job/spares"
	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/process"
	"banyan/internal/runtime/transport/inproc"
	"banyan/internal/runtime/transport/mesh"
)

const (
	// minProcs is the least GOMAXPROCS: a thread that polls would otherwise
	// keep the progress thread from running for milliseconds.
	minProcs = 16

	// settleFactor times δ is how long a process must have excluded nobody
	// before it speaks for its side of a partition: one that finds the others
	// silent one by one takes 2δ for each.
	settleFactor = 3
)

// Options are what a program may ask of its job.
type Options struct {
	// SurviveRankLoss says that the program goes on when a rank is lost:
	// its calls return errors in place of the job's end.
	SurviveRankLoss bool
	// Heard, if set, is called with all that concerns the process as a whole,
	// before the job acts on it. It must not wait for anything.
	Heard func(engine.Event)
}

// Job is this process's part of a job.
type Job struct {
	Engine *engine.Engine

	self        proto.Proc
	station     proto.Proc // its rank in the launcher's eyes, which for spares is another one
	layout      layout.Layout
	replacement *replacement  // nil unless this process takes a dead one's place
	output      *output       // of a replacement, to be, or nil
	spares      int           // how many processes the launcher has started beyond the job
	silence     time.Duration // after which their spare leader counts as gone: δ
	options     Options
	secret      []byte      // the job's
	address     string      // where this process is reached
	hosts       []int32     // of each process, nil if unknown
	program     int         // which of the job's, from 0; -1 if unknown
	survive     atomic.Bool // the program goes on when a rank is lost
	pmi         *pmi.Client
	control     *control.Conn
	media       mesh.Media
	mesh        *mesh.Transport // nil in a job of one
	silent      *neighbours     // nil in a job of one
	log         *slog.Logger
	calls       *check.Recorder      // nil unless the program is being checked
	reaped      []atomic.Uint32      // by Proc: of how many incarnations the launcher has told the death
	facts       *facts               // what a spare leader must know
	spareLeader *spares.Client       // nil without spares
	service     *spares.Service      // of a spare, to be a spare leader itself; nil elsewhere
	news        chan control.Message // from the spare leader
	lost        chan chan struct{}   // it has gone; closed when that has been carried out
	waiting     atomic.Bool          // this is a spare without a place
	joining     atomic.Bool          // it has one, and not all know it
	departed    atomic.Bool          // a spare was told that somebody has left in order
	leaving     atomic.Bool
	left        atomic.Bool   // Leave was called
	done        chan struct{} // closed by Leave: watch no longer
	watched     chan struct{} // closed when it doesn't
	exit        func(code int)
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
	j := &Job{options: o, log: logger(), done: make(chan struct{}), watched: make(chan struct{}), news: make(chan control.Message), lost: make(chan chan struct{}), exit: os.Exit}
	if err := j.join(); err != nil {
		switch {
		case j.replacement != nil && (j.control != nil || j.spareLeader != nil):
			j.healFailed(err) // the job goes on without it
		case j.pmi != nil:
			j.pmi.Abort(1, err.Error())
		}
		return nil, fmt.Errorf("joining the job: %w", err)
	}
	return j, nil
}

func (j *Job) join() (err error) {
	if j.pmi, err = pmi.FromEnv(); err != nil {
		return err
	}
	if j.control, err = control.FromEnv(); err != nil {
		return err
	}
	procs := 0
	if j.pmi != nil {
		j.self, procs = proto.Proc(j.pmi.Rank()), j.pmi.Size()
	}
	j.station = j.self
	if j.control == nil && procs > 1 {
		if j.spares, err = readSpares(procs); err != nil {
			return err
		}
		if _, j.silence, err = env.ReadHeartbeats(); err != nil {
			return err
		}
	}
	if j.layout, err = readLayout(procs - j.spares); err != nil {
		return err
	}
	if j.spares > 0 && !j.layout.Replicated() {
		return errNoReplicas
	}
	j.facts = newFacts(j.layout.Procs())
	j.reaped = make([]atomic.Uint32, j.layout.Procs())
	if j.replacement, err = readReplacement(j.layout.Procs()); err != nil {
		return err
	}
	if j.replacement != nil && (j.pmi == nil || j.control == nil) {
		return errNoLauncher
	}
	if j.output, err = readOutput(); err != nil {
		return err
	}
	if j.media, err = media(); err != nil {
		return err
	}
	if j.isSpare() {
		if err := j.wait(); err != nil {
			return err
		}
	}
	cfg, err := j.config()
	if err != nil {
		return err
	}
	if j.layout.Procs() == 1 {
		j.Engine = engine.New(cfg, inproc.NewNetwork(1).Endpoint(0))
	} else if err := j.connect(cfg); err != nil {
		return err
	}
	if j.options.SurviveRankLoss {
		j.Survive()
	}
	go j.watch()
	switch {
	case j.control != nil:
		go j.listen()
		if err := j.control.Send(control.Message{Type: control.Ready, Pid: os.Getpid()}); err != nil || j.replacement == nil {
			return err
		}
		if err := j.control.Send(control.Message{Type: control.Arrived}); err != nil {
			return err
		}
	case j.spareLeader != nil:
		go j.obey()
		if j.replacement == nil {
			return nil
		}
		j.spareLeader.Send(control.Message{Type: control.Arrived, Card: j.mesh.Card().String()})
	default:
		return nil
	}
	return j.Engine.AwaitLog()
}

// config is the engine's, from the environment.
func (j *Job) config() (engine.Config, error) {
	period, timeout, err := env.ReadHeartbeats()
	if err != nil {
		return engine.Config{}, err
	}
	strike, err := strikes()
	if err != nil {
		return engine.Config{}, err
	}
	mirror, err := mirrored()
	if err != nil {
		return engine.Config{}, err
	}
	cfg := engine.Config{
		Process: process.Config{
			Self: j.self, Layout: j.layout, Mirror: mirror,
			Period: proto.Time(period), Timeout: proto.Time(timeout), Witness: j.control != nil,
			Memory: buffersMemory(),
		},
		BeforeSend: strike, HealFailed: j.healFailed,
	}
	j.replacement.apply(&cfg.Process, j.spares > 0)
	if j.output != nil {
		cfg.Committed = j.output.connect
	}
	if j.spares > 0 {
		cfg.Outside = lookAtInput().unread
	}
	j.verify(&cfg.Process)
	if j.calls, cfg.Process.Perturb, err = check.FromEnv(j.self); j.calls != nil {
		cfg.Calls = j.calls
	}
	return cfg, errors.Join(err, record(&cfg.Process))
}
