package process

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
)

// modes is a program of two kinds of ranks. Even ones send numbered messages of
// all sizes to the next rank, by standard and synchronous sends in turn, and to
// themselves. Odd ones receive them in every way: posted, cancelled and posted again,
// probed and taken, into buffers that are too small, from a name or from any.
type modes struct {
	rank, total int
	at          int // messages begun
	send        []Handle
	recv        Handle
	buffer      []byte
	taken       Handle // by a matched probe
	probed      Status
	waiting     int // steps in which a receive may still be cancelled
	err         error
}

func (m *modes) size(i int) int {
	return [...]int{12, 100, EagerLimit, 5000, EagerLimit + 1, 13, fragmentSize + 17}[i%7]
}

func (m *modes) failed(format string, args ...any) bool {
	if m.err == nil {
		m.err = fmt.Errorf("rank %d, message %d: "+format, append([]any{m.rank, m.at}, args...)...)
	}
	return true
}

func (m *modes) step(p *Process) bool {
	if m.rank%2 == 0 {
		return m.stepSend(p)
	}
	return m.stepReceive(p)
}

func (m *modes) stepSend(p *Process) bool {
	m.send = slices.DeleteFunc(m.send, func(h Handle) bool {
		if !p.Done(h) {
			return false
		}
		if _, err := p.Take(h); err != nil {
			m.failed("%v", err)
		}
		return true
	})
	if m.at == m.total || len(m.send) > 2 {
		return m.at == m.total && len(m.send) == 0
	}
	b := make([]byte, m.size(m.at))
	m.at++
	fill(b, m.rank, m.at)
	dst := proto.Rank(m.rank + 1)
	if m.at%2 == 0 {
		m.send = append(m.send, p.SendSynchronous(2, dst, int32(m.at%3), b))
	} else {
		m.send = append(m.send, p.Send(2, dst, int32(m.at%3), b))
	}
	if m.at%5 == 0 { // to itself: it ends when it is received
		own := p.SendSynchronous(2, proto.Rank(m.rank), 7, b)
		if p.Done(own) {
			return m.failed("a synchronous send to itself doesn't wait")
		}
		got := make([]byte, len(b))
		m.send = append(m.send, p.Receive(2, proto.Rank(m.rank), 7, got), own)
		if !p.Done(own) || !slices.Equal(got, b) {
			return m.failed("a message to itself is spoiled, or not received")
		}
	}
	return false
}

func (m *modes) stepReceive(p *Process) bool {
	src, tag := proto.Rank(m.rank-1), int32((m.at+1)%3)
	if m.at%2 == 0 {
		src = proto.AnyRank
	}
	size := m.size(m.at)
	switch {
	case m.recv != Handle{}:
		if m.waiting--; m.waiting == 0 && p.Cancel(m.recv) {
			if _, err := p.Take(m.recv); !errors.Is(err, ErrCancelled) {
				return m.failed("a cancelled receive ends with %v", err)
			}
			m.recv = p.Receive(2, src, tag, m.buffer)
			return false
		}
		if !p.Done(m.recv) {
			return false
		}
		s, err := p.Take(m.recv)
		m.recv = Handle{}
		m.at++
		want := make([]byte, size)
		fill(want, m.rank-1, m.at)
		fits := len(m.buffer) >= size
		if fits != (err == nil) || !fits && !errors.Is(err, ErrTruncated) || s.Bytes != size ||
			s.Source != proto.Rank(m.rank-1) || !slices.Equal(m.buffer[:min(size, len(m.buffer))], want[:min(size, len(m.buffer))]) {
			return m.failed("%d of %d bytes, %+v, error %v", len(m.buffer), size, s, err)
		}
	case m.at == m.total:
		return true
	case m.taken != Handle{}: // no other receive finds it
		if s, ok, _ := p.Probe(2, src, tag); ok && s == m.probed && m.total-m.at == 1 {
			return m.failed("a message that was taken is found by a probe")
		}
		m.buffer = make([]byte, size)
		m.recv = p.ReceiveMatched(m.taken, m.buffer)
		m.taken = Handle{}
	case m.at%4 == 3:
		h, s, ok, err := p.MatchedProbe(2, src, tag)
		if err != nil {
			return m.failed("%v", err)
		}
		if ok {
			if m.taken, m.probed = h, s; s.Bytes != size {
				return m.failed("a probe finds %+v, want %d bytes", s, size)
			}
		}
	default:
		room := size
		if m.at%7 == 5 {
			room = size * 2 / 3
		}
		m.buffer = make([]byte, room)
		m.recv = p.Receive(2, src, tag, m.buffer)
		m.waiting = 3
	}
	return false
}

