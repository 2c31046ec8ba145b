package secure

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"strings"
	"syscall"
	"time"
)

// MaxNumber bounds the numbers of agents.
const MaxNumber = 1 << 20

// protocol is what both sides must offer: a stranger's TLS server or browser offers others.
const protocol = "banyan-agent"

// ErrOtherKey says that the other side doesn't hold this job's key.
var ErrOtherKey = errors.New("it has another job's key")

// ErrStranger says that the other side doesn't speak this protocol at all.
var ErrStranger = errors.New("it speaks another protocol")

// Accept makes a connection to the launcher secure. It returns the number of the agent that has
// proved that it holds the job's key. After an error the connection is closed. ctx bounds the
// wait.
func Accept(ctx context.Context, conn net.Conn, k Key) (*tls.Conn, int, error) {
	number := -1
	c := k.config(launcher, 0)
	c.ClientAuth = tls.RequireAnyClientCert
	c.SessionTicketsDisabled = true
	c.VerifyConnection = func(s tls.ConnectionState) error {
		n := s.PeerCertificates[0].SerialNumber
		if !n.IsInt64() || n.Int64() < 1 || n.Int64() > MaxNumber+1 {
			return ErrStranger
		}
		number = int(n.Int64()) - 1
		return k.check(s, agent(number))
	}
	t := tls.Server(conn, c)
	if err := t.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, -1, Explain(err)
	}
	return t, number, nil
}

// Dial makes a connection to the launcher secure, as the agent of a number. The launcher may
// refuse it later: the first Read tells then, whose error Explain explains. After an error the
// connection is closed. ctx bounds the wait.
func Dial(ctx context.Context, conn net.Conn, k Key, number int) (*tls.Conn, error) {
	c := k.config(agent(number), number)
	c.InsecureSkipVerify = true // VerifyConnection verifies: no authority and no name counts
	c.VerifyConnection = func(s tls.ConnectionState) error { return k.check(s, launcher) }
	t := tls.Client(conn, c)
	if err := t.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, Explain(err)
	}
	return t, nil
}

// config is what both sides have in common.
func (k Key) config(r role, number int) *tls.Config {
	return &tls.Config{
		Certificates: []tls.Certificate{k.certificate(r, number)},
		MinVersion:   tls.VersionTLS13,
		NextProtos:   []string{protocol},
	}
}

// certificate shows the public key of a role. Its serial number tells the agent's number, from 1
// on because 0 isn't allowed.
func (k Key) certificate(r role, number int) tls.Certificate {
	signer := k.signer(r)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(int64(number) + 1),
		NotBefore:    time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0), // clocks of hosts may differ much
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, signer.Public(), signer)
	if err != nil {
		panic(err) // impossible: the template is right
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: signer}
}

// check says whether the other side of a connection has the key of a role. TLS has checked that it
// holds the private key of its certificate.
func (k Key) check(s tls.ConnectionState, r role) error {
	shown, ok := s.PeerCertificates[0].PublicKey.(ed25519.PublicKey)
	if !ok || s.NegotiatedProtocol != protocol {
		return ErrStranger
	}
	if !shown.Equal(k.public(r)) {
		return ErrOtherKey
	}
	return nil
}

// Explain says what an error of a connection means. Alerts are what the other side says when it
// refuses this one.
func Explain(err error) error {
	var record tls.RecordHeaderError
	text := ""
	if err != nil {
		text = err.Error()
	}
	switch {
	case err == nil, errors.Is(err, ErrOtherKey), errors.Is(err, ErrStranger):
		return unwrapped(err)
	case errors.As(err, &record):
		return ErrStranger
	case strings.Contains(text, "remote error: tls: bad certificate"):
		return fmt.Errorf("%w, and refuses ours", ErrOtherKey)
	case strings.Contains(text, "tls:"):
		return fmt.Errorf("%w (%v)", ErrStranger, err)
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return fmt.Errorf("it hung up: %w", err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("it didn't answer in time: %w", err)
	}
	return err
}

// unwrapped is the plain error, without what TLS has put around it.
func unwrapped(err error) error {
	for _, plain := range []error{ErrOtherKey, ErrStranger} {
		if errors.Is(err, plain) {
			return plain
		}
	}
	return err
}
