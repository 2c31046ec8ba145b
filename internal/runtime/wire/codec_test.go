package wire

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/proto"
)

// drawHeader draws a header that Check accepts.
func drawHeader(t *rapid.T) Header {
	h := Header{
		Kind:    Kind(rapid.IntRange(int(KindInvalid)+1, int(kindEnd)-1).Draw(t, "kind")),
		Flags:   rapid.Uint8().Draw(t, "flags"),
		Context: rapid.Uint64().Draw(t, "context"),
		Seq:     rapid.Uint64().Draw(t, "seq"),
		Src:     proto.Rank(rapid.Int32Range(0, 1<<31-1).Draw(t, "src")),
		Dst:     proto.Rank(rapid.Int32Range(0, 1<<31-1).Draw(t, "dst")),
		Tag:     rapid.Int32().Draw(t, "tag"),
		Aux:     rapid.Int32().Draw(t, "aux"),
		Total:   rapid.Uint64().Draw(t, "total"),
		Offset:  rapid.Uint64().Draw(t, "offset"),
		ID:      rapid.Uint64().Draw(t, "id"),
	}
	if unit := kinds[h.Kind].unit; unit > 0 {
		h.Length = unit * rapid.Uint32Range(0, MaxPayload/unit).Draw(t, "units")
	}
	switch h.Kind {
	case KindEager:
		h.Total = uint64(h.Length)
	case KindNews:
		h.Flags, h.Tag = h.Flags%2, h.Tag&31
	case KindData:
		h.Total = uint64(h.Length) + rapid.Uint64Range(0, 1<<60).Draw(t, "more")
		h.Offset = rapid.Uint64Range(0, h.Total-uint64(h.Length)).Draw(t, "at")
	}
	return h
}

func TestHeaderRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawHeader(t)
		var b [HeaderSize]byte
		EncodeHeader(b[:], &want)
		var got Header
		if err := DecodeHeader(&got, b[:]); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

// The layout is a promise to other versions of the program. It is written down here.
func TestHeaderLayout(t *testing.T) {
	h := Header{Kind: KindData, Flags: 2, Length: 3, Context: 4, Seq: 5, Src: 6, Dst: 7, Tag: -8, Aux: 9, Total: 10 << 32, Offset: 11, ID: 12}
	var got [HeaderSize]byte
	EncodeHeader(got[:], &h)
	want := []byte{
		0xBA, 4, 4, 2, 3, 0, 0, 0,
		4, 0, 0, 0, 0, 0, 0, 0,
		5, 0, 0, 0, 0, 0, 0, 0,
		6, 0, 0, 0, 7, 0, 0, 0,
		0xF8, 0xFF, 0xFF, 0xFF, 9, 0, 0, 0,
		0, 0, 0, 0, 10, 0, 0, 0,
		11, 0, 0, 0, 0, 0, 0, 0,
		12, 0, 0, 0, 0, 0, 0, 0,
	}
	if !bytes.Equal(got[:], want) {
		t.Fatalf("got\n%x, want\n%x", got, want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	cases := map[string]struct {
		header Header
		spoil  func(b []byte)
		says   string
	}{
		"magic":             {header: Header{Kind: KindDone}, spoil: func(b []byte) { b[0] = 'G' }, says: "starts with"},
		"version":           {header: Header{Kind: KindDone}, spoil: func(b []byte) { b[1]++ }, says: "starts with"},
		"no kind":           {header: Header{}, says: "unknown kind 0"},
		"unknown kind":      {header: Header{Kind: kindEnd}, says: "unknown kind"},
		"too long":          {header: Header{Kind: KindTree, Length: MaxPayload + 1}, says: "the limit is"},
		"payload on done":   {header: Header{Kind: KindDone, Length: 1}, says: "done with a payload"},
		"more on received":  {header: Header{Kind: KindReceived, Length: 8}, says: "received with a payload"},
		"torn ack":          {header: Header{Kind: KindAck, Length: AckSize + 1}, says: "ack with a payload"},
		"torn news":         {header: Header{Kind: KindNews, Length: 12}, says: "news with a payload"},
		"torn reconcile":    {header: Header{Kind: KindReconcile, Length: 4}, says: "reconcile with a payload"},
		"third cube":        {header: Header{Kind: KindNews, Flags: 2}, says: "cube 2"},
		"tree too many":     {header: Header{Kind: KindNews, Tag: 32}, says: "tree 32"},
		"news of nobody":    {header: Header{Kind: KindNews, Src: -1}, says: "news of -1"},
		"eager in part":     {header: Header{Kind: KindEager, Length: 3, Total: 4}, says: "3 of 4"},
		"eager from nobody": {header: Header{Kind: KindEager, Src: -1}, says: "from -1"},
		"offer to nobody":   {header: Header{Kind: KindOffer, Dst: -1}, says: "to -1"},
		"tree to nobody":    {header: Header{Kind: KindTree, Dst: -1}, says: "to -1"},
		"data outside":      {header: Header{Kind: KindData, Length: 2, Offset: 3, Total: 4}, says: "at 3 of 4"},
		"data overflowing":  {header: Header{Kind: KindData, Length: 2, Offset: 1<<64 - 1, Total: 4}, says: "of 4"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var b [HeaderSize]byte
			EncodeHeader(b[:], &c.header)
			if c.spoil != nil {
				c.spoil(b[:])
			}
			var h Header
			err := DecodeHeader(&h, b[:])
			if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("got %v, want a corrupt frame that %q", err, c.says)
			}
		})
	}
	var h Header
	if err := DecodeHeader(&h, make([]byte, HeaderSize-1)); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("short header: %v", err)
	}
}

func TestKindNames(t *testing.T) {
	seen := map[string]Kind{}
	for k := KindInvalid + 1; k < kindEnd; k++ {
		name := k.String()
		if other, taken := seen[name]; name == "" || taken {
			t.Errorf("kind %d is called %q, as is %d", uint8(k), name, other)
		}
		seen[name] = k
	}
	if got := kindEnd.String(); !strings.HasPrefix(got, "kind ") {
		t.Errorf("an unknown kind is called %q", got)
	}
}

func TestCodecDoesNotAllocate(t *testing.T) {
	var b [HeaderSize]byte
	h := Header{Kind: KindEager, Length: 8, Total: 8}
	if n := testing.AllocsPerRun(100, func() {
		EncodeHeader(b[:], &h)
		if DecodeHeader(&h, b[:]) != nil {
			panic("refused")
		}
	}); n != 0 {
		t.Fatalf("%v allocations a header", n)
	}
}

func FuzzDecodeHeader(f *testing.F) {
	var b [HeaderSize]byte
	EncodeHeader(b[:], &Header{Kind: KindEager, Length: 5, Total: 5, Seq: 1})
	f.Add(b[:])
	f.Add([]byte("GET / HTTP/1.1\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var h Header
		if DecodeHeader(&h, in) != nil {
			return
		}
		if h.Length > MaxPayload || !h.Kind.Valid() {
			t.Fatalf("accepted %+v", h)
		}
		var out [HeaderSize]byte
		EncodeHeader(out[:], &h)
		if !bytes.Equal(out[:], in[:HeaderSize]) {
			t.Fatalf("%x decodes and encodes to %x", in, out)
		}
	})
}

func BenchmarkHeader(b *testing.B) {
	var buf [HeaderSize]byte
	h := Header{Kind: KindEager, Length: 8, Total: 8}
	b.ReportAllocs()
	for b.Loop() {
		EncodeHeader(buf[:], &h)
		if err := DecodeHeader(&h, buf[:]); err != nil {
			b.Fatal(err)
		}
	}
}
