package process

import (
	"encoding/binary"
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

// If several threads wait, a receive that names its source gets its message, whatever is said to
// precede it. Else two threads whose messages come from two replica layers would wait for each
// other's sends for ever. A receive from any source that was posted earlier goes first.
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
	anyone, named := p.Receive(2, proto.AnyRank, 0, b[2][:]), p.Receive(2, 1, 0, b[3][:])
	comes(p, 1, 3, 1)
	if p.Done(anyone) || p.Done(named) {
		t.Error("a receive from any source took a message before its cause")
	}
	comes(p, 1, 4, 1)
	p.Send(2, 2, 0, nil)
	if !p.Done(anyone) || !p.Done(named) || b[2][0] != 3 || b[3][0] != 4 {
		t.Errorf("got %d and %d", b[2][0], b[3][0])
	}
}
