package handshake

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"time"
)

const (
	// MaxPending is how many connections may be without a proof at a time.
	MaxPending = 64
	// pendingRight is how long each of them is protected from newer ones. Strangers that connect
	// and say nothing can't keep honest diallers out.
	pendingRight = 200 * time.Millisecond
	// acceptPause follows an error of the listener, such as a lack of descriptors.
	acceptPause = 200 * time.Millisecond
)

// Gate limits how many connections wait for their dialler's proof. Its zero value is ready for
// use; several listeners may share one.
type Gate struct {
	mu      sync.Mutex
	pending []arrival // the oldest first
}

// arrival is a connection without a proof.
type arrival struct {
	conn net.Conn
	at   time.Time
}

// Serve calls greet for each connection, on a goroutine of its own. greet owns the connection. When
// the dialler has proved that it knows the secret, greet calls proven or returns: from then on no
// stranger can take the connection's place. Serve closes the connections in greet when ctx ends.
// failed is told of errors of the listener. Serve returns after the listener was closed or ctx has
// ended, and every greet has returned.
func (g *Gate) Serve(ctx context.Context, listener net.Listener, greet func(conn net.Conn, proven func()), failed func(error)) {
	var greeting sync.WaitGroup
	defer greeting.Wait()
	for {
		conn, err := listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			failed(err)
			if !Pause(ctx, acceptPause) {
				return
			}
			continue
		case !g.await(ctx, conn):
			conn.Close()
			return
		}
		greeting.Go(func() {
			defer context.AfterFunc(ctx, func() { conn.Close() })()
			defer g.leave(conn)
			greet(conn, func() { g.leave(conn) })
		})
	}
}

// await waits until a connection may be among the pending; false if ctx ends first.
func (g *Gate) await(ctx context.Context, conn net.Conn) bool {
	for ctx.Err() == nil {
		if g.enter(conn) {
			return true
		}
		Pause(ctx, time.Millisecond)
	}
	return false
}

// enter makes a connection one of the pending. If there are MaxPending it closes the oldest,
// unless that is still protected: then it returns false.
func (g *Gate) enter(conn net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.pending) >= MaxPending {
		oldest := g.pending[0]
		if time.Since(oldest.at) < pendingRight {
			return false
		}
		oldest.conn.Close()
		g.pending = slices.Delete(g.pending, 0, 1)
	}
	g.pending = append(g.pending, arrival{conn, time.Now()})
	return true
}

// leave takes a connection from the pending, if it is one of them.
func (g *Gate) leave(conn net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pending = slices.DeleteFunc(g.pending, func(a arrival) bool { return a.conn == conn })
}
