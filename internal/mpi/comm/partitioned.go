package comm

import (
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"

	"banyan/internal/proto"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/process"
	"banyan/internal/splitmix"
)

// Partitioned is one end of a partitioned message (MPI-5.0, chapter 4): threads of the sender make
// parts of it ready one by one, and the receiver learns which parts have arrived. It is persistent:
// after each start all parts travel once.
//
// The parts travel in pieces: one message for each part of the sender's. The receiver needn't have
// as many parts, and learns in the first round how long the sender's pieces are. In a job with
// replicas there is one piece, the whole, since threads make parts ready in an order that differs
// between replicas. Beyond maxPieces neighbouring parts share a piece.
//
// # Invariants
//
//   - The ends that belong together are the n-th at the sender and the n-th at the receiver of
//     those with the same tag, in the order in which they were made. Both count, and derive a
//     context from the count. So neither needs a message to find the other, and no other receive
//     can take a piece.
//   - A piece's tag is its index. The first round has a message more, with the layout.
type Partitioned struct {
	c        *Comm
	op       string
	context  uint64
	peer     proto.Rank
	rank     int // of the peer
	tag      int
	data     []byte
	parts    int // the sender's
	schedule engine.Schedule
	layout   atomic.Pointer[pieces]
	told     bool // a round has told the layout

	mu   sync.Mutex
	left []int32 // of each piece: parts that aren't ready in this round
}

// pieces is how a partitioned message is cut.
type pieces struct {
	n     int // how many
	size  int // of each, in bytes; the last may be shorter
	total int // bytes of all
	per   int // the sender's parts in each
	base  int // operations of the schedule before them
	err   error
}

const (
	// maxPieces bounds the messages of a round. The standard lets parts travel together.
	maxPieces = 1 << 16
	// layoutTag is the tag of the message that tells the layout.
	layoutTag  = maxPieces
	layoutSize = 24

	// maxPiece is as much as a process can address.
	maxPiece = 1 << 46
)

// ErrLayout says that a peer has told a layout that none can have.
var ErrLayout = errors.New("the sender's parts make no sense")

// SendParts makes the sender's end of a partitioned message of so many equal parts.
func (c *Comm) SendParts(data []byte, parts, dest, tag int) (*Partitioned, error) {
	p, err := c.partitioned("Psend", data, dest, tag, 0)
	if err != nil {
		return nil, err
	}
	p.parts = parts
	l := &pieces{n: parts, per: 1, total: len(data)}
	switch {
	case c.copies:
		l.n, l.per = 1, max(parts, 1)
	case parts > maxPieces:
		l.per = (parts + maxPieces - 1) / maxPieces
		l.n = (parts + l.per - 1) / l.per
	}
	if parts > 0 {
		l.size = len(data) / parts * l.per
	}
	p.left = make([]int32, l.n)
	p.layout.Store(l)
	return p, nil
}

// ReceiveParts makes the receiver's end of a partitioned message.
func (c *Comm) ReceiveParts(buffer []byte, source, tag int) (*Partitioned, error) {
	p, err := c.partitioned("Precv", buffer, source, tag, 1)
	if err != nil {
		return nil, err
	}
	if c.copies {
		p.layout.Store(&pieces{n: 1, size: len(buffer), total: len(buffer)})
	}
	return p, nil
}

// partitioned makes an end. role is 0 for the sender.
func (c *Comm) partitioned(op string, data []byte, peer, tag int, role uint64) (*Partitioned, error) {
	if err := c.checkSend(op, peer, tag); err != nil {
		return nil, err
	}
	whole := c.whole()
	_, self := c.eng.Self()
	from, to := self, c.group[peer]
	if role != 0 {
		from, to = to, from
	}
	key := splitmix.Mix(uint64(uint32(from))<<32|uint64(uint32(to))) ^ splitmix.Mix(uint64(tag))
	n := whole.count(splitmix.Mix(key ^ splitmix.Mix(partsBranch+role)))
	p := &Partitioned{c: c, op: op, peer: c.group[peer], rank: peer, tag: tag, data: data}
	// Bit 0 is that of collective traffic.
	p.context = branchOf(splitmix.Mix(branchOf(c.context, partsBranch)^key), n) &^ collectivePart
	p.schedule.Name, p.schedule.Context = op, p.context
	return p, whole.openParts(p.context)
}

// openParts opens the context of an end. To itself a rank has both ends.
func (c *Comm) openParts(context uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ends == nil {
		c.ends = map[uint64]int{}
	}
	if c.ends[context]++; c.ends[context] > 1 {
		return nil
	}
	return c.eng.OpenBranch(c.context, context, c.group, false)
}

func (c *Comm) closeParts(context uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ends[context]--; c.ends[context] == 0 {
		delete(c.ends, context)
		c.eng.CloseContext(context)
	}
}

// Sends says that this is the sender's end.
func (p *Partitioned) Sends() bool { return p.left != nil }

