// Bigmessages loads a job with messages and checks every one. Each rank exchanges large messages
// with both neighbours on a ring. Then it streams many small, numbered messages to its right
// neighbour. A message that is lost, duplicated, out of order or altered is an error that ends the
// job.
//
//	banyan run -n 3 --replicas 2 bigmessages [-large 20] [-bytes 1048576] [-small 1000000]
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"banyan/mpi"
)

// The tags of messages to each neighbour, and of the stream of small messages.
const (
	tagRight = iota
	tagLeft
	tagStream
)

type options struct{ large, bytes, small int }

func main() {
	var o options
	flag.IntVar(&o.large, "large", 20, "large messages to each neighbour")
	flag.IntVar(&o.bytes, "bytes", 1<<20, "size of a large message")
	flag.IntVar(&o.small, "small", 1_000_000, "small messages to the right neighbour")
	flag.Parse()
	if flag.NArg() != 0 || o.large < 0 || o.bytes < 0 || o.small < 0 {
		flag.Usage()
		os.Exit(2)
	}
	mpi.Main(func(world *mpi.Comm) error { return run(world, os.Stdout, o) })
}

func run(world *mpi.Comm, out io.Writer, o options) error {
	if err := exchangeLarge(world, o.large, o.bytes); err != nil {
		return err
	}
	if err := streamSmall(world, o.small); err != nil {
		return err
	}
	totals := make([]int64, 2)
	mine := []int64{2 * int64(o.large), int64(o.small)}
	if err := mpi.Allreduce(world, mine, totals, mpi.Sum); err != nil {
		return err
	}
	if world.Rank() == 0 {
		fmt.Fprintf(out, "%d messages of %d bytes and %d numbered ones: all here, once, in order\n", totals[0], o.bytes, totals[1])
	}
	return nil
}

func neighbours(world *mpi.Comm) (left, right int) {
	rank, size := world.Rank(), world.Size()
	return (rank + size - 1) % size, (rank + 1) % size
}

// exchangeLarge sends both neighbours large messages and receives theirs, in several rounds.
func exchangeLarge(world *mpi.Comm, count, bytes int) error {
	left, right := neighbours(world)
	out, fromLeft, fromRight := make([]byte, bytes), make([]byte, bytes), make([]byte, bytes)
	for round := range count {
		fill(out, world.Rank(), round)
		requests := make([]mpi.Request, 4)
		var err error
		if requests[0], err = mpi.Irecv(world, fromLeft, left, tagRight); err != nil {
			return err
		}
		if requests[1], err = mpi.Irecv(world, fromRight, right, tagLeft); err != nil {
			return err
		}
		if requests[2], err = mpi.Isend(world, out, right, tagRight); err != nil {
			return err
		}
		if requests[3], err = mpi.Isend(world, out, left, tagLeft); err != nil {
			return err
		}
		if err := mpi.WaitAll(&requests[0], &requests[1], &requests[2], &requests[3]); err != nil {
			return err
		}
		if err := check(fromLeft, left, round); err != nil {
			return err
		}
		if err := check(fromRight, right, round); err != nil {
			return err
		}
	}
	return nil
}

// pattern is byte number i of message number round from a rank.
func pattern(rank, round, i int) byte { return byte(i*7 + i>>8 + rank*31 + round*101) }

func fill(buffer []byte, rank, round int) {
	for i := range buffer {
		buffer[i] = pattern(rank, round, i)
	}
}

func check(buffer []byte, rank, round int) error {
	for i, got := range buffer {
		if want := pattern(rank, round, i); got != want {
			return fmt.Errorf("large message %d from rank %d: byte %d is %d, want %d", round, rank, i, got, want)
		}
	}
	return nil
}

// burst is the number of small messages that a rank sends before it receives as many.
const burst = 1000

// streamSmall sends numbered messages to the right neighbour, and receives those of the left one.
func streamSmall(world *mpi.Comm, count int) error {
	left, right := neighbours(world)
	out, in := make([]int64, 1), make([]int64, 1)
	for first := 0; first < count; first += burst {
		last := min(first+burst, count)
		for number := first; number < last; number++ {
			out[0] = int64(number)
			if err := mpi.Send(world, out, right, tagStream); err != nil {
				return err
			}
		}
		for number := first; number < last; number++ {
			if _, err := mpi.Recv(world, in, left, tagStream); err != nil {
				return err
			}
			if in[0] != int64(number) {
				return fmt.Errorf("small message %d from rank %d came in place of %d", in[0], left, number)
			}
		}
	}
	return nil
}
