package verify

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"banyan/internal/proto"
)

// clinic is a model whose dead are replaced, one at a time. Rendezvous end in any order.
type clinic struct {
	*model
	rng     *rand.Rand
	open    []map[uint64]bool // by receiver: the rendezvous that aren't complete
	pending []func()          // deliveries of the news that a replacement of the senders has joined
	fresh   int               // that replacement, -1: none; it sends nothing until all are made
	limit   uint64            // how many messages a sender sends at most
}

func newClinic(rng *rand.Rand, degrees []int, total int, data func(int, uint64) uint32) *clinic {
	c := &clinic{model: newModel(degrees, total, data), rng: rng, fresh: -1}
	for range degrees[1] {
		c.open = append(c.open, map[uint64]bool{})
	}
	return c
}

func (c *clinic) live(rank int) set { return first(c.layout[rank]) &^ c.dead[rank] }

// arrive brings the next message, or the offer of one, to receiver j.
func (c *clinic) arrive(j int, flush bool) {
	k := c.server(j)
	if c.dead[1].has(j) || c.arrived[j] >= c.sent[k] {
		return
	}
	if seq := c.arrived[j] + 1; c.large(seq) {
		c.arrived[j], c.open[j][seq] = seq, true
		return
	}
	c.model.arrive(j, flush)
}

// complete ends a rendezvous at receiver j, or all up to a number.
func (c *clinic) complete(j int, upto uint64) {
	for _, seq := range slices.Sorted(maps.Keys(c.open[j])) {
		if k := c.server(j); seq <= upto && seq <= c.sent[k] {
			delete(c.open[j], seq)
			c.tell(j, ack{seq: seq, single: true, digest: c.data(k, seq)})
		}
	}
}

func (c *clinic) end(rank, k int) {
	if c.kill(rank, k); rank == 1 {
		clear(c.open[k])
	}
}

// hearAll brings all acknowledgements of some receivers to some senders.
func (c *clinic) hearAll(from, to set) {
	for j := range c.layout[1] {
		for s := range c.layout[0] {
			for from.has(j) && to.has(s) && c.hear(j, s) {
			}
		}
	}
}

// heal fills a slot with a donor's state. The events that precede the state by package
// replica's rules come before.
func (c *clinic) heal(rank, k, donor int) {
	c.dead[rank] &^= only(k)
	degree := func(r proto.Rank) int { return c.layout[r] }
	m := New(Config{Rank: proto.Rank(rank), Replica: k, Ranks: 2, Degree: degree, Covers: func(j int) bool { return j == k || c.cover[j] == k }})
	if rank == 1 {
		c.tell(donor, ack{seq: c.arrived[donor], digest: c.receivers[donor].Digest(2, 0)})
		c.hearAll(only(donor), c.live(0))
		if m.Restore(c.receivers[donor].AppendState(nil)) != nil {
			panic("no state")
		}
		c.receivers[k], c.arrived[k], c.open[k] = m, c.arrived[donor], maps.Clone(c.open[donor])
		had, lacked := c.arrived[donor], maps.Clone(c.open[donor])
		for s := range c.layout[0] {
			c.links[[2]int{k, s}] = []ack{{joined: func(seq uint64) bool { return seq > had || lacked[seq] }}}
			if c.live(0).has(s) {
				c.links[[2]int{k, s}] = append(c.links[[2]int{k, s}], ack{seq: c.arrived[k], digest: m.Digest(2, 0)})
			}
		}
		return
	}
	for j := range c.layout[1] {
		for c.live(1).has(j) && c.arrived[j] < c.sent[donor] { // else a rendezvous may be under way, and the donor declines
			if k := c.server(j); c.sent[k] <= c.arrived[j] {
				c.send(k)
			}
			c.arrive(j, false)
		}
		c.complete(j, c.sent[donor])
	}
	c.hearAll(first(c.layout[1]), only(donor))
	if m.Restore(c.senders[donor].AppendState(nil)) != nil {
		panic("no state")
	}
	c.senders[k], c.sent[k], c.verdicts[k], c.fresh = m, c.sent[donor], nil, k
	for j := range c.layout[1] {
		c.links[[2]int{j, k}] = nil // what it is told before it has the state is lost
		c.pending = append(c.pending, func() {
			if c.live(1).has(j) {
				for s := range c.layout[0] {
					if in := c.receivers[j].incoming(2, 0); c.live(0).has(s) && in.seq > 0 {
						c.links[[2]int{j, s}] = append(c.links[[2]int{j, s}], ack{seq: in.seq, digest: in.digest})
					}
				}
			}
		})
	}
	for s := range c.layout[0] {
		if s != k && c.live(0).has(s) {
			c.pending = append(c.pending, func() {
				c.senders[s].Came(0, k, nil, &c.verdicts[s])
				if k < len(c.cover) && c.cover[k] == s {
					c.cover[k] = k
				}
			})
		}
	}
	c.rng.Shuffle(len(c.pending), func(a, b int) { c.pending[a], c.pending[b] = c.pending[b], c.pending[a] })
}

