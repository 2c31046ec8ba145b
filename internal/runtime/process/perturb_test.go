package process

import (
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
)

// collector receives what all others send it, numbered, from any source, and notes the
// order.
type collector struct {
	rank, ranks, each int
	sent              int
	open              Handle
	buffer            []byte
	order             *[]proto.Rank
	last              map[proto.Rank]byte
	t                 *testing.T
}

func (c *collector) step(p *Process) bool {
	if c.rank > 0 {
		p.Send(2, 0, 5, []byte{byte(c.sent)})
		c.sent++
		return c.sent == c.each
	}
	if c.open == (Handle{}) {
		c.open = p.Receive(2, proto.AnyRank, 5, c.buffer)
	}
	if !p.Done(c.open) {
		return false
	}
	s, err := p.Take(c.open)
	if err != nil || c.buffer[0] != c.last[s.Source] {
		c.t.Errorf("%v's message %d came instead of %d, %v", s.Source, c.buffer[0], c.last[s.Source], err)
	}
	c.last[s.Source]++
	*c.order = append(*c.order, s.Source)
	c.open = Handle{}
	return len(*c.order) == c.each*(c.ranks-1)
}

// With perturbed timing each channel's messages stay in their order, and nothing is lost,
// whichever processes die meanwhile.
func TestPerturbedChannelsKeepTheirOrder(t *testing.T) {
	layout := layout.Uniform(3, 2)
	for seed := range uint64(60) {
		orders := make([][]proto.Rank, 2)
		w := newTestJob(t, seed, layout, func(r proto.Rank, k int) program {
			return &collector{rank: int(r), ranks: 3, each: 12, buffer: make([]byte, 1), order: &orders[k], last: map[proto.Rank]byte{}, t: t}
		})
		for i, n := range w.nodes {
			n.p.perturb = newPerturbation(seed<<8 + uint64(i) + 1)
		}
		w.run(int(seed%2), w.expendable)
	}
}

// Messages of different sources that come at the same moment are seen in both orders, and so are
// the ends of their receives. Those of collectives are never late.
func TestPerturbedOrders(t *testing.T) {
	swapped, late := 0, 0
	for seed := range uint64(200) {
		p, _ := single(t, layout.Uniform(3, 2))
		p.perturb = newPerturbation(seed + 1)
		first, second := p.Receive(2, proto.AnyRank, 5, make([]byte, 1)), p.Receive(2, proto.AnyRank, 5, make([]byte, 1))
		inside := p.Receive(3, 1, 5, make([]byte, 1))
		for _, context := range []uint64{3, 2} {
			for from := proto.Proc(1); from < 3; from++ {
				p.Frame(from, &wire.Header{Kind: wire.KindEager, Context: context, Src: proto.Rank(from), Tag: 5, Seq: 1, Total: 1},
					make([]byte, 1+p.clock.StampSize()))
			}
		}
		if !p.Done(inside) {
			t.Fatal("a message of a collective is late")
		}
		if !p.Done(first) || !p.Done(second) {
			late++
		}
		for n := 0; !p.Done(first) || !p.Done(second); n++ {
			if n == 10 {
				t.Fatal("the delays don't end")
			}
			p.At(p.perturb.deadline())
			p.Tick()
		}
		if s, _ := p.Take(first); s.Source == 2 {
			swapped++
		}
	}
	if swapped < 20 || swapped > 100 || late < 60 {
		t.Errorf("of 200 runs, in %d the order was the other one, and in %d somebody had to wait", swapped, late)
	}
}
