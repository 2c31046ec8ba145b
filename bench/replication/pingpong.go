package replication

import (
	"context"
	"errors"
	"fmt"
	"os"

	"banyan/bench/peers"
	"banyan/bench/processes"
	"banyan/internal/job/env"
	"banyan/mpi"
)

// Sizes are those of figure 7 in bytes, on both sides of the eager limit.
func Sizes() []int {
	return []int{1, 8, 64, 512, 4 << 10, 16 << 10, 64 << 10, 128 << 10, 1 << 20, 4 << 20}
}

// Turns is how often a message of so many bytes goes to and fro.
func Turns(bytes int) int { return max(100, 10000*(32<<10)/(32<<10+bytes)) }

// turns is how many turns are measured of a program that takes so many unless the bench is quick.
func (b *Bench) turns(all int) int {
	if b.Quick {
		return max(all/20, 10)
	}
	return all
}

// PingPong is what was measured of one size in one language.
type PingPong struct {
	Language string
	Bytes    int
	// Times are nanoseconds one way, by Setting.
	Times [settings]peers.Spread
	// Ratios are those to Beside in the same round, by Setting.
	Ratios [settings]peers.Spread
}

// PingPongs measures every size in every language and setting.
func (b *Bench) PingPongs(ctx context.Context, languages []Language, sizes []int) ([]PingPong, error) {
	var rows []PingPong
	var times []*series
	for _, l := range languages {
		for _, size := range sizes {
			rows, times = append(rows, PingPong{Language: l.Name, Bytes: size}), append(times, new(series))
		}
	}
	for round := range b.Rounds {
		for i := range rows {
			l, size := languages[i/len(sizes)], rows[i].Bytes
			order := b.inRound(Alone, round)
			if b.enough(Alone, times[i]) {
				b.skip(len(order))
				continue
			}
			samples, err := b.together(PartPingPong, fmt.Sprintf("ping-pong in %s, %d bytes, round %d", l.Name, size, round), len(order), func() (all []Sample, err error) {
				for _, s := range order {
					ns, err := b.pingPong(ctx, s, l, size)
					if err != nil {
						return all, fmt.Errorf("ping-pong in %s of %d bytes, %v: %w", l.Name, size, s, err)
					}
					all = append(all, Sample{Part: PartPingPong, Name: l.Name, Bytes: size, Ranks: 2, Replicas: b.Replicas, Setting: s, Round: round, Seconds: ns / 1e9})
					b.progress()
				}
				return all, nil
			})
			if err != nil {
				return nil, err
			}
			for _, s := range samples {
				times[i].add(s.Setting, s.Seconds*1e9)
			}
		}
	}
	for i := range rows {
		rows[i].Times, rows[i].Ratios = times[i].spreads()
	}
	return rows, nil
}

// pingPong measures the nanoseconds of one way, until the last of all jobs' or replicas' messages
// has arrived. No job has the lane: this is what replication costs, where package peers measures
// what the lane saves.
func (b *Bench) pingPong(ctx context.Context, s Setting, l Language, size int) (float64, error) {
	turns := b.turns(Turns(size))
	program := append([]string{"env", env.Entry(env.Lane, env.LaneOff)}, l.Program...)
	ns, err := b.timed(ctx, s, 2, nil, program, size, turns)
	return ns / float64(2*turns), err
}

// timed runs a program that takes the arguments DIR SIZE TURNS, in which rank 0 waits to be told
// to go, and says when it began and ended (programs/pingpong.c). It measures the nanoseconds from
// the first begin to the last end.
func (b *Bench) timed(ctx context.Context, s Setting, ranks int, flags, program []string, size, turns int) (float64, error) {
	dir, err := os.MkdirTemp(b.Dir, "timed-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	r, err := start(ctx, b.jobs(s, ranks, flags, append(program[:len(program):len(program)], dir, fmt.Sprint(size), fmt.Sprint(turns))...))
	if err != nil {
		return 0, err
	}
	speakers := b.Replicas
	if s == Alone {
		speakers = 1
	}
	if _, err := r.letGo(dir, speakers, processes.Monotonic); err != nil {
		r.stop()
		return 0, err
	}
	if err := r.wait(); err != nil {
		return 0, err
	}
	all, err := said(dir, "time")
	if err != nil || len(all) != speakers {
		return 0, errors.Join(err, fmt.Errorf("%d of %d processes told their time", len(all), speakers))
	}
	begin, end := all[0].a, all[0].b
	for _, n := range all {
		begin, end = min(begin, n.a), max(end, n.b)
	}
	return float64(end - begin), nil
}

// pingPongRole is the program in Go, as programs/pingpong.c.
func pingPongRole(w *mpi.Comm, dir string, size, turns int) error {
	out, in := make([]byte, size), make([]byte, size)
	play := func(n int) error {
		for range n {
			switch w.Rank() {
			case 0:
				if err := mpi.Send(w, out, 1, 1); err != nil {
					return err
				}
				if _, err := mpi.Recv(w, in, 1, 1); err != nil {
					return err
				}
			case 1:
				if _, err := mpi.Recv(w, in, 0, 1); err != nil {
					return err
				}
				if err := mpi.Send(w, out, 0, 1); err != nil {
					return err
				}
			}
		}
		return w.Barrier()
	}
	return tellTime(w, dir, play, turns)
}

// tellTime measures so many turns, after a tenth of them as a warm-up.
func tellTime(w *mpi.Comm, dir string, play func(turns int) error, turns int) error {
	if w.Rank() == 0 {
		if _, err := ready(dir); err != nil {
			return err
		}
	}
	if err := w.Barrier(); err != nil {
		return err
	}
	if err := play(turns / 10); err != nil {
		return err
	}
	begin := processes.Monotonic()
	if err := play(turns); err != nil || w.Rank() != 0 {
		return err
	}
	return say(dir, "time", begin, processes.Monotonic())
}
