package join

import (
	"fmt"

	"golang.org/x/sys/unix"

	"banyan/internal/counters"
	"banyan/internal/job/env"
)

// countersPage is where this process counts for those who watch it, nil if nobody does.
func countersPage() (*counters.Page, error) {
	fd, is, err := env.TakeCountersFD()
	if !is {
		return nil, err
	}
	defer unix.Close(fd)
	memory, err := unix.Mmap(fd, 0, counters.Size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("the memory of the counters: %w", err)
	}
	return counters.On(memory)
}
