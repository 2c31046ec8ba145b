package mesh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"banyan/internal/proto"
	"banyan/internal/runtime/seal"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/transport/shm"
	"banyan/internal/runtime/wire"
)

// shares says whether two Procs of this process share memory.
func shares(a *Transport, b proto.Proc) bool { return a.peer(b).link != nil }

// Processes that can't share memory according to their cards, or turn out not to be able to, use
// TCP, in one job with processes that share memory.
func TestWhoSharesMemory(t *testing.T) {
	for name, c := range map[string]struct {
		change func(p proto.Proc, c *Card) // changes what 0 and 1 know of each other
		shared bool
	}{
		"the same host":               {func(proto.Proc, *Card) {}, true},
		"another host":                {func(_ proto.Proc, c *Card) { c.Host += "0" }, false},
		"another network namespace":   {func(_ proto.Proc, c *Card) { c.Local = "0" + c.Local }, false},
		"no shared memory":            {func(_ proto.Proc, c *Card) { c.Local = "" }, false},
		"a socket that isn't reached": {func(_ proto.Proc, c *Card) { c.Local += "0" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			published := make(cards, 3)
			transports := newTransports(t, 3, func(cfg *Config) {
				self := cfg.Self
				cfg.Resolve = func(p proto.Proc) (Card, error) {
					card, err := published.resolve(p)
					if self < 2 && p < 2 {
						c.change(p, &card)
					}
					return card, err
				}
			})
			for p, tr := range transports {
				published[p] = tr.Card()
			}
			crowd := &localJob{t: t, transports: transports, witnesses: []*witness{{t: t}, {t: t}, {t: t}}}
			crowd.talk()
			transports[2].Send(0, &wire.Header{Kind: wire.KindEager, Seq: 1}, nil, 0)
			crowd.until("2 is heard", func() bool { return crowd.witnesses[0].frames == 1 })
			if got := shares(transports[0], 1); got != c.shared {
				t.Errorf("shared memory: %v", got)
			}
			if !shares(transports[0], 2) {
				t.Error("the others share none")
			}
		})
	}
}

// A process that may use nothing but shared memory gets an error where there is none.
func TestNothingButSharedMemory(t *testing.T) {
	var log testLog
	c := newLocalJob(t, 2, func(cfg *Config) {
		cfg.Media, cfg.Logger = SharedMemory, log.logger()
		if cfg.Self == 1 {
			cfg.Media = Sockets
		}
	})
	c.transports[1].Send(0, &wire.Header{Kind: wire.KindDone}, nil, 0)
	c.until("the one with sockets is told the end", func() bool { return c.witnesses[1].closed == 1 })
	c.transports[0].Send(1, &wire.Header{Kind: wire.KindDone}, nil, 0)
	c.until("the end is told", func() bool { return c.witnesses[0].closed == 1 })
	if said := strings.Join(log.lines(), "\n"); strings.Count(said, "shares no memory") != 2 {
		t.Errorf("said: %s", said)
	}
}

// cutConn is a connection that breaks after so many bytes written.
type cutConn struct {
	net.Conn
	left int
}

var errCut = errors.New("the connection is cut")

func (c *cutConn) Write(b []byte) (int, error) {
	n, _ := c.Conn.Write(b[:min(len(b), c.left)])
	c.left -= n
	if n < len(b) {
		c.Conn.Close()
		return n, errCut
	}
	return n, nil
}

