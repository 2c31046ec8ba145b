package output

import (
	"bytes"
	"slices"
)

// Merger merges what the replicas of one rank write to one stream. It is a pure state machine: it
// has no clock, no lock and no I/O. Each method appends what is to be emitted to its out argument
// and returns it.
//
// A position in the output is a line number and a column within the line, so that replicas which
// print different bytes can take over from each other at a line. The Merger keeps a replica's bytes
// from the line on that is being emitted. It compares lines that were emitted before only by their
// hashes.
type Merger struct {
	limit    int
	eager    bool
	together bool // nothing is emitted that a replica which hasn't ended has yet to write
	replicas []replica

	leader int
	joined bool // the leader has reached the emitted position
	done   bool // everything is emitted

	// at is the emitted position: so many lines, then so many bytes of an unfinished line.
	at position
	// hashes are those of the emitted lines firstHash, firstHash+1, …, with which some replica may
	// still have to be compared.
	hashes    []uint64
	firstHash int
	texts     [][]byte // the beginnings of the first of these lines, as long as there is no difference
	text      []byte   // the beginning of the line at the emitted position

	difference *Difference
}

// position is a position in a stream.
type position struct {
	line int    // whole lines before it
	col  int    // bytes of the line it is in
	hash uint64 // of these bytes
}

// replica is the stream of one replica.
type replica struct {
	end end
	// from is where buffered begins; buffered is what has been written since. Outside of a call,
	// from.line ≤ Merger.at.line, and if the lines are the same, from.col ≤ Merger.at.col. A joined
	// leader is at Merger.at.
	from     position
	buffered []byte
	text     []byte // the beginning of the line that from is in
}

// end is how a stream ended.
type end uint8

const (
	open     end = iota // not yet
	complete            // the process left in order
	dead                // the process died
)

// maxHashes bounds the number of lines that a replica may lag behind and still be compared.
const maxHashes = 1 << 16

// NewMerger makes a Merger that keeps at most limit bytes per replica. An eager Merger emits
// unfinished lines at once. Another keeps them until their end or until Flush.
func NewMerger(replicas, limit int, eager bool) *Merger {
	m := &Merger{limit: max(limit, 2), eager: eager, replicas: make([]replica, replicas), joined: true}
	m.at.hash = hashStart
	for i := range m.replicas {
		m.replicas[i].from.hash = hashStart
	}
	return m
}

// Feed takes bytes that a replica wrote. It takes fewer than all if the replica is too far ahead of
// the leader. The caller feeds the rest again after something else has been fed or closed.
func (m *Merger) Feed(i int, b, out []byte) (taken int, _ []byte) {
	return m.feed(i, b, out, m.limit)
}

// FeedAll takes all that a replica wrote, however far it is ahead.
func (m *Merger) FeedAll(i int, b, out []byte) []byte {
	_, out = m.feed(i, b, out, len(m.replicas[i].buffered)+len(b))
	return out
}

func (m *Merger) feed(i int, b, out []byte, limit int) (taken int, _ []byte) {
	r := &m.replicas[i]
	for taken < len(b) {
		room := limit - len(r.buffered)
		if room <= 0 {
			if !m.shed(r) {
				break
			}
			continue
		}
		n := min(room, len(b)-taken)
		r.buffered = append(r.buffered, b[taken:taken+n]...)
		taken += n
		if i == m.leader && !m.done {
			out = m.pump(out, false)
		} else {
			m.compareEmitted(i)
			if m.together && !m.done {
				out = m.pump(out, false)
			}
		}
	}
	return taken, out
}

// EmitTogether has the Merger emit only what all replicas have written that haven't ended. So
// nothing has been shown that the last of them could take back (leader order).
func (m *Merger) EmitTogether() { m.together = true }

// reached is where what a replica has written ends.
func (r *replica) reached() (line, col int) {
	tail := r.buffered[bytes.LastIndexByte(r.buffered, '\n')+1:]
	if len(tail) < len(r.buffered) {
		return r.from.line + bytes.Count(r.buffered, newline), len(tail)
	}
	return r.from.line, r.from.col + len(tail)
}

// may is how much of what the leader has written may be emitted.
func (m *Merger) may(l *replica) int {
	if !m.together || l.end != open {
		return len(l.buffered)
	}
	alone, line, col := true, 0, 0 // how far all others are
	for i := range m.replicas {
		if r := &m.replicas[i]; i != m.leader && r.end == open {
			if at, in := r.reached(); alone || at < line || at == line && in < col {
				alone, line, col = false, at, in
			}
		}
	}
	if alone {
		return len(l.buffered)
	}
	n, at, begin := 0, l.from.line, l.from.col
	for ; at < line; at, begin = at+1, 0 {
		end := bytes.IndexByte(l.buffered[n:], '\n')
		if end < 0 {
			return len(l.buffered)
		}
		n += end + 1
	}
	if at > line || begin > col {
		return 0
	}
	rest := bytes.IndexByte(l.buffered[n:], '\n')
	if rest < 0 {
		rest = len(l.buffered) - n
	}
	return n + min(col-begin, rest)
}

