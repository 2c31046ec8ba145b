package handshake

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// MinSecret is the shortest allowed secret in bytes. It has to be random.
const MinSecret = 16

var (
	// ErrStranger says that the other side speaks something else, or doesn't know the secret.
	ErrStranger = errors.New("a stranger")
	// ErrVersion says that the two sides have no version in common.
	ErrVersion = errors.New("no common protocol version")
)

// Protocol is one use of the handshake. Its fields never change once it is used.
type Protocol struct {
	Name     string  // part of each proof: no two protocols may have the same
	Magic    [8]byte // begins hello and challenge
	Min, Max uint16  // the versions that this program speaks
	Framing  Framing
}

// Framing says how large the payloads are, and so how they stand in hello and answer:
//
//	fixed     hello: head, payload, nonce           answer: payload, proof
//	variable  hello: head, length, nonce, payload   answer: length, payload, proof
type Framing struct {
	Hello, Answer int  // bytes of a payload; at most, if Variable
	Variable      bool // lengths of two bytes are sent
}

const (
	headSize   = 12 // magic, lowest version, highest version
	lengthSize = 2
	nonceSize  = 32
	proofSize  = sha256.Size
)

// head is the part of hello and challenge that has the same meaning in all versions.
func (p *Protocol) head() []byte {
	b := append([]byte(nil), p.Magic[:]...)
	b = binary.LittleEndian.AppendUint16(b, p.Min)
	return binary.LittleEndian.AppendUint16(b, p.Max)
}

// choose picks the version to speak with a side that sent head: the highest that both speak.
func (p *Protocol) choose(head []byte) (uint16, error) {
	low, high := binary.LittleEndian.Uint16(head[8:]), binary.LittleEndian.Uint16(head[10:])
	if v := min(p.Max, high); v >= max(p.Min, low) && v != 0 {
		return v, nil
	}
	return 0, fmt.Errorf("%w: this program speaks %d to %d, the other %d to %d", ErrVersion, p.Min, p.Max, low, high)
}

// checkSize says whether a payload has an allowed size.
func (f *Framing) checkSize(size, allowed int) error {
	switch {
	case f.Variable && size > allowed:
		return fmt.Errorf("a payload of %d bytes: at most %d are allowed", size, allowed)
	case !f.Variable && size != allowed:
		return fmt.Errorf("a payload of %d bytes instead of %d", size, allowed)
	}
	return nil
}

// hello is the dialler's first message.
func (p *Protocol) hello(payload, nonce []byte) ([]byte, error) {
	if err := p.Framing.checkSize(len(payload), p.Framing.Hello); err != nil {
		return nil, err
	}
	b := p.head()
	if p.Framing.Variable {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(payload)))
		return append(append(b, nonce...), payload...), nil
	}
	return append(append(b, payload...), nonce...), nil
}

// helloHead is how many bytes of a hello must have been read to know its size.
func (f *Framing) helloHead() int {
	if f.Variable {
		return headSize + lengthSize
	}
	return headSize
}

// helloRest is how many bytes follow the first helloHead bytes of a hello.
func (f *Framing) helloRest(head []byte) (int, error) {
	size := f.Hello
	if f.Variable {
		size = int(binary.LittleEndian.Uint16(head[headSize:]))
	}
	return nonceSize + size, f.checkSize(size, f.Hello)
}

// helloNonce is the nonce in a hello that has been read.
func (f *Framing) helloNonce(hello []byte) []byte {
	at := headSize + f.Hello
	if f.Variable {
		at = headSize + lengthSize
	}
	return hello[at : at+nonceSize]
}

// challengeNonce is the nonce in a challenge that has been read.
func (f *Framing) challengeNonce(challenge []byte) []byte {
	return challenge[f.challengeSize()-nonceSize : f.challengeSize()]
}

// helloPayload is the payload in a hello that has been read.
func (f *Framing) helloPayload(hello []byte) []byte {
	if f.Variable {
		return hello[headSize+lengthSize+nonceSize:]
	}
	return hello[headSize : headSize+f.Hello]
}

// challenge is the acceptor's first message. chosen is 0 if there is no common version.
func (p *Protocol) challenge(chosen uint16, nonce []byte) []byte {
	b := binary.LittleEndian.AppendUint16(p.head(), chosen)
	if !p.Framing.Variable {
		b = append(b, 0, 0) // rounds the size up to 48 bytes
	}
	return append(b, nonce...)
}

func (f *Framing) challengeSize() int {
	if f.Variable {
		return headSize + 2 + nonceSize
	}
	return headSize + 4 + nonceSize
}
