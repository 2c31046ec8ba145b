// Package mpi lets Go programs pass messages between processes, and survive the death of processes
// and nodes. This is a whole program:
//
//	package main
//
//	import (
//		"fmt"
//
//		"banyan/mpi"
//	)
//
//	func main() {
//		mpi.Main(func(world *mpi.Comm) error {
//			sum := []int{world.Rank()}
//			if err := mpi.Allreduce(world, sum, sum, mpi.Sum); err != nil {
//				return err
//			}
//			fmt.Printf("rank %d of %d: the sum of all ranks is %d\n", world.Rank(), world.Size(), sum[0])
//			return nil
//		})
//	}
//
// "banyan run -n 4 ./program" starts it as four ranks, and each of them calls Main. Started alone
// it is a job of one rank. With "banyan run --replicas 2" every rank runs twice, and the program
// doesn't notice the death of one of the two. Local runs ranks as goroutines, for tests, and
// WithFaults lets them die there.
//
// # Data
//
// Buffers are slices of an Element type: numbers, bool, and arrays and structs of them. A receive
// takes one whole message. Its buffer may be larger than the message; the Status tells the length.
// A message that is received as another type is a TypeError. Collectives compare the sizes of what
// ranks give, and not its types.
//
// # Waiting
//
// Isend, Irecv and the collectives with an I (Iallreduce) return a Request at once. Requests of a
// Persistent communicator are prepared once and started often. RecvContext, Request.WaitContext and
// their like end a wait with a context, without harm to the communicator. Comm.ReportWaits names
// whom a long wait is for.
//
// # Failures
//
// An Error names the rank, the operation and the cause; errors.Is tells the causes apart. A rank is
// lost when its last replica has died. Calls that need it then return ErrProcFailed, and the job
// ends, unless the program has asked to go on by SurviveRankLoss and the job has no replicas or is
// in leader order: then it goes on with one replica of each rank. In such a program Bcast still
// reaches every live rank as long as its root lives. Other collectives of communicators with the
// lost rank return an error at every live member. Such a program can go on with the ranks that
// live: see Comm.Revoke, Comm.Agree and Comm.Shrink, and docs/guide/ulfm.md.
//
// A call that waits for a rank whose program has come to its end without sending what is waited
// for returns ErrFinished within some seconds. With replicas that may be because they have
// diverged, so it ends the job.
//
// # Replicated programs
//
// A rank's replicas must send the same messages in the same order: the program must be
// send-deterministic. Receiving from AnySource is fine as long as later messages don't depend on
// which message came first. Clocks, the ends of contexts, random numbers without a fixed seed, map
// iteration and several goroutines that send over one communicator are the usual traps. "banyan
// check" finds them. Programs that can't be so run with "--order leader": one replica of each rank
// decides what timing decides, what Comm.Wtime says too, and the others follow.
//
// With "--heal" a dead replica is replaced while the program runs, if the program has safe points:
// see Register and docs/guide/replication.md.
//
// # Other jobs
//
// Comm.Spawn starts processes while the program runs, and Comm.Accept and Comm.Connect join two
// groups, of two jobs, say. Both give a Connection, whose communicator has the ranks of both sides.
//
// # Limits
//
//   - banyan run starts processes on one machine, other launchers on several
//     (docs/guide/detector.md).
//   - A send can't be given up: with a deadline, use Isend and Request.WaitContext.
//   - With "--order leader" a receive that is cancelled ends the job if its message has come at
//     another replica already. RecvContext has no such limit.
//   - Two layouts of structs may have the same number in messages, by a chance of 1 in 16 million.
//     Then a message of the one isn't noticed to be received as the other.
//   - Messages that no receive has taken yet are kept without a bound.
package mpi

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"banyan/internal/job/join"
	"banyan/internal/mpi/comm"
	"banyan/internal/runtime/connection"
	"banyan/internal/runtime/process"
)

// Option is an option of Init and Main.
type Option func(*join.Options)

// SurviveRankLoss lets the program go on when a rank is lost, in jobs without replicas or in
// leader order. Its calls return errors, which it must handle.
func SurviveRankLoss() Option {
	return func(o *join.Options) { o.SurviveRankLoss = true }
}

// Process is this process as a member of its job.
type Process struct {
	job   *join.Job
	world *Comm
}

// Init makes this process part of its job. Most programs use Main instead.
func Init(options ...Option) (*Process, error) {
	o := join.Options{TypeName: names.nameOf}
	for _, set := range options {
		set(&o)
	}
	j, err := join.Join(o)
	if err != nil {
		return nil, fmt.Errorf("mpi: Init: %w", err)
	}
	w, err := comm.World(j.Engine)
	if err != nil {
		return nil, fmt.Errorf("mpi: Init: %w", err)
	}
	world := &Comm{c: w, own: &own{abort: j.Abort, job: j}}
	if at := j.Parent(); at != "" {
		world.own.parent, err = world.connect("Init", 0, false, func(*join.Job) (connection.Line, error) { return j.CallAt(at, 0) })
		if err != nil {
			return nil, fmt.Errorf("mpi: %w", err)
		}
	}
	return &Process{j, world}, nil
}

// World is the communicator of all ranks.
func (p *Process) World() *Comm { return p.world }

// Finalize waits until every live rank has called it, and leaves the job. Operations that follow
// return ErrClosed. A second call does nothing, so Finalize may be deferred as well.
func (p *Process) Finalize() error { return p.job.Leave() }

// Main runs a program: Init, run, Finalize. It never returns. The process exits with 0, or, if run
// returned an error, with 1 and a message. An error ends this replica of the rank; it ends the job
// unless other replicas of the rank go on.
func Main(run func(world *Comm) error, options ...Option) {
	program := filepath.Base(os.Args[0])
	complain := func(err error) { fmt.Fprintf(os.Stderr, "%s: %v\n", program, err) }
	fail := func(err error) {
		complain(err)
		os.Exit(1)
	}
	if n, err := join.LocalRanks(); err != nil {
		fail(err)
	} else if n > 0 {
		if err := Local(n, run); err != nil {
			fail(err)
		}
		os.Exit(0)
	}
	p, err := Init(options...)
	if err != nil {
		fail(err)
	}
	if err := run(p.World()); err != nil {
		var e *Error
		if !errors.As(err, &e) {
			err = fmt.Errorf("rank %d: %w", p.World().Rank(), err)
		}
		if call := process.CallError(nil); errors.As(err, &call) && call.EndsJob() {
			p.job.Abort(1, err.Error()) // the replicas may have diverged: none may go on
		}
		complain(err)
		if errors.Is(err, ErrProcFailed) {
			p.job.AwaitEnd(err)
		}
		os.Exit(1)
	}
	if err := p.Finalize(); err != nil {
		fail(err)
	}
	os.Exit(0)
}
