package file

import (
	"fmt"
	"path/filepath"
	"testing"

	"banyan/internal/mpi/comm"
)

// The same with replicas: all read what one of them reads, and the file is that of the undisturbed
// run.
func TestCollectiveReplicas(t *testing.T) {
	dir := t.TempDir()
	for _, replicas := range []int{2, 3} {
		replicated(t, 3, replicas, func(w *comm.Comm) error {
			for i := range uint64(6) {
				if err := access(w, dir, uint64(replicas)<<30|i); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// A change of the shared pointer that is made again by another replica counts once, also when other
// ranks have changed it since.
func TestJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pointer")
	first, second := &journalPointer{path: path}, &journalPointer{path: path, sync: true}
	defer first.close(true)
	defer second.close(false)
	for i, c := range []struct {
		by           caller
		n, was, then int64
	}{
		{caller{rank: 1, number: 1, step: 1}, 5, 0, 5},
		{caller{rank: 1, number: 1, step: 1, again: true}, 5, 0, 5}, // the last change of all
		{caller{rank: 0, number: 1, step: 1}, 3, 5, 8},
		{caller{rank: 2, number: 1, step: 1, again: true}, 4, 8, 12}, // nobody had made it
		{caller{rank: 1, number: 1, step: 1, again: true}, 5, 0, 12}, // the last one of its rank
		{caller{rank: 1, number: 1, step: 2, again: true}, 1, 12, 13},
		{caller{rank: 0, number: 1, step: 1, again: true}, 3, 5, 13},
	} {
		was, err := second.add(c.n, c.by)
		then, err2 := first.get()
		if err != nil || err2 != nil || was != c.was || then != c.then {
			t.Errorf("%d: %d, then %d, want %d, then %d (%v, %v)", i, was, then, c.was, c.then, err, err2)
		}
	}
	if err := first.set(7, caller{number: 9}); err != nil {
		t.Error(err)
	}
	if n, err := second.get(); n != 7 || err != nil {
		t.Error(fmt.Sprint(n, err))
	}
}
