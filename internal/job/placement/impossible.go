package placement

import (
	"fmt"
	"slices"
	"strings"

	"banyan/internal/layout"
)

// ImpossibleError says why there is no placement, and what would be enough.
type ImpossibleError struct{ text string }

func (e *ImpossibleError) Error() string { return e.text }

// impossible says why there is no placement.
func (j *Job) impossible() error {
	domains := j.domains(ByHost)
	used := make(map[int]bool)
	slots, unlimited, spares := 0, false, 0
	for i, h := range j.Hosts {
		if h.Spare {
			spares++
			continue
		}
		used[domains[i]] = true
		slots += h.Slots
		unlimited = unlimited || h.Slots == 0
	}
	procs, degree := j.Layout.Procs(), j.Layout.MaxDegree()
	var text strings.Builder
	switch {
	case len(used) < degree && !j.AllowShared:
		fmt.Fprintf(&text, "%d replicas of a rank need %d hosts, and there %s", degree, degree, are(len(used), "host"))
		if same := j.same(domains); same != "" {
			fmt.Fprintf(&text, " (%s)", same)
		} else if spares > 0 {
			fmt.Fprintf(&text, " that %s spare", map[bool]string{true: "isn't", false: "aren't"}[len(used) == 1])
		}
	case !unlimited && slots < procs && !j.Oversubscribe:
		fmt.Fprintf(&text, "%s need %d slots, and the hosts have %d", j.what(), procs, slots)
	default:
		fmt.Fprintf(&text, "%s don't fit on the hosts: no host may have two replicas of a rank%s", j.what(),
			map[bool]string{true: ", and each program only its own hosts"}[j.Parts != nil])
	}
	text.WriteString(": " + j.enough())
	return &ImpossibleError{text.String()}
}

// are is "is 1 host" or "are 2 hosts".
func are(n int, what string) string {
	if n == 1 {
		return "is 1 " + what
	}
	return fmt.Sprintf("are %d %ss", n, what)
}

// what is what must be placed.
func (j *Job) what() string {
	l := j.Layout
	switch {
	case !l.Replicated():
		return fmt.Sprintf("%d ranks", l.Ranks())
	case l.Procs() == l.Ranks()*l.MaxDegree():
		return fmt.Sprintf("%d ranks with %d replicas (%d processes)", l.Ranks(), l.MaxDegree(), l.Procs())
	}
	return fmt.Sprintf("%d ranks with up to %d replicas (%d processes)", l.Ranks(), l.MaxDegree(), l.Procs())
}

// same names two hosts that are one machine, if there are such.
func (j *Job) same(domains []int) string {
	for i, h := range j.Hosts {
		if k := slices.Index(domains, domains[i]); k < i && !h.Spare {
			return fmt.Sprintf("%s and %s are the same machine", j.Hosts[k].Name, h.Name)
		}
	}
	return ""
}

// enough is what would be enough.
func (j *Job) enough() string {
	var ways []string
	if hosts, slots := j.Lacking(); hosts == 1 {
		ways = append(ways, fmt.Sprintf("another host with %s", count(slots, "slot")))
	} else {
		ways = append(ways, fmt.Sprintf("%d more hosts with %s each", hosts, count(slots, "slot")))
	}
	if n := j.Ranks(); n > 0 {
		ways = append(ways, fmt.Sprintf("-n %d", n))
	}
	shared, over := *j, *j
	shared.AllowShared, over.Oversubscribe = true, true
	if over.place() != nil {
		ways = append(ways, "--oversubscribe")
	}
	if shared.place() != nil {
		ways = append(ways, "--allow-shared-host (the replicas that share a host die with it)")
	}
	last := len(ways) - 1
	if last == 0 {
		return ways[0] + " would be enough"
	}
	return strings.Join(ways[:last], ", ") + " or " + ways[last] + " would be enough"
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Lacking is the smallest number of further hosts with which the job can be placed, and how many
// slots each of them must have at least.
func (j *Job) Lacking() (hosts, slots int) {
	fits := func(hosts, slots int) bool {
		more := *j
		more.Hosts = slices.Clone(j.Hosts)
		more.Parts = slices.Clone(j.Parts)
		for i := range hosts {
			more.Hosts = append(more.Hosts, Host{Name: fmt.Sprint("another ", i), Slots: slots, Max: slots})
			for p := range more.Parts {
				if more.Parts[p].Hosts != nil {
					more.Parts[p].Hosts = append(slices.Clip(more.Parts[p].Hosts), len(more.Hosts)-1)
				}
			}
		}
		return more.place() != nil
	}
	for hosts = 1; !fits(hosts, j.Layout.Procs()); hosts++ { // as many hosts as replicas are enough
	}
	low, high := 1, j.Layout.Procs()
	for low < high {
		if middle := (low + high) / 2; fits(hosts, middle) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return hosts, low
}

// Ranks is the largest number of ranks that the hosts can run if all ranks have the same number of
// replicas and run the same program. It is 0 if there is no such number.
func (j *Job) Ranks() int {
	if j.Parts != nil || j.Layout.Procs() != j.Layout.Ranks()*j.Layout.MaxDegree() {
		return 0
	}
	low, high := 0, j.Layout.Ranks() // low fits
	for low < high {
		middle := (low + high + 1) / 2
		fewer := *j
		fewer.Layout = layout.Uniform(middle, j.Layout.MaxDegree())
		if fewer.place() != nil {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}
