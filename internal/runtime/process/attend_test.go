package process

import (
	"bytes"
	"slices"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/runtime/wire"
)

// Data of a sender that attends is asked for if a thread waits here, too. Else it is read.
func TestBothAttend(t *testing.T) {
	for _, c := range []struct{ here, there, asks bool }{
		{true, true, true}, {true, false, false}, {false, true, false}, {false, false, false},
	} {
		p, w := singleReader(t, layout.Uniform(2, 1))
		w.memory[1], w.attends = large, c.there
		if c.here {
			p.Attend()
		}
		buffer := make([]byte, len(large))
		h := p.Receive(2, 1, 0, buffer)
		offerFrom(p, 1, 1<<32, 1)
		asks := w.pieces == 0 && !w.last(wire.KindPull).Pull().Discard
		if asks != c.asks || p.Streams() != c.asks {
			t.Errorf("%+v: asked %v, under way %v", c, asks, p.Streams())
		}
		if !asks {
			continue
		}
		f := &wire.Header{Length: uint32(len(large))}
		wire.Fragment{Receiver: w.last(wire.KindPull).Pull().Receiver, Wanted: uint64(len(large))}.Put(f)
		f.Length = uint32(len(large))
		copy(p.Dest(1, f), large)
		p.Arrived(1, f)
		if _, err := p.Take(h); err != nil || !bytes.Equal(buffer, large) || p.Streams() {
			t.Errorf("%v, or other bytes, or still under way", err)
		}
	}
}

// The others hear that this process attends before they can see its offer, and only while it offers
// something, and not while it sleeps.
func TestAttend(t *testing.T) {
	p, w := singleReader(t, layout.Uniform(2, 1))
	p.Attend()
	p.Leave()
	if len(w.attended) > 0 {
		t.Errorf("without an offer it was announced: %v", w.attended)
	}
	p.Attend()
	h := p.Send(2, 1, 0, large)
	p.Sleep(true)
	p.Sleep(false)
	offer := w.last(wire.KindOffer)
	pull := &wire.Header{}
	wire.Pull{Sender: offer.ID, Receiver: 7, Wanted: offer.Total, Discard: true}.Put(pull)
	p.Frame(1, pull, nil)
	if !p.Done(h) {
		t.Fatal("the send goes on")
	}
	p.Leave()
	if want := []bool{true, false, true, false}; !slices.Equal(w.attended, want) {
		t.Errorf("announced %v, want %v", w.attended, want)
	}
}
