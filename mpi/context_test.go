package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"banyan/mpi"
)

// soon is a context that ends within some milliseconds.
func soon() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 5*time.Millisecond)
}

// late tells whether a wait has ended with its context, and has said for whom it waited.
func late(err error, text string) error {
	var e *mpi.Error
	if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &e) || !strings.Contains(err.Error(), text) {
		return fmt.Errorf("got %v, want %q", err, text)
	}
	return nil
}

// A wait that ends with its context leaves everything as it was: what comes later is received, in
// its order, and collectives that were started end.
func TestWaitsWithContexts(t *testing.T) {
	local(t, 3, func(w *mpi.Comm) error {
		if w.Rank() > 0 {
			if _, err := mpi.Recv(w, make([]int, 1), 0, 9); err != nil { // until rank 0 has waited in vain
				return err
			}
			for i := range 4 {
				if err := mpi.Send(w, []int{10*w.Rank() + i}, 0, 1); err != nil {
					return err
				}
			}
			sum := []int{w.Rank()}
			return mpi.Allreduce(w, sum, sum, mpi.Sum)
		}
		ctx, cancel := soon()
		defer cancel()
		buf := []int{-1}
		_, recv := mpi.RecvContext(ctx, w, buf, 2, 1)
		_, probe := w.ProbeContext(ctx, mpi.AnySource, 1)
		r, err := mpi.Irecv(w, buf, 1, 1)
		if err != nil {
			return err
		}
		_, wait := r.WaitContext(ctx)
		sum := []int{w.Rank()}
		all, err := mpi.Iallreduce(w, sum, sum, mpi.Sum)
		if err != nil {
			return err
		}
		_, one := all.WaitContext(ctx)
		i, _, both := mpi.WaitAnyContext(ctx, &r, &all)
		if i != -1 || !r.Active() || !all.Active() {
			return fmt.Errorf("WaitAnyContext: %d; active: %v, %v", i, r.Active(), all.Active())
		}
		if err := errors.Join(
			late(recv, "Recv (peer 2, tag 1): context deadline exceeded: it waits for a message from rank 2 with tag 1"),
			late(probe, "Probe (any source, tag 1): context deadline exceeded: it waits for a message from any rank with tag 1"),
			late(wait, "Irecv (peer 1, tag 1): context deadline exceeded: it waits for a message from rank 1 with tag 1"),
			late(one, "Allreduce: context deadline exceeded: it waits in Allreduce"),
			late(both, "context deadline exceeded"), late(mpi.WaitAllContext(ctx, &r, &all), "context deadline exceeded"),
		); err != nil {
			return err
		}
		cancelled, stop := context.WithCancel(context.Background())
		stop()
		if _, err := mpi.RecvContext(cancelled, w, buf, 1, 7); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("a context that was cancelled: %v", err)
		}
		for dest := 1; dest < 3; dest++ {
			if err := mpi.Send(w, []int{0}, dest, 9); err != nil {
				return err
			}
		}
		if err := mpi.WaitAllContext(context.Background(), &r, &all); err != nil {
			return err
		}
		if buf[0] != 10 || sum[0] != 3 {
			return fmt.Errorf("received %v, and the sum is %v", buf, sum)
		}
		for _, want := range []int{20, 21, 22, 23} {
			// What is here is received although the context has ended.
			if _, err := w.Probe(2, mpi.AnyTag); err != nil {
				return err
			}
			if s, err := mpi.RecvContext(ctx, w, buf, 2, mpi.AnyTag); err != nil || s.Tag != 1 || buf[0] != want {
				return fmt.Errorf("received %v, %+v, %v; want %d", buf, s, err, want)
			}
		}
		return nil
	})
}

// A message that is on its way when the context ends is received, or is for the next receive: it is
// never lost.
func TestContextsLoseNoMessage(t *testing.T) {
	for _, size := range []int{1, 40_000} {
		local(t, 2, func(w *mpi.Comm) error {
			const messages = 60
			buf := make([]int, size)
			for i := range messages {
				if w.Rank() == 1 {
					time.Sleep(time.Duration(i%5) * 100 * time.Microsecond)
					buf[0] = i
					if err := mpi.Send(w, buf, 0, 0); err != nil {
						return err
					}
					continue
				}
				for {
					ctx, cancel := context.WithTimeout(context.Background(), 200*time.Microsecond)
					_, err := mpi.RecvContext(ctx, w, buf, 1, 0)
					cancel()
					if err == nil {
						break
					}
					if !errors.Is(err, context.DeadlineExceeded) {
						return err
					}
				}
				if buf[0] != i {
					return fmt.Errorf("message %d is %d", i, buf[0])
				}
			}
			return nil
		})
	}
}

// A receive that is cancelled ends with an error, and takes no message.
func TestCancel(t *testing.T) {
	local(t, 1, func(w *mpi.Comm) error {
		buf := []int{0}
		r, err := mpi.Irecv(w, buf, 0, 0)
		if err != nil {
			return err
		}
		if !r.Cancel() {
			return errors.New("it wasn't cancelled")
		}
		if _, err := r.Wait(); !errors.Is(err, mpi.ErrCancelled) || r.Active() || r.Cancel() {
			return fmt.Errorf("Wait: %v; active: %v", err, r.Active())
		}
		if err := mpi.Send(w, []int{7}, 0, 0); err != nil {
			return err
		}
		_, err = mpi.Recv(w, buf, 0, 0)
		return errors.Join(err, want("received", buf, []int{7}))
	})
}

// A wait that lasts is reported, with the rank that is waited for, again and again, and no more
// when that isn't asked for.
func TestReportWaits(t *testing.T) {
	var mu sync.Mutex
	var said []string
	local(t, 3, func(w *mpi.Comm) error {
		if w.Rank() == 2 {
			for {
				mu.Lock()
				n := len(said)
				mu.Unlock()
				if n >= 2 {
					break
				}
				time.Sleep(time.Millisecond)
			}
			if err := mpi.Send(w, []int{1}, 0, 4); err != nil {
				return err
			}
		}
		if w.Rank() == 0 {
			w.ReportWaits(3*time.Millisecond, func(sentence string) {
				mu.Lock()
				said = append(said, sentence)
				mu.Unlock()
			})
			if _, err := mpi.Recv(w, []int{0}, 2, 4); err != nil {
				return err
			}
			w.ReportWaits(0, nil)
			mu.Lock()
			said = said[:2]
			mu.Unlock()
		}
		if w.Rank() == 1 {
			time.Sleep(20 * time.Millisecond)
		}
		return w.Barrier()
	})
	if len(said) != 2 {
		t.Fatalf("reports: %q", said)
	}
	for _, s := range said {
		if !strings.HasPrefix(s, "rank 0 waits for a message from rank 2 with tag 4, since ") {
			t.Errorf("it said %q", s)
		}
	}
}
