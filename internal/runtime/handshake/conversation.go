package handshake

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"syscall"
)

// The roles in a conversation. Each proof names its prover's, so neither side's proof can be sent
// back to it as the other's.
const (
	dialler  = "dialler"
	acceptor = "acceptor"
)

// conversation is the state of one handshake: what both sides have said so far, in order. It is
// the same on both sides as long as nobody between them changes anything.
type conversation struct {
	*Protocol
	conn       io.ReadWriter
	secret     []byte
	transcript []byte
	agreement  *agreement // nil: no keys are agreed on
}

// note makes bytes part of what later proofs bind.
func (c *conversation) note(said []byte) { c.transcript = append(c.transcript, said...) }

func (c *conversation) say(message []byte) error {
	c.note(message)
	_, err := c.conn.Write(message)
	return err
}

// hear reads the next n bytes from the other side.
func (c *conversation) hear(n int) ([]byte, error) {
	message, err := c.read(n)
	c.note(message)
	return message, err
}

// read is hear without the note: for bytes that proofs don't cover, or cover only in part.
func (c *conversation) read(n int) ([]byte, error) {
	b := make([]byte, n)
	k, err := io.ReadFull(c.conn, b)
	return b[:k], err
}

// prove is a role's proof over what was said so far.
func (c *conversation) prove(role string) []byte {
	mac := hmac.New(sha256.New, c.secret)
	mac.Write([]byte(c.Name + " " + role))
	mac.Write(c.transcript)
	return mac.Sum(nil)
}

// newNonce returns 256 random bits, or as many of a fresh public key.
func (c *conversation) newNonce() []byte {
	if c.agreement != nil {
		return c.agreement.public()
	}
	nonce := make([]byte, nonceSize)
	rand.Read(nonce)
	return nonce
}

// Dial runs the dialler's side of a handshake. It returns the payload of an acceptor that knows
// the secret. The caller bounds its duration by closing conn or setting its deadline.
func (p *Protocol) Dial(conn io.ReadWriter, secret, payload []byte) (answer []byte, err error) {
	return (&conversation{Protocol: p, conn: conn, secret: secret}).dial(payload)
}

// dial runs the dialler's side.
func (c *conversation) dial(payload []byte) (answer []byte, err error) {
	hello, err := c.hello(payload, c.newNonce())
	if err != nil {
		return nil, fmt.Errorf("hello: %w", err)
	}
	if err := c.say(hello); err != nil {
		return nil, fmt.Errorf("hello: %w", err)
	}
	if err := c.hearChallenge(); err != nil {
		return nil, err
	}
	if err := c.say(c.prove(dialler)); err != nil {
		return nil, fmt.Errorf("proof: %w", err)
	}
	answer, err = c.hearAnswer()
	if err != nil {
		return nil, fmt.Errorf("answer: %w", err)
	}
	return answer, nil
}

// hearChallenge reads the challenge and checks that the acceptor chose the right version.
func (c *conversation) hearChallenge() error {
	challenge, err := c.hear(c.Framing.challengeSize())
	switch {
	case err != nil:
		return fmt.Errorf("challenge: %w", err)
	case !bytes.HasPrefix(challenge, c.Magic[:]):
		return fmt.Errorf("challenge: %w, which speaks another protocol", ErrStranger)
	}
	version, err := c.choose(challenge)
	if err != nil {
		return err
	}
	if chosen := binary.LittleEndian.Uint16(challenge[headSize:]); chosen != version {
		return fmt.Errorf("%w: the other side chose %d, not %d", ErrVersion, chosen, version)
	}
	return nil
}

// hearAnswer reads the acceptor's payload and proof.
func (c *conversation) hearAnswer() ([]byte, error) {
	size := c.Framing.Answer
	if c.Framing.Variable {
		// No proof covers the length itself: a wrong length makes a wrong payload.
		length, err := c.read(lengthSize)
		if err != nil {
			return nil, explainEnd(err)
		}
		size = int(binary.LittleEndian.Uint16(length))
		if err := c.Framing.checkSize(size, c.Framing.Answer); err != nil {
			return nil, err
		}
	}
	message, err := c.read(size + proofSize)
	if err != nil {
		return nil, explainEnd(err)
	}
	payload, proof := message[:size], message[size:]
	c.note(payload)
	if !hmac.Equal(proof, c.prove(acceptor)) {
		return nil, fmt.Errorf("%w, which doesn't know the secret", ErrStranger)
	}
	return payload, nil
}

// explainEnd explains why an acceptor hung up instead of answering: it does so if it doesn't
// believe the dialler's proof.
func explainEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w (it hung up: is the secret the same?): %w", ErrStranger, err)
	}
	return err
}

