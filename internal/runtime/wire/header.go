package wire

import "banyan/internal/proto"

// Kind says what a frame is, and so which machine it belongs to.
type Kind uint8

// Kinds of frames. The comment names the header fields in use beyond Kind and
// Length; the others are zero.
const (
	KindInvalid Kind = iota

	// Messages between ranks (internal/proto/replica, then match).

	// KindEager carries a whole message of Total bytes, then, in replicated
	// jobs, its stamp (internal/proto/causal). Context, Src, Dst, Tag, Total;
	// with replicas Seq.
	KindEager
	// KindOffer announces a message too large to send unasked, or whose sender
	// waits for it to be matched (the request to send of a rendezvous); the payload
	// is its stamp, if any. Context, Src,
	// Dst, Tag, Seq, Total, ID (the sender's handle of the message), Offset
	// (where the receiver may read the data, if the transport lets it; 0: nowhere).
	KindOffer
	// KindPull asks for the data of an offer (clear to send). ID (the
	// sender's handle), Offset (the receiver's handle), Total (how many bytes,
	// from the first), Flags (1: no data).
	KindPull
	// KindData carries a fragment of an offered message. ID (the receiver's
	// handle), Offset, Total (as pulled); Flags (1: none comes, rank Aux being lost).
	KindData
	// KindAck acknowledges messages to another replica of their sender. The
	// payload is a list of Ack records.
	KindAck
	// KindReceived tells another replica of the sender's rank how much its program has
	// received. Total (bytes, with some for each message; all ones: it is through).
	KindReceived

	// Broadcasts (internal/proto/broadcast). Src is the sender's and Dst the
	// receiver's index in the communicator, Aux the root's.

	// KindTree carries a broadcast along the tree. Context, Seq, Aux, Total,
	// Offset (the newest number that all live members have completed).
	KindTree
	// KindCorrection carries a broadcast along the ring. Same fields.
	KindCorrection
	// KindCorrectionOffer is a correction without its payload. Same fields.
	KindCorrectionOffer
	// KindBroadcastPull asks a holder for a broadcast's payload. Same fields;
	// its own payload is a digest of the members known to be gone.
	KindBroadcastPull
	// KindBroadcastMissing answers a pull: the payload isn't here, and the
	// root and just those in the digest are gone. Same fields and payload.
	KindBroadcastMissing
	// KindBroadcastReport asks whether its receiver has completed all
	// broadcasts of the context up to Seq, or answers that. Same fields.
	KindBroadcastReport

	// Failure detection (internal/proto/detector).

	// Seq is the sender's view and Aux its incarnation, both of 32 bits.

	// KindHeartbeat tells the observer that the sender lives. Context is the
	// hash and Total the number of those it knows to be gone.
	KindHeartbeat
	// KindObserve tells a process that the sender now observes it.
	KindObserve
	// KindNews is a copy of a broadcast of deaths. Src is its source (a Proc),
	// Tag the tree, Flags the cube. The payload is a list of Gone records, sorted
	// by position on the view's ring.
	KindNews
	// KindReconcile tells all deaths known to the sender. Flags (1: answer in
	// kind). Same payload.
	KindReconcile
	// KindEviction tells its receiver that the job counts its incarnations up
	// to Aux among the dead.
	KindEviction

	// Membership (internal/proto/membership).

	// KindMembership carries one of its messages (internal/runtime/wire/views).
	KindMembership

	// Healing: a process takes the place of a dead replica (internal/runtime/process/healing.go).

	// KindNote carries a note of it (internal/proto/replica). Flags (which), Src (the
	// place, a Proc), Aux (the replacement's incarnation), Context (what the sender covers).
	KindNote
	// KindLog carries the next bytes of a donor's log. Offset.
	KindLog
	// KindReady tells the donor that the replacement has come to its first safe point.
	KindReady
	// KindState carries the next bytes of a donor's state. Offset.
	KindState
	// KindHealed tells the donor that everybody knows the replacement.
	KindHealed

	// Leaving (internal/proto/shutdown).

	// KindDone says that the sender has finished and been flushed.
	KindDone
	// KindAllDone says that every live process has finished.
	KindAllDone
	// KindGoodbye is the last frame of a process that leaves in order.
	KindGoodbye
	// KindAbort ends the job. Tag is the exit code.
	KindAbort

	kindEnd
)

// HeaderSize is the length of an encoded Header in bytes: one cache line.
const HeaderSize = 64

// MaxPayload bounds the payload of one frame in bytes. Larger messages travel
// as fragments, so that no frame holds up the others for long.
const MaxPayload = 1 << 20

// Header precedes every payload between two Procs of a job. Its fields mean
// what the Kind says; unused ones are zero.
type Header struct {
	Kind    Kind
	Flags   uint8
	Length  uint32     // payload bytes that follow
	Context uint64     // communicator context
	Seq     uint64     // number within the channel or the broadcast stream
	Src     proto.Rank // world rank of the sender, unless the Kind says else
	Dst     proto.Rank // world rank of the receiver, unless the Kind says else
	Tag     int32
	Aux     int32
	Total   uint64 // bytes of the whole message
	Offset  uint64 // of this fragment within the message, bytes
	ID      uint64 // handle of a rendezvous
}

// Ack is one record in the payload of KindAck, AckSize bytes. It travels from a
// replica of rank Dst (the frame's header says which) to a replica of rank Src.
type Ack struct {
	Context uint64
	// Seq acknowledges every eager message of the channel up to and including
	// it, or, where Single, the rendezvous message with just this number.
	Seq    uint64
	Single bool
	// Verified says that Digest is that of what is acknowledged (internal/proto/verify);
	// else it is 0.
	Verified bool
	Digest   uint32
}

// AckSize is the length of an encoded Ack in bytes.
const AckSize = 24

// Gone is one record in the payload of KindNews and KindReconcile, GoneSize bytes: a
// process that is gone in its incarnations up to one.
type Gone struct {
	Proc        proto.Proc
	Incarnation proto.Incarnation
	Left        bool // in order; else it died
}

// GoneSize is the length of an encoded Gone in bytes.
const GoneSize = 8
