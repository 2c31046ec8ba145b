package stream

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
)

type frame struct {
	seq     uint64
	payload []byte
}

// collector is a Sink that keeps all frames. If drop is set it drops every third large payload.
type collector struct {
	frames []frame
	dest   []byte
	drop   bool
	onSeq  func(seq uint64)
}

func (c *collector) Frame(_ proto.Proc, h *wire.Header, payload []byte) {
	c.frames = append(c.frames, frame{h.Seq, slices.Clone(payload)})
	if c.onSeq != nil {
		c.onSeq(h.Seq)
	}
}

func (c *collector) Dest(_ proto.Proc, h *wire.Header) []byte {
	c.dest = nil
	if !c.drop || h.Seq%3 != 0 {
		c.dest = make([]byte, h.Length)
	}
	return c.dest
}

func (c *collector) Arrived(_ proto.Proc, h *wire.Header) {
	c.frames = append(c.frames, frame{h.Seq, c.dest})
}
func (c *collector) Sent(proto.Proc, uint64)               {}
func (c *collector) Closed(proto.Proc, transport.Evidence) {}

var sizes = []int{0, 1, 63, 64, 65, transport.DirectSize - 1, transport.DirectSize, transport.DirectSize + 1, 70000}

// drawFrames draws frames numbered from 1.
func drawFrames(t *rapid.T) []frame {
	n := rapid.IntRange(1, 20).Draw(t, "frames")
	frames := make([]frame, n)
	for i := range frames {
		size := rapid.OneOf(rapid.SampledFrom(sizes), rapid.IntRange(0, 200)).Draw(t, "size")
		frames[i] = frame{uint64(i + 1), bytes.Repeat([]byte{byte(i + 1)}, size)}
	}
	return frames
}

func encode(f frame) (header [wire.HeaderSize]byte) {
	wire.EncodeHeader(header[:], &wire.Header{Kind: wire.KindEager, Seq: f.seq, Length: uint32(len(f.payload)), Total: uint64(len(f.payload))})
	return header
}

// transfer moves waiting bytes from out to in, in pieces of the lengths that piece draws, until
// limit bytes have moved.
func transfer(t *rapid.T, out *Outbox, pool *Pool, in *Inbox, sink transport.Sink, limit int) (done []uint64) {
	buffer := NewBuffer(1 << 12)
	for out.Len() > 0 && limit > 0 {
		var available []byte
		for _, b := range out.Bytes(nil, rapid.IntRange(1, 4).Draw(t, "runs")) {
			available = append(available, b...)
		}
		direct, rest := in.Space(buffer)
		n := min(len(available), len(direct)+len(rest), limit, rapid.OneOf(rapid.IntRange(1, 100), rapid.IntRange(1, 1<<17)).Draw(t, "piece"))
		d := copy(direct, available[:n])
		copy(rest, available[d:n])
		done = out.Advance(pool, n, done)
		limit -= n
		if _, err := in.Take(1, buffer, n, sink); err != nil {
			t.Fatal(err)
		}
	}
	return done
}

// The whole frames in a stream arrive in order, wherever it is cut and wherever it ends, and each
// borrowed payload is given back once.
func TestFramesSurviveAnyCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		frames := drawFrames(t)
		var (
			out   Outbox
			pool  Pool
			in    Inbox
			total int
			ends  []int // where each frame ends in the stream
			lent  []uint64
			done  []uint64
		)
		sink := &collector{drop: rapid.Bool().Draw(t, "drop")}
		for _, f := range frames {
			header := encode(f)
			var token uint64
			if rapid.Bool().Draw(t, "borrowed") {
				token = f.seq
				lent = append(lent, token)
			}
			out.Add(&pool, header[:], f.payload, token, 0)
			total += wire.HeaderSize + len(f.payload)
			ends = append(ends, total)
		}
		if out.Len() != total {
			t.Fatalf("%d bytes wait, not %d", out.Len(), total)
		}
		cut := total
		if rapid.Bool().Draw(t, "dies") {
			cut = rapid.IntRange(0, total).Draw(t, "cut")
		}
		done = transfer(t, &out, &pool, &in, sink, cut)
		done = out.Drop(&pool, done)
		if !slices.Equal(done, lent) {
			t.Fatalf("given back %v, borrowed %v", done, lent)
		}
		if out.Len() != 0 {
			t.Fatalf("%d bytes wait after all", out.Len())
		}
		whole := 0
		for whole < len(ends) && ends[whole] <= cut {
			whole++
		}
		if len(sink.frames) != whole {
			t.Fatalf("%d frames arrived, %d left whole", len(sink.frames), whole)
		}
		for i, got := range sink.frames {
			want := frames[i]
			dropped := got.payload == nil && len(want.payload) > transport.DirectSize && sink.drop && want.seq%3 == 0
			if got.seq != want.seq || !dropped && !bytes.Equal(got.payload, want.payload) {
				t.Fatalf("frame %d arrived as %d with %d bytes, not %d", want.seq, got.seq, len(got.payload), len(want.payload))
			}
		}
	})
}

