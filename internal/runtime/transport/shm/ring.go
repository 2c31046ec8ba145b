package shm

import (
	"sync/atomic"
	"unsafe"

	"banyan/internal/runtime/wire"
)

// A ring has one writer and one reader. Positions count all bytes that were ever written. A
// record starts at a multiple of lineSize with its word, which says what the record is. The
// writer fills in all else, makes sure that the word after the record is 0, and then stores the
// word: so a record is there as a whole or not at all. A reader that finds the word 0 has read
// all records.
//
//	frame, short   word, Context, Seq, Src, Dst, Tag, Total     40 bytes, payload
//	frame, typed   the same, and Aux beside the word and Total  40 bytes, payload
//	frame, middle  word, Context, Seq, Offset, Src, Dst, Aux, Total   48 bytes, payload
//	frame, full    word, header as on a wire                    72 bytes, payload
//	stream         word, nothing                                64 bytes, bytes
//
// A short, typed or middle frame is one whose other fields are zero. With a payload of up to 24 or
// 16 bytes it is a single line: messages are short frames, broadcasts middle ones. Stream records
// carry bytes of package stream: frames with large payloads, and frames that had to wait in an
// Outbox.
//
// The reader says by head how far the writer may go. It does so only now and then, because each
// exchange of a line between two cores costs as much as a small message. By then the writer has
// the line for itself, so it zeroes the words of the lines that it will use soon.
type half struct {
	data    unsafe.Pointer // size bytes, and the same once more
	size    uint64         // a power of two
	control *control
}

// control has the words that writer and reader both use, besides the records.
type control struct {
	head   atomic.Uint64 // the reader sets it: it has read all records before this position
	_      [120]byte
	hungry atomic.Uint32 // 1: the writer, which sets it, waits for room; the reader clears it
}

// at is the address of a position.
func (h *half) at(position uint64) unsafe.Pointer {
	return unsafe.Add(h.data, position&(h.size-1))
}

// word is the word of the record at a position.
func (h *half) word(position uint64) *atomic.Uint64 {
	return (*atomic.Uint64)(h.at(position))
}

// The word of a record: its form in bits 0-7, the Kind of a short, typed or middle frame in bits
// 8-15 and its Flags in bits 16-23, the number of payload bytes in bits 32-63. A typed frame's Aux
// has up to 24 bits: the lower 8 are bits 24-31 of the word, the others the upper 16 of total.
const (
	formShort  = 1
	formFull   = 2
	formStream = 3
	formMiddle = 4
	formTyped  = 5
)

// These are the bytes before the payload in each form.
const (
	shortSize  = 40
	middleSize = 48
	fullSize   = 8 + wire.HeaderSize
	streamSize = lineSize
)

// short is a short frame up to its payload.
type short struct {
	word         uint64
	context, seq uint64
	src, dst     int32
	tag          int32
	total        uint32
}

// middle is a middle frame up to its payload.
type middle struct {
	word                 uint64
	context, seq, offset uint64
	src, dst             int32
	aux                  int32
	total                uint32
}

// lines rounds up to whole lines.
func lines(bytes uint64) uint64 { return (bytes + lineSize - 1) &^ (lineSize - 1) }

// MaxRecords is the most records that a ring can hold.
const MaxRecords = maxRing / lineSize
