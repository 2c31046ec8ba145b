package output

import "bytes"

// Merger merges what the replicas of one rank write to one stream. It is a pure
// state machine: no clock, no lock, no I/O. What is to be emitted is appended to
// the out argument of each method and returned.
//
// A position in the output is a line number and a column within it, so that
// replicas which print different bytes can take over from each other at a line.
// A replica's bytes are kept from the line on that is being emitted. Lines
// already emitted are only compared, by their hashes.
type Merger struct {
	limit    int
	eager    bool
	replicas []replica

	leader int
	joined bool // the leader has reached the emitted position
	done   bool // all there is to emit has been

	// at is the emitted position: that many lines, then that many bytes of an
	// unfinished one.
	at position
	// hashes are those of the emitted lines firstHash, firstHash+1, …, as far
	// as some replica may still have to be compared with them.
	hashes    []uint64
	firstHash int

	diverged bool
	where    int
}

// position is a place in a stream.
type position struct {
	line int    // whole lines before it
	col  int    // bytes of the line it is in
	hash uint64 // of these bytes
}

// replica is the stream of one replica.
type replica struct {
	end end
	// from is where held begins; held is what has been written since. Outside
	// of a call, from.line ≤ Merger.at.line, and where the lines are the same,
	// from.col ≤ Merger.at.col. A joined leader is at Merger.at.
	from position
	held []byte
}

// end is how a stream ended.
type end uint8

const (
	open     end = iota // not yet
	complete            // the process left in order
	dead                // the process died
)

// maxHashes bounds the lines that a replica may lag behind and still be
// compared.
const maxHashes = 1 << 16

// NewMerger makes a Merger that keeps at most limit bytes per replica. An eager
// one emits unfinished lines at once; otherwise they wait for their end or for
// Flush.
func NewMerger(replicas, limit int, eager bool) *Merger {
	m := &Merger{limit: max(limit, 2), eager: eager, replicas: make([]replica, replicas), joined: true}
	m.at.hash = hashStart
	for i := range m.replicas {
		m.replicas[i].from.hash = hashStart
	}
	return m
}

// Feed takes bytes that a replica wrote. It takes fewer than all if the replica
// is too far ahead of the leader; the rest is to be fed again when something else has
// been fed or closed.
func (m *Merger) Feed(i int, b, out []byte) (taken int, _ []byte) {
	return m.feed(i, b, out, m.limit)
}

// FeedAll takes all that a replica wrote, however far it is ahead.
func (m *Merger) FeedAll(i int, b, out []byte) []byte {
	_, out = m.feed(i, b, out, len(m.replicas[i].held)+len(b))
	return out
}

func (m *Merger) feed(i int, b, out []byte, limit int) (taken int, _ []byte) {
	r := &m.replicas[i]
	for taken < len(b) {
		room := limit - len(r.held)
		if room <= 0 {
			if !m.shed(r) {
				break
			}
			continue
		}
		n := min(room, len(b)-taken)
		r.held = append(r.held, b[taken:taken+n]...)
		taken += n
		if i == m.leader && !m.done {
			out = m.pump(out, false)
		} else {
			m.settle(r)
		}
	}
	return taken, out
}

// Closed says that a replica has written its last byte, either because it left
// in order, or because it died.
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

// Revive makes a dead replica one that has written the same as another, which hasn't
// ended: what it writes from here on follows that.
func (m *Merger) Revive(i, like int) {
	r, l := &m.replicas[i], &m.replicas[like]
	*r = replica{from: l.from, held: append(r.held[:0], l.held...)}
}

// Flush emits what the leader has written of an unfinished line. It has been
// kept back for a while, so it may be a prompt.
func (m *Merger) Flush(out []byte) []byte {
	if m.done {
		return out
	}
	return m.pump(out, true)
}

// Pending says whether Flush could emit something.
func (m *Merger) Pending() bool {
	return !m.done && len(m.replicas[m.leader].held) > 0
}

// Leader is the replica whose output is emitted.
func (m *Merger) Leader() int { return m.leader }

// Diverged says whether the replicas have been seen to write different bytes,
// and in which line (counted from 1) first.
func (m *Merger) Diverged() (line int, ok bool) { return m.where + 1, m.diverged }

func (m *Merger) diverge(line int) {
	if !m.diverged {
		m.diverged, m.where = true, line
	}
}

// lead chooses the leader and emits what it has to give.
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
			m.settle(&m.replicas[i])
		}
	}
	return out
}

