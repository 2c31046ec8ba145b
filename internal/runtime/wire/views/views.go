// Package views turns messages of package membership into bytes and back.
//
// A message is a fixed part and then lists, each after its length. All numbers are little
// endian. Views in it are whole, or steps: what has changed since the view before, and a checksum
// of the result, for receivers that have the view before. A step doesn't grow with the group.
//
// This package checks the form of what comes from outside, and
// [membership.Message.Validate] its meaning. So a machine gets only messages that an honest
// process could have sent.
package views

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/proto/membership"
)

// maxMembers bounds a list in a message by the size of the largest view.
const maxMembers = 1 << 24

const (
	hasBase = 1 << iota
	hasView
	hasMetadata
	isSteps // views are steps
)

// UnknownError: a message has the step to view Number, and its receiver doesn't have the view
// before.
type UnknownError struct{ Number uint64 }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("a membership message with the step to view %d: the view before isn't known here", e.Number)
}

// Append appends a message to dst, with a whole view; a second one is the step from that.
func Append(dst []byte, x *membership.Message) []byte { return appendMessage(dst, x, 0) }

// AppendSteps appends a message to dst, with steps in place of views: for a receiver that has the
// view before the first one in the message.
func AppendSteps(dst []byte, x *membership.Message) []byte {
	if x.Base == nil && x.View == nil {
		return Append(dst, x)
	}
	return appendMessage(dst, x, isSteps)
}

// MayLack says whether the receiver of a message may have no view that the first one in the message
// follows: it has just joined, or lags behind. It needs whole views.
func MayLack(to membership.Member, x *membership.Message) bool {
	if x.Kind == membership.Current {
		return true
	}
	for _, v := range [...]*membership.View{x.Base, x.View} {
		if v != nil && slices.Contains(v.Joined, to) {
			return true
		}
	}
	return false
}

// Size is how many bytes Append makes of a message.
func Size(x *membership.Message) int {
	first, second := x.Base, x.View
	if first == nil {
		first, second = second, nil
	}
	if first == nil {
		return len(Append(nil, x))
	}
	rest := *x
	if rest.View = nil; second != nil {
		rest.View = second
	}
	rest.Base = nil
	size := 0
	if rest.View != nil {
		size = len(AppendSteps(nil, &rest))
	} else {
		size = len(Append(nil, &rest))
	}
	return size + wholeSize(first)
}

// wholeSize is how many bytes appendView makes of a view.
func wholeSize(v *membership.View) int {
	size := 8 + 6*4 + 8*(len(v.Members)+len(v.Joined)+len(v.Past)) + 9*len(v.Gone)
	for _, list := range [...][]membership.Metadata{v.Metadata, v.Updated} {
		for i := range list {
			size += 14 + len(list[i].Bytes)
		}
	}
	return size
}

func appendMessage(dst []byte, x *membership.Message, flags byte) []byte {
	appendView := appendView
	if flags&isSteps != 0 {
		appendView = appendStep
	}
	if x.Base != nil {
		flags |= hasBase
	}
	if x.View != nil {
		flags |= hasView
	}
	if x.Metadata.Version > 0 {
		flags |= hasMetadata
	}
	dst = append(dst, byte(x.Kind), flags)
	dst = appendMember(dst, x.From)
	dst = binary.LittleEndian.AppendUint64(dst, x.Number)
	dst = appendBallot(dst, x.Ballot)
	dst = appendBallot(dst, x.Accepted)
	dst = appendMember(dst, x.Member)
	dst = appendDepartures(dst, x.Skip)
	dst = appendDepartures(dst, x.Gone)
	if x.Metadata.Version > 0 {
		dst = appendMetadatum(dst, &x.Metadata)
	}
	if x.Base != nil {
		dst = appendView(dst, x.Base)
	}
	switch {
	case x.View == nil:
	case x.Base != nil:
		dst = appendStep(dst, x.View)
	default:
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
	dst = appendMembers(dst, v.Past)
	dst = appendMetadata(dst, v.Metadata)
	return appendMetadata(dst, v.Updated)
}

func appendStep(dst []byte, v *membership.View) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, v.Number)
	dst = binary.LittleEndian.AppendUint64(dst, v.Sum())
	dst = appendMembers(dst, v.Joined)
	dst = appendDepartures(dst, v.Gone)
	return appendMetadata(dst, v.Updated)
}

