package mesh

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/proto"
	"banyan/internal/runtime/handshake"
	"banyan/internal/runtime/seal"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
)

// testLog is a log that several goroutines write.
type testLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *testLog) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *testLog) lines() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.FieldsFunc(j.text.String(), func(r rune) bool { return r == '\n' })
}

func (j *testLog) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// localJob is a job whose Procs all are in this process, each with a witness.
type localJob struct {
	t          *testing.T
	transports []*Transport
	witnesses  []*witness
}

func newLocalJob(t *testing.T, n int, change func(*Config)) *localJob {
	c := &localJob{t: t, transports: newTransports(t, n, change)}
	for range n {
		c.witnesses = append(c.witnesses, &witness{t: t})
	}
	return c
}

func (c *localJob) until(what string, done func() bool) {
	c.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); time.Sleep(50 * time.Microsecond) {
		for p, tr := range c.transports {
			tr.Poll(c.witnesses[p])
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("no end of waiting until %s", what)
		}
	}
}

// talk sends the next frame from Proc 0 to Proc 1, and waits for it.
func (c *localJob) talk() {
	c.t.Helper()
	want := c.witnesses[1].frames + 1
	c.transports[0].Send(1, &wire.Header{Kind: wire.KindEager, Seq: want}, nil, 0)
	c.until("the frame has arrived", func() bool { return c.witnesses[1].frames == want })
}

// A stranger is refused, causes one warning, and disturbs no process. A dialler that hangs up
// before it has said anything wrong is no stranger: a peer does that if its job ends while it
// dials. It doesn't use up the warning either.
func TestStrangers(t *testing.T) {
	var log testLog
	c := newLocalJob(t, 2, func(cfg *Config) {
		if cfg.Self == 1 {
			cfg.Logger = log.logger()
		}
	})
	card := c.transports[1].Card()
	stranger := testParty(0)
	stranger.incarnation = 0
	// greeting is the first message of a dialler that means this job, or another one.
	greeting := func(job byte) []byte {
		h := hello{purpose: toConnect, job: c.transports[1].dialler.job, to: 1, toIncarnation: card.Incarnation}
		h.job[0] += job
		var sent bytes.Buffer
		handshake.Job.Dial(struct {
			io.Writer
			io.Reader
		}{&sent, strings.NewReader("")}, testSecret, h.encode())
		return bytes.Clone(sent.Bytes())
	}
	// leaves says something and hangs up.
	leaves := func(said []byte) func(net.Conn) {
		return func(conn net.Conn) {
			conn.Write(said)
			conn.(*net.TCPConn).CloseWrite()
		}
	}
	strangers := []struct {
		name, level, reason string
		visit               func(conn net.Conn)
	}{
		{"a peer that ends before its hello", "DEBUG", "hello: the dialler hung up: EOF", leaves(nil)},
		{"a peer that ends in its hello", "DEBUG", "hello: the dialler hung up: unexpected EOF", leaves(greeting(0)[:20])},
		{"a peer that ends before its proof", "DEBUG", "proof: the dialler hung up: EOF", leaves(greeting(0))},
		{"a peer that ends in its proof", "DEBUG", "proof: the dialler hung up: unexpected EOF", leaves(append(greeting(0), 1))},
		{"a peer that is killed", "DEBUG", "connection reset by peer", func(conn net.Conn) {
			conn.(*net.TCPConn).SetLinger(0)
			conn.Close()
		}},
		{"a browser", "WARN", "hello: a stranger", func(conn net.Conn) { conn.Write([]byte("GET / HTTP/1.1\r\nHost: there\r\n\r\n")) }},
		{"a browser that hangs up", "WARN", "hello: a stranger", leaves([]byte("GET"))},
		{"one of another job", "WARN", "meant for another process", leaves(greeting(1))},
		{"one with a wrong secret", "WARN", "proof: a stranger", func(conn net.Conn) {
			if v, _, _, err := stranger.dial(conn, 1, 1, toConnect, seal.Never); err == nil {
				t.Errorf("a wrong secret gets %v", v)
			}
		}},
	}
	warned := &c.transports[1].refused // so the next one isn't
	visit := func(name, level, reason string, visit func(net.Conn)) {
		t.Helper()
		before := len(log.lines())
		conn, err := net.Dial("tcp", card.Addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(10 * time.Second))
		visit(conn)
		io.Copy(io.Discard, conn) // until the listener hangs up
		c.until("it is logged", func() bool { return len(log.lines()) > before })
		if line := log.lines()[before]; !strings.Contains(line, reason) || !strings.Contains(line, "level="+level) {
			t.Errorf("%s: logged is %s", name, line)
		}
		c.talk()
	}
	for _, s := range strangers {
		warned.Store(false)
		visit(s.name, s.level, s.reason, s.visit)
		if warned.Load() != (s.level == "WARN") {
			t.Errorf("%s: has used up the warning: %v", s.name, warned.Load())
		}
	}
	last := strangers[len(strangers)-1]
	visit("the same again", "DEBUG", last.reason, last.visit)
	if lines := log.lines(); len(lines) != len(strangers)+1 {
		t.Errorf("logged is %q", lines)
	}
}

