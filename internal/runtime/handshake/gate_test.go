package handshake

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"
)

// open serves a gate until the test ends.
func open(t *testing.T, ctx context.Context, gate *Gate, greet func(net.Conn, func())) (address string) {
	t.Helper()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer close(served)
		gate.Serve(ctx, socket, greet, func(err error) { t.Error(err) })
	}()
	t.Cleanup(func() {
		cancel()
		socket.Close()
		<-served
		if n := len(gate.room.greeted) + len(gate.room.parked); n > 0 {
			t.Errorf("%d connections are pending at the end", n)
		}
	})
	return socket.Addr().String()
}

func connectTo(t *testing.T, address string) net.Conn {
	t.Helper()
	return connectFrom(t, "127.0.0.1", address)
}

// connectFrom connects from another address of this host.
func connectFrom(t *testing.T, source, address string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}}
	conn, err := d.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	return conn
}

// Diallers that connect and say nothing keep nobody out, and don't take the place of one that has
// proved itself.
func TestSilentCrowd(t *testing.T) {
	address := open(t, t.Context(), &Gate{}, func(conn net.Conn, proven func()) {
		defer conn.Close()
		b := make([]byte, 1)
		if _, err := io.ReadFull(conn, b); err == nil {
			proven()
			conn.Write(b)
			io.ReadFull(conn, b)
			conn.Write(b)
		}
	})
	speak := func(conn net.Conn, text string) {
		t.Helper()
		b := make([]byte, 1)
		io.WriteString(conn, text)
		if _, err := io.ReadFull(conn, b); err != nil || string(b) != text {
			t.Fatalf("%q, %v", b, err)
		}
	}
	honest := connectTo(t, address)
	speak(honest, "a")
	for range 2 * MaxPending {
		connectTo(t, address)
	}
	speak(connectTo(t, address), "b")
	speak(honest, "c")
}

// Thousands of silent connections from one address make nobody wait who comes from another one.
func TestCrowdFromElsewhere(t *testing.T) {
	greeted := make(chan string, 100_000)
	address := open(t, t.Context(), &Gate{}, func(conn net.Conn, proven func()) {
		defer conn.Close()
		host, _, _ := net.SplitHostPort(conn.RemoteAddr().String())
		greeted <- host
		io.Copy(io.Discard, conn)
	})
	for range 1500 {
		conn := connectFrom(t, "127.0.0.2", address)
		defer conn.Close()
	}
	begin := time.Now()
	connectTo(t, address)
	for host := range greeted {
		if host == "127.0.0.1" {
			break
		}
	}
	t.Logf("greeted after %v", time.Since(begin))
}

// At most MaxPending connections are without a proof at a time, and half as many of one address.
func TestGateIsBounded(t *testing.T) {
	var gate Gate
	var most atomic.Int64
	address := open(t, t.Context(), &gate, func(conn net.Conn, _ func()) {
		defer conn.Close()
		gate.mu.Lock()
		n := int64(len(gate.room.greeted))
		gate.mu.Unlock()
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		io.Copy(io.Discard, conn)
	})
	for range 2 * MaxPending {
		connectTo(t, address)
	}
	last := connectTo(t, address)
	last.(*net.TCPConn).CloseWrite()
	io.Copy(io.Discard, last) // until it has been greeted
	if got := most.Load(); got != MaxPending/2 {
		t.Errorf("%d connections were pending at a time", got)
	}
}

// The end of the context closes the connections that are being greeted, and ends Serve.
func TestGateEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var gate Gate
	address := open(t, ctx, &gate, func(conn net.Conn, _ func()) {
		defer conn.Close()
		io.Copy(io.Discard, conn)
	})
	const all = MaxPending + 3
	var conns []net.Conn
	for range all {
		conns = append(conns, connectTo(t, address))
	}
	// What the listener hasn't accepted yet is closed with the listener, not with the context.
	inside := func() int {
		gate.mu.Lock()
		defer gate.mu.Unlock()
		return len(gate.room.greeted) + len(gate.room.parked)
	}
	for deadline := time.Now().Add(20 * time.Second); inside() < all; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d connections have arrived", inside())
		}
	}
	cancel()
	for _, conn := range conns {
		if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the connection isn't closed: %v", err)
		}
	}
}

func TestBackoff(t *testing.T) {
	b := Backoff{Next: time.Millisecond, Max: 5 * time.Millisecond}
	begin := time.Now()
	for range 4 {
		if !b.Pause(t.Context()) {
			t.Fatal("it ended early")
		}
	}
	if took := time.Since(begin); took < 12*time.Millisecond || b.Next != b.Max {
		t.Errorf("1, 2, 4 and 5 ms took %v, the next is %v", took, b.Next)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if b.Next = time.Hour; b.Pause(ctx) {
		t.Error("it goes on after the end")
	}
}

// A listener that says nothing holds nobody up.
func TestSilentListener(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	if conn, _, err := variable.Connect(t.Context(), &net.Dialer{}, silent.Addr().String(), 50*time.Millisecond, testSecret, nil); err == nil {
		conn.Close()
		t.Error("somebody was reached")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := (Meeting{Self: 0, Secret: testSecret}).Dial(ctx, silent.Addr().String(), 1); err == nil {
		t.Error("somebody was met")
	}
}
