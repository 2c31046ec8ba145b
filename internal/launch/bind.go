package launch

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Where the processes of a job may run.
const (
	BindAuto = "auto" // each on its share of the launcher's cores, if there are enough for all
	BindNone = "none" // wherever the launcher may
	BindCore = "core" // each on one of the launcher's cores, in turn
)

func (p *plan) checkBind() error {
	switch p.Bind {
	case "":
		p.Bind = BindAuto
	case BindAuto, BindNone, BindCore:
	default:
		return fmt.Errorf("processes can't be bound to %q; there are auto, none and core", p.Bind)
	}
	return nil
}

// places are the cores that each process is bound to; none: they aren't.
type places [][]int

// places are to be asked for, and entered, by the thread that starts the
// processes, for these inherit where it may run.
func (p *plan) places() (places, error) {
	if p.Bind == BindNone {
		return nil, nil
	}
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return nil, os.NewSyscallError("sched_getaffinity", err)
	}
	var cores []int
	for core := range len(allowed) * 64 {
		if allowed.IsSet(core) {
			cores = append(cores, core)
		}
	}
	return placesOf(p.Bind, cores, p.size), nil
}

// placesOf divides cores among processes.
//
// The kernel likes to put processes that wake each other onto one core, where a
// message takes two changes of process. So they are kept apart by default, as far
// as that leaves no core idle.
func placesOf(bind string, cores []int, processes int) places {
	if bind == BindAuto && (processes > len(cores) || processes == 1) {
		return nil
	}
	all := make(places, processes)
	for i := range all {
		switch bind {
		case BindCore:
			all[i] = []int{cores[i%len(cores)]}
		default:
			all[i] = cores[i*len(cores)/processes : (i+1)*len(cores)/processes]
		}
	}
	return all
}

// bound runs f on a thread that enter may bind, and sets it free again.
func bound(f func() error) error {
	var before unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return os.NewSyscallError("sched_getaffinity", err)
	}
	defer unix.SchedSetaffinity(0, &before)
	return f()
}

// enter makes the next process start on its cores.
func (x places) enter(process int) error {
	if x == nil {
		return nil
	}
	var set unix.CPUSet
	for _, core := range x[process] {
		set.Set(core)
	}
	return os.NewSyscallError("sched_setaffinity", unix.SchedSetaffinity(0, &set))
}
