package process

import (
	"slices"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
)

// The first sender of a large message stops in the middle of a fragment, and its substitute
// offers the message before this process has heard of the death. Once it has heard, it pulls
// from the substitute. When the substitute's data is here the program may reuse its buffer, so
// the transport must not read into it any more, even if the first sender wakes.
func TestReofferCutsOffTheFirstSender(t *testing.T) {
	p, w := single(t, layout.Uniform(2, 2))
	buffer := make([]byte, fragmentSize)
	h := p.Receive(2, 1, 0, buffer)
	offer := wire.Header{Kind: wire.KindOffer, Context: 2, Src: 1, Seq: 1, Total: fragmentSize, ID: 1 << 32}
	p.Frame(1, &offer, make([]byte, p.clock.StampSize()))
	data := wire.Header{Kind: wire.KindData, ID: w.last(wire.KindPull).Offset, Total: fragmentSize, Length: fragmentSize}
	if dest := p.Dest(1, &data); &dest[0] != &buffer[0] {
		t.Fatal("the data doesn't go to the program's buffer")
	}
	p.Frame(3, &offer, make([]byte, p.clock.StampSize()))
	p.Evidence(1, 0)
	if !slices.Contains(w.fenced, proto.Proc(1)) {
		t.Error("the transport may still read into the buffer")
	}
	p.Dest(3, &data)
	p.Arrived(3, &data)
	if !p.Done(h) {
		t.Error("the receive waits on")
	}
}

func TestAlternativesAreTakenOnce(t *testing.T) {
	offer := func(seq uint64) wire.Header { return wire.Header{Kind: wire.KindOffer, Context: 2, Src: 1, Seq: seq} }
	all := alternatives{{4, offer(1)}, {5, offer(1)}, {4, offer(2)}, {5, offer(3)}}
	if h, ok := all.take(5, 2, 1, 1); !ok || h != offer(1) || len(all) != 3 {
		t.Errorf("took %+v, %v of %d", h, ok, len(all))
	}
	if _, ok := all.take(5, 2, 1, 1); ok {
		t.Error("an offer is taken twice")
	}
	all.drop(2, 1, 2)
	all.dropFrom(5)
	if len(all) != 1 || all[0].from != 4 || all[0].header != offer(1) {
		t.Errorf("left are %+v", all)
	}
}