// Strangers that connect and say nothing don't keep the job's processes out.
func TestSilentStrangers(t *testing.T) {
	c := newLocalJob(t, 2, nil)
	for range 3 * handshake.MaxPending {
		conn, err := net.Dial("tcp", c.transports[1].Card().Addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	c.talk()
}

// More than handshake.MaxPending processes of the job may connect at once, each dialling all
// others.
func TestManyConnectAtOnce(t *testing.T) {
	const n = 20
	c := newLocalJob(t, n, nil)
	for p, tr := range c.transports {
		for to := range proto.Proc(n) {
			if to != proto.Proc(p) {
				tr.Send(to, &wire.Header{Kind: wire.KindDone}, nil, 0)
			}
		}
	}
	// There are several senders, so a witness, which expects frames in order, doesn't fit.
	heard := make([]counter, n)
	deadline := time.Now().Add(20 * time.Second)
	for all := false; !all; time.Sleep(50 * time.Microsecond) {
		all = true
		for p, tr := range c.transports {
			tr.Poll(&heard[p])
			all = all && heard[p].frames == n-1
		}
		if time.Now().After(deadline) {
			t.Fatalf("not all have heard all others: %+v", heard)
		}
	}
	for p := range heard {
		if heard[p].ends != 0 {
			t.Errorf("%d was told %d ends", p, heard[p].ends)
		}
	}
}

// counter is a sink that counts.
type counter struct{ frames, ends int }

func (c *counter) Frame(proto.Proc, *wire.Header, []byte) { c.frames++ }
func (c *counter) Dest(proto.Proc, *wire.Header) []byte   { return nil }
func (c *counter) Arrived(proto.Proc, *wire.Header)       { c.frames++ }
func (c *counter) Sent(proto.Proc, uint64)                {}
func (c *counter) Closed(proto.Proc, transport.Evidence)  { c.ends++ }

// A process of the job that sends nonsense is cut off, and no other is.
func TestCorruptPeer(t *testing.T) {
	c := newLocalJob(t, 3, func(c *Config) { c.Media = Sockets })
	c.talk()
	victim := c.transports[1]
	d := *c.transports[2].dialler
	via, v, _, err := d.try(context.Background(), bound{limit: time.Second}, 1, victim.Card(), toConnect)
	if err != nil || v != accepted {
		t.Fatal(v, err)
	}
	defer via.close()
	unix.Write(via.fd, bytes.Repeat([]byte("x"), wire.HeaderSize))
	w := c.witnesses[1]
	c.until("the corrupt one is cut off", func() bool { return w.closed == 1 })
	if w.why != transport.EvidenceLost {
		t.Errorf("the evidence is %v", w.why)
	}
	w.closed = 0
	c.talk()
}

// The listener of the links refuses a peer that dials for a meeting.
func TestMeetingIsNoLink(t *testing.T) {
	c := newLocalJob(t, 2, func(*Config) {})
	peer := handshake.Meeting{Self: 0, Secret: c.transports[1].dialler.secret}
	if conn, err := peer.Dial(t.Context(), c.transports[1].Card().Addr, 1); err == nil {
		conn.Close()
		t.Error("it is let in")
	}
}

func TestVersionMismatchIsSaid(t *testing.T) {
	var log testLog
	c := newLocalJob(t, 2, func(cfg *Config) { cfg.Logger = log.logger() })
	later := *handshake.Job
	later.Min, later.Max = 8, 9
	c.transports[0].dialler.protocol = &later
	c.transports[0].Send(1, &wire.Header{Kind: wire.KindDone}, nil, 0)
	c.until("the end is told", func() bool { return c.witnesses[0].closed == 1 })
	if c.witnesses[0].why != transport.EvidenceLost {
		t.Errorf("the evidence is %v", c.witnesses[0].why)
	}
	for self, text := range []string{"speaks 8 to 9, the other 1 to 1", "speaks 1 to 1, the other 8 to 9"} {
		c.until("both sides have logged why", func() bool {
			return slices.ContainsFunc(log.lines(), func(line string) bool {
				return strings.Contains(line, fmt.Sprint("self=", self)) && strings.Contains(line, text)
			})
		})
	}
}

// A peer that can't be reached is lost after a while, and borrowed payloads are given back. There
// is a warning, unless the reason is a death.
func TestUnreachable(t *testing.T) {
	for name, c := range map[string]struct {
		level   string
		resolve func(proto.Proc) (Card, error)
	}{
		"no listener": {"WARN", func(proto.Proc) (Card, error) {
			return Card{Host: "elsewhere/1", Addr: "127.0.0.1:1", Pid: 1}, nil
		}},
		"no card":     {"WARN", cards{{}, {}}.resolve},
		"died before": {"DEBUG", func(proto.Proc) (Card, error) { return Card{}, ErrNoCard }},
	} {
		t.Run(name, func(t *testing.T) {
			var log testLog
			tr := newTransports(t, 1, func(cfg *Config) { cfg.N, cfg.Incarnations, cfg.Resolve, cfg.Logger = 2, nil, c.resolve, log.logger() })[0]
			tr.dialler.limit = 50 * time.Millisecond
			w := &witness{t: t}
			tr.Send(1, &wire.Header{Kind: wire.KindEager, Total: 3}, []byte("abc"), 5)
			if tr.Queued(1) != wire.HeaderSize+3 {
				t.Errorf("%d bytes wait", tr.Queued(1))
			}
			watch(t, tr, w, "the end is told", func() bool { return w.closed == 1 })
			if w.why != transport.EvidenceLost || tr.Queued(1) != 0 {
				t.Errorf("%v, %d bytes wait", w.why, tr.Queued(1))
			}
			if lines := log.lines(); len(lines) != 1 || !strings.Contains(lines[0], "level="+c.level) {
				t.Errorf("logged is %q", lines)
			}
		})
	}
}

func TestListenRefuses(t *testing.T) {
	good := Config{Self: 0, N: 1, Secret: testSecret, Resolve: cards{}.resolve}
	for name, spoil := range map[string]func(*Config){
		"no process":   func(c *Config) { c.N = 0 },
		"outside":      func(c *Config) { c.Self = 1 },
		"short secret": func(c *Config) { c.Secret = c.Secret[:handshake.MinSecret-1] },
		"no resolver":  func(c *Config) { c.Resolve = nil },
		"unspecified":  func(c *Config) { c.Host = "0.0.0.0" },
		"not here":     func(c *Config) { c.Host = "192.0.2.1" },
	} {
		cfg := good
		spoil(&cfg)
		if tr, err := Listen(cfg); err == nil {
			tr.Close()
			t.Errorf("%s: no error", name)
		}
	}
}

// A program that the process execs inherits no descriptor, and no socket listens after Close.
func TestDescriptors(t *testing.T) {
	c := newLocalJob(t, 2, nil)
	c.talk()
	for _, tr := range c.transports {
		fds := []int{tr.poller.epoll, tr.poller.alarm}
		for _, p := range tr.peers {
			if p != nil {
				fds = append(fds, p.fd, p.pidfd)
			}
		}
		if len(fds) != 4 {
			t.Fatalf("%d descriptors", len(fds))
		}
		for _, fd := range fds {
			if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
				t.Errorf("descriptor %d has flags %#x, %v", fd, flags, err)
			}
		}
	}
	c.transports[1].Close()
	if conn, err := net.Dial("tcp", c.transports[1].Card().Addr); err == nil {
		conn.Close()
		t.Error("a socket listens after Close")
	}
}

// An idle Wait really waits, whatever became of the peers: no descriptor is left that is always
// ready.
func TestIdleWaits(t *testing.T) {
	c := newLocalJob(t, 4, nil)
	for p := proto.Proc(1); p < 4; p++ {
		c.transports[p].Send(0, &wire.Header{Kind: wire.KindEager, Seq: uint64(p)}, nil, 0)
		c.until("they are connected", func() bool { return c.witnesses[0].frames == uint64(p) })
	}
	tr, w := c.transports[0], c.witnesses[0]
	tr.Fence(1)
	c.transports[2].Close()
	watch(t, tr, w, "the end is told", func() bool { return w.closed == 1 })
	for deadline := time.Now().Add(20 * time.Second); ; {
		tr.Poll(w)
		before := time.Now()
		tr.Wait(20 * time.Millisecond)
		if time.Since(before) > 15*time.Millisecond {
			break
		}
		if before.After(deadline) {
			t.Fatal("Wait never waits")
		}
	}
}
