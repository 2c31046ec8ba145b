package shm

import (
	"fmt"
	"math"
	"unsafe"

	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
)

// Reader is the reading end of a ring. It trusts nothing in the memory: the writer may be faulty.
type Reader struct {
	half
	head uint64 // the next record
	told uint64 // the head that the writer knows
}

// Inbound is a frame that a Reader has found, copied out of the memory: the writer can't change
// it any more. It need not be cleared.
type Inbound struct {
	Header  wire.Header
	length  int
	payload [transport.DirectSize]byte
	raw     [wire.HeaderSize]byte
}

// Payload is the frame's payload.
func (in *Inbound) Payload() []byte { return in.payload[:in.length] }

// Found says what a Reader has found.
type Found uint8

// Values of Found.
const (
	Nothing Found = iota
	Frame         // a whole frame: it is in the Inbound, and read
	Stream        // bytes of a stream, for Take
)

// Begun says whether something was read.
func (r *Reader) Begun() bool { return r.head != 0 }

// Ready says whether there is something to read.
func (r *Reader) Ready() bool { return r.word(r.head).Load() != 0 }

// Next looks at the next record. After an error, which wraps wire.ErrCorrupt, the ring must not
// be used.
func (r *Reader) Next(in *Inbound) (Found, error) {
	word := r.word(r.head).Load()
	n := word >> 32
	switch word & 0xff {
	case 0:
		if word == 0 {
			return Nothing, nil
		}
	case formShort:
		if n > transport.DirectSize {
			break
		}
		at := r.at(r.head)
		s := (*short)(at)
		h := &in.Header
		h.Kind, h.Flags, h.Length = wire.Kind(word>>8), uint8(word>>16), uint32(n)
		h.Context, h.Seq, h.Src, h.Dst, h.Tag = s.context, s.seq, proto.Rank(s.src), proto.Rank(s.dst), s.tag
		h.Total, h.Aux, h.Offset, h.ID = uint64(s.total), 0, 0, 0
		in.length = int(n)
		copy(in.payload[:n], unsafe.Slice((*byte)(unsafe.Add(at, shortSize)), n))
		r.head += lines(shortSize + n)
		return Frame, in.Header.Check()
	case formTyped:
		if n > transport.DirectSize {
			break
		}
		at := r.at(r.head)
		s := (*short)(at)
		h := &in.Header
		h.Kind, h.Flags, h.Length = wire.Kind(word>>8), uint8(word>>16), uint32(n)
		h.Context, h.Seq, h.Src, h.Dst, h.Tag = s.context, s.seq, proto.Rank(s.src), proto.Rank(s.dst), s.tag
		total := s.total // read once: the writer may change it
		h.Total, h.Aux, h.Offset, h.ID = uint64(total&math.MaxUint16), int32(total>>16<<8|uint32(word>>24)&0xff), 0, 0
		in.length = int(n)
		copy(in.payload[:n], unsafe.Slice((*byte)(unsafe.Add(at, shortSize)), n))
		r.head += lines(shortSize + n)
		return Frame, in.Header.Check()
	case formMiddle:
		if n > transport.DirectSize {
			break
		}
		at := r.at(r.head)
		m := (*middle)(at)
		h := &in.Header
		h.Kind, h.Flags, h.Length = wire.Kind(word>>8), uint8(word>>16), uint32(n)
		h.Context, h.Seq, h.Src, h.Dst, h.Tag = m.context, m.seq, proto.Rank(m.src), proto.Rank(m.dst), 0
		h.Total, h.Aux, h.Offset, h.ID = uint64(m.total), m.aux, m.offset, 0
		in.length = int(n)
		copy(in.payload[:n], unsafe.Slice((*byte)(unsafe.Add(at, middleSize)), n))
		r.head += lines(middleSize + n)
		return Frame, in.Header.Check()
	case formFull:
		if n > transport.DirectSize {
			break
		}
		body := unsafe.Slice((*byte)(r.at(r.head)), fullSize+n)
		copy(in.raw[:], body[8:])
		in.length = copy(in.payload[:n], body[fullSize:])
		r.head += lines(fullSize + n)
		err := wire.DecodeHeader(&in.Header, in.raw[:])
		if err == nil && uint64(in.Header.Length) != n {
			break
		}
		return Frame, err
	case formStream:
		if n == 0 || n > chunkSize {
			break
		}
		return Stream, nil
	}
	return Nothing, fmt.Errorf("%w: the ring has a record %#x", wire.ErrCorrupt, word)
}

// Take reads the bytes of the stream that Next has found: first into direct, until that is full,
// and then into rest, which takes all others. It returns how many bytes there were.
func (r *Reader) Take(direct, rest []byte) int {
	// The word is read again: it may differ by now from what Next saw.
	n := min(r.word(r.head).Load()>>32, chunkSize, uint64(len(direct)+len(rest)))
	body := unsafe.Slice((*byte)(unsafe.Add(r.at(r.head), streamSize)), n)
	copy(rest, body[copy(direct, body):])
	r.head += lines(streamSize + n)
	return int(n)
}

// tellShare is the part of a ring, an eighth, that is read before the writer is told, unless the
// writer waits for room.
const tellShare = 8

// Tell gives the room that was read back to the writer, if it is much, or if the writer waits and
// there is nothing more to read. It says whether the writer waits: then the caller has to ring
// its doorbell.
func (r *Reader) Tell() (ring bool) {
	read := r.head - r.told
	if read == 0 {
		return false
	}
	if read >= r.size/tellShare {
		r.control.head.Store(r.head)
		r.told = r.head
	} else if r.control.hungry.Load() == 0 || r.Ready() {
		return false
	} else {
		r.control.head.Store(r.head)
		r.told = r.head
	}
	if r.control.hungry.Load() == 0 {
		return false
	}
	r.control.hungry.Store(0)
	return true
}