func TestModesSurviveCrashes(t *testing.T) {
	for _, c := range []struct{ ranks, degree, crashes int }{
		{2, 1, 0}, {2, 2, 0}, {2, 2, 1}, {2, 2, 2}, {4, 2, 3}, {2, 3, 3},
	} {
		t.Run(fmt.Sprintf("%dx%d/%d", c.ranks, c.degree, c.crashes), func(t *testing.T) {
			seeds(t, func(t *testing.T, seed uint64) {
				layout := layout.Uniform(c.ranks, c.degree)
				programs := map[proto.Proc]*modes{}
				w := newTestJob(t, seed, layout, func(r proto.Rank, k int) program {
					m := &modes{rank: int(r), total: 15}
					programs[layout.Proc(r, k)] = m
					return m
				})
				w.run(c.crashes, func() proto.Proc { return w.expendable() })
				for _, n := range w.nodes {
					if n.dead {
						continue
					}
					if err := programs[n.self].err; err != nil {
						t.Errorf("seed %d: %v: %v", seed, n.self, err)
					}
					n.checkEmpty(t, seed)
				}
			})
		})
	}
}

// A synchronous send waits for its receive, however small the message, and ends with an error if
// the receiver dies first.
func TestSynchronousSend(t *testing.T) {
	for _, size := range []int{0, 1, EagerLimit + 1} {
		p, w := single(t, layout.Uniform(3, 1))
		data := make([]byte, size)
		h := p.SendSynchronous(2, 1, 0, data)
		offer := w.last(wire.KindOffer)
		if offer == nil || p.Done(h) {
			t.Fatalf("%d bytes: the send doesn't wait", size)
		}
		pull := wire.Header{Kind: wire.KindPull, ID: offer.ID, Offset: 1 << 32, Total: uint64(size)}
		if size == 0 {
			pull.Flags = 1 // discard
		}
		p.Frame(1, &pull, nil)
		for _, token := range w.tokens {
			p.Sent(1, token)
		}
		if !p.Done(h) {
			t.Errorf("%d bytes: the send waits although the message has been taken", size)
		}
		p.Take(h)
		h = p.SendSynchronous(2, 2, 0, data)
		p.Closed(2, transport.EvidenceExited)
		if !p.Done(h) {
			t.Errorf("%d bytes: the send waits for the dead", size)
		}
		if _, err := p.Take(h); !errors.Is(err, ErrRankLost) {
			t.Error(err)
		}
	}
}

// A probe has taken a message whose sender dies before it is received.
func TestTakenMessageOfALostRank(t *testing.T) {
	p, _ := single(t, layout.Uniform(2, 1))
	p.Frame(1, &wire.Header{Kind: wire.KindOffer, Context: 2, Src: 1, Seq: 1, Total: 100_000, ID: 1 << 32}, nil)
	p.Frame(1, &wire.Header{Kind: wire.KindEager, Context: 2, Src: 1, Tag: 1, Total: 3}, []byte{1, 2, 3})
	offered, _, _, _ := p.MatchedProbe(2, 1, 0)
	here, _, _, _ := p.MatchedProbe(2, 1, 1)
	p.Closed(1, transport.EvidenceExited)
	h := p.ReceiveMatched(offered, make([]byte, 100_000))
	if !p.Done(h) {
		t.Fatal("the receive waits for the dead")
	}
	if _, err := p.Take(h); !errors.Is(err, ErrRankLost) {
		t.Error(err)
	}
	b := make([]byte, 3)
	h = p.ReceiveMatched(here, b)
	if s, err := p.Take(h); err != nil || s.Bytes != 3 || b[2] != 3 {
		t.Errorf("a message that was here: %+v %v %v", s, b, err)
	}
	h = p.ReceiveMatched(here, b)
	if _, err := p.Take(h); !errors.Is(err, ErrMessage) {
		t.Errorf("a second receive of a message ends with %v", err)
	}
}

// A message of more than 2^32 bytes has the right length. No byte of this one is moved.
func TestHugeMessage(t *testing.T) {
	const total = 5 << 30
	p, w := single(t, layout.Uniform(2, 1))
	// Never touched, it takes no memory.
	buffer, err := unix.Mmap(-1, 0, total, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(buffer)
	h := p.Receive(2, 1, 0, buffer)
	p.Frame(1, &wire.Header{Kind: wire.KindOffer, Context: 2, Src: 1, Seq: 1, Total: total, ID: 1 << 32}, nil)
	pull := w.last(wire.KindPull)
	if pull == nil || pull.Total != total {
		t.Fatalf("the pull is %+v", pull)
	}
	for at := uint64(0); at < total; at += wire.MaxPayload {
		data := wire.Header{Kind: wire.KindData, ID: pull.Offset, Offset: at, Total: total, Length: wire.MaxPayload}
		if dest := p.Dest(1, &data); &dest[0] != &buffer[at] || len(dest) != wire.MaxPayload {
			t.Fatalf("the fragment at %d goes to a wrong address", at)
		}
		p.Arrived(1, &data)
	}
	if s, err := p.Take(h); err != nil || s.Bytes != total {
		t.Errorf("%+v, %v", s, err)
	}

	h = p.Send(2, 1, 0, buffer)
	offer := w.last(wire.KindOffer)
	p.Frame(1, &wire.Header{Kind: wire.KindPull, ID: offer.ID, Offset: 1 << 32, Total: total}, nil)
	for i := 0; i < len(w.tokens); i++ {
		p.Sent(1, w.tokens[i])
	}
	if last := w.last(wire.KindData); !p.Done(h) || last.Offset+fragmentSize != total || last.Total != total {
		t.Errorf("the last fragment is %+v, the send is over: %v", last, p.Done(h))
	}
}