// Start begins a round. The data, or the buffer, belongs to the operation until it has ended.
func (p *Partitioned) Start() engine.Handle {
	s := &p.schedule
	s.Clear()
	if p.Sends() {
		p.startSend()
	} else if l := p.layout.Load(); l != nil {
		p.layout.Store(&pieces{n: l.n, size: l.size, total: l.total, err: l.err})
		p.receives()
	} else {
		b := s.Scratch(layoutSize)
		s.ReceiveTagged(p.peer, layoutTag, b)
		s.Wait()
		s.Work(func() {
			p.learn(b)
			p.receives()
		})
	}
	h := p.c.eng.Start(s)
	if p.Sends() && p.parts == 0 && p.c.copies {
		p.c.eng.Give(s, p.peer, 0, nil) // the receiver can't know that there are no parts
	}
	return h
}

func (p *Partitioned) startSend() {
	s, l := &p.schedule, p.layout.Load()
	for i := range p.left {
		p.left[i] = int32(min(l.per, p.parts-i*l.per))
	}
	if !p.told && !p.c.copies {
		b := s.Scratch(layoutSize)
		binary.LittleEndian.PutUint64(b, uint64(l.n))
		binary.LittleEndian.PutUint64(b[8:], uint64(l.size))
		binary.LittleEndian.PutUint64(b[16:], uint64(len(p.data)))
		s.SendTagged(p.peer, layoutTag, b)
	}
	p.told = true
	s.Given(l.n)
}

// learn takes the layout that the sender tells. The receiver may have more room than the sender has
// data. If it has less, the pieces are received nevertheless, as far as there is room: the sender
// must not wait for ever.
func (p *Partitioned) learn(b []byte) {
	n, size, total := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])
	l := &pieces{n: int(n), size: int(size), total: int(total), base: 1}
	switch {
	case n > maxPieces || size > maxPiece || total > maxPiece || n*size < total || total > 0 && (n-1)*size >= total:
		l = &pieces{err: ErrLayout}
	case total > uint64(len(p.data)):
		l.err = &process.SizeError{Source: p.peer, Tag: int32(p.tag), Has: int(total), Fit: len(p.data), Err: process.ErrTruncated}
	}
	p.layout.Store(l)
}

// receives adds the receives of a round.
func (p *Partitioned) receives() {
	l := p.layout.Load()
	if p.c.copies { // nobody has told how much comes
		p.schedule.TakeTagged(p.peer, 0, p.data)
		return
	}
	for i := range l.n {
		p.schedule.ReceiveTagged(p.peer, int32(i), p.piece(l, i))
	}
}

// piece is the part of the data that is in a piece.
func (p *Partitioned) piece(l *pieces, i int) []byte {
	end := min(l.total, len(p.data))
	return p.data[min(i*l.size, end):min((i+1)*l.size, end)]
}

// Ready says that a part of the sender's may travel. Each part is made ready once in a round.
func (p *Partitioned) Ready(part int) {
	l := p.layout.Load()
	i := part / l.per
	p.mu.Lock()
	p.left[i]--
	whole := p.left[i] == 0
	p.mu.Unlock()
	if whole {
		data := p.piece(l, i)
		if p.c.calls != nil {
			p.c.sends(p.op, data, p.rank, p.tag)
		}
		p.c.eng.Give(&p.schedule, p.peer, int32(i), data)
	}
}

// Arrived tells whether the bytes from first to last-1 have arrived in this round. The error is
// that of the operation, which has failed then. What is behind the sender's data has arrived with
// all of it.
func (p *Partitioned) Arrived(first, last int) (bool, error) {
	if p.c.copies { // all comes at once, and only the end tells how much it was
		is, err := p.c.eng.Arrived(&p.schedule, 0, maxPieces+2)
		return is, p.Outcome(err)
	}
	l := p.layout.Load()
	if l == nil {
		p.c.eng.TestUntil(func(func(engine.Handle) bool) bool { return p.layout.Load() != nil })
		if l = p.layout.Load(); l == nil {
			is, err := p.c.eng.Arrived(&p.schedule, 0, maxPieces+2) // it may have failed
			return is, p.Outcome(err)
		}
	}
	from, to := 0, l.n
	if l.size > 0 && first < min(last, l.total) {
		from, to = min(first/l.size, l.n), min((last-1)/l.size+1, l.n)
	}
	is, err := p.c.eng.Arrived(&p.schedule, l.base+from, l.base+to)
	return is, p.Outcome(err)
}

// Bytes is how much a round that has ended well has brought; 0 before the first.
func (p *Partitioned) Bytes() int {
	if p.c.copies {
		return p.schedule.Taken()
	}
	if l := p.layout.Load(); l != nil {
		return l.total
	}
	return 0
}

// Outcome is the error of a round whose operation in the engine has ended with err.
func (p *Partitioned) Outcome(err error) error {
	if l := p.layout.Load(); l != nil && l.err != nil {
		err = l.err
	}
	if err == nil {
		return nil
	}
	return &Error{p.op, p.c.rank, p.rank, p.tag, p.c.sized(err)}
}

// Free gives up the end. No round is under way.
func (p *Partitioned) Free() { p.c.whole().closeParts(p.context) }

// whole is the communicator of both groups of an intercommunicator, and c of another.
func (c *Comm) whole() *Comm {
	if c.parts != nil {
		return c.parts.whole
	}
	return c
}
