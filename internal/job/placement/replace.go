package placement

import (
	"fmt"
	"slices"
	"strings"

	"banyan/internal/proto"
)

// Running is where the processes of a job run by now.
type Running struct {
	At    []int  // by Proc: the host of the process, -1 if it is dead
	Last  []int  // by Proc: the host on which it runs, or ran last
	Alive []bool // by host
}

// Replacement is the host for a replacement of a dead process: a living one that has no replica of
// the same rank. Hosts come first whose rack and zone have none either; then hosts with a free
// slot; then the host on which the dead process ran; then the host that has most of its neighbours,
// which are the processes with the same index among the replicas of their ranks; then the one with
// the smallest load. A host without a free slot isn't taken, unless hosts may be oversubscribed. A
// note says what could not be had.
func (j *Job) Replacement(p proto.Proc, now Running) (host int, note string, err error) {
	if !slices.Contains(now.Alive, true) {
		return -1, "", fmt.Errorf("no host lives")
	}
	homes, reasons := j.candidates(p, now)
	if len(homes) == 0 {
		if len(reasons) == 0 {
			reasons = append(reasons, "no host lives on which its program may run")
		}
		return -1, "", fmt.Errorf("no host can have it: %s; a spare host would (--spare-hosts)", strings.Join(reasons, ", "))
	}
	best := homes[0]
	levels := j.levels()
	switch missing := len(levels) - best.apart; {
	case best.apart == 0:
		note = fmt.Sprintf("it shares %s with another replica of its rank", j.Hosts[best.host].Name)
	case missing > 0:
		note = fmt.Sprintf("it shares its %v with another replica of its rank", levels[missing-1])
	}
	return best.host, note, nil
}

// Evacuation finds hosts for processes that leave theirs, which don't count as living any more: as
// many as possible find one together. Of those that can have several, the first has the one that
// Replacement prefers, if the others can be placed all the same. homes has -1 for those that find
// none.
func (j *Job) Evacuation(all []proto.Proc, now Running) (homes []int) {
	now.At = slices.Clone(now.At)
	for _, p := range all {
		now.At[p] = -1
	}
	options := make([][]home, len(all))
	room := make([]int, len(j.Hosts))
	for i, p := range all {
		options[i], _ = j.candidates(p, now)
		for _, x := range options[i] {
			room[x.host] = x.room
		}
	}
	homes = slices.Repeat([]int{-1}, len(all))
	on := make([][]int, len(j.Hosts)) // those of all that a host gets
	var find func(i int, tried []bool) bool
	find = func(i int, tried []bool) bool {
		for _, x := range options[i] {
			h := x.host
			if tried[h] {
				continue
			}
			tried[h] = true
			for k := 0; ; k++ {
				if len(on[h]) < room[h] {
					on[h] = append(on[h], i)
				} else if k == len(on[h]) {
					break
				} else if !find(on[h][k], tried) {
					continue
				} else {
					on[h][k] = i
				}
				homes[i] = h
				return true
			}
		}
		return false
	}
	for i := range all {
		find(i, make([]bool, len(j.Hosts)))
	}
	return homes
}

// home is a host that can have a replacement.
type home struct {
	host  int
	apart int // how many levels it is apart from all other replicas of the rank
	room  int // how many processes more it can have
	key   [6]int
}

// candidates are the hosts that can have a replacement of a process, the best first. reasons say
// why others can't.
func (j *Job) candidates(p proto.Proc, now Running) (homes []home, reasons []string) {
	rank, replica := j.Layout.Rank(p), j.Layout.Replica(p)
	allowed := j.allowed(j.partOf(rank))
	load, neighbours, alive, running := make([]int, len(j.Hosts)), make([]int, len(j.Hosts)), 0, 1
	for q, h := range now.At {
		if h < 0 || proto.Proc(q) == p {
			continue
		}
		running++
		load[h]++
		if j.Layout.Replica(proto.Proc(q)) == replica {
			neighbours[h]++
		}
	}
	for _, h := range now.Alive {
		if h {
			alive++
		}
	}
	share := (running + alive - 1) / max(alive, 1) // of hosts without numbers
	apart := make([]int, len(j.Hosts))             // how many levels it is apart from all
	for _, level := range j.levels() {
		domains := j.domains(level)
		taken := make(map[int]bool)
		for k := range j.Layout.Degree(rank) {
			if q := j.Layout.Proc(rank, k); q != p && now.At[q] >= 0 {
				taken[domains[now.At[q]]] = true
			}
		}
		for h := range apart {
			if !taken[domains[h]] {
				apart[h]++
			}
		}
	}
	const any = 1 << 30
	for h, x := range j.Hosts {
		most, full := x.Slots, false
		switch {
		case x.Slots == 0:
			full = load[h] >= share
			if most = x.Max; most == 0 {
				most = any
			}
		default:
			full = load[h] >= x.Slots
			if j.Oversubscribe {
				if most = max(x.Max, x.Slots); x.Max == 0 {
					most = any
				}
			}
		}
		switch {
		case !now.Alive[h] || !allowed[h]:
			continue
		case apart[h] == 0 && !j.AllowShared:
			reasons = append(reasons, x.Name+" has a replica of the same rank")
			continue
		case load[h] >= most:
			reasons = append(reasons, x.Name+" has no free slot")
			continue
		}
		key := [6]int{apart[h], number(!full), number(now.Last[p] == h), neighbours[h], -load[h], -h}
		homes = append(homes, home{h, apart[h], most - load[h], key})
	}
	slices.SortFunc(homes, func(a, b home) int { return slices.Compare(b.key[:], a.key[:]) })
	return homes, reasons
}

// partOf is the part that a rank runs.
func (j *Job) partOf(rank proto.Rank) int {
	for part := range j.parts() {
		if _, to := j.ranks(part); rank < to {
			return part
		}
	}
	panic(fmt.Sprintf("placement: rank %d", rank))
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}
