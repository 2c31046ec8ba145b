package state

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// stream is all of an encoder's, in pieces of at most limit.
func stream(e *Encoder, limit int) (b []byte) {
	for piece := e.Next(limit); piece != nil; piece = e.Next(limit) {
		if len(piece) == 0 || len(piece) > limit {
			panic("a piece of no good length")
		}
		b = append(b, piece...)
	}
	return b
}

// Regions arrive as they were, divided in any way, in any order.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringN(1, -1, maxName), 0, 5, rapid.ID[string]).Draw(t, "names")
		var regions []Region
		var sinks []Sink
		want, got := map[string][]byte{}, map[string][]byte{}
		for _, name := range names {
			parts := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 40), 0, 3).Draw(t, "parts")
			regions = append(regions, Region{name, parts})
			want[name] = bytes.Join(parts, nil)
			if rapid.Bool().Draw(t, "loaded") {
				sinks = append(sinks, Sink{Name: name, Limit: uint64(len(want[name])), Load: func(data []byte) error {
					got[name] = data
					return nil
				}})
			} else {
				got[name] = make([]byte, len(want[name]))
				sinks = append(sinks, Sink{Name: name, Memory: got[name]})
			}
		}
		e := NewEncoder(regions...)
		b := stream(e, rapid.IntRange(1, 50).Draw(t, "limit"))
		if uint64(len(b)) != e.Len() {
			t.Fatalf("a stream of %d bytes, announced as %d", len(b), e.Len())
		}
		d := NewDecoder(rapid.Permutation(sinks).Draw(t, "order")...)
		for len(b) > 0 {
			if d.Whole() {
				t.Fatal("whole before the end")
			}
			n := rapid.IntRange(1, len(b)).Draw(t, "taken")
			piece := bytes.Clone(b[:n])
			if err := d.Write(piece); err != nil {
				t.Fatal(err)
			}
			clear(piece)
			b = b[n:]
		}
		if !d.Whole() {
			t.Fatal("not whole at the end")
		}
		for _, name := range names {
			if !bytes.Equal(got[name], want[name]) {
				t.Fatalf("%q differs", name)
			}
		}
	})
}

// Every byte that changes is noticed, and every one that is missing.
func TestDamage(t *testing.T) {
	regions := []Region{Bytes("a", []byte("some bytes")), Bytes("b", []byte{1, 2, 3})}
	decode := func(b []byte) (*Decoder, error) {
		d := NewDecoder(Sink{Name: "a", Memory: make([]byte, 10)}, Sink{Name: "b", Memory: make([]byte, 3)})
		return d, d.Write(b)
	}
	whole := stream(NewEncoder(regions...), 1000)
	if d, err := decode(whole); err != nil || !d.Whole() {
		t.Fatalf("undamaged: %v", err)
	}
	for i := range whole {
		for bit := range 8 {
			b := bytes.Clone(whole)
			b[i] ^= 1 << bit
			if d, err := decode(b); err == nil && d.Whole() {
				t.Errorf("bit %d of byte %d changed, and nobody noticed", bit, i)
			}
		}
		if d, err := decode(whole[:i]); err != nil || d.Whole() {
			t.Errorf("cut off after %d bytes: whole %v, error %v", i, d.Whole(), err)
		}
	}
	if _, err := decode(append(bytes.Clone(whole), 0)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a byte after the end: %v", err)
	}
}

// A state of other regions is refused, in words that name the region.
func TestDifferent(t *testing.T) {
	sinks := []Sink{{Name: "field", Memory: make([]byte, 8)}, {Name: "value", Load: func([]byte) error { return nil }, Limit: 4}}
	field, value := Bytes("field", make([]byte, 8)), Bytes("value", make([]byte, 4))
	for _, c := range []struct {
		regions []Region
		err     string
	}{
		{[]Region{field, value}, ""},
		{[]Region{Bytes("field", make([]byte, 7)), value}, `"field" has 7 bytes, but 8 are registered`},
		{[]Region{field, Bytes("value", make([]byte, 5))}, `"value" has 5 bytes, and at most 4`},
		{[]Region{field}, `it lacks "value"`},
		{[]Region{field, value, Bytes("more", nil)}, `it has "more"`},
		{[]Region{field, field, value}, `it has "field", which isn't registered here, or came twice`},
	} {
		d := NewDecoder(sinks...)
		err := d.Write(stream(NewEncoder(c.regions...), 1000))
		if c.err == "" && err == nil && d.Whole() {
			continue
		}
		if c.err == "" || !errors.Is(err, ErrDiffers) || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%d regions: %v, want %q", len(c.regions), err, c.err)
		}
	}
	refused := errors.New("refused")
	d := NewDecoder(Sink{Name: "x", Limit: 1, Load: func([]byte) error { return refused }})
	if err := d.Write(stream(NewEncoder(Bytes("x", []byte{1})), 1000)); !errors.Is(err, refused) {
		t.Errorf("a sink that refuses: %v", err)
	}
}

// An encoder hands out the region's own memory.
func TestNothingIsCopied(t *testing.T) {
	data := make([]byte, 1000)
	e := NewEncoder(Bytes("data", data))
	for piece := e.Next(100); piece != nil; piece = e.Next(100) {
		if len(piece) == 100 {
			if &piece[0] != &data[0] {
				t.Fatal("a copy")
			}
			data = data[100:]
		}
	}
	if len(data) != 0 {
		t.Errorf("%d bytes were handed out otherwise", len(data))
	}
}

// No stream breaks a Decoder. One that it takes is what an Encoder would have made.
func FuzzDecoder(f *testing.F) {
	f.Add(stream(NewEncoder(Bytes("a", []byte{1, 2, 3}), Bytes("b", []byte("bytes"))), 1000))
	f.Add(stream(NewEncoder(), 1000))
	f.Fuzz(func(t *testing.T, b []byte) {
		var loaded []byte
		memory := make([]byte, 3)
		d := NewDecoder(Sink{Name: "a", Memory: memory}, Sink{Name: "b", Limit: 100, Load: func(data []byte) error {
			loaded = data
			return nil
		}})
		if d.Write(b) == nil && d.Whole() {
			a, bb := Bytes("a", memory), Bytes("b", loaded)
			if !bytes.Equal(b, stream(NewEncoder(a, bb), 1000)) && !bytes.Equal(b, stream(NewEncoder(bb, a), 1000)) {
				t.Error("taken, but nobody's")
			}
		}
	})
}
