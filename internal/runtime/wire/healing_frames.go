package wire

import "banyan/internal/proto"

// Note is a KindNote.
type Note struct {
	Kind        uint8 // which note of internal/proto/replica
	Replacement proto.Proc
	Incarnation proto.Incarnation // of the replacement
	Covers      uint64            // which replicas the sender covers
}

// Put makes h the header of the frame.
func (f Note) Put(h *Header) {
	*h = Header{
		Kind: KindNote, Flags: f.Kind, Src: proto.Rank(f.Replacement), Aux: int32(f.Incarnation), Context: f.Covers,
	}
}

// Note reads a KindNote. Whether the job has such a process is for the caller to check; its
// number isn't negative.
func (h *Header) Note() Note {
	return Note{
		Kind: h.Flags, Replacement: proto.Proc(h.Src), Incarnation: proto.Incarnation(h.Aux), Covers: h.Context,
	}
}

// Piece is a KindLog or a KindState: the payload is the next of a stream, from Offset on.
type Piece struct {
	Kind   Kind
	Offset uint64
}

// Put makes h the header of the frame.
func (f Piece) Put(h *Header) { *h = Header{Kind: f.Kind, Offset: f.Offset} }
