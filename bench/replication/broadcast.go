package replication

import (
	"context"
	"fmt"

	"banyan/bench/peers"
	"banyan/mpi"
)

// Broadcast is what broadcasts over so many processes take, replicas or not.
type Broadcast struct {
	Bytes, Procs int
	// Nanoseconds a broadcast: Trees is that of ranks with replicas, by plain trees over replication,
	// Corrected that of as many ranks as those are processes, by corrected trees.
	Trees, Corrected peers.Spread
	// Ratio is that of Corrected to Trees in the same round.
	Ratio peers.Spread
}

// BroadcastSizes are those up to which trees are corrected.
func BroadcastSizes() []int { return []int{8, 1 << 10, 8 << 10, 64 << 10} }

// broadcastTurns is how many broadcasts are measured at once.
const broadcastTurns = 2000

// Broadcasts measures, by real runs on the same cores, whether replicated jobs should broadcast by one
// corrected tree over all processes. No such broadcast is built: what a job of ranks·replicas ranks without
// replicas takes for its corrected broadcast is less, as it keeps no copies for others, and needs no agreement
// of which replica of the root begins.
func (b *Bench) Broadcasts(ctx context.Context, sizes []int) ([]Broadcast, error) {
	program := append(b.Role[:len(b.Role):len(b.Role)], roleBroadcast)
	procs := b.Ranks * b.Replicas
	var rows []Broadcast
	for _, size := range sizes {
		rows = append(rows, Broadcast{Bytes: size, Procs: procs})
	}
	times := make([]struct{ trees, corrected, ratio []float64 }, len(sizes))
	for round := range b.Rounds {
		for i, size := range sizes {
			var ns [2]float64
			for k := range ns {
				s, ranks := Parallel, b.Ranks
				which := (k + round) % 2
				if which == 1 {
					s, ranks = Alone, procs
				}
				all, err := b.timed(ctx, s, ranks, nil, program, size, broadcastTurns)
				if err != nil {
					return nil, fmt.Errorf("broadcasts of %d bytes, %v: %w", size, s, err)
				}
				ns[which] = all / broadcastTurns
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

// broadcastRole broadcasts from each rank in turn: who is next has the broadcast before.
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
