package groupnode

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"banyan/internal/proto/membership"
)

// The handshake begins each connection, and is all there is of some. Both ends
// prove that they know the group's secret without showing it:
//
//	dialler                                                acceptor
//	hello      versions, nonce, who, to whom, what for    →
//	           ←  versions, the one chosen, nonce          challenge
//	proof      HMAC(secret, dialler, hello, challenge)    →
//	           ←  verdict, HMAC(secret, acceptor, all)     answer
//
// It is that of a job's processes ([banyan/internal/runtime/transport/tcp]) with other contents: the
// dialler proves itself first, and each proof binds the role, both nonces and
// all that was said. So it can't be reflected, replayed or changed on the way. The
// connection after it isn't encrypted.
//
// Hello and challenge begin with twelve bytes that keep their meaning for ever, so
// that two versions can tell each other why they don't talk.
const (
	minVersion, maxVersion = 1, 1

	nonceSize     = 32
	challengeSize = 8 + 2 + 2 + 2 + nonceSize
	maxBody       = 1024
)

var handshakeMagic = [8]byte{'B', 'A', 'N', 'Y', 'A', 'N', '\r', 'G'}

// purpose is what a dialler wants.
type purpose uint8

const (
	toSend purpose = 1 + iota // frames, until one of the two ends
	toAsk                     // whether the life called lives here
	toJoin                    // be let in
	purposeEnd
)

// verdict is the acceptor's answer.
type verdict uint8

const (
	welcome   verdict = 1 + iota
	elsewhere         // ask the member at answer.text to be let in
	later             // it can't be said yet: ask again
	refused           // answer.text says why
	inUse             // refused: a member of this name lives, at answer.text
	notHere           // the life called isn't that of the acceptor
	eviction          // the dialler is excluded, by view answer.number
	verdictEnd
)

// hello is what a dialler says.
type hello struct {
	purpose purpose
	to      Life // who is called; zero for toJoin, when only an address is known
	terms   terms
	member  membership.Member
	card    Card // the dialler's
}

// terms are the settings that all members must have in common.
type terms struct {
	arity           uint32
	period, timeout time.Duration
}

func (c *Config) terms() terms { return terms{uint32(c.Arity), c.Period, c.Timeout} }

func (t terms) String() string {
	return fmt.Sprintf("Arity %d, HeartbeatPeriod %v, HeartbeatTimeout %v", t.arity, t.period, t.timeout)
}

// answer is what the acceptor says.
type answer struct {
	verdict verdict
	number  uint64
	text    string
}

var (
	errStranger = errors.New("not of this group (is the secret the same?)")
	errVersion  = errors.New("no common protocol version")
)

func (h *hello) encode() []byte {
	b := append([]byte{byte(h.purpose)}, h.to[:]...)
	b = binary.LittleEndian.AppendUint32(b, h.terms.arity)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.terms.period))
	b = binary.LittleEndian.AppendUint64(b, uint64(h.terms.timeout))
	return appendCard(appendMember(b, h.member), h.card)
}

func decodeHello(b []byte) (*hello, error) {
	d := decoder{rest: b}
	h := &hello{purpose: purpose(d.uint8()), to: d.life()}
	h.terms = terms{d.uint32(), time.Duration(d.uint64()), time.Duration(d.uint64())}
	h.member, h.card = d.member(), d.card()
	switch {
	case d.err != nil || len(d.rest) > 0:
		return nil, fmt.Errorf("hello: %w", errMalformed)
	case h.purpose == 0 || h.purpose >= purposeEnd:
		return nil, fmt.Errorf("hello: unknown purpose %d", uint8(h.purpose))
	case h.member.Proc < 0:
		return nil, fmt.Errorf("hello: from %v", h.member)
	}
	if err := h.card.check(); err != nil {
		return nil, fmt.Errorf("hello: %w", err)
	}
	return h, nil
}

func (a *answer) encode() []byte {
	text := a.text[:min(len(a.text), maxBody-16)]
	b := binary.LittleEndian.AppendUint64([]byte{byte(a.verdict)}, a.number)
	return append(b, text...)
}

func decodeAnswer(b []byte) (*answer, error) {
	d := decoder{rest: b}
	a := &answer{verdict: verdict(d.uint8()), number: d.uint64()}
	a.text = string(d.rest)
	if d.err != nil || a.verdict == 0 || a.verdict >= verdictEnd {
		return nil, fmt.Errorf("answer: %w", errMalformed)
	}
	return a, nil
}

// prove is the proof of a role over everything said so far.
func prove(secret []byte, role string, said ...[]byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("banyan group " + role))
	for _, b := range said {
		mac.Write(b)
	}
	return mac.Sum(nil)
}

func appendVersions(b []byte) []byte {
	b = append(b, handshakeMagic[:]...)
	b = binary.LittleEndian.AppendUint16(b, minVersion)
	return binary.LittleEndian.AppendUint16(b, maxVersion)
}

