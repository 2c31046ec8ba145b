package handshake

import (
	"context"
	"net"
	"time"

	"banyan/internal/runtime/seal"
)

// Connect makes one attempt to reach a listener over TCP and to run the handshake with it, in at
// most limit. It returns the open connection and the acceptor's answer.
func (p *Protocol) Connect(ctx context.Context, d *net.Dialer, address string, limit time.Duration, secret, payload []byte) (net.Conn, []byte, error) {
	var answer []byte
	conn, err := connect(ctx, d, address, limit, func(conn net.Conn) (_ net.Conn, err error) {
		answer, err = p.Dial(conn, secret, payload)
		return conn, err
	})
	return conn, answer, err
}

// ConnectSealed is Connect, and agrees on keys to seal what follows, as DialSealed.
func (p *Protocol) ConnectSealed(ctx context.Context, d *net.Dialer, address string, limit time.Duration, secret, payload []byte) (net.Conn, []byte, seal.Keys, error) {
	var answer []byte
	var keys seal.Keys
	conn, err := connect(ctx, d, address, limit, func(conn net.Conn) (_ net.Conn, err error) {
		answer, keys, err = p.DialSealed(conn, secret, payload)
		return conn, err
	})
	return conn, answer, keys, err
}

// connect makes one attempt to reach a listener over TCP and to greet it, in at most limit. It
// returns the connection that greet makes of the one to the listener, which it closes after an
// error.
func connect(ctx context.Context, d *net.Dialer, address string, limit time.Duration, greet func(net.Conn) (net.Conn, error)) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	talk, err := greet(conn)
	if !stop() {
		err = ctx.Err()
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return talk, nil
}

// Backoff is the pause between attempts to do something: it doubles from one to the next.
type Backoff struct {
	Next time.Duration // the next pause
	Max  time.Duration // no pause is longer
}

// Pause waits for the next pause; false if ctx has ended.
func (b *Backoff) Pause(ctx context.Context) bool {
	wait := b.Next
	b.Next = min(2*wait, b.Max)
	return Pause(ctx, wait)
}

// Pause waits for d, or until ctx ends: then it returns false.
func Pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}
