// Package wire turns frames into bytes and back.
//
// A frame is a Header of HeaderSize bytes and a payload of at most MaxPayload. All numbers
// are little endian. Every kind of frame has the same header; a type for each kind (Pull,
// Heartbeat, Note …) says what its fields mean there.
//
// A header starts with a magic number and the version of the format. These, and the checks
// of Header.Check, find a stream that is out of step or corrupted before it does harm. They
// aren't a checksum: a connection is trusted to carry what was sent.
//
// Nothing here allocates.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"

	"banyan/internal/proto"
)

// Version is the version of the frame format. Peers agree on a protocol version when they
// connect; this byte only confirms it.
const Version = 4

const magic = 0xBA

// Where a field starts in an encoded header.
const (
	atMagic   = 0
	atVersion = 1
	atKind    = 2
	atFlags   = 3
	atLength  = 4
	atContext = 8
	atSeq     = 16
	atSrc     = 24
	atDst     = 28
	atTag     = 32
	atAux     = 36
	atTotal   = 40
	atOffset  = 48
	atID      = 56
)

// ErrCorrupt is wrapped by every error about bytes that can't be a frame.
var ErrCorrupt = errors.New("wire: corrupt frame")

// EncodeHeader writes h to the first HeaderSize bytes of b.
func EncodeHeader(b []byte, h *Header) {
	b = b[:HeaderSize:HeaderSize]
	b[atMagic] = magic
	b[atVersion] = Version
	b[atKind] = byte(h.Kind)
	b[atFlags] = h.Flags
	binary.LittleEndian.PutUint32(b[atLength:], h.Length)
	binary.LittleEndian.PutUint64(b[atContext:], h.Context)
	binary.LittleEndian.PutUint64(b[atSeq:], h.Seq)
	binary.LittleEndian.PutUint32(b[atSrc:], uint32(h.Src))
	binary.LittleEndian.PutUint32(b[atDst:], uint32(h.Dst))
	binary.LittleEndian.PutUint32(b[atTag:], uint32(h.Tag))
	binary.LittleEndian.PutUint32(b[atAux:], uint32(h.Aux))
	binary.LittleEndian.PutUint64(b[atTotal:], h.Total)
	binary.LittleEndian.PutUint64(b[atOffset:], h.Offset)
	binary.LittleEndian.PutUint64(b[atID:], h.ID)
}

// DecodeHeader reads the first HeaderSize bytes of b into h. The error wraps ErrCorrupt; h
// is useless then.
func DecodeHeader(h *Header, b []byte) error {
	if len(b) < HeaderSize {
		return fmt.Errorf("%w: a header of %d bytes", ErrCorrupt, len(b))
	}
	b = b[:HeaderSize:HeaderSize]
	if b[atMagic] != magic || b[atVersion] != Version {
		return fmt.Errorf("%w: it starts with %#02x %#02x, not %#02x %#02x",
			ErrCorrupt, b[atMagic], b[atVersion], magic, Version)
	}
	*h = Header{
		Kind:    Kind(b[atKind]),
		Flags:   b[atFlags],
		Length:  binary.LittleEndian.Uint32(b[atLength:]),
		Context: binary.LittleEndian.Uint64(b[atContext:]),
		Seq:     binary.LittleEndian.Uint64(b[atSeq:]),
		Src:     proto.Rank(binary.LittleEndian.Uint32(b[atSrc:])),
		Dst:     proto.Rank(binary.LittleEndian.Uint32(b[atDst:])),
		Tag:     int32(binary.LittleEndian.Uint32(b[atTag:])),
		Aux:     int32(binary.LittleEndian.Uint32(b[atAux:])),
		Total:   binary.LittleEndian.Uint64(b[atTotal:]),
		Offset:  binary.LittleEndian.Uint64(b[atOffset:]),
		ID:      binary.LittleEndian.Uint64(b[atID:]),
	}
	return h.Check()
}

// Check says whether a frame can have this header: its kind is known, the payload fits the
// kind, no rank is negative, no fragment lies outside its message. Transports check what
// they send, so that a mistake is found where it is made, and what they receive. The error
// wraps ErrCorrupt.
func (h *Header) Check() error {
	if h.Kind == KindEager && h.Total <= uint64(h.Length) && h.Length <= MaxPayload && h.Src|h.Dst >= 0 {
		return nil // most frames are of this kind
	}
	return h.check()
}

func (h *Header) check() error {
	switch {
	case !h.Kind.Valid():
		return fmt.Errorf("%w: unknown %v", ErrCorrupt, h.Kind)
	case h.Length > MaxPayload:
		return fmt.Errorf("%w: %v with %d bytes, the limit is %d", ErrCorrupt, h.Kind, h.Length, MaxPayload)
	}
	if unit := kinds[h.Kind].unit; unit != anyBytes && !isMultiple(h.Length, unit) {
		return fmt.Errorf("%w: %v with a payload of %d bytes", ErrCorrupt, h.Kind, h.Length)
	}
	switch h.Kind {
	case KindEager:
		if h.Total > uint64(h.Length) {
			return fmt.Errorf("%w: eager with %d of %d bytes", ErrCorrupt, h.Length, h.Total)
		}
		return h.checkRanks()
	case KindOffer:
		return h.checkRanks()
	case KindData:
		if h.Offset > h.Total || uint64(h.Length) > h.Total-h.Offset {
			return fmt.Errorf("%w: data with %d bytes at %d of %d", ErrCorrupt, h.Length, h.Offset, h.Total)
		}
	case KindNote:
		if h.Src < 0 {
			return fmt.Errorf("%w: %v about %d", ErrCorrupt, h.Kind, h.Src)
		}
	case KindNews:
		if h.Src < 0 || h.Flags > 1 || uint32(h.Tag) >= 32 {
			return fmt.Errorf("%w: %v of %d by tree %d of cube %d", ErrCorrupt, h.Kind, h.Src, h.Tag, h.Flags)
		}
	case KindProbe, KindTree, KindCorrection, KindCorrectionOffer, KindBroadcastPull, KindBroadcastMissing, KindBroadcastReport:
		return h.checkRanks()
	}
	return nil
}

// isMultiple tells whether a payload of n bytes is a whole number of units; if the unit is
// 0, whether there is none.
func isMultiple(n, unit uint32) bool {
	if unit == 0 {
		return n == 0
	}
	return n%unit == 0
}

func (h *Header) checkRanks() error {
	if h.Src < 0 || h.Dst < 0 {
		return fmt.Errorf("%w: %v from %d to %d", ErrCorrupt, h.Kind, h.Src, h.Dst)
	}
	return nil
}
