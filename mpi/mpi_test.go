package mpi_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"banyan/mpi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shapes are the jobs that every test of this file runs as.
var shapes = []struct{ n, replicas int }{{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {7, 1}, {8, 1}, {1, 2}, {2, 2}, {3, 2}, {4, 3}}

// inEveryShape runs a program as each of these jobs and expects no error.
func inEveryShape(t *testing.T, run func(world *mpi.Comm) error) {
	for _, s := range shapes {
		t.Run(fmt.Sprintf("%dx%d", s.n, s.replicas), func(t *testing.T) {
			local(t, s.n, run, mpi.WithReplicas(s.replicas))
		})
	}
}

// local is mpi.Local with a time limit.
func local(t *testing.T, n int, run func(world *mpi.Comm) error, options ...mpi.LocalOption) {
	t.Helper()
	end := make(chan error, 1)
	go func() { end <- mpi.Local(n, run, options...) }()
	select {
	case err := <-end:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(time.Minute):
		panic("the job hangs")
	}
}

// want is an error if two values differ.
func want[T comparable](what string, have, want []T) error {
	if !slices.Equal(have, want) {
		return fmt.Errorf("%s: have %v, want %v", what, have, want)
	}
	return nil
}

func TestSendRecv(t *testing.T) {
	inEveryShape(t, func(w *mpi.Comm) error {
		// All send before any receives: small messages complete at once.
		right, left := (w.Rank()+1)%w.Size(), (w.Rank()+w.Size()-1)%w.Size()
		if err := mpi.Send(w, []int32{int32(w.Rank()), 7}, right, 5); err != nil {
			return err
		}
		var buf [4]int32
		s, err := mpi.Recv(w, buf[:], left, mpi.AnyTag)
		if err != nil {
			return err
		}
		if s.Source != left || s.Tag != 5 || mpi.Count[int32](s) != 2 {
			return fmt.Errorf("status %+v", s)
		}
		return want("message", buf[:2], []int32{int32(left), 7})
	})
}

func TestLargeMessages(t *testing.T) {
	inEveryShape(t, func(w *mpi.Comm) error {
		const n = 300_000
		send, recv := make([]float64, n), make([]float64, n)
		for i := range send {
			send[i] = float64(w.Rank()*n + i)
		}
		right, left := (w.Rank()+1)%w.Size(), (w.Rank()+w.Size()-1)%w.Size()
		for range 3 {
			if _, err := mpi.Sendrecv(w, send, right, 0, recv, left, 0); err != nil {
				return err
			}
		}
		for i, x := range recv {
			if x != float64(left*n+i) {
				return fmt.Errorf("element %d is %v", i, x)
			}
		}
		return nil
	})
}

func TestAnySourceAndProbe(t *testing.T) {
	inEveryShape(t, func(w *mpi.Comm) error {
		if w.Rank() > 0 {
			return mpi.Send(w, make([]byte, w.Rank()), 0, w.Rank())
		}
		seen := make([]bool, w.Size())
		for range w.Size() - 1 {
			p, err := w.Probe(mpi.AnySource, mpi.AnyTag)
			if err != nil {
				return err
			}
			buf := make([]byte, p.Bytes)
			s, err := mpi.Recv(w, buf, p.Source, p.Tag)
			if err != nil {
				return err
			}
			if s != p || s.Bytes != s.Source || seen[s.Source] {
				return fmt.Errorf("probed %+v, received %+v", p, s)
			}
			seen[s.Source] = true
		}
		_, found, err := w.Iprobe(mpi.AnySource, mpi.AnyTag)
		if found {
			return errors.New("a message too many")
		}
		return err
	})
}

func TestRequests(t *testing.T) {
	inEveryShape(t, func(w *mpi.Comm) error {
		n := w.Size()
		in := make([]int, n)
		reqs := make([]*mpi.Request, 0, 2*n)
		for i := range n {
			r, err := mpi.Irecv(w, in[i:i+1], i, 1)
			if err != nil {
				return err
			}
			reqs = append(reqs, &r)
		}
		out := make([]int, n)
		for i := range n {
			out[i] = 10*w.Rank() + i
			r, err := mpi.Isend(w, out[i:i+1], i, 1)
			if err != nil {
				return err
			}
			reqs = append(reqs, &r)
		}
		seen := make([]bool, 2*n)
		for range n {
			i, s, err := mpi.WaitAny(reqs...)
			if err != nil {
				return err
			}
			if seen[i] || i < n && s.Source != i {
				return fmt.Errorf("request %d twice, or status %+v", i, s)
			}
			seen[i] = true
		}
		for {
			all, err := mpi.TestAll(reqs...)
			if err != nil {
				return err
			}
			if all {
				break
			}
		}
		if i, _, _ := mpi.WaitAny(reqs...); i != -1 {
			return fmt.Errorf("request %d is still active", i)
		}
		for i := range n {
			if in[i] != 10*i+w.Rank() {
				return fmt.Errorf("from %d: %d", i, in[i])
			}
		}
		return nil
	})
}

func TestDupAndSplit(t *testing.T) {
	inEveryShape(t, func(w *mpi.Comm) error {
		d, err := w.Dup()
		if err != nil {
			return err
		}
		// The same envelope in two communicators: contexts keep them apart.
		right, left := (w.Rank()+1)%w.Size(), (w.Rank()+w.Size()-1)%w.Size()
		if err := mpi.Send(w, []byte{1}, right, 0); err != nil {
			return err
		}
		if err := mpi.Send(d, []byte{2}, right, 0); err != nil {
			return err
		}
		var a, b [1]byte
		if _, err := mpi.Recv(d, b[:], left, 0); err != nil {
			return err
		}
		if _, err := mpi.Recv(w, a[:], left, 0); err != nil {
			return err
		}
		if a[0] != 1 || b[0] != 2 {
			return fmt.Errorf("got %d and %d", a[0], b[0])
		}
		// Halves in the opposite order of ranks; rank 0 stays out.
		colour := w.Rank() % 2
		if w.Rank() == 0 {
			colour = mpi.Undefined
		}
		s, err := d.Split(colour, -w.Rank())
		if err != nil {
			return err
		}
		if w.Rank() == 0 {
			if s != nil {
				return errors.New("Undefined got a communicator")
			}
			return d.Free()
		}
		got := make([]int, s.Size())
		if err := mpi.Allgather(s, []int{w.Rank()}, got); err != nil {
			return err
		}
		var expect []int
		for r := w.Size() - 1; r > 0; r-- {
			if r%2 == colour {
				expect = append(expect, r)
			}
		}
		if err := want("Split", got, expect); err != nil {
			return err
		}
		// A deeper level, and a broadcast in it.
		h, err := s.Split(s.Rank()/2, 0)
		if err != nil {
			return err
		}
		x := []int{w.Rank()}
		if err := mpi.Bcast(h, x, h.Size()-1); err != nil {
			return err
		}
		if err := s.Barrier(); err != nil {
			return err
		}
		if err := h.Free(); err != nil {
			return err
		}
		return d.Free()
	})
}

func TestBadArguments(t *testing.T) {
	local(t, 2, func(w *mpi.Comm) error {
		for _, c := range []struct {
			err  error
			want error
		}{
			{mpi.Send(w, []int{1}, 2, 0), mpi.ErrRank},
			{mpi.Send(w, []int{1}, -1, 0), mpi.ErrRank},
			{mpi.Send(w, []int{1}, 0, -1), mpi.ErrTag},
			{mpi.Bcast(w, []int{1}, 5), mpi.ErrRank},
			{mpi.Allreduce(w, []int{1}, nil, mpi.Sum), mpi.ErrSize},
			{mpi.Alltoall(w, []int{1, 2, 3}, []int{1, 2, 3}), mpi.ErrSize},
			{w.Free(), nil},
		} {
			if c.err == nil || c.want != nil && !errors.Is(c.err, c.want) {
				return fmt.Errorf("got %v, want %v", c.err, c.want)
			}
		}
		_, err := mpi.Recv(w, []int{0}, 9, 0)
		if !errors.Is(err, mpi.ErrRank) {
			return fmt.Errorf("Recv: %v", err)
		}
		return w.Barrier()
	})
}

func TestFreedCommunicator(t *testing.T) {
	local(t, 2, func(w *mpi.Comm) error {
		d, err := w.Dup()
		if err != nil {
			return err
		}
		if err := d.Barrier(); err != nil {
			return err
		}
		if err := d.Free(); err != nil {
			return err
		}
		_, recv := mpi.Recv(d, []int{0}, 0, 0)
		for name, err := range map[string]error{
			"Recv": recv, "Send": mpi.Send(d, []int{0}, 0, 0), "Barrier": d.Barrier(), "Bcast": mpi.Bcast(d, []int{0}, 0),
		} {
			if !errors.Is(err, mpi.ErrFreed) {
				return fmt.Errorf("%s: %v", name, err)
			}
		}
		return nil
	})
}

func TestTruncation(t *testing.T) {
	for _, length := range []int{100, 100_000} { // eager, rendezvous
		for _, replicas := range []int{1, 2} {
			local(t, 2, func(w *mpi.Comm) error {
				if w.Rank() == 0 {
					if err := mpi.Send(w, make([]byte, length), 1, 0); err != nil {
						return err
					}
					return mpi.Send(w, []byte{42}, 1, 0)
				}
				s, err := mpi.Recv(w, make([]byte, 10), 0, 0)
				if !errors.Is(err, mpi.ErrTruncated) || s.Bytes != length {
					return fmt.Errorf("%+v, %v", s, err)
				}
				var b [1]byte
				_, err = mpi.Recv(w, b[:], 0, 0)
				if b[0] != 42 {
					return fmt.Errorf("the message after has %d", b[0])
				}
				return err
			}, mpi.WithReplicas(replicas))
		}
	}
}

func TestSeveralGoroutines(t *testing.T) {
	for _, replicas := range []int{1, 2} {
		local(t, 3, func(w *mpi.Comm) error {
			const threads = 4
			errs := make(chan error, threads)
			for range threads {
				c, err := w.Dup()
				if err != nil {
					return err
				}
				go func() {
					errs <- func() error {
						for i := range 200 {
							sum := []int{0}
							if err := mpi.Allreduce(c, []int{i}, sum, mpi.Sum); err != nil {
								return err
							}
							if sum[0] != 3*i {
								return fmt.Errorf("sum %d", sum[0])
							}
						}
						return nil
					}()
				}()
			}
			for range threads {
				if err := <-errs; err != nil {
					return err
				}
			}
			return nil
		}, mpi.WithReplicas(replicas))
	}
}
