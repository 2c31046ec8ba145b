package handshake

import (
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"

	"banyan/internal/runtime/seal"
)

// A handshake that is to be followed by sealed data agrees on keys beside: each side's nonce is the
// public key of a fresh pair (X25519, RFC 7748). So it takes no more messages and no more bytes
// than others. What is agreed on goes through HKDF (RFC 5869), together with the secret and a
// digest of all that both sides have said:
//
//	agreed  = HKDF-Extract(salt: secret, X25519(own private key, other's public key))
//	said    = SHA-256(hello, challenge, proof, answer's payload)
//	secrets = HKDF-Expand(agreed, label + role of the sender + said)
//
// To know a secret an attacker needs the private key of one side, which is gone when the handshake
// is over, and the job's secret: so a job's secret that becomes known later opens no record. If
// somebody between the two had changed a public key, the proofs would show it.

// agreementLabel begins the names of what is derived here.
const agreementLabel = "banyan handshake 1 "

// agreement is one side's part in agreeing on keys.
type agreement struct{ private *ecdh.PrivateKey }

func newAgreement() *agreement {
	private, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		panic(err) // the system's source of random numbers doesn't fail
	}
	return &agreement{private}
}

// public is what the other side needs to know. It has the size of a nonce.
func (a *agreement) public() []byte { return a.private.PublicKey().Bytes() }

// keys derives the keys of one side of a conversation that has succeeded.
func (c *conversation) keys(own, other string) (k seal.Keys, err error) {
	hello := c.transcript[:c.helloSize()]
	theirs := c.Framing.helloNonce(hello)
	if own == dialler {
		theirs = c.Framing.challengeNonce(c.transcript[len(hello):])
	}
	public, err := ecdh.X25519().NewPublicKey(theirs)
	if err != nil {
		return k, fmt.Errorf("the other side's key: %w", err)
	}
	shared, err := c.agreement.private.ECDH(public)
	if err != nil {
		return k, fmt.Errorf("the other side's key: %w", err)
	}
	agreed, err := hkdf.Extract(sha256.New, shared, c.secret)
	if err != nil {
		return k, err
	}
	said := sha256.Sum256(c.transcript)
	for _, x := range []struct {
		sender string
		secret *seal.Secret
	}{{own, &k.Out}, {other, &k.In}} {
		b, err := hkdf.Expand(sha256.New, agreed, agreementLabel+c.Name+" "+x.sender+" "+string(said[:]), len(x.secret))
		if err != nil {
			return k, err
		}
		copy(x.secret[:], b)
	}
	return k, nil
}

// helloSize is how many bytes of the transcript are the hello.
func (c *conversation) helloSize() int {
	n := c.Framing.helloHead()
	rest, _ := c.Framing.helloRest(c.transcript) // it was checked when the hello was made or heard
	return n + rest
}

// DialSealed is Dial, and agrees on keys to seal what follows. The acceptor must know from the
// hello that it has to (Judge.Sealed).
func (p *Protocol) DialSealed(conn io.ReadWriter, secret, payload []byte) (answer []byte, keys seal.Keys, err error) {
	c := &conversation{Protocol: p, conn: conn, secret: secret, agreement: newAgreement()}
	if answer, err = c.dial(payload); err != nil {
		return nil, keys, err
	}
	keys, err = c.keys(dialler, acceptor)
	return answer, keys, err
}

// AcceptSealed is Accept, and returns the keys if the two sides have agreed on some: if
// judge.Sealed says so.
func (p *Protocol) AcceptSealed(conn io.ReadWriter, secret []byte, judge Judge) (keys *seal.Keys, err error) {
	c := &conversation{Protocol: p, conn: conn, secret: secret}
	if err := c.accept(judge); err != nil || c.agreement == nil {
		return nil, err
	}
	k, err := c.keys(acceptor, dialler)
	return &k, err
}
