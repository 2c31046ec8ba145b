package console

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// Whatever is appended and acknowledged, frames have the pieces in order, all that isn't
// acknowledged is there, and what a console has is left out.
func TestRecord(t *testing.T) {
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 2))
		var r record
		var streams [4][]byte // by source
		shown := make(positions)
		type console struct {
			next int64
			have positions
			got  [4][]byte
		}
		c := console{have: make(positions)}
		f := Frame{}
		for step := range 300 {
			source := rng.IntN(len(streams))
			b := make([]byte, rng.IntN([]int{5, 1000, 3 * MaxPiece}[rng.IntN(3)]))
			for i := range b {
				b[i] = byte(rng.Uint32())
			}
			r.append(source, int64(len(streams[source])), b)
			streams[source] = append(streams[source], b...)
			if rng.IntN(50) == 0 { // another one comes, which has what the first one had
				c.next = r.acked
				if rng.IntN(2) == 0 { // or doesn't say so
					c.have = make(positions)
					for s := range c.got {
						c.got[s] = c.got[s][:shown[s]]
					}
				}
			}
			for rng.IntN(3) > 0 {
				f.Offset = 0
				if !r.frame(c.next, c.have, &f) {
					break
				}
				if b := f.Append(nil); len(b) > MaxFrame {
					t.Fatal("a frame has", len(b))
				} else if _, err := Parse(b[headSize:]); err != nil {
					t.Fatal(err)
				}
				c.next = f.Offset
				rest := f.Data
				for _, p := range f.From {
					if int64(len(c.got[p.Source])) != p.At {
						t.Fatalf("seed %d: source %d goes on at %d, want %d", seed, p.Source, p.At, len(c.got[p.Source]))
					}
					c.got[p.Source] = append(c.got[p.Source], rest[:p.Length]...)
					rest = rest[p.Length:]
				}
				if rng.IntN(2) == 0 {
					if err := r.ack(c.next, func(source int, to int64) { shown.set(source, to) }); err != nil {
						t.Fatal(err)
					}
				}
			}
			for s := range streams {
				if step%50 > 0 {
					break
				}
				if !bytes.HasPrefix(streams[s], c.got[s]) || int64(len(c.got[s])) < shown[s] {
					t.Fatalf("seed %d: source %d has other bytes", seed, s)
				}
			}
			if kept := r.acked - r.base(); kept > 4*watchTail+r.last-r.acked {
				t.Fatalf("%d acknowledged bytes are kept", kept)
			}
		}
		var again record
		if err := again.restore(r.rest()); err != nil || again.last != r.last-r.acked {
			t.Fatalf("%v: %d bytes, want %d", err, again.last, r.last-r.acked)
		}
		if r.ack(r.last, nil) != nil || r.owed != 0 || r.room(100+pieceCost) != 100 {
			t.Errorf("%d bytes are owed at the end", r.owed)
		}
		if r.ack(r.last+1, nil) == nil {
			t.Error("what doesn't exist is acknowledged")
		}
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