// Judge decides what an acceptor answers.
type Judge struct {
	// Suspect is told what a dialler says before there is a proof of it. Its error means that the
	// hello can't be meant for this acceptor. The dialler is refused only after its proof, so
	// that a stranger learns nothing; but if it hangs up before, the error counts instead of
	// ErrHungUp. Suspect may be nil.
	Suspect func(hello []byte) error
	// Answer returns the payload for a dialler that knows the secret. After an error the dialler
	// gets none.
	Answer func(hello []byte) ([]byte, error)
	// Others are secrets with which a dialler is let in, too, while secrets are being changed. The
	// rest of the conversation goes on with the one that the dialler knows.
	Others [][]byte
	// Sealed says whether a dialler has run DialSealed. It must follow from the hello. A nil Sealed
	// says no.
	Sealed func(hello []byte) bool
}

// Accept runs the acceptor's side of a handshake. It returns nil when judge's answer has been
// sent. The caller bounds its duration by closing conn or setting its deadline.
func (p *Protocol) Accept(conn io.ReadWriter, secret []byte, judge Judge) error {
	return (&conversation{Protocol: p, conn: conn, secret: secret}).accept(judge)
}

// accept runs the acceptor's side.
func (c *conversation) accept(judge Judge) error {
	hello, err := c.hearHello()
	if err != nil {
		return fmt.Errorf("hello: %w", MarkHangUp(err))
	}
	payload := c.Framing.helloPayload(hello)
	if judge.Sealed != nil && judge.Sealed(payload) {
		c.agreement = newAgreement()
	}
	var suspicion error
	if judge.Suspect != nil {
		suspicion = judge.Suspect(payload)
	}
	err = c.challengeDialler(hello, judge.Others)
	switch {
	case errors.Is(err, ErrStranger), errors.Is(err, ErrVersion):
		return err
	case suspicion != nil:
		return suspicion
	case err != nil:
		return err
	}
	answer, err := judge.Answer(payload)
	if err != nil {
		return err
	}
	if err := c.sayAnswer(answer); err != nil {
		return fmt.Errorf("answer: %w", MarkHangUp(err))
	}
	return nil
}

// hearHello reads a hello. It returns as soon as the dialler turns out to speak something else.
func (c *conversation) hearHello() ([]byte, error) {
	magic, err := c.hear(len(c.Magic))
	if !bytes.HasPrefix(c.Magic[:], magic) {
		return nil, fmt.Errorf("%w, which speaks another protocol", ErrStranger)
	}
	if err != nil {
		return nil, err
	}
	if _, err := c.hear(c.Framing.helloHead() - len(c.Magic)); err != nil {
		return nil, err
	}
	rest, err := c.Framing.helloRest(c.transcript)
	if err != nil {
		return nil, err
	}
	if _, err := c.hear(rest); err != nil {
		return nil, err
	}
	return bytes.Clone(c.transcript), nil
}

// challengeDialler sends the challenge and checks the dialler's proof, by this side's secret or one
// of the others.
func (c *conversation) challengeDialler(hello []byte, others [][]byte) error {
	version, versionErr := c.choose(hello)
	if err := c.say(c.challenge(version, c.newNonce())); err != nil {
		return fmt.Errorf("challenge: %w", MarkHangUp(err))
	}
	if versionErr != nil {
		return versionErr
	}
	proof, err := c.read(proofSize)
	if err != nil {
		return fmt.Errorf("proof: %w", MarkHangUp(err))
	}
	own := c.secret
	for _, secret := range append([][]byte{own}, others...) {
		if c.secret = secret; hmac.Equal(proof, c.prove(dialler)) {
			c.note(proof)
			return nil
		}
	}
	c.secret = own
	return fmt.Errorf("proof: %w, which doesn't know the secret", ErrStranger)
}

// sayAnswer sends the acceptor's payload and proof at once.
func (c *conversation) sayAnswer(payload []byte) error {
	if err := c.Framing.checkSize(len(payload), c.Framing.Answer); err != nil {
		return err
	}
	var message []byte
	if c.Framing.Variable {
		message = binary.LittleEndian.AppendUint16(message, uint16(len(payload)))
	}
	c.note(payload)
	message = append(append(message, payload...), c.prove(acceptor)...)
	_, err := c.conn.Write(message)
	return err
}

// ErrHungUp says that the dialler hung up after nothing but right words. Honest diallers do that:
// the end of a job cuts their dials short, as does a death.
var ErrHungUp = errors.New("the dialler hung up")

// MarkHangUp makes an error ErrHungUp if it means that the other side closed the connection.
func MarkHangUp(err error) error {
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, end) {
			return fmt.Errorf("%w: %w", ErrHungUp, err)
		}
	}
	return err
}