// Bytes that had left before a frame was queued aren't sent twice.
func TestAddTheRestOfAFrame(t *testing.T) {
	f := frame{1, []byte("payload")}
	header := encode(f)
	whole := append(header[:], f.payload...)
	for _, token := range []uint64{0, 9} {
		for gone := range whole {
			var out Outbox
			var pool Pool
			out.Add(&pool, header[:], f.payload, token, gone)
			if got := bytes.Join(out.Bytes(nil, 9), nil); !bytes.Equal(got, whole[gone:]) || out.Len() != len(got) {
				t.Fatalf("token %d, %d gone: %d of %d bytes wait", token, gone, len(got), len(whole)-gone)
			}
		}
	}
}

func TestStopInsideAFrame(t *testing.T) {
	var out Outbox
	var pool Pool
	for seq := uint64(1); seq <= 3; seq++ {
		header := encode(frame{seq, nil})
		out.Add(&pool, header[:], nil, 0, 0)
	}
	var in Inbox
	sink := &collector{onSeq: func(seq uint64) {
		if seq == 2 {
			in.Stop()
		}
	}}
	buffer := NewBuffer(1 << 12)
	_, rest := in.Space(buffer)
	n := copy(rest, bytes.Join(out.Bytes(nil, 9), nil))
	if frames, err := in.Take(1, buffer, n, sink); err != nil || frames != 2 {
		t.Fatalf("%d frames, %v", frames, err)
	}
}

func TestCorruptStreamEnds(t *testing.T) {
	var in Inbox
	buffer := NewBuffer(1 << 12)
	_, rest := in.Space(buffer)
	good := encode(frame{1, nil})
	n := copy(rest, append(good[:], make([]byte, wire.HeaderSize)...))
	frames, err := in.Take(1, buffer, n, &collector{})
	if frames != 1 || !errors.Is(err, wire.ErrCorrupt) {
		t.Fatalf("%d frames, %v", frames, err)
	}
}

// A peer with a long backlog keeps no more memory than its bytes need.
func TestBacklogMemoryIsBounded(t *testing.T) {
	var out Outbox
	var pool Pool
	header := encode(frame{1, make([]byte, 1000)})
	payload := make([]byte, 1000)
	const backlog = 100
	for i := range 20000 {
		out.Add(&pool, header[:], payload, 0, 0)
		if i >= backlog {
			out.Advance(&pool, wire.HeaderSize+1000, nil)
		}
	}
	if limit := 4 * (backlog*1064/ChunkSize + 2); len(pool.idle)+cap(out.spans) > limit {
		t.Fatalf("%d idle blocks and room for %d spans, more than %d", len(pool.idle), cap(out.spans), limit)
	}
	if n := testing.AllocsPerRun(1000, func() {
		out.Add(&pool, header[:], payload, 0, 0)
		out.Advance(&pool, wire.HeaderSize+1000, nil)
	}); n != 0 {
		t.Fatalf("%v allocations a frame", n)
	}
}

func FuzzTake(f *testing.F) {
	header := encode(frame{1, []byte("abc")})
	f.Add(append(header[:], "abc"...), 7)
	f.Fuzz(func(t *testing.T, stream []byte, piece int) {
		if piece < 1 || piece > 1<<12 {
			return
		}
		var in Inbox
		sink := &collector{}
		buffer := NewBuffer(1 << 12)
		for len(stream) > 0 {
			direct, rest := in.Space(buffer)
			n := min(piece, len(stream))
			d := copy(direct, stream[:n])
			copy(rest, stream[d:n])
			stream = stream[n:]
			if _, err := in.Take(1, buffer, n, sink); err != nil {
				return
			}
			if len(in.stash) > maxStash {
				t.Fatalf("%d bytes kept", len(in.stash))
			}
		}
	})
}
