package handshake

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var testSecret = []byte("0123456789abcdef0123456789abcdef")

// variable is a protocol with payloads of variable size.
var variable = &Protocol{
	Name: "banyan test", Magic: [8]byte{'B', 'A', 'N', 'Y', 'A', 'N', '\r', 'T'}, Min: 1, Max: 1,
	Framing: Framing{Hello: 100, Answer: 50, Variable: true},
}

// test is a conversation of honest sides, except for what its fields change.
type test struct {
	dialler, acceptor *Protocol
	diallersSecret    []byte
	acceptorsSecret   []byte
	hello, answer     []byte
	suspect           func([]byte) error
	// change is what the dialler's and the acceptor's bytes become on the way.
	change [2]func(at int, b []byte) []byte
}

// honest is a conversation in which nothing goes wrong.
func honest(p *Protocol) *test {
	t := &test{
		dialler: p, acceptor: p, diallersSecret: testSecret, acceptorsSecret: testSecret,
		hello: bytes.Repeat([]byte{7}, 92), answer: bytes.Repeat([]byte{9}, 8),
	}
	return t
}

// outcome is what the two sides of a conversation came to.
type outcome struct {
	answer             []byte // what the dialler heard
	dialErr, acceptErr error
	judged             []byte // the hello that the acceptor judged
	said               [2][]byte
}

func (c *test) run() outcome {
	w := newWire()
	w.change = c.change
	var o outcome
	done := make(chan struct{})
	go func() {
		defer close(done)
		far := end{w, 1}
		defer far.hangUp()
		o.acceptErr = c.acceptor.Accept(far, c.acceptorsSecret, Judge{Suspect: c.suspect, Answer: func(hello []byte) ([]byte, error) {
			o.judged = bytes.Clone(hello)
			return c.answer, nil
		}})
	}()
	near := end{w, 0}
	o.answer, o.dialErr = c.dialler.Dial(near, c.diallersSecret, c.hello)
	near.hangUp()
	<-done
	o.said = [2][]byte{w.said[0].Bytes(), w.said[1].Bytes()}
	return o
}

// both runs a test with payloads of fixed and of variable size.
func both(t *testing.T, f func(t *testing.T, p *Protocol)) {
	t.Run("fixed", func(t *testing.T) { f(t, Job) })
	t.Run("variable", func(t *testing.T) { f(t, variable) })
}

func TestHandshake(t *testing.T) {
	both(t, func(t *testing.T, p *Protocol) {
		c := honest(p)
		o := c.run()
		if o.dialErr != nil || o.acceptErr != nil || !bytes.Equal(o.answer, c.answer) || !bytes.Equal(o.judged, c.hello) {
			t.Fatalf("got %+v", o)
		}
		all := append(bytes.Clone(o.said[0]), o.said[1]...)
		if len(all) > 512 || bytes.Contains(all, testSecret[:8]) {
			t.Errorf("%d bytes were exchanged, or the secret", len(all))
		}
	})
}

// The bytes on the wire are what processes of other builds expect.
func TestWire(t *testing.T) {
	prove := func(name string, said ...[]byte) []byte {
		mac := hmac.New(sha256.New, testSecret)
		mac.Write([]byte(name))
		mac.Write(bytes.Join(said, nil))
		return mac.Sum(nil)
	}
	both(t, func(t *testing.T, p *Protocol) {
		c := honest(p)
		o := c.run()
		head := append(bytes.Clone(p.Magic[:]), 1, 0, 1, 0)
		var hello, challenge []byte
		if p.Framing.Variable {
			hello = append(append(append(head, 92, 0), o.said[0][14:46]...), c.hello...)
			challenge = append(append(bytes.Clone(head), 1, 0), o.said[1][14:46]...)
		} else {
			hello = append(append(head, c.hello...), o.said[0][104:136]...)
			challenge = append(append(bytes.Clone(head), 1, 0, 0, 0), o.said[1][16:48]...)
		}
		proof := prove(p.Name+" dialler", hello, challenge)
		answer := append(bytes.Clone(c.answer), prove(p.Name+" acceptor", hello, challenge, proof, c.answer)...)
		if p.Framing.Variable {
			answer = append([]byte{8, 0}, answer...)
		}
		if want := append(hello, proof...); !bytes.Equal(o.said[0], want) {
			t.Errorf("the dialler said\n%x, want\n%x", o.said[0], want)
		}
		if want := append(challenge, answer...); !bytes.Equal(o.said[1], want) {
			t.Errorf("the acceptor said\n%x, want\n%x", o.said[1], want)
		}
	})
}

