package replication

import (
	"context"
	"fmt"
	"time"

	"banyan/bench/peers"
	"banyan/internal/job/launcher"
	"banyan/internal/study/ratio"
	"banyan/mpi"
)

// Order is what leader order costs a program that asks timing all the time.
type Order struct {
	Name  string
	Ranks int
	Bytes int // of a message
	// Nanoseconds of a message one way, or of a task: of as many jobs without replicas side by
	// side; in free order, where replicas of the program can run in that; in leader order.
	Beside, Free, Leader peers.Spread
	// OverFree and OverBeside are the ratios of leader order's times to the others in the same
	// round.
	OverFree, OverBeside peers.Spread
}

// orders are the programs, with how many turns they take.
var orders = []struct {
	name, role  string
	ranks       int
	bytes       int // of a message
	turns, each int // and what a turn is counted for
	free        bool
}{
	{"ping-pong, any source", roleAnySource, 2, 8, 5000, 2, true},
	{"figure 2, named source", roleNamed, 2, 8, 5000, 1, true},
	{"figure 2, any source", roleAnonymous, 2, 8, 5000, 1, true},
	{"figure 2, named source", roleNamed, 2, 32 << 10, 2000, 1, true},
	{"figure 2, any source", roleAnonymous, 2, 32 << 10, 2000, 1, true},
	{"task farm", roleFarm, 4, 8, 3000, 1, false},
	{"task farm, tasks that wait", roleWaitingFarm, 4, 8, 1000, 1, false},
}

// Orders measures a ping-pong whose receives are from any source; what the paper's figure 2 draws,
// a message for a receive that was posted before, which names its source or doesn't; and farms
// whose master serves the worker whose result comes first.
func (b *Bench) Orders(ctx context.Context) ([]Order, error) {
	var rows []Order
	for _, o := range orders {
		row, turns := Order{Name: o.name, Ranks: o.ranks, Bytes: o.bytes}, b.turns(o.turns)
		var beside, free, leader, overFree, overBeside []float64
		for round := range b.Rounds {
			measure := func(s Setting, flags ...string) (float64, error) {
				defer b.progress()
				ns, err := b.timed(ctx, s, o.ranks, flags, append(b.Role[:len(b.Role):len(b.Role)], o.role), o.bytes, turns)
				if err != nil {
					err = fmt.Errorf("%s, %v %v: %w", o.name, s, flags, err)
				}
				return ns / float64(o.each*turns), err
			}
			var now [3]float64
			for _, i := range ratio.InTurn([]int{0, 1, 2}, round) {
				var err error
				switch {
				case i == 0:
					now[i], err = measure(Beside)
				case i == 1 && o.free:
					now[i], err = measure(Parallel)
				case i == 2:
					now[i], err = measure(Parallel, "--order", launcher.OrderLeader)
				}
				if err != nil {
					return rows, err
				}
			}
			beside, leader, overBeside = append(beside, now[0]), append(leader, now[2]), append(overBeside, now[2]/now[0])
			if o.free {
				free, overFree = append(free, now[1]), append(overFree, now[2]/now[1])
			}
		}
		row.Beside, row.Free, row.Leader = peers.SpreadOf(beside), peers.SpreadOf(free), peers.SpreadOf(leader)
		row.OverFree, row.OverBeside = peers.SpreadOf(overFree), peers.SpreadOf(overBeside)
		rows = append(rows, row)
	}
	return rows, nil
}

// OrderJobs is how many jobs, or jobs side by side, Orders runs.
func (b *Bench) OrderJobs() (n int) {
	for _, o := range orders {
		if n += 2 * b.Rounds; o.free {
			n += b.Rounds
		}
	}
	return n
}

