package loggp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"banyan/bench/processes"
	"banyan/internal/proto"
	"banyan/internal/study/replication/pattern"
	"banyan/mpi"
)

// Roles of Perform.
const (
	roleCalls = "calls" // SLEEP
	rolePlay  = "play"  // SLEEP STEPS COMPUTE KIND BYTES
)

var errRole = errors.New("want calls SLEEP, or play SLEEP STEPS COMPUTE KIND BYTES")

// Perform is what the bench's jobs run; args follow those of [Bench.Worker]. Rank 0 writes what it
// has measured.
func Perform(out io.Writer, args []string) error {
	var measure func(w *mpi.Comm) (any, error)
	switch {
	case len(args) == 2 && args[0] == roleCalls:
		sleep := args[1] == "true"
		measure = func(w *mpi.Comm) (any, error) { return measureCalls(w, sleep) }
	case len(args) == 6 && args[0] == rolePlay:
		steps, err1 := strconv.Atoi(args[2])
		compute, err2 := time.ParseDuration(args[3])
		bytes, err3 := strconv.ParseInt(args[5], 10, 64)
		if err := errors.Join(err1, err2, err3); err != nil {
			return err
		}
		p := player{sleep: args[1] == "true", steps: steps, compute: compute}
		measure = func(w *mpi.Comm) (any, error) {
			return p.play(w, pattern.Spec{Kind: args[4], Ranks: w.Size(), Bytes: bytes})
		}
	default:
		return errRole
	}
	mpi.Main(func(w *mpi.Comm) error {
		measured, err := measure(w)
		if err != nil || w.Rank() > 0 {
			return err
		}
		return json.NewEncoder(out).Encode(measured)
	})
	return nil
}

// sizes are those of the timed messages: all are sent whole.
var sizes = []int{8, 1 << 10, 4 << 10, 8 << 10, 16 << 10}

// calls is what one job measures: nanoseconds of one call, by size, and of a message of a train.
type calls struct {
	Send, Receive []float64
	OneWay        []float64 // half a ping-pong
	Train         float64
}

// How often, in one job. Replicas must do the same, so these depend on nothing that was measured.
const (
	timedTurns  = 400 // of each size
	pingTurns   = 2000
	trainLength = 2000
	inARow      = 64 << 10 // bytes
)

// apart is how long answers have to come. It is shorter than it takes until the progress thread
// takes messages in; with a core of its own the other one polls meanwhile.
func apart(sleep bool) time.Duration {
	if sleep {
		return time.Millisecond
	}
	return 100 * time.Microsecond
}

func measureCalls(w *mpi.Comm, sleep bool) (c calls, err error) {
	for _, size := range sizes {
		send, receive, err := timedCalls(w, size, sleep)
		if err != nil {
			return c, err
		}
		oneWay, err := pingPong(w, size)
		if err != nil {
			return c, err
		}
		c.Send, c.Receive, c.OneWay = append(c.Send, send), append(c.Receive, receive), append(c.OneWay, oneWay)
	}
	c.Train, err = train(w)
	return c, err
}

// timedCalls are the medians of a call that sends, and of one that receives what has come, of many
// in a row. Calls that send are timed each by itself: the first may have to wake the other process
// up. Of those that receive the first takes in all that has come, so they are timed together.
func timedCalls(w *mpi.Comm, size int, sleep bool) (send, receive float64, err error) {
	buf := make([]byte, size)
	burst := max(4, min(64, inARow/size))
	other := 1 - w.Rank()
	var sends, receives []float64
	sending := func() error {
		for range burst {
			begin := time.Now()
			if err := mpi.Send(w, buf, other, 1); err != nil {
				return err
			}
			sends = append(sends, float64(time.Since(begin)))
		}
		return nil
	}
	receiving := func() error {
		begin := time.Now()
		for range burst {
			if _, err := mpi.Recv(w, buf, other, 1); err != nil {
				return err
			}
		}
		receives = append(receives, float64(time.Since(begin))/float64(burst))
		return nil
	}
	for range timedTurns {
		var err error
		if w.Rank() == 0 {
			if err = sending(); err == nil {
				spend(apart(sleep), sleep)
				err = receiving()
			}
		} else if err = receiving(); err == nil {
			err = sending()
		}
		if err != nil {
			return 0, 0, err
		}
	}
	var clock []float64 // what asking for the time takes
	for range timedTurns {
		begin := time.Now()
		clock = append(clock, float64(time.Since(begin)))
	}
	return max(0, median(sends)-median(clock)), median(receives), w.Barrier()
}

