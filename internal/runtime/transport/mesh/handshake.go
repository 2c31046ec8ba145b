package mesh

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"banyan/internal/proto"
)

// The handshake. Both ends prove to each other that they know the job's secret
// without showing it, and agree on a version, in four messages of fixed size:
//
//	dialler                                                acceptor
//	hello      versions, purpose, job, both Procs, nonce  →
//	           ←  versions, the one chosen, nonce          challenge
//	proof      HMAC(secret, dialler, hello, challenge)    →
//	           ←  HMAC(secret, acceptor, all before)       verdict
//
// A stranger learns the range of versions and a random number, nothing that
// helps to guess the secret: the dialler proves itself first. Each proof binds
// the role, so that it can't be reflected; both nonces, so that it can't be
// replayed; and everything that was said, so that no version, Proc or purpose
// can be changed on the way. The connection after it isn't encrypted: who can
// change packets between the hosts is beyond what this keeps out.
//
// The first twelve bytes of hello and challenge keep their meaning for ever, so
// that any two versions can at least tell each other why they don't talk.
const (
	helloSize     = 136
	challengeSize = 48
	proofSize     = sha256.Size
	verdictSize   = 8 + sha256.Size
	nonceSize     = 32
)

var handshakeMagic = [8]byte{'B', 'A', 'N', 'Y', 'A', 'N', '\r', '\n'}

// The range of protocol versions that this program speaks.
const (
	minVersion = 1
	maxVersion = 1
)

// purpose is what a dialler wants.
type purpose uint8

const (
	toConnect purpose = 1 + iota
	toAsk             // only why the connection that there was has ended
	toCompare         // which side of a partition is to stop (partition.go)
	toTell            // that the acceptor is excluded
	toMeet            // something else than frames (meeting.go)
)

// verdict is the acceptor's answer to a dialler that it knows to be of the job.
type verdict uint8

const (
	accepted  verdict = 1 + iota
	crossing          // the acceptor is dialling too, and its connection wins
	duplicate         // there is a connection already
	goneHere          // there was a connection, and it isn't made again
	eviction          // the dialler is fenced: it counts as dead
	heeded            // the acceptor knows now that it is excluded
	unknown           // the acceptor hasn't heard yet of the dialler's incarnation
	verdictEnd
)

func (v verdict) String() string {
	if v == 0 || v >= verdictEnd {
		return fmt.Sprintf("verdict %d", uint8(v))
	}
	return [...]string{"", "accepted", "crossing", "duplicate", "gone", "eviction notice", "heeded", "unknown"}[v]
}

var (
	errStranger = errors.New("not of this job")
	errVersion  = errors.New("no common protocol version")
)

// party is one end of a handshake: who it is, and what it knows.
type party struct {
	self        proto.Proc
	incarnation proto.Incarnation
	job         [16]byte
	secret      []byte
	host        [32]byte // digest of Card.Host
	pid         int
	start       uint64
	min, max    uint16          // versions
	standing    func() standing // in a partition, for verdicts; nil: none
}

// hello is the dialler's first message.
type hello struct {
	min, max        uint16
	purpose         purpose
	job             [16]byte
	from, to        proto.Proc
	fromIncarnation proto.Incarnation
	toIncarnation   proto.Incarnation
	host            [32]byte
	pid             int
	start           uint64
	nonce           [nonceSize]byte
}

func (h *hello) encode() []byte {
	b := make([]byte, 0, helloSize)
	b = append(b, handshakeMagic[:]...)
	b = binary.LittleEndian.AppendUint16(b, h.min)
	b = binary.LittleEndian.AppendUint16(b, h.max)
	b = append(b, byte(h.purpose), 0, 0, 0)
	b = append(b, h.job[:]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(h.from))
	b = binary.LittleEndian.AppendUint32(b, uint32(h.to))
	b = binary.LittleEndian.AppendUint64(b, uint64(h.fromIncarnation))
	b = binary.LittleEndian.AppendUint64(b, uint64(h.toIncarnation))
	b = append(b, h.host[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.pid))
	b = binary.LittleEndian.AppendUint64(b, h.start)
	return append(b, h.nonce[:]...)
}

func (h *hello) decode(b []byte) error {
	if len(b) != helloSize || [8]byte(b) != handshakeMagic {
		return errStranger
	}
	from, to := binary.LittleEndian.Uint64(b[40:]), binary.LittleEndian.Uint64(b[48:])
	if from > math.MaxUint32 || to > math.MaxUint32 { // the field is wider than an incarnation
		return errStranger
	}
	*h = hello{
		min:             binary.LittleEndian.Uint16(b[8:]),
		max:             binary.LittleEndian.Uint16(b[10:]),
		purpose:         purpose(b[12]),
		job:             [16]byte(b[16:]),
		from:            proto.Proc(binary.LittleEndian.Uint32(b[32:])),
		to:              proto.Proc(binary.LittleEndian.Uint32(b[36:])),
		fromIncarnation: proto.Incarnation(from),
		toIncarnation:   proto.Incarnation(to),
		host:            [32]byte(b[56:]),
		pid:             int(binary.LittleEndian.Uint64(b[88:])),
		start:           binary.LittleEndian.Uint64(b[96:]),
		nonce:           [nonceSize]byte(b[104:]),
	}
	return nil
}

// chooseVersion is the highest version in both ranges, 0 if there is none.
func chooseVersion(min1, max1, min2, max2 uint16) uint16 {
	if v := min(max1, max2); v >= max(min1, min2) {
		return v
	}
	return 0
}

