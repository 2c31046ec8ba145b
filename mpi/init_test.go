package mpi_test

import (
	"errors"
	"testing"

	"banyan/mpi"
)

// A process that is started alone is a job of one. It may call Finalize twice, also deferred. Calls
// after that return an error.
func TestInitAndFinalize(t *testing.T) {
	p, err := mpi.Init()
	if err != nil {
		t.Fatal(err)
	}
	w := p.World()
	if w.Rank() != 0 || w.Size() != 1 {
		t.Errorf("rank %d of %d", w.Rank(), w.Size())
	}
	for range 2 {
		if err := p.Finalize(); err != nil {
			t.Error(err)
		}
	}
	if _, err := mpi.Recv(w, []int{0}, 0, 0); !errors.Is(err, mpi.ErrClosed) {
		t.Errorf("Recv after Finalize: %v", err)
	}
}
