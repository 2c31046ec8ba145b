package launcher

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/recovery"
	"banyan/internal/proto"
)

// A host that is drained leaves a job that goes on. Its processes are retired one by one (package
// recovery) and replaced on other hosts. When all are, its agent ends, and what that has kept of
// snapshots is lost. No process starts there any more.

// drain is a host's way out of the job. The loop owns it, but for over and err.
type drain struct {
	host  int
	name  string
	force bool         // processes that nothing can replace are ended
	until time.Time    // then it is late; zero: never
	late  bool         // no replacement is awaited any more
	moved []proto.Proc // ran there when it began, or came later
	over  chan struct{}
	err   error // why the host hasn't left; to be read when over is closed
	// parting says that nothing runs there any more, and that Config.Part was called; parted, that
	// the host may go; told, that over is closed all the same, because it takes too long.
	parting, parted, told bool
}

// beginDrains begins to drain hosts, all or, if one of them can't be drained, none. They are late
// after within, if that isn't 0.
func (j *job) beginDrains(names []string, force bool, within time.Duration) (all []*drain, err error) {
	h := j.hosts
	var begun []*drain
	defer func() {
		if err != nil {
			for _, d := range begun {
				delete(h.drains, d.host)
			}
		}
	}()
	for _, name := range names {
		host, err := h.find(name)
		switch {
		case err != nil:
			return nil, err
		case j.ending:
			return nil, errors.New("the job ends")
		case h.drains[host] == nil: // no process may go there, whichever host it leaves
			h.drains[host] = &drain{host: host, name: h.name(host), over: make(chan struct{})}
			begun = append(begun, h.drains[host])
		}
		if d := h.drains[host]; d.told {
			d.told, d.late, d.err, d.over = false, false, nil, make(chan struct{})
		}
		all = append(all, h.drains[host])
	}
	for _, d := range begun {
		if why := j.cantLeave(d.host); why != "" && !force {
			return nil, fmt.Errorf("%s can't be drained: %s; with --force it leaves all the same, and these processes end", h.name(d.host), why)
		}
	}
	for _, d := range all {
		d.force, d.until = d.force || force, time.Time{}
		if within > 0 {
			d.until = time.Now().Add(within)
		}
	}
	j.changed()
	for _, d := range begun {
		if all := j.there(d.host); len(all) > 0 {
			j.note(fmt.Sprintf("host %s is drained: %s", d.name, j.slotNames(all)))
		}
	}
	j.watchDrains()
	j.beginAttempts()
	return all, nil
}

// there are the processes of a host that run and fill their slots.
func (j *job) there(host int) (all []*process) {
	for _, p := range j.hosts.on[host] {
		if p == j.procs[p.id] && j.ledger.entries[p.id].end.kind == running {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b *process) int { return int(a.id) - int(b.id) })
	return all
}

// cantLeave says which processes of a host nothing can replace, and why; empty if there are none.
func (j *job) cantLeave(host int) string {
	all := j.there(host)
	var reasons []string
	say := func(which []*process, text string) {
		if len(which) > 0 {
			reasons = append(reasons, text+" ("+j.slotNames(which)+")")
		}
	}
	if j.recovery == nil {
		say(all, "no process is replaced in this job, which was started without --heal")
		return strings.Join(reasons, "; ")
	}
	alone, rest := split(all, func(p *process) bool { return !j.hasSibling(p) })
	say(alone, "no other replica lives from which it could be replaced")
	homes := j.hosts.homes(rest)
	i := -1
	homeless, _ := split(rest, func(*process) bool { i++; return homes[i] < 0 })
	say(homeless, "no other host can have it: each runs another replica of its rank or is full; banyan hosts add brings one")
	return strings.Join(reasons, "; ")
}

// split divides processes.
func split(all []*process, is func(p *process) bool) (yes, no []*process) {
	for _, p := range all {
		if is(p) {
			yes = append(yes, p)
		} else {
			no = append(no, p)
		}
	}
	return yes, no
}

// hasSibling says whether another replica of a process's rank runs.
func (j *job) hasSibling(p *process) bool {
	rank := j.ledger.Rank(p.id)
	for k := range j.ledger.Degree(rank) {
		if q := j.ledger.Proc(rank, k); q != p.id && j.ledger.entries[q].end.kind == running {
			return true
		}
	}
	return false
}

