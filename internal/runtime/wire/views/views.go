// Package views turns messages of package membership into bytes and back.
//
// A message is a fixed part and then lists, each after its length. All numbers are little
// endian. This package checks the form of what comes from outside, and
// [membership.Message.Validate] its meaning. So a machine gets only messages that an honest
// process could have sent.
package views

import (
	"encoding/binary"
	"errors"
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/proto/membership"
)

// maxMembers bounds a list in a message by the size of the largest view.
const maxMembers = 1 << 24

const (
	hasBase = 1 << iota
	hasView
)

// Append appends a message to dst.
func Append(dst []byte, x *membership.Message) []byte {
	flags := byte(0)
	if x.Base != nil {
		flags |= hasBase
	}
	if x.View != nil {
		flags |= hasView
	}
	dst = append(dst, byte(x.Kind), flags)
	dst = appendMember(dst, x.From)
	dst = binary.LittleEndian.AppendUint64(dst, x.Number)
	dst = appendBallot(dst, x.Ballot)
	dst = appendBallot(dst, x.Accepted)
	dst = appendMember(dst, x.Member)
	dst = appendDepartures(dst, x.Skip)
	dst = appendDepartures(dst, x.Gone)
	if x.Base != nil {
		dst = appendView(dst, x.Base)
	}
	if x.View != nil {
		dst = appendView(dst, x.View)
	}
	return dst
}

func appendMember(dst []byte, m membership.Member) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(m.Proc))
	return binary.LittleEndian.AppendUint32(dst, uint32(m.Incarnation))
}

func appendBallot(dst []byte, b membership.Ballot) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, b.Takeover)
	dst = binary.LittleEndian.AppendUint32(dst, b.Position)
	return binary.LittleEndian.AppendUint32(dst, b.Attempt)
}

func appendMembers(dst []byte, list []membership.Member) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(list)))
	for _, m := range list {
		dst = appendMember(dst, m)
	}
	return dst
}

func appendDepartures(dst []byte, list []membership.Departure) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(list)))
	for _, d := range list {
		dst = append(appendMember(dst, d.Member), byte(d.Why))
	}
	return dst
}

func appendView(dst []byte, v *membership.View) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, v.Number)
	dst = appendMembers(dst, v.Members)
	dst = appendMembers(dst, v.Joined)
	dst = appendDepartures(dst, v.Gone)
	return appendMembers(dst, v.Past)
}

var errShort = errors.New("a membership message is cut short")

// Decode is the inverse of Append. The message shares nothing with b.
func Decode(b []byte) (*membership.Message, error) {
	d := decoder{rest: b}
	x := &membership.Message{Kind: membership.Kind(d.byte())}
	flags := d.byte()
	x.From = d.member()
	x.Number = d.uint64()
	x.Ballot = d.ballot()
	x.Accepted = d.ballot()
	x.Member = d.member()
	x.Skip = d.departures()
	x.Gone = d.departures()
	if flags&hasBase != 0 {
		x.Base = d.view()
	}
	if flags&hasView != 0 {
		x.View = d.view()
	}
	switch {
	case d.err != nil:
		return nil, d.err
	case len(d.rest) > 0:
		return nil, fmt.Errorf("%d bytes after a membership message", len(d.rest))
	case flags&^(hasBase|hasView) != 0:
		return nil, fmt.Errorf("a membership message with flags %#x", flags)
	}
	return x, x.Validate()
}

// decoder takes a message apart. After an error it only gives zeros.
type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) take(n int) []byte {
	if len(d.rest) < n {
		d.rest, d.err = nil, errShort
		return make([]byte, n)
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) byte() byte     { return d.take(1)[0] }
func (d *decoder) uint32() uint32 { return binary.LittleEndian.Uint32(d.take(4)) }
func (d *decoder) uint64() uint64 { return binary.LittleEndian.Uint64(d.take(8)) }

func (d *decoder) member() membership.Member {
	return membership.Member{Proc: proto.Proc(int32(d.uint32())), Incarnation: proto.Incarnation(d.uint32())}
}

func (d *decoder) ballot() membership.Ballot {
	return membership.Ballot{Takeover: d.uint32(), Position: d.uint32(), Attempt: d.uint32()}
}

// length is that of a list of entries of a size. All entries must be there, so no message makes
// room for more than it brings.
func (d *decoder) length(size int) int {
	n := int(d.uint32())
	if n > maxMembers || n*size > len(d.rest) {
		d.rest, d.err = nil, errShort
		return 0
	}
	return n
}

func (d *decoder) members() []membership.Member {
	n := d.length(8)
	if n == 0 {
		return nil
	}
	list := make([]membership.Member, n)
	for i := range list {
		list[i] = d.member()
	}
	return list
}

func (d *decoder) departures() []membership.Departure {
	n := d.length(9)
	if n == 0 {
		return nil
	}
	list := make([]membership.Departure, n)
	for i := range list {
		list[i] = membership.Departure{Member: d.member(), Why: membership.Why(d.byte())}
	}
	return list
}

func (d *decoder) view() *membership.View {
	number, members, joined := d.uint64(), d.members(), d.members()
	gone, past := d.departures(), d.members()
	if d.err != nil {
		return nil
	}
	v, err := membership.NewView(number, members, joined, gone, past)
	if err != nil {
		d.rest, d.err = nil, err
	}
	return v
}
