package process

import (
	"encoding/binary"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/proto/match"
)

// mixture is a job of three ranks in rounds. In each, rank 1 sends two messages to rank 0 and rank
// 2 sends one; rank 0 has posted receives from any source, from rank 1, and from any source. Which
// of them takes what is timing's; the second may take either message of rank 1.
type mixture struct {
	rank   int
	rounds int
	round  int
	begun  bool // rank 0: the round's receives are posted
	sent   int
	open   []posted
	word   []byte
	seen   uint64
	hasty  bool // a mistake: the receive from rank 1 doesn't wait behind the first one
	wrong  error
}

func (m *mixture) step(p *Process) (finished bool) {
	switch {
	case m.round == m.rounds:
		return true
	case m.rank == 0:
		m.receive(p)
	default:
		m.send(p)
	}
	return false
}

// send waits for rank 0's word, then sends.
func (m *mixture) send(p *Process) {
	if !m.begun {
		m.word = make([]byte, 8)
		m.open = []posted{{h: p.Receive(2, 0, 9, m.word)}}
		m.begun = true
	}
	if !p.Done(m.open[0].h) {
		return
	}
	p.Take(m.open[0].h)
	for range 3 - m.rank {
		m.sent++
		body := binary.LittleEndian.AppendUint64(nil, uint64(m.rank)<<32|uint64(m.sent))
		p.Send(2, 0, 1, body)
	}
	m.begun = false
	m.round++
}

func (m *mixture) receive(p *Process) {
	if !m.begun {
		m.begun, m.open = true, nil
		for _, src := range []proto.Rank{proto.AnyRank, 1, proto.AnyRank} {
			b := make([]byte, 8)
			m.open = append(m.open, posted{h: m.post(p, src, b), buffer: b})
		}
		for to := range proto.Rank(2) {
			p.Send(2, to+1, 9, make([]byte, 8))
		}
	}
	for _, o := range m.open {
		if !p.Done(o.h) {
			return
		}
	}
	for _, o := range m.open {
		if _, err := p.Take(o.h); err != nil {
			m.wrong = err
		}
		m.seen = scatter(m.seen*31 + binary.LittleEndian.Uint64(o.buffer))
	}
	m.begun = false
	m.round++
}

func (m *mixture) post(p *Process, src proto.Rank, buffer []byte) Handle {
	if !m.hasty || src == proto.AnyRank {
		return p.Receive(2, src, 1, buffer)
	}
	h, r := p.newRequest(receiving)
	r.buffer, r.context, r.peer, r.tag = buffer, 2, src, 1
	p.post(h, r, match.Envelope{Context: 2, Src: src, Tag: 1})
	return h
}

// runMixture runs a job with deaths, and tells whether the live replicas of rank 0 have seen the
// same.
func runMixture(t testing.TB, seed uint64, hasty bool) (alike bool) {
	l := layout.Uniform(3, 2)
	var mixtures []*mixture
	w := newTestJobOf(t, seed, Config{Layout: l, Leader: true, Period: 100e6, Timeout: 1e9}, func(rank proto.Rank, _ int) program {
		m := &mixture{rank: int(rank), rounds: 20, hasty: hasty}
		mixtures = append(mixtures, m)
		return m
	})
	w.run(int(seed%3), func() proto.Proc {
		q := proto.Proc(w.rng.IntN(l.Procs()))
		if w.nodes[(q+3)%6].dead {
			return proto.NoProc
		}
		return q
	})
	first, second := mixtures[0], mixtures[3]
	if first.wrong != nil || second.wrong != nil {
		return false
	}
	return w.nodes[0].dead || w.nodes[3].dead || first.seen == second.seen
}

// A receive that names its source, behind one from any source that is open, takes the same message
// in all replicas. If it didn't wait for what the leader decides of the first, it wouldn't.
func TestBehindAnySource(t *testing.T) {
	seeds(t, func(t *testing.T, seed uint64) {
		if !runMixture(t, seed, false) {
			t.Fatalf("seed %d: the replicas of rank 0 have seen different things", seed)
		}
	})
	t.Run("canary", func(t *testing.T) {
		for seed := range uint64(50) {
			alike := false
			func() {
				defer func() {
					if _, stops := recover().(stopped); stops {
						alike = false
					}
				}()
				alike = runMixture(strict{t}, seed, true)
			}()
			if !alike {
				return
			}
		}
		t.Error("a receive that doesn't wait isn't caught in 50 jobs")
	})
}
