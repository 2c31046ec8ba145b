package process

import (
	"errors"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/proto/membership"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
)

// frameLog is a Net that keeps the headers of what is sent, and a Host that ignores everything.
type frameLog struct {
	headers []wire.Header
	tokens  []uint64
	fenced  []proto.Proc
}

func (w *frameLog) Send(_ proto.Proc, h *wire.Header, _ []byte, token uint64) {
	w.headers = append(w.headers, *h)
	if token != 0 {
		w.tokens = append(w.tokens, token)
	}
}
func (w *frameLog) Queued(proto.Proc) int           { return 0 }
func (w *frameLog) Fence(q proto.Proc)              { w.fenced = append(w.fenced, q) }
func (w *frameLog) Died(detector.Report)            {}
func (w *frameLog) Viewed(*membership.View, bool)   {}
func (w *frameLog) Apart(proto.Proc)                {}
func (w *frameLog) Minority([]membership.Departure) {}
func (w *frameLog) HealFailed(error)                {}
func (w *frameLog) Heals(HealStep)                  {}
func (w *frameLog) SafepointWanted(bool)            {}
func (w *frameLog) Revoked(uint64)                  {}
func (w *frameLog) RankLost(proto.Rank)             {}
func (w *frameLog) Fenced(proto.Proc)               {}
func (w *frameLog) Aborted(proto.Proc, int)         {}

// last is the newest frame of a kind.
func (w *frameLog) last(k wire.Kind) *wire.Header {
	for i := len(w.headers) - 1; i >= 0; i-- {
		if w.headers[i].Kind == k {
			return &w.headers[i]
		}
	}
	return nil
}

// single is a process whose peers are played by the test, with the contexts 2 (point-to-point)
// and 3 (collective) of the world.
func single(t *testing.T, layout layout.Layout) (*Process, *frameLog) {
	w := &frameLog{}
	p := New(Config{Layout: layout, Period: 100e6, Timeout: 1e9}, 0, w, w)
	var members []proto.Rank
	for r := range proto.Rank(layout.Ranks()) {
		members = append(members, r)
	}
	for id, collective := range map[uint64]bool{2: false, 3: true} {
		if err := p.OpenContext(id, members, collective); err != nil {
			t.Fatal(err)
		}
	}
	return p, w
}

// A process that is fenced in the middle of a transfer ends it: the program gets an error, but
// only when the transport has given its buffer back.
func TestFencedInATransfer(t *testing.T) {
	p, w := single(t, layout.Uniform(2, 1))
	h := p.Send(2, 1, 0, make([]byte, 10*fragmentSize))
	p.Frame(1, &wire.Header{Kind: wire.KindPull, ID: w.last(wire.KindOffer).ID, Offset: 1 << 32, Total: 10 * fragmentSize}, nil)
	if len(w.tokens) != fragmentsInFlight {
		t.Fatalf("%d fragments under way", len(w.tokens))
	}
	p.Closed(1, transport.EvidenceEviction)
	for _, token := range w.tokens {
		if p.Done(h) {
			t.Fatal("the send has ended while the transport holds its buffer")
		}
		p.Sent(1, token)
	}
	if !p.Done(h) {
		t.Fatal("the send doesn't end")
	}
	if _, err := p.Take(h); !errors.Is(err, ErrFenced) {
		t.Error(err)
	}
	if len(w.tokens) != fragmentsInFlight {
		t.Error("the transfer goes on")
	}
}

// A fenced process sends nothing any more. Processes that haven't heard of its eviction yet
// would believe a withdrawn message or a goodbye, while a substitute has what they need.
func TestFencedProcessIsSilent(t *testing.T) {
	p, w := single(t, layout.Uniform(2, 2))
	p.Send(2, 1, 0, make([]byte, 10*fragmentSize))
	id := w.last(wire.KindOffer).ID
	p.Closed(3, transport.EvidenceEviction)
	before := len(w.headers)
	p.Frame(1, &wire.Header{Kind: wire.KindPull, ID: id, Offset: 1 << 32, Total: 10 * fragmentSize}, nil)
	p.Depart()
	p.Goodbye()
	if len(w.headers) != before {
		t.Errorf("it sent %+v", w.headers[before:])
	}
}
