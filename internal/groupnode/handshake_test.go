package groupnode

import (
	"errors"
	"net"
	"reflect"
	"testing"
	"time"

	"banyan/internal/proto/founding"
	"banyan/internal/runtime/handshake"
)

var testSecret = []byte("a secret of the test")

// converse runs both sides of a handshake over a pipe.
func converse(dialler []byte, h *hello, judge func(*hello) (answer, error)) (a *answer, heard *hello, dialErr, acceptErr error) {
	near, far := net.Pipe()
	deadline := time.Now().Add(10 * time.Second)
	near.SetDeadline(deadline)
	far.SetDeadline(deadline)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer far.Close()
		heard, _, _, acceptErr = acceptHandshake(far, testSecret, nil, judge)
	}()
	a, dialErr = dialHandshake(near, dialler, h)
	near.Close()
	<-done
	return a, heard, dialErr, acceptErr
}

func someHello() *hello {
	e := someEntries()[0]
	return &hello{state: someState(e.card.Name), purpose: toJoin, group: "shards", founding: Founding{newNonce(), 5}, settings: settings{2, 3, 4, true}, member: e.member, card: e.card}
}

func someState(name string) *founding.Candidate {
	return &founding.Candidate{Name: name, Start: founding.Start{Node: founding.ID{2}, Count: 3}, Exists: true,
		Memory: founding.Memory{Founding: founding.ID{4}, Token: 5, Next: 6}, Expect: 7, Change: 8,
		Promise: founding.Promise{To: founding.Start{Node: founding.ID{9}, Count: 10}, Round: 11}}
}

func TestHandshake(t *testing.T) {
	want := answer{redirect, 3, "there:1", Founding{newNonce(), 7}, founding.ID{1}, someState("b"), []string{"there:2", "there:3"}}
	h := someHello()
	a, heard, dialErr, acceptErr := converse(testSecret, h, func(*hello) (answer, error) { return want, nil })
	if dialErr != nil || acceptErr != nil || !reflect.DeepEqual(*a, want) || !reflect.DeepEqual(heard, h) {
		t.Errorf("%+v, %v, %v, heard %+v", a, dialErr, acceptErr, heard)
	}
}

// A dialler that doesn't know the secret isn't judged, nor is a hello that makes no sense.
func TestHandshakeRefuses(t *testing.T) {
	judge := func(h *hello) (answer, error) {
		t.Errorf("judged: %+v", h)
		return answer{}, nil
	}
	a, heard, dialErr, acceptErr := converse([]byte("another secret, as long"), someHello(), judge)
	if a != nil || !errors.Is(dialErr, handshake.ErrStranger) || !errors.Is(acceptErr, handshake.ErrStranger) || heard != nil {
		t.Errorf("%+v, %v, %v, heard %+v", a, dialErr, acceptErr, heard)
	}
	h := someHello()
	h.purpose = purposeEnd
	if a, _, dialErr, acceptErr := converse(testSecret, h, judge); a != nil || dialErr == nil || acceptErr == nil || errors.Is(acceptErr, handshake.ErrStranger) {
		t.Errorf("%+v, %v, %v", a, dialErr, acceptErr)
	}
}

// A hello that can't be judged gets no answer, and its dialler is known.
func TestNoAnswer(t *testing.T) {
	late := errors.New("too late")
	a, heard, dialErr, acceptErr := converse(testSecret, someHello(), func(*hello) (answer, error) { return answer{}, late })
	if a != nil || dialErr == nil || !errors.Is(acceptErr, late) || heard == nil {
		t.Errorf("%+v, %v, %v, heard %+v", a, dialErr, acceptErr, heard)
	}
}

// A job's process is no member: its magic number is another one.
func TestHandshakeOfJob(t *testing.T) {
	near, far := net.Pipe()
	deadline := time.Now().Add(10 * time.Second)
	near.SetDeadline(deadline)
	far.SetDeadline(deadline)
	defer near.Close()
	go func() {
		defer far.Close()
		handshake.Job.Dial(far, testSecret, make([]byte, handshake.Job.Framing.Hello))
	}()
	if _, _, _, err := acceptHandshake(near, testSecret, nil, nil); !errors.Is(err, handshake.ErrStranger) {
		t.Error(err)
	}
}
