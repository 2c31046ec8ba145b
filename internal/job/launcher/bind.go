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

// Where the processes of a job may run; or, as a list of numbers ("1,0"), each on one of these
// cores, in turn.
const (
	BindAuto = "auto" // each on its share of the launcher's cores, if there are enough for all
	BindNone = "none" // wherever the launcher may
	BindCore = "core" // each on one of the launcher's cores, see InTurn
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
	return placesOf(p.Bind, cores, p.layout, p.Protocol != ProtocolMirror), nil
}

// placesOf divides cores among processes.
//
// The kernel likes to put processes that wake each other onto one core, where a
// message takes two changes of process. So they are kept apart by default, as far
// as that leaves no core idle.
func placesOf(bind string, cores []int, layout layout.Layout, apart bool) places {
	n := layout.Procs()
	if bind == BindAuto && (n > len(cores) || n == 1) {
		return nil
	}
	all := make(places, n)
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

// InTurn is the core of each process, where each is bound to one: the next in turn, of those that have
// fewest processes so far, but, if replicas are to be apart, one that has no replica of the same rank, if there is one.
//
// The replicas of a rank do the same at about the same time: on one core they would take turns at it while another
// idles. But with the mirror protocol one world runs ahead on cores of its own turn until it is held back
// (package replica), and what it sends to the other waits there. On one core they go in step.
func InTurn(cores []int, layout layout.Layout, apart bool) []int {
	all := make([]int, layout.Procs())
	load := make([]int, len(cores))
	type place struct {
		rank proto.Rank
		core int
	}
	taken := make(map[place]bool)
	next := 0
	for i := range all {
		r, best := layout.Rank(proto.Proc(i)), next
		for k := range cores {
			c := (next + k) % len(cores)
			if load[c] < load[best] || apart && load[c] == load[best] && taken[place{r, best}] && !taken[place{r, c}] {
				best = c
			}
		}
		all[i], taken[place{r, best}] = cores[best], true
		load[best]++
		next = (best + 1) % len(cores)
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