// Closed says that a replica has written its last byte, because it left in order or because it
// died.
func (m *Merger) Closed(i int, inOrder bool, out []byte) []byte {
	m.replicas[i].end = dead
	if inOrder {
		m.replicas[i].end = complete
	}
	if m.done {
		m.checkEnd(i)
		return out
	}
	return m.lead(out)
}

// Follow replaces a dead replica by one that has written the same as the donor, which hasn't ended.
// What the replacement writes from here on follows that.
func (m *Merger) Follow(i, donor int) {
	r, d := &m.replicas[i], &m.replicas[donor]
	*r = replica{from: d.from, buffered: append(r.buffered[:0], d.buffered...), text: append(r.text[:0], d.text...)}
}

// Flush emits what the leader has written of an unfinished line. The line has been kept back for a
// while, so it may be a prompt.
func (m *Merger) Flush(out []byte) []byte {
	if m.done {
		return out
	}
	return m.pump(out, true)
}

// Pending says whether Flush could emit something.
func (m *Merger) Pending() bool {
	return !m.done && len(m.replicas[m.leader].buffered) > 0
}

// Leader is the replica whose output is emitted.
func (m *Merger) Leader() int { return m.leader }

// lead chooses the leader and emits what the leader has.
func (m *Merger) lead(out []byte) []byte {
	next, lastWords := m.choose()
	if next != m.leader {
		m.leader, m.joined = next, false
	}
	ended := lastWords || m.replicas[next].end == complete
	out = m.pump(out, ended)
	if ended {
		m.done = true
		for i := range m.replicas {
			m.checkEnd(i)
			m.compareEmitted(i)
		}
	}
	return out
}

// choose returns the lowest replica that hasn't died, or, if all have, the one that got furthest.
func (m *Merger) choose() (leader int, lastWords bool) {
	var furthest position
	for i := range m.replicas {
		r := &m.replicas[i]
		if r.end != dead {
			return i, false
		}
		var reached position
		reached.line, reached.col = r.reached()
		if i == 0 || reached.line > furthest.line || reached.line == furthest.line && reached.col > furthest.col {
			leader, furthest = i, reached
		}
	}
	return leader, true
}

// pump emits the whole lines that the leader has, and, if flush is set, its unfinished line.
func (m *Merger) pump(out []byte, flush bool) []byte {
	l := &m.replicas[m.leader]
	m.compareEmitted(m.leader)
	if l.from.line < m.at.line {
		return out // it lags
	}
	if !m.joined {
		if out = m.join(l, out); !m.joined {
			return out
		}
	}
	lines, may := 0, m.may(l) // bytes of whole lines; of all that may be emitted
	for {
		n := bytes.IndexByte(l.buffered[lines:may], '\n')
		if n < 0 {
			break
		}
		m.emitLine(l.buffered[lines : lines+n])
		lines += n + 1
	}
	tail := may
	if !flush && !m.eager && tail-lines <= m.limit/2 {
		tail = lines
	}
	if tail == 0 {
		return out
	}
	out = append(out, l.buffered[:tail]...)
	m.at = m.advance(m.at, l.buffered[lines:tail])
	m.text = m.begin(m.text, l.buffered[lines:tail])
	l.text = append(l.text[:0], m.text...)
	l.buffered = append(l.buffered[:0], l.buffered[tail:]...)
	l.from = m.at
	if lines > 0 {
		for i := range m.replicas {
			m.compareEmitted(i)
		}
		m.forget()
	}
	return out
}

// join brings a new leader, which is in the line that is being emitted, to the emitted column. If
// what it wrote differs from what was emitted of the line, join ends the line and begins it anew.
func (m *Merger) join(l *replica, out []byte) []byte {
	shown := m.at.col - l.from.col // so many bytes of buffered
	line := l.buffered
	if n := bytes.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}
	switch {
	case len(line) >= shown && m.advance(l.from, line[:shown]).hash == m.at.hash:
		l.buffered = append(l.buffered[:0], l.buffered[shown:]...)
		l.from = m.at
	case len(line) >= shown || len(line) < len(l.buffered):
		m.diverge(m.at.line, m.leader, m.begun(m.text, nil), m.begun(l.text, line))
		out = append(out, '\n')
		m.at, m.text = l.from, append(m.text[:0], l.text...)
	default: // it hasn't come that far yet, or never will
		if l.end == complete {
			m.diverge(m.at.line, m.leader, m.begun(m.text, nil), m.begun(l.text, line))
		}
		return out
	}
	m.joined = true
	return out
}

