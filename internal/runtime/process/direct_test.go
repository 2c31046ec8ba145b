package process

import (
	"bytes"
	"errors"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
)

// reading is a frameLog whose peers' memory can be read.
type reading struct {
	*frameLog
	memory  map[proto.Proc][]byte // what they expose, at address 1
	revoked int
	before  func(piece int) // called before each read
	pieces  int

	attended []bool // as the process has announced it
	attends  bool   // whether the peers do
}

func (r *reading) Expose([]byte) uint64 { return 7 }
func (r *reading) Revoke()              { r.revoked++ }
func (r *reading) Attend(on bool)       { r.attended = append(r.attended, on) }
func (r *reading) Answers(proto.Proc) bool {
	return r.attends
}
func (r *reading) Read(from proto.Proc, dst []byte, address, offset uint64) bool {
	r.before(r.pieces)
	r.pieces++
	if r.memory[from] == nil || address != 1 {
		return false
	}
	copy(dst, r.memory[from][offset:])
	return true
}

// singleReader is a single process that can read.
func singleReader(t *testing.T, layout layout.Layout) (*Process, *reading) {
	p, w := single(t, layout)
	r := &reading{frameLog: w, memory: map[proto.Proc][]byte{}, before: func(int) {}}
	p.direct = r
	return p, r
}

// large is a message of several pieces.
var large = bytes.Repeat([]byte("banyan"), directPiece/2)

func offerFrom(p *Process, from proto.Proc, id, address uint64) {
	var stamp []byte
	if p.clock != nil {
		stamp = make([]byte, p.clock.StampSize())
	}
	p.Frame(from, &wire.Header{
		Kind: wire.KindOffer, Context: 2, Src: p.cfg.Layout.Rank(from), Dst: p.rank, Seq: 1,
		Total: uint64(len(large)), ID: id, Offset: address,
	}, stamp)
}

// A large message is read from its sender's memory, piece by piece, straight into the program's
// buffer. The sender is released when all is read.
func TestDirectRead(t *testing.T) {
	p, w := singleReader(t, layout.Uniform(2, 1))
	w.memory[1] = large
	buffer := make([]byte, len(large))
	h := p.Receive(2, 1, 0, buffer)
	offerFrom(p, 1, 1<<32, 1)
	for p.Work() {
		if pull := w.last(wire.KindPull); !p.Done(h) && pull != nil {
			t.Fatal("the sender is let go too early")
		}
	}
	if pull := w.last(wire.KindPull); pull == nil || !pull.Pull().Discard || pull.ID != 1<<32 {
		t.Errorf("the sender is told %+v", pull)
	}
	if _, err := p.Take(h); err != nil || !bytes.Equal(buffer, large) || w.pieces != 3 {
		t.Errorf("%v, or other bytes, after %d pieces", err, w.pieces)
	}
}

// Fragments are asked for if an offer can't be read, or can't be read to its end.
func TestDirectReadFails(t *testing.T) {
	for _, last := range []int{0, 1, 2} {
		p, w := singleReader(t, layout.Uniform(2, 1))
		w.memory[1] = large
		w.before = func(piece int) {
			if piece == last {
				w.memory[1] = nil
			}
		}
		h := p.Receive(2, 1, 0, make([]byte, len(large)))
		offerFrom(p, 1, 1<<32, 1)
		for p.Work() {
		}
		pull := w.last(wire.KindPull)
		if pull == nil || pull.Flags != 0 || pull.Total != uint64(len(large)) {
			t.Fatalf("piece %d: the sender is asked %+v", last, pull)
		}
		if p.Done(h) {
			t.Error("received without data")
		}
		p.Frame(1, &wire.Header{Kind: wire.KindData, ID: pull.Offset, Flags: 1, Total: pull.Total, Aux: 1}, nil)
		if _, err := p.Take(h); !errors.Is(err, ErrRankLost) {
			t.Errorf("piece %d: withdrawn, but %v", last, err)
		}
	}
}

// The sender dies while it is being read: the offer of its substitute is read from the
// beginning.
func TestSenderDiesWhileRead(t *testing.T) {
	p, w := singleReader(t, layout.Uniform(2, 2))
	w.memory[1], w.memory[3] = bytes.Repeat([]byte("?"), len(large)), large
	w.before = func(piece int) {
		if piece == 1 {
			w.memory[1] = nil
		}
	}
	buffer := make([]byte, len(large))
	h := p.Receive(2, 1, 0, buffer)
	offerFrom(p, 1, 1<<32, 1)
	for p.Work() {
	}
	p.Closed(1, transport.EvidenceExited)
	offerFrom(p, 3, 2<<32, 1)
	for p.Work() {
	}
	if !p.Done(h) {
		t.Fatal("the receive waits on")
	}
	if _, err := p.Take(h); err != nil || !bytes.Equal(buffer, large) {
		t.Errorf("%v, or other bytes", err)
	}
}

// No peer may go on reading a buffer that is the program's again.
func TestRevokedBeforeReuse(t *testing.T) {
	p, w := singleReader(t, layout.Uniform(3, 1))
	h := p.Send(3, 1, 0, large)
	if offer := w.last(wire.KindOffer); offer.Offset != 7 {
		t.Fatalf("offered at address %d", offer.Offset)
	}
	p.Closed(2, transport.EvidenceExited)
	if !p.Done(h) || w.revoked == 0 {
		t.Errorf("done: %v, revoked %d times", p.Done(h), w.revoked)
	}
	revoked := w.revoked
	if p.Close(); w.revoked == revoked {
		t.Error("what is offered at the end can be read")
	}
}
