package inproc

import "sync/atomic"

// pipeSize is how many bytes a pipe takes before the writer has to queue them itself. It is a
// power of two.
const pipeSize = 64 << 10

// cacheLine separates variables that two threads write.
type cacheLine [64]byte

// pipe is a ring of bytes with one writer and one reader, which share no lock. The writer owns
// tail, the reader owns head, and all bytes between them are written. Both only grow.
type pipe struct {
	tail     atomic.Uint64 // written up to here
	headSeen uint64        // the writer's last look at head
	_        cacheLine
	head     atomic.Uint64 // read up to here
	_        cacheLine
	hungry   atomic.Bool // the writer has more, and waits for room
	refused  atomic.Bool // the reader has fenced the writer
	_        cacheLine
	ring     [pipeSize]byte
}

// write moves as much of a and then b into the ring as there is room for.
func (p *pipe) write(a, b []byte) int {
	tail := p.tail.Load()
	room := pipeSize - int(tail-p.headSeen)
	if room < len(a)+len(b) {
		p.headSeen = p.head.Load()
		room = pipeSize - int(tail-p.headSeen)
	}
	n := p.put(tail, a[:min(len(a), room)])
	n += p.put(tail+uint64(n), b[:min(len(b), room-n)])
	if n > 0 {
		p.tail.Store(tail + uint64(n))
	}
	return n
}

// put copies b into the ring at a position, around the end of the ring if necessary.
func (p *pipe) put(at uint64, b []byte) int {
	n := copy(p.ring[at%pipeSize:], b)
	copy(p.ring[:], b[n:])
	return len(b)
}

// read moves as much as there is into a and then b.
func (p *pipe) read(a, b []byte) int {
	head := p.head.Load()
	there := int(p.tail.Load() - head)
	n := p.get(head, a[:min(len(a), there)])
	n += p.get(head+uint64(n), b[:min(len(b), there-n)])
	if n > 0 {
		p.head.Store(head + uint64(n))
	}
	return n
}

func (p *pipe) get(at uint64, b []byte) int {
	n := copy(b, p.ring[at%pipeSize:])
	copy(b[n:], p.ring[:])
	return len(b)
}

func (p *pipe) empty() bool { return p.head.Load() == p.tail.Load() }

// roomy says whether there is enough room to tell a hungry writer.
func (p *pipe) roomy() bool { return p.tail.Load()-p.head.Load() <= pipeSize/2 }