// chooseVersion is the highest version that both speak, by the first twelve
// bytes of what the other says.
func chooseVersion(said []byte) (uint16, error) {
	if [8]byte(said) != handshakeMagic {
		return 0, errStranger
	}
	low, high := binary.LittleEndian.Uint16(said[8:]), binary.LittleEndian.Uint16(said[10:])
	if v := min(high, maxVersion); v >= max(low, minVersion) {
		return v, nil
	}
	return 0, fmt.Errorf("%w: this program speaks %d to %d, the other %d to %d", errVersion, minVersion, maxVersion, low, high)
}

// dialHandshake runs the dialler's side.
func dialHandshake(conn io.ReadWriter, secret []byte, h *hello) (*answer, error) {
	body := h.encode()
	said := binary.LittleEndian.AppendUint16(appendVersions(nil), uint16(len(body)))
	nonce := make([]byte, nonceSize)
	rand.Read(nonce)
	said = append(append(said, nonce...), body...)
	if _, err := conn.Write(said); err != nil {
		return nil, fmt.Errorf("hello: %w", err)
	}
	challenge := make([]byte, challengeSize)
	if _, err := io.ReadFull(conn, challenge); err != nil {
		return nil, fmt.Errorf("challenge: %w", err)
	}
	if v, err := chooseVersion(challenge); err != nil {
		return nil, err
	} else if v != binary.LittleEndian.Uint16(challenge[12:]) {
		return nil, fmt.Errorf("challenge: %w", errVersion)
	}
	proof := prove(secret, "dialler", said, challenge)
	if _, err := conn.Write(proof); err != nil {
		return nil, fmt.Errorf("proof: %w", err)
	}
	head := make([]byte, 2)
	if n, err := io.ReadFull(conn, head); n == 0 && errors.Is(err, io.EOF) {
		return nil, errStranger // so hangs up who doesn't like the proof
	} else if err != nil {
		return nil, fmt.Errorf("answer: %w", err)
	}
	rest := make([]byte, int(binary.LittleEndian.Uint16(head))+sha256.Size)
	if len(rest) > maxBody+sha256.Size {
		return nil, fmt.Errorf("answer: %w", errMalformed)
	}
	if _, err := io.ReadFull(conn, rest); err != nil {
		return nil, fmt.Errorf("answer: %w", err)
	}
	body, mac := rest[:len(rest)-sha256.Size], rest[len(rest)-sha256.Size:]
	if !hmac.Equal(mac, prove(secret, "acceptor", said, challenge, proof, body)) {
		return nil, fmt.Errorf("answer: %w", errStranger)
	}
	return decodeAnswer(body)
}

// acceptHandshake runs the acceptor's side. It asks judge for the answer once it
// knows that the dialler has the secret. An error after judge was called comes
// with what the dialler said.
func acceptHandshake(conn io.ReadWriter, secret []byte, judge func(*hello) (answer, error)) (*hello, *answer, error) {
	head := make([]byte, 14+nonceSize)
	if _, err := io.ReadFull(conn, head[:8]); err != nil {
		return nil, nil, fmt.Errorf("hello: %w", err)
	}
	if [8]byte(head) != handshakeMagic {
		return nil, nil, fmt.Errorf("hello: %w", errStranger)
	}
	if _, err := io.ReadFull(conn, head[8:]); err != nil {
		return nil, nil, fmt.Errorf("hello: %w", err)
	}
	size := int(binary.LittleEndian.Uint16(head[12:]))
	if size > maxBody {
		return nil, nil, fmt.Errorf("hello: %w", errMalformed)
	}
	said := append(head, make([]byte, size)...)
	if _, err := io.ReadFull(conn, said[len(head):]); err != nil {
		return nil, nil, fmt.Errorf("hello: %w", err)
	}
	chosen, versionErr := chooseVersion(said)
	challenge := binary.LittleEndian.AppendUint16(appendVersions(nil), chosen)
	nonce := make([]byte, nonceSize)
	rand.Read(nonce)
	challenge = append(challenge, nonce...)
	if _, err := conn.Write(challenge); err != nil {
		return nil, nil, fmt.Errorf("challenge: %w", err)
	}
	if versionErr != nil {
		return nil, nil, versionErr
	}
	proof := make([]byte, sha256.Size)
	if _, err := io.ReadFull(conn, proof); err != nil {
		return nil, nil, fmt.Errorf("proof: %w", err)
	}
	if !hmac.Equal(proof, prove(secret, "dialler", said, challenge)) {
		return nil, nil, fmt.Errorf("proof: %w", errStranger)
	}
	h, err := decodeHello(said[len(head):])
	if err != nil {
		return nil, nil, err
	}
	a, err := judge(h)
	if err != nil {
		return h, nil, err
	}
	body := a.encode()
	out := binary.LittleEndian.AppendUint16(nil, uint16(len(body)))
	out = append(append(out, body...), prove(secret, "acceptor", said, challenge, proof, body)...)
	if _, err := conn.Write(out); err != nil {
		return h, &a, fmt.Errorf("answer: %w", err)
	}
	return h, &a, nil
}
