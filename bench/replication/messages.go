package replication

import (
	"context"
	"path/filepath"
	"slices"

	"banyan/bench/instructions"
	"banyan/bench/peers"
)

// Messages are the instructions that a message sent and one received take together at one process
// (see package instructions), by Setting: Beside isn't counted, for it's what Alone is.
type Messages struct {
	Bytes  int
	Counts [settings]int
}

// Instructions counts those of messages of some sizes by the C library, whose programs are in bin.
func (b *Bench) Instructions(ctx context.Context, bin string, sizes []int) ([]Messages, error) {
	ours := peers.Libraries(bin)[0]
	mirror := ours
	mirror.Name = Mirror.String()
	mirror.Replicas = slices.Insert(slices.Clone(ours.Replicas), 1, "--protocol", Mirror.String())
	p, _, err := peers.Build(filepath.Clean(b.Dir), []peers.Library{ours, mirror})
	if err != nil {
		return nil, err
	}
	var rows []Messages
	for _, size := range sizes {
		row := Messages{Bytes: size}
		for _, s := range []Setting{Alone, Parallel, Mirror} {
			r := instructions.Row{Row: peers.Row{Kind: "latency", Bytes: size, Procs: 2}}
			library := 0
			if s != Alone {
				r.Replicas = b.Replicas
			}
			if s == Mirror {
				library = 1
			}
			c, _, err := instructions.Of(ctx, p, library, r)
			if err != nil {
				return nil, err
			}
			row.Counts[s] = c.Instructions
			b.progress()
		}
		rows = append(rows, row)
	}
	return rows, nil
}
