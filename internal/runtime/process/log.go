package process

import (
	"encoding/binary"
	"errors"
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/proto/match"
	"banyan/internal/runtime/state"
)

// A replacement begins in main, as every process does. So it must receive again what its rank
// received until its first safe point. Each replica keeps that, as its log, and the replacement
// runs on the log of one of them (replay.go).
//
// Which receive gets which message depends on the order of the messages and on the order of the
// receives, but not on how the two orders interleave. (Where the earliest receive takes the
// earliest message that fits, that message takes the earliest receive that fits. Take both away,
// and the same holds of the rest.) So the log is a list of messages in the order in which they
// came to matching. The replacement makes the messages of the rank to itself itself; the log
// only says where in the list they belong.

// LogLimit bounds the log of a process in bytes, with what each message costs beyond its data. A
// process that receives more before its first safe point can't be a donor.
const LogLimit = 64 << 20

// ErrLog says that bytes aren't a valid log.
var ErrLog = errors.New("the log of what was received before the first safe point is damaged")

// logRegion is the name of the log in its stream.
const logRegion = "log"

// answersRegion is the name of what was decided.
const answersRegion = "answers"

// A record begins with a head, then the stamp and the data follow.
const (
	atLogContext = 0
	atLogSrc     = 8
	atLogTag     = 12
	atLogTotal   = 16 // length of the message
	atLogHave    = 24 // how much of it the donor received
	atLogType    = 32 // of the data
	logHead      = 36

	// Values of a record's have that are no length: the message was the rank's own, or its data
	// hadn't come yet.
	ownMessage = 1<<64 - 1
	unreceived = 1<<64 - 2
)

// recordCost is what a record takes beyond its bytes.
const recordCost = 64

// history is what a process has received before its first safe point, and a summary of what it
// has sent.
type history struct {
	records []record
	arena   []byte // where heads, stamps and small messages go
	bytes   int    // in all
	sent    account
	over    bool // the bound was passed: the log is useless
	frozen  bool
	whole   []byte // of a replacement: the log that it was given, instead of records
}

type record struct {
	head []byte // and stamp, and an eager message's data
	body []byte // a rendezvous's
}

const arenaSize = 64 << 10

// add begins a record and returns the memory for what follows its head, n bytes.
func (l *history) add(e match.Envelope, total, have uint64, typ uint32, n int) []byte {
	if l.frozen || l.over {
		return nil
	}
	l.bytes += logHead + n + recordCost
	if l.exceeded() {
		return nil
	}
	n += logHead
	var b []byte
	if n > arenaSize/4 {
		b = make([]byte, n)
	} else {
		if len(l.arena) < n {
			l.arena = make([]byte, arenaSize)
		}
		b, l.arena = l.arena[:n:n], l.arena[n:]
	}
	binary.LittleEndian.PutUint64(b[atLogContext:], e.Context)
	binary.LittleEndian.PutUint32(b[atLogSrc:], uint32(e.Src))
	binary.LittleEndian.PutUint32(b[atLogTag:], uint32(e.Tag))
	binary.LittleEndian.PutUint64(b[atLogTotal:], total)
	binary.LittleEndian.PutUint64(b[atLogHave:], have)
	binary.LittleEndian.PutUint32(b[atLogType:], typ)
	l.records = append(l.records, record{head: b})
	return b[logHead:]
}

// eager notes a message.
func (l *history) eager(e match.Envelope, typ uint32, stamp, body []byte) {
	if b := l.add(e, uint64(len(body)), uint64(len(body)), typ, len(stamp)+len(body)); b != nil {
		copy(b[copy(b, stamp):], body)
	}
}

// exceeded ends a log that takes too much.
func (l *history) exceeded() bool {
	if l.bytes > LogLimit {
		*l = history{over: true}
	}
	return l.over
}

// offer notes a message whose data is yet to come. It returns the message's number for received:
// from 1 on, 0 if nothing was noted.
func (l *history) offer(e match.Envelope, total uint64, typ uint32, stamp []byte) int {
	b := l.add(e, total, unreceived, typ, len(stamp))
	if b == nil {
		return 0
	}
	copy(b, stamp)
	return len(l.records)
}

// received notes the data of an offered message, as much as the program had room for.
func (l *history) received(number int, body []byte) {
	if number == 0 || l.frozen || l.over {
		return
	}
	if l.bytes += len(body); l.exceeded() {
		return
	}
	r := &l.records[number-1]
	binary.LittleEndian.PutUint64(r.head[atLogHave:], uint64(len(body)))
	r.body = append([]byte(nil), body...)
}

