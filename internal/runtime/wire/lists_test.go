package wire

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/proto"
)

func TestAcksRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(rapid.Custom(func(t *rapid.T) Ack {
			a := Ack{Context: rapid.Uint64().Draw(t, "context"), Seq: rapid.Uint64().Draw(t, "seq"), Single: rapid.Bool().Draw(t, "single")}
			if a.Verified = rapid.Bool().Draw(t, "verified"); a.Verified {
				a.Digest = rapid.Uint32().Draw(t, "digest")
			}
			return a
		})).Draw(t, "acks")
		var payload []byte
		for _, a := range want {
			payload = AppendAck(payload, a)
		}
		if len(payload) != len(want)*AckSize {
			t.Fatalf("%d acks take %d bytes", len(want), len(payload))
		}
		before := []Ack{{Seq: 7}}
		got, err := DecodeAcks(before, payload)
		if err != nil || !slices.Equal(got, append(before, want...)) {
			t.Fatalf("got %v, %v, want %v", got, err, want)
		}
	})
}

func TestGoneRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(rapid.Custom(func(t *rapid.T) Gone {
			return Gone{
				Proc:        proto.Proc(rapid.Int32Range(0, 1<<31-1).Draw(t, "proc")),
				Incarnation: proto.Incarnation(rapid.Uint32().Draw(t, "incarnation")),
				Left:        rapid.Bool().Draw(t, "left"),
			}
		})).Draw(t, "gone")
		var payload []byte
		for _, g := range want {
			payload = AppendGone(payload, g)
		}
		if len(payload) != len(want)*GoneSize {
			t.Fatalf("%d records take %d bytes", len(want), len(payload))
		}
		for i := range want {
			if got := DecodeGone(payload[i*GoneSize:]); got != want[i] {
				t.Fatalf("got %+v, want %+v", got, want[i])
			}
		}
	})
}

func TestListsRefuse(t *testing.T) {
	ack := AppendAck(nil, Ack{Seq: 1})
	odd := slices.Clone(ack)
	odd[16] = 4
	unasked := slices.Clone(ack)
	unasked[20] = 1 // a digest, and the flag isn't set
	for _, payload := range [][]byte{ack[:AckSize-1], odd, slices.Concat(ack, odd), unasked} {
		if got, err := DecodeAcks(nil, payload); !errors.Is(err, ErrCorrupt) || len(got) != 0 {
			t.Errorf("acks %x: %v, %v", payload, got, err)
		}
	}
}

func TestListsDoNotAllocate(t *testing.T) {
	payload := make([]byte, 0, 16*AckSize)
	acks := make([]Ack, 0, 16)
	if n := testing.AllocsPerRun(100, func() {
		payload = AppendAck(payload[:0], Ack{Context: 1, Seq: 2})
		acks, _ = DecodeAcks(acks[:0], payload)
		payload = AppendGone(payload[:0], Gone{Proc: 1, Left: true})
		_ = DecodeGone(payload)
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func FuzzDecodeLists(f *testing.F) {
	f.Add(AppendAck(nil, Ack{Context: 1, Seq: 2, Single: true}))
	f.Add(AppendAck(nil, Ack{Context: 1, Seq: 2, Verified: true, Digest: 7}))
	f.Add(AppendGone(AppendGone(nil, Gone{Proc: 1, Incarnation: 2}), Gone{Proc: 3, Left: true}))
	f.Fuzz(func(t *testing.T, payload []byte) {
		if acks, err := DecodeAcks(nil, payload); err == nil {
			var again []byte
			for _, a := range acks {
				again = AppendAck(again, a)
			}
			if !bytes.Equal(again, payload) {
				t.Fatalf("acks %x encode to %x", payload, again)
			}
		}
		var again []byte
		whole := len(payload) / GoneSize * GoneSize
		for at := 0; at < whole; at += GoneSize {
			g := DecodeGone(payload[at:])
			if g.Proc < 0 {
				t.Fatalf("%x is process %d", payload[at:], int32(g.Proc))
			}
			again = AppendGone(again, g)
		}
		if !bytes.Equal(again, payload[:whole]) {
			t.Fatalf("those gone %x encode to %x", payload, again)
		}
	})
}