// step performs one random event.
func (c *clinic) step() {
	switch n := c.rng.IntN(6); {
	case n == 0:
		if k := c.rng.IntN(c.layout[0]); k != c.fresh && c.sent[k] < c.limit {
			c.send(k)
		}
	case n == 1:
		c.arrive(c.rng.IntN(c.layout[1]), c.rng.IntN(3) == 0)
	case n == 2:
		c.complete(c.rng.IntN(c.layout[1]), uint64(c.rng.IntN(c.total+1)))
	case n == 3 && len(c.pending) > 0:
		c.pending[0]()
		if c.pending = c.pending[1:]; len(c.pending) == 0 {
			c.fresh = -1
		}
	default:
		c.hear(c.rng.IntN(c.layout[1]), c.rng.IntN(c.layout[0]))
	}
}

// joining tells whether some process has yet to hear of a replacement.
func (c *clinic) joining() bool {
	for _, l := range c.links {
		if slices.ContainsFunc(l, func(a ack) bool { return a.joined != nil }) { //banyan:maporder any
			return true
		}
	}
	return len(c.pending) > 0
}

// settle performs all possible events, until all processes are told.
func (c *clinic) settle() {
	for c.joining() {
		c.step()
	}
	for k := range c.layout[0] {
		for c.send(k) {
		}
	}
	for j := range c.layout[1] {
		for range c.total {
			c.arrive(j, c.rng.IntN(3) == 0)
		}
		c.complete(j, uint64(c.total))
	}
	c.model.settle()
}

// Processes die and are replaced, at either end. Correct ones aren't accused, nothing is kept
// for ever, and a sender that is wrong when all have been replaced is found as in a job without
// deaths.
func TestHeals(t *testing.T) {
	heals, found := 0, 0
	for seed := range uint64(4000) {
		rng := rand.New(rand.NewPCG(seed, 5))
		degrees := []int{2 + rng.IntN(3), 2 + rng.IntN(3)}
		if seed%2 == 0 {
			degrees[1] = degrees[0]
		}
		total := 20 + rng.IntN(20)
		culprit, seq := -1, uint64(total-rng.IntN(5))
		if seed%4 == 0 {
			culprit = rng.IntN(degrees[0])
		}
		c := newClinic(rng, degrees, total, wrong(culprit, seq))
		c.large = func(n uint64) bool { return (n*2654435761+seed)>>7%3 == 0 }
		c.limit = seq - 1
		for range 1 + rng.IntN(6) {
			rank := rng.IntN(2)
			place := rng.IntN(degrees[rank])
			donor := (place + 1 + rng.IntN(degrees[rank]-1)) % degrees[rank]
			for n := rng.IntN(100); n > 0 || c.joining(); n-- {
				c.step()
			}
			c.end(rank, place)
			for range rng.IntN(100) {
				c.step()
			}
			c.heal(rank, place, donor)
			heals++
		}
		c.settle()
		if err := c.check(culprit, seq); err != nil {
			t.Fatalf("seed %d, degrees %v, %d messages, culprit %d of %d: %v", seed, degrees, total, culprit, seq, err)
		}
		if culprit >= 0 {
			found++
		}
		for s, m := range c.senders {
			if digests, rendezvous := m.Kept(); culprit < 0 && digests+rendezvous > 0 {
				t.Fatalf("seed %d: sender %d keeps %d digests and %d rendezvous; degrees %v sent %v arrived %v cover %v", seed, s, digests, rendezvous, degrees, c.sent, c.arrived, c.cover)
			}
		}
	}
	t.Logf("%d heals, %d found", heals, found)
	if heals < 4000 || found < 500 {
		t.Errorf("only %d heals, and %d found", heals, found)
	}
}
