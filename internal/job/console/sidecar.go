package console

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"os"

	"banyan/internal/varint"
)

// maxSidecar is how long a sidecar may become before it is begun anew.
const maxSidecar = 64 << 10

// fileState is what a File holds.
type fileState struct {
	job  string
	at   int64     // how long the file is
	have positions // of the streams
	// unfinished is the source of the file's last line, if that hasn't ended, counted from
	// Launcher as 1; 0: it has ended.
	unfinished int
}

// intent is what the file holds when a piece was written.
type intent struct {
	at, length int64 // where the text is
	sum        uint32
	have       positions // that change
	unfinished int
}

// apply says that the piece was written.
func (s *fileState) apply(i *intent) {
	s.at, s.unfinished = i.at+i.length, i.unfinished
	for source, to := range i.have {
		s.have.set(source, to)
	}
}

// cost is about how long the state is when it is written.
func (s *fileState) cost() int64 { return int64(64 + 16*len(s.have)) }

// A sidecar is entries: a state, then intents. Each has its length and its checksum before it, so
// that one of which not all was written counts as none.
const (
	stateEntry  = 1
	intentEntry = 2
	entryHead   = 8
)

func appendEntry(b, body []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(body))
	return append(b, body...)
}

func (s *fileState) append(b []byte) []byte {
	body := varint.Append([]byte{stateEntry}, uint64(s.at), uint64(s.unfinished))
	body = varint.AppendBytes(body, []byte(s.job))
	return appendEntry(b, s.have.append(body, s.have.sources()))
}

func (i *intent) append(b []byte) []byte {
	body := varint.Append([]byte{intentEntry}, uint64(i.at), uint64(i.length), uint64(i.sum), uint64(i.unfinished))
	return appendEntry(b, i.have.append(body, i.have.sources()))
}

// readSidecar reads what append wrote, as far as that makes sense: what the file held when the
// sidecar was begun, and the pieces since. An empty job means that nothing makes sense.
func readSidecar(b []byte) (s fileState, later []intent) {
	for len(b) >= entryHead {
		n, sum := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
		if b = b[entryHead:]; uint64(n) > uint64(len(b)) || n == 0 || crc32.ChecksumIEEE(b[:n]) != sum {
			return s, later
		}
		body := b[:n]
		b = b[n:]
		r := varint.Read(body[1:])
		at := r.Uint()
		switch {
		case body[0] == stateEntry && s.job == "":
			unfinished, job, have := r.Uint(), string(r.Bytes()), make(positions)
			if have.read(&r) != nil || !r.Done() || at > math.MaxInt64 || unfinished > maxSource || job == "" {
				return s, later
			}
			s = fileState{job, int64(at), have, int(unfinished)}
		case body[0] == intentEntry && s.job != "":
			length, sum, unfinished, have := r.Uint(), r.Uint(), r.Uint(), make(positions)
			if have.read(&r) != nil || !r.Done() || at > math.MaxInt64/2 || length == 0 || length > math.MaxInt64/2 || sum > math.MaxUint32 || unfinished > maxSource {
				return s, later
			}
			later = append(later, intent{int64(at), int64(length), uint32(sum), have, int(unfinished)})
		default:
			return s, later
		}
	}
	return s, later
}

// disk is how a File changes files. A test has it stop at any step, in the middle of a write, too.
type disk struct {
	// spend is asked before n units of work are done, and says how many may be; nil: all.
	spend func(n int) (int, error)
}

func (d disk) may(n int) (int, error) {
	if d.spend == nil {
		return n, nil
	}
	return d.spend(n)
}

func (d disk) writeAt(f *os.File, b []byte, at int64) error {
	n, stop := d.may(len(b))
	if _, err := f.WriteAt(b[:n], at); err != nil {
		return err
	}
	return stop
}

func (d disk) truncate(f *os.File, to int64) error {
	if n, stop := d.may(1); n == 0 {
		return stop
	}
	return f.Truncate(to)
}

func (d disk) rename(from, to string) error {
	if n, stop := d.may(1); n == 0 {
		return stop
	}
	return os.Rename(from, to)
}
