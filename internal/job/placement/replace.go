package placement

import (
	"fmt"
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
	if alive == 0 {
		return -1, "", fmt.Errorf("no host lives")
	}
	share := (running + alive - 1) / alive // of hosts without numbers
	// near is the smallest kind of domain that a host shares with a replica of the rank.
	levels := j.levels()
	apart := make([]int, len(j.Hosts)) // how many levels it is apart from all
	for _, level := range levels {
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
	best, bestKey := -1, [6]int{}
	var reasons []string
	for h, x := range j.Hosts {
		most, full := x.Slots, false
		switch {
		case x.Slots == 0:
			full = load[h] >= share
			if most = x.Max; most == 0 {
				most = 1 << 30
			}
		default:
			full = load[h] >= x.Slots
			if j.Oversubscribe {
				if most = max(x.Max, x.Slots); x.Max == 0 {
					most = 1 << 30
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
		if best < 0 || greater(key, bestKey) {
			best, bestKey = h, key
		}
	}
	if best < 0 {
		if len(reasons) == 0 {
			reasons = append(reasons, "no host lives on which its program may run")
		}
		return -1, "", fmt.Errorf("no host can have it: %s; a spare host would (--spare-hosts)", strings.Join(reasons, ", "))
	}
	switch missing := len(levels) - apart[best]; {
	case apart[best] == 0:
		note = fmt.Sprintf("it shares %s with another replica of its rank", j.Hosts[best].Name)
	case missing > 0:
		note = fmt.Sprintf("it shares its %v with another replica of its rank", levels[missing-1])
	}
	return best, note, nil
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

// greater compares keys, the first number first.
func greater(a, b [6]int) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] > b[i]
		}
	}
	return false
}
