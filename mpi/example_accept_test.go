package mpi_test

import (
	"errors"
	"fmt"
	"time"

	"banyan/mpi"
)

// The two halves of a job connect at a port, whose name the first one publishes. Programs that
// were started apart do it in the same way.
func ExampleComm_Accept() {
	mpi.Main(func(w *mpi.Comm) error {
		half, err := w.Split(w.Rank()*2/w.Size(), 0)
		if err != nil {
			return err
		}
		var both *mpi.Connection
		if w.Rank()*2 < w.Size() {
			port := ""
			if half.Rank() == 0 {
				if port, err = half.OpenPort(); err != nil {
					return err
				}
				defer half.ClosePort(port)
				if err := half.Publish("the other half", port); err != nil {
					return err
				}
				defer half.Withdraw("the other half")
			}
			both, err = half.Accept(port, 0, time.Minute)
		} else {
			port := ""
			for half.Rank() == 0 && port == "" {
				if port, err = half.Lookup("the other half"); err != nil && !errors.Is(err, mpi.ErrName) {
					return err
				}
				time.Sleep(time.Millisecond) // it isn't published yet
			}
			both, err = half.Connect(port, 0, time.Minute)
		}
		if errors.Is(err, mpi.ErrPort) {
			return fmt.Errorf("there is no such port: %w", err)
		}
		if err != nil {
			return err
		}
		defer both.Disconnect()
		if first, own := both.Own(); both.Rank() == first {
			fmt.Printf("%d ranks of %d, from %d on\n", own, both.Size(), first)
		}
		return nil
	})
}
