package seal

import (
	"encoding/binary"
	"errors"
)

const (
	headSize = 2
	tagSize  = 16

	// Overhead is how many bytes a record has beside its data.
	Overhead = headSize + tagSize
	// MaxRecord is the size of the largest record. It is a compromise: a larger one costs a little
	// less for each byte, but can't be opened before all of it has come.
	MaxRecord = 16 << 10
	// MaxData is how many bytes of data a record has at most.
	MaxData = MaxRecord - Overhead
	// longRun is how long data must be to get records of their own, in which no other data
	// precede them. Then the reader can open them at their destination. Shorter data share a
	// record: to copy them costs less than another record.
	longRun = 8 << 10
)

// ErrForged says that a record isn't what the other side has sent at this point of the stream.
var ErrForged = errors.New("a record that the other side hasn't sealed: somebody on the way changes the data")

// Sealer makes the records of one direction.
type Sealer struct{ key }

// NewSealer returns the Sealer of the side that sends.
func NewSealer(secret Secret) *Sealer { return &Sealer{newKey(secret)} }

// Seal appends a record with 1 to MaxData bytes of data to dst. The data may stand where the record
// will have them; otherwise the two must not overlap.
func (s *Sealer) Seal(dst, data []byte) []byte {
	if len(data) == 0 || len(data) > MaxData {
		panic("seal: no record has so much data, or so little")
	}
	nonce := s.next(len(data))
	at := len(dst)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(data)))
	return s.aead.Seal(dst, nonce, data, dst[at:at+headSize])
}

// Fill appends records to dst, within its capacity, and returns how many bytes of the runs they
// have: the first ones.
func (s *Sealer) Fill(dst []byte, runs [][]byte) (filled []byte, n int) {
	done := 0 // of the first run
	for len(runs) > 0 {
		room := min(cap(dst)-len(dst), MaxRecord) - Overhead
		if room <= 0 {
			break
		}
		if run := runs[0][done:]; len(run) >= longRun {
			k := min(len(run), room)
			dst = s.Seal(dst, run[:k])
			n, done = n+k, done+k
			continue // the rest of the run may be short
		}
		data := dst[len(dst)+headSize : len(dst)+headSize]
		for len(runs) > 0 && len(data) < room {
			run := runs[0][done:]
			if len(run) >= longRun {
				break
			}
			k := min(len(run), room-len(data))
			data = append(data, run[:k]...)
			if done += k; done == len(runs[0]) {
				runs, done = runs[1:], 0
			}
		}
		if len(data) > 0 {
			n += len(data)
			dst = s.Seal(dst, data)
		}
	}
	return dst, n
}

// Size is the size of the record that b begins with, 0 if too little of it has come to know.
func Size(b []byte) (int, error) {
	if len(b) < headSize {
		return 0, nil
	}
	n := int(binary.LittleEndian.Uint16(b))
	if n == 0 || n > MaxData {
		return 0, ErrForged
	}
	return n + Overhead, nil
}

// Opener opens the records of one direction, in order.
type Opener struct {
	key
	forged bool
}

// NewOpener returns the Opener of the side that receives.
func NewOpener(secret Secret) *Opener { return &Opener{key: newKey(secret)} }

// Open appends the data of a whole record to dst, which must not overlap the record. After an
// error, which is ErrForged, the stream can't be used any more; the bytes behind dst within its
// capacity may have been cleared.
func (o *Opener) Open(dst, record []byte) ([]byte, error) {
	if size, err := Size(record); o.forged || err != nil || size != len(record) {
		o.forged = true
		return dst, ErrForged
	}
	nonce := o.next(len(record) - Overhead)
	data, err := o.aead.Open(dst, nonce, record[headSize:], record[:headSize])
	if err != nil {
		o.forged = true
		return dst, ErrForged
	}
	return data, nil
}
