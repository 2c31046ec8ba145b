package broadcast

import (
	"math/rand/v2"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/topology"
)

// TestReceivers: the receivers of a gossip are those to which its machines send.
func TestReceivers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	for range 200 {
		procs := 2 + random.IntN([]int{4, 100, 1 << 16}[random.IntN(3)])
		gossip := Gossip{Until: proto.Never, Seed: random.Uint64()}
		tree, err := topology.Binomial(procs, topology.Interleaved)
		if err != nil {
			t.Fatal(err)
		}
		c := Config{Tree: tree, Gossip: gossip}
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		receivers := gossip.Receivers(procs)
		for _, self := range []int{0, procs - 1, random.IntN(procs)} {
			var s State
			c.Start(&s, self)
			if self > 0 {
				c.Receive(&s, 0, KindGossip)
			}
			for n := range int32(100) {
				to, _, ok := c.SendReady(&s, 0)
				if got := receivers.Of(int32(self), n+1); !ok || got != int32(to) {
					t.Fatalf("%d of %d, seed %d: message %d goes to %d, the machine sends to %d (%v)", self, procs, gossip.Seed, n+1, got, to, ok)
				}
			}
		}
	}
}
