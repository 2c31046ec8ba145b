package process

import (
	"fmt"
	"slices"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
)

// A log or a state that arrives with a wrong byte makes no replica: its replacement fails, the
// job goes on, and another replacement joins. (A replacement to which more was promised than
// comes is ended by a timeout of the launcher.)
func TestDamagedTransfers(t *testing.T) {
	seeds := 60
	if testing.Short() {
		seeds = 20
	}
	damaged := map[wire.Kind]int{}
	healed := 0
	for seed := range uint64(seeds) {
		layout := layout.Uniform(2, 2+int(seed%2))
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newHealingJob(t, seed, layout, false, func(r proto.Rank) *courier {
				return &courier{rank: int(r), ranks: 2, rounds: 40, setUp: 2, value: uint64(r)}
			})
			hurt := map[*healingNode]bool{}
			w.damage = func(to *healingNode, pk *packet) {
				if k := pk.header.Kind; (k == wire.KindLog || k == wire.KindState) && len(pk.payload) > 0 && w.rng.IntN(8) == 0 {
					pk.payload[w.rng.IntN(len(pk.payload))] ^= 1 << w.rng.IntN(8)
					hurt[to] = true
					damaged[k]++
				}
			}
			waited := 0
			w.stop = func() bool {
				i := slices.IndexFunc(w.fresh, func(n *healingNode) bool { return hurt[n] })
				if waited++; i < 0 {
					waited = 0
				} else if waited > 20_000 {
					w.crash(w.fresh[i])
				}
				return false
			}
			w.run(3, 300)
			for n := range hurt {
				if n.committed {
					t.Errorf("%v is a replica, with what isn't its donor's state", n)
				}
			}
			healed += w.healed
		})
	}
	t.Logf("%d logs and %d states were damaged, %d replacements healed", damaged[wire.KindLog], damaged[wire.KindState], healed)
	if damaged[wire.KindLog] < seeds/3 || damaged[wire.KindState] < seeds/6 || healed < seeds/2 {
		t.Error("that is too few")
	}
}
