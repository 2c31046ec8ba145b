package groupnode

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"banyan/internal/proto"
	"banyan/internal/proto/membership"
)

// Nonce names one member from Join to its end: 128 random bits. A process needs neither a clock
// nor a disk to choose a Nonce that was never used before.
type Nonce [16]byte

func newNonce() (l Nonce) {
	rand.Read(l[:])
	return l
}

func (l Nonce) String() string { return hex.EncodeToString(l[:4]) }

// Card is a member's business card: what the other members know of it beside its number. Cards
// travel with the views.
type Card struct {
	Nonce   Nonce
	Name    string
	Address string   // host:port, as the others reach it
	Home    home     // the kernel that knows its end for certain; zero: none does
	Node    [16]byte // its identity over restarts; zero: it keeps none
}

const (
	maxName    = 64
	maxAddress = 255
	// maxMembers bounds a group.
	maxMembers = 10_000
	// maxMessage bounds a message with its envelope: two views, with the longest cards of all
	// their members, fit into it (TestLargestGroup).
	maxMessage = 24 << 20
)

// checkName says what is wrong with a member's name.
func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("no name")
	case len(name) > maxName:
		return fmt.Errorf("a name of %d bytes: want at most %d", len(name), maxName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) }):
		return fmt.Errorf("name %q: want printable characters", name)
	}
	return nil
}

// checkAddress says what is wrong with the address at which others reach a member.
func checkAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("address %.260q: want host:port", address)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	ip := net.ParseIP(host)
	switch {
	case err != nil || n == 0:
		return fmt.Errorf("address %.260q: want a port from 1 to 65535", address)
	case host == "" || ip != nil && ip.IsUnspecified():
		return fmt.Errorf("address %.260q: want a host that others can reach", address)
	case len(address) > maxAddress:
		return fmt.Errorf("an address of %d bytes: want at most %d", len(address), maxAddress)
	}
	return nil
}

func (c *Card) check() error {
	if err := checkName(c.Name); err != nil {
		return err
	}
	return checkAddress(c.Address)
}

func appendCard(b []byte, c Card) []byte {
	b = append(b, c.Nonce[:]...)
	b = append(b, c.Home[:]...)
	b = append(b, c.Node[:]...)
	b = append(b, byte(len(c.Name)))
	b = append(b, c.Name...)
	b = append(b, byte(len(c.Address)))
	return append(b, c.Address...)
}

func appendMember(b []byte, m membership.Member) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(m.Proc))
	return binary.LittleEndian.AppendUint32(b, uint32(m.Incarnation))
}

// entry is one member with its card.
type entry struct {
	member membership.Member
	card   Card
}

// appendEnvelope puts an encoded message of the membership together with the business cards that
// its receiver may lack.
func appendEnvelope(b, message []byte, cards []entry) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(message)))
	b = append(b, message...)
	for i := range cards {
		b = appendCard(appendMember(b, cards[i].member), cards[i].card)
	}
	return b
}

var errMalformed = errors.New("malformed")

// openEnvelope is the inverse of appendEnvelope. The message is part of b.
func openEnvelope(b []byte) (message []byte, cards []entry, err error) {
	d := decoder{rest: b}
	message = d.bytes(int(d.uint32()))
	for d.err == nil && len(d.rest) > 0 {
		e := entry{member: d.member(), card: d.card()}
		if d.err == nil {
			d.err = e.card.check()
		}
		cards = append(cards, e)
	}
	if d.err != nil {
		return nil, nil, d.err
	}
	return message, cards, nil
}

// decoder takes bytes apart. After an error it gives only zeros.
type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) bytes(n int) []byte {
	if n < 0 || n > len(d.rest) {
		d.rest, d.err = nil, errMalformed
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) uint8() uint8 {
	if b := d.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) uint16() uint16 {
	if b := d.bytes(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (d *decoder) uint32() uint32 {
	if b := d.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if b := d.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (d *decoder) nonce() (l Nonce) {
	copy(l[:], d.bytes(len(l)))
	return l
}

func (d *decoder) member() membership.Member {
	return membership.Member{Proc: proto.Proc(int32(d.uint32())), Incarnation: proto.Incarnation(d.uint32())}
}

func (d *decoder) card() Card {
	c := Card{Nonce: d.nonce()}
	copy(c.Home[:], d.bytes(len(c.Home)))
	copy(c.Node[:], d.bytes(len(c.Node)))
	c.Name = string(d.bytes(int(d.uint8())))
	c.Address = string(d.bytes(int(d.uint8())))
	return c
}