// A peer that ends at any byte of the handshake, or between the handshake and the exchange of
// descriptors, disturbs no other. A peer that lives, and doesn't know that it was accepted, is
// dialled in turn.
func TestEndsInHandshake(t *testing.T) {
	c := newLocalJob(t, 3, func(cfg *Config) { cfg.Media = SharedMemory })
	c.talk()
	victim := c.transports[1]
	step := 1
	if testing.Short() {
		step = 13
	}
	const whole = 12 + helloSize + 32 + 32 // the hello and the proof
	for n := whole % step; n <= whole; n += step {
		d := *c.transports[2].dialler
		conn, err := net.Dial("unix", victim.Card().socket())
		if err != nil {
			t.Fatal(err)
		}
		v, _, _, err := d.dial(&cutConn{conn, n}, 1, victim.Card().Incarnation, toConnect, seal.Never)
		conn.Close()
		if n < whole && !errors.Is(err, errCut) || n == whole && (err != nil || v != accepted) {
			t.Fatalf("after %d bytes: %v, %v", n, v, err)
		}
		if w := c.witnesses[1]; w.closed > 0 {
			t.Fatalf("after %d bytes: an end is told of one that hadn't begun", n)
		}
	}
	want := c.witnesses[1].frames + 1
	c.transports[2].Send(1, &wire.Header{Kind: wire.KindEager, Seq: want}, nil, 0)
	c.until("the peer that hung up is connected all the same", func() bool { return c.witnesses[1].frames == want })
	c.talk()
}

// A live peer on this host has all the time it takes to answer, whatever delays it: a debugger
// that steps through it can't be seen from here. The dialler stops waiting when the peer counts
// as dead.
func TestSlowToAnswer(t *testing.T) {
	c := newLocalJob(t, 3, func(cfg *Config) { cfg.Media = SharedMemory })
	name := fmt.Sprint("slow", os.Getpid()) // another run may be under way
	slow, err := net.Listen("unix", "@banyan-"+name)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	d := *c.transports[2].dialler
	d.limit = 10 * time.Millisecond
	card := c.transports[1].Card()
	here, _, _ := strings.Cut(card.Local, "/")
	card.Local = here + "/" + name
	if !d.table.startDial(1) {
		t.Fatal("there is a dial already")
	}
	outcome := make(chan news)
	go func() {
		outcome <- d.outgoing(1, card).run(t.Context())
	}()
	conn, err := slow.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	select {
	case n := <-outcome:
		t.Fatalf("it has given up: %+v", n)
	case <-time.After(50 * d.limit):
	}
	d.table.fence(1, true)
	if n := <-outcome; n.kind != ended {
		t.Errorf("the dial ends with %+v", n)
	}
}

// A process of the job that writes nonsense into the shared memory is cut off, and no other is.
func TestCorruptRing(t *testing.T) {
	c := newLocalJob(t, 3, func(cfg *Config) { cfg.Media = SharedMemory })
	c.talk()
	victim := c.transports[1]
	d := *c.transports[2].dialler
	via, v, _, err := d.try(context.Background(), bound{limit: time.Second}, 1, victim.Card(), toConnect)
	if err != nil || v != accepted {
		t.Fatal(v, err)
	}
	defer via.close()
	via.link.Out.Stream(bytes.Repeat([]byte("x"), wire.HeaderSize))
	via.link.Ring()
	w := c.witnesses[1]
	c.until("the corrupt one is cut off", func() bool { return w.closed == 1 })
	if w.why != transport.EvidenceLost {
		t.Errorf("the evidence is %v", w.why)
	}
	w.closed = 0
	c.talk()
}

// The death of any peer wakes a waiting process, even if the two share memory. The waiting
// process gets all that the peer had written, at whatever moment it is killed.
func TestKilledWhileAsleep(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 3
	}
	rng := rand.New(rand.NewPCG(5, 5))
	for range rounds {
		tr, cmd, _ := startChild(t, roleStream, SharedMemory)
		w := &witness{t: t}
		time.AfterFunc(time.Duration(rng.IntN(3000))*time.Microsecond, func() { cmd.Process.Kill() })
		for start := time.Now(); w.closed == 0; {
			if tr.Poll(w) == 0 {
				if w.frames == 0 {
					tr.Send(1, &wire.Header{Kind: wire.KindDone}, nil, 0) // it may die first
				}
				tr.Wait(20 * time.Second)
			}
			if time.Since(start) > 10*time.Second {
				t.Fatal("the death didn't wake a sleeper")
			}
		}
		if w.why != transport.EvidenceExited {
			t.Errorf("the evidence is %v", w.why)
		}
	}
}

