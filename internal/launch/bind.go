package launch

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Where the processes of a job may run.
const (
	BindNone = "none" // wherever the launcher may
	BindCore = "core" // each on one of the launcher's cores, in turn
)

func (p *plan) checkBind() error {
	switch p.Bind {
	case "":
		p.Bind = BindNone
	case BindNone, BindCore:
	default:
		return fmt.Errorf("processes can't be bound to %q; there are none and core", p.Bind)
	}
	return nil
}

// places are the cores that processes are bound to; none: they aren't.
type places struct{ cores []int }

// places are to be asked for, and entered, by the thread that starts the
// processes, for these inherit where it may run.
func (p *plan) places() (*places, error) {
	if p.Bind != BindCore {
		return &places{}, nil
	}
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return nil, os.NewSyscallError("sched_getaffinity", err)
	}
	x := &places{}
	for core := range len(allowed) * 64 {
		if allowed.IsSet(core) {
			x.cores = append(x.cores, core)
		}
	}
	return x, nil
}

// enter makes the next process start on its core.
func (x *places) enter(process int) error {
	if len(x.cores) == 0 {
		return nil
	}
	var one unix.CPUSet
	one.Set(x.cores[process%len(x.cores)])
	return os.NewSyscallError("sched_setaffinity", unix.SchedSetaffinity(0, &one))
}
