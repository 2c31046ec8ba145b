package parallel

import (
	"context"
	"errors"
	"testing"
)

func TestEach(t *testing.T) {
	for _, workers := range []int{0, 1, 3, 100} {
		const n = 50
		got := make([]int, n)
		last := 0
		err := Each(context.Background(), n, workers, func(done int) { last = done }, func(_, i int) error {
			got[i]++
			return nil
		})
		if err != nil || last != n {
			t.Errorf("%d workers: %d done, %v", workers, last, err)
		}
		for i, times := range got {
			if times != 1 {
				t.Errorf("%d workers: simulation %d ran %d times", workers, i, times)
			}
		}
	}
	if err := Each(context.Background(), 0, 4, nil, nil); err != nil {
		t.Error(err)
	}
}

func TestEachStops(t *testing.T) {
	wrong := errors.New("wrong")
	ran := 0
	err := Each(context.Background(), 100, 1, nil, func(_, i int) error {
		ran++
		if i == 3 {
			return wrong
		}
		return nil
	})
	if err != wrong || ran != 4 {
		t.Errorf("%v after %d", err, ran)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Each(ctx, 100, 2, nil, func(_, _ int) error { return nil }); err != context.Canceled {
		t.Errorf("%v after the end", err)
	}
}

func TestSeed(t *testing.T) {
	seen := map[uint64]bool{}
	for a := range 100 {
		for b := range 100 {
			seen[Seed(1, a, b)] = true
		}
	}
	if len(seen) != 10_000 {
		t.Errorf("%d different seeds of 10,000", len(seen))
	}
}