func appendMetadatum(dst []byte, m *membership.Metadata) []byte {
	dst = binary.LittleEndian.AppendUint32(appendMember(dst, m.Member), m.Version)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(m.Bytes)))
	return append(dst, m.Bytes...)
}

func appendMetadata(dst []byte, list []membership.Metadata) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(list)))
	for i := range list {
		dst = appendMetadatum(dst, &list[i])
	}
	return dst
}

var errShort = errors.New("a membership message is cut short")

// Decode is the inverse of Append. It refuses steps. The message shares nothing with b.
func Decode(b []byte) (*membership.Message, error) { return DecodeSteps(b, nil) }

// DecodeSteps is the inverse of Append and AppendSteps. known gives the view of a number, nil if
// that isn't known. The error is an *UnknownError if a step builds on such a view.
func DecodeSteps(b []byte, known func(number uint64) *membership.View) (*membership.Message, error) {
	d := decoder{rest: b, known: known}
	x := &membership.Message{Kind: membership.Kind(d.byte())}
	flags := d.byte()
	x.From = d.member()
	x.Number = d.uint64()
	x.Ballot = d.ballot()
	x.Accepted = d.ballot()
	x.Member = d.member()
	x.Skip = d.departures()
	x.Gone = d.departures()
	if flags&hasMetadata != 0 {
		if x.Metadata = d.metadatum(); d.err == nil && x.Metadata.Version == 0 {
			d.fail(errors.New("a membership message with metadata without a version"))
		}
	}
	view := d.view
	if flags&isSteps != 0 {
		view = d.step
	}
	if flags&hasBase != 0 {
		x.Base = view()
		d.base = x.Base
	}
	if flags&hasView != 0 {
		if x.Base != nil {
			view = d.step
		}
		x.View = view()
	}
	switch {
	case d.err != nil:
		return nil, d.err
	case len(d.rest) > 0:
		return nil, fmt.Errorf("%d bytes after a membership message", len(d.rest))
	case flags&^(hasBase|hasView|hasMetadata|isSteps) != 0 || flags&isSteps != 0 && flags&(hasBase|hasView) == 0:
		return nil, fmt.Errorf("a membership message with flags %#x", flags)
	}
	return x, x.Validate()
}

// decoder takes a message apart. After an error it only gives zeros.
type decoder struct {
	rest  []byte
	err   error
	known func(number uint64) *membership.View
	base  *membership.View // of the message
}

// fail notes what is wrong first.
func (d *decoder) fail(err error) {
	if d.rest = nil; d.err == nil {
		d.err = err
	}
}

func (d *decoder) take(n int) []byte {
	if len(d.rest) < n {
		d.fail(errShort)
		return make([]byte, n)
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) byte() byte     { return d.take(1)[0] }
func (d *decoder) uint16() uint16 { return binary.LittleEndian.Uint16(d.take(2)) }
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
		d.fail(errShort)
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
	metadata, updated := d.metadata(), d.metadata()
	if d.err != nil {
		return nil
	}
	v, err := membership.NewView(number, members, joined, gone, past)
	if err == nil {
		err = v.SetMetadata(updated, metadata)
	}
	if err != nil {
		d.fail(err)
	}
	return v
}

// step takes the changes from a view to the next one, and makes that.
func (d *decoder) step() *membership.View {
	number, sum := d.uint64(), d.uint64()
	joined, gone, updated := d.members(), d.departures(), d.metadata()
	if d.err != nil {
		return nil
	}
	v, err := d.follow(number, joined, gone, updated)
	if err == nil && v.Sum() != sum {
		err = fmt.Errorf("view %d is another one here", number)
	}
	if err != nil {
		d.fail(err)
		return nil
	}
	return v
}

func (d *decoder) follow(number uint64, joined []membership.Member, gone []membership.Departure, updated []membership.Metadata) (*membership.View, error) {
	before := d.base
	if before == nil && d.known != nil {
		if v := d.known(number); v != nil {
			return v, nil
		}
		before = d.known(number - 1)
	}
	if before == nil || before.Number != number-1 {
		return nil, &UnknownError{number}
	}
	return before.Step(joined, gone, updated)
}

func (d *decoder) metadatum() membership.Metadata {
	m := membership.Metadata{Member: d.member(), Version: d.uint32()}
	m.Bytes = string(d.take(int(d.uint16())))
	return m
}

func (d *decoder) metadata() []membership.Metadata {
	n := d.length(14)
	if n == 0 {
		return nil
	}
	list := make([]membership.Metadata, n)
	for i := range list {
		list[i] = d.metadatum()
	}
	return list
}
