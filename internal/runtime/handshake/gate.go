package handshake

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"time"
)

// acceptPause follows an error of the listener, such as a lack of descriptors.
const acceptPause = 200 * time.Millisecond

// Gate limits how many connections wait for their dialler's proof, altogether and for each source
// (room). Its zero value is ready for use; several listeners may share one.
//
// At a unix socket the kernel tells whose process the dialler is. One of another user is refused at
// once, and this user's own aren't limited: they could do worse.
type Gate struct {
	mu    sync.Mutex
	room  room
	timer *time.Timer // runs admit, when an old connection may be evicted
}

// Serve calls greet for each connection, on a goroutine of its own. greet owns the connection. When
// the dialler has proved that it knows the secret, greet calls proven or returns: from then on no
// stranger can take the connection's place. Serve closes the connections in greet when ctx ends.
// failed is told of errors of the listener, and of strangers that aren't greeted at all. Serve
// returns after the listener was closed or ctx has ended, and every greet has returned.
func (g *Gate) Serve(ctx context.Context, listener net.Listener, greet func(conn net.Conn, proven func()), failed func(error)) {
	s := &serving{ctx: ctx, gate: g, greet: greet}
	defer s.greeting.Wait()
	defer g.dismiss(s)
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
		case ctx.Err() != nil:
			conn.Close()
			return
		}
		if local, ok := conn.(*net.UnixConn); ok {
			if err := checkUser(local); err != nil {
				conn.Close()
				failed(err)
				continue
			}
			s.greeting.Go(func() { s.run(conn, func() {}) })
			continue
		}
		g.arrive(&visitor{from: sourceOf(conn.RemoteAddr()), conn: conn, at: s})
	}
}

// serving is a call of Serve.
type serving struct {
	ctx      context.Context
	gate     *Gate
	greet    func(conn net.Conn, proven func())
	greeting sync.WaitGroup
}

// run greets a dialler.
func (s *serving) run(conn net.Conn, proven func()) {
	defer context.AfterFunc(s.ctx, func() { conn.Close() })()
	s.greet(conn, proven)
}

// arrive lets a connection in: it is greeted now or later, or closed.
func (g *Gate) arrive(v *visitor) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.room.arrive(v) {
		v.conn.Close()
		return
	}
	g.admit()
}

// dismiss closes the connections that wait to be greeted by a call of Serve that ends.
func (g *Gate) dismiss(s *serving) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, v := range slices.Clone(g.room.parked) {
		if v.at == s {
			v.conn.Close()
			g.room.leave(v)
		}
	}
}

// admit greets those that may be greeted now. The lock is held.
func (g *Gate) admit() {
	for {
		next, evicted, wait := g.room.next(time.Now())
		if evicted != nil {
			evicted.conn.Close()
		}
		if next != nil {
			next.at.greeting.Go(func() {
				left := func() { g.leave(next) }
				defer left()
				next.at.run(next.conn, left)
			})
			continue
		}
		if wait > 0 {
			if g.timer == nil {
				g.timer = time.AfterFunc(wait, g.tick)
			} else {
				g.timer.Reset(wait)
			}
		}
		return
	}
}

func (g *Gate) tick() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.admit()
}

// leave frees a connection's place, if it has one.
func (g *Gate) leave(v *visitor) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.room.leave(v)
	g.admit()
}
