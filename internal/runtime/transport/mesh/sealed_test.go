package mesh

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/runtime/seal"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/transport/transporttest"
	"banyan/internal/runtime/wire"
)

// sealAll makes a job all of whose connections are sealed, although it has one host.
func sealAll(c *Config) { c.Media, c.Sealing = Sockets, seal.TCP }

// The conformance suite passes over sealed connections, too.
func TestConformanceSealed(t *testing.T) {
	before := openFiles(t)
	transporttest.Run(t, func(t *testing.T, n int) *transporttest.Job { return newJobOf(t, n, sealAll) })
	if after := openFiles(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// Only what leaves the host is sealed, unless the job wants more. Shared memory never is.
func TestWhatIsSealed(t *testing.T) {
	for _, c := range []struct {
		media   Media
		sealing seal.Policy
		want    bool
	}{
		{Sockets, seal.None, false},
		{Sockets, seal.Hosts, false}, // both are on this host
		{Sockets, seal.TCP, true},
		{SharedMemory, seal.TCP, false},
	} {
		j := newLocalJob(t, 2, func(cfg *Config) { cfg.Media, cfg.Sealing = c.media, c.sealing })
		j.talk()
		for p, tr := range j.transports {
			if got := tr.peers[1-p].sealed != nil; got != c.want {
				t.Errorf("media %d, sealing %d: process %d seals: %v", c.media, c.sealing, p, got)
			}
		}
	}
}

// Processes that differ in the setting don't connect, whichever of them dials, and both say why in
// one line.
func TestUnlikeSealing(t *testing.T) {
	for sealing := range 2 {
		t.Run(fmt.Sprint("process ", sealing, " seals"), func(t *testing.T) {
			var logs [2]testLog
			j := newLocalJob(t, 2, func(c *Config) {
				c.Media, c.Logger = Sockets, logs[c.Self].logger()
				if int(c.Self) == sealing {
					c.Sealing = seal.Hosts
				}
			})
			j.transports[0].Send(1, &wire.Header{Kind: wire.KindDone}, nil, 0)
			j.until("the end is told", func() bool { return j.witnesses[0].closed == 1 })
			if j.witnesses[0].why != transport.EvidenceLost {
				t.Errorf("the evidence is %v", j.witnesses[0].why)
			}
			for p := range logs {
				j.until("both have said why", func() bool {
					lines := logs[p].lines()
					return len(lines) == 1 && strings.Contains(lines[0], "level=WARN") && strings.Contains(lines[0], "--encrypt must be the same")
				})
			}
		})
	}
}

// middle is somebody between two processes, who passes their bytes on.
type middle struct {
	mu     sync.Mutex
	seen   [2][]byte                       // what each side has said; 0: the dialler
	change func(side int, b []byte) []byte // may be nil
	conns  []net.Conn
}

// newMiddle puts a middle in front of a listener. It returns where diallers find it.
func newMiddle(t *testing.T, address string) (*middle, string) {
	m := &middle{}
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var passing sync.WaitGroup
	passing.Go(func() {
		for {
			from, err := socket.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", address)
			if err != nil {
				from.Close()
				continue
			}
			m.mu.Lock()
			m.conns = append(m.conns, from, to)
			m.mu.Unlock()
			passing.Go(func() { m.pass(0, from, to) })
			passing.Go(func() { m.pass(1, to, from) })
		}
	})
	t.Cleanup(func() {
		socket.Close()
		m.cut()
		passing.Wait()
	})
	return m, socket.Addr().String()
}

func (m *middle) pass(side int, from, to net.Conn) {
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if err != nil {
			to.Close()
			return
		}
		m.mu.Lock()
		m.seen[side] = append(m.seen[side], b[:n]...)
		passed := b[:n]
		if m.change != nil {
			passed = m.change(side, bytes.Clone(passed))
		}
		m.mu.Unlock()
		if _, err := to.Write(passed); err != nil {
			from.Close()
			return
		}
	}
}

// cut ends all connections.
func (m *middle) cut() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.conns {
		c.Close()
	}
}

func (m *middle) set(change func(side int, b []byte) []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.change = change
}

// throughMiddle makes a job of two whose processes reach each other only through a middle: process
// 0 dials.
func throughMiddle(t *testing.T, sealing seal.Policy) (*localJob, *middle) {
	var m *middle
	var front Card
	var there *Transport
	j := newLocalJob(t, 2, func(c *Config) {
		c.Media, c.Sealing = Sockets, sealing
		if c.Self == 0 {
			c.Resolve = func(proto.Proc) (Card, error) { return front, nil }
		}
	})
	there = j.transports[1]
	front = there.Card()
	m, front.Addr = newMiddle(t, front.Addr)
	return j, m
}

var plain = []byte("This sentence stands in every message of the job. ")

// send sends the next frame from one process to the other, with data that are easy to recognise.
func (c *localJob) send(from, size int) {
	to := 1 - from
	data := bytes.Repeat(plain, size/len(plain)+1)[:size]
	c.transports[from].Send(proto.Proc(to), &wire.Header{Kind: wire.KindEager, Seq: c.witnesses[to].frames + 1, Total: uint64(size)}, data, 0)
}

