package mpi_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unsafe"

	"banyan/mpi"
)

type point struct{ X, Y float64 }

type particle struct {
	Position, Velocity [3]float64
	Cell               [2]int32
	Charge             float64
	Alive              [8]bool
}

func someParticle(i int) particle {
	f := float64(i)
	return particle{[3]float64{f, 2 * f, 3 * f}, [3]float64{-f, 0, f}, [2]int32{int32(i), 7}, f / 2, [8]bool{i%2 == 0, true}}
}

// Structs and arrays go through every kind of call, small and large.
func TestStructsAsElements(t *testing.T) {
	inEveryShape(t, func(w *mpi.Comm) error {
		right, left := (w.Rank()+1)%w.Size(), (w.Rank()+w.Size()-1)%w.Size()
		for _, n := range []int{0, 1, 3, 2000} {
			send, recv := make([]particle, n), make([]particle, n+1)
			for i := range send {
				send[i] = someParticle(i + w.Rank())
			}
			s, err := mpi.Sendrecv(w, send, right, 1, recv, left, 1)
			if err != nil {
				return err
			}
			if mpi.Count[particle](s) != n {
				return fmt.Errorf("%d of %d particles", mpi.Count[particle](s), n)
			}
			for i := range n {
				if recv[i] != someParticle(i+left) {
					return fmt.Errorf("particle %d is %v", i, recv[i])
				}
			}
			if err := mpi.Bcast(w, recv, w.Size()-1); err != nil {
				return err
			}
		}
		add := func(inout, in []point) {
			for i := range inout {
				inout[i].X += in[i].X
				inout[i].Y = max(inout[i].Y, in[i].Y)
			}
		}
		sum := make([]point, 2)
		if err := mpi.Allreduce(w, []point{{1, float64(w.Rank())}, {2, 0}}, sum, add); err != nil {
			return err
		}
		all := float64(w.Size())
		return want("sums", sum, []point{{all, all - 1}, {2 * all, 0}})
	})
}

// Types with anything but data are refused, with the field that is at fault.
func TestNoElements(t *testing.T) {
	local(t, 1, func(w *mpi.Comm) error {
		return errors.Join(
			refuses[string](w, "it is a string"),
			refuses[*int](w, "it is a pointer"),
			refuses[[]int](w, "it is a slice"),
			refuses[map[int]int](w, "it is a map"),
			refuses[any](w, "it is an interface"),
			refuses[uintptr](w, "it is a uintptr"),
			refuses[unsafe.Pointer](w, "it is an unsafe.Pointer"),
			refuses[struct{}](w, "it has no data"),
			refuses[[0]int](w, "[0]int has no data"),
			refuses[struct {
				N    int
				Name string
			}](w, "field Name of struct { N int; Name string } is a string"),
			refuses[[3]struct{ At time.Time }](w, "field loc of time.Time is a pointer"),
			refuses[struct {
				A byte
				B int64
			}](w, "7 bytes of padding precede field B"),
			refuses[struct {
				B int64
				A byte
			}](w, "7 bytes of padding end struct"),
			refuses[struct {
				A byte
				_ [3]byte
				B int32
			}](w, "the blank field"),
			refuses[struct {
				A [2]struct {
					B int32
					C bool
				}
			}](w, "3 bytes of padding end struct { B int32; C bool }"),
		)
	})
}

// refuses tells whether calls refuse a type, with an error that has a text.
func refuses[T any](w *mpi.Comm, text string) error {
	buf := make([]T, 1)
	_, recv := mpi.Recv(w, buf, 0, 0)
	_, isend := mpi.Isend(w, buf, 0, 0)
	_, irecv := mpi.Irecv(w, buf, 0, 0)
	_, iallgather := mpi.Iallgather(w, buf, buf)
	_, prepared := mpi.Ibcast(w.Persistent(), buf, 0)
	part := []mpi.Part{mpi.PartOf(buf)}
	var all error
	for name, err := range map[string]error{
		"Send": mpi.Send(w, buf, 0, 0), "Recv": recv, "Isend": isend, "Irecv": irecv, "Bcast": mpi.Bcast(w, buf, 0),
		"Iallgather": iallgather, "prepared": prepared, "Alltoallw": mpi.Alltoallw(w, part, part),
		"RegisterSlice": mpi.RegisterSlice(w, "x", buf),
	} {
		var e *mpi.Error
		if !errors.Is(err, mpi.ErrElement) || !errors.As(err, &e) || !strings.Contains(err.Error(), text) {
			all = errors.Join(all, fmt.Errorf("%s of %T: %v", name, buf, err))
		}
	}
	return all
}

type celsius float64

type cell struct {
	ID    int64
	Value float32
	Kind  uint32
}

