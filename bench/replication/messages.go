package replication

import (
	"context"
	"fmt"
	"slices"

	"banyan/bench/instructions"
	"banyan/bench/peers"
	"banyan/internal/job/env"
)

// Messages are the instructions that sending one message and receiving one take together at one
// process (see package instructions).
type Messages struct {
	Bytes int
	Alone int // without replicas, and without the lane, which replicated jobs don't have
	Lane  int // without replicas, as such jobs run
	// Behind and Ahead are with the parallel protocol: at a replica that is behind the others of
	// its rank, and at one that is ahead and keeps what it sends for them.
	Behind, Ahead int
	Mirror        int
}

// CountedSizes are those of messages whose instructions are counted.
func CountedSizes() []int { return []int{8, 1024} }

// Instructions counts the instructions of messages of some sizes in the C library, whose programs
// are in bin.
func (b *Bench) Instructions(ctx context.Context, bin string, sizes []int) ([]Messages, error) {
	ours := peers.Libraries(bin)[0]
	lane := ours
	lane.Name = ByLane
	ours.Env = append(slices.Clone(ours.Env), env.Entry(env.Lane, env.LaneOff))
	mirror := ours
	mirror.Name = Mirror.String()
	mirror.Replicas = slices.Insert(slices.Clone(ours.Replicas), 1, "--protocol", Mirror.String())
	p, _, err := peers.Build(b.Dir, []peers.Library{ours, mirror, lane})
	if err != nil {
		return nil, err
	}
	rows := make([]Messages, len(sizes))
	for i, size := range sizes {
		row := &rows[i]
		row.Bytes = size
		for _, x := range []struct {
			count             *int
			library, replicas int
			ahead             bool
			setting           Setting
			name              string
		}{
			{&row.Alone, 0, 1, false, Alone, Behind},
			{&row.Lane, 2, 1, false, Alone, ByLane},
			{&row.Behind, 0, b.Replicas, false, Parallel, Behind},
			{&row.Ahead, 0, b.Replicas, true, Parallel, Ahead},
			{&row.Mirror, 1, b.Replicas, false, Mirror, Behind},
		} {
			samples, err := b.together(PartInstructions, fmt.Sprintf("instructions, %d bytes, %v, %s", size, x.setting, x.name), 1, func() ([]Sample, error) {
				c, _, err := instructions.Of(ctx, p, x.library, instructions.Row{Ahead: x.ahead,
					Row: peers.Row{Kind: "latency", Bytes: size, Procs: 2, Replicas: x.replicas}}, func() {})
				if err != nil {
					return nil, err
				}
				b.progress()
				return []Sample{{Part: PartInstructions, Name: x.name, Bytes: size, Ranks: 2, Replicas: b.Replicas, Setting: x.setting, Instructions: c.Instructions}}, nil
			})
			if err != nil {
				return nil, err
			}
			for _, s := range samples {
				*x.count = s.Instructions
			}
		}
	}
	return rows, nil
}
