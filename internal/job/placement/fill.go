package placement

import (
	"fmt"
	"math/bits"
	"slices"

	"banyan/internal/proto"
)

// Place places the processes of a job. The error is an *ImpossibleError.
func (j *Job) Place() (*Placement, error) {
	if p := j.place(); p != nil {
		return p, nil
	}
	return nil, j.impossible()
}

// place is Place without the reason. It returns nil if no placement keeps the rules.
func (j *Job) place() *Placement {
	s := j.search()
	most := 1
	if j.AllowShared {
		most = j.Layout.MaxDegree()
	}
	for per := 1; per <= most; per++ {
		f, level := s.best(per)
		if f == nil {
			continue
		}
		f.level(j.Hosts)
		p := &Placement{Host: make([]int, j.Layout.Procs()), Sharing: per}
		f.fill(j, p.Host)
		j.note(p, level)
		return p
	}
	return nil
}

// search looks for a flow.
type search struct {
	*Job
	classes []class
	allowed [][]bool // by class and host
	open    bool     // some host takes as many as are needed
}

func (j *Job) search() *search {
	s := &search{Job: j, classes: j.classes()}
	for _, c := range s.classes {
		allowed := j.allowed(c.part)
		for h, host := range j.Hosts {
			allowed[h] = allowed[h] && !host.Spare
		}
		s.allowed = append(s.allowed, allowed)
	}
	for _, h := range j.Hosts {
		s.open = s.open || h.Slots == 0 && !h.Spare
	}
	return s
}

// best is the flow that keeps as large domains apart as possible. Hosts with slots keep to these
// first; hosts without take as many as that needs.
func (s *search) best(per int) (*flow, Level) {
	load := 0 // to be found for each level
	if !s.open {
		if load, _ = s.least(ByHost, per); load == 0 {
			return nil, 0
		}
	}
	levels := s.levels()
	if per > 1 {
		levels = []Level{ByHost}
	}
	for _, level := range levels {
		x := load
		var f *flow
		if s.open {
			x, f = s.least(level, per)
		} else {
			f = s.try(level, per, s.capacity(x))
		}
		if f != nil {
			if even := s.even(level, per, x); even != nil {
				f = even
			}
			return f, level
		}
	}
	return nil, 0
}

// least is the smallest load with which there is a flow, and the flow. It is 0 if there is none.
func (s *search) least(level Level, per int) (load int, found *flow) {
	most := 1
	if s.open || s.Oversubscribe {
		most = s.Layout.Procs()
	}
	// The first power of two that works is at most twice too large.
	try := func(load int) *flow { return s.try(level, per, s.capacity(load)) }
	for load = 1; ; load = min(2*load, most) {
		if found = try(load); found != nil {
			break
		}
		if load == most {
			return 0, nil
		}
	}
	for low, high := load/2+1, load; low < high; {
		middle := low + (high-low)/2
		if f := try(middle); f != nil {
			found, load, high = f, middle, middle
		} else {
			low = middle + 1
		}
	}
	return load, found
}

// capacity is how many processes each host may have: its slots, a load times these if it may be
// oversubscribed, or the load if it has none.
func (s *search) capacity(load int) []int {
	all := make([]int, len(s.Hosts))
	for i, h := range s.Hosts {
		switch {
		case h.Spare:
		case h.Slots == 0:
			all[i] = load
		case s.Oversubscribe:
			if high, n := bits.Mul64(uint64(h.Slots), uint64(load)); high > 0 || n > 1<<40 {
				all[i] = 1 << 40
			} else {
				all[i] = int(n)
			}
		default:
			all[i] = h.Slots
		}
		if h.Max > 0 {
			all[i] = min(all[i], max(h.Max, h.Slots))
		}
	}
	return all
}

// even is the flow of a load in which the last hosts have one process less, if the processes can be
// spread like that: 6, 5 and 5 in place of 6, 6 and 4.
func (s *search) even(level Level, per, load int) *flow {
	var hosts []int
	for i, h := range s.Hosts {
		if h.Slots == 0 && !h.Spare {
			hosts = append(hosts, i)
		}
	}
	if len(hosts) < len(s.used()) || len(hosts) == 0 || load != (s.Layout.Procs()+len(hosts)-1)/len(hosts) {
		return nil
	}
	capacity := s.capacity(load)
	for i, h := range hosts {
		if more := s.Layout.Procs() % len(hosts); more > 0 && i >= more {
			capacity[h] = min(capacity[h], load-1)
		}
	}
	return s.try(level, per, capacity)
}

// used are the hosts that aren't spare.
func (j *Job) used() (all []int) {
	for i, h := range j.Hosts {
		if !h.Spare {
			all = append(all, i)
		}
	}
	return all
}

// try is the flow with these capacities, nil if there is none.
func (s *search) try(level Level, per int, capacity []int) *flow {
	f := newFlow(s.classes, s.domains(level), s.allowed, capacity, per)
	if !f.solve() {
		return nil
	}
	return f
}

// level spreads the processes of a class that a domain has evenly over its hosts, if these take as
// many as are needed.
func (f *flow) level(hosts []Host) {
	for c := range f.classes {
		for d, members := range f.byDomain {
			if slices.ContainsFunc(members, func(h int) bool { return hosts[h].Slots > 0 || hosts[h].Max > 0 || !f.allowed[c][h] }) {
				continue
			}
			for i, h := range members {
				f.on[c][h] = f.in[c][d] / len(members)
				if i < f.in[c][d]%len(members) {
					f.on[c][h]++
				}
			}
		}
	}
}

// fill gives each process its host: the replica layers of a class, one behind the other, fill the
// hosts, domain by domain.
func (f *flow) fill(j *Job, hosts []int) {
	for c := range f.classes {
		ranks := f.classes[c].ranks
		next := 0
		for _, domain := range f.byDomain {
			for _, h := range domain {
				for range f.on[c][h] {
					hosts[j.Layout.Proc(ranks[next%len(ranks)], next/len(ranks))] = h
					next++
				}
			}
		}
	}
}

// note notes what could not be had.
func (j *Job) note(p *Placement, level Level) {
	larger := level // the next larger kind of domain
	for _, l := range j.levels() {
		if l > level {
			larger = l
		}
	}
	switch {
	case p.Sharing > 1:
		p.Notes = append(p.Notes, fmt.Sprintf("up to %d replicas of a rank share a host: they die with it", p.Sharing))
	case larger > level && j.Layout.Replicated():
		p.Notes = append(p.Notes, fmt.Sprintf("replicas of a rank are on different %ss, but some share a %v, because there is no other way", level, larger))
	}
	load := make([]int, len(j.Hosts))
	for _, h := range p.Host {
		load[h]++
	}
	for h, n := range load {
		if host := j.Hosts[h]; host.Slots > 0 && n > host.Slots {
			p.Notes = append(p.Notes, fmt.Sprintf("%s has %d processes on %d slots", host.Name, n, host.Slots))
			break
		}
	}
}

// At is the host of each process of a rank.
func (p *Placement) At(j *Job, r proto.Rank) (hosts []int) {
	for k := range j.Layout.Degree(r) {
		hosts = append(hosts, p.Host[j.Layout.Proc(r, k)])
	}
	return hosts
}
