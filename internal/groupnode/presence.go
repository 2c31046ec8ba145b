package groupnode

import (
	"encoding/hex"
	"errors"
	"net"
	"syscall"
	"time"
)

// A network can refuse or break any connection: a firewall does, in the name of a member that
// lives. So what the network says of a member's end is a hint. The kernel of the member's own host
// can't be mistaken: a member holds a unix socket, whose name is made of its nonce, as long as it
// lives, and members on the same host ask the kernel whether the name is still taken. What they
// find they tell the others (see reviewEnding).

// home names a kernel and a network namespace, in which names of unix sockets are the same; zero
// if they aren't known.
type home [8]byte

// presenceOf is the name that a member holds.
func presenceOf(n Nonce) *net.UnixAddr {
	return &net.UnixAddr{Net: "unixgram", Name: "@banyan-member-" + hex.EncodeToString(n[:])}
}

// showPresence takes the name of this member. Without it no member of this host can tell for
// certain that this one has ended.
func (m *Member) showPresence() {
	at := homeHere()
	if at == (home{}) || m.cfg.apart {
		return
	}
	socket, err := net.ListenUnixgram("unixgram", presenceOf(m.card.Nonce))
	if err != nil {
		m.log.Debug("no unix socket", "err", err)
		return
	}
	m.presence, m.card.Home = socket, at
}

const (
	// presenceGrace is how long a dying member's kernel may take from the end of its connections
	// to the release of its name.
	presenceGrace = 50 * time.Millisecond
	presencePause = time.Millisecond
)

// hasEnded says whether a member has certainly ended: it was on this host, and its name is free.
// Else the member may live.
func (m *Member) hasEnded(card Card) bool {
	if card.Home == (home{}) || card.Home != m.card.Home {
		return false
	}
	for deadline := time.Now().Add(presenceGrace); ; time.Sleep(presencePause) {
		conn, err := net.DialUnix("unixgram", nil, presenceOf(card.Nonce))
		if err == nil {
			conn.Close()
		}
		if errors.Is(err, syscall.ECONNREFUSED) {
			return true
		}
		if m.ctx.Err() != nil || time.Now().After(deadline) {
			return false
		}
	}
}
