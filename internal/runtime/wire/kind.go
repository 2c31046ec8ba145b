package wire

import "fmt"

// Kind says what a frame is, and so which machine it belongs to.
type Kind uint8

// Kinds of frames.
const (
	KindInvalid Kind = iota

	// Messages between ranks (internal/proto/replica, then internal/proto/match).

	// KindEager carries a whole message of Total bytes, then, in replicated jobs, its
	// stamp (internal/proto/causal). It uses Context, Src, Dst, Tag, Aux and Total; in
	// replicated jobs Seq, else Header.Completed.
	KindEager
	// KindOffer announces a message that is too large to send unasked, or whose sender
	// waits until it is matched (the request to send of a rendezvous). The payload is its
	// stamp, if there is one. It uses Context, Src, Dst, Tag, Aux, Seq and Total; see Offer.
	KindOffer
	// KindPull asks for the data of an offer (clear to send); see Pull.
	KindPull
	// KindData carries a fragment of an offered message; see Fragment.
	KindData
	// KindAck acknowledges messages to another replica of their sender. The payload is a
	// list of Ack records.
	KindAck
	// KindReceived tells another replica of the sender's rank how much its program has
	// received; see Received.
	KindReceived

	// Broadcasts (internal/proto/broadcast); see Broadcast.

	// KindTree carries a broadcast along the tree.
	KindTree
	// KindCorrection carries a broadcast along the ring.
	KindCorrection
	// KindCorrectionOffer is a correction without its payload.
	KindCorrectionOffer
	// KindBroadcastPull asks a holder for a broadcast's payload. Its own payload is a
	// digest of the members that are known to be gone.
	KindBroadcastPull
	// KindBroadcastMissing answers a pull: the payload isn't here, and the root and
	// exactly those in the digest are gone.
	KindBroadcastMissing
	// KindBroadcastReport asks whether its receiver has completed all broadcasts of the
	// context up to a number, or answers that.
	KindBroadcastReport

	// Failure detection (internal/proto/detector).

	// KindHeartbeat tells the observer that the sender lives; see Heartbeat.
	KindHeartbeat
	// KindObserve tells a process that the sender now observes it; see Observe.
	KindObserve
	// KindNews is a copy of a broadcast of deaths; see News. The payload is a list of Gone
	// records, sorted by position on the view's ring.
	KindNews
	// KindReconcile tells all deaths that the sender knows of; see Reconcile. The payload
	// is as of KindNews.
	KindReconcile
	// KindEviction tells its receiver that the job counts it among the dead; see Eviction.
	KindEviction

	// Membership (internal/proto/membership).

	// KindMembership carries one of its messages (internal/runtime/wire/views).
	KindMembership

	// Healing: a replacement joins (internal/runtime/process/healing.go).

	// KindNote carries a note of internal/proto/replica; see Note.
	KindNote
	// KindLog carries the next bytes of a donor's log; see Piece.
	KindLog
	// KindReady tells the donor that the replacement has come to its first safe point.
	KindReady
	// KindState carries the next bytes of a donor's state; see Piece.
	KindState
	// KindHealed tells the donor that all processes know the replacement.
	KindHealed

	// Leaving (internal/proto/shutdown).

	// KindDone says that the sender has finished and is flushed.
	KindDone
	// KindAllDone says that every live process has finished.
	KindAllDone
	// KindGoodbye is the last frame of a process that leaves in order.
	KindGoodbye
	// KindAbort ends the job; see Abort.
	KindAbort

	// KindProbe is an indirect probe of a silent process, of internal/proto/detector; see Probe.
	KindProbe

	// Waits for a rank that is through (internal/runtime/process/through.go).

	// KindAsk asks a process to say when its program is through; see Ask.
	KindAsk
	// KindThrough answers that: the sender's rank sends nothing more that the receiver hasn't
	// got; see Ask.
	KindThrough

	// KindNudge wakes its receiver, which sleeps: the sender has written something into memory that
	// they share (internal/runtime/commons).
	KindNudge

	// KindGiveUp asks a replacement to end, unless it has joined: too much would have to be kept
	// for it (internal/runtime/process/joining.go).
	KindGiveUp

	// KindMarker says that all which the sender has sent before a snapshot is here
	// (internal/proto/rollback); see Marker.
	KindMarker

	// Programs that handle failures themselves (internal/runtime/process/tolerance.go).

	// KindAgreement carries a message of internal/proto/agreement, of the communicator Context.
	KindAgreement
	// KindRevocation carries one of internal/proto/revocation; see Revocation.
	KindRevocation

	// KindOrder carries a message of internal/proto/order to another replica of the sender's rank.
	KindOrder

	// KindTypeName asks what type of data a number stands for, or answers that: the payload is
	// the name then (internal/runtime/process/typename.go); see TypeName.
	KindTypeName

	// KindOnce carries a message of internal/proto/once to another replica of the sender's rank, or
	// data that belongs to the next one.
	KindOnce

	// KindSettle tells a process how many messages of its rank the sender has; see Settle. The
	// payload is a list of Ack (internal/proto/thinning).
	KindSettle

	// Sends that are taken back (internal/runtime/process/retract.go); see Retract.

	// KindRetract asks for a message back that no receive has matched.
	KindRetract
	// KindRetracted answers that; see Retracted.
	KindRetracted

	kindEnd
)

