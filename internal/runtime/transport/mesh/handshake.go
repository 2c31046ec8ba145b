package mesh

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"banyan/internal/proto"
	"banyan/internal/runtime/handshake"
	"banyan/internal/runtime/seal"
)

// In a link's handshake (package handshake) the dialler says which process it is, which one it
// means and what it wants; the acceptor says its verdict and its standing in a partition.

// The sizes of these payloads in bytes.
const (
	helloSize  = 92
	answerSize = 8
)

// purpose is what a dialler wants.
type purpose uint8

const (
	toConnect purpose = 1 + iota
	toAsk             // only ask why the former connection has ended
	toCompare         // find out which side of a partition has to stop (partition.go)
	toTell            // tell the acceptor that it is excluded
	// 5 is a meeting's, see handshake.Meeting.
)

// verdict is the acceptor's answer to a dialler that it knows to be of the job.
type verdict uint8

const (
	accepted     verdict = 1 + iota
	crossing             // the acceptor is dialling too, and its connection wins
	duplicate            // there is a connection already
	goneHere             // there was a connection, and it isn't made again
	eviction             // the dialler is fenced: it counts as dead
	acknowledged         // the acceptor knows now that it is excluded
	unknown              // the acceptor hasn't heard yet of the dialler's incarnation
	unlike               // the two differ in whether the job's data are sealed
	verdictEnd
)

func (v verdict) String() string {
	if v == 0 || v >= verdictEnd {
		return fmt.Sprintf("verdict %d", uint8(v))
	}
	return [...]string{"", "accepted", "crossing", "duplicate", "gone", "eviction notice", "acknowledged", "unknown", "unlike"}[v]
}

// party is one end of a handshake: its identity, and what it knows.
type party struct {
	protocol    *handshake.Protocol
	self        proto.Proc
	incarnation proto.Incarnation
	job         [16]byte
	secret      []byte
	host        [32]byte // digest of Card.Host
	pid         int
	start       uint64
	standing    func() standing // in a partition, for verdicts; nil: none
	sealing     seal.Policy
}

// hello is what the dialler says.
type hello struct {
	purpose         purpose
	sealing         seal.Wish
	job             [16]byte
	from, to        proto.Proc
	fromIncarnation proto.Incarnation
	toIncarnation   proto.Incarnation
	host            [32]byte
	pid             int
	start           uint64
}

func (h *hello) encode() []byte {
	b := make([]byte, 0, helloSize)
	b = append(b, byte(h.purpose), byte(h.sealing), 0, 0)
	b = append(b, h.job[:]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(h.from))
	b = binary.LittleEndian.AppendUint32(b, uint32(h.to))
	b = binary.LittleEndian.AppendUint64(b, uint64(h.fromIncarnation))
	b = binary.LittleEndian.AppendUint64(b, uint64(h.toIncarnation))
	b = append(b, h.host[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.pid))
	return binary.LittleEndian.AppendUint64(b, h.start)
}

var errMalformed = errors.New("malformed hello")

func (h *hello) decode(b []byte) error {
	if len(b) != helloSize {
		return errMalformed
	}
	from, to := binary.LittleEndian.Uint64(b[28:]), binary.LittleEndian.Uint64(b[36:])
	if from > math.MaxUint32 || to > math.MaxUint32 { // the field is wider than an incarnation
		return errMalformed
	}
	*h = hello{
		purpose:         purpose(b[0]),
		sealing:         seal.Wish(b[1]),
		job:             [16]byte(b[4:]),
		from:            proto.Proc(binary.LittleEndian.Uint32(b[20:])),
		to:              proto.Proc(binary.LittleEndian.Uint32(b[24:])),
		fromIncarnation: proto.Incarnation(from),
		toIncarnation:   proto.Incarnation(to),
		host:            [32]byte(b[44:]),
		pid:             int(binary.LittleEndian.Uint64(b[76:])),
		start:           binary.LittleEndian.Uint64(b[84:]),
	}
	return nil
}

// dial runs the dialler's side. It returns the verdict and the acceptor's standing, and the keys if
// the wish is to seal the connection.
func (p *party) dial(conn io.ReadWriter, to proto.Proc, toIncarnation proto.Incarnation, why purpose, wish seal.Wish) (verdict, standing, *seal.Keys, error) {
	h := hello{
		purpose: why, sealing: wish, job: p.job, from: p.self, to: to,
		fromIncarnation: p.incarnation, toIncarnation: toIncarnation, host: p.host, pid: p.pid, start: p.start,
	}
	var answer []byte
	var keys *seal.Keys
	var err error
	if wish == seal.This {
		keys = new(seal.Keys)
		answer, *keys, err = p.protocol.DialSealed(conn, p.secret, h.encode())
	} else {
		answer, err = p.protocol.Dial(conn, p.secret, h.encode())
	}
	if err != nil {
		return 0, standing{}, nil, err
	}
	v := verdict(answer[0])
	if v == unlike {
		return v, standing{}, nil, p.sealing.Unlike()
	}
	return v, decodeStanding(answer[1:], to), keys, nil
}

// errElsewhere is about a hello for another process, or another incarnation of this one.
var errElsewhere = errors.New("meant for another process")

// accept runs the acceptor's side. It asks judge for the verdict once the dialler has proved that
// it is of the job, and returns it with what the dialler said. An error before judge was called
// comes with the verdict 0; a later one comes with judge's verdict, which the dialler may lack. The
// keys are nil if the connection isn't to be sealed.
func (p *party) accept(conn io.ReadWriter, judge func(*hello) verdict) (*hello, verdict, *seal.Keys, error) {
	var h hello
	var v verdict
	keys, err := p.protocol.AcceptSealed(conn, p.secret, handshake.Judge{
		Sealed: func(b []byte) bool { return h.decode(b) == nil && h.sealing == seal.This },
		Suspect: func(b []byte) error {
			if err := h.decode(b); err != nil {
				return err
			}
			if h.job != p.job || h.to != p.self || h.toIncarnation != p.incarnation {
				return fmt.Errorf("hello for %v, incarnation %d, of job %x: %w", h.to, h.toIncarnation, h.job, errElsewhere)
			}
			return nil
		},
		Answer: func([]byte) ([]byte, error) {
			answer := make([]byte, answerSize)
			if !p.sealing.Agrees(h.sealing) {
				answer[0] = byte(unlike)
				return answer, nil
			}
			v = judge(&h)
			answer[0] = byte(v)
			if p.standing != nil {
				p.standing().encode(answer[1:])
			}
			return answer, nil
		},
	})
	if v == 0 {
		if err == nil {
			err = p.sealing.Unlike()
		}
		return nil, 0, nil, err
	}
	return &h, v, keys, err
}