// pingPong is the time of one way: the least of ten parts, so that a machine that does something
// else for a while doesn't count.
func pingPong(w *mpi.Comm, size int) (float64, error) {
	buf := make([]byte, size)
	other := 1 - w.Rank()
	var parts []float64
	for range 10 {
		begin := processes.Monotonic()
		for range pingTurns / 10 {
			if w.Rank() == 0 {
				if err := mpi.Send(w, buf, other, 2); err != nil {
					return 0, err
				}
			}
			if _, err := mpi.Recv(w, buf, other, 2); err != nil {
				return 0, err
			}
			if w.Rank() == 1 {
				if err := mpi.Send(w, buf, other, 2); err != nil {
					return 0, err
				}
			}
		}
		parts = append(parts, float64(processes.Monotonic()-begin)/(2*pingTurns/10))
	}
	return slices.Min(parts), w.Barrier()
}

// train is the time of one message of many, until the receiver has all.
func train(w *mpi.Comm) (float64, error) {
	buf := make([]byte, 8)
	begin := processes.Monotonic()
	for range trainLength {
		if w.Rank() == 0 {
			if err := mpi.Send(w, buf, 1, 3); err != nil {
				return 0, err
			}
		} else if _, err := mpi.Recv(w, buf, 0, 3); err != nil {
			return 0, err
		}
	}
	err := w.Barrier()
	return float64(processes.Monotonic()-begin) / trainLength, err
}

// wakes is how late a process may wake up from a sleep: it sleeps so much less, and spins then.
const wakes = 150 * time.Microsecond

// spend lets time pass: spinning, or sleeping as far as that is exact, where others want the core.
func spend(d time.Duration, sleep bool) {
	end := processes.Monotonic() + int64(d)
	if sleep && d > wakes {
		time.Sleep(d - wakes)
	}
	for processes.Monotonic() < end {
	}
}

// player carries out a pattern's steps.
type player struct {
	sleep   bool
	steps   int
	compute time.Duration // of a step

	world, sums *mpi.Comm
	requests    []*mpi.Request
}

// play is the nanoseconds of one step, of rank 0, after a tenth of them as a warm-up.
func (p *player) play(w *mpi.Comm, spec pattern.Spec) (float64, error) {
	pat, err := pattern.New(spec)
	if err != nil {
		return 0, err
	}
	p.world = w
	if p.sums, err = w.Dup(); err != nil {
		return 0, err
	}
	ops := pat.Step(proto.Rank(w.Rank()), nil)
	buffers := make([][]byte, len(ops))
	for i := range ops {
		buffers[i] = make([]byte, ops[i].Bytes)
	}
	run := func(steps int) error {
		for range steps {
			for i := range ops {
				if err := p.do(&ops[i], buffers[i]); err != nil {
					return fmt.Errorf("operation %d: %w", i, err)
				}
			}
		}
		return w.Barrier()
	}
	if err := run(p.steps / 10); err != nil {
		return 0, err
	}
	begin := processes.Monotonic()
	err = run(p.steps)
	return float64(processes.Monotonic()-begin) / float64(p.steps), err
}

func (p *player) do(o *pattern.Op, buf []byte) error {
	w := p.world
	if o.Collective {
		w = p.sums
	}
	switch o.Kind {
	case pattern.Compute:
		spend(time.Duration(o.Share*float64(p.compute)), p.sleep)
	case pattern.Wait:
		for len(p.requests) > int(o.Bytes) {
			i, _, err := mpi.WaitAny(p.requests...)
			if err != nil {
				return err
			}
			p.requests = slices.Delete(p.requests, i, i+1)
		}
	case pattern.Send, pattern.Receive:
		var r mpi.Request
		var err error
		switch {
		case o.Kind == pattern.Send:
			r, err = mpi.Isend(w, buf, int(o.Peer), int(o.Tag))
		case o.Peer == proto.AnyRank:
			r, err = mpi.Irecv(w, buf, mpi.AnySource, int(o.Tag))
		default:
			r, err = mpi.Irecv(w, buf, int(o.Peer), int(o.Tag))
		}
		if err != nil {
			return err
		}
		p.requests = append(p.requests, &r)
	}
	return nil
}

// median is that of some values, 0 of none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[len(values)/2]
}
