package comm_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"banyan/internal/job/join"
	"banyan/internal/mpi/comm"
)

// In leader order all replicas of a rank see the same waits end with their contexts, although the
// contexts of some end earlier, and go on with the same messages.
func TestContextsInLeaderOrder(t *testing.T) {
	const ranks, replicas, rounds = 2, 2, 30
	var seen [ranks * replicas]string
	localWith(t, join.LocalConfig{Ranks: ranks, Replicas: replicas, Leader: true}, func(w *comm.Comm, replica int) error {
		return cutOff(w, replica, rounds, &seen[replica*ranks+w.Rank()])
	})
	if seen[0] != seen[2] || seen[1] != seen[3] {
		t.Errorf("the replicas saw %q", seen)
	}
}

// cutOff has rank 0 receive, wait and probe with contexts that end at about the time at which rank
// 1 sends; at its replica 1 earlier.
func cutOff(w *comm.Comm, replica, rounds int, seen *string) error {
	for i := range rounds {
		if w.Rank() == 1 {
			time.Sleep(time.Duration(i%4) * time.Millisecond)
			if err := w.Send([]byte{byte(i)}, 0, 0); err != nil {
				return err
			}
			if _, err := w.Recv(make([]byte, 1), 0, 1); err != nil {
				return err
			}
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(2-replica)*time.Millisecond)
		defer cancel()
		b, got := make([]byte, 1), errors.New("none")
		switch i % 3 {
		case 0:
			_, got = w.RecvContext(ctx, b, 1, 0)
		case 1:
			_, got = w.ProbeContext(ctx, comm.AnySource, 0)
		case 2:
			p, err := w.Irecv(b, comm.AnySource, 0)
			if err != nil {
				return err
			}
			var done bool
			if _, done, got = p.WaitContext(ctx); !done {
				if _, err := p.Wait(); err != nil { // it goes on
					return err
				}
			}
		}
		if got != nil && !errors.Is(got, context.DeadlineExceeded) {
			return got
		}
		*seen += fmt.Sprint(got == nil)[:1]
		if got != nil && i%3 == 0 || i%3 == 1 {
			if _, err := w.Recv(b, 1, 0); err != nil {
				return err
			}
		}
		if b[0] != byte(i) {
			return fmt.Errorf("message %d is %d", i, b[0])
		}
		if err := w.Send(b, 1, 1); err != nil {
			return err
		}
	}
	return nil
}
