// Package transport is what a process needs from a network: it sends frames to the other Procs of
// its job and receives theirs, in order, and never waits for one of them.
//
// Implementations are in the packages below: inproc (goroutines of one operating-system process)
// and mesh (processes; its media are the packages shm and tcp). All pass the same conformance
// suite in transporttest, mesh with each medium, and share package stream, which turns frames
// into bytes.
//
// # Invariants
//
//   - Frames of one ordered pair arrive in order, each at most once, whole.
//   - Send never blocks. A frame that can't leave at once waits in its peer's own queue, so a
//     slow or stopped peer doesn't delay the others.
//   - Frames arrive only inside Poll, on the goroutine that called it.
//   - Sink.Closed reports a peer's end once, after its last whole frame.
//   - Only Procs of the same job can send a frame.
//
// # Concurrency
//
// The owner serialises all calls (the progress engine's lock), except Wait and
// Wake, which may run beside any other. One goroutine at a time is in Wait.
//
// # Limits
//
// A connection that broke isn't made again: which frames were in flight is unknown, so the peer
// is reported Closed and stays so, until another process replaces it (Admitter). Queues are
// unbounded: a caller that sends faster than a peer receives has to look at Queued.
package transport

import (
	"fmt"
	"time"

	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
)

// Transport connects one Proc to the others of its job.
type Transport interface {
	// Send queues a frame for another Proc of the job. It sets h.Length, and panics if
	// wire.Header.Check refuses the header. If token is 0, the payload (at most wire.MaxPayload
	// bytes) may be reused when Send returns: what couldn't leave was copied. With a token the
	// payload stays borrowed until Sink.Sent(to, token), which a later Poll calls once, whatever
	// becomes of the peer. Frames to a peer that is gone or fenced vanish.
	Send(to proto.Proc, h *wire.Header, payload []byte, token uint64)

	// Queued is how many bytes wait for a peer.
	Queued(to proto.Proc) int

	// Poll moves what can be moved without waiting, and hands what has arrived to sink. It
	// returns how many frames came, payloads were given back and queues moved: 0 means that
	// nothing happened.
	Poll(sink Sink) int

	// Wait blocks the calling thread until Poll has something to do, Wake was called, or the time
	// is up (negative: no limit). It may return early.
	Wait(limit time.Duration)

	// Wake ends a Wait that runs now, or else the next one. After Close it
	// does nothing.
	Wake()

	// Fence cuts a peer off for good: its frames, old and new, are dropped, and it is told why as
	// soon as it asks (EvidenceEviction there). After the return the destination that Sink.Dest
	// gave for its payload isn't written any more, and only two things are reported about the
	// peer: payloads that it had borrowed (Sent), and Closed with EvidenceEviction if it has
	// fenced this process in turn.
	Fence(p proto.Proc)

	// Drain waits at most limit until queued frames have left the process and would survive its
	// end. It receives nothing meanwhile: two processes that drain towards each other with full
	// queues wait in vain, so poll until Queued is 0 first.
	Drain(limit time.Duration)

	// Close releases all resources. Queued frames and borrowed payloads are lost. A Wait that
	// runs ends. Only Wake and Close may follow.
	Close() error
}

// DirectReader is an optional part of a Transport: it lets a Proc read the memory of another one,
// where the system allows it, so that large data is copied just once. The two have to agree on
// what to read, and when it may change again.
type DirectReader interface {
	// Expose returns a handle by which other Procs can Read data in this process's memory, as
	// long as it exists; 0 if they can't.
	Expose(data []byte) uint64

	// Revoke makes every Read of data that was exposed so far fail, now and in future. The owner
	// calls it before such data may change.
	Revoke()

	// Attend announces whether this process waits, and polls meanwhile, so that it answers
	// others at once.
	Attend(on bool)

	// Answers says whether another Proc, whose data this one could Read, attends: then it had
	// better be asked for the data.
	Answers(p proto.Proc) bool

	// Read copies data that another Proc has exposed, from an offset on, to dst, and says whether
	// it did. If not, the data has to come another way.
	Read(from proto.Proc, dst []byte, exposed, offset uint64) bool
}

// Admitter is an optional part of a Transport: it lets another process replace a Proc that has
// died.
type Admitter interface {
	// Admit lets a replacement in, under a higher incarnation than any before. The link to the
	// former process ends, as by Fence. After the return, Send and Sink mean the replacement
	// only; a link to it is made at the first frame in either direction. If the former process
	// lives, it gets an eviction notice. An incarnation that isn't higher changes nothing.
	Admit(p proto.Proc, incarnation proto.Incarnation)
}

// Preserver is an optional part of a Transport: a process keeps records for a peer, which that one
// finds whatever becomes of the process.
type Preserver interface {
	// Keep keeps a record for a peer. Numbers rise. It returns false if it can't: the peer
	// shares no memory with this process, nothing has come from it yet, it has read the last
	// time, or there is no room.
	Keep(to proto.Proc, number uint64, record []byte) bool

	// Release makes room: the peer needs no records up to this number.
	Release(to proto.Proc, number uint64)

	// Kept visits the records that a peer has kept for this process, in their order. If it is the
	// last time, no Keep there returns true from now on, and no record that Keep has returned true
	// for is missed. It has to be called before the peer is fenced.
	Kept(from proto.Proc, last bool, visit func(number uint64, record []byte))
}

// Sink takes what a Poll has found. Its methods may call Send, Queued, Fence and Wake, but
// neither Poll nor Close.
type Sink interface {
	// Frame brings a frame whose payload is at most DirectSize bytes. Header
	// and payload are valid until the return.
	Frame(from proto.Proc, h *wire.Header, payload []byte)

	// Dest brings the header of a frame with a larger payload, and asks where to put the payload:
	// it returns h.Length bytes that stay untouched until Arrived, or nil to drop the payload.
	Dest(from proto.Proc, h *wire.Header) []byte

	// Arrived follows Dest when the payload is complete at the destination that Dest returned
	// (even if that was nil).
	Arrived(from proto.Proc, h *wire.Header)

	// Sent gives a borrowed payload back.
	Sent(to proto.Proc, token uint64)

	// Closed says that nothing more comes from a peer, after all that was borrowed for it was
	// given back. It is called once per peer and incarnation, except that an eviction notice may
	// follow. If an Arrived is outstanding, it never comes, and the destination that Dest
	// returned is free.
	Closed(peer proto.Proc, why Evidence)
}

// Nudger is an optional part of a Transport: it wakes a peer that sleeps, without a frame.
type Nudger interface {
	// Nudge ends the Wait that runs at a peer, or else the next one. Poll counts it there as
	// something that has happened. It returns false, and has done nothing, if only a frame
	// reaches the peer now.
	Nudge(to proto.Proc) bool
}

// DirectSize is the payload size in bytes up to which Sink.Frame is used. A larger payload is
// read straight to the destination that Sink.Dest returns.
const DirectSize = 4096

// Evidence is what a transport knows of the end of a peer.
type Evidence uint8

// Kinds of evidence, from weak to certain.
const (
	// EvidenceLost: the connection broke, or can't be made, but nothing proves a death.
	EvidenceLost Evidence = iota
	// EvidenceExited: the kernel of both says that the process has ended (pidfd; with inproc its
	// Close).
	EvidenceExited
	// EvidenceEviction: the peer takes this process for dead and has fenced it.
	EvidenceEviction
)

func (e Evidence) String() string {
	switch e {
	case EvidenceLost:
		return "lost"
	case EvidenceExited:
		return "exited"
	case EvidenceEviction:
		return "eviction notice"
	}
	return fmt.Sprintf("evidence %d", uint8(e))
}
