package noise

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"banyan/mpi"
)

// Kind is what an application does.
type Kind string

// Kinds.
const (
	Latency   Kind = "latency"   // a message of 8 bytes goes to and fro between two ranks
	Bandwidth Kind = "bandwidth" // one of 1 MiB does
	Allreduce Kind = "allreduce" // all ranks combine 8 bytes
	Solver    Kind = "solver"    // conjugate gradients: examples/cg
)

// Kinds are all of them.
var Kinds = []Kind{Latency, Bandwidth, Allreduce, Solver}

// bytes is the size of a kind's messages.
func (k Kind) bytes() int {
	if k == Bandwidth {
		return 1 << 20
	}
	return 8
}

// batch is how many operations lie between two looks at the clock.
func (k Kind) batch() int {
	if k == Bandwidth {
		return 2
	}
	return 64
}

var errRole = errors.New("this is a part of banyan bench detector noise, which starts it: want latency, bandwidth or allreduce, and nanoseconds")

// Perform is what the jobs of the bench run: a kind, and for how many nanoseconds. Rank 0 prints
// what one operation took. It returns only for an error in the command line.
func Perform(args []string) error {
	if len(args) != 2 {
		return errRole
	}
	span, err := strconv.ParseInt(args[1], 10, 64)
	kind := Kind(args[0])
	if err != nil || kind != Latency && kind != Bandwidth && kind != Allreduce {
		return errRole
	}
	mpi.Main(func(w *mpi.Comm) error {
		if _, _, err := kind.play(w, time.Duration(span)/10); err != nil {
			return err
		}
		if err := w.Barrier(); err != nil {
			return err
		}
		took, operations, err := kind.play(w, time.Duration(span))
		if err == nil && w.Rank() == 0 {
			fmt.Printf("%g\n", float64(took.Nanoseconds())/float64(operations))
		}
		return err
	})
	return nil
}

// play repeats a kind's operation until rank 0 says with its data that the time is up.
func (k Kind) play(w *mpi.Comm, span time.Duration) (took time.Duration, operations int, err error) {
	in, out := make([]byte, k.bytes()), make([]byte, k.bytes())
	began := time.Now()
	for over := false; !over; {
		last := time.Since(began) > span
		for i := range k.batch() {
			in[0] = 0
			if last && i == k.batch()-1 && w.Rank() == 0 {
				in[0] = 1
			}
			if err := k.once(w, in, out); err != nil {
				return 0, 0, err
			}
			operations++
			if over = out[0] != 0; over {
				break
			}
		}
	}
	took = time.Since(began)
	if k != Allreduce {
		operations *= 2 // one way
	}
	return took, operations, nil
}

// once is one operation. Afterwards out has rank 0's first byte.
func (k Kind) once(w *mpi.Comm, in, out []byte) error {
	if k == Allreduce {
		return mpi.Allreduce(w, in, out, mpi.BitOr)
	}
	switch w.Rank() {
	case 0:
		if err := mpi.Send(w, in, 1, 0); err != nil {
			return err
		}
		_, err := mpi.Recv(w, out, 1, 0)
		return err
	case 1:
		if _, err := mpi.Recv(w, out, 0, 0); err != nil {
			return err
		}
		return mpi.Send(w, out, 0, 0)
	}
	return errors.New("a ping-pong is for two ranks")
}