// choose returns the lowest replica that hasn't died, or, when all have, the
// one that got furthest.
func (m *Merger) choose() (leader int, lastWords bool) {
	var furthest position
	for i := range m.replicas {
		r := &m.replicas[i]
		if r.end != dead {
			return i, false
		}
		reached := r.from
		reached.line += bytes.Count(r.held, newline)
		if tail := r.held[bytes.LastIndexByte(r.held, '\n')+1:]; len(tail) < len(r.held) {
			reached.col = len(tail)
		} else {
			reached.col += len(tail)
		}
		if i == 0 || reached.line > furthest.line || reached.line == furthest.line && reached.col > furthest.col {
			leader, furthest = i, reached
		}
	}
	return leader, true
}

// pump emits the whole lines that the leader has, and, if flush, its unfinished
// one.
func (m *Merger) pump(out []byte, flush bool) []byte {
	l := &m.replicas[m.leader]
	m.settle(l)
	if l.from.line < m.at.line {
		return out // it lags
	}
	if !m.joined {
		if out = m.join(l, out); !m.joined {
			return out
		}
	}
	lines := 0 // bytes of whole lines
	for {
		n := bytes.IndexByte(l.held[lines:], '\n')
		if n < 0 {
			break
		}
		m.emitLine(l.held[lines : lines+n])
		lines += n + 1
	}
	tail := len(l.held)
	if !flush && !m.eager && tail-lines <= m.limit/2 {
		tail = lines
	}
	if tail == 0 {
		return out
	}
	out = append(out, l.held[:tail]...)
	m.at = m.advance(m.at, l.held[lines:tail])
	l.held = append(l.held[:0], l.held[tail:]...)
	l.from = m.at
	if lines > 0 {
		for i := range m.replicas {
			m.settle(&m.replicas[i])
		}
		m.forget()
	}
	return out
}

// join brings a new leader, which is in the line that is being emitted, to the
// emitted column. If what it wrote differs from what was emitted of the line, the line
// is ended and begun anew.
func (m *Merger) join(l *replica, out []byte) []byte {
	shown := m.at.col - l.from.col // of held
	line := l.held
	if n := bytes.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}
	switch {
	case len(line) >= shown && m.advance(l.from, line[:shown]).hash == m.at.hash:
		l.held = append(l.held[:0], l.held[shown:]...)
		l.from = m.at
	case len(line) >= shown || len(line) < len(l.held):
		m.diverge(m.at.line)
		out = append(out, '\n')
		m.at = l.from
	default: // it hasn't come that far, or never will
		if l.end == complete {
			m.diverge(m.at.line)
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
	}
	m.at = position{line: m.at.line + 1, hash: hashStart}
}

// settle compares and drops what a replica wrote of lines that have been
// emitted. When all has been emitted, it does so with everything.
func (m *Merger) settle(r *replica) {
	used := 0
	for r.from.line < m.at.line {
		n := bytes.IndexByte(r.held[used:], '\n')
		if n < 0 {
			r.from = m.advance(r.from, r.held[used:])
			used = len(r.held)
			break
		}
		if k := r.from.line - m.firstHash; k >= 0 && m.advance(r.from, r.held[used:used+n]).hash != m.hashes[k] {
			m.diverge(r.from.line)
		}
		r.from = position{line: r.from.line + 1, hash: hashStart}
		used += n + 1
	}
	if m.done && r.from.line == m.at.line {
		rest := r.held[used:]
		if bytes.IndexByte(rest, '\n') >= 0 {
			m.diverge(m.at.line)
		}
		r.from = m.advance(r.from, rest)
		used = len(r.held)
	}
	r.held = append(r.held[:0], r.held[used:]...)
}

// shed makes room in a replica that holds all it may, at the expense of what
// has been emitted of its line. It reports whether that gave any.
func (m *Merger) shed(r *replica) bool {
	if r.from.line != m.at.line {
		return false
	}
	n := min(len(r.held), m.at.col-r.from.col)
	if end := bytes.IndexByte(r.held[:n], '\n'); end >= 0 {
		n = end
	}
	r.from = m.advance(r.from, r.held[:n])
	r.held = append(r.held[:0], r.held[n:]...)
	return n > 0
}

// forget drops the hashes that nobody is to be compared with any more.
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
	// Moving only when half can go keeps the cost per line constant.
	if n := last - m.firstHash; n > len(m.hashes)/2 {
		m.hashes = append(m.hashes[:0], m.hashes[n:]...)
		m.firstHash = last
	}
}

// checkEnd compares the end of a replica that left in order with the end of
// what was emitted.
func (m *Merger) checkEnd(i int) {
	r := &m.replicas[i]
	if r.end != complete || i == m.leader {
		return
	}
	m.settle(r)
	if r.from != m.at {
		m.diverge(min(r.from.line, m.at.line))
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

// hash continues an FNV-1a hash. The replicas of a job are no adversaries.
func hash(h uint64, b []byte) uint64 {
	for _, c := range b {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	return h
}
