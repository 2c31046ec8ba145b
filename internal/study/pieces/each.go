package pieces

import (
	"context"
	"errors"
	"sync"
	"time"

	"banyan/internal/study/parallel"
)

// Each computes items 0 … n-1 of a step, except those that a store keeps, on so many workers, as
// [parallel.Each] does, and returns all in their order. done, which may be nil, is called with how
// many there are: first with those that were kept. When ctx ends, or an item fails, what is
// finished is kept.
func Each[T any](ctx context.Context, s *Store, step string, n, workers int, done func(int), do func(worker, i int) (T, error)) ([]T, error) {
	items := make([]T, n)
	if done == nil {
		done = func(int) {}
	}
	if s == nil {
		return items, parallel.Each(ctx, n, workers, done, func(worker, i int) (err error) {
			items[i], err = do(worker, i)
			return err
		})
	}
	k := kept[T]{store: s, step: step, name: fileName(step), of: n, items: items}
	known, err := k.load()
	if err != nil {
		return nil, err
	}
	var missing []int
	for i, is := range known {
		if !is {
			missing = append(missing, i)
		}
	}
	there := n - len(missing)
	done(there)
	if k.complete {
		return items, nil
	}
	stop := k.writeAlong()
	err = parallel.Each(ctx, len(missing), workers, func(computed int) { done(there + computed) }, func(worker, i int) error {
		i = missing[i]
		item, err := do(worker, i)
		if err == nil {
			k.add(i, item)
		}
		return err
	})
	if err = errors.Join(err, stop()); err != nil {
		return nil, err
	}
	return items, k.finish()
}

// Once computes a single result, unless the store keeps it.
func Once[T any](ctx context.Context, s *Store, step string, do func() (T, error)) (T, error) {
	all, err := Each(ctx, s, step, 1, 1, nil, func(int, int) (T, error) { return do() })
	if err != nil {
		var none T
		return none, err
	}
	return all[0], nil
}

// Kept returns the result of a step of [Once], and whether the store has it.
func Kept[T any](s *Store, step string) (result T, is bool, err error) {
	if s == nil {
		return result, false, nil
	}
	k := kept[T]{store: s, step: step, name: fileName(step), of: 1, items: make([]T, 1)}
	known, err := k.load()
	return k.items[0], err == nil && known[0], err
}

// kept writes the items of a step as they come.
type kept[T any] struct {
	store *Store
	step  string
	name  string // of its files
	of    int
	items []T

	mutex    sync.Mutex
	pending  []int    // items that no piece has yet
	failed   error    // the first
	next     int      // the number of the next piece
	pieces   []string // files that are there, but for that of all
	complete bool     // one file has all
}

func (k *kept[T]) add(i int, item T) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.items[i] = item
	k.pending = append(k.pending, i)
}

// writeAlong writes a piece now and then. The function that it returns writes the last one, and
// returns the first error.
func (k *kept[T]) writeAlong() (stop func() error) {
	end := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		ticker := time.NewTicker(k.store.interval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				k.flush()
			case <-end:
				return
			}
		}
	})
	return func() error {
		close(end)
		ended.Wait()
		k.flush()
		return k.failed
	}
}
