package handshake

import (
	"bytes"
	"errors"
	"testing"

	"banyan/internal/runtime/seal"
)

// agree runs a conversation in which the dialler wants keys, with somebody between the two who
// changes what they say.
func agree(p *Protocol, secrets [2][]byte, sealed func([]byte) bool, change [2]func(int, []byte) []byte) (near seal.Keys, nearErr error, far *seal.Keys, farErr error) {
	w := newWire()
	w.change = change
	done := make(chan struct{})
	go func() {
		defer close(done)
		there := end{w, 1}
		defer there.hangUp()
		far, farErr = p.AcceptSealed(there, secrets[1], Judge{
			Answer: func([]byte) ([]byte, error) { return bytes.Repeat([]byte{9}, 8), nil }, Sealed: sealed,
		})
	}()
	here := end{w, 0}
	_, near, nearErr = p.DialSealed(here, secrets[0], bytes.Repeat([]byte{7}, 92))
	here.hangUp()
	<-done
	return near, nearErr, far, farErr
}

func always([]byte) bool { return true }

var same = [2][]byte{testSecret, testSecret}

// Both sides have the same keys, one for each direction; another conversation has others.
func TestAgreement(t *testing.T) {
	both(t, func(t *testing.T, p *Protocol) {
		seen := map[seal.Secret]bool{}
		for range 3 {
			near, err, far, farErr := agree(p, same, always, [2]func(int, []byte) []byte{})
			if err != nil || farErr != nil || far == nil {
				t.Fatal(err, farErr, far)
			}
			if near.Out != far.In || near.In != far.Out || near.Out == near.In {
				t.Error("the two sides don't have the same two secrets")
			}
			seen[near.Out], seen[near.In] = true, true
		}
		if len(seen) != 6 {
			t.Errorf("%d secrets in three conversations", len(seen))
		}
	})
}

// An acceptor that hears no wish for keys agrees on none.
func TestNoAgreement(t *testing.T) {
	both(t, func(t *testing.T, p *Protocol) {
		var judged []byte
		_, err, far, farErr := agree(p, same, func(hello []byte) bool { judged = bytes.Clone(hello); return false }, [2]func(int, []byte) []byte{})
		if farErr != nil || far != nil || !bytes.Equal(judged, bytes.Repeat([]byte{7}, 92)) {
			t.Errorf("%v, %v, after %x", far, farErr, judged)
		}
		// The dialler can't tell: the first record shows it.
		if err != nil {
			t.Error(err)
		}
	})
}

// Somebody between the two who replaces a public key, or any other byte, gets no keys agreed on.
func TestForgedAgreement(t *testing.T) {
	both(t, func(t *testing.T, p *Protocol) {
		for side := range 2 {
			for position := 0; position < 220; position += 3 {
				var change [2]func(int, []byte) []byte
				touched := false
				f := flip(position)
				change[side] = func(at int, b []byte) []byte {
					touched = touched || position >= at && position < at+len(b)
					return f(at, b)
				}
				near, nearErr, far, farErr := agree(p, same, always, change)
				if !touched {
					continue
				}
				if nearErr == nil {
					t.Errorf("side %d, byte %d: the dialler has noticed nothing", side, position)
				}
				if far != nil && farErr == nil && near.Out == far.In {
					t.Errorf("side %d, byte %d: the two have keys", side, position)
				}
			}
		}
	})
}

// Keys depend on the secret of the job, and not only on what is said in the open.
func TestAgreementNeedsTheSecret(t *testing.T) {
	both(t, func(t *testing.T, p *Protocol) {
		other := bytes.Repeat([]byte("x"), MinSecret)
		_, err, far, farErr := agree(p, [2][]byte{testSecret, other}, always, [2]func(int, []byte) []byte{})
		if !errors.Is(err, ErrStranger) || !errors.Is(farErr, ErrStranger) || far != nil {
			t.Error(err, farErr, far)
		}
		// The same conversation under another secret gives other keys.
		c := &conversation{Protocol: p, secret: testSecret, agreement: newAgreement()}
		hello, _ := p.hello(bytes.Repeat([]byte{7}, 92), newAgreement().public())
		c.transcript = append(hello, p.challenge(1, newAgreement().public())...)
		ours, err := c.keys(dialler, acceptor)
		if err != nil {
			t.Fatal(err)
		}
		c.secret = other
		if theirs, err := c.keys(dialler, acceptor); err != nil || theirs.Out == ours.Out {
			t.Errorf("the secret makes no difference; %v", err)
		}
	})
}

// A public key with which all others agree on zero is refused.
func TestWeakKey(t *testing.T) {
	c := &conversation{Protocol: Job, secret: testSecret, agreement: newAgreement()}
	hello, _ := Job.hello(make([]byte, 92), make([]byte, nonceSize))
	c.transcript = append(hello, Job.challenge(1, newAgreement().public())...)
	if _, err := c.keys(acceptor, dialler); err == nil {
		t.Error("a key of zeros is accepted")
	}
}
