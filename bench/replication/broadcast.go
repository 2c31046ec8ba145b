package replication

import (
	"context"
	"errors"
	"fmt"

	"banyan/bench/peers"
	"banyan/internal/job/env"
	"banyan/mpi"
)

// Broadcast is how long broadcasts over so many processes take, replicas or not.
type Broadcast struct {
	Bytes, Procs int
	// Times are nanoseconds a broadcast. Trees is the time of ranks with replicas, by plain trees
	// over replication. Corrected is the time of as many ranks as those have processes, by
	// corrected trees.
	Trees, Corrected peers.Spread
	// Ratio is that of Corrected to Trees in the same round.
	Ratio peers.Spread
}

// BroadcastSizes are sizes of broadcasts that go over corrected trees.
func BroadcastSizes() []int { return []int{8, 1 << 10, 8 << 10, 32 << 10} }

// uncorrected is the largest number of ranks whose broadcasts don't use corrected trees
// (internal/mpi/comm).
const uncorrected = 4

var errProcs = errors.New("broadcast: want more than 4 processes, as of --ranks 4 with 2 replicas")

// broadcastTurns is how many broadcasts are measured at once.
const broadcastTurns = 2000

// Broadcasts measures, by real runs on the same cores, whether replicated jobs should broadcast
// by one corrected tree over all processes. No such broadcast is built. A job of ranks·replicas
// ranks without replicas takes less for its corrected broadcast, as it keeps no copies for
// others, and needs no agreement on which replica of the root begins.
//
// Both jobs are told that there is a core for each process: jobs without replicas that share
// cores broadcast from the root to all.
func (b *Bench) Broadcasts(ctx context.Context, sizes []int) ([]Broadcast, error) {
	procs := b.Ranks * b.Replicas
	if procs <= uncorrected {
		return nil, errProcs
	}
	var rows []Broadcast
	for _, size := range sizes {
		rows = append(rows, Broadcast{Bytes: size, Procs: procs})
	}
	times := make([]struct{ trees, corrected, ratio []float64 }, len(sizes))
	turns := b.turns(broadcastTurns)
	for round := range b.Rounds {
		for i, size := range sizes {
			var ns [2]float64
			for k := range ns {
				s, ranks := Parallel, b.Ranks
				which := (k + round) % 2
				if which == 1 {
					s, ranks = Alone, procs
				}
				all, err := b.timed(ctx, s, ranks, nil, b.broadcaster(), size, turns)
				if err != nil {
					return nil, fmt.Errorf("broadcasts of %d bytes, %v: %w", size, s, err)
				}
				ns[which] = all / float64(turns)
				b.progress()
			}
			t := &times[i]
			t.trees, t.corrected, t.ratio = append(t.trees, ns[0]), append(t.corrected, ns[1]), append(t.ratio, ns[1]/ns[0])
		}
	}
	for i, t := range times {
		rows[i].Trees, rows[i].Corrected, rows[i].Ratio = peers.SpreadOf(t.trees), peers.SpreadOf(t.corrected), peers.SpreadOf(t.ratio)
	}
	return rows, nil
}

// broadcaster is the program.
func (b *Bench) broadcaster() []string {
	return append(append([]string{"env", env.Entry(env.Cores, b.Ranks*b.Replicas)}, b.Role...), roleBroadcast)
}

// broadcastRole broadcasts from each rank in turn: the next rank begins when it has the broadcast
// before.
func broadcastRole(w *mpi.Comm, dir string, size, turns int) error {
	data := make([]byte, size)
	return tellTime(w, dir, func(n int) error {
		for i := range n {
			if err := mpi.Bcast(w, data, i%w.Size()); err != nil {
				return err
			}
		}
		return w.Barrier()
	}, turns)
}
