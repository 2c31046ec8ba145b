package mesh

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"banyan/internal/proto"

	"golang.org/x/sys/unix"
)

// MaxCard is the longest encoded Card in bytes.
const MaxCard = 240

// cardVersion is the first field of an encoded Card.
const cardVersion = "2"

// Card is the business card of a Proc: what others need to reach it, and to know its death. It is
// published over PMI, so its text has only printable ASCII characters, no spaces and no '='. It
// holds no secret.
type Card struct {
	Host        string // which kernel and process namespace: name/digest
	Addr        string // host:port of the listener
	Pid         int    // in Host's namespace
	Start       uint64 // in clock ticks since boot; tells the process from others with its pid
	Incarnation proto.Incarnation
	// Local is where processes that can share memory connect: the network namespace and the name
	// of a unix socket in it. It is empty if this process can't share memory.
	Local string
}

// near says whether two processes can share memory.
func (c Card) near(o Card) bool {
	here, _, ok := strings.Cut(c.Local, "/")
	there, _, _ := strings.Cut(o.Local, "/")
	return ok && c.Host == o.Host && here == there
}

// socket is the name of Local's unix socket.
func (c Card) socket() string {
	_, name, _ := strings.Cut(c.Local, "/")
	return "@banyan-" + name
}

// String encodes the card; ParseCard reads it.
func (c Card) String() string {
	return fmt.Sprintf("%s,%s,%s,%d,%d,%d,%s", cardVersion, c.Host, c.Addr, c.Pid, c.Start, c.Incarnation, c.Local)
}

// ParseCard reads an encoded card, and accepts nothing but what String writes.
func ParseCard(s string) (Card, error) {
	fail := func(why string) (Card, error) { return Card{}, fmt.Errorf("mesh: business card %.200q: %s", s, why) }
	if len(s) > MaxCard {
		return fail("too long")
	}
	if !printable(s) {
		return fail("only printable characters but space and '=' are allowed")
	}
	fields := strings.Split(s, ",")
	if len(fields) != 7 || fields[0] != cardVersion {
		return fail("not seven fields of version " + cardVersion)
	}
	c := Card{Host: fields[1], Addr: fields[2], Local: fields[6]}
	var errs [3]error
	c.Pid, errs[0] = strconv.Atoi(fields[3])
	c.Start, errs[1] = strconv.ParseUint(fields[4], 10, 64)
	incarnation, err := strconv.ParseUint(fields[5], 10, 32)
	c.Incarnation, errs[2] = proto.Incarnation(incarnation), err
	if err := errors.Join(errs[:]...); err != nil || c.Pid <= 0 || c.Host == "" {
		return fail("no valid host, pid, start or incarnation")
	}
	host, port, err := net.SplitHostPort(c.Addr)
	if n, perr := strconv.ParseUint(port, 10, 16); err != nil || perr != nil || n == 0 || host == "" {
		return fail("no valid address")
	}
	if here, name, ok := strings.Cut(c.Local, "/"); c.Local != "" && (!ok || here == "" || name == "" || len(c.Local) > maxLocal) {
		return fail("no valid unix socket")
	}
	if c.String() != s {
		return fail("not in canonical form")
	}
	return c, nil
}

func printable(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' || s[i] == '=' {
			return false
		}
	}
	return true
}

// hostDigest stands for Card.Host in a handshake.
func hostDigest(host string) [32]byte { return sha256.Sum256([]byte(host)) }

// hostID names the kernel and the process namespace in which pids mean the same as here: the
// host's name, for people, and a digest of its boot and namespace.
func hostID() (string, error) {
	boot, err := readProc("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("mesh: which boot is this: %w", err)
	}
	var ns unix.Stat_t
	if err := unix.Stat("/proc/self/ns/pid", &ns); err != nil {
		return "", fmt.Errorf("mesh: which process namespace is this: %w", err)
	}
	name, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("mesh: which host is this: %w", err)
	}
	digest := sha256.Sum256(fmt.Appendf(nil, "%s %s %d %d", name, boot, ns.Dev, ns.Ino))
	return plainName(name) + "/" + hex.EncodeToString(digest[:8]), nil
}

// maxLocal is the longest Card.Local in bytes.
const maxLocal = 40

// localID makes a Card.Local. Abstract names of unix sockets belong to a network namespace.
func localID() (string, error) {
	var ns unix.Stat_t
	if err := unix.Stat("/proc/self/ns/net", &ns); err != nil {
		return "", fmt.Errorf("mesh: which network namespace is this: %w", err)
	}
	digest := sha256.Sum256(fmt.Appendf(nil, "%d %d", ns.Dev, ns.Ino))
	var name [8]byte
	rand.Read(name[:])
	return hex.EncodeToString(digest[:8]) + "/" + hex.EncodeToString(name[:]), nil
}

// plainName is a host's name made fit for a card.
func plainName(name string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.', r == '_':
			return r
		}
		return '_'
	}, name)
	return plain[:min(len(plain), 40)]
}

// ThisHost names this kernel, its process namespace and its network namespace: processes with the
// same name reach each other at the loopback address. It is empty if that can't be found out.
func ThisHost() string {
	host, err := hostID()
	local, failed := localID()
	if err != nil || failed != nil {
		return ""
	}
	net, _, _ := strings.Cut(local, "/")
	return host + "/" + net
}
