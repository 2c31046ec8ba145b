package process

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
)

// phases is a program that tells its phases apart by causality alone. In each, every rank sends
// the phase's number to all others and receives theirs from any source, all with one tag. Then
// rank 0 waits for all ranks and lets them go on.
type phases struct {
	rank, ranks, total int
	phase, at          int // at: operations of the phase begun
	open               []posted
	err                error
}

func (f *phases) step(p *Process) bool {
	if len(f.open) > 0 {
		o := f.open[0]
		if !p.Done(o.h) {
			return false
		}
		_, err := p.Take(o.h)
		if got := int(binary.LittleEndian.Uint32(o.buffer)); f.err == nil && (err != nil || got != f.phase) {
			f.err = fmt.Errorf("rank %d got %d in phase %d, error %v", f.rank, got, f.phase, err)
		}
		f.open = f.open[1:]
		return false
	}
	if f.phase == f.total {
		return true
	}
	others := f.ranks - 1
	peer := proto.Rank((f.rank + 1 + f.at%others) % f.ranks)
	switch {
	case f.at < others: // to every other rank
		f.send(p, 2, peer)
	case f.at < 2*others: // from any other rank
		f.receive(p, 2, proto.AnyRank)
	case f.rank > 0 && f.at == 2*others:
		f.send(p, 3, 0)
	case f.rank > 0 && f.at == 2*others+1:
		f.receive(p, 3, 0)
	case f.rank == 0 && f.at < 3*others:
		f.receive(p, 3, peer)
	case f.rank == 0 && f.at < 4*others:
		f.send(p, 3, peer)
	default:
		f.phase++
		f.at = 0
		return false
	}
	f.at++
	return false
}

func (f *phases) send(p *Process, context uint64, to proto.Rank) {
	b := binary.LittleEndian.AppendUint32(nil, uint32(f.phase))
	f.open = append(f.open, posted{h: p.Send(context, to, 0, b), buffer: b})
}

func (f *phases) receive(p *Process, context uint64, from proto.Rank) {
	b := make([]byte, 4)
	f.open = append(f.open, posted{p.Receive(context, from, 0, b), b, true})
}

// runPhases returns the first thing that went wrong at a live process.
func runPhases(t *testing.T, seed uint64, layout layout.Layout, mirror bool, crashes int, prepare func(p *Process)) error {
	programs := map[proto.Proc]*phases{}
	w := newTestJobOf(t, seed, Config{Layout: layout, Mirror: mirror, Period: 100e6, Timeout: 1e9}, func(r proto.Rank, k int) program {
		f := &phases{rank: int(r), ranks: layout.Ranks(), total: 12}
		programs[layout.Proc(r, k)] = f
		return f
	})
	for _, n := range w.nodes {
		prepare(n.p)
	}
	w.run(crashes, func() proto.Proc { return w.expendable() })
	for _, n := range w.nodes {
		if err := programs[n.self].err; err != nil && !n.dead {
			return err
		}
	}
	return nil
}

func TestNoMessageComesBeforeItsCause(t *testing.T) {
	for _, layout := range []layout.Layout{layout.Uniform(3, 2), layout.Uniform(4, 2), layout.Uniform(3, 3)} {
		seeds(t, func(t *testing.T, seed uint64) {
			for _, mirror := range []bool{false, true} {
				if err := runPhases(t, seed, layout, mirror, layout.MaxDegree(), func(*Process) {}); err != nil {
					t.Errorf("seed %d, %v, mirror %v: %v", seed, layout, mirror, err)
				}
			}
		})
	}
}

// Without clocks the same test fails: it can see what they are for.
func TestCanaryWithoutClocks(t *testing.T) {
	for seed := range uint64(2000) {
		err := runPhases(t, seed, layout.Uniform(3, 2), false, 2, func(p *Process) { p.clock = nil })
		if err != nil {
			t.Logf("seed %d: %v", seed, err)
			return
		}
	}
	t.Error("messages from the future go unnoticed")
}

// comes brings p a message of rank 1, from one of its replicas, that follows so many sends of
// p's rank.
func comes(p *Process, from proto.Proc, seq uint64, sends uint32) {
	payload := append([]byte{byte(seq)}, make([]byte, p.clock.StampSize())...)
	binary.LittleEndian.PutUint32(payload[1+4*p.rank:], sends)
	p.Frame(from, &wire.Header{Kind: wire.KindEager, Context: 2, Src: 1, Dst: p.rank, Seq: seq, Total: 1}, payload)
}

// wants receives, and returns which message that is; 0: none is there yet.
func wants(t *testing.T, p *Process) byte {
	t.Helper()
	var b [1]byte
	h := p.Receive(2, 1, proto.AnyTag, b[:])
	if !p.Done(h) {
		p.Cancel(h)
	}
	if _, err := p.Take(h); err != nil && err != ErrCancelled {
		t.Fatal(err)
	}
	return b[0]
}

