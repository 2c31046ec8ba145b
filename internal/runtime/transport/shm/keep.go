package shm

import (
	"encoding/binary"
	"sync/atomic"
)

// Beside the control words of both rings there is, for each direction, room for records that a
// process keeps for its peer: the peer reads them when it takes the process for dead, and finds
// them whatever has become of it, since the memory is the peer's, too. (Frames in a ring could be
// read as well, but only one after the other, by Poll.)
//
// Records are numbered. Each has its number, its length and its bytes, and may go over the end.
//
// A writer publishes a record and then looks whether the reader has closed the keep; a reader
// closes it and then looks for records. So a record that Keep was true for is one that the last
// Read finds. The writer may free records while the reader reads: the reader looks twice where
// they begin.

const (
	keepAt   = 2 * controlSize // in the page of control words
	keepSize = 1536
	keepRoom = keepSize - 2*lineSize
)

// keepArea is the memory of one direction.
type keepArea struct {
	head, tail atomic.Uint64 // the writer's: the records lie between them. Positions count all bytes
	_          [lineSize - 16]byte
	closed     atomic.Uint32 // the reader's
	_          [lineSize - 4]byte
	data       [keepRoom]byte
}

// Keep is the writing end.
type Keep struct {
	area       *keepArea
	head, tail uint64
	ends       []keepEnd // of the records that are kept, from begin on
	begin      int
	scratch    []byte
}

type keepEnd struct{ number, end uint64 }

// Put keeps a record. It returns false if there is no room, or the reader has closed the keep.
func (k *Keep) Put(number uint64, record []byte) bool {
	k.scratch = binary.AppendUvarint(k.scratch[:0], number)
	k.scratch = binary.AppendUvarint(k.scratch, uint64(len(record)))
	k.scratch = append(k.scratch, record...)
	end := k.tail + uint64(len(k.scratch))
	if end-k.head > keepRoom || k.area.closed.Load() != 0 {
		return false
	}
	at := k.tail % keepRoom
	n := copy(k.area.data[at:], k.scratch)
	copy(k.area.data[:], k.scratch[n:])
	k.tail = end
	k.area.tail.Store(end)
	if k.begin > 0 && len(k.ends) == cap(k.ends) {
		k.ends = k.ends[:copy(k.ends, k.ends[k.begin:])]
		k.begin = 0
	}
	k.ends = append(k.ends, keepEnd{number, end})
	return k.area.closed.Load() == 0
}

// Release frees the records up to a number.
func (k *Keep) Release(number uint64) {
	head := k.head
	for k.begin < len(k.ends) && k.ends[k.begin].number <= number {
		head = k.ends[k.begin].end
		k.begin++
	}
	if head != k.head {
		k.head = head
		k.area.head.Store(head)
	}
}

// Kept is the reading end.
type Kept struct{ area *keepArea }

// Close closes the keep: nothing is kept from now on.
func (r Kept) Close() { r.area.closed.Store(1) }

// Read visits the records, in their order. It ends at nonsense.
func (r Kept) Read(visit func(number uint64, record []byte)) {
	var copied [keepRoom]byte
	first, tail := r.area.head.Load(), r.area.tail.Load()
	if tail-first > keepRoom {
		return
	}
	at := first % keepRoom
	n := copy(copied[:], r.area.data[at:])
	copy(copied[n:], r.area.data[:at])
	head := r.area.head.Load() // what lies before may have been written over meanwhile
	if head-first > tail-first {
		return
	}
	for rest := copied[head-first : tail-first]; len(rest) > 0; {
		number, n := binary.Uvarint(rest)
		if n <= 0 {
			return
		}
		rest = rest[n:]
		length, n := binary.Uvarint(rest)
		if n <= 0 || length > uint64(len(rest)-n) {
			return
		}
		visit(number, rest[n:n+int(length)])
		rest = rest[n+int(length):]
	}
}
