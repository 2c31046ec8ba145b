package seal

import (
	"errors"
	"fmt"
	"net"
)

// Policy says which connections of a job are sealed. All processes of a job must have the same.
type Policy uint8

// Policies.
const (
	None  Policy = iota // no connection
	Hosts               // TCP connections that leave the host
	TCP                 // all TCP connections
)

// Wish is what a dialler says of its connection in its hello, one byte. So the acceptor knows what
// follows the handshake, and whether the two have the same policy.
type Wish uint8

// Wishes.
const (
	Never   Wish = iota // the dialler seals nothing
	NotThis             // it seals connections, but this one stays as it is
	This                // what follows is sealed
)

// Wish is what a dialler with this policy says of a new connection. One between two addresses of
// this host doesn't leave the host.
func (p Policy) Wish(conn net.Conn) Wish {
	if p == None {
		return Never
	}
	here, ok := conn.LocalAddr().(*net.TCPAddr)
	there, alsoOK := conn.RemoteAddr().(*net.TCPAddr)
	switch {
	case !ok || !alsoOK:
		return NotThis
	case p == Hosts && (here.IP.Equal(there.IP) || here.IP.IsLoopback() && there.IP.IsLoopback()):
		return NotThis
	}
	return This
}

// ErrUnlike is about a process with another policy.
var ErrUnlike = errors.New("--encrypt must be the same for all processes of a job")

// Agrees says whether a dialler with such a wish may connect.
func (p Policy) Agrees(w Wish) bool { return (p == None) == (w == Never) }

// Unlike says how a process differs from the other side of a connection.
func (p Policy) Unlike() error {
	if p == None {
		return fmt.Errorf("the other side encrypts, this process doesn't: %w", ErrUnlike)
	}
	return fmt.Errorf("the other side doesn't encrypt, this process does: %w", ErrUnlike)
}