// A process hears all of its peers, even if there are more than a Poll looks at directly, whether
// they send without a pause or send one frame now and then while the process waits.
func TestMoreThanAreActive(t *testing.T) {
	const n, frames = 3 * maxActive, 200
	transports := newTransports(t, n, func(cfg *Config) { cfg.Media = SharedMemory })
	var all sync.WaitGroup
	for p := 1; p < n; p++ {
		all.Go(func() {
			tr, w := transports[p], &witness{t: t}
			for i := range frames {
				tr.Send(0, &wire.Header{Kind: wire.KindEager, Seq: uint64(i + 1)}, nil, 0)
				for until := tr.Poll(w); p%3 == 0 && until < 2; until++ {
					tr.Wait(time.Millisecond)
				}
			}
			for start := time.Now(); w.frames == 0 && time.Since(start) < 20*time.Second; {
				if tr.Poll(w) == 0 {
					tr.Wait(time.Second)
				}
			}
			if w.frames != 1 {
				t.Errorf("%d has no answer", p)
			}
		})
	}
	w := &perPeer{t: t, tr: transports[0], frames: make([]uint64, n)}
	for start := time.Now(); w.full < n-1; {
		if transports[0].Poll(w) == 0 {
			transports[0].Wait(time.Second)
		}
		if time.Since(start) > 20*time.Second {
			t.Fatalf("heard to the end: %d of %d", w.full, n-1)
		}
	}
	all.Wait()
}

// perPeer is a sink that answers each peer's last frame.
type perPeer struct {
	t      *testing.T
	tr     *Transport
	frames []uint64
	full   int
}

func (w *perPeer) Frame(from proto.Proc, h *wire.Header, _ []byte) {
	if w.frames[from]++; w.frames[from] != h.Seq {
		w.t.Errorf("frame %d of %v as number %d", h.Seq, from, w.frames[from])
	}
	if h.Seq == 200 {
		w.full++
		w.tr.Send(from, &wire.Header{Kind: wire.KindEager, Seq: 1}, nil, 0)
	}
}
func (w *perPeer) Dest(proto.Proc, *wire.Header) []byte { return nil }
func (w *perPeer) Arrived(proto.Proc, *wire.Header)     {}
func (w *perPeer) Sent(proto.Proc, uint64)              {}
func (w *perPeer) Closed(p proto.Proc, why transport.Evidence) {
	w.t.Errorf("%v ended: %v", p, why)
}

// Rings are made only for pairs that send: one process of 64 has those of its neighbours.
func TestRingsOfThoseWhoTalk(t *testing.T) {
	const n = 64
	c := newLocalJob(t, n, func(cfg *Config) { cfg.Media = SharedMemory })
	c.talk()
	c.transports[5].Send(0, &wire.Header{Kind: wire.KindEager, Seq: 1}, nil, 0)
	c.until("5 is heard", func() bool { return c.witnesses[0].frames == 1 })
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	// Both ends of two pairs map a page, and each of two rings twice.
	size := 0
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "memfd:banyan-rings") {
			var from, to int
			fmt.Sscanf(line, "%x-%x", &from, &to)
			size += to - from
		}
	}
	if want := 2 * 2 * (4*shm.RingSize(n) + os.Getpagesize()); size != want {
		t.Errorf("%d bytes are mapped, want %d", size, want)
	}
}

// After Close none of a job's memory stays mapped.
func TestNoMapsLeft(t *testing.T) {
	c := newLocalJob(t, 3, func(cfg *Config) { cfg.Media = SharedMemory })
	c.talk()
	if maps(t) == 0 {
		t.Fatal("no shared memory is seen in use")
	}
	for _, tr := range c.transports {
		tr.Close()
	}
	if n := maps(t); n > 0 {
		t.Errorf("%d mappings are left", n)
	}
}

func maps(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(text, []byte("memfd:banyan"))
}
