package process

import (
	"errors"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
)

const messageSize = 10_000

func eagerHeader(context uint64, from proto.Rank, size uint32) *wire.Header {
	return &wire.Header{Kind: wire.KindEager, Context: context, Src: from, Tag: 5, Total: uint64(size), Length: size}
}

// within tells whether a slice begins where a buffer begins.
func within(dest, buffer []byte) bool { return len(dest) > 0 && &dest[0] == &buffer[0] }

// A message for which a receive waits goes straight to its buffer, whatever the receive names.
func TestZeroCopyReceive(t *testing.T) {
	for _, r := range []struct {
		src proto.Rank
		tag int32
	}{{1, 5}, {proto.AnyRank, 5}, {1, proto.AnyTag}, {proto.AnyRank, proto.AnyTag}} {
		p, _ := single(t, layout.Uniform(3, 1))
		buffer := make([]byte, messageSize+1)
		other := p.Receive(2, 2, 5, make([]byte, 1))
		h := p.Receive(2, r.src, r.tag, buffer)
		header := eagerHeader(2, 1, messageSize)
		dest := p.Dest(1, header)
		if !within(dest, buffer) || len(dest) != messageSize {
			t.Fatal("it doesn't land in the receive's buffer")
		}
		if p.Done(h) || p.Cancel(h) {
			t.Error("the receive has ended before the message is there")
		}
		changes := p.Changes
		p.Arrived(1, header)
		if !p.Done(h) || p.Changes == changes {
			t.Fatal("the receive doesn't end")
		}
		if s, err := p.Take(h); err != nil || s != (Status{Source: 1, Tag: 5, Bytes: messageSize}) {
			t.Error(s, err)
		}
		if p.Done(other) {
			t.Error("another receive has ended")
		}
	}
}

// A message that no receive waits for, or that is larger than the buffer, is kept and copied. A
// receive that is posted later takes it.
func TestNoZeroCopyReceive(t *testing.T) {
	p, _ := single(t, layout.Uniform(2, 1))
	small := make([]byte, messageSize-1)
	h := p.Receive(2, 1, 5, small)
	header := eagerHeader(2, 1, messageSize)
	dest := p.Dest(1, header)
	if within(dest, small) || len(dest) != messageSize {
		t.Fatal("it lands in a buffer that is too small")
	}
	dest[7] = 77
	p.Arrived(1, header)
	if _, err := p.Take(h); !errors.Is(err, ErrTruncated) || small[7] != 77 {
		t.Error(err, small[7])
	}
	dest = p.Dest(1, header) // unexpected
	dest[8] = 88
	buffer, later := make([]byte, messageSize), make([]byte, messageSize)
	h = p.Receive(2, 1, 5, buffer) // while it arrives
	p.Arrived(1, header)
	if !p.Done(h) || buffer[8] != 88 {
		t.Error("the receive hasn't got what was under way when it was posted")
	}
	p.Receive(2, 1, 5, later)
	if dest := p.Dest(1, header); !within(dest, later) {
		t.Error("the next message doesn't land in the next receive")
	}
}

// The sender of a zero-copy receive dies: the receive ends, but not before the transport has
// been told to leave the buffer alone.
func TestSenderOfAZeroCopyReceiveDies(t *testing.T) {
	for _, src := range []proto.Rank{1, proto.AnyRank} {
		for _, lost := range []bool{false, true} { // the connection ends first
			p, w := single(t, layout.Uniform(3, 1))
			h := p.Receive(2, src, 5, make([]byte, messageSize))
			p.Dest(1, eagerHeader(2, 1, messageSize))
			if lost {
				p.Closed(1, transport.EvidenceLost)
				if p.Done(h) {
					t.Fatal("the receive has ended, and nobody knows that the sender is dead")
				}
			}
			p.Evidence(1, 0)
			if !p.Done(h) || len(w.fenced) == 0 || w.fenced[0] != 1 {
				t.Fatal("the receive doesn't end by the sender's death")
			}
			if _, err := p.Take(h); !errors.Is(err, ErrRankLost) {
				t.Error(err)
			}
		}
	}
}

// What breaks a collective off doesn't end a zero-copy receive: the transport writes to its
// buffer.
func TestAnotherDiesDuringAZeroCopyReceive(t *testing.T) {
	p, _ := single(t, layout.Uniform(3, 1))
	waits := p.Receive(3, 1, 6, make([]byte, messageSize))
	h := p.Receive(3, 1, 5, make([]byte, messageSize))
	header := eagerHeader(3, 1, messageSize)
	p.Dest(1, header)
	p.Evidence(2, 0)
	if !p.Done(waits) {
		t.Error("a receive of the broken collective goes on")
	}
	if p.Done(h) {
		t.Fatal("the receive has ended while the transport writes to its buffer")
	}
	p.Arrived(1, header)
	if _, err := p.Take(h); err != nil {
		t.Error(err)
	}
}
