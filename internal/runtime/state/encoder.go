package state

import (
	"encoding/binary"
	"hash/crc32"
)

const (
	version    = 1
	headLength = 8
	// maxName is the longest name of a region, in bytes.
	maxName = 255
	endMark = 0xffff
	// endLength is the length of what follows the last region.
	endLength = 2 + 4
)

var head = [headLength]byte{'b', 'a', 'n', 'y', 'a', 'n', 0, version}

// castagnoli is the table of the sums. It is made when it is first asked for.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// Region is a part of a state, to be encoded. Its bytes are those of the parts, one after
// another.
type Region struct {
	Name  string // 1 to 255 bytes
	Parts [][]byte
}

// Bytes makes a region of one part.
func Bytes(name string, data []byte) Region { return Region{name, [][]byte{data}} }

// length is the number of bytes of a region.
func (r *Region) length() (n uint64) {
	for _, part := range r.Parts {
		n += uint64(len(part))
	}
	return n
}

// Encoder hands out the stream of some regions. It copies none of their bytes: they must not
// change until the stream has been used.
type Encoder struct {
	pieces [][]byte // in the order of the stream, except for the end
	length uint64   // of the whole stream
	sum    uint32   // of what has been handed out
	ended  bool
}

// NewEncoder makes the stream of regions. It panics if a name is empty or too long: names of
// programs are checked when they are registered.
func NewEncoder(regions ...Region) *Encoder {
	e := &Encoder{pieces: [][]byte{head[:]}}
	for i := range regions {
		r := &regions[i]
		if len(r.Name) == 0 || len(r.Name) > maxName {
			panic("state: the name of a region has 1 to 255 bytes")
		}
		title := binary.LittleEndian.AppendUint16(nil, uint16(len(r.Name)))
		title = append(title, r.Name...)
		title = binary.LittleEndian.AppendUint64(title, r.length())
		e.pieces = append(append(e.pieces, title), r.Parts...)
	}
	for _, piece := range e.pieces {
		e.length += uint64(len(piece))
	}
	e.length += endLength
	return e
}

// Len is the length of the whole stream in bytes.
func (e *Encoder) Len() uint64 { return e.length }

// Next is the next part of the stream: at least one byte and at most limit; nil at the end. It
// is memory of a region, or other memory that doesn't change.
func (e *Encoder) Next(limit int) []byte {
	for len(e.pieces) > 0 && len(e.pieces[0]) == 0 {
		e.pieces = e.pieces[1:]
	}
	if len(e.pieces) == 0 {
		if e.ended {
			return nil
		}
		e.ended = true
		e.pieces = append(e.pieces, e.end())
	}
	n := min(limit, len(e.pieces[0]))
	next := e.pieces[0][:n:n]
	e.pieces[0] = e.pieces[0][n:]
	if !e.ended {
		e.sum = crc32.Update(e.sum, castagnoli(), next)
	}
	return next
}

// end is what follows the last region.
func (e *Encoder) end() []byte {
	mark := binary.LittleEndian.AppendUint16(nil, endMark)
	return binary.LittleEndian.AppendUint32(mark, crc32.Update(e.sum, castagnoli(), mark))
}
