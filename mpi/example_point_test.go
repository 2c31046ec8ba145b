package mpi_test

import (
	"errors"
	"fmt"

	"banyan/mpi"
)

// A message has a tag, and reaches the receive that asks for it.
func ExampleSend() {
	check(mpi.Local(2, func(world *mpi.Comm) error {
		if world.Rank() == 0 {
			return mpi.Send(world, []float64{1.5, 2.5}, 1, 7)
		}
		buf := make([]float64, 8)
		s, err := mpi.Recv(world, buf, 0, 7)
		if err != nil {
			return err
		}
		fmt.Println(buf[:mpi.Count[float64](s)])
		return nil
	}))
	// Output:
	// [1.5 2.5]
}

// A server takes what comes from anyone, and answers.
func ExampleRecv() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		if world.Rank() > 0 {
			question, answer := []int{world.Rank()}, []int{0}
			if err := mpi.Send(world, question, 0, 1); err != nil {
				return err
			}
			if _, err := mpi.Recv(world, answer, 0, mpi.AnyTag); err != nil {
				return err
			}
			fmt.Println(question[0], "squared is", answer[0])
			return nil
		}
		for range world.Size() - 1 {
			x := []int{0}
			s, err := mpi.Recv(world, x, mpi.AnySource, 1)
			if err != nil {
				return err
			}
			if err := mpi.Send(world, []int{x[0] * x[0]}, s.Source, 2); err != nil {
				return err
			}
		}
		return nil
	}))
	// Unordered output:
	// 1 squared is 1
	// 2 squared is 4
}

// Structs of numbers are elements as they are.
func ExampleElement() {
	check(mpi.Local(2, func(world *mpi.Comm) error {
		type particle struct {
			Position, Velocity [3]float64
			Cell               int64
		}
		p := []particle{{Cell: 42}}
		if world.Rank() == 0 {
			p[0].Position[2] = 0.5
			return mpi.Send(world, p, 1, 0)
		}
		if _, err := mpi.Recv(world, p, 0, 0); err != nil {
			return err
		}
		fmt.Println(p[0].Position, p[0].Cell)
		type person struct{ Name string }
		err := mpi.Send(world, []person{{"Ada"}}, 0, 0)
		fmt.Println(errors.Is(err, mpi.ErrElement))
		return nil
	}))
	// Output:
	// [0 0 0.5] 42
	// true
}

// A message that is received as another type is an error that names both.
func ExampleTypeError() {
	check(mpi.Local(2, func(world *mpi.Comm) error {
		if world.Rank() == 0 {
			return mpi.Send(world, []int32{1, 2, 3}, 1, 0)
		}
		_, err := mpi.Recv(world, make([]float64, 3), 0, 0)
		var wrong *mpi.TypeError
		if errors.As(err, &wrong) {
			fmt.Println("sent as", wrong.Sent, "and received as", wrong.Received)
		}
		return nil
	}))
	// Output:
	// sent as int32 and received as float64
}

// The error in words.
func ExampleTypeError_Error() {
	check(mpi.Local(1, func(world *mpi.Comm) error {
		if err := mpi.Send(world, []int32{1}, 0, 0); err != nil {
			return err
		}
		_, err := mpi.Recv(world, make([]bool, 4), 0, 0)
		fmt.Println(err)
		return nil
	}))
	// Output:
	// rank 0: Recv (peer 0, tag 0): the message has elements of type int32, and is received as bool
}

// A TypeError is an ErrType.
func ExampleTypeError_Is() {
	check(mpi.Local(1, func(world *mpi.Comm) error {
		if err := mpi.Send(world, []int32{1}, 0, 0); err != nil {
			return err
		}
		_, err := mpi.Recv(world, make([]bool, 4), 0, 0)
		fmt.Println(errors.Is(err, mpi.ErrType))
		return nil
	}))
	// Output:
	// true
}

// An Error says what has failed where.
func ExampleError() {
	check(mpi.Local(2, func(world *mpi.Comm) error {
		err := mpi.Send(world, []int{1}, 5, 0)
		var e *mpi.Error
		if errors.As(err, &e) && world.Rank() == 0 {
			fmt.Println(e.Op, "to", e.Peer, "failed:", errors.Is(err, mpi.ErrRank))
		}
		return nil
	}))
	// Output:
	// Send to 5 failed: true
}