// emitLine counts the rest of a line as emitted.
func (m *Merger) emitLine(rest []byte) {
	if len(m.replicas) > 1 {
		m.hashes = append(m.hashes, m.advance(m.at, rest).hash)
		if n := len(m.texts); m.difference == nil && n == len(m.hashes)-1 && n < linesKept {
			m.texts = append(m.texts, m.begun(m.text, rest))
		}
	}
	m.text = m.text[:0]
	m.at = position{line: m.at.line + 1, hash: hashStart}
}

// compareEmitted compares and drops what a replica wrote of lines that have been emitted. When
// everything is emitted, it compares and drops everything.
func (m *Merger) compareEmitted(i int) {
	r, used := &m.replicas[i], 0
	if m.together && r.end == dead && i != m.leader {
		return // what only it has written was never so
	}
	for r.from.line < m.at.line {
		n := bytes.IndexByte(r.buffered[used:], '\n')
		if n < 0 {
			r.from, r.text = m.advance(r.from, r.buffered[used:]), m.begin(r.text, r.buffered[used:])
			used = len(r.buffered)
			break
		}
		if k := r.from.line - m.firstHash; k >= 0 && m.advance(r.from, r.buffered[used:used+n]).hash != m.hashes[k] {
			m.diverge(r.from.line, i, m.textOf(r.from.line), m.begun(r.text, r.buffered[used:used+n]))
		}
		r.from, r.text = position{line: r.from.line + 1, hash: hashStart}, r.text[:0]
		used += n + 1
	}
	if m.done && r.from.line == m.at.line {
		rest := r.buffered[used:]
		if n := bytes.IndexByte(rest, '\n'); n >= 0 {
			m.diverge(m.at.line, i, m.begun(m.text, nil), m.begun(r.text, rest[:n]))
		}
		r.from, r.text = m.advance(r.from, rest), m.begin(r.text, rest)
		used = len(r.buffered)
	}
	r.buffered = append(r.buffered[:0], r.buffered[used:]...)
}

// shed makes room in a replica whose buffer is full: it drops what has been emitted of the
// replica's line. It reports whether that made room.
func (m *Merger) shed(r *replica) bool {
	if r.from.line != m.at.line {
		return false
	}
	n := min(len(r.buffered), m.at.col-r.from.col)
	if end := bytes.IndexByte(r.buffered[:n], '\n'); end >= 0 {
		n = end
	}
	r.from, r.text = m.advance(r.from, r.buffered[:n]), m.begin(r.text, r.buffered[:n])
	r.buffered = append(r.buffered[:0], r.buffered[n:]...)
	return n > 0
}

// forget drops the hashes with which no replica has to be compared any more.
func (m *Merger) forget() {
	if len(m.replicas) == 1 {
		return
	}
	last := m.at.line
	for i := range m.replicas {
		if m.replicas[i].end == open {
			last = min(last, m.replicas[i].from.line)
		}
	}
	last = max(last, m.at.line-maxHashes)
	// Moving the rest only when half can go keeps the cost per line constant.
	if n := last - m.firstHash; n > len(m.hashes)/2 {
		m.hashes = append(m.hashes[:0], m.hashes[n:]...)
		m.texts = slices.Delete(m.texts, 0, min(n, len(m.texts)))
		m.firstHash = last
	}
}

// checkEnd compares the end of a replica that left in order with the end of what was emitted.
func (m *Merger) checkEnd(i int) {
	r := &m.replicas[i]
	if r.end != complete || i == m.leader {
		return
	}
	m.compareEmitted(i)
	if r.from != m.at {
		line, shown := min(r.from.line, m.at.line), m.begun(m.text, nil)
		if line < m.at.line {
			shown = m.textOf(line)
		}
		m.diverge(line, i, shown, m.begun(r.text, nil))
	}
}

// advance returns the position after some more bytes of the same line.
func (m *Merger) advance(p position, b []byte) position {
	p.col += len(b)
	if len(m.replicas) > 1 {
		p.hash = hash(p.hash, b)
	}
	return p
}

var newline = []byte{'\n'}

// hashStart is the hash of nothing.
const hashStart uint64 = 0xcbf29ce484222325

// hash continues an FNV-1a hash. It needn't resist attacks: the replicas of a job aren't
// adversaries.
func hash(h uint64, b []byte) uint64 {
	for _, c := range b {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	return h
}
