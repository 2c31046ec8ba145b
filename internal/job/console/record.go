package console

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
)

const (
	// attendedLimit bounds the output that a console owes an acknowledgement for, in bytes of a
	// stream. unattendedLimit bounds what is kept while no console is attached. A job that writes
	// more waits.
	attendedLimit   = 1 << 20
	unattendedLimit = 16 << 20
	// watchTail is how much is kept of what was acknowledged, for consoles that only watch.
	watchTail = 64 << 10
	// pieceCost is what a piece counts in addition to its bytes.
	pieceCost = 64
)

// piece is what a source has written, from byte at of its stream on.
type piece struct {
	source int
	at     int64
	data   []byte
	from   int64 // where it begins in the record
}

func (p *piece) end() int64 { return p.from + int64(len(p.data)) }

// record is what is kept of an output stream of the job: the pieces of all sources, one after the
// other, of which those from acked on haven't been acknowledged. An offset of the record is that of
// a piece's begin or of the end. It is pure.
type record struct {
	pieces []piece
	last   int64 // where it ends
	acked  int64
	owed   int64 // what the pieces from acked on count
	sent   int64 // up to where it was sent to any console: pieces before that stay as they are
}

// base is where what is kept begins.
func (r *record) base() int64 {
	if len(r.pieces) == 0 {
		return r.last
	}
	return r.pieces[0].from
}

// room is how many bytes may be appended if limit bounds what isn't acknowledged.
func (r *record) room(limit int64) int { return int(max(0, limit-r.owed-pieceCost)) }

// append takes more output, of which it keeps a copy. No piece has more than MaxPiece bytes.
func (r *record) append(source int, at int64, b []byte) {
	for len(b) > 0 {
		if n := len(r.pieces); n > 0 {
			p := &r.pieces[n-1]
			if room := MaxPiece - len(p.data); p.source == source && p.at+int64(len(p.data)) == at && p.from >= r.sent && p.from >= r.acked && room > 0 {
				k := min(room, len(b))
				p.data = append(p.data, b[:k]...)
				r.last, r.owed, at, b = r.last+int64(k), r.owed+int64(k), at+int64(k), b[k:]
				continue
			}
		}
		k := min(MaxPiece, len(b))
		r.pieces = append(r.pieces, piece{source, at, slices.Clone(b[:k]), r.last})
		r.last, r.owed, at, b = r.last+int64(k), r.owed+int64(k)+pieceCost, at+int64(k), b[k:]
	}
}

// find is the first piece that doesn't lie before an offset.
func (r *record) find(offset int64) int {
	return sort.Search(len(r.pieces), func(i int) bool { return r.pieces[i].from >= offset })
}

// ack notes that the record was shown up to an offset, and forgets what nobody needs. shown is
// called for each piece that is shown now.
func (r *record) ack(offset int64, shown func(source int, to int64)) error {
	if offset <= r.acked {
		return nil
	}
	if i := r.find(offset); offset > r.last || offset < r.last && r.pieces[i].from != offset {
		return fmt.Errorf("%w: byte %d of a stream of %d is acknowledged", ErrCorrupt, offset, r.last)
	}
	for i := r.find(r.acked); i < len(r.pieces) && r.pieces[i].from < offset; i++ {
		p := &r.pieces[i]
		r.owed -= int64(len(p.data)) + pieceCost
		if shown != nil {
			shown(p.source, p.at+int64(len(p.data)))
		}
	}
	r.acked = offset
	// Pieces are moved seldom: moving them for each acknowledgement would cost too much.
	waste := r.find(r.acked - watchTail)
	if n := r.find(r.acked); n-waste > maxFrom { // small pieces cost more than they have
		waste = n - maxFrom
	}
	if waste > 0 && (waste >= len(r.pieces)/2 || r.pieces[waste-1].end()-r.base() >= (r.last-r.base())/2) {
		r.pieces = slices.Clone(r.pieces[waste:])
	}
	return nil
}

// frame fills a frame with what there is from an offset on, and leaves out what have has. The
// frame's Offset is where the record goes on behind it, its Number how many bytes before it aren't
// kept any more. It returns false if there is nothing behind the offset.
func (r *record) frame(offset int64, have positions, f *Frame) bool {
	if offset >= r.last {
		return false
	}
	lost := max(0, r.base()-offset)
	f.Kind, f.Number, f.From, f.Data = Output, int(min(lost, maxLost)), f.From[:0], f.Data[:0]
	i := r.find(offset)
	for ; i < len(r.pieces) && len(f.From) < maxFrom; i++ {
		p := &r.pieces[i]
		if len(f.Data) > 0 && len(f.Data)+len(p.data) > MaxPiece {
			break
		}
		again := int64(0)
		if have != nil {
			again = min(max(0, have[p.source]-p.at), int64(len(p.data)))
		}
		if rest := p.data[again:]; len(rest) > 0 {
			f.From = append(f.From, From{p.source, p.at + again, len(rest)})
			f.Data = append(f.Data, rest...)
			if have != nil {
				have.set(p.source, p.at+int64(len(p.data)))
			}
		}
		f.Offset = p.end()
	}
	r.sent = max(r.sent, f.Offset)
	return true
}

// rest is what wasn't acknowledged, as frames.
func (r *record) rest() (b []byte) {
	for _, p := range r.pieces[r.find(r.acked):] {
		f := Frame{Kind: Output, Data: p.data, From: []From{{p.source, p.at, len(p.data)}}}
		b = f.Append(b)
	}
	return b
}

// restore takes what rest returned.
func (r *record) restore(b []byte) error {
	for len(b) > 0 {
		if len(b) < headSize {
			return ErrCorrupt
		}
		n := binary.BigEndian.Uint32(b)
		if b = b[headSize:]; uint64(n) > uint64(len(b)) {
			return ErrCorrupt
		}
		f, err := Parse(b[:n])
		if err != nil || f.Kind != Output {
			return ErrCorrupt
		}
		for _, p := range f.From {
			r.append(p.Source, p.At, f.Data[:p.Length])
			f.Data = f.Data[p.Length:]
		}
		b = b[n:]
	}
	return nil
}
