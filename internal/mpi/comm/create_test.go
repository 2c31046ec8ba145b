package comm_test

import (
	"slices"
	"testing"

	"banyan/internal/mpi/comm"
	"banyan/internal/proto"
)

// worlds runs f as each process of a job of n ranks with so many replicas.
func worlds(t *testing.T, n, replicas int, f func(w *comm.Comm, replica int)) {
	t.Helper()
	local(t, n, replicas, func(w *comm.Comm, replica int) error {
		f(w, replica)
		return nil
	})
}

// say passes a number around the ring of a communicator. No other communicator may receive its
// messages.
func say(t *testing.T, c *comm.Comm, number byte) {
	t.Helper()
	next, last := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	in := make([]byte, 1)
	if _, err := sendrecv(c, []byte{number}, next, in, last, 7); err != nil || in[0] != number {
		t.Errorf("heard %d in place of %d: %v", in[0], number, err)
	}
}

// Groups made by all members, or by the group's only, again and again, have messages of their own,
// ranks in the order of the group, and the same contexts at every replica.
func TestCreate(t *testing.T) {
	worlds(t, 5, 2, func(w *comm.Comm, replica int) {
		odd := w.Rank() % 2
		group := [][]proto.Rank{{4, 0, 2}, {1, 3}}[odd]
		made := map[int]*comm.Comm{} // in the same order at all members
		for i := range 3 {
			c, err := w.Create(group)
			if err != nil || c == nil || c.Size() != len(group) || c.Ranks()[c.Rank()] != proto.Rank(w.Rank()) {
				t.Errorf("Create: %v, %v", c, err)
				return
			}
			made[3*i] = c
			if odd == 0 { // the others don't take part
				if c, err = w.CreateGroup(group, i/2); err != nil || !slices.Equal(c.Ranks(), group) {
					t.Errorf("CreateGroup: %v", err)
					return
				}
				made[3*i+1] = c
			}
			if c, err = w.Create([]proto.Rank{0, 1}); err != nil || (c != nil) != (w.Rank() < 2) {
				t.Errorf("Create of some: %v, %v", c, err)
				return
			}
			if c != nil {
				made[3*i+2] = c
			}
		}
		for i := range 9 {
			for j, d := range made {
				if made[i] != nil && made[i].Same(d) != (i == j) {
					t.Errorf("communicators %d and %d are the same, or one isn't", i, j)
				}
			}
			if made[i] != nil {
				say(t, made[i], byte(i))
			}
		}
		if _, err := made[0].Create(group[:1]); err != nil {
			t.Error(err)
		}
		if outside := proto.Rank(1 - odd); w.Rank() == int(group[0]) {
			if _, err := made[0].CreateGroup([]proto.Rank{group[0], outside}, 0); err == nil {
				t.Error("a group of ranks that aren't members is accepted")
			}
		}
		for _, c := range made {
			if err := c.Free(); err != nil {
				t.Error(err)
			}
		}
	})
}

// A rank's communicator with itself carries its own messages only.
func TestSelf(t *testing.T) {
	worlds(t, 3, 1, func(w *comm.Comm, _ int) {
		s, err := comm.Self(w.Engine())
		if err != nil {
			t.Error(err)
			return
		}
		say(t, s, byte(w.Rank()))
		d, err := s.Dup()
		if err != nil || d.Size() != 1 {
			t.Error(err)
			return
		}
		say(t, d, byte(w.Rank()))
		if s.Free() == nil {
			t.Error("MPI_COMM_SELF can be freed")
		}
	})
}
