// Package placement says on which host each process of a job runs, and on which host a
// replacement starts. It is arithmetic: no input or output, clock or goroutine.
//
// # Rules
//
//   - Replicas of a rank never share a host, nor a kernel under two names. They share no rack and
//     no zone either, as far as the hosts allow; where they don't, a note says so.
//   - A host has no more processes than slots, unless that is allowed.
//   - Ranks of a program that has hosts of its own run on those.
//   - Neighbours stay neighbours: the processes of a replica layer fill host after host in the
//     order of their ranks, and the next layer goes on where the layer before it ended.
//   - What is impossible is refused, with a sentence that says what would be enough.
//
// # How
//
// Hosts that may not share replicas of a rank are a domain. Ranks that run the same program with
// the same number of replicas are a class. How many processes of a class a host gets is a flow from
// classes through domains to hosts: a class has ranks × replicas processes, a domain takes as many
// of a class as this has ranks, a host as many as it has slots (flow.go). If a whole flow exists it
// is found. Then the processes of a class, one replica layer behind the other, fill the hosts,
// domain by domain (fill.go). A domain gets a run of at most as many processes as there are ranks,
// so that none of its processes are replicas of the same rank.
package placement

import (
	"banyan/internal/layout"
	"banyan/internal/proto"
)

// Host is a host of a job.
type Host struct {
	Name   string
	Slots  int    // 0: as many as are needed
	Max    int    // processes, if it may have more than Slots; 0: any number
	Kernel string // hosts with the same one are the same machine; empty: unknown
	Rack   string // empty: unknown
	Zone   string // empty: unknown
	Spare  bool   // only replacements run there
}

// Part is the ranks of one program.
type Part struct {
	Ranks int
	Hosts []int // where they may run, as indices into the hosts; nil: everywhere
}

// Job is what is to be placed.
type Job struct {
	Layout layout.Layout
	Parts  []Part // in the order of their ranks; nil: one, which may run everywhere
	Hosts  []Host

	AllowShared   bool // replicas of a rank may share a host if there is no other way
	Oversubscribe bool // hosts may have more processes than slots, up to Max
}

// Placement says where each process runs.
type Placement struct {
	Host []int // by Proc, as an index into the job's hosts
	// Sharing is how many replicas of a rank share a host, at most: 1, unless that was allowed.
	Sharing int
	// Notes are sentences about what could not be had.
	Notes []string
}

// Level is a kind of failure domain.
type Level uint8

// Levels, from the smallest domains to the largest.
const (
	ByHost Level = iota
	ByRack
	ByZone
)

func (l Level) String() string { return [...]string{"host", "rack", "zone"}[l] }

// levels are the levels that the hosts know, the largest domains first.
func (j *Job) levels() []Level {
	var all []Level
	zones, racks := false, false
	for _, h := range j.Hosts {
		zones, racks = zones || h.Zone != "", racks || h.Rack != ""
	}
	if zones {
		all = append(all, ByZone)
	}
	if racks {
		all = append(all, ByRack)
	}
	return append(all, ByHost)
}

// domains numbers the failure domain of each host. Domains are numbered in the order of their first
// hosts.
func (j *Job) domains(level Level) []int {
	of := make([]int, len(j.Hosts))
	for i := range of {
		of[i] = i
	}
	// join makes one domain of the hosts with the same label.
	join := func(label func(Host) string) {
		first := make(map[string]int)
		for i, h := range j.Hosts {
			text := label(h)
			if text == "" {
				continue
			}
			k, known := first[text]
			if !known {
				first[text] = i
				continue
			}
			low, high := min(of[k], of[i]), max(of[k], of[i])
			for m := range of {
				if of[m] == high {
					of[m] = low
				}
			}
		}
	}
	join(func(h Host) string { return h.Kernel })
	if level >= ByRack {
		join(func(h Host) string { return h.Rack })
	}
	if level >= ByZone {
		join(func(h Host) string { return h.Zone })
	}
	number := make(map[int]int)
	for i := range of {
		n, known := number[of[i]]
		if !known {
			n = len(number)
			number[of[i]] = n
		}
		of[i] = n
	}
	return of
}

// class is ranks that run the same program with the same number of replicas.
type class struct {
	part, degree int
	ranks        []proto.Rank
}

func (c *class) processes() int { return len(c.ranks) * c.degree }

// classes are those of the job, those with most replicas first.
func (j *Job) classes() []class {
	var all []class
	for degree := j.Layout.MaxDegree(); degree > 0; degree-- {
		for part := range j.parts() {
			c := class{part: part, degree: degree}
			from, to := j.ranks(part)
			for r := from; r < to; r++ {
				if j.Layout.Degree(r) == degree {
					c.ranks = append(c.ranks, r)
				}
			}
			if len(c.ranks) > 0 {
				all = append(all, c)
			}
		}
	}
	return all
}

// parts is how many programs there are.
func (j *Job) parts() int { return max(len(j.Parts), 1) }

// ranks are those of a part, from the first to before the last.
func (j *Job) ranks(part int) (from, to proto.Rank) {
	if j.Parts == nil {
		return 0, proto.Rank(j.Layout.Ranks())
	}
	for _, p := range j.Parts[:part] {
		from += proto.Rank(p.Ranks)
	}
	return from, from + proto.Rank(j.Parts[part].Ranks)
}

// allowed says for each host whether a part may run there. Spare hosts are for every part's
// replacements.
func (j *Job) allowed(part int) []bool {
	all := make([]bool, len(j.Hosts))
	everywhere := j.Parts == nil || j.Parts[part].Hosts == nil
	for i, h := range j.Hosts {
		all[i] = everywhere || h.Spare
	}
	if !everywhere {
		for _, i := range j.Parts[part].Hosts {
			all[i] = true
		}
	}
	return all
}
