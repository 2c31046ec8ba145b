package comm_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"banyan/internal/job/join/jointest"
	"banyan/internal/mpi/comm"
	"banyan/internal/runtime/process"
)

// Threads make the parts of messages to the next rank ready in any order, for some rounds of
// several messages at once, of which some have the same tag and are begun in another order than
// they were made. The receivers have other numbers of parts. All data arrives, where it belongs.
func TestPartitioned(t *testing.T) {
	for _, shape := range [][2]int{{1, 1}, {2, 1}, {3, 1}, {1, 2}, {2, 2}, {3, 2}} {
		t.Run(fmt.Sprintf("%dx%d", shape[0], shape[1]), func(t *testing.T) { local(t, shape[0], shape[1], partitioned(t)) })
	}
}

func partitioned(t *testing.T) func(world *comm.Comm, _ int) error {
	return func(world *comm.Comm, _ int) error {
		n, me := world.Size(), world.Rank()
		left, right := (me+n-1)%n, (me+1)%n
		cuts := []struct{ parts, takes, size, tag int }{{1, 1, 8, 3}, {4, 3, 12_000, 3}, {3, 4, 240_000, 3}, {16, 2, 16, 4}, {0, 2, 0, 3}, {2, 2, 0, 4}}
		var out, in []*comm.Partitioned
		var sent, got [][]byte
		for _, cut := range cuts {
			a, b := make([]byte, cut.size), make([]byte, cut.size)
			s, err := world.SendParts(a, cut.parts, right, cut.tag)
			if err != nil {
				return err
			}
			r, err := world.ReceiveParts(b, left, cut.tag)
			if err != nil {
				return err
			}
			defer s.Free()
			defer r.Free()
			out, in, sent, got = append(out, s), append(in, r), append(sent, a), append(got, b)
		}
		for round := range 3 {
			var threads sync.WaitGroup
			starts := make([]func() error, 0, 2*len(cuts))
			for i, cut := range cuts {
				for k := range sent[i] {
					sent[i][k] = byte(me + i + k*round)
				}
				starts = append(starts, func() error {
					h := in[i].Start()
					threads.Go(func() {
						if cut.size == 0 {
							return
						}
						for part := range cut.takes {
							first, last := part*cut.size/cut.takes, (part+1)*cut.size/cut.takes
							for {
								is, err := in[i].Arrived(first, last)
								if err != nil {
									t.Error(err)
									return
								}
								if is {
									break
								}
								runtime.Gosched()
							}
							for k := first; k < last; k++ {
								if got[i][k] != byte(left+i+k*round) {
									t.Errorf("rank %d, round %d, message %d: byte %d is %d before all have arrived", me, round, i, k, got[i][k])
									return
								}
							}
						}
					})
					_, err := world.Engine().Wait(h)
					return in[i].Outcome(err)
				}, func() error {
					h := out[i].Start()
					for _, part := range rand.Perm(cut.parts) {
						threads.Go(func() { out[i].Ready(part) })
					}
					_, err := world.Engine().Wait(h)
					return out[i].Outcome(err)
				})
			}
			errs := make([]error, len(starts))
			for _, k := range rand.Perm(len(starts)) {
				threads.Go(func() { errs[k] = starts[k]() })
			}
			threads.Wait()
			if err := errors.Join(errs...); err != nil {
				return fmt.Errorf("round %d: %w", round, err)
			}
			for i := range cuts {
				for k := range got[i] {
					if got[i][k] != byte(left+i+k*round) {
						return fmt.Errorf("round %d, message %d: byte %d is %d", round, i, k, got[i][k])
					}
				}
			}
		}
		return nil
	}
}

