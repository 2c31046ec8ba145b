package process

import (
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// shortLived is a program that broadcasts from rank 0 over one communicator after another, and
// frees each as soon as its own part is done.
type shortLived struct {
	rank, ranks int
	context     uint64
	left        int // communicators to go
	number      int // broadcasts begun in this one
	open        []posted
	met         []Handle
	err         error
}

func (s *shortLived) step(p *Process) bool {
	switch {
	case len(s.open) > 0:
		o := s.open[0]
		if !p.Done(o.h) {
			return false
		}
		if _, err := p.Take(o.h); err != nil {
			s.err = err
		}
		for _, b := range o.buffer {
			if b != byte(s.context) && s.err == nil {
				s.err = ErrMismatch
			}
		}
		s.open = nil
	case s.left == 0:
		return s.meet(p)
	case s.context == 0 || s.number == 3:
		if s.context != 0 {
			p.CloseContext(s.context)
			s.left--
		}
		if s.left == 0 {
			return false
		}
		s.number, s.context = 0, uint64(101+2*s.left)
		var members []proto.Rank
		for r := range proto.Rank(s.ranks) {
			members = append(members, r)
		}
		if err := p.OpenContext(s.context, members, true); err != nil {
			s.err = err
		}
	default:
		b := make([]byte, []int{1, 5000, 40_000}[s.number])
		if s.rank == 0 {
			for i := range b {
				b[i] = byte(s.context)
			}
		}
		s.number++
		s.open = []posted{{h: p.Broadcast(s.context, 0, Shallow, b), buffer: b}}
	}
	return false
}

// meet waits until all others have come here or have died. The frames that they sent before have
// come then, too.
func (s *shortLived) meet(p *Process) bool {
	if s.met == nil {
		for r := range s.ranks {
			if r != s.rank {
				p.Take(p.Send(2, proto.Rank(r), 0, nil))
				s.met = append(s.met, p.Receive(2, proto.Rank(r), 0, nil))
			}
		}
	}
	for len(s.met) > 0 && p.Done(s.met[0]) {
		p.Take(s.met[0])
		s.met = s.met[1:]
	}
	return len(s.met) == 0
}

// Any process but the root may die. All live processes get every broadcast, although others have
// freed the communicator, and nothing of it stays behind.
func TestBroadcastsOutliveTheirCommunicator(t *testing.T) {
	for _, crashes := range []int{0, 2} {
		seeds(t, func(t *testing.T, seed uint64) {
			const ranks = 6
			programs := make([]*shortLived, ranks)
			w := newTestJob(t, seed, layout.Uniform(ranks, 1), func(r proto.Rank, _ int) program {
				programs[r] = &shortLived{rank: int(r), ranks: ranks, left: 8}
				return programs[r]
			})
			w.run(crashes, func() proto.Proc { return proto.Proc(1 + w.rng.IntN(ranks-1)) })
			for _, n := range w.nodes {
				if n.dead {
					continue
				}
				if err := programs[n.self].err; err != nil {
					t.Errorf("seed %d: %v: %v", seed, n.self, err)
				}
				n.checkEmpty(t, seed)
				if c, o := len(n.p.contexts.byID), len(n.p.contexts.orphans); c != 2 || o > 0 {
					t.Errorf("seed %d: %v keeps %d contexts and frames of %d others", seed, n.self, c, o)
				}
			}
		})
	}
}
