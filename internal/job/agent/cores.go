package agent

import (
	"os"

	"golang.org/x/sys/unix"
)

// restoringCores runs f, which starts processes on this thread, and gives the thread its cores
// back. f calls enter before each start: a process inherits the cores of the thread that starts it.
func restoringCores(specs []Spec, f func(enter func(*Spec) error) error) error {
	bound := false
	for i := range specs {
		bound = bound || specs[i].Cores != nil
	}
	if !bound {
		return f(func(*Spec) error { return nil })
	}
	var before unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return startError(specs[0].Proc, os.NewSyscallError("sched_getaffinity", err))
	}
	defer unix.SchedSetaffinity(0, &before)
	return f(func(s *Spec) error {
		set := before
		if s.Cores != nil {
			set.Zero()
			for _, core := range s.Cores {
				set.Set(core)
			}
		}
		return os.NewSyscallError("sched_setaffinity", unix.SchedSetaffinity(0, &set))
	})
}
