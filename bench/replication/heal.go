package replication

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"banyan/bench/peers"
	"banyan/bench/processes"
	"banyan/mpi"
)

// A healed stream is that of the failover, slower, with safe points and a state at rank 0. It has
// so many numbers that healing surely ends within it.
const (
	healInterval = time.Millisecond
	healLead     = 100 * time.Millisecond // from the word to go to the first number
	earliestHeal = healLead + 200*time.Millisecond
	latestHeal   = healLead + 400*time.Millisecond
	// leastHealRate is how many bytes are transferred at least in a healInterval.
	leastHealRate = 100_000
)

func healNumbers(state int) int { return 3000 + state/leastHealRate }

// Healing is how long it took to replace a dead replica, and how long that held up the others.
type Healing struct {
	State int // bytes
	Heals int
	// Times are milliseconds. Pause is the longest time that the receivers of the rank waited for
	// its next message between the failover and the replacement's first message; Until is the
	// time from the kill to that message.
	Pause, Until peers.Spread
}

// Healings kills a replica of a rank with a state of each size, so many times, one a job.
func (b *Bench) Healings(ctx context.Context, states []int, heals int, seed uint64) ([]Healing, error) {
	var rows []Healing
	for _, state := range states {
		random := rand.New(rand.NewPCG(seed, 2))
		var pauses, untils []float64
		for range heals {
			after := earliestHeal + time.Duration(random.Int64N(int64(latestHeal-earliestHeal)))
			pause, until, err := b.heal(ctx, state, random.IntN(b.Replicas), after)
			if err != nil {
				return nil, fmt.Errorf("healing with a state of %d bytes: %w", state, err)
			}
			pauses, untils = append(pauses, float64(pause)/1e6), append(untils, float64(until)/1e6)
			b.progress()
		}
		rows = append(rows, Healing{state, heals, peers.SpreadOf(pauses), peers.SpreadOf(untils)})
	}
	return rows, nil
}

// heal kills a replica of rank 0 some time after the word to go.
func (b *Bench) heal(ctx context.Context, state, victim int, after time.Duration) (pause, until time.Duration, err error) {
	dir, err := os.MkdirTemp(b.Dir, "heal-")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir)
	r, err := start(ctx, b.jobs(Parallel, 2, []string{"--heal"},
		append(b.Role[:len(b.Role):len(b.Role)], roleHeal, dir, fmt.Sprint(state))...))
	if err != nil {
		return 0, 0, err
	}
	killed, err := r.kill(dir, b.Replicas, victim, healLead, after)
	if err := errors.Join(err, r.wait()); err != nil {
		r.stop()
		return 0, 0, err
	}
	lists := make([][]arrival, b.Replicas)
	for replica := range lists {
		if lists[replica], err = readArrivals(dir, 2*replica+1, healNumbers(state)); err != nil {
			return 0, 0, err
		}
	}
	if until, err = nextOf(lists[victim], victim, killed); err != nil {
		return 0, 0, err
	}
	for _, list := range lists {
		pause = max(pause, longestGap(list, killed, killed+int64(until)))
	}
	return pause, until, nil
}

// kill tells processes to begin and kills one of rank 0's some time later. It returns when, by the
// monotonic clock.
func (r *running) kill(dir string, replicas, victim int, lead, after time.Duration) (at int64, err error) {
	began := time.Now()
	senders, err := r.letGo(dir, replicas, func() int64 {
		began = time.Now()
		return processes.Monotonic() + int64(lead)
	})
	if err != nil {
		r.stop()
		return 0, err
	}
	for _, n := range senders {
		if n.process == 2*victim { // processes are numbered by replica, then rank
			time.Sleep(time.Until(began.Add(after)))
			at = processes.Monotonic()
			return at, unix.Kill(n.pid, unix.SIGKILL)
		}
	}
	r.stop()
	return 0, fmt.Errorf("replica %d of rank 0 isn't among the senders", victim)
}

var errNotHealed = errors.New("the replacement has sent nothing before the end of the job")

// nextOf is the time from a kill to the first message of the victim's replica slot that follows
// one of a substitute.
func nextOf(list []arrival, victim int, killed int64) (time.Duration, error) {
	substituted := false
	for _, a := range list {
		if a.Replica != int64(victim) {
			substituted = true
		} else if substituted {
			return time.Duration(a.At - killed), nil
		}
	}
	return 0, errNotHealed
}

// longestGap is the longest time between two messages. The first of them came after a kill, so
// the failover's pause isn't in it, and not after the replacement's first.
func longestGap(list []arrival, killed, healed int64) (gap time.Duration) {
	for i := 1; i < len(list); i++ {
		if at := list[i-1].At; at > killed && at <= healed {
			gap = max(gap, time.Duration(list[i].At-list[i-1].At))
		}
	}
	return gap
}

// healRole is a process of the healed stream.
func healRole(w *mpi.Comm, dir string, state int) error {
	numbers := healNumbers(state)
	if w.Rank() == 1 {
		if _, err := w.Safepoint(); err != nil {
			return err
		}
		return receiveStream(w, dir, numbers)
	}
	memory := make([]byte, state)
	for i := range memory {
		memory[i] = byte(i * i >> 8)
	}
	next := int64(0)
	if err := errors.Join(mpi.RegisterSlice(w, "memory", memory), mpi.Register(w, "next", &next)); err != nil {
		return err
	}
	start, err := ready(dir)
	if err != nil {
		return err
	}
	for next < int64(numbers) {
		if _, err := w.Safepoint(); err != nil {
			return err
		}
		if err := sendNumber(w, next, start, healInterval); err != nil {
			return err
		}
		next++
	}
	return nil
}
