package process

import (
	"errors"
	"math/rand/v2"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
)

// namedServer is a program in free order whose rank 0 has two threads that name their sources: one
// sends to rank 1 and one receives from rank 2, which hears from rank 1 in between.
type namedServer struct {
	rank, rounds int
	rng          *rand.Rand
	at           [2]int // by thread, operations begun
	open         [2]posted
	concurrent   bool
	err          error
}

func (s *namedServer) step(p *Process) bool {
	if s.rank == 0 && !s.concurrent {
		s.concurrent = true
		p.Concurrent()
	}
	threads := 1
	if s.rank == 0 {
		threads = 2
	}
	k := s.rng.IntN(threads)
	if s.stepThread(p, k, threads) && (threads == 1 || s.stepThread(p, 1-k, threads)) {
		return true
	}
	return false
}

func (s *namedServer) stepThread(p *Process, k, threads int) (finished bool) {
	if o := &s.open[k]; o.h != (Handle{}) {
		if !p.Done(o.h) {
			return false
		}
		if _, err := p.Take(o.h); err != nil && s.err == nil {
			s.err = err
		}
		o.h = Handle{}
	}
	operations := 2 * s.rounds / threads
	if s.at[k] == operations {
		return true
	}
	b := make([]byte, 8)
	next, before := proto.Rank(s.rank+1)%3, proto.Rank(s.rank+2)%3
	if sends := threads == 1 && s.at[k]%2 == 1 || threads == 2 && k == 0; sends {
		s.open[k] = posted{h: p.Send(2, next, 0, b), buffer: b}
	} else {
		s.open[k] = posted{h: p.Receive(2, before, 0, b), buffer: b, recv: true}
	}
	s.at[k]++
	return false
}

// A client of such a server gets its answer after deaths, though the answer's stamp may say that a
// send of the client precedes it which follows it.
func TestServersThatNameTheirSources(t *testing.T) {
	for _, cfg := range []Config{{Layout: layout.Uniform(3, 2)}, {Layout: layout.Uniform(3, 3)}} {
		cfg.Period, cfg.Timeout = 100e6, 1e9
		seeds(t, func(t *testing.T, seed uint64) {
			var all []*namedServer
			w := newTestJobOf(t, seed, cfg, func(r proto.Rank, _ int) program {
				s := &namedServer{rank: int(r), rounds: 40, rng: rand.New(rand.NewPCG(seed, uint64(len(all))))}
				all = append(all, s)
				return s
			})
			w.run(cfg.Layout.MaxDegree(), func() proto.Proc { return w.expendable() })
			for q, s := range all {
				if !w.nodes[q].dead && s.err != nil {
					t.Fatalf("seed %d: %d: %v", seed, q, s.err)
				}
			}
		})
	}
}

// lostCauses brings p the first message of rank 1, whose stamp asks for nine sends, and means
// nothing.
func lostCauses(p *Process, from proto.Proc) {
	payload := append([]byte{1}, make([]byte, p.clock.StampSize())...)
	payload[1] = 9
	p.Frame(from, &wire.Header{Kind: wire.KindEager, Flags: wire.MixedLayers | wire.CausesLost, Context: 2, Src: 1, Dst: p.rank, Seq: 1, Total: 1}, payload)
}

// Nobody waits for the cause of a message whose stamp means nothing. Who has got it passes the mark
// on, and is refused receives from any source.
func TestLostCausesAreMarked(t *testing.T) {
	p, w := single(t, layout.Uniform(3, 2))
	open := p.Receive(2, proto.AnyRank, 5, nil)
	lostCauses(p, 1)
	if got := wants(t, p); got != 1 {
		t.Fatalf("message %d is here, want 1", got)
	}
	if _, err := p.Take(open); !errors.Is(err, ErrUnordered) {
		t.Errorf("an open receive from any source: %v", err)
	}
	if _, err := p.Take(p.Receive(2, proto.AnyRank, 0, nil)); !errors.Is(err, ErrUnordered) {
		t.Errorf("a receive from any source: %v", err)
	}
	p.Send(2, 2, 0, nil)
	if got := w.last(wire.KindEager).Flags; got != wire.MixedLayers|wire.CausesLost {
		t.Errorf("marks %d are passed on", got)
	}
}

// A copy whose stamp means nothing ends the wait of one that waits for its cause.
func TestLostCausesEndAWait(t *testing.T) {
	p, _ := single(t, layout.Uniform(3, 2))
	comes(p, 1, 1, 3)
	if got := wants(t, p); got != 0 {
		t.Fatalf("message %d came before its cause", got)
	}
	lostCauses(p, 4)
	if got := wants(t, p); got != 1 {
		t.Errorf("message %d is here, want 1", got)
	}
	if _, err := p.Take(p.Receive(2, proto.AnyRank, 0, nil)); !errors.Is(err, ErrUnordered) {
		t.Errorf("a receive from any source: %v", err)
	}
}
