package launcher

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// Values of Config.Bind. A list of numbers ("1,0") is another: each process runs on one of these
// cores, in turn.
const (
	BindAuto = "auto" // each process on its share of the launcher's cores, if there are enough for all
	BindNone = "none" // wherever the launcher may run
	BindCore = "core" // each process on one of the launcher's cores, see InTurn
)

func (p *plan) checkBind() error {
	switch p.Bind {
	case "":
		p.Bind = BindAuto
	case BindAuto, BindNone, BindCore:
	default:
		if _, err := coreList(p.Bind); err != nil {
			return fmt.Errorf("processes can't be bound to %q; there are auto, none, core, and lists of cores, such as 0,2", p.Bind)
		}
	}
	return nil
}

// coreList reads numbers of cores, with commas between them.
func coreList(text string) ([]int, error) {
	var cores []int
	for number := range strings.SplitSeq(text, ",") {
		core, err := strconv.ParseUint(number, 10, 10) // a CPUSet has 1024
		if err != nil {
			return nil, err
		}
		cores = append(cores, int(core))
	}
	return cores, nil
}

// coreSets are the cores that each process is bound to, by Proc. nil: processes aren't bound.
type coreSets [][]int

// coreSets are computed and entered by the thread that starts the processes, because processes
// inherit the cores of that thread.
func (p *plan) coreSets() (coreSets, error) {
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
	return divideCores(p.Bind, cores, p.layout, p.Protocol != ProtocolMirror), nil
}

// divideCores divides cores among processes.
//
// The kernel tends to put processes that wake each other onto one core, where each message takes
// two process switches. So processes are kept apart by default, as far as that leaves no core idle.
func divideCores(bind string, cores []int, layout layout.Layout, apart bool) coreSets {
	n := layout.Procs()
	if bind == BindAuto && (n > len(cores) || n == 1) {
		return nil
	}
	all := make(coreSets, n)
	switch bind {
	case BindAuto:
		for i := range all {
			all[i] = cores[i*len(cores)/n : (i+1)*len(cores)/n]
		}
	case BindCore:
		for i, core := range InTurn(cores, layout, apart) {
			all[i] = []int{core}
		}
	default:
		list, _ := coreList(bind) // checked
		for i := range all {
			all[i] = []int{list[i%len(list)]}
		}
	}
	return all
}

// InTurn is the core of each process, if each is bound to one. It is the next in turn of the cores
// that have the fewest processes so far. If apart is set, a core without a replica of the same rank
// is preferred.
//
// The replicas of a rank do the same at about the same time: on one core they would take turns
// while another core idles. But with the mirror protocol, if the cores are separate, one replica
// layer runs ahead until it is throttled (package replica), and what it sends to the other layer
// waits there. On one core they go in step.
func InTurn(cores []int, layout layout.Layout, apart bool) []int {
	all := make([]int, layout.Procs())
	load := make([]int, len(cores))
	type rankOnCore struct {
		rank proto.Rank
		core int
	}
	taken := make(map[rankOnCore]bool)
	next := 0
	for i := range all {
		r, best := layout.Rank(proto.Proc(i)), next
		for k := range cores {
			c := (next + k) % len(cores)
			if load[c] < load[best] || apart && load[c] == load[best] && taken[rankOnCore{r, best}] && !taken[rankOnCore{r, c}] {
				best = c
			}
		}
		all[i], taken[rankOnCore{r, best}] = cores[best], true
		load[best]++
		next = (best + 1) % len(cores)
	}
	return all
}

// restoringCores runs f, which may bind the thread, and gives the thread its cores back.
func restoringCores(f func() error) error {
	var before unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return os.NewSyscallError("sched_getaffinity", err)
	}
	defer unix.SchedSetaffinity(0, &before)
	return f()
}

// enter binds the thread to the cores of the process that it starts next.
func (x coreSets) enter(process proto.Proc) error {
	if x == nil {
		return nil
	}
	var set unix.CPUSet
	for _, core := range x[process] {
		set.Set(core)
	}
	return os.NewSyscallError("sched_setaffinity", unix.SchedSetaffinity(0, &set))
}