func versionError(mine *party, min, max uint16) error {
	return fmt.Errorf("%w: this program speaks %d to %d, the other %d to %d", errVersion, mine.min, mine.max, min, max)
}

// prove is the proof of a role over everything said so far.
func (p *party) prove(role string, said ...[]byte) []byte {
	mac := hmac.New(sha256.New, p.secret)
	mac.Write([]byte("banyan handshake " + role))
	for _, b := range said {
		mac.Write(b)
	}
	return mac.Sum(nil)
}

// dial runs the dialler's side. It returns the verdict and the acceptor's
// standing.
func (p *party) dial(conn io.ReadWriter, to proto.Proc, toIncarnation proto.Incarnation, why purpose) (verdict, standing, error) {
	h := hello{
		min: p.min, max: p.max, purpose: why, job: p.job, from: p.self, to: to,
		fromIncarnation: p.incarnation, toIncarnation: toIncarnation, host: p.host, pid: p.pid, start: p.start,
	}
	rand.Read(h.nonce[:])
	said := h.encode()
	if _, err := conn.Write(said); err != nil {
		return 0, standing{}, fmt.Errorf("hello: %w", err)
	}

	challenge := make([]byte, challengeSize)
	if _, err := io.ReadFull(conn, challenge); err != nil {
		return 0, standing{}, fmt.Errorf("challenge: %w", err)
	}
	if [8]byte(challenge) != handshakeMagic {
		return 0, standing{}, fmt.Errorf("challenge: %w", errStranger)
	}
	min, max, chosen := binary.LittleEndian.Uint16(challenge[8:]), binary.LittleEndian.Uint16(challenge[10:]), binary.LittleEndian.Uint16(challenge[12:])
	if chosen == 0 || chosen != chooseVersion(p.min, p.max, min, max) {
		return 0, standing{}, versionError(p, min, max)
	}

	proof := p.prove("dialler", said, challenge)
	if _, err := conn.Write(proof); err != nil {
		return 0, standing{}, fmt.Errorf("proof: %w", err)
	}
	answer := make([]byte, verdictSize)
	if _, err := io.ReadFull(conn, answer); err != nil {
		return 0, standing{}, fmt.Errorf("verdict (is the job's secret the same?): %w", err)
	}
	if !hmac.Equal(answer[8:], p.prove("acceptor", said, challenge, proof, answer[:8])) {
		return 0, standing{}, fmt.Errorf("verdict: %w", errStranger)
	}
	return verdict(answer[0]), decodeStanding(answer[1:], to), nil
}

// accept runs the acceptor's side. It asks judge for the verdict once it knows
// that the dialler is of the job, and returns it with what the dialler said. An
// error comes with the verdict 0 before judge was called, and with judge's
// verdict if that may not have reached the dialler.
func (p *party) accept(conn io.ReadWriter, judge func(*hello) verdict) (*hello, verdict, error) {
	said := make([]byte, helloSize)
	n, err := io.ReadFull(conn, said[:len(handshakeMagic)])
	if !bytes.HasPrefix(handshakeMagic[:], said[:n]) {
		return nil, 0, fmt.Errorf("hello: %w", errStranger)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("hello: %w", err)
	}
	if _, err := io.ReadFull(conn, said[len(handshakeMagic):]); err != nil {
		return nil, 0, fmt.Errorf("hello: %w", err)
	}
	var h hello
	if err := h.decode(said); err != nil {
		return nil, 0, fmt.Errorf("hello: %w", err)
	}
	// Who isn't for us is told so only after the proof, but may hang up before it.
	var foreign error
	if h.job != p.job || h.to != p.self || h.toIncarnation != p.incarnation {
		foreign = fmt.Errorf("hello for %v, incarnation %d, of job %x: %w", h.to, h.toIncarnation, h.job, errStranger)
	}

	chosen := chooseVersion(p.min, p.max, h.min, h.max)
	challenge := make([]byte, 0, challengeSize)
	challenge = append(challenge, handshakeMagic[:]...)
	challenge = binary.LittleEndian.AppendUint16(challenge, p.min)
	challenge = binary.LittleEndian.AppendUint16(challenge, p.max)
	challenge = binary.LittleEndian.AppendUint16(challenge, chosen)
	challenge = append(challenge, 0, 0)
	challenge = challenge[:challengeSize]
	rand.Read(challenge[challengeSize-nonceSize:])
	if _, err := conn.Write(challenge); err != nil {
		return nil, 0, cmp.Or(foreign, fmt.Errorf("challenge: %w", err))
	}
	if chosen == 0 {
		return nil, 0, versionError(p, h.min, h.max)
	}

	proof := make([]byte, proofSize)
	if _, err := io.ReadFull(conn, proof); err != nil {
		return nil, 0, cmp.Or(foreign, fmt.Errorf("proof: %w", err))
	}
	if !hmac.Equal(proof, p.prove("dialler", said, challenge)) {
		return nil, 0, fmt.Errorf("proof: %w", errStranger)
	}
	if foreign != nil {
		return nil, 0, foreign
	}

	v := judge(&h)
	answer := append([]byte{byte(v)}, make([]byte, standingSize)...)
	if p.standing != nil {
		p.standing().encode(answer[1:])
	}
	answer = append(answer, p.prove("acceptor", said, challenge, proof, answer)...)
	if _, err := conn.Write(answer); err != nil {
		return &h, v, fmt.Errorf("verdict: %w", err)
	}
	return &h, v, nil
}
