package replication

import (
	"context"

	"banyan/bench/instructions"
	"banyan/bench/peers"
)

// Messages are the instructions that a message sent and one received take together at one process
// (see package instructions).
type Messages struct {
	Bytes int
	Alone int // without replicas
	// With the parallel protocol: at a replica that is behind the others of its rank, and at
	// one that is ahead and keeps what it sends for them.
	Behind, Ahead int
}

// Instructions counts those of messages of some sizes by the C library, whose programs are in bin. Not with
// mirror: jobs in which one process was stepped often didn't end, for a reason not found yet.
func (b *Bench) Instructions(ctx context.Context, bin string, sizes []int) ([]Messages, error) {
	ours := peers.Libraries(bin)[0]
	p, _, err := peers.Build(b.Dir, []peers.Library{ours})
	if err != nil {
		return nil, err
	}
	rows := make([]Messages, len(sizes))
	for i, size := range sizes {
		row := &rows[i]
		row.Bytes = size
		for _, x := range []struct {
			count    *int
			replicas int
			ahead    bool
		}{
			{&row.Alone, 1, false},
			{&row.Behind, b.Replicas, false},
			{&row.Ahead, b.Replicas, true},
		} {
			c, _, err := instructions.Of(ctx, p, 0, instructions.Row{Ahead: x.ahead,
				Row: peers.Row{Kind: "latency", Bytes: size, Procs: 2, Replicas: x.replicas}})
			if err != nil {
				return nil, err
			}
			*x.count = c.Instructions
			b.progress()
		}
	}
	return rows, nil
}
