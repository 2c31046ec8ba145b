package launch

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/control"
	"banyan/internal/proto"
)

// Where a replica has died, a newcomer takes its place: a process like the first one, which
// gets the state of a donor, a live replica of the rank, from that directly. One at a time,
// for the whole job.
//
//	newcomer           launcher                     donor, others
//	         ← started
//	arrived  →          admit                    →  all
//	                    donate                   →  donor
//	                                             ←  mark: its program is paused
//	                    its output is drained, and the newcomer's follows it
//	                    marked                   →  donor
//	committed →         the place has a process again
//	healed    →         the report says so
//
// A newcomer that ends before it has committed leaves all as it was. Until then its
// place counts as dead, but its rank isn't lost before the newcomer has ended, too.

const (
	// healLimit bounds each part of a healing: until the newcomer has arrived, until the
	// donor's program comes to a safe point (where others wait to be healed), until the
	// state is there, until all know it.
	healLimit = 60 * time.Second
	// maxFailures is how many newcomers to one place in a row may fail, or die within
	// relapse of having been healed.
	maxFailures = 3
	relapse     = time.Second
	// drainPause is how often the launcher looks whether it has read all that a donor wrote.
	drainPause = time.Millisecond
)

// healing is what there is to be healed, and how far that is. nil: nothing is.
type healing struct {
	work     func(f func() error) error // on the thread that starts processes
	healable map[proto.Proc]bool        // whose state can be had
	barred   map[proto.Proc]bool        // whose state could be had, and can't for good
	failures map[proto.Proc]int         // newcomers in a row that failed
	lives    map[proto.Proc]uint32      // how many newcomers there have been
	marks    map[proto.Proc]int64       // how much input a process had read when it became healable
	limit    time.Duration              // of each part of an attempt
	waiting  []proto.Proc               // places to be filled, in the order of the deaths
	now      *attempt                   // nil: none
	over     bool                       // the job is about to end: nothing is healed any more
}

// attempt is one newcomer that hasn't been healed yet.
type attempt struct {
	p          *process
	donor      *process
	began      time.Time
	part       string // what it is about to do
	admitted   bool   // the others know of it
	paused     bool   // the donor is
	following  bool   // the newcomer's output is about to follow the donor's
	donorEnded func() // to be called then, if the donor has
	committed  bool
	why        string // it can't be, if it says so
	hopeless   bool   // nor can any other with this donor
	step       int    // counts parts, for the deadline
	doomed     bool   // it is being killed
}

// healer makes what --heal needs.
func (p *plan) healer(work func(f func() error) error) *healing {
	if !p.Heal || !p.layout.Replicated() {
		return nil
	}
	return &healing{
		work: work, healable: map[proto.Proc]bool{}, barred: map[proto.Proc]bool{}, failures: map[proto.Proc]int{},
		lives: map[proto.Proc]uint32{}, marks: map[proto.Proc]int64{}, limit: cmp.Or(p.healLimit, healLimit),
	}
}

// toHeal says that a place is empty.
func (j *job) toHeal(p *process) {
	h := j.heal
	if h == nil || j.layout.Degree(j.ledger.Rank(p.id)) == 1 {
		return
	}
	delete(h.healable, p.id)
	delete(h.barred, p.id)
	switch {
	case p.healed.IsZero():
	case time.Since(p.healed) < relapse:
		h.failures[p.id]++
	default:
		h.failures[p.id] = 0
	}
	if h.failures[p.id] >= maxFailures {
		j.note(fmt.Sprintf("rank %d: replica %d isn't replaced any more: the last %d newcomers were of no use", j.ledger.Rank(p.id), j.ledger.Replica(p.id), maxFailures))
		return
	}
	h.waiting = append(h.waiting, p.id)
	j.healNext()
}

// healNext starts the next newcomer, if that can be now.
func (j *job) healNext() {
	h := j.heal
	if h == nil || h.now != nil || h.over || j.ending {
		return
	}
	for i, slot := range h.waiting {
		if donor := j.donor(j.ledger.Rank(slot)); donor != nil {
			h.waiting = slices.Delete(h.waiting, i, i+1)
			j.startNewcomer(slot, donor)
			return
		}
	}
}

// donor is the lowest live replica of a rank whose state can be had, or nil.
func (j *job) donor(rank proto.Rank) *process {
	for k := range j.layout.Degree(rank) {
		id := j.layout.Proc(rank, k)
		if e := &j.ledger.entries[id]; j.heal.healable[id] && e.end.kind == running && !e.fenced && !e.finalized {
			return j.procs[id]
		}
	}
	return nil
}