// payloadShape says which payloads a kind of frame may carry.
type payloadShape struct {
	name string
	unit uint32 // the payload is a whole number of units; 0: there is none
}

// anyBytes is the unit of a payload that is just bytes.
const anyBytes = 1

var kinds = [kindEnd]payloadShape{
	KindEager:            {"eager", anyBytes},
	KindOffer:            {"offer", anyBytes},
	KindPull:             {"pull", 0},
	KindData:             {"data", anyBytes},
	KindAck:              {"ack", AckSize},
	KindReceived:         {"received", 0},
	KindTree:             {"tree", anyBytes},
	KindCorrection:       {"correction", anyBytes},
	KindCorrectionOffer:  {"correction-offer", 0},
	KindBroadcastPull:    {"broadcast-pull", anyBytes},
	KindBroadcastMissing: {"broadcast-missing", anyBytes},
	KindBroadcastReport:  {"broadcast-report", 0},
	KindHeartbeat:        {"heartbeat", 0},
	KindObserve:          {"observe", 0},
	KindNews:             {"news", GoneSize},
	KindReconcile:        {"reconcile", GoneSize},
	KindEviction:         {"eviction notice", 0},
	KindMembership:       {"membership", anyBytes},
	KindNote:             {"note", 0},
	KindLog:              {"log", anyBytes},
	KindReady:            {"ready", 0},
	KindState:            {"state", anyBytes},
	KindHealed:           {"healed", 0},
	KindDone:             {"done", 0},
	KindAllDone:          {"all-done", 0},
	KindGoodbye:          {"goodbye", 0},
	KindAbort:            {"abort", anyBytes},
	KindProbe:            {"probe", 0},
	KindAsk:              {"ask", 0},
	KindThrough:          {"through", 0},
	KindNudge:            {"nudge", 0},
	KindGiveUp:           {"give-up", 0},
	KindMarker:           {"marker", 0},
	KindAgreement:        {"agreement", anyBytes},
	KindRevocation:       {"revocation", 0},
	KindOrder:            {"order", anyBytes},
	KindTypeName:         {"type-name", anyBytes},
	KindOnce:             {"once", anyBytes},
	KindSettle:           {"settle", AckSize},
	KindRetract:          {"retract", 0},
	KindRetracted:        {"retracted", 0},
}

// Valid tells whether k is a kind that may be on the wire.
func (k Kind) Valid() bool { return k > KindInvalid && k < kindEnd }

func (k Kind) String() string {
	if !k.Valid() {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return kinds[k].name
}