// anySourceRole is pingPongRole with receives from any source.
func anySourceRole(w *mpi.Comm, dir string, size, turns int) error {
	out, in := make([]byte, size), make([]byte, size)
	play := func(n int) error {
		for range n {
			if w.Rank() == 0 {
				if err := mpi.Send(w, out, 1, 1); err != nil {
					return err
				}
			}
			if _, err := mpi.Recv(w, in, mpi.AnySource, 1); err != nil {
				return err
			}
			if w.Rank() == 1 {
				if err := mpi.Send(w, out, 0, 1); err != nil {
					return err
				}
			}
		}
		return w.Barrier()
	}
	return tellTime(w, dir, play, turns)
}

// namedRole and anonymousRole have rank 0 post a receive, from rank 1 or from any source, and tell
// rank 1 to send. With a leader a replica that follows posts a receive from any source when it
// hears what the leader's has taken; by then the message is there, and is copied once more.
func namedRole(w *mpi.Comm, dir string, size, turns int) error {
	return receivesRole(w, dir, size, turns, 1)
}

func anonymousRole(w *mpi.Comm, dir string, size, turns int) error {
	return receivesRole(w, dir, size, turns, mpi.AnySource)
}

func receivesRole(w *mpi.Comm, dir string, size, turns, source int) error {
	message, word := make([]byte, size), make([]byte, 1)
	return tellTime(w, dir, func(n int) error {
		for range n {
			if w.Rank() == 1 {
				if _, err := mpi.Recv(w, word, 0, 1); err != nil {
					return err
				}
				if err := mpi.Send(w, message, 0, 2); err != nil {
					return err
				}
				continue
			}
			r, err := mpi.Irecv(w, message, source, 2)
			if err != nil {
				return err
			}
			if err := mpi.Send(w, word, 1, 1); err != nil {
				return err
			}
			if _, err := r.Wait(); err != nil {
				return err
			}
		}
		return w.Barrier()
	}, turns)
}

// farmRole is a master that gives the next task to the worker whose result came first, and workers
// for whom tasks take 20 to 180 µs of a core at 3 GHz, more or less. With fewer cores than
// processes this measures mostly how an order that fitted the leader's workers fits other ones
// (decision 132).
func farmRole(w *mpi.Comm, dir string, _, tasks int) error { return farm(w, dir, tasks, compute) }

// waitingFarmRole is a farm whose tasks wait for 0.2 to 1.8 ms, and need no core: as if each worker
// had one.
func waitingFarmRole(w *mpi.Comm, dir string, _, tasks int) error {
	return farm(w, dir, tasks, func(task int64) int64 {
		time.Sleep(time.Duration(effort(task)) * 200 * time.Microsecond)
		return task
	})
}

// effort is how much there is to do for a task.
func effort(task int64) int64 { return 1 + task*7919%9 }

func compute(task int64) int64 {
	x := uint64(task)
	for range 20000 * effort(task) {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return int64(x)
}

func farm(w *mpi.Comm, dir string, tasks int, work func(task int64) int64) error {
	return tellTime(w, dir, func(n int) error {
		if w.Rank() == 0 {
			if err := serve(w, n); err != nil {
				return err
			}
		} else if err := toil(w, work); err != nil {
			return err
		}
		return w.Barrier()
	}, tasks)
}

func serve(w *mpi.Comm, tasks int) error {
	given, task := 0, make([]int64, 1)
	give := func(to int) error {
		if task[0] = -1; given < tasks {
			task[0] = int64(given)
		}
		given++
		return mpi.Send(w, task, to, 1)
	}
	for worker := 1; worker < w.Size(); worker++ {
		if err := give(worker); err != nil {
			return err
		}
	}
	result := make([]int64, 1)
	for range tasks {
		s, err := mpi.Recv(w, result, mpi.AnySource, 2)
		if err != nil {
			return err
		}
		if err := give(s.Source); err != nil {
			return err
		}
	}
	return nil
}

func toil(w *mpi.Comm, work func(task int64) int64) error {
	task := make([]int64, 1)
	for {
		if _, err := mpi.Recv(w, task, 0, 1); err != nil || task[0] < 0 {
			return err
		}
		if err := mpi.Send(w, []int64{work(task[0])}, 0, 2); err != nil {
			return err
		}
	}
}
