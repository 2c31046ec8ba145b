package process

import (
	"encoding/binary"
	"fmt"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/proto/replica"
)

// phases is a program that tells its phases apart by causality alone: in each,
// every rank sends the phase's number to all others and receives theirs from any
// source, all with one tag; then rank 0 waits for everybody and lets them go on.
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
	case f.at < others: // to everybody else
		f.send(p, 2, peer)
	case f.at < 2*others: // from anybody else
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
func runPhases(t *testing.T, seed uint64, layout replica.Layout, crashes int, prepare func(p *Process)) error {
	programs := map[proto.Proc]*phases{}
	w := newWorld(t, seed, layout, func(r proto.Rank, k int) program {
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
	for _, layout := range []replica.Layout{replica.Uniform(3, 2), replica.Uniform(4, 2), replica.Uniform(3, 3)} {
		seeds(t, func(t *testing.T, seed uint64) {
			if err := runPhases(t, seed, layout, layout.MaxDegree(), func(*Process) {}); err != nil {
				t.Errorf("seed %d, %v: %v", seed, layout, err)
			}
		})
	}
}

// Without clocks the same test fails: it can see what they are for.
func TestCanaryWithoutClocks(t *testing.T) {
	for seed := range uint64(2000) {
		err := runPhases(t, seed, replica.Uniform(3, 2), 2, func(p *Process) { p.clock = nil })
		if err != nil {
			t.Logf("seed %d: %v", seed, err)
			return
		}
	}
	t.Error("messages from the future go unnoticed")
}
