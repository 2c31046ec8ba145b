// Package mpi lets Go programs pass messages, and outlive the death of
// processes and nodes while they do.
//
// A program is started by "banyan run -n 4 ./program" as four ranks, and each
// calls Main:
//
//	func main() {
//		mpi.Main(func(world *mpi.Comm) error {
//			sum := []int{world.Rank()}
//			if err := mpi.Allreduce(world, sum, sum, mpi.Sum); err != nil {
//				return err
//			}
//			fmt.Println("the sum of all ranks is", sum[0])
//			return nil
//		})
//	}
//
// Started alone it is a job of one rank. With "banyan run --replicas 2" every
// rank runs twice, and the death of one of the two changes nothing the program
// could see. Local runs ranks as goroutines, for tests.
//
// # Data
//
// Buffers are slices of an Element type: numbers and bool. Whole messages are
// the unit: a receive buffer may be larger than the message, and the Status
// tells how much came.
//
// # Failures
//
// Errors name the rank, the operation and the cause (Error); errors.Is tells the
// causes apart. When a rank is lost (its last replica died), calls that need it
// return ErrRankLost, and the job ends, unless the program asked to go on by
// SurviveRankLoss. Then Bcast still reaches every live rank as long as its root
// lives; other collectives of communicators with the lost rank return an error
// at every live member.
//
// # Replicated programs
//
// A rank's replicas must send the same messages in the same order: the program
// must be send-deterministic. Receiving from AnySource is fine as long as what
// is sent later doesn't depend on who came first. Clocks, random numbers
// without a fixed seed, map iteration and several goroutines that send over one
// communicator are the usual traps.
//
// With "--heal" a replica that has died is replaced while the program runs, if that has
// safe points: see Register and docs/guide/replication.md.
//
// # Limits
//
// banyan run starts processes on one machine, other launchers on several (see
// docs/guide/detector.md); no element types but numbers and bool; no non-blocking
// collectives. Messages that nobody has received
// yet are kept without a bound.
package mpi

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"banyan/internal/job/join"
	"banyan/internal/mpi/comm"
)

// Option asks for something at Init or Main.
type Option func(*join.Options)

// SurviveRankLoss lets the program go on when a rank is lost. Its calls return
// errors, which it must handle.
func SurviveRankLoss() Option {
	return func(o *join.Options) { o.SurviveRankLoss = true }
}

// Process is this process's part in the job.
type Process struct {
	job   *join.Job
	world *Comm
}

// Init makes this process part of its job. Most programs use Main instead.
func Init(options ...Option) (*Process, error) {
	var o join.Options
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
	return &Process{j, &Comm{w, j.Abort}}, nil
}

// World is the communicator of all ranks.
func (p *Process) World() *Comm { return p.world }

// Finalize waits until every live rank has come here, and leaves the job. No
// operation may follow: those that do return ErrClosed. To finalise again
// changes nothing, so that it may be deferred as well.
func (p *Process) Finalize() error { return p.job.Leave() }

// Main runs a program: Init, run, Finalize. It never returns: the process exits
// with 0, or with 1 and a message if run returned an error. An error is this
// rank's end, so the job ends with it unless other replicas of the rank go on.
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
		complain(err)
		if errors.Is(err, ErrRankLost) {
			p.job.AwaitEnd()
		}
		os.Exit(1)
	}
	if err := p.Finalize(); err != nil {
		fail(err)
	}
	os.Exit(0)
}
