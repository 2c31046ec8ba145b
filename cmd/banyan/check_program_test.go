package main

import (
	"fmt"
	"os"
	"time"

	"banyan/mpi"
)

// checked is several programs for the scripts, "checked NAME". Some of them aren't
// send-deterministic.
func checked() {
	program := map[string]func(*mpi.Comm) error{
		"alike": alike, "farm": farm(1), "large-farm": farm(100_000), "sums": sums, "map": mapOrder, "clock": clocked,
		"pid": pid, "any": anyDone, "impatient": impatient, "stall": stall, "fail": fail,
		"idle": func(*mpi.Comm) error { return nil },
	}[os.Args[1]]
	mpi.Main(program)
}

// alike receives from any source, and sends what doesn't depend on the order.
func alike(world *mpi.Comm) error {
	for round := range 20 {
		if err := mpi.Send(world, []int{round}, 0, 1); err != nil {
			return err
		}
		sum := []int{0}
		if world.Rank() == 0 {
			for range world.Size() {
				one := []int{0}
				if _, err := mpi.Recv(world, one, mpi.AnySource, 1); err != nil {
					return err
				}
				sum[0] += one[0]
			}
		}
		if err := mpi.Bcast(world, sum, 0); err != nil {
			return err
		}
	}
	return nil
}

// farm gives work, messages of so many numbers, to the worker that has just done some.
func farm(size int) func(*mpi.Comm) error {
	return func(world *mpi.Comm) error {
		const tasks = 50
		buf := make([]int64, size)
		if world.Rank() > 0 {
			for {
				if err := mpi.Send(world, buf, 0, 1); err != nil {
					return err
				}
				if s, err := mpi.Recv(world, buf, 0, mpi.AnyTag); err != nil || s.Tag == 2 {
					return err
				}
			}
		}
		for i := range tasks + world.Size() - 1 {
			s, err := mpi.Recv(world, buf, mpi.AnySource, 1)
			if err != nil {
				return err
			}
			tag := 1
			if i >= tasks {
				tag = 2
			}
			if err := mpi.Send(world, buf, s.Source, tag); err != nil {
				return err
			}
		}
		return nil
	}
}

// sums adds fractions in the order in which they come.
func sums(world *mpi.Comm) error {
	for range 30 {
		sum := []float64{0}
		if world.Rank() > 0 {
			if err := mpi.Send(world, []float64{1 / float64(3*world.Rank()+7)}, 0, 1); err != nil {
				return err
			}
		} else {
			for range world.Size() - 1 {
				one := []float64{0}
				if _, err := mpi.Recv(world, one, mpi.AnySource, 1); err != nil {
					return err
				}
				sum[0] = sum[0]/3 + one[0]
			}
		}
		if err := mpi.Bcast(world, sum, 0); err != nil {
			return err
		}
	}
	return nil
}

// mapOrder sends to the others in the order of a map.
func mapOrder(world *mpi.Comm) error {
	others := map[int]bool{}
	for r := range world.Size() {
		others[r] = true
	}
	for range 10 {
		for r := range others {
			if err := mpi.Send(world, []int{1}, r, 1); err != nil {
				return err
			}
		}
		for r := range world.Size() {
			if _, err := mpi.Recv(world, []int{0}, r, 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// clocked has rank 2 send the time of a clock as a tag.
func clocked(world *mpi.Comm) error {
	switch world.Rank() {
	case 2:
		return mpi.Send(world, []int{1}, 0, time.Now().Nanosecond()/100)
	case 0:
		_, err := mpi.Recv(world, []int{0}, 2, mpi.AnyTag)
		return err
	}
	return nil
}

// pid sends a length that depends on the process.
func pid(world *mpi.Comm) error {
	if world.Rank() == 1 {
		return mpi.Send(world, make([]byte, os.Getpid()), 0, 1)
	}
	if world.Rank() == 0 {
		_, err := mpi.Recv(world, make([]byte, 1<<22), 1, 1)
		return err
	}
	return nil
}

// anyDone answers in the order in which requests end, without a wildcard.
func anyDone(world *mpi.Comm) error {
	for range 20 {
		if world.Rank() > 0 {
			if err := mpi.Send(world, []int{1}, 0, 1); err != nil {
				return err
			}
			if _, err := mpi.Recv(world, []int{0}, 0, 1); err != nil {
				return err
			}
			continue
		}
		requests := make([]*mpi.Request, world.Size()-1)
		for i := range requests {
			r, err := mpi.Irecv(world, []int{0}, 1+i, 1)
			if err != nil {
				return err
			}
			requests[i] = &r
		}
		for range requests {
			i, _, err := mpi.WaitAny(requests...)
			if err != nil {
				return err
			}
			if err := mpi.Send(world, []int{1}, 1+i, 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// impatient has rank 1 send one message more for each time that a probe finds nothing.
func impatient(world *mpi.Comm) error {
	switch world.Rank() {
	case 0:
		time.Sleep(time.Duration(1+os.Getpid()%5) * time.Millisecond)
		if err := mpi.Send(world, []int{1}, 1, 1); err != nil {
			return err
		}
		for {
			if s, err := mpi.Recv(world, []int{0}, 1, mpi.AnyTag); err != nil || s.Tag == 2 {
				return err
			}
		}
	case 1:
		for {
			_, there, err := world.Iprobe(0, 1)
			if err != nil {
				return err
			}
			if there {
				break
			}
			if err := mpi.Send(world, []int{1}, 0, 1); err != nil {
				return err
			}
		}
		if _, err := mpi.Recv(world, []int{0}, 0, 1); err != nil {
			return err
		}
		return mpi.Send(world, []int{1}, 0, 2)
	}
	return nil
}

// stall waits for ever.
func stall(world *mpi.Comm) error {
	if err := world.Barrier(); err != nil {
		return err
	}
	_, err := mpi.Recv(world, []int{0}, (world.Rank()+1)%world.Size(), 1)
	return err
}

func fail(world *mpi.Comm) error {
	if err := world.Barrier(); err != nil {
		return err
	}
	return fmt.Errorf("nothing works here")
}
