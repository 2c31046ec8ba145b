package mpi_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"banyan/mpi"
)

// Ranks die one after the other. All live ranks see the same views, in order.
func TestViews(t *testing.T) {
	const n = 6
	var mu sync.Mutex
	seen := map[uint64]string{}
	localWithCrashes(t, n, func(w *mpi.Comm) error {
		if v := w.View(); v.Number < 1 || len(v.Members) > n {
			return fmt.Errorf("the first view is %+v", v)
		}
		if w.Rank() == 0 || w.Rank() == 3 || w.Rank() == 5 {
			time.Sleep(time.Duration(w.Rank()) * 10 * time.Millisecond)
			return errCrash
		}
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		next := uint64(1)
		for v := range w.Views(ctx) {
			if v.Number != next {
				return fmt.Errorf("view %d, want %d", v.Number, next)
			}
			next++
			mu.Lock()
			text := fmt.Sprintf("%+v", v)
			if other, ok := seen[v.Number]; ok && other != text {
				return fmt.Errorf("view %s, another is %s", text, other)
			}
			seen[v.Number] = text
			mu.Unlock()
			if len(v.Members) == n-3 {
				if w.View().Number != v.Number {
					return fmt.Errorf("in force is %d, not %d", w.View().Number, v.Number)
				}
				return nil
			}
		}
		return fmt.Errorf("rank %d still waits for a view of three", w.Rank())
	})
	if len(seen) < 2 || len(seen) > 4 {
		t.Errorf("views %v", seen)
	}
}

// When one of two replicas dies, the other goes on and is alone in the next view.
func TestViewsOfReplicas(t *testing.T) {
	var first sync.Once
	localWithCrashes(t, 1, func(w *mpi.Comm) error {
		dies := false
		first.Do(func() { dies = true })
		if dies {
			return errCrash
		}
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		for v := range w.Views(ctx) {
			if v.Number == 2 {
				if len(v.Members) != 1 || len(v.Died)+len(v.Silent) != 1 || v.Members[0].Rank != 0 {
					return fmt.Errorf("%+v", v)
				}
				return nil
			}
		}
		return fmt.Errorf("no second view")
	}, mpi.WithReplicas(2))
}
