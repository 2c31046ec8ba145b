package process

import (
	"errors"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
)

// A member that has given up a collective's large message may free the
// communicator before the receiver asks for the message.
func TestWithdrawnAfterFree(t *testing.T) {
	p, w := single(t, layout.Uniform(3, 1))
	h := p.Send(3, 1, 0, make([]byte, EagerLimit+1))
	p.Closed(2, transport.EvidenceExited)
	if !p.Done(h) {
		t.Fatal("the send waits on, although a member is lost")
	}
	if _, err := p.Take(h); !errors.Is(err, ErrRankLost) {
		t.Error(err)
	}
	p.CloseContext(3)
	p.Frame(1, &wire.Header{Kind: wire.KindPull, ID: w.last(wire.KindOffer).ID, Offset: 1 << 32, Total: 1 << 20}, nil)
	if d := w.last(wire.KindData); d == nil || !d.Fragment().Withdrawn || d.Fragment().Lost != 2 {
		t.Errorf("the answer to the pull is %+v", d)
	}
}

// A large message that waits for its receiver borrows memory, and uses none: it holds up no
// small ones. Here the receiver wants the small one first.
func TestRendezvousDoesntHoldUpEager(t *testing.T) {
	for _, degree := range []int{1, 2} {
		p, _ := single(t, layout.Uniform(2, degree))
		p.Send(2, 1, 0, make([]byte, retainLimit+1))
		if h := p.Send(2, 1, 1, []byte{1}); !p.Done(h) {
			t.Errorf("degree %d: a small send waits for a large one", degree)
		}
	}
}

// The answer to what a job waits for includes a send that is throttled because another replica
// is behind.
func TestWaitsForAReplica(t *testing.T) {
	p, _ := single(t, layout.Uniform(2, 2))
	p.sends.retainLimit = 1000
	h := p.Send(2, 1, 7, make([]byte, 2000))
	if w := p.Waits(); p.Done(h) || len(w) != 1 || w[0].String() != "for another replica of its rank, which is behind, after sending 2000 bytes with tag 7 to rank 1" {
		t.Errorf("it waits %v", w)
	}
}