// startNewcomer fills a place.
func (j *job) startNewcomer(slot proto.Proc, donor *process) {
	h := j.heal
	h.lives[slot]++
	rank := j.ledger.Rank(slot)
	part, err := j.home(slot, h.lives[slot])
	if err != nil {
		h.failures[slot]++
		j.failedToHeal(slot, nil, err.Error())
		return
	}
	env := append(inherited(part.Env), j.environment(slot)...)
	env = append(env, "BANYAN_LIVES="+j.lives(), "BANYAN_OUTPUT_FDS="+strconv.Itoa(outputDescriptor)+","+strconv.Itoa(outputDescriptor+1))
	var p *process
	err = h.work(func() (err error) {
		places, err := j.places()
		if err == nil {
			err = places.enter(int(slot))
		}
		if err == nil {
			p, err = start(slot, part, env, j.input(rank), true)
		}
		return err
	})
	if err != nil {
		h.failures[slot]++
		j.failedToHeal(slot, nil, fmt.Sprintf("it can't be started: %v", err))
		return
	}
	p.life = h.lives[slot]
	slog.Debug("newcomer", "process", slot, "incarnation", p.life, "pid", p.pid, "donor", donor.id)
	h.now = &attempt{p: p, donor: donor, began: time.Now()}
	j.running++
	if p.stdin != nil && !j.feeder.revive(j.ledger.Replica(slot), p.sink()) {
		j.doomForGood("its input isn't there any more from its beginning")
	}
	j.enterPart("get ready")
	go j.server.Serve(int(slot), p.pmi)
	go p.listen(func(m control.Message) { j.tell(func() { j.heardNewcomer(p, m) }) })
	go func() {
		status, at := p.wait()
		j.tell(func() { j.reapedNewcomer(p, status, at) })
	}()
}

// lives tells a newcomer the incarnations of all, and who is dead.
func (j *job) lives() string {
	texts := make([]string, j.size)
	for i := range texts {
		id := proto.Proc(i)
		texts[i] = strconv.Itoa(int(j.procs[i].life))
		if j.heal.lives[id] > j.procs[i].life { // for this newcomer, or those that failed
			texts[i] = strconv.Itoa(int(j.heal.lives[id]))
		}
		if j.ledger.entries[i].end.kind != running {
			texts[i] += "d"
		}
	}
	return strings.Join(texts, ",")
}

// enterPart begins a part of the present attempt, and sets its deadline.
func (j *job) enterPart(what string) {
	a := j.heal.now
	a.part = what
	a.step++
	step := a.step
	time.AfterFunc(j.heal.limit, func() {
		j.tell(func() {
			switch {
			case j.heal.now != a || a.step != step || a.committed && a.doomed:
			case a.part == partSafepoint && len(j.heal.waiting) == 0:
				j.enterPart(a.part) // nobody else waits for it
			default:
				j.doom(fmt.Sprintf("it didn't %s within %v", a.part, j.heal.limit))
			}
		})
	})
}

const partSafepoint = "find the program of its donor at a safe point"

// doom ends the present attempt.
func (j *job) doom(why string) {
	if a := j.heal.now; !a.doomed {
		a.doomed = true
		if a.why == "" {
			a.why = why
		}
		a.p.signal(unix.SIGKILL)
	}
}

// heardNewcomer takes what a process said that was started as a newcomer, now and later.
func (j *job) heardNewcomer(p *process, m control.Message) {
	a := j.attemptOf(p)
	if a == nil || a.committed && m.Type != control.Healed {
		j.heard(p, m)
		return
	}
	slog.Debug("heard", "newcomer", p.id, "message", m)
	switch m.Type {
	case control.Arrived:
		a.admitted = true
		j.tellOthers(p, control.Message{Type: control.Admit, Proc: p.id, Incarnation: p.life})
		a.donor.news.put(control.Message{Type: control.Donate, Proc: p.id, Incarnation: p.life})
		j.enterPart(partSafepoint)
	case control.Committed:
		a.committed = true
		j.heal.marks[p.id] = j.heal.marks[a.donor.id]
		j.seat(p)
		j.enterPart("become known to all")
	case control.Healed:
		j.healed(a)
	case control.HealFailed, control.Unhealable:
		if !a.doomed {
			a.why, a.hopeless = m.Text, m.Type == control.Unhealable
		}
	case control.Abort:
		j.abort(p, m.Code, m.Text)
	}
}

// attemptOf is the present attempt, if that is about a process.
func (j *job) attemptOf(p *process) *attempt {
	if j.heal == nil || j.heal.now == nil || j.heal.now.p != p {
		return nil
	}
	return j.heal.now
}

// seat gives a newcomer the place that it was started for.
func (j *job) seat(p *process) {
	j.procs[p.id] = p
	j.ledger.entries[p.id] = entry{ready: true, pid: p.pid, by: proto.NoProc}
	delete(j.injected, p.id)
	delete(j.stopped, p.id)
}

