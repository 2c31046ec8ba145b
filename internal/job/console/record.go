package console

import "fmt"

const (
	// attendedLimit bounds the output that a console owes an acknowledgement for, in bytes of a
	// stream. unattendedLimit bounds what is kept while no console is attached. A job that writes
	// more waits.
	attendedLimit   = 1 << 20
	unattendedLimit = 16 << 20
	// watchTail is how much is kept of what was acknowledged, for consoles that only watch.
	watchTail = 64 << 10
)

// record is what is kept of an output stream: the bytes from base on, of which those from acked on
// haven't been acknowledged. It is pure.
type record struct {
	base, acked int64
	buf         []byte
}

// end is how long the stream is so far.
func (r *record) end() int64 { return r.base + int64(len(r.buf)) }

// room is how many bytes may be appended if limit bounds what isn't acknowledged.
func (r *record) room(limit int64) int { return int(max(0, limit-(r.end()-r.acked))) }

// append takes more output.
func (r *record) append(b []byte) { r.buf = append(r.buf, b...) }

// ack notes that the stream was shown up to an offset, and forgets what nobody needs.
func (r *record) ack(offset int64) error {
	if offset > r.end() {
		return fmt.Errorf("%w: byte %d of a stream of %d is acknowledged", ErrCorrupt, offset, r.end())
	}
	r.acked = max(r.acked, offset)
	// What is kept is moved seldom: moving it for each piece would cost too much.
	if waste := r.acked - watchTail - r.base; waste > watchTail && waste >= int64(len(r.buf))/2 {
		r.buf = append(make([]byte, 0, int64(len(r.buf))-waste), r.buf[waste:]...)
		r.base += waste
	}
	return nil
}

// piece copies what there is from an offset on into to. If the bytes there aren't kept any more it
// begins at the first that is; at is where the piece begins.
func (r *record) piece(offset int64, to []byte) (at int64, n int) {
	at = min(max(offset, r.base), r.end())
	return at, copy(to, r.buf[at-r.base:])
}