// A message of another type is an error that names both types, whatever its size and whether it or
// its receive comes first. What follows it is received.
func TestMessageOfAnotherType(t *testing.T) {
	for _, replicas := range []int{1, 2} {
		local(t, 2, func(w *mpi.Comm) error {
			return errors.Join(
				mistakes[int32, float64](w, 3, "type int32, and is received as float64"),
				mistakes[int32, float64](w, 1, "type int32, and is received as float64"),
				mistakes[uint64, int64](w, 100_000, "type uint64, and is received as int64"),
				mistakes[bool, byte](w, 5, "type bool, and is received as uint8"),
				mistakes[cell, point](w, 4, "type mpi_test.cell, and is received as mpi_test.point"),
				mistakes[cell, float64](w, 40_000, "type mpi_test.cell, and is received as float64"),
				mistakes[celsius, cell](w, 8, "type float64, and is received as mpi_test.cell"),
				mistakes[float64, point](w, 3, "24 bytes of type float64, which is no whole number of elements of type mpi_test.point"),
				mistakes[complex128, [2]float64](w, 3, "type complex128, and is received as [2]float64"),
			)
		}, mpi.WithReplicas(replicas))
	}
}

// mistakes sends n elements from rank 0 and has rank 1 receive them as others, in several ways.
func mistakes[T, U any](w *mpi.Comm, n int, text string) error {
	if w.Rank() == 0 {
		for range 4 {
			if err := mpi.Send(w, make([]T, n), 1, 2); err != nil {
				return err
			}
		}
		return mpi.Send(w, []int{42}, 1, 2)
	}
	room := make([]U, 16*n)
	check := func(how string, s mpi.Status, err error) error {
		var e *mpi.TypeError
		if !errors.Is(err, mpi.ErrType) || !errors.As(err, &e) || !strings.Contains(err.Error(), text) || s.Bytes != n*int(unsafe.Sizeof(*new(T))) {
			return fmt.Errorf("%s: %+v, %v; want %q", how, s, err, text)
		}
		return nil
	}
	s, err := mpi.Recv(w, room, 0, 2)
	all := check("Recv", s, err)
	s, err = mpi.Recv(w, room[:1:1], mpi.AnySource, mpi.AnyTag)
	if truncated := errors.Is(err, mpi.ErrTruncated); !truncated || !strings.Contains(text, "whole number") {
		all = errors.Join(all, check("truncated Recv", s, err)) // if only the sizes differ that error is as good
	}
	r, err := mpi.Irecv(w, room, 0, 2)
	if err != nil {
		return err
	}
	s, err = r.Wait()
	all = errors.Join(all, check("Wait", s, err))
	if r.Active() {
		all = errors.Join(all, errors.New("the request is still active"))
	}
	if r, err = mpi.Irecv(w, room, 0, 2); err != nil {
		return err
	}
	_, s, err = mpi.WaitAny(&r)
	all = errors.Join(all, check("WaitAny", s, err))
	good := []int{0}
	if _, err := mpi.Recv(w, good, 0, 2); err != nil || good[0] != 42 {
		all = errors.Join(all, fmt.Errorf("the message after: %v, %v", good, err))
	}
	return all
}

// Types with the same numbers at the same places are the same.
func TestTypesThatFit(t *testing.T) {
	local(t, 1, func(w *mpi.Comm) error {
		return errors.Join(
			fits[point, float64](w, 4, 8), fits[float64, point](w, 4, 2), fits[int, int64](w, 3, 3), fits[uint64, uint](w, 3, 3),
			fits[celsius, [2][1]float64](w, 4, 2), fits[cell, struct {
				A int
				B float32
				C uint32
			}](w, 2, 2),
			fits[[3]cell, cell](w, 2, 6), // an array of mixed structs is not its elements
		)
	})
}

func fits[T, U any](w *mpi.Comm, n, expect int) error {
	if err := mpi.Send(w, make([]T, n), 0, 0); err != nil {
		return err
	}
	s, err := mpi.Recv(w, make([]U, expect), 0, 0)
	if _, arrayOfMixed := any(*new(T)).([3]cell); arrayOfMixed {
		if !errors.Is(err, mpi.ErrType) {
			return fmt.Errorf("%T as %T: %v", *new(T), *new(U), err)
		}
		return nil
	}
	if err != nil || mpi.Count[U](s) != expect {
		return fmt.Errorf("%T as %T: %+v, %v", *new(T), *new(U), s, err)
	}
	return nil
}

// A message costs no allocation, whatever its type.
func TestMessagesDontAllocate(t *testing.T) {
	var allocations float64
	const rounds = 2000
	local(t, 2, func(w *mpi.Comm) error {
		buf := make([]particle, 4)
		var failed error
		turn := func() {
			err := mpi.Send(w, buf, 1-w.Rank(), 0)
			if err == nil {
				_, err = mpi.Recv(w, buf, 1-w.Rank(), 0)
			}
			if failed == nil {
				failed = err
			}
		}
		for range 100 {
			turn()
		}
		if w.Rank() == 1 {
			for range rounds + 1 { // AllocsPerRun makes one more
				turn()
			}
			return failed
		}
		allocations = testing.AllocsPerRun(rounds, turn)
		return failed
	})
	if allocations > 0.05 {
		t.Errorf("%v allocations a message", allocations)
	}
}
