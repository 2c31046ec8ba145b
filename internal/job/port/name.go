package port

import (
	"encoding/base64"
	"fmt"
	"net"
	"strings"
)

// A port's name is prefix, its address and its secret:
//
//	banyan-port:192.0.2.7:40123:SECRET
//
// The name lets its holder connect, and nobody else: the secret is random.
const (
	prefix = "banyan-port:"
	// MaxName is how many bytes a name has at most.
	MaxName    = 255
	secretSize = 16
)

// name is a parsed name.
type name struct {
	address string
	secret  []byte
}

func (n name) String() string {
	return prefix + n.address + ":" + base64.RawURLEncoding.EncodeToString(n.secret)
}

// Shown is a name for messages and logs: without the secret.
func Shown(name string) string {
	if at := strings.LastIndexByte(name, ':'); at >= 0 {
		name = name[:at] + ":…"
	}
	return fmt.Sprintf("%.80q", name)
}

// parseName reads a name, and accepts nothing but what String writes.
func parseName(s string) (n name, err error) {
	rest, ok := strings.CutPrefix(s, prefix)
	at := strings.LastIndexByte(rest, ':')
	if !ok || at < 0 || len(s) > MaxName {
		return n, fmt.Errorf("%s is no name of a port", Shown(s))
	}
	n.address = rest[:at]
	n.secret, err = base64.RawURLEncoding.Strict().DecodeString(rest[at+1:])
	if err != nil || len(n.secret) != secretSize {
		return n, fmt.Errorf("%s is no name of a port: its secret isn't complete", Shown(s))
	}
	host, number, err := net.SplitHostPort(n.address)
	if err != nil || host == "" || number == "" || net.JoinHostPort(host, number) != n.address || n.String() != s {
		return n, fmt.Errorf("%s is no name of a port: it has no address", Shown(s))
	}
	return n, nil
}
