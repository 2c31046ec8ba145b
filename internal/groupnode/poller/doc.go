// Package poller waits for all connections of a member at once: one goroutine, and on Linux one
// epoll descriptor, however many connections there are. A goroutine for each would cost a stack, a
// buffer and two descriptors of the Go runtime's poller, most of them for connections on which
// nothing comes for hours.
//
// # Invariants
//
//   - Bytes and End of one [Handler] come one after the other. End is the last of them, and comes
//     once, unless the socket was closed on this side.
//   - A call of a Socket never waits, so a Handler may be waiting for the caller.
//   - A descriptor is used only while it is the socket's own (Socket.mu).
//
// # Limits
//
// A Handler that takes its time delays all connections of its Poller. Elsewhere than on Linux
// there is a goroutine for each connection.
package poller

import "errors"

// Handler is told what happens to a connection.
type Handler interface {
	// Bytes takes what has come. The bytes are valid until it returns. Its error ends the
	// connection.
	Bytes(b []byte) error
	// Room is called after [Socket.AwaitRoom], when the connection takes bytes again.
	Room()
	// End says that nothing more comes. The error is io.EOF if the other side has hung up.
	End(err error)
}

// ErrClosed is what Add returns after Close.
var ErrClosed = errors.New("the poller is closed")
