package launcher

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/recovery"
	"banyan/internal/proto"
)

// A host is lost when its agent can't be reached any more and its lease is over: all its processes
// are dead then, or will never act again. That is one event for the user, and all deaths come
// before what follows from them: no replacement gets its state from a process of the same host.
//
// A side of a cut that gets no leases dies with them, and the launcher is on the other one. So who
// goes on is decided by leases alone: processes that are told of these deaths need no quorum of
// their own (decision 14), and don't leave the job before they are.
//
// Until the host is lost nothing else waits for it. Other processes hold its processes for silent
// and go on without them, and signals to them have no effect. They count as dead when their agent
// says so.

// verdictLimit is longer than a lost host is not known to be lost: a lease with its margin (package
// remote), and a moment for the news. Processes that can't go on wait for so long.
const verdictLimit = 8 * time.Second

// leased says whether agents of the job have leases.
func (p *plan) leased() bool {
	return p.Arrivals != nil || slices.ContainsFunc(p.Agents, func(a agent.Agent) bool { return a.Lost() != nil })
}

// watchHosts has the loop told of lost hosts, also of those on which nothing runs.
func (j *job) watchHosts() {
	for host := range j.hosts.agents {
		j.watchHost(host)
	}
}

func (j *job) watchHost(host int) {
	if lost := j.hosts.agents[host].Lost(); lost != nil {
		go func() {
			select {
			case <-lost:
				j.post(func() { j.lostHost(host) })
			case <-j.over:
			}
		}()
	}
}

// arrived takes a host that is added to the job.
func (j *job) arrived(a Arrival) {
	host := j.hosts.add(a)
	r := HostReport{Name: a.Name, Cores: len(j.hosts.found[host].Cores), Processes: []int{}, Joined: new(Seconds(time.Since(j.started)))}
	j.report.Hosts = append(j.report.Hosts, r)
	j.watchHost(host)
	j.told.hosts = -1
	j.changed()
	switch {
	case j.ending:
	case j.recovery == nil:
		j.note(fmt.Sprintf("host %s has joined, but no process will run there: dead ones aren't replaced without --heal", a.Name))
	default:
		j.note(fmt.Sprintf("host %s has joined: replacements may run there", a.Name))
		j.beginAttempts()
	}
}

// missed takes the end of a process that nobody will tell, because its host is lost.
func (j *job) missed(p *process) {
	j.hosts.missed[p.host] = append(j.hosts.missed[p.host], p)
	j.lostHost(p.host)
}

// restOfHost takes the loss of a host if that waited for the end of a process.
func (j *job) restOfHost(host int) {
	if len(j.hosts.missed[host]) > 0 {
		j.lostHost(host)
	}
}

// lostHost takes the loss of a host when all that can be known of its processes is known.
func (j *job) lostHost(host int) {
	h := j.hosts
	if h.left[host] {
		return
	}
	if len(h.missed[host]) < len(h.on[host]) || j.report.Hosts[host].Lost != nil && len(h.missed[host]) == 0 {
		return // some of its processes' ends are on their way, or this was told
	}
	now := time.Now()
	lost := h.missed[host]
	slices.SortFunc(lost, func(a, b *process) int { return cmp.Compare(a.id, b.id) })
	h.on[host], h.missed[host] = nil, nil
	slog.Debug("host lost", "host", h.name(host), "processes", len(lost))
	j.report.Hosts[host].Lost = new(Seconds(now.Sub(j.started)))
	j.changed()
	var passed []passing
	var replacements []*process
	for _, p := range lost {
		if p == j.procs[p.id] {
			passed = append(passed, passing{p, j.ledger.missed(p.id), now})
		} else {
			replacements = append(replacements, p)
		}
	}
	why := h.reason(host)
	j.report.Hosts[host].Reason = why
	if why != "" {
		why = " (" + why + ")"
	}
	j.passed(passed, fmt.Sprintf("host %s is lost%s: %s", h.name(host), why, j.lostWith(passed)))
	if j.back != nil && !j.ending {
		j.lostSnapshots(host)
	}
	end := ending{kind: diedEarly, lost: true}
	for _, p := range replacements {
		j.failAttempt(p.identity(), end.String(), recovery.Nobody)
		j.replacementPassed(p, end)
	}
	j.beginAttempts()
}

// lostWith tells what was lost with a host.
func (j *job) lostWith(passed []passing) string {
	switch {
	case j.inproc() && len(passed) > 0:
		return "all ranks ran there"
	case len(passed) == 0:
		return "no rank ran there"
	}
	var ranks []int
	replicated := false
	for _, x := range passed {
		ranks = append(ranks, int(j.ledger.Rank(x.id)))
		replicated = replicated || j.layout.Degree(j.ledger.Rank(x.id)) > 1
	}
	slices.Sort(ranks)
	text := "ranks " + listed(slices.Compact(ranks))
	if len(slices.Compact(ranks)) == 1 {
		text = "rank " + listed(ranks[:1])
	}
	if replicated {
		return text + " had replicas there"
	}
	return text + " ran there"
}

// listed writes ascending numbers, with ranges of three and more.
func listed(numbers []int) string {
	var words []string
	for i := 0; i < len(numbers); {
		last := i
		for last+1 < len(numbers) && numbers[last+1] == numbers[last]+1 {
			last++
		}
		if last < i+2 {
			last = i
			words = append(words, fmt.Sprint(numbers[i]))
		} else {
			words = append(words, fmt.Sprintf("%d-%d", numbers[i], numbers[last]))
		}
		i = last + 1
	}
	return strings.Join(words, ", ")
}

// hasHome says whether a host can take a replacement of a process now. The user is told once if
// none can.
func (j *job) hasHome(id proto.Proc) bool {
	if _, ok := j.hosts.rehome(id, j.procs[id].host); ok {
		return true
	}
	if j.ledger.entries[id].end.kind == running { // it is to leave its host, and stays until one is found
		return false
	}
	name := fmt.Sprintf("%v replica %d", j.ledger.Rank(id), j.ledger.Replica(id))
	j.warnOnce("home of "+name, name+" isn't replaced for now: no host is left that runs no other replica of its rank")
	return false
}
