package lane

import (
	"errors"
	"fmt"
	"testing"

	"banyan/internal/testing/explore"
)

// handover is the lock's word and all that use it, one atomic step at a time: goroutines as in Lock
// and Unlock, threads in C as in take and give of lane.c, which enter Go when they are refused.
type handover struct {
	word  uint32
	token bool
	users [4]user
	deaf  bool // a mistake: C doesn't signal
}

type user struct {
	in    int8 // C that hasn't been refused; or Go
	at    stage
	saw   uint32 // in Lock: what it compares with
	turns int8   // left
}

type stage int8

const (
	outside   stage = iota
	announces       // the lock was refused
	sleeps
	looks
	swaps
	holds
	signals
)

const (
	inGo int8 = iota
	inC
	fromC // refused: it goes by Go for this turn
)

func (h *handover) Events(dst []int) []int {
	for i, u := range h.users {
		if u.turns > 0 && (u.at != sleeps || h.token) {
			dst = append(dst, i)
		}
	}
	return dst
}

var errTwo = errors.New("the lock has two owners")

func (h *handover) Apply(i int) error {
	u := &h.users[i]
	switch u.at {
	case outside:
		switch {
		case h.word == 0:
			return h.own(u, held)
		case u.in == inC:
			u.in = fromC // and Lock tries once more
		default:
			u.at = announces
		}
	case announces:
		h.word += waiter
		if u.at = sleeps; h.word < 2*waiter {
			u.at = looks
		}
	case sleeps:
		h.token, u.at = false, looks
	case looks:
		if u.saw, u.at = h.word, swaps; h.word&held != 0 {
			u.at = sleeps
		}
	case swaps:
		if h.word == u.saw {
			return h.own(u, u.saw-waiter+held)
		}
		u.at = looks
	case holds:
		if h.word -= held; h.word != 0 && !(h.deaf && u.in == inC) {
			u.at = signals
		} else {
			u.leave()
		}
	case signals:
		h.token = true
		u.leave()
	}
	return nil
}

func (h *handover) own(u *user, word uint32) error {
	for _, other := range h.users {
		if other.at == holds {
			return errTwo
		}
	}
	h.word, u.at, u.saw = word, holds, 0
	return nil
}

func (u *user) leave() {
	u.at, u.turns = outside, u.turns-1
	if u.in == fromC {
		u.in = inC
	}
}

var errForgotten = errors.New("a goroutine waits for a lock that is free")

func (h *handover) End() error {
	for _, u := range h.users {
		if u.turns > 0 {
			return errForgotten
		}
	}
	if h.word != 0 {
		return fmt.Errorf("the word is %d in the end", h.word)
	}
	return nil
}

func (h *handover) Clone() *handover     { c := *h; return &c }
func (h *handover) CopyInto(c *handover) { *c = *h }

func (h *handover) AppendKey(dst []byte) []byte {
	dst = append(dst, byte(h.word), 0)
	if h.token {
		dst[len(dst)-1] = 1
	}
	for _, u := range h.users {
		dst = append(dst, byte(u.in), byte(u.at), byte(u.saw), byte(u.turns))
	}
	return dst
}

// All interleavings of goroutines and threads in C: never two owners, no waiter is forgotten.
func TestHandover(t *testing.T) {
	users := 3
	if explore.Long() {
		users = 4
	}
	for threads := range users + 1 {
		h := &handover{}
		for i := range h.users[:users] {
			h.users[i].turns = 2
			if i < threads {
				h.users[i].in = inC
			}
		}
		stats, err := explore.All(h, 20_000_000)
		if err != nil {
			t.Fatalf("%d threads in C: %v", threads, err)
		}
		t.Logf("%d threads in C: %+v", threads, stats)
	}
}

// The exploration finds that C must signal.
func TestHandoverCanary(t *testing.T) {
	h := &handover{deaf: true}
	for i := range h.users {
		h.users[i].turns = 1
	}
	h.users[0].in = inC
	if _, err := explore.All(h, 1_000_000); !errors.Is(err, errForgotten) {
		t.Errorf("got %v", err)
	}
}