// Somebody who listens between two hosts sees their data, unless they are sealed.
func TestEavesdropper(t *testing.T) {
	for _, sealing := range []seal.Policy{seal.None, seal.TCP} {
		j, m := throughMiddle(t, sealing)
		for _, size := range []int{200, 5000, 200000} {
			j.send(0, size)
			j.until("it has come", func() bool { return j.witnesses[1].frames > 0 })
			j.send(1, size)
			j.until("the answer has come", func() bool { return j.witnesses[0].frames > 0 })
			j.witnesses[0].frames, j.witnesses[1].frames = 0, 0
		}
		m.mu.Lock()
		for side, seen := range m.seen {
			if sees := bytes.Contains(seen, plain[:16]); sees != (sealing == seal.None) || len(seen) < 200000 {
				t.Errorf("sealing %d, side %d: the data are to be seen: %v, in %d bytes", sealing, side, sees, len(seen))
			}
		}
		m.mu.Unlock()
	}
}

// Whatever somebody between two hosts does to sealed data, no process takes in a frame that the
// other hasn't sent, and the connection ends as one that broke: that is no sign of a death.
func TestTampering(t *testing.T) {
	var record []byte // what has been said before
	for name, change := range map[string]func(b []byte) []byte{
		"a changed bit":      func(b []byte) []byte { b[len(b)/2] ^= 4; return b },
		"another length":     func(b []byte) []byte { b[0] ^= 1; return b },
		"bytes left out":     func(b []byte) []byte { return b[1:] },
		"bytes put in":       func(b []byte) []byte { return append([]byte("forged"), b...) },
		"a record again":     func(b []byte) []byte { return append(bytes.Clone(record), b...) },
		"a record exchanged": func(b []byte) []byte { return record },
		"a frame in clear": func(b []byte) []byte {
			frame := make([]byte, wire.HeaderSize)
			wire.EncodeHeader(frame, &wire.Header{Kind: wire.KindEager, Seq: 3})
			return frame
		},
	} {
		t.Run(name, func(t *testing.T) {
			j, m := throughMiddle(t, seal.TCP)
			j.send(0, 100)
			j.until("the first has come", func() bool { return j.witnesses[1].frames == 1 })
			m.set(func(side int, b []byte) []byte {
				if side == 0 {
					record = bytes.Clone(b)
				}
				return b
			})
			j.send(0, 100)
			j.until("the second has come", func() bool { return j.witnesses[1].frames == 2 })
			m.set(func(side int, b []byte) []byte {
				if side == 0 {
					return change(b)
				}
				return b
			})
			j.until("the end is told", func() bool {
				// Some changes make the reader wait for more.
				if tr := j.transports[0]; tr.Queued(1) == 0 {
					tr.Send(1, &wire.Header{Kind: wire.KindEager, Seq: 3, Total: uint64(len(plain))}, plain, 0)
				}
				return j.witnesses[1].closed == 1
			})
			if w := j.witnesses[1]; w.frames != 2 || w.why != transport.EvidenceLost {
				t.Errorf("%d frames, then the evidence %v", w.frames, w.why)
			}
		})
	}
}

// A sealed connection that is cut hands on a prefix of whole frames.
func TestTruncation(t *testing.T) {
	j, m := throughMiddle(t, seal.TCP)
	j.send(0, 100)
	j.until("the first has come", func() bool { return j.witnesses[1].frames == 1 })
	m.set(func(side int, b []byte) []byte {
		if side == 0 {
			return b[:len(b)/2]
		}
		return b
	})
	j.send(0, 3000)
	for range 100 {
		j.transports[0].Poll(j.witnesses[0])
		j.transports[1].Poll(j.witnesses[1])
	}
	m.cut()
	j.until("the end is told", func() bool { return j.witnesses[1].closed == 1 })
	if w := j.witnesses[1]; w.frames != 1 || w.why != transport.EvidenceLost {
		t.Errorf("%d frames, then the evidence %v", w.frames, w.why)
	}
}

// A handshake in which somebody exchanges the public keys comes to nothing.
func TestExchangedKeys(t *testing.T) {
	j, m := throughMiddle(t, seal.TCP)
	j.transports[0].dialler.limit = 0
	m.set(func(side int, b []byte) []byte {
		if len(b) > 20 {
			b[len(b)-1] ^= 1 // of the nonce in hello and challenge
		}
		return b
	})
	j.send(0, 100)
	j.until("the end is told", func() bool { return j.witnesses[0].closed == 1 })
	if j.witnesses[1].frames > 0 {
		t.Error("a frame has come")
	}
}

// The pieces in which a stream comes make no difference.
func TestSealedPieces(t *testing.T) {
	j, m := throughMiddle(t, seal.TCP)
	var held []byte // the end of what was said last
	back := 0       // so many bytes of it
	m.set(func(side int, b []byte) []byte {
		if side == 1 {
			return b
		}
		held = append(held, b...)
		k := max(len(held)-back, 0)
		b, held = held[:k:k], held[k:]
		return b
	})
	holdBack := func(n int) {
		m.mu.Lock()
		defer m.mu.Unlock()
		back = n
	}
	next := func(seq, size int) {
		data := bytes.Repeat(plain, size/len(plain)+1)[:size]
		j.transports[0].Send(1, &wire.Header{Kind: wire.KindEager, Seq: uint64(seq), Total: uint64(size)}, data, 0)
	}
	next(1, 10)
	j.until("they are connected", func() bool { return j.witnesses[1].frames == 1 })
	holdBack(7)
	sizes := []int{10, 10, 4097, 70000, 10, 300000, 1, 20000, 20000}
	for i, size := range sizes {
		next(i+2, size)
		j.until("the one before has come", func() bool { return j.witnesses[1].frames == uint64(i+1) })
	}
	holdBack(0)
	next(len(sizes)+2, 10)
	j.until("all frames have come", func() bool { return j.witnesses[1].frames == uint64(len(sizes)+2) })
}
