package wire

import "banyan/internal/proto"

// SetCompleted says, in an eager message of an unreplicated job, how many broadcasts of
// the context its sender has completed: all up to this number. No other replica sends the
// same message there, so the field for its number is free. A number of more than 32 bits isn't
// said.
func (h *Header) SetCompleted(broadcasts uint64) {
	h.Seq &^= lowHalf
	if broadcasts <= lowHalf {
		h.Seq |= broadcasts
	}
}

// Completed is what SetCompleted has said.
func (h *Header) Completed() uint64 { return h.Seq & lowHalf }

// SetNumber gives an eager message of an unreplicated job the number by which its sender may take
// it back; see Retract.
func (h *Header) SetNumber(n uint32) { h.Seq = h.Seq&lowHalf | uint64(n)<<32 }

// Number is what SetNumber has said; 0: the message has none.
func (h *Header) Number() uint32 { return uint32(h.Seq >> 32) }

const lowHalf = 1<<32 - 1

// MixedLayers is a flag of a message in a replicated job: its sender has heard of a replica layer
// other than its own.
const MixedLayers = 1

// CausesLost is another: its stamp doesn't say what precedes it, since it depends on what several
// threads of a process have sent that had heard of another layer.
const CausesLost = 2

// MaxType is the largest number of a type of data. Transports rely on it.
const MaxType = 1<<24 - 1

// TypeName is a KindTypeName. The answer's payload is the name.
type TypeName struct {
	Type    uint32
	Answers bool
}

// Put makes h the header of the frame.
func (f TypeName) Put(h *Header) {
	*h = Header{Kind: KindTypeName, Aux: int32(f.Type)}
	if f.Answers {
		h.Flags = flagSet
	}
}

// TypeName reads a KindTypeName.
func (h *Header) TypeName() TypeName {
	return TypeName{Type: uint32(h.Aux), Answers: h.Flags&flagSet != 0}
}

// Offer is what a KindOffer has beyond the fields of every message.
type Offer struct {
	Sender uint64 // the sender's handle of the message
	// Memory says where the receiver may read the data, if the transport lets it; 0: nowhere.
	Memory uint64
}

// Put makes h, the header of an eager message, that of the offer.
func (o Offer) Put(h *Header) { h.Kind, h.ID, h.Offset = KindOffer, o.Sender, o.Memory }

// Offer reads what a KindOffer has beyond the fields of every message.
func (h *Header) Offer() Offer { return Offer{Sender: h.ID, Memory: h.Offset} }

// Ask is a KindAsk, the question whether the receiver's program is through, or the KindThrough that
// answers it.
type Ask struct {
	// Context and Number name a broadcast: the question is whether its root, the receiver, is
	// through and hasn't begun it. Both are 0 where the question is about messages.
	Context, Number uint64
	// Through makes it the answer, which is always yes.
	Through bool
}

// Answer is the answer to a question.
func (f Ask) Answer() Ask { f.Through = true; return f }

// Put makes h the header of the frame.
func (f Ask) Put(h *Header) {
	*h = Header{Kind: KindAsk, Context: f.Context, Seq: f.Number}
	if f.Through {
		h.Kind = KindThrough
	}
}

// Ask reads a KindAsk or a KindThrough.
func (h *Header) Ask() Ask {
	return Ask{Context: h.Context, Number: h.Seq, Through: h.Kind == KindThrough}
}

// Revocation is a KindRevocation. The header's Context is the communicator's.
type Revocation struct {
	Origin int32 // the member that began it
	Absent bool  // the answer that the communicator isn't open here
}

// Put makes h the header of the frame, but for its Context.
func (f Revocation) Put(h *Header) {
	*h = Header{Kind: KindRevocation, Aux: f.Origin}
	if f.Absent {
		h.Flags = flagSet
	}
}

// Revocation reads a KindRevocation.
func (h *Header) Revocation() Revocation {
	return Revocation{Origin: h.Aux, Absent: h.Flags&flagSet != 0}
}

// flagSet is the one flag of the kinds of frames that have one.
const flagSet = 1

// Pull is a KindPull.
type Pull struct {
	Sender   uint64 // the sender's handle of the offer
	Receiver uint64 // the receiver's handle, which fragments have to carry
	Wanted   uint64 // how many bytes, from the first
	// Discard asks for no data: no receive wants the message, or its receiver has read it
	// already.
	Discard bool
}

