// Package bench measures message passing as a program sees it: latency and
// bandwidth of a ping-pong, and broadcasts and reductions, over every transport,
// with and without replicas.
//
// # How it measures
//
// A round is one job of each configuration, so that all configurations meet the machine in the
// same state; the figure is the median of the rounds, beside their quartiles. Collectives are
// timed as loops with a barrier inside, and the barrier's own time is a row of its own: a bare
// broadcast loop would time the scheduler. Allocations are those of rank 0's whole process, heap
// objects for each operation.
//
// # Limits
//
// With more processes than cores the figures contain the scheduler's work: a job of two ranks
// with two replicas on two cores is an example. Ratios within one run mean more than the figures.
package bench

import (
	"fmt"
	"runtime"
	"time"

	"banyan/mpi"
)

// Pattern is something to measure.
type Pattern struct {
	Name  string
	Ranks int // it needs
	Sizes []int
	// Once is one operation on a buffer of one of the sizes.
	Once func(w *mpi.Comm, buf []byte) error
	// PerOperation is the divisor of one operation's time: 2 for a ping-pong, whose figure is one
	// way.
	PerOperation int
}

// Patterns are all that is measured.
var Patterns = []Pattern{
	{"pingpong", 2, []int{8, 1 << 10, 64 << 10, 1 << 20}, pingPong, 2},
	{"barrier", 2, []int{0}, barrier, 1},
	{"barrier", 4, []int{0}, barrier, 1},
	{"bcast+barrier", 4, []int{8, 64 << 10}, bcast, 1},
	{"allreduce+barrier", 4, []int{8, 64 << 10}, allreduce, 1},
}

func pingPong(w *mpi.Comm, buf []byte) error {
	if w.Rank() == 0 {
		if err := mpi.Send(w, buf, 1, 0); err != nil {
			return err
		}
		_, err := mpi.Recv(w, buf, 1, 0)
		return err
	}
	if _, err := mpi.Recv(w, buf, 0, 0); err != nil {
		return err
	}
	return mpi.Send(w, buf, 0, 0)
}

func barrier(w *mpi.Comm, _ []byte) error { return w.Barrier() }

func bcast(w *mpi.Comm, buf []byte) error {
	if err := mpi.Bcast(w, buf, 0); err != nil {
		return err
	}
	return w.Barrier()
}

func allreduce(w *mpi.Comm, buf []byte) error {
	if err := mpi.Allreduce(w, buf, buf, mpi.BitOr); err != nil {
		return err
	}
	return w.Barrier()
}

// Sample is one measurement of a pattern in one job.
type Sample struct {
	Pattern     string  `json:"pattern"`
	Ranks       int     `json:"ranks"`
	Size        int     `json:"size"`
	Nanoseconds float64 `json:"ns"`     // for each operation
	Allocs      float64 `json:"allocs"` // heap objects for each operation
}

// DefaultOperations is how often small messages are repeated in one job, if nobody says otherwise.
const DefaultOperations = 3000

// Operations is how often a pattern is repeated in one job, of which most is the bound. The size
// fixes it, since replicas that decided by what they measure would decide differently.
func Operations(size, most int) int { return min(most, max(30, (32<<20)/(size+1))) }

// Measure runs in each rank of a job and measures the patterns for its number of ranks, with most
// operations of each.
func Measure(w *mpi.Comm, most int) ([]Sample, error) {
	var samples []Sample
	for _, p := range Patterns {
		if p.Ranks != w.Size() {
			continue
		}
		for _, size := range p.Sizes {
			s, err := p.measure(w, size, most)
			if err != nil {
				return nil, fmt.Errorf("%s of %d bytes: %w", p.Name, size, err)
			}
			samples = append(samples, s)
		}
	}
	return samples, nil
}

func (p Pattern) measure(w *mpi.Comm, size, most int) (Sample, error) {
	buf := make([]byte, size)
	n := Operations(size, most)
	for range n / 10 { // warm up
		if err := p.Once(w, buf); err != nil {
			return Sample{}, err
		}
	}
	if err := w.Barrier(); err != nil {
		return Sample{}, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	for range n {
		if err := p.Once(w, buf); err != nil {
			return Sample{}, err
		}
	}
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	return Sample{
		Pattern: p.Name, Ranks: w.Size(), Size: size,
		Nanoseconds: float64(took.Nanoseconds()) / float64(n*p.PerOperation),
		Allocs:      float64(after.Mallocs-before.Mallocs) / float64(n),
	}, nil
}
