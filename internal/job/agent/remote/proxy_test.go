package remote

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// proxy stands between an agent and its launcher.
type proxy struct {
	socket net.Listener
	to     string

	mu    sync.Mutex
	conns []net.Conn
	deaf  chan struct{} // nothing passes until it is closed; nil: all passes
	count int
}

func newProxy(t testing.TB, to string) *proxy {
	t.Helper()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{socket: socket, to: to}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := socket.Accept()
			if err != nil {
				return
			}
			all.Go(func() { p.carry(c) })
		}
	})
	t.Cleanup(func() {
		socket.Close()
		p.open()
		p.cut(false)
		all.Wait()
	})
	return p
}

func (p *proxy) address() string { return p.socket.Addr().String() }

func (p *proxy) carry(c net.Conn) {
	defer c.Close()
	d, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer d.Close()
	p.mu.Lock()
	p.conns = append(p.conns, c, d)
	p.count++
	p.mu.Unlock()
	var two sync.WaitGroup
	for _, way := range [][2]net.Conn{{c, d}, {d, c}} {
		two.Go(func() {
			defer way[0].Close()
			defer way[1].Close()
			io.Copy(way[1], struct{ io.Reader }{readerFunc(func(b []byte) (int, error) {
				n, err := way[0].Read(b)
				p.wait()
				return n, err
			})})
		})
	}
	two.Wait()
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// wait waits while nothing passes.
func (p *proxy) wait() {
	p.mu.Lock()
	deaf := p.deaf
	p.mu.Unlock()
	if deaf != nil {
		<-deaf
	}
}

// cut breaks all connections, by a reset or in order.
func (p *proxy) cut(reset bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		if reset {
			c.(*net.TCPConn).SetLinger(0)
		}
		c.Close()
	}
	p.conns = nil
}

// block lets nothing pass, and breaks no connection.
func (p *proxy) block() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.deaf == nil {
		p.deaf = make(chan struct{})
	}
}

func (p *proxy) open() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.deaf != nil {
		close(p.deaf)
		p.deaf = nil
	}
}

func (p *proxy) connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count
}

// until waits for something that must happen.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}