// healed ends an attempt that went well.
func (j *job) healed(a *attempt) {
	h := j.heal
	h.now = nil
	a.p.healed = time.Now()
	took := time.Since(a.began)
	r := Heal{
		Rank: int(j.ledger.Rank(a.p.id)), Replica: j.ledger.Replica(a.p.id), Process: int(a.p.id), PID: a.p.pid,
		Incarnation: a.p.life, Donor: j.ledger.Replica(a.donor.id),
		Began: Seconds(a.began.Sub(j.started)), Took: Seconds(took),
	}
	j.report.Heals = append(j.report.Heals, r)
	j.note(fmt.Sprintf("rank %d: replica %d is back after %s (pid %d), with the state of replica %d", r.Rank, r.Replica, brief(took), r.PID, r.Donor))
	j.healNext()
}

// reapedNewcomer takes the end of a process that was started as a newcomer.
func (j *job) reapedNewcomer(p *process, status unix.WaitStatus, at time.Time) {
	a := j.attemptOf(p)
	if a != nil {
		j.heal.now = nil
	}
	if a == nil || a.committed {
		j.reaped(p, status, at) // a death like any other
		j.healNext()
		return
	}
	j.running--
	p.settle(false)
	if !p.follows { // nobody reads it
		p.stdout.Close()
		p.stderr.Close()
	}
	if p.stdin != nil {
		j.feeder.remove(j.ledger.Replica(p.id))
	}
	if j.ending {
		return
	}
	if a.admitted {
		j.tellOthers(p, control.Message{Type: control.Death, Proc: p.id, Incarnation: p.life,
			Signal: int(status.Signal()), Code: max(0, status.ExitStatus()), Cause: "a newcomer that failed"})
	}
	rank := j.ledger.Rank(p.id)
	if a.why == "" {
		a.why = ending{diedEarly, 0, max(0, status.ExitStatus())}.String()
		if status.Signaled() {
			a.why = ending{diedEarly, status.Signal(), 0}.String()
		}
	}
	switch {
	case j.ledger.entries[a.donor.id].end.kind != running: // not the newcomer's fault
	case a.hopeless:
		j.bar(a.donor)
	default:
		j.heal.failures[p.id]++
	}
	if !j.heal.over {
		j.failedToHeal(p.id, a, a.why)
	}
	if j.ledger.rankEnd(rank).lost && !j.ledger.survive {
		j.loseRank(rank, fmt.Sprintf("no replica of rank %d is left", rank))
	}
}

// failedToHeal reports a newcomer that was of no use, and has it tried again, a few times.
func (j *job) failedToHeal(slot proto.Proc, a *attempt, why string) {
	h := j.heal
	rank, replica := int(j.ledger.Rank(slot)), j.ledger.Replica(slot)
	r := Heal{Rank: rank, Replica: replica, Process: int(slot), Incarnation: h.lives[slot], Error: why}
	if a != nil {
		r.PID, r.Donor, r.Began, r.Took = a.p.pid, j.ledger.Replica(a.donor.id), Seconds(a.began.Sub(j.started)), Seconds(time.Since(a.began))
	}
	j.report.Heals = append(j.report.Heals, r)
	text := fmt.Sprintf("rank %d: replica %d couldn't be replaced: %s", rank, replica, why)
	switch {
	case h.over:
		j.note(text)
		return
	case h.failures[slot] >= maxFailures:
		j.note(fmt.Sprintf("%s; after %d attempts it stays dead", text, maxFailures))
	case a != nil && h.barred[a.donor.id]:
		j.note(fmt.Sprintf("%s; replica %d isn't asked again", text, r.Donor))
		h.waiting = append(h.waiting, slot)
	default:
		j.note(text)
		h.waiting = append(h.waiting, slot)
	}
	j.healNext()
}

// hopeful says whether a rank without live replicas may yet be saved by a newcomer that
// has got all it needs.
func (j *job) hopeful(rank proto.Rank) bool {
	return j.heal != nil && j.heal.now != nil && !j.heal.now.committed && j.heal.now.paused && j.ledger.Rank(j.heal.now.p.id) == rank
}

// healable notes that a rank can be healed from a process.
func (j *job) healable(p *process) {
	if j.heal == nil {
		return
	}
	j.heal.healable[p.id] = true
	if p.life == 0 { // else its donor's mark holds: it has read the same before
		if p.stdin != nil {
			j.heal.marks[p.id], _ = j.feeder.taken(j.ledger.Replica(p.id))
		}
		p.news.put(control.Message{Type: control.Noted})
	}
	j.healNext()
}

// everyone are all processes that may run.
func (j *job) everyone() []*process {
	if j.heal == nil || j.heal.now == nil || j.heal.now.committed {
		return j.procs
	}
	return append(slices.Clone(j.procs), j.heal.now.p)
}
