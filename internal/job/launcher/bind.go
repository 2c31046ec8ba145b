package launcher

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// Values of Config.Bind. A list of numbers ("1,0") is another: each process runs on one of these
// cores, in turn.
const (
	BindAuto = "auto" // each process on its share of its host's cores, if there are enough for all
	BindNone = "none" // wherever the agent of its host may run
	BindCore = "core" // each process on one of its host's cores, see InTurn
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

// coreSets are the cores that processes are bound to, in the order of the processes. nil: they
// aren't bound.
type coreSets [][]int

// of are the cores of a process, nil if it isn't bound.
func (x coreSets) of(i int) []int {
	if x == nil {
		return nil
	}
	return x[i]
}

// bindAll divides the cores of a host among the processes that start there.
func (p *plan) bindAll(cores []int, procs []proto.Proc) coreSets {
	if p.Bind == BindNone {
		return nil
	}
	ranks := make([]proto.Rank, len(procs))
	for i, id := range procs {
		ranks[i] = p.layout.Rank(id)
	}
	return divideCores(p.Bind, cores, ranks, p.Protocol != ProtocolMirror)
}

// bindMoved are the cores of a replacement on a host that isn't its predecessor's. The cores there
// weren't divided with it in mind: it may run anywhere, unless each process is to be on a core.
// load is how many processes a core has.
func (p *plan) bindMoved(id proto.Proc, cores []int, load func(core int) int) []int {
	switch p.Bind {
	case BindAuto, BindNone:
		return nil
	case BindCore:
		return []int{slices.MinFunc(cores, func(a, b int) int { return load(a) - load(b) })}
	}
	list, _ := coreList(p.Bind) // checked
	return []int{list[int(id)%len(list)]}
}

// divideCores divides the cores of a host among processes of these ranks.
//
// The kernel tends to put processes that wake each other onto one core, where each message takes
// two process switches. So processes are kept apart by default, as far as that leaves no core idle.
func divideCores(bind string, cores []int, ranks []proto.Rank, apart bool) coreSets {
	n := len(ranks)
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
		for i, core := range inTurn(cores, ranks, apart) {
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

// InTurn is the core of each process of a job on one host, if each is bound to one.
func InTurn(cores []int, layout layout.Layout, apart bool) []int {
	return inTurn(cores, ranksOf(layout), apart)
}

// ranksOf are the ranks of all processes.
func ranksOf(layout layout.Layout) []proto.Rank {
	ranks := make([]proto.Rank, layout.Procs())
	for i := range ranks {
		ranks[i] = layout.Rank(proto.Proc(i))
	}
	return ranks
}

// inTurn is the core of each process of these ranks: the next in turn of the cores that have the
// fewest processes so far. If apart is set, a core without a replica of the same rank is preferred.
//
// The replicas of a rank do the same at about the same time: on one core they would take turns
// while another core idles. But with the mirror protocol, if the cores are separate, one replica
// layer runs ahead until it is throttled (package replica), and what it sends to the other layer
// waits there. On one core they go in step.
func inTurn(cores []int, ranks []proto.Rank, apart bool) []int {
	all := make([]int, len(ranks))
	load := make([]int, len(cores))
	type rankOnCore struct {
		rank proto.Rank
		core int
	}
	taken := make(map[rankOnCore]bool)
	next := 0
	for i, r := range ranks {
		best := next
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