// Each part of the sender's arrives alone, while the others aren't ready, without replicas.
func TestPartitionedOneByOne(t *testing.T) {
	const parts, size = 5, 100
	local(t, 2, 1, func(world *comm.Comm, _ int) error {
		data := make([]byte, parts*size)
		if world.Rank() == 1 {
			r, err := world.ReceiveParts(data, 0, 0)
			if err != nil {
				return err
			}
			h := r.Start()
			for part := range parts {
				for is := false; !is; {
					if is, err = r.Arrived(part*size, (part+1)*size); err != nil {
						return err
					}
				}
				if part+1 < parts {
					if is, _ := r.Arrived(0, len(data)); is {
						return fmt.Errorf("after part %d all have arrived", part)
					}
				}
				if !bytes.Equal(data[part*size:(part+1)*size], bytes.Repeat([]byte{byte(part + 1)}, size)) {
					return fmt.Errorf("part %d is %v", part, data[part*size:(part+1)*size])
				}
				if err := world.Send(nil, 0, 9); err != nil { // now the next
					return err
				}
			}
			_, err = world.Engine().Wait(h)
			return r.Outcome(err)
		}
		s, err := world.SendParts(data, parts, 1, 0)
		if err != nil {
			return err
		}
		h := s.Start()
		for part := range parts {
			for k := range size {
				data[part*size+k] = byte(part + 1)
			}
			s.Ready(part)
			if _, err := world.Recv(nil, 1, 9); err != nil {
				return err
			}
		}
		_, err = world.Engine().Wait(h)
		return s.Outcome(err)
	})
}

// A receiver may have more room than the sender has data, as in other messages, also in a second
// round; what is behind the data stays. If it has less it gets an error, and both ends end.
func TestPartitionedSizes(t *testing.T) {
	for _, replicas := range []int{1, 2} {
		for _, takes := range []int{0, 100, 400, 300_000} {
			for _, gives := range []int{0, 200, 200_000} {
				local(t, 2, replicas, func(world *comm.Comm, _ int) error { return partitionedSizes(world, takes, gives) })
			}
		}
	}
}

func partitionedSizes(world *comm.Comm, takes, gives int) error {
	if world.Rank() == 0 {
		s, err := world.SendParts(bytes.Repeat([]byte{1}, gives), 2, 1, 0)
		if err != nil {
			return err
		}
		for range 2 {
			h := s.Start()
			s.Ready(1)
			s.Ready(0)
			if _, err = world.Engine().Wait(h); s.Outcome(err) != nil {
				return s.Outcome(err)
			}
		}
		return nil
	}
	buffer := make([]byte, takes)
	r, err := world.ReceiveParts(buffer, 0, 0)
	if err != nil {
		return err
	}
	for range 2 {
		clear(buffer)
		_, err = world.Engine().Wait(r.Start())
		switch err := r.Outcome(err); {
		case gives > takes:
			if !errors.Is(err, process.ErrTruncated) {
				return fmt.Errorf("%d bytes for a buffer of %d: %v", gives, takes, err)
			}
		case err != nil:
			return err
		case r.Bytes() != gives || !bytes.Equal(buffer, append(bytes.Repeat([]byte{1}, gives), make([]byte, takes-gives)...)):
			return fmt.Errorf("%d bytes for a buffer of %d: %d have come", gives, takes, r.Bytes())
		}
		if is, err := r.Arrived(takes/2, takes); !is || (err != nil) != (gives > takes) {
			return fmt.Errorf("%d bytes for a buffer of %d: after the end the second half has arrived: %v, %v", gives, takes, is, err)
		}
	}
	return nil
}

// A sender that dies leaves its receiver with an error, also a thread that asks for a part.
func TestPartitionedDeath(t *testing.T) {
	for _, begins := range []bool{false, true} {
		local(t, 3, 1, func(world *comm.Comm, _ int) error {
			data := make([]byte, 64)
			switch world.Rank() {
			case 0:
				s, err := world.SendParts(data, 2, 1, 0)
				if err != nil {
					return err
				}
				if begins {
					s.Start()
					s.Ready(0)
					if _, err := world.Recv(nil, 1, 1); err != nil {
						return err
					}
				}
				return jointest.ErrDies
			case 1:
				r, err := world.ReceiveParts(data, 0, 0)
				if err != nil {
					return err
				}
				h := r.Start()
				for is := !begins; !is; {
					if is, err = r.Arrived(0, 32); err != nil {
						return err
					}
				}
				if begins {
					if err := world.Send(nil, 0, 1); err != nil {
						return err
					}
				}
				for is := false; !is; {
					is, err = r.Arrived(32, 64)
				}
				if !errors.Is(err, process.ErrRankLost) {
					return fmt.Errorf("the thread's error is %v", err)
				}
				_, err = world.Engine().Wait(h)
				if err := r.Outcome(err); !errors.Is(err, process.ErrRankLost) {
					return fmt.Errorf("the error is %v", err)
				}
			}
			return nil
		})
	}
}