// own notes that the rank has sent a message to itself.
func (l *history) own(e match.Envelope) { l.add(e, 0, ownMessage, 0, 0) }

// freeze ends the log.
func (l *history) freeze() {
	if l.frozen || l.over {
		return
	}
	l.frozen = true
	l.arena = nil
}

// noteSend counts a send of the program in the account.
func (p *Process) noteSend(context uint64, dst proto.Rank, tag int32, length int) {
	switch l := p.healing.history; {
	case l.frozen || l.over:
	case dst == p.rank:
		l.own(match.Envelope{Context: context, Src: dst, Tag: tag})
	default:
		l.sent.note(context, dst, tag, length)
	}
}

// encoder is the stream of the log, with other regions.
func (l *history) encoder(more ...state.Region) *state.Encoder {
	if !l.frozen || l.over {
		return nil
	}
	return state.NewEncoder(append([]state.Region{l.region()}, more...)...)
}

func (l *history) region() state.Region {
	if l.whole != nil {
		return state.Bytes(logRegion, l.whole)
	}
	parts := make([][]byte, 0, 2*len(l.records)+1)
	parts = append(parts, l.sent.append(nil))
	for i := range l.records {
		r := &l.records[i]
		if parts = append(parts, r.head); r.body != nil {
			parts = append(parts, r.body)
		}
	}
	return state.Region{Name: logRegion, Parts: parts}
}

// account sums up the messages that a process has sent: how many, and a number that depends on
// where each went, on its order within its channel, and on its length. At the same point of the
// program it is the same at all replicas of a rank.
type account struct {
	channels map[channel]uint64
	messages uint64
	sum      uint64
}

// channel is what messages are numbered within.
type channel struct {
	context uint64
	dst     proto.Rank
}

const accountLength = 16

func (a *account) note(context uint64, dst proto.Rank, tag int32, length int) {
	if a.channels == nil {
		a.channels = map[channel]uint64{}
	}
	c := channel{context, dst}
	a.channels[c]++
	a.messages++
	h := scatter(context ^ uint64(dst)<<32)
	h = scatter(h ^ a.channels[c])
	a.sum += scatter(h ^ uint64(uint32(tag))<<40 ^ uint64(length))
}

// append appends the account for a log.
func (a *account) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, a.messages)
	return binary.LittleEndian.AppendUint64(b, a.sum)
}

// same tells whether an account is that of a log.
func (a *account) same(b []byte) bool {
	return a.messages == binary.LittleEndian.Uint64(b) && a.sum == binary.LittleEndian.Uint64(b[8:])
}

// scatter is a bijection of 64 bits.
func scatter(x uint64) uint64 {
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// logged is a record, decoded.
type logged struct {
	envelope    match.Envelope
	total       uint64
	have        uint64
	typ         uint32
	stamp, body []byte // of the log's memory
}

// next decodes the first record of a log and returns the rest.
func (l *logged) next(b []byte, stampSize int) (rest []byte, err error) {
	if len(b) < logHead {
		return nil, fmt.Errorf("%w: %d bytes are left", ErrLog, len(b))
	}
	l.envelope = match.Envelope{
		Context: binary.LittleEndian.Uint64(b[atLogContext:]),
		Src:     proto.Rank(binary.LittleEndian.Uint32(b[atLogSrc:])),
		Tag:     int32(binary.LittleEndian.Uint32(b[atLogTag:])),
	}
	l.total, l.have = binary.LittleEndian.Uint64(b[atLogTotal:]), binary.LittleEndian.Uint64(b[atLogHave:])
	l.typ = binary.LittleEndian.Uint32(b[atLogType:])
	l.stamp, l.body = nil, nil
	b = b[logHead:]
	if l.have == ownMessage {
		return b, nil
	}
	if len(b) < stampSize {
		return nil, fmt.Errorf("%w: a stamp of %d bytes", ErrLog, len(b))
	}
	l.stamp, b = b[:stampSize:stampSize], b[stampSize:]
	if l.have == unreceived {
		return b, nil
	}
	if l.have > l.total || l.have > uint64(len(b)) {
		return nil, fmt.Errorf("%w: %d of %d bytes, and %d are left", ErrLog, l.have, l.total, len(b))
	}
	l.body = b[:l.have:l.have]
	return b[l.have:], nil
}
