package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Epochs rise over restarts, whatever the clock says, and processes that ask at one time get
// different ones.
func TestEpochsRise(t *testing.T) {
	path := filepath.Join(t.TempDir(), "epoch")
	next := func(floor uint64) uint64 {
		n, err := NextEpoch(t.Context(), path, floor)
		if err != nil {
			t.Error(err)
		}
		return n
	}
	if a, b, c, d := next(100), next(50), next(0), next(200); a != 100 || b != 101 || c != 102 || d != 200 {
		t.Error(a, b, c, d)
	}
	var mu sync.Mutex
	var got []uint64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			n := next(0)
			mu.Lock()
			defer mu.Unlock()
			got = append(got, n)
		})
	}
	all.Wait()
	slices.Sort(got)
	if got = slices.Compact(got); len(got) != 8 || got[0] != 201 || got[7] != 208 {
		t.Error(got)
	}
}

// A file that has lost its number is an error, never epoch 1 again.
func TestDamagedEpoch(t *testing.T) {
	for _, content := range []string{"", "12", "x\n", "-1\n", "4294967296\n", "1\n2\n"} {
		path := filepath.Join(t.TempDir(), "epoch")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if n, err := NextEpoch(t.Context(), path, 1); err == nil || !strings.Contains(err.Error(), "isn't an epoch") {
			t.Errorf("%q: %d, %v", content, n, err)
		}
	}
}

// A lock that isn't given back is waited for until the context ends.
func TestEpochLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "epoch")
	lock, err := open(path + ".lock")
	if err == nil {
		err = tryLock(lock)
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := NextEpoch(ctx, path, 1); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errLocked) {
		t.Error(err)
	}
	lock.Close()
	if n, err := NextEpoch(t.Context(), path, 1); n != 1 || err != nil {
		t.Error(n, err)
	}
}
