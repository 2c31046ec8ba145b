// Masterworker gives tasks to any worker that is free. Replication in free order can't run such a
// program as it is, leader order can:
//
//	banyan run -n 4 masterworker
//	banyan run -n 4 --replicas 2 --order leader masterworker
//	banyan run -n 4 --replicas 2 --order leader --heal masterworker
//	banyan check -n 4 masterworker            finds the problem
//	banyan check -n 4 masterworker -fixed     finds nothing
//
// The master sends the next task to the rank whose result came first. Replicas of the master
// see results in different orders, so they send tasks to different workers, and none of them
// can stand in for another. With -fixed, task t belongs to worker 1 + t mod (n-1): results are
// still received in the order in which they come, and nothing that is sent depends on it.
// That balances the work badly where tasks take different times; docs/guide/check.md has other
// ways.
//
// Both kinds of ranks say what their state is, and where it is complete: before each message that
// they wait for. So dead replicas can be replaced.
package main

import (
	"flag"
	"fmt"
	"math"

	"banyan/mpi"
)

const (
	tagTask = iota
	tagResult
)

// none is the task that tells a worker to end.
const none = -1

func main() {
	fixed := flag.Bool("fixed", false, "give each task to a worker that doesn't depend on the timing")
	tasks := flag.Int("tasks", 200, "number of tasks")
	flag.Parse()
	mpi.Main(func(world *mpi.Comm) error {
		switch {
		case world.Size() < 2:
			return fmt.Errorf("there is no worker: run it with -n 2 or more")
		case world.Rank() > 0:
			return work(world)
		}
		sum, err := master(world, *tasks, *fixed)
		if err == nil {
			fmt.Printf("%d tasks, sum %.6f\n", *tasks, sum)
		}
		return err
	})
}

// master hands out the tasks and adds up the results in the order of the tasks, so that
// rounding doesn't depend on the timing.
func master(world *mpi.Comm, tasks int, fixed bool) (float64, error) {
	workers := world.Size() - 1
	hand := func(task, worker int) error { return mpi.Send(world, []int64{int64(task)}, worker, tagTask) }
	next := min(tasks, workers)
	for task := range next {
		if err := hand(task, 1+task); err != nil {
			return 0, err
		}
	}
	results := make([]float64, tasks)
	done := 0
	mpi.RegisterSlice(world, "results", results)
	mpi.Register(world, "done", &done)
	mpi.Register(world, "next", &next)
	for ; done < tasks; done++ {
		if _, err := world.Safepoint(); err != nil {
			return 0, err
		}
		answer := make([]float64, 2) // the task, its result
		s, err := mpi.Recv(world, answer, mpi.AnySource, tagResult)
		if err != nil {
			return 0, err
		}
		results[int(answer[0])] = answer[1]
		if next == tasks {
			continue
		}
		free := s.Source
		if fixed {
			free = 1 + next%workers
		}
		if err := hand(next, free); err != nil {
			return 0, err
		}
		next++
	}
	for worker := 1; worker <= workers; worker++ {
		if err := hand(none, worker); err != nil {
			return 0, err
		}
	}
	sum := 0.0
	for _, r := range results {
		sum += r
	}
	return sum, nil
}

// work does tasks until there are none.
func work(world *mpi.Comm) error {
	done := 0
	mpi.Register(world, "done", &done)
	for ; ; done++ {
		if _, err := world.Safepoint(); err != nil {
			return err
		}
		task := make([]int64, 1)
		if _, err := mpi.Recv(world, task, 0, tagTask); err != nil || task[0] == none {
			return err
		}
		if err := mpi.Send(world, []float64{float64(task[0]), compute(task[0])}, 0, tagResult); err != nil {
			return err
		}
	}
}

// compute does a task.
func compute(task int64) (x float64) {
	for i := range 1000 * (1 + task%7) { // some take longer
		x += math.Sin(float64(task) + float64(i))
	}
	return x
}