// slotNames names processes for people.
func (j *job) slotNames(all []*process) string {
	const named = 8
	var names []string
	for _, p := range all[:min(len(all), named)] {
		rank := j.ledger.Rank(p.id)
		if j.layout.Degree(rank) == 1 {
			names = append(names, rank.String())
		} else {
			names = append(names, fmt.Sprintf("%v replica %d", rank, j.ledger.Replica(p.id)))
		}
	}
	if more := len(all) - named; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// watchDrains goes on with all drains: it has processes leave that have come meanwhile, and ends a
// drain when nothing is left to do or nothing can be done.
func (j *job) watchDrains() {
	for _, d := range j.hosts.drains {
		switch all := j.there(d.host); {
		case j.ending:
			j.endDrain(d, errors.New("the job ends"))
		case j.report.Hosts[d.host].Lost != nil:
			j.endDrain(d, errors.New("the host is lost"))
		case d.parting:
			j.awaitPart(d)
		case d.late:
			j.endBy(d, all)
		case j.recovery != nil && !d.force && slices.ContainsFunc(d.moved, j.recovery.GivenUp):
			j.endDrain(d, fmt.Errorf("a process couldn't be replaced, so %s", j.stays(all)))
		case len(all) == 0 && j.settled(d):
			if j.back == nil || !j.back.Busy() { // what it keeps of a snapshot may be needed
				j.part(d)
			}
		default:
			j.makeLeave(d, all)
		}
	}
}

// makeLeave has the processes of a host leave.
func (j *job) makeLeave(d *drain, all []*process) {
	movable := false
	homes := j.hosts.homes(all)
	for i, p := range all {
		if !slices.Contains(d.moved, p.id) {
			d.moved = append(d.moved, p.id)
			j.changed()
		}
		if j.recovery != nil {
			j.recovery.Leave(p.identity())
			movable = movable || homes[i] >= 0 && j.hasSibling(p)
		}
	}
	if d.force && !movable {
		j.endBy(d, all)
	}
}

// endBy ends the processes of a host, because the drain is forced; if it isn't, they stay.
func (j *job) endBy(d *drain, all []*process) {
	if !d.force {
		j.endDrain(d, fmt.Errorf("it takes too long: %s", j.stays(all)))
		return
	}
	for _, p := range all {
		j.retire(p)
	}
	if len(all) == 0 {
		j.part(d)
	}
}

// part has the job do without a host.
func (j *job) part(d *drain) {
	if j.Part == nil || j.hosts.agents[d.host].Lost() == nil { // this process's own agent decides
		j.leave(d)
		return
	}
	d.parting = true
	j.Part(d.host, func() { j.post(func() { d.parted = true }) })
	j.awaitPart(d)
}

// awaitPart ends a host's agent when the job can do without. Until then it keeps output that nobody
// was shown, and that no other agent has.
func (j *job) awaitPart(d *drain) {
	if d.parted || d.late && d.force {
		j.leave(d)
		return
	}
	living := j.hosts.living()
	j.outputs.positions.spare(d.host, func(host int) bool { return living[host] && j.hosts.drains[host] == nil })
	if d.late && !d.told {
		d.told = true
		d.err = fmt.Errorf("%s leaves when the output that it alone has was shown: banyan attach shows it; with --force the output is lost", d.name)
		close(d.over)
	}
}

// stays tells which processes stay where they are.
func (j *job) stays(all []*process) string {
	if len(all) == 0 {
		return "the host stays"
	}
	if len(all) == 1 {
		return j.slotNames(all) + " stays where it is"
	}
	return j.slotNames(all) + " stay where they are"
}

// settled says whether the slots of all processes that have left a host are filled again, or won't
// be.
func (j *job) settled(d *drain) bool {
	r := j.recovery
	switch {
	case r == nil:
		return true
	case slices.ContainsFunc(r.replacements, func(x *replacement) bool { return x.host == d.host }): // it may be there soon
		return false
	}
	return d.force || !slices.ContainsFunc(d.moved, func(id proto.Proc) bool {
		return j.ledger.entries[id].end.kind == diedEarly && !r.GivenUp(id) && !r.IsOver()
	})
}

// retire kills a process that is to leave its host.
func (j *job) retire(p *process) {
	e := &j.ledger.entries[p.id]
	if p != j.procs[p.id] || e.end.kind != running {
		return
	}
	e.fenced, e.retired, e.by = true, true, proto.NoProc
	p.Signal(unix.SIGKILL)
}

// leave ends a drained host's agent.
func (j *job) leave(d *drain) {
	h := j.hosts
	h.left[d.host] = true
	j.report.Hosts[d.host].Left = new(Seconds(time.Since(j.started)))
	j.note(fmt.Sprintf("host %s has left the job", h.name(d.host)))
	delete(h.drains, d.host)
	if j.back != nil && !j.ending {
		j.lostSnapshots(d.host)
	}
	j.told.hosts = -1
	a, told := h.agents[d.host], d.told
	j.durably(func() { // another launcher mustn't take the host for lost
		go func() {
			if a.Lost() != nil { // not this process's own
				if err := a.Close(); !told {
					d.err = err
				}
			}
			if !told {
				close(d.over)
			}
		}()
	})
}

// endDrain ends a drain whose host doesn't leave. Its processes stay.
func (j *job) endDrain(d *drain, why error) {
	delete(j.hosts.drains, d.host)
	j.changed()
	for _, p := range j.there(d.host) {
		if j.recovery != nil {
			j.recovery.Stay(p.identity())
		}
	}
	err := fmt.Errorf("%s hasn't left: %w", j.hosts.name(d.host), why)
	if !j.ending {
		j.note(err.Error())
	}
	if !d.told {
		d.err = err
		close(d.over)
	}
}

// retired carries out recovery.Retire.
func (j *job) retired(p recovery.Process) {
	if q := j.procs[p.Proc]; q.identity() == p {
		j.retire(q)
	}
}
