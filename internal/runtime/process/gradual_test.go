package process

import (
	"errors"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
)

// upto notes how much was asked for.
type upto []uint64

func (u *upto) Upto(n uint64) { *u = append(*u, n) }

// TestSendGradually: the offer says nothing of memory, each fragment is ready before it leaves, and
// no more than that.
func TestSendGradually(t *testing.T) {
	p, w := singleReader(t, layout.Uniform(3, 1))
	var u upto
	h, ok := p.SendGradually(2, 1, 0, large, &u)
	if offer := w.last(wire.KindOffer); !ok || offer.Offset != 0 || len(u) != 0 {
		t.Fatalf("%v, offered %+v with %v ready", ok, offer, u)
	}
	p.Frame(1, &wire.Header{Kind: wire.KindPull, ID: w.last(wire.KindOffer).ID, Offset: 1 << 32, Total: uint64(len(large))}, nil)
	for sent := uint64(0); sent < uint64(len(large)); {
		if len(w.tokens) == 0 {
			t.Fatalf("the sender stops after %d bytes", sent)
		}
		token := w.tokens[0]
		w.tokens = w.tokens[1:]
		sent += gradualPiece
		if ready := u[len(u)-1]; ready < min(sent, uint64(len(large))) || ready > sent+gradualPiece {
			t.Fatalf("%d bytes are ready when %d have left", ready, sent)
		}
		p.Sent(1, token)
	}
	if u[len(u)-1] != uint64(len(large)) {
		t.Errorf("%d bytes are ready in the end", u[len(u)-1])
	}
	// Another message beside it is as always.
	if p.Send(2, 2, 0, large); w.last(wire.KindOffer).Offset != 7 {
		t.Errorf("offered %+v", w.last(wire.KindOffer))
	}
	p.EndGradual(h)
	p.EndGradual(h)
	if len(p.graduals) != 0 {
		t.Error("it isn't forgotten")
	}
}

// What must be whole at once isn't gradual.
func TestNotGradual(t *testing.T) {
	var u upto
	p, w := singleReader(t, layout.Uniform(3, 1))
	small := make([]byte, EagerLimit)
	if _, ok := p.SendGradually(2, 1, 0, small, &u); ok || len(w.headers) > 0 && w.last(wire.KindEager) != nil {
		t.Error("a small message is gradual")
	}
	if _, ok := p.SendGradually(2, 0, 0, large, &u); ok {
		t.Error("a message to itself is gradual")
	}
	p.Closed(2, transport.EvidenceExited)
	if _, ok := p.SendGradually(2, 2, 0, large, &u); ok {
		t.Error("a message to a lost rank is gradual")
	}
	r, _ := singleReader(t, layout.Uniform(3, 2))
	if _, ok := r.SendGradually(2, 1, 0, large, &u); ok {
		t.Error("a message of a replica is gradual")
	}
	if len(u) != 0 {
		t.Errorf("%v were ready", u)
	}
}

// TestReceiveGradually: what has come is taken piece by piece; a sender that lies can't have more
// taken than there is; its death ends the receive.
func TestReceiveGradually(t *testing.T) {
	p, w := single(t, layout.Uniform(3, 1))
	var u upto
	buffer := make([]byte, len(large))
	h := p.ReceiveGradually(2, 1, 0, buffer, &u)
	offerFrom(p, 1, 1<<32, 0)
	data := wire.Header{Kind: wire.KindData, ID: w.last(wire.KindPull).Offset, Total: uint64(len(large)), Length: fragmentSize}
	for range 3 {
		p.Frame(1, &data, make([]byte, fragmentSize))
		data.Offset += fragmentSize
	}
	if len(u) != 3 || u[0] != fragmentSize || u[2] != 3*fragmentSize {
		t.Errorf("%v were taken", u)
	}
	data.Offset, data.Length = 0, fragmentSize-1
	for range 2 * len(large) / fragmentSize {
		p.Frame(1, &data, make([]byte, data.Length))
	}
	for _, n := range u {
		if n > uint64(len(large)) {
			t.Fatalf("%d bytes of %d were taken", n, len(large))
		}
	}
	p.Closed(1, transport.EvidenceExited)
	if _, err := p.Take(h); !errors.Is(err, ErrRankLost) {
		t.Error(err)
	}
	p.EndGradual(h)
	if len(p.graduals) != 0 {
		t.Error("it isn't forgotten")
	}
}
