package process

import (
	"errors"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
)

// stubborn is a program that goes on when a rank is lost: rounds of an exchange around the ring,
// in the collective context, of small and large messages. When a step fails it gives up that
// round and all others.
type stubborn struct {
	rank, ranks, rounds int
	open                []Handle
	failed              bool
}

func (s *stubborn) step(p *Process) bool {
	for len(s.open) > 0 {
		if !p.Done(s.open[0]) {
			return false
		}
		if _, err := p.Take(s.open[0]); err != nil {
			s.failed = true
		}
		s.open = s.open[1:]
	}
	if s.failed || s.rounds == 0 {
		return true
	}
	s.rounds--
	b := make([]byte, []int{8, EagerLimit + 1, 3 * fragmentSize}[s.rounds%3])
	right, left := proto.Rank((s.rank+1)%s.ranks), proto.Rank((s.rank+s.ranks-1)%s.ranks)
	s.open = append(s.open, p.Receive(3, left, int32(s.rounds), make([]byte, len(b))), p.Send(3, right, int32(s.rounds), b))
	return false
}

// All replicas of a rank die, at different moments, and perhaps others. The replicas of a
// surviving rank then hear of the loss at different points of the program. Nothing hangs: no
// operation, and not the shutdown barrier.
func TestLostRankOfAReplicatedJob(t *testing.T) {
	for _, layout := range []layout.Layout{layout.Uniform(3, 2), layout.Uniform(4, 2), layout.Uniform(3, 3)} {
		seeds(t, func(t *testing.T, seed uint64) {
			w := newTestJob(t, seed, layout, func(r proto.Rank, _ int) program {
				return &stubborn{rank: int(r), ranks: layout.Ranks(), rounds: 9}
			})
			at := 0
			w.run(layout.MaxDegree()+1, func() proto.Proc {
				at++
				if at == 1 {
					return w.expendable()
				}
				return layout.Proc(0, at-2)
			})
		})
	}
}

// A large message of a rank that died before its data was asked for can't be received any more.
func TestUnexpectedOfferOfALostRank(t *testing.T) {
	p, _ := single(t, layout.Uniform(2, 1))
	p.Frame(1, &wire.Header{Kind: wire.KindOffer, Context: 2, Src: 1, Seq: 1, Total: 100_000, ID: 1 << 32}, nil)
	p.Closed(1, transport.EvidenceExited)
	h := p.Receive(2, proto.AnyRank, proto.AnyTag, make([]byte, 100_000))
	if !p.Done(h) {
		t.Fatal("the receive waits for the dead")
	}
	if _, err := p.Take(h); !errors.Is(err, ErrRankLost) {
		t.Error(err)
	}
}
