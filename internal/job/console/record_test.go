package console

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// Whatever is appended and acknowledged, pieces are those of the stream, and what isn't
// acknowledged is there.
func TestRecord(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var r record
	var all []byte
	to := make([]byte, 10_000)
	for range 5000 {
		piece := make([]byte, rng.IntN(1000))
		for i := range piece {
			piece[i] = byte(len(all) + i*i)
		}
		r.append(piece)
		all = append(all, piece...)
		if err := r.ack(r.acked + rng.Int64N(r.end()-r.acked+1)); err != nil {
			t.Fatal(err)
		}
		from := rng.Int64N(r.end() + 1)
		at, n := r.piece(from, to)
		if at > r.acked && at != from || at < from || !bytes.Equal(to[:n], all[at:int(at)+n]) {
			t.Fatalf("from %d: %d bytes at %d; acknowledged %d", from, n, at, r.acked)
		}
		if kept := int64(len(r.buf)) - (r.end() - r.acked); kept > 4*watchTail {
			t.Fatalf("%d acknowledged bytes are kept", kept)
		}
	}
	if r.ack(r.end()+1) == nil {
		t.Error("what doesn't exist is acknowledged")
	}
	if r.room(100) != int(max(0, 100-(r.end()-r.acked))) {
		t.Error(r.room(100))
	}
}

func TestPlace(t *testing.T) {
	r := record{base: 0, acked: 50, buf: make([]byte, 100)}
	bases := map[string]int64{}
	for _, c := range []struct {
		what string
		file string
		size int64
		want int64
	}{
		{"a new file", "a", 0, 50}, {"it has more than was acknowledged", "a", 30, 80},
		{"another file, with something", "b", 7, 50}, {"that one after 10 bytes", "b", 17, 60},
		{"more than there can be: something else wrote", "a", 51, 50}, {"that one goes on", "a", 61, 60},
	} {
		if at := r.place(Attachment{File: c.file, Length: c.size}, bases); at != c.want {
			t.Errorf("%s: %d, want %d", c.what, at, c.want)
		}
	}
	r.ack(90) // another console
	if at := r.place(Attachment{File: "b", Length: 20}, bases); at != 90 {
		t.Errorf("what another console has shown: %d", at)
	}
}

func TestInput(t *testing.T) {
	var in input
	add := func(offset int64, text string, end bool) error {
		return in.add(&Frame{Kind: Input, Offset: offset, Data: []byte(text), End: end})
	}
	if add(0, "one", false) != nil || add(0, "one two", false) != nil || add(2, "e", true) != nil || in.ended || string(in.buf) != "one two" {
		t.Errorf("%q %v", in.buf, in.ended)
	}
	if add(8, "gap", false) == nil {
		t.Error("a gap is taken")
	}
	if add(4, "two!", true) != nil || !in.ended || string(in.buf) != "one two!" {
		t.Errorf("%q %v", in.buf, in.ended)
	}
	if add(8, "more", false) != nil || in.come != 8 {
		t.Error("there is input behind the end")
	}
	in = input{}
	if add(0, string(make([]byte, 2*inputWindow+1)), false) == nil {
		t.Error("there is no bound")
	}
}
