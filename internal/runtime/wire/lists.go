package wire

import (
	"encoding/binary"
	"fmt"

	"banyan/internal/proto"
)

// Ack is one record in the payload of a KindAck, AckSize bytes. It travels from a replica
// of rank Dst (the frame's header says which) to a replica of rank Src.
type Ack struct {
	Context uint64
	// Seq acknowledges every eager message of the channel up to and including it, or, where
	// Single, the rendezvous message with just this number.
	Seq    uint64
	Single bool
	// Verified says that Digest is that of what is acknowledged (internal/proto/verify);
	// else Digest is 0.
	Verified bool
	Digest   uint32
}

// AckSize is the length of an encoded Ack in bytes.
const AckSize = 24

// Gone is one record in the payload of a KindNews or KindReconcile, GoneSize bytes: a
// process is gone in its incarnations up to this one.
type Gone struct {
	Proc        proto.Proc
	Incarnation proto.Incarnation
	Left        bool // in order; else it died
}

// GoneSize is the length of an encoded Gone in bytes.
const GoneSize = 8

// AppendAck appends one encoded record to the payload of a KindAck.
func AppendAck(b []byte, a Ack) []byte {
	b = binary.LittleEndian.AppendUint64(b, a.Context)
	b = binary.LittleEndian.AppendUint64(b, a.Seq)
	var flags uint32
	if a.Single {
		flags |= ackSingle
	}
	if a.Verified {
		flags |= ackVerified
	}
	b = binary.LittleEndian.AppendUint32(b, flags)
	return binary.LittleEndian.AppendUint32(b, a.Digest)
}

// Flags of an encoded Ack.
const (
	ackSingle = 1 << iota
	ackVerified
)

// DecodeAcks appends the records in the payload of a KindAck to dst. The error
// wraps ErrCorrupt; dst is then returned unchanged.
func DecodeAcks(dst []Ack, payload []byte) ([]Ack, error) {
	if len(payload)%AckSize != 0 {
		return dst, fmt.Errorf("%w: a list of acks in %d bytes", ErrCorrupt, len(payload))
	}
	whole := dst
	for ; len(payload) > 0; payload = payload[AckSize:] {
		flags, digest := binary.LittleEndian.Uint32(payload[16:]), binary.LittleEndian.Uint32(payload[20:])
		if flags&^(ackSingle|ackVerified) != 0 || flags&ackVerified == 0 && digest != 0 {
			return dst, fmt.Errorf("%w: an ack of type %d with digest %#x", ErrCorrupt, flags, digest)
		}
		whole = append(whole, Ack{
			Context: binary.LittleEndian.Uint64(payload),
			Seq:     binary.LittleEndian.Uint64(payload[8:]),
			Single:  flags&ackSingle != 0, Verified: flags&ackVerified != 0, Digest: digest,
		})
	}
	return whole, nil
}

// goneLeft is the bit of an encoded Proc that says that it left in order.
const goneLeft = 1 << 31

// AppendGone appends one encoded record to the payload of a KindNews or
// KindReconcile.
func AppendGone(b []byte, g Gone) []byte {
	p := uint32(g.Proc)
	if g.Left {
		p |= goneLeft
	}
	b = binary.LittleEndian.AppendUint32(b, p)
	return binary.LittleEndian.AppendUint32(b, uint32(g.Incarnation))
}

// DecodeGone decodes the first record of a list. The check of the frame's header has found
// the list whole. Whether the job has such a Proc is for the caller to check; none is
// negative.
func DecodeGone(payload []byte) Gone {
	p := binary.LittleEndian.Uint32(payload)
	return Gone{
		Proc:        proto.Proc(p &^ goneLeft),
		Incarnation: proto.Incarnation(binary.LittleEndian.Uint32(payload[4:])),
		Left:        p&goneLeft != 0,
	}
}