// Each conversation has new random numbers.
func TestNonces(t *testing.T) {
	both(t, func(t *testing.T, p *Protocol) {
		a, b := honest(p).run(), honest(p).run()
		for side := range a.said {
			if bytes.Equal(a.said[side], b.said[side]) {
				t.Errorf("side %d says the same twice", side)
			}
		}
	})
}

func TestVersions(t *testing.T) {
	for _, c := range []struct{ min1, max1, min2, max2, want uint16 }{
		{1, 1, 1, 1, 1}, {1, 3, 2, 5, 3}, {2, 5, 1, 3, 3}, {1, 9, 4, 4, 4}, {1, 2, 3, 4, 0}, {3, 4, 1, 2, 0},
	} {
		p, q := Protocol{Min: c.min1, Max: c.max1}, Protocol{Min: c.min2, Max: c.max2}
		if got, err := p.choose(q.head()); got != c.want || errors.Is(err, ErrVersion) != (c.want == 0) {
			t.Errorf("%+v: got %d, %v", c, got, err)
		}
	}
	both(t, func(t *testing.T, p *Protocol) {
		for _, elderDials := range []bool{true, false} {
			elder, younger := *p, *p
			elder.Min, elder.Max, younger.Min, younger.Max = 1, 3, 4, 6
			c := honest(p)
			c.dialler, c.acceptor = &younger, &elder
			if elderDials {
				c.dialler, c.acceptor = &elder, &younger
			}
			o := c.run()
			for _, err := range []error{o.dialErr, o.acceptErr} {
				if !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "1 to 3") || !strings.Contains(err.Error(), "4 to 6") {
					t.Errorf("the error is %v", err)
				}
			}
			if o.judged != nil || o.answer != nil {
				t.Errorf("got %+v", o)
			}
			younger.Min = 2
			if o := c.run(); o.dialErr != nil || o.acceptErr != nil {
				t.Errorf("with version 3 in common: %+v", o)
			}
		}
	})
}

// A side that doesn't know the secret, or speaks another protocol, is neither judged nor answered.
func TestStrangers(t *testing.T) {
	both(t, func(t *testing.T, p *Protocol) {
		renamed, other := *p, *p
		renamed.Name += " "
		other.Magic[0]++
		for name, spoil := range map[string]func(c *test){
			"dialler":          func(c *test) { c.diallersSecret = []byte("another secret that is long") },
			"acceptor":         func(c *test) { c.acceptorsSecret = []byte("a guess") },
			"another protocol": func(c *test) { c.dialler = &other },
			"another name":     func(c *test) { c.dialler = &renamed },
		} {
			c := honest(p)
			spoil(c)
			if o := c.run(); !errors.Is(o.acceptErr, ErrStranger) || o.dialErr == nil || o.judged != nil || o.answer != nil {
				t.Errorf("%s: %+v", name, o)
			} else if name != "another protocol" && !errors.Is(o.dialErr, ErrStranger) {
				t.Errorf("%s: the dialler hears %v", name, o.dialErr)
			}
		}
	})
}

// A hello that isn't meant for the acceptor is refused after its proof; its dialler may hang up
// before.
func TestSuspicion(t *testing.T) {
	both(t, func(t *testing.T, p *Protocol) {
		elsewhere := errors.New("meant for another")
		hello := len(honest(p).run().said[0]) - proofSize
		for name, tc := range map[string]struct {
			spoil     func(c *test)
			want      error
			challenge bool
		}{
			"proved":           {func(*test) {}, elsewhere, true},
			"hung up":          {func(c *test) { c.change[0] = cut(hello) }, elsewhere, true},
			"without secret":   {func(c *test) { c.diallersSecret = testSecret[1:] }, ErrStranger, true},
			"another version":  {func(c *test) { q := *p; q.Min, q.Max = 8, 9; c.dialler = &q }, ErrVersion, true},
			"before its hello": {func(c *test) { c.change[0] = cut(hello - 1) }, ErrHungUp, false},
		} {
			c := honest(p)
			c.suspect = func([]byte) error { return elsewhere }
			tc.spoil(c)
			o := c.run()
			if !errors.Is(o.acceptErr, tc.want) || o.judged != nil || o.dialErr == nil {
				t.Errorf("%s: %+v", name, o)
			}
			want := 0
			if tc.challenge {
				want = p.Framing.challengeSize()
			}
			if len(o.said[1]) != want {
				t.Errorf("%s: the acceptor said %d bytes, want %d", name, len(o.said[1]), want)
			}
		}
	})
}