// A buffer may be larger than its message.
func ExampleCount() {
	check(mpi.Local(2, func(world *mpi.Comm) error {
		if world.Rank() == 0 {
			return mpi.Send(world, make([]int16, 3), 1, 0)
		}
		s, err := mpi.Recv(world, make([]int16, 100), 0, 0)
		fmt.Println(s.Bytes, "bytes,", mpi.Count[int16](s), "elements")
		return err
	}))
	// Output:
	// 6 bytes, 3 elements
}

// All ranks pass their data on at the same time.
func ExampleSendrecv() {
	check(mpi.Local(3, func(world *mpi.Comm) error {
		right, left := (world.Rank()+1)%world.Size(), (world.Rank()+world.Size()-1)%world.Size()
		got := []int{0}
		if _, err := mpi.Sendrecv(world, []int{world.Rank()}, right, 0, got, left, 0); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(got)
		}
		return nil
	}))
	// Output:
	// [2]
}

// A probe tells how large the next message is.
func ExampleComm_Probe() {
	check(mpi.Local(2, func(world *mpi.Comm) error {
		if world.Rank() == 0 {
			return mpi.Send(world, []byte("aerial roots"), 1, 0)
		}
		s, err := world.Probe(mpi.AnySource, mpi.AnyTag)
		if err != nil {
			return err
		}
		text := make([]byte, s.Bytes)
		_, err = mpi.Recv(world, text, s.Source, s.Tag)
		fmt.Println(string(text))
		return err
	}))
	// Output:
	// aerial roots
}

// A rank that computes looks now and then whether a message has come.
func ExampleComm_Iprobe() {
	check(mpi.Local(1, func(world *mpi.Comm) error {
		_, ok, err := world.Iprobe(0, 3)
		fmt.Println(ok)
		if err != nil {
			return err
		}
		if err := mpi.Send(world, []int{1}, 0, 3); err != nil {
			return err
		}
		_, ok, err = world.Iprobe(0, 3)
		fmt.Println(ok)
		return err
	}))
	// Output:
	// false
	// true
}

// A Status tells from whom a message is.
func ExampleStatus() {
	check(mpi.Local(1, func(world *mpi.Comm) error {
		if err := mpi.Send(world, []int64{1, 2}, 0, 9); err != nil {
			return err
		}
		s, err := mpi.Recv(world, make([]int64, 2), mpi.AnySource, mpi.AnyTag)
		fmt.Println("from", s.Source, "with tag", s.Tag, "and", s.Bytes, "bytes")
		return err
	}))
	// Output:
	// from 0 with tag 9 and 16 bytes
}

// What has failed is found out by errors.Is.
func ExampleError_causes() {
	causes := []struct {
		name string
		err  error
	}{
		{"ErrProcFailed", mpi.ErrProcFailed}, {"ErrRevoked", mpi.ErrRevoked}, {"ErrFinished", mpi.ErrFinished},
		{"ErrTruncated", mpi.ErrTruncated}, {"ErrCancelled", mpi.ErrCancelled}, {"ErrMismatch", mpi.ErrMismatch},
		{"ErrRank", mpi.ErrRank}, {"ErrTag", mpi.ErrTag}, {"ErrSize", mpi.ErrSize}, {"ErrClosed", mpi.ErrClosed},
		{"ErrFreed", mpi.ErrFreed}, {"ErrFenced", mpi.ErrFenced}, {"ErrTopology", mpi.ErrTopology},
		{"ErrElement", mpi.ErrElement}, {"ErrType", mpi.ErrType}, {"ErrPersistent", mpi.ErrPersistent},
		{"ErrStateName", mpi.ErrStateName}, {"ErrRegistered", mpi.ErrRegistered}, {"ErrUnknown", mpi.ErrUnknown}, {"ErrState", mpi.ErrState},
	}
	check(mpi.Local(1, func(world *mpi.Comm) error {
		_, split := world.Split(mpi.Undefined-1, 0)
		for _, err := range []error{
			mpi.Send(world, []string{"text"}, 0, 0),
			mpi.Send(world, []int{1}, 0, mpi.AnyTag),
			mpi.Send(world, []int{1}, mpi.AnySource, 0),
			mpi.Send(world, []int{1}, mpi.ProcNull, 0),
			mpi.NeighborAllgather(world, []int{1}, nil),
			mpi.Register(world, "", new(int)),
			mpi.Register(world, "x", 1),
			split,
		} {
			found := "none of them"
			for _, c := range causes {
				if errors.Is(err, c.err) {
					found = c.name
				}
			}
			fmt.Println(found)
		}
		return nil
	}))
	// Output:
	// ErrElement
	// ErrTag
	// ErrRank
	// none of them
	// ErrTopology
	// ErrStateName
	// ErrState
	// none of them
}
