// Package transport is what a process needs from a network: frames to and from
// the other Procs of its job, in order, without ever waiting for one of them.
//
// Implementations are in the packages below: inproc (goroutines of one
// operating-system process) and mesh (processes; its media are the packages shm and
// tcp). All pass the one conformance suite in transporttest, mesh by each medium, and
// share package stream, which turns frames into bytes.
//
// # Invariants
//
//   - Frames of one ordered pair arrive in order, each at most once, whole.
//   - Send never blocks. What can't leave at once waits in a queue of its own
//     peer, so one slow or stopped peer holds up nobody else.
//   - Nothing arrives but inside Poll, on the goroutine that called it.
//   - A peer's end is told once, by Sink.Closed, after its last whole frame.
//   - Nobody but a Proc of the same job ever gets to send a frame.
//
// # Concurrency
//
// The owner serialises all calls (the progress engine's lock), except Wait and
// Wake, which may run beside any other. One goroutine at a time is in Wait.
//
// # Limits
//
// A connection that broke isn't made again: what was in flight is unknown, so
// the peer is told Closed and stays so, until another process takes its place (Admitter). Queues are unbounded: who sends faster
// than a peer takes looks at Queued.
package transport

import (
	"fmt"
	"time"

	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
)

// Transport connects one Proc to the others of its job.
type Transport interface {
	// Send queues a frame for another Proc of the job; h.Length is set by
	// Send, and a header that wire.Header.Check refuses makes it panic. The
	// payload (at most wire.MaxPayload bytes) may be reused when Send returns
	// if token is 0: what couldn't leave was copied. With a token the payload
	// stays borrowed until Sink.Sent(to, token), which a later Poll calls
	// once, whatever becomes of the peer. Frames to a peer that is gone or
	// fenced vanish.
	Send(to proto.Proc, h *wire.Header, payload []byte, token uint64)

	// Queued is how many bytes wait for a peer.
	Queued(to proto.Proc) int

	// Poll moves what can be moved without waiting, hands what has arrived
	// to sink, and returns how many frames came, payloads were given back and
	// queues moved: 0 means that nothing happened.
	Poll(sink Sink) int

	// Wait blocks the calling thread until Poll has something to do, Wake
	// was called, or the time is up (negative: no limit). It may return
	// early.
	Wait(limit time.Duration)

	// Wake ends a Wait that runs now, or else the next one. After Close it
	// does nothing.
	Wake()

	// Fence cuts a peer off for good: its frames, old and new, are dropped,
	// and it is told why as soon as it asks (EvidenceEviction there). From
	// the return on, the place that Sink.Dest gave for its payload is left
	// alone, and nothing more is told of it but what was borrowed (Sent), and
	// Closed with EvidenceEviction should it have fenced this process in turn.
	Fence(p proto.Proc)

	// Drain waits at most limit until what is queued has left the process and
	// would survive its end. It receives nothing meanwhile: two processes
	// that drain towards each other with full queues wait in vain, so poll
	// until Queued is 0 first.
	Drain(limit time.Duration)

	// Close releases everything. Queued frames and borrowed payloads are
	// lost. A Wait that runs ends. Only Wake and Close may follow.
	Close() error
}

// DirectReader is what a Transport may be, too: one that lets a Proc read the memory of
// another, where the system allows it, so that large data is copied just once.
// Both sides are there to agree on what to read, and when it may change again.
type DirectReader interface {
	// Expose names a place in this process's memory for other Procs to Read,
	// as long as it lasts; 0 if they can't.
	Expose(data []byte) uint64

	// Revoke makes every Read fail, now and in future, of what has been
	// exposed so far. It is called before such data may change.
	Revoke()

	// Read copies what another Proc has exposed at a place, from an offset on, to
	// dst, and says whether it did. If not, the data has to come another way.
	Read(from proto.Proc, dst []byte, place, offset uint64) bool
}

// Admitter is what a Transport may be, too: one where another process can take the place of
// a Proc that has died.
type Admitter interface {
	// Admit lets it in, under a higher incarnation than any before. What is left of
	// the link to the former one vanishes, as by Fence; from the return on, Send and
	// Sink mean the new one only, to which a link is made at the first frame, in
	// either direction. The former one, should it live, gets an eviction notice. An
	// incarnation that isn't higher changes nothing.
	Admit(p proto.Proc, incarnation proto.Incarnation)
}

// Sink takes what a Poll found. Its methods may call Send, Queued, Fence and
// Wake, but neither Poll nor Close.
type Sink interface {
	// Frame brings a frame whose payload is at most DirectSize bytes. Header
	// and payload are valid until the return.
	Frame(from proto.Proc, h *wire.Header, payload []byte)

	// Dest brings the header of a frame with a larger payload and asks where
	// to put it: h.Length bytes that stay untouched until Arrived, or nil to
	// have the payload dropped.
	Dest(from proto.Proc, h *wire.Header) []byte

	// Arrived follows Dest when the payload is complete in the place that
	// Dest named (also if that was nil).
	Arrived(from proto.Proc, h *wire.Header)

	// Sent gives a borrowed payload back.
	Sent(to proto.Proc, token uint64)

	// Closed says that nothing more comes from a peer, once per peer and incarnation
	// (but for an eviction notice, which may follow), after
	// all that was borrowed for it was given back. If an Arrived is
	// outstanding, it never comes, and the place that Dest named is free.
	Closed(peer proto.Proc, why Evidence)
}

// DirectSize is the payload size in bytes up to which Sink.Frame is used; above
// it the payload is read straight to its place, asked by Sink.Dest.
const DirectSize = 4096

// Evidence is what a transport knows about the end of a peer.
type Evidence uint8

// Kinds of evidence, from weak to certain.
const (
	// EvidenceLost: the connection broke, or can't be made, but nothing proves a death.
	EvidenceLost Evidence = iota
	// EvidenceExited: the kernel says that the process has ended (pidfd, or a
	// port where nobody listens any more; with inproc its Close).
	EvidenceExited
	// EvidenceEviction: the peer holds this process for dead and has fenced it.
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