// A dialler that ends while all it said was right is no stranger.
func TestHangUp(t *testing.T) {
	both(t, func(t *testing.T, p *Protocol) {
		whole := len(honest(p).run().said[0])
		for n := range whole {
			c := honest(p)
			c.change[0] = cut(n)
			if o := c.run(); !errors.Is(o.acceptErr, ErrHungUp) || errors.Is(o.acceptErr, ErrStranger) || o.judged != nil || o.answer != nil {
				t.Fatalf("after %d of %d bytes: %+v", n, whole, o)
			}
		}
		whole = len(honest(p).run().said[1])
		for n := range whole {
			c := honest(p)
			c.change[1] = cut(n)
			if o := c.run(); o.dialErr == nil || o.answer != nil {
				t.Fatalf("after %d of %d bytes of the acceptor's: %+v", n, whole, o)
			}
		}
	})
}

// Any bit that is changed on the way is noticed: the acceptor judges no hello of which a byte was
// changed, and the dialler believes no answer in a conversation of which a byte was changed.
func TestTampering(t *testing.T) {
	both(t, func(t *testing.T, p *Protocol) {
		said := honest(p).run().said
		for side := range said {
			for at := range said[side] {
				c := honest(p)
				c.change[side] = flip(at)
				o := c.run()
				if o.dialErr == nil || o.answer != nil || side == 0 && (o.judged != nil || o.acceptErr == nil) {
					t.Fatalf("byte %d of side %d: %+v", at, side, o)
				}
			}
		}
	})
}

// An acceptor that doesn't know the secret can't make up an answer.
func TestForgedAnswer(t *testing.T) {
	both(t, func(t *testing.T, p *Protocol) {
		w := newWire()
		go func() {
			far := end{w, 1}
			defer far.hangUp()
			io.ReadFull(far, make([]byte, len(honest(p).run().said[0])-proofSize))
			far.Write(p.challenge(1, make([]byte, nonceSize)))
			proof := make([]byte, proofSize)
			io.ReadFull(far, proof)
			var answer []byte
			if p.Framing.Variable {
				answer = append(answer, 8, 0)
			}
			far.Write(append(append(answer, make([]byte, 8)...), proof...)) // the dialler's own, reflected
		}()
		if answer, err := p.Dial(end{w, 0}, testSecret, make([]byte, 92)); !errors.Is(err, ErrStranger) || answer != nil {
			t.Errorf("got %v, %v", answer, err)
		}
	})
}

// play speaks a script to an acceptor, and says whether that judged it.
func play(t *testing.T, p *Protocol, script func(conn io.ReadWriter)) (judged bool) {
	t.Helper()
	w := newWire()
	done := make(chan struct{})
	go func() {
		defer close(done)
		far := end{w, 1}
		defer far.hangUp()
		if err := p.Accept(far, testSecret, Judge{Answer: func([]byte) ([]byte, error) {
			judged = true
			return make([]byte, 8), nil
		}}); err == nil {
			t.Error("accepted")
		}
	}()
	script(end{w, 0})
	end{w, 0}.hangUp()
	<-done
	return judged
}

func TestReplay(t *testing.T) {
	both(t, func(t *testing.T, p *Protocol) {
		heard := honest(p).run().said[0]
		hello := len(heard) - proofSize
		if play(t, p, func(conn io.ReadWriter) {
			conn.Write(heard[:hello])
			io.ReadFull(conn, make([]byte, p.Framing.challengeSize()))
			conn.Write(heard[hello:])
			io.ReadFull(conn, make([]byte, 1))
		}) {
			t.Error("a replayed proof was believed")
		}
	})
}

// A stranger that a process dials sends that process's words back to the process itself, as another
// dialler. The handshake doesn't notice, because both sides know the secret. So a payload has to
// name its receiver, and Suspect refuses it.
func TestReflection(t *testing.T) {
	both(t, func(t *testing.T, p *Protocol) {
		elsewhere := errors.New("its own hello")
		c := honest(p)
		own := bytes.Clone(c.hello)
		c.suspect = func(hello []byte) error {
			if bytes.Equal(hello, own) {
				return elsewhere
			}
			return nil
		}
		if o := c.run(); !errors.Is(o.acceptErr, elsewhere) || o.judged != nil || o.answer != nil {
			t.Errorf("the process talks to itself: %+v", o)
		}
	})
}

