// Package proto is the vocabulary that every protocol machine shares, and the
// contract between a machine and its driver.
//
// # The contract
//
// A protocol is a pure state machine. It does no I/O, reads no clock, starts no
// goroutine, takes no lock, logs nothing, iterates over no map where the order
// could be seen from outside, and draws randomness only from a seeded source it
// was given. A driver below it owns time and the network:
//
//   - internal/study/driver/logp drives machines in simulated LogP time,
//   - internal/runtime/engine drives the same machines in a real process,
//   - tests drive them through scripted, exhaustive or random schedules.
//
// A driver obeys five rules:
//
//  1. It calls a machine from one goroutine at a time.
//  2. It passes the current time, which never runs backwards, as an argument.
//     The unit is the driver's: nanoseconds for real, LogP steps simulated.
//  3. It carries out the actions that a call appended to the caller-owned
//     output in their order, and before the next call to the same machine. A
//     process that crashes has carried out a prefix of them.
//  4. Where a machine is paced, the driver asks for one more message with
//     SendReady when the process could send, and hands over what has been
//     received first; a machine never bursts.
//  5. It delivers the messages of one ordered pair of processes in the order
//     in which they were sent, each at most once.
//
// Packages below proto never import each other: package internal/runtime/process connects them
// by routing.
package proto

import "fmt"

// Proc is a physical process: an operating-system process (or, with the inproc
// transport, a goroutine) numbered 0…N-1 within its job. The detector, the
// membership and the transports speak of Procs.
type Proc int32

// Rank is a logical MPI process, numbered 0…n-1 in the world. Collectives,
// matching and the program speak of Ranks. With replication several Procs are
// one Rank; only package layout maps one to the other.
type Rank int32

// Incarnation numbers the processes that have had one Proc, in their order: the first one is 0,
// its replacement 1, and so on. In a group, where a member may come back under its name, it is the
// number of the view that let the member in.
type Incarnation uint32

// Time is an instant or a span in the unit of the driver: nanoseconds for real,
// LogP steps simulated.
type Time int64

const (
	// NoProc is the Proc that doesn't exist.
	NoProc Proc = -1
	// AnyRank matches every source in a receive (MPI_ANY_SOURCE).
	AnyRank Rank = -1
	// AnyTag matches every tag in a receive (MPI_ANY_TAG).
	AnyTag int32 = -1
	// Never is the deadline of a machine that waits for no point in time.
	Never Time = 1<<63 - 1
)

func (p Proc) String() string { return fmt.Sprintf("process %d", int32(p)) }
func (r Rank) String() string { return fmt.Sprintf("rank %d", int32(r)) }
