package wire

import "banyan/internal/proto"

// Broadcast is a frame of one of the kinds from KindTree to KindBroadcastReport. Members
// are named by their index in the communicator.
type Broadcast struct {
	Kind     Kind
	Context  uint64
	Number   uint64 // of the broadcast within the context
	From, To int
	Root     int
	Shape    uint8 // of the tree
	Step     uint8 // what the frame is to the machine of a tree that the user has named
	// Stable is the newest number that all live members have completed.
	Stable uint64
	Bytes  int // of the payload
}

// Put makes h the header of the frame.
func (f *Broadcast) Put(h *Header) {
	*h = Header{
		Kind: f.Kind, Context: f.Context, Seq: f.Number, Src: proto.Rank(f.From), Dst: proto.Rank(f.To),
		Tag: int32(f.Step), Aux: int32(f.Root), Flags: f.Shape, Offset: f.Stable, Total: uint64(f.Bytes),
	}
}

// Broadcast reads a frame of a broadcast. Whether the communicator has such members is for
// the caller to check; none is negative but perhaps the root.
func (h *Header) Broadcast() Broadcast {
	return Broadcast{
		Kind: h.Kind, Context: h.Context, Number: h.Seq, From: int(h.Src), To: int(h.Dst),
		Root: int(h.Aux), Shape: h.Flags, Step: uint8(h.Tag), Stable: h.Offset, Bytes: int(h.Total),
	}
}

// OfBroadcast tells whether a frame is one of a broadcast.
func (k Kind) OfBroadcast() bool { return k >= KindTree && k <= KindBroadcastReport }