// fixedSpeech is a connection on which one thing is said, whatever the answer.
type fixedSpeech struct{ io.Reader }

func (fixedSpeech) Write(b []byte) (int, error) { return len(b), nil }

func TestGarbage(t *testing.T) {
	both(t, func(t *testing.T, p *Protocol) {
		versions := string(p.head())
		for name, tc := range map[string]struct {
			said string
			want error // nil: any
		}{
			"nothing":              {"", ErrHungUp},
			"a browser's":          {"GET / HTTP/1.1\r\nHost: here\r\n\r\n", ErrStranger},
			"three letters of it":  {"GET", ErrStranger},
			"another protocol's":   {"BANYAN\r." + strings.Repeat("x", 300), ErrStranger},
			"noise after the head": {versions + "\xff\xff" + strings.Repeat("x", 1<<16), nil},
			"half":                 {versions, ErrHungUp},
		} {
			err := p.Accept(fixedSpeech{strings.NewReader(tc.said)}, testSecret, Judge{Answer: func([]byte) ([]byte, error) {
				t.Errorf("%s is judged", name)
				return nil, nil
			}})
			if err == nil || tc.want != nil && !errors.Is(err, tc.want) {
				t.Errorf("%s: %v", name, err)
			}
		}
		// A dialler of a later version is told why.
		future := binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(bytes.Clone(p.Magic[:]), 9), 10)
		future = append(future, make([]byte, 150)...)
		if err := p.Accept(fixedSpeech{bytes.NewReader(future)}, testSecret, Judge{}); !errors.Is(err, ErrVersion) {
			t.Error(err)
		}
	})
}

// A payload of a size that the protocol doesn't allow isn't sent.
func TestPayloadSizes(t *testing.T) {
	for p, sizes := range map[*Protocol][]int{Job: {0, 91, 93}, variable: {101, 1 << 17}} {
		for _, n := range sizes {
			c := honest(p)
			c.hello = make([]byte, n)
			if o := c.run(); o.dialErr == nil || len(o.said[0]) > 0 {
				t.Errorf("a hello of %d bytes: %+v", n, o)
			}
			c = honest(p)
			c.answer = make([]byte, n)
			if o := c.run(); o.acceptErr == nil || o.dialErr == nil || o.answer != nil {
				t.Errorf("an answer of %d bytes: %+v", n, o)
			}
		}
	}
	for _, n := range []int{0, 100} {
		c := honest(variable)
		c.hello = make([]byte, n)
		c.answer = make([]byte, n/2)
		if o := c.run(); o.dialErr != nil || o.acceptErr != nil || len(o.judged) != n || len(o.answer) != n/2 {
			t.Errorf("%d bytes: %+v", n, o)
		}
	}
}

// FuzzConversation has somebody between the two sides change and cut what either says. Unless all
// arrived as it was sent, the acceptor judges nothing and the dialler believes nothing.
func FuzzConversation(f *testing.F) {
	for _, variable := range []bool{false, true} {
		for _, toDialler := range []bool{false, true} {
			f.Add(variable, toDialler, uint16(0), uint16(1000), []byte{})
			f.Add(variable, toDialler, uint16(12), uint16(1000), []byte{0xff, 0xff})
			f.Add(variable, toDialler, uint16(0), uint16(60), []byte("GET / HTTP/1.1\r\n\r\n"))
		}
	}
	f.Fuzz(func(t *testing.T, sized, toDialler bool, at, length uint16, mask []byte) {
		p := Job
		if sized {
			p = variable
		}
		side := 0
		if toDialler {
			side = 1
		}
		c := honest(p)
		changed := false
		c.change[side] = func(begin int, b []byte) []byte {
			for i := range b {
				if k := begin + i - int(at); k >= 0 && k < len(mask) && mask[k] != 0 {
					b[i] ^= mask[k]
					changed = true
				}
			}
			whole := len(b)
			b = cut(int(length))(begin, b)
			changed = changed || len(b) < whole
			return b
		}
		o := c.run()
		switch {
		case !changed:
			if o.dialErr != nil || o.acceptErr != nil || !bytes.Equal(o.answer, c.answer) || !bytes.Equal(o.judged, c.hello) {
				t.Fatalf("an honest conversation: %+v", o)
			}
		case o.dialErr == nil || o.answer != nil:
			t.Fatalf("the dialler believes %+v", o)
		case !toDialler && (o.judged != nil || o.acceptErr == nil):
			t.Fatalf("the acceptor believes %+v", o)
		}
	})
}
