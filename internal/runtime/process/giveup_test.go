package process

import (
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
)

// A donor dies as soon as its replacement has joined, while others keep so much for that one that
// they ask it to give up. Not all have heard of either. The replacement may be the last of its rank
// and stays; one that hasn't joined ends.
func TestOnlyWhatHasNotJoinedGivesUp(t *testing.T) {
	const seeds = 120
	inVain, heeded := 0, 0
	for seed := range uint64(seeds) {
		layouts := []layout.Layout{layout.Uniform(2, 2), layout.Uniform(3, 2), layout.Partial([]int{2, 1, 3})}
		layout := layouts[seed%3]
		w := newHealingJob(t, seed, layout, false, func(r proto.Rank) *courier {
			return &courier{rank: int(r), ranks: layout.Ranks(), rounds: 12, value: uint64(r), named: true}
		})
		for _, n := range w.nodes {
			n.p.sends.retainLimit = 2000
		}
		w.limit, w.sent = 2000, newFrameSums()
		joined := 0
		w.stop = func() bool {
			for _, n := range w.fresh {
				if n.committed && joined == 0 {
					joined++
					w.crash(n.donor)
				}
			}
			return false
		}
		w.run(1, 150)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		heeded += w.givenUp
		if joined > 0 && w.givenUp == 0 && w.sent.count[wire.KindGiveUp] > 0 {
			inVain++
		}
	}
	t.Logf("%d replacements gave up; %d times those that had joined were asked to", heeded, inVain)
	if inVain < 5 || heeded < 5 {
		t.Error("that is too few")
	}
}
