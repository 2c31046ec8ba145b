package shm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
)

// newPair makes both ends of a pair in this process.
func newPair(t testing.TB) (zero, one *Pair) {
	t.Helper()
	zero, fd, err := NewPair(minRing)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if one, err = OpenPair(fd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(zero.Close)
	t.Cleanup(one.Close)
	return zero, one
}

// randomFrame is a frame of any kind that a ring can carry as a whole.
func randomFrame(rng *rand.Rand) (wire.Header, []byte) {
	n := rng.IntN(100)
	if rng.IntN(8) == 0 {
		n = rng.IntN(transport.DirectSize + 1)
	}
	payload := make([]byte, n)
	for i := range payload {
		payload[i] = byte(rng.Uint32())
	}
	h := wire.Header{
		Kind: wire.KindEager, Flags: uint8(rng.Uint32()), Length: uint32(n), Context: rng.Uint64(), Seq: rng.Uint64(),
		Src: proto.Rank(rng.Int32()), Dst: proto.Rank(rng.Int32()), Tag: int32(rng.Uint32()), Total: uint64(rng.IntN(n + 1)),
	}
	switch rng.IntN(7) {
	case 0:
		h.Aux = int32(rng.Uint32())
	case 1:
		h.Offset = rng.Uint64()
	case 2:
		h.ID = rng.Uint64()
	case 3:
		h.Tag, h.Aux, h.Offset = 0, int32(rng.Uint32()), rng.Uint64()
	case 4:
		h.Aux = int32(rng.Uint32N(wire.MaxType) + 1)
	}
	return h, payload
}

// All frames that go in come out in order, whatever their form and position: the ring goes round
// many times. A writer that finds no room finds it after the reader has told it.
func TestFramesAndStreams(t *testing.T) {
	zero, one := newPair(t)
	rng := rand.New(rand.NewPCG(1, 1))
	type sent struct {
		header  wire.Header
		payload []byte
		stream  bool
	}
	var under []sent // way
	var in Inbound
	buffer := make([]byte, chunkSize)
	full, records := 0, 0
	read := func() {
		s := under[0]
		under = under[1:]
		found, err := one.In.Next(&in)
		if err != nil {
			t.Fatal(err)
		}
		if s.stream {
			direct := make([]byte, rng.IntN(len(s.payload)+1))
			if found != Stream {
				t.Fatalf("record %d is %v, not a stream", records, found)
			}
			n := one.In.Take(direct, buffer)
			if got := append(direct, buffer[:n-len(direct)]...); !bytes.Equal(got, s.payload) {
				t.Fatalf("record %d: %d bytes of the stream, want %d, or others", records, len(got), len(s.payload))
			}
			return
		}
		if found != Frame || in.Header != s.header || !bytes.Equal(in.Payload(), s.payload) {
			t.Fatalf("record %d is %v %+v with %d bytes, want %+v", records, found, in.Header, len(in.Payload()), s.header)
		}
	}
	for ; records < 20000; records++ {
		h, payload := randomFrame(rng)
		if rng.IntN(4) == 0 {
			cut := rng.IntN(len(payload) + 1)
			if n := zero.Out.Stream(payload[:cut], payload[cut:]); n > 0 {
				under = append(under, sent{payload: payload[:n], stream: true})
			} else if len(payload) > 0 {
				full++
			}
		} else if zero.Out.Frame(&h, payload) {
			under = append(under, sent{header: h, payload: payload})
		} else {
			full++
			zero.Out.Hunger()
			for !one.In.Tell() {
				read()
			}
			if len(under) > 0 && !zero.Out.room(streamSize+lineSize) {
				t.Fatal("the reader rang for nothing")
			}
		}
		for len(under) > 0 && rng.IntN(3) == 0 {
			read()
		}
		one.In.Tell()
	}
	for len(under) > 0 {
		read()
	}
	if one.In.Ready() || full == 0 {
		t.Errorf("something is left, or the ring was never full (%d times)", full)
	}
}

// A reader that has read everything and a writer that finds no room don't wait for each other,
// whatever was written before.
func TestNobodyWaitsForEver(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 200 {
		zero, one := newPair(t)
		var in Inbound
		for range rng.IntN(2000) {
			zero.Out.Frame(&wire.Header{Kind: wire.KindDone}, nil)
			one.In.Next(&in)
			one.In.Tell()
		}
		for zero.Out.Frame(&wire.Header{Kind: wire.KindDone}, nil) {
		}
		for one.In.Ready() {
			one.In.Next(&in)
			one.In.Tell()
		}
		h := wire.Header{Kind: wire.KindEager, ID: 1, Length: transport.DirectSize}
		if !zero.Out.Frame(&h, make([]byte, transport.DirectSize)) {
			t.Fatal("an empty ring has no room for a frame")
		}
		zero.Close()
		one.Close()
	}
}

// A writer that dies after any number of bytes of a record, but before the last store, has
// written nothing. Bytes that were there a lap ago are no record, however much they look like
// one.
func TestUnpublishedIsNothing(t *testing.T) {
	zero, one := newPair(t)
	var in Inbound
	payload := bytes.Repeat([]byte{formShort, 0, 0, 0, 0, 0, 0, 0}, transport.DirectSize/8)
	h := wire.Header{Kind: wire.KindEager, Length: uint32(len(payload)), ID: 1}
	for n := range 2 * len(payload) {
		w := &zero.Out
		body := unsafe.Slice((*byte)(w.at(w.tail+8)), n%len(payload))
		copy(body, payload)
		if found, err := one.In.Next(&in); found != Nothing || err != nil {
			t.Fatalf("%d bytes: found %v, %v of a dead writer", len(body), found, err)
		}
		if !w.Frame(&h, payload) {
			t.Fatal("no room")
		}
		if found, err := one.In.Next(&in); found != Frame || err != nil {
			t.Fatal(found, err)
		}
		one.In.Tell()
	}
}

// fill puts bytes into a ring, beginning where the reader is, and words into the control.
func fill(p *Pair, garbage []byte) {
	ring := unsafe.Slice((*byte)(p.In.data), p.In.size)
	for i := range ring {
		ring[i] = garbage[i%len(garbage)]
	}
	var words [16]byte
	copy(words[:], garbage)
	p.In.control.head.Store(binary.LittleEndian.Uint64(words[:]))
	p.Out.control.head.Store(binary.LittleEndian.Uint64(words[:]))
	p.Out.control.hungry.Store(binary.LittleEndian.Uint32(words[8:]))
}

// endure reads a ring full of garbage to its end, and writes to the other ring.
func endure(t *testing.T, p *Pair) {
	var in Inbound
	buffer := make([]byte, chunkSize)
	for range 3 * MaxRecords {
		found, err := p.In.Next(&in)
		if err != nil {
			if !errors.Is(err, wire.ErrCorrupt) {
				t.Fatal(err)
			}
			break
		}
		if found == Nothing {
			break
		}
		if found == Stream {
			p.In.Take(nil, buffer)
		} else if err := in.Header.Check(); err != nil || len(in.Payload()) != int(in.Header.Length) {
			t.Fatalf("a frame that can't be: %v, %d bytes", err, len(in.Payload()))
		}
		p.In.Tell()
	}
	for range 100 {
		p.Out.Frame(&wire.Header{Kind: wire.KindDone}, nil)
		p.Out.Stream(buffer)
		p.Out.Hunger()
	}
	// A reader that claims to have read more than there was isn't believed.
	if claimed := p.Out.control.head.Load(); p.Out.tail > p.Out.size && p.Out.tail-claimed > p.Out.size {
		t.Fatalf("written up to %d, read up to %d, in a ring of %d", p.Out.tail, claimed, p.Out.size)
	}
}

// A faulty peer does harm only to its own link.
func TestGarbage(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 300 {
		zero, _ := newPair(t)
		garbage := make([]byte, 8+rng.IntN(256))
		for i := range garbage {
			garbage[i] = byte(rng.Uint32())
			if i%8 < 4 && rng.IntN(2) == 0 {
				garbage[i] = byte(rng.IntN(4))
			}
		}
		if rng.IntN(2) == 0 {
			garbage[0] = byte(1 + rng.IntN(3)) // a form
			binary.LittleEndian.PutUint32(garbage[4:], uint32(rng.IntN(2*chunkSize)))
		}
		fill(zero, garbage)
		endure(t, zero)
		zero.Close()
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte{formShort, byte(wire.KindEager), 0, 0, 8, 0, 0, 0})
	f.Add([]byte{formMiddle, byte(wire.KindTree), 0, 0, 8, 0, 0, 0})
	f.Add([]byte{formFull, 0, 0, 0, 8, 0, 0, 0, 0xba, wire.Version, byte(wire.KindAck)})
	f.Add([]byte{formStream, 0, 0, 0, 0, 0x20, 0, 0})
	f.Fuzz(func(t *testing.T, garbage []byte) {
		if len(garbage) == 0 {
			return
		}
		zero, one := newPair(t)
		defer zero.Close()
		defer one.Close()
		fill(zero, garbage)
		endure(t, zero)
	})
}