// Replicas of a sender may have heard different things before the same message. If copies come
// from several replicas, a later message can be ready before an earlier one. It waits for the
// earlier one.
func TestEarlyMessagesKeepTheirOrder(t *testing.T) {
	p, _ := single(t, layout.Uniform(3, 2))
	comes(p, 1, 1, 1) // the sender has heard of this rank's first send
	comes(p, 4, 2, 0) // the sender's other replica hasn't
	comes(p, 4, 3, 2)
	comes(p, 4, 4, 1)
	if got := wants(t, p); got != 0 {
		t.Fatalf("message %d came before its cause, or before the first", got)
	}
	p.Send(2, 2, 0, nil)
	for _, want := range []byte{1, 2, 0} {
		if got := wants(t, p); got != want {
			t.Fatalf("message %d, want %d", got, want)
		}
	}
	p.Send(2, 2, 0, nil)
	for _, want := range []byte{3, 4, 0} {
		if got := wants(t, p); got != want {
			t.Fatalf("message %d, want %d", got, want)
		}
	}
}

// A message doesn't wait for a send that another replica of its sender hasn't needed for it.
func TestTheLeastCauseCounts(t *testing.T) {
	p, _ := single(t, layout.Uniform(3, 2))
	comes(p, 1, 1, 2)
	comes(p, 1, 2, 2)
	comes(p, 4, 1, 1)
	comes(p, 4, 2, 3)
	if got := wants(t, p); got != 0 {
		t.Fatalf("message %d came before its cause", got)
	}
	p.Send(2, 2, 0, nil)
	for _, want := range []byte{1, 0} {
		if got := wants(t, p); got != want {
			t.Fatalf("message %d, want %d", got, want)
		}
	}
	comes(p, 4, 3, 0)
	p.Send(2, 2, 0, nil)
	for _, want := range []byte{2, 3, 0} {
		if got := wants(t, p); got != want {
			t.Fatalf("message %d, want %d", got, want)
		}
	}
}

// If several threads communicate, a receive that names its source gets its message, whatever is
// said to precede it. Else two threads whose messages come from two replica layers would wait for
// each other's sends for ever. One from any source is refused when another layer has been heard of.
func TestThreadsDontWaitForEachOther(t *testing.T) {
	p, _ := single(t, layout.Uniform(3, 2))
	var b [4][1]byte
	first := p.Receive(2, 1, 0, b[0][:])
	comes(p, 1, 1, 1)
	if p.Done(first) {
		t.Error("in a program of one thread a message comes before its cause")
	}
	p.Concurrent()
	if !p.Done(first) || b[0][0] != 1 {
		t.Errorf("a message that was awaited waits: got %d", b[0][0])
	}
	comes(p, 1, 2, 1)
	if h := p.Receive(2, 1, 0, b[1][:]); !p.Done(h) || b[1][0] != 2 {
		t.Errorf("a message that was here waits: got %d", b[1][0])
	}
	open := p.Receive(2, proto.AnyRank, 0, b[2][:])
	if p.Done(open) {
		t.Fatal("a receive from any source ends, although all that has come is from the own layer")
	}
	comes(p, 4, 3, 0) // from layer 1
	if _, err := p.Take(open); !errors.Is(err, ErrUnordered) {
		t.Errorf("an open receive from any source: %v", err)
	}
	if _, err := p.Take(p.Receive(2, proto.AnyRank, 0, b[2][:])); !errors.Is(err, ErrUnordered) {
		t.Errorf("a receive from any source: %v", err)
	}
	if _, _, err := p.Probe(2, proto.AnyRank, 0); !errors.Is(err, ErrUnordered) {
		t.Errorf("a probe of any source: %v", err)
	}
	if _, _, _, err := p.MatchedProbe(2, proto.AnyRank, 0); !errors.Is(err, ErrUnordered) {
		t.Errorf("a matched probe of any source: %v", err)
	}
	if h := p.Receive(2, 1, 0, b[3][:]); !p.Done(h) || b[3][0] != 3 {
		t.Errorf("the message that names its source: got %d", b[3][0])
	}
}

// A process that hasn't heard of another layer itself is told by the mark of a message, and passes
// it on. A program of one thread isn't refused anything.
func TestMixedLayersAreMarked(t *testing.T) {
	p, w := single(t, layout.Uniform(3, 2))
	p.Send(2, 2, 0, nil)
	if w.last(wire.KindEager).Flags != 0 {
		t.Error("a message of one layer is marked")
	}
	payload := make([]byte, p.clock.StampSize())
	p.Frame(1, &wire.Header{Kind: wire.KindEager, Flags: wire.MixedLayers, Context: 2, Src: 1, Dst: 0, Seq: 1}, payload)
	p.Send(2, 2, 0, nil)
	if w.last(wire.KindEager).Flags != wire.MixedLayers {
		t.Error("the mark isn't passed on")
	}
	if h := p.Receive(2, proto.AnyRank, 0, nil); !p.Done(h) {
		t.Error("a program of one thread waits")
	}
	open := p.Receive(2, proto.AnyRank, 0, nil)
	p.Concurrent()
	if _, err := p.Take(open); !errors.Is(err, ErrUnordered) {
		t.Errorf("when threads are seen: %v", err)
	}
}
