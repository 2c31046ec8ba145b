// Package varint is how a process writes down its state for another replica of its rank:
// numbers of variable length (as encoding/binary has them: seven bits a byte, the lowest first)
// and strings of bytes with their length before them.
//
// # Invariants
//
//   - A Reader gives what was appended, in the same order.
//   - It reads nothing beyond its bytes, and once it has failed it gives nothing but 0 and nil. So
//     it is enough to look at Failed at the end of a record, and loops over a Count end.
//
// # Limits
//
// Neither kinds nor checksums are written: package state has the checksum of the whole.
package varint

import "encoding/binary"

// Append appends numbers.
func Append(b []byte, values ...uint64) []byte {
	for _, v := range values {
		b = binary.AppendUvarint(b, v)
	}
	return b
}

// AppendBytes appends a string of bytes.
func AppendBytes(b, data []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(data))), data...)
}

// Reader reads what was appended.
type Reader struct {
	rest   []byte
	failed bool
}

// Read makes a Reader of bytes. What it gives of them is their memory.
func Read(b []byte) Reader { return Reader{rest: b} }

// Failed says that something impossible was read, or that Fail was called.
func (r *Reader) Failed() bool { return r.failed }

// Fail is for callers that find what was read impossible.
func (r *Reader) Fail() { r.failed = true }

// Done says that all has been read, and that it was possible.
func (r *Reader) Done() bool { return !r.failed && len(r.rest) == 0 }

// Uint reads a number.
func (r *Reader) Uint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 || r.failed {
		r.failed = true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// Count reads the number of things that follow, of at least a byte each.
func (r *Reader) Count() int {
	n := r.Uint()
	if n > uint64(len(r.rest)) {
		r.failed = true
		return 0
	}
	return int(n)
}

// Take reads n bytes that have no length before them.
func (r *Reader) Take(n uint64) []byte {
	if r.failed || n > uint64(len(r.rest)) {
		r.failed = true
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

// Rest takes all that is left.
func (r *Reader) Rest() []byte { return r.Take(uint64(len(r.rest))) }

// Bytes reads a string of bytes.
func (r *Reader) Bytes() []byte { return r.Take(uint64(r.Count())) }