// Put makes h the header of the frame.
func (f Pull) Put(h *Header) {
	*h = Header{Kind: KindPull, ID: f.Sender, Offset: f.Receiver, Total: f.Wanted}
	if f.Discard {
		h.Flags = flagSet
	}
}

// Pull reads a KindPull.
func (h *Header) Pull() Pull {
	return Pull{Sender: h.ID, Receiver: h.Offset, Wanted: h.Total, Discard: h.Flags&flagSet != 0}
}

// Retract is a KindRetract: the sender of a message wants it back. It travels behind the message.
type Retract struct {
	// Message is the sender's handle of an offer; of an eager message its number (Header.Number).
	Message uint64
	Eager   bool
	Request uint64 // the handle of what waits for the answer
}

// Put makes h the header of the frame.
func (f Retract) Put(h *Header) {
	*h = Header{Kind: KindRetract, ID: f.Message, Offset: f.Request}
	if f.Eager {
		h.Flags = flagSet
	}
}

// Retract reads a KindRetract.
func (h *Header) Retract() Retract {
	return Retract{Message: h.ID, Request: h.Offset, Eager: h.Flags&flagSet != 0}
}

// Retracted is a KindRetracted, the answer to a Retract.
type Retracted struct {
	Request uint64 // as it came
	Outcome Outcome
}

// Outcome is what has become of a message that its sender wants back.
type Outcome uint8

const (
	// Matched: it is the receiver's, and stays so.
	Matched Outcome = iota
	// Withdrawn: it is gone, and no receive gets any of it.
	Withdrawn
	// Probed: a matched probe has taken it. It is the receiver's, which may leave the data of an
	// offer with its sender for long.
	Probed
)

// Put makes h the header of the frame.
func (f Retracted) Put(h *Header) {
	*h = Header{Kind: KindRetracted, Offset: f.Request, Flags: uint8(f.Outcome)}
}

// Retracted reads a KindRetracted.
func (h *Header) Retracted() Retracted {
	return Retracted{Request: h.Offset, Outcome: Outcome(h.Flags)}
}

// Fragment is a KindData.
type Fragment struct {
	Receiver uint64 // the receiver's handle, as it came with the pull
	Offset   uint64 // of the payload within the message
	Wanted   uint64 // as pulled
	// Withdrawn answers a pull without data: the sender has given the message up since the
	// rank Lost is lost.
	Withdrawn bool
	Lost      proto.Rank
}

// Put makes h the header of the frame.
func (f Fragment) Put(h *Header) {
	*h = Header{Kind: KindData, ID: f.Receiver, Offset: f.Offset, Total: f.Wanted, Aux: int32(f.Lost)}
	if f.Withdrawn {
		h.Flags = flagSet
	}
}

// Fragment reads a KindData.
func (h *Header) Fragment() Fragment {
	return Fragment{
		Receiver: h.ID, Offset: h.Offset, Wanted: h.Total,
		Withdrawn: h.Flags&flagSet != 0, Lost: proto.Rank(h.Aux),
	}
}

// Received is a KindReceived: bytes, with some for each message; all ones when the
// program is through.
type Received struct{ Bytes uint64 }

// Put makes h the header of the frame.
func (f Received) Put(h *Header) { *h = Header{Kind: KindReceived, Total: f.Bytes} }

// Received reads a KindReceived.
func (h *Header) Received() Received { return Received{Bytes: h.Total} }

// Abort is a KindAbort.
type Abort struct{ Code int32 }

// Put makes h the header of the frame.
func (f Abort) Put(h *Header) { *h = Header{Kind: KindAbort, Tag: f.Code} }

// Abort reads a KindAbort.
func (h *Header) Abort() Abort { return Abort{Code: h.Tag} }

// Marker is a KindMarker: the number of the snapshot.
type Marker struct{ Snapshot uint64 }

// Put makes h the header of a marker.
func (m Marker) Put(h *Header) { *h = Header{Kind: KindMarker, Seq: m.Snapshot} }

// Marker reads a KindMarker.
func (h *Header) Marker() Marker { return Marker{h.Seq} }

// Settle is a KindSettle: whether more of them follow.
type Settle struct{ More bool }

// Put makes h the header of a settle frame.
func (s Settle) Put(h *Header) {
	*h = Header{Kind: KindSettle}
	if s.More {
		h.Seq = 1
	}
}

// Settle reads a KindSettle.
func (h *Header) Settle() Settle { return Settle{h.Seq != 0} }
