// Package poller waits for all connections of a member, for its next deadline and for what other
// goroutines want of it at once, in one goroutine: that of the member's loop. On Linux it needs one
// epoll descriptor, however many connections there are.
//
// A goroutine for each connection would cost a stack and a buffer, most of them for connections on
// which nothing comes for hours. And to hand over what comes to another goroutine wakes a second
// thread for each heartbeat: that costs more than the heartbeat.
//
// # Invariants
//
//   - Only Wait calls Bytes and End. End is the last call of a [Handler], and comes once, unless
//     the socket was closed on this side: then none comes.
//   - A call of a Socket never waits, so a Handler may be waiting for the caller.
//   - A descriptor is used only while it is the socket's own (Socket.mu).
//
// # Limits
//
// A Handler that takes its time delays all connections of its Poller. Elsewhere than on Linux
// there is a goroutine for each connection, which hands over what comes; another one calls Room.
package poller

import "errors"

// Handler is told what happens to a connection.
type Handler interface {
	// Bytes takes what has come. The bytes are valid until it returns. Its error ends the
	// connection.
	Bytes(b []byte) error
	// Room is called after [Socket.AwaitRoom], when the connection takes bytes again. It may come
	// from another goroutine than that of Wait.
	Room()
	// End says that nothing more comes. The error is io.EOF if the other side has hung up.
	End(err error)
}

// ErrClosed is what Add returns after Close.
var ErrClosed = errors.New("the poller is closed")
