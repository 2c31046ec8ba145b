package groupnode

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

var testSecret = []byte("a secret of the test")

// converse runs both sides of a handshake over a pipe; tamper may change what either
// side reads.
func converse(t *testing.T, dialler, acceptor []byte, tamper func(io.ReadWriter) io.ReadWriter) (a *answer, dialErr, acceptErr error, judged bool) {
	t.Helper()
	near, far := net.Pipe()
	defer near.Close()
	// A length that is changed has one side wait for more.
	near.SetDeadline(time.Now().Add(time.Second))
	far.SetDeadline(time.Now().Add(time.Second))
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer far.Close()
		_, _, acceptErr = acceptHandshake(tamper(far), acceptor, func(*hello) (answer, error) {
			judged = true
			return answer{verdict: elsewhere, number: 3, text: "there:1"}, nil
		})
	}()
	e := someEntries()[0]
	a, dialErr = dialHandshake(near, dialler, &hello{purpose: toJoin, member: e.member, card: e.card})
	near.Close()
	<-done
	return a, dialErr, acceptErr, judged
}

func untouched(c io.ReadWriter) io.ReadWriter { return c }

func TestHandshake(t *testing.T) {
	a, dialErr, acceptErr, judged := converse(t, testSecret, testSecret, untouched)
	if dialErr != nil || acceptErr != nil || !judged || *a != (answer{elsewhere, 3, "there:1"}) {
		t.Errorf("%+v, %v, %v, judged %v", a, dialErr, acceptErr, judged)
	}
}

// Whoever doesn't know the secret is heard by nobody.
func TestHandshakeOfStranger(t *testing.T) {
	a, dialErr, acceptErr, judged := converse(t, []byte("another secret, as long"), testSecret, untouched)
	if a != nil || !errors.Is(dialErr, errStranger) || !errors.Is(acceptErr, errStranger) || judged {
		t.Errorf("%+v, %v, %v, judged %v", a, dialErr, acceptErr, judged)
	}
}

// flip changes one bit of what is read or written.
type flip struct {
	io.ReadWriter
	reads bool
	at    int
}

func (f *flip) change(b []byte) {
	if f.at >= 0 && f.at < len(b) {
		b[f.at] ^= 4
	}
	f.at -= len(b)
}

func (f *flip) Read(b []byte) (int, error) {
	n, err := f.ReadWriter.Read(b)
	if f.reads {
		f.change(b[:n])
	}
	return n, err
}

func (f *flip) Write(b []byte) (int, error) {
	if !f.reads {
		b = append([]byte(nil), b...)
		f.change(b)
	}
	return f.ReadWriter.Write(b)
}

// A handshake of which any byte was changed on the way ends without an answer that counts, and
// none changed by the dialler's side is judged.
func TestHandshakeTamperedWith(t *testing.T) {
	t.Parallel()
	for _, reads := range []bool{true, false} {
		for at := 0; ; at++ {
			var f *flip
			a, dialErr, acceptErr, judged := converse(t, testSecret, testSecret, func(c io.ReadWriter) io.ReadWriter {
				f = &flip{c, reads, at}
				return f
			})
			if f.at >= 0 { // there were fewer bytes
				if at < 90 {
					t.Fatalf("only %d bytes", at)
				}
				break
			}
			if dialErr == nil {
				t.Fatalf("byte %d (read by the acceptor: %v): answer %+v, acceptor: %v", at, reads, a, acceptErr)
			}
			if reads && judged {
				t.Fatalf("byte %d of the dialler's: judged", at)
			}
		}
	}
}

// garbage is a connection on which somebody says something.
type garbage struct{ io.Reader }

func (garbage) Write(b []byte) (int, error) { return len(b), nil }

func TestHandshakeOfGarbage(t *testing.T) {
	for name, said := range map[string]string{
		"nothing":     "",
		"a browser's": "GET / HTTP/1.1\r\nHost: here\r\n\r\n",
		"a job's":     "BANYAN\r\n" + strings.Repeat("x", 300),
		"too much":    string(handshakeMagic[:]) + "\x01\x00\x01\x00\xff\xff" + strings.Repeat("x", 1<<16),
		"half":        string(handshakeMagic[:]) + "\x01\x00\x01\x00",
	} {
		_, _, err := acceptHandshake(garbage{strings.NewReader(said)}, testSecret, func(*hello) (answer, error) {
			t.Errorf("%s is judged", name)
			return answer{}, nil
		})
		if err == nil {
			t.Errorf("%s passes", name)
		}
	}
	// A later version is told why.
	future := string(handshakeMagic[:]) + "\x09\x00\x0a\x00\x00\x00" + strings.Repeat("x", nonceSize)
	_, _, err := acceptHandshake(garbage{strings.NewReader(future)}, testSecret, nil)
	if !errors.Is(err, errVersion) {
		t.Error(err)
	}
}
