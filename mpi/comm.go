package mpi

import (
	"fmt"
	"runtime"

	"banyan/internal/job/join"
	"banyan/internal/mpi/comm"
	"banyan/internal/runtime/process"
)

// Wildcards of receives and probes, and the colour of ranks that Split leaves out.
const (
	AnySource = comm.AnySource
	AnyTag    = comm.AnyTag
	Undefined = comm.Undefined
	// ProcNull is no rank: what is sent to it goes nowhere, and a receive from it returns at once,
	// with nothing. It stands for neighbours beyond the edge of a Grid.
	ProcNull = comm.NoPeer
)

// Error says which operation of which rank failed, with which other rank, and why.
type Error = comm.Error

// Causes of an Error, for errors.Is.
var (
	ErrProcFailed = process.ErrRankLost  // a rank that is needed has died for good
	ErrRevoked    = process.ErrRevoked   // the communicator has been revoked
	ErrFinished   = process.ErrFinished  // a wait for a rank whose program has come to its end
	ErrTruncated  = process.ErrTruncated // a message is larger than its receive buffer
	ErrCancelled  = process.ErrCancelled // the request has been cancelled
	ErrMismatch   = comm.ErrMismatch     // ranks disagree about the size of a collective
	ErrRank       = comm.ErrRank         // no such rank
	ErrTag        = comm.ErrTag          // a bad tag
	ErrSize       = comm.ErrSize         // buffers of one call don't fit together
	ErrClosed     = process.ErrClosed    // this process has called Finalize
	ErrFreed      = process.ErrFreed     // the communicator has been freed
	ErrFenced     = process.ErrFenced    // the job holds this process for dead
	ErrTopology   = comm.ErrTopology     // the communicator has no topology, or not that one
)

// Comm is a communicator: an ordered group of ranks whose messages no other communicator sees.
// Several goroutines may call its methods, but only one may be in a collective of a communicator
// at a time.
type Comm struct {
	c     *comm.Comm
	own   *own
	topo  *topology // nil: none
	keeps bool      // see Persistent
}

// own is what the communicators of a process have in common.
type own struct {
	abort  func(code int, why string)
	killed func() bool // by a fault plan of Local; nil: it can't be
	job    *join.Job   // nil in Local
	parent *Connection // nil: nobody has spawned this job
}

// with is a communicator of the same process.
func (c *Comm) with(d *comm.Comm) *Comm { return &Comm{c: d, own: c.own} }

// outcome is an error as the program gets it. In a process that a fault plan of Local has killed it
// ends the goroutine: a process that is killed returns from no call.
func (c *Comm) outcome(err error) error {
	if err != nil && c.own.killed != nil && c.own.killed() {
		runtime.Goexit()
	}
	return err
}

// Rank is this process's rank in the communicator, from 0 on.
func (c *Comm) Rank() int { return c.c.Rank() }

// Size is the number of ranks in the communicator.
func (c *Comm) Size() int { return c.c.Size() }

// Dup makes a communicator of the same ranks. All must call it.
func (c *Comm) Dup() (*Comm, error) {
	d, err := c.c.Dup()
	if err != nil {
		return nil, c.outcome(err)
	}
	return c.with(d), nil
}

// Split makes a communicator of the ranks that give the same colour, ordered by key and then by
// rank. All must call it. A rank that gives Undefined gets nil.
func (c *Comm) Split(colour, key int) (*Comm, error) {
	if colour < Undefined {
		return nil, &Error{Op: "Split", Rank: c.Rank(), Peer: comm.NoPeer,
			Err: fmt.Errorf("colour %d is negative and not Undefined", colour)}
	}
	d, err := c.c.Split(colour, key)
	if err != nil || d == nil {
		return nil, c.outcome(err)
	}
	return c.with(d), nil
}

// Free gives the communicator up. All must call it, each when it has no operation under way in it.
// It doesn't wait for the other ranks.
func (c *Comm) Free() error { return c.outcome(c.c.Free()) }

// Abort ends the whole job with an exit code. It doesn't return.
func (c *Comm) Abort(code int, reason error) {
	why := fmt.Sprintf("rank %d called Abort(%d)", c.Rank(), code)
	if reason != nil {
		why += ": " + reason.Error()
	}
	c.own.abort(code, why)
}
