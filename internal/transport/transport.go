// Package transport is what a process needs from a network: frames to and from
// the other Procs of its job, in order, without ever waiting for one of them.
//
// Implementations are in the packages below: inproc (goroutines of one
// operating-system process), tcp. All pass the one conformance suite in
// transporttest.
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
// Wake, which may run beside any other.
package transport

import (
	"time"

	"banyan/internal/proto"
	"banyan/internal/wire"
)

// Transport connects one Proc to the others of its job.
type Transport interface {
	// Send queues a frame for a peer; h.Length is set by Send. The payload
	// (at most wire.MaxPayload bytes) may be reused when Send returns if
	// token is 0: what couldn't leave was copied. With a token the payload
	// stays borrowed until Sink.Sent(to, token), or, when the peer is gone,
	// Sink.Closed. Frames to a peer that is gone or fenced vanish (a
	// borrowed payload is still given back by Sent).
	Send(to proto.Proc, h *wire.Header, payload []byte, token uint64)

	// Queued is how many bytes wait for a peer.
	Queued(to proto.Proc) int

	// Poll moves what can be moved without waiting, hands what has arrived
	// to sink, and returns how many frames came or went.
	Poll(sink Sink) int

	// Wait blocks the calling thread until Poll has something to do, Wake
	// was called, or the time is up (negative: no limit). It may return
	// early.
	Wait(limit time.Duration)

	// Wake ends a Wait that runs now, or else the next one.
	Wake()

	// Fence cuts a peer off for good: its frames, old and new, are dropped
	// and its connections refused with the reason obituary.
	Fence(p proto.Proc)

	// Drain waits at most limit for the queued frames to leave the process.
	Drain(limit time.Duration)

	// Close releases everything. Queued frames are lost.
	Close() error
}

// Sink takes what a Poll found. Its methods may call Send.
type Sink interface {
	// Frame brings a frame whose payload is at most DirectSize bytes, valid until the
	// return.
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

	// Closed says that nothing more comes from a peer, once per peer.
	// If an Arrived is outstanding, it never comes.
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
	// EvidenceExited: the kernel says that the process has ended (pidfd, or
	// with inproc its Close).
	EvidenceExited
	// EvidenceObituary: the peer holds this process for dead and has fenced it.
	EvidenceObituary
)
