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
			return Ack{Context: rapid.Uint64().Draw(t, "context"), Seq: rapid.Uint64().Draw(t, "seq"), Single: rapid.Bool().Draw(t, "single")}
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

func TestProcsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(rapid.Custom(func(t *rapid.T) proto.Proc {
			return proto.Proc(rapid.Int32Range(0, 1<<31-1).Draw(t, "proc"))
		})).Draw(t, "procs")
		before := []proto.Proc{3}
		got, err := DecodeProcs(before, AppendProcs(nil, want))
		if err != nil || !slices.Equal(got, append(before, want...)) {
			t.Fatalf("got %v, %v, want %v", got, err, want)
		}
	})
}

func TestListsRefuse(t *testing.T) {
	ack := AppendAck(nil, Ack{Seq: 1})
	odd := slices.Clone(ack)
	odd[16] = 2
	for _, payload := range [][]byte{ack[:AckSize-1], odd, slices.Concat(ack, odd)} {
		if got, err := DecodeAcks(nil, payload); !errors.Is(err, ErrCorrupt) || len(got) != 0 {
			t.Errorf("acks %x: %v, %v", payload, got, err)
		}
	}
	for _, payload := range [][]byte{{1, 2, 3}, {1, 0, 0, 0, 0, 0, 0, 0x80}} {
		if got, err := DecodeProcs(nil, payload); !errors.Is(err, ErrCorrupt) || len(got) != 0 {
			t.Errorf("processes %x: %v, %v", payload, got, err)
		}
	}
}

func TestListsDoNotAllocate(t *testing.T) {
	payload := make([]byte, 0, 16*AckSize)
	acks := make([]Ack, 0, 16)
	procs := make([]proto.Proc, 0, 16)
	if n := testing.AllocsPerRun(100, func() {
		payload = AppendAck(payload[:0], Ack{Context: 1, Seq: 2})
		acks, _ = DecodeAcks(acks[:0], payload)
		payload = AppendProcs(payload[:0], []proto.Proc{1, 2, 3})
		procs, _ = DecodeProcs(procs[:0], payload)
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func FuzzDecodeLists(f *testing.F) {
	f.Add(AppendAck(nil, Ack{Context: 1, Seq: 2, Single: true}))
	f.Add(AppendProcs(nil, []proto.Proc{1, 2, 3}))
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
		if procs, err := DecodeProcs(nil, payload); err == nil && !bytes.Equal(AppendProcs(nil, procs), payload) {
			t.Fatalf("processes %x encode to %x", payload, AppendProcs(nil, procs))
		}
	})
}
