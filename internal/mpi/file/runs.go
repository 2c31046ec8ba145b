package file

import (
	"encoding/binary"
	"errors"
)

// Run is bytes of a file that follow each other.
type Run struct{ Off, Len int64 }

// End is where a run ends.
func (r Run) End() int64 { return r.Off + r.Len }

// add appends a run, or lengthens the last one.
func add(runs []Run, off, size int64) []Run {
	if k := len(runs); k > 0 && runs[k-1].End() == off {
		runs[k-1].Len += size
		return runs
	}
	return append(runs, Run{off, size})
}

// below is how many bytes of ascending runs lie before a position.
func below(runs []Run, end int64) (n int64) {
	for _, r := range runs {
		if r.Off >= end {
			break
		}
		n += min(r.Len, end-r.Off)
	}
	return n
}

// errRuns is about a list of runs that can't be one.
var errRuns = errors.New("a list of runs is damaged")

// encode appends ascending runs from a position on: the gap before each, and its length.
func encode(b []byte, runs []Run, from int64) []byte {
	for _, r := range runs {
		b = binary.AppendUvarint(b, uint64(r.Off-from))
		b = binary.AppendUvarint(b, uint64(r.Len))
		from = r.End()
	}
	return b
}

// decode is the converse of encode. All runs lie between from and end, and none is empty.
func decode(b []byte, from, end int64) (runs []Run, err error) {
	for len(b) > 0 {
		gap, n := binary.Uvarint(b)
		if n <= 0 || gap > uint64(end-from) {
			return nil, errRuns
		}
		b = b[n:]
		from += int64(gap)
		size, n := binary.Uvarint(b)
		if n <= 0 || size == 0 || size > uint64(end-from) {
			return nil, errRuns
		}
		b = b[n:]
		runs = append(runs, Run{from, int64(size)})
		from += int64(size)
	}
	return runs, nil
}
