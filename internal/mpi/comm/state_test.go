package comm_test

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"

	"banyan/internal/mpi/comm"
	"banyan/internal/runtime/engine"
)

var _ engine.Part = (*comm.Comm)(nil)

// busy makes a communicator count everything that it counts.
func busy(c *comm.Comm) error {
	d, err := c.Dup()
	if err != nil {
		return err
	}
	if err := d.Free(); err != nil {
		return err
	}
	if _, err := c.CreateGroup(c.Ranks(), 7); err != nil {
		return err
	}
	var pending []comm.Operation
	for range 3 {
		o, err := c.Barrier().Start()
		if err != nil {
			return err
		}
		pending = append(pending, o)
	}
	for _, o := range pending {
		if err := o.Wait(); err != nil {
			return err
		}
	}
	if err := c.Barrier().Keep(); err != nil {
		return err
	}
	return c.Barrier().Run()
}

// TestState: a communicator that has taken another's state goes on as that one does. In particular
// it makes the same further communicators, and none with a context that was used before.
func TestState(t *testing.T) {
	var mu sync.Mutex
	states, later := map[[2]int][]byte{}, map[[2]int][]byte{}
	local(t, 3, 2, func(c *comm.Comm, replica int) error {
		if err := busy(c); err != nil {
			return err
		}
		mu.Lock()
		states[[2]int{c.Rank(), replica}] = c.AppendState(nil)
		mu.Unlock()
		err := busy(c)
		mu.Lock()
		later[[2]int{c.Rank(), replica}] = c.AppendState(nil)
		mu.Unlock()
		return err
	})
	local(t, 3, 2, func(c *comm.Comm, replica int) error {
		me := [2]int{c.Rank(), replica}
		state := states[[2]int{c.Rank(), 1 - replica}]
		if !bytes.Equal(state, states[me]) {
			return fmt.Errorf("replicas differ: %x and %x", state, states[me])
		}
		if err := c.Restore(state); err != nil {
			return err
		}
		if err := busy(c); err != nil {
			return err
		}
		if s := c.AppendState(nil); !bytes.Equal(s, later[me]) {
			return fmt.Errorf("later it is %x, and without a restoration %x", s, later[me])
		}
		for i := range state {
			if err := c.Restore(state[:i]); !errors.Is(err, comm.ErrState) {
				return fmt.Errorf("cut off after %d bytes: %v", i, err)
			}
		}
		return nil
	})
}

// TestStateOfSmallCollectives: a state can be taken over again and again when the common memory
// was about to be opened each time. Once a count of one more was refused: a job could go back only
// once.
func TestStateOfSmallCollectives(t *testing.T) {
	local(t, 2, 1, func(c *comm.Comm, _ int) error {
		for range comm.SharedFrom - 1 {
			if c.CountSmall() {
				return errors.New("the common memory is opened early")
			}
		}
		for round := range 4 {
			if !c.CountSmall() {
				return fmt.Errorf("round %d: the common memory isn't opened", round)
			}
			if err := c.Restore(c.AppendState(nil)); err != nil {
				return fmt.Errorf("round %d: %w", round, err)
			}
		}
		return nil
	})
}
