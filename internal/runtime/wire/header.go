package wire

import "banyan/internal/proto"

// HeaderSize is the length of an encoded Header in bytes: one cache line.
const HeaderSize = 64

// MaxPayload bounds the payload of one frame in bytes. Larger messages travel in
// fragments, so that no frame holds up the others for long.
const MaxPayload = 1 << 20

// Header precedes every payload between two Procs of a job. It has the same fields for
// all kinds of frames. Those of KindEager and KindOffer, of which there are most, mean what
// their names say. For each other kind a type of its own (Pull, Heartbeat, Note …) gives
// the fields their meaning: its Put fills a header, and the Header's method of the same
// name reads it. Unused fields are zero.
type Header struct {
	Kind    Kind
	Flags   uint8
	Length  uint32     // payload bytes that follow
	Context uint64     // communicator context
	Seq     uint64     // number within the channel or the broadcast stream
	Src     proto.Rank // world rank of the sender
	Dst     proto.Rank // world rank of the receiver
	Tag     int32
	Aux     int32  // in messages the number of the data's type; 0: none is given
	Total   uint64 // bytes of the whole message
	Offset  uint64 // of this fragment within the message, bytes
	ID      uint64 // handle of a rendezvous
}
