package launch

import (
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/control"
	"banyan/internal/proto"
	"banyan/internal/vacancy"
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

// drainPause is how often the launcher looks whether it has read all that a donor wrote.
const drainPause = time.Millisecond

// healing is what there is to be healed, and how far that is. nil: nothing is. Which place
// is next, and what is too much, package vacancy decides.
type healing struct {
	board *vacancy.Board
	work  func(f func() error) error // on the thread that starts processes
	marks map[proto.Proc]int64       // how much input a process had read at its first safe point, if it can't say where in that it is
	now   *attempt                   // nil: none
}

// attempt is one newcomer that hasn't been healed yet.
type attempt struct {
	*vacancy.Attempt
	p          *process
	donor      *process
	admitted   bool   // the others know of it
	paused     bool   // the donor is
	read       int64  // how much input the donor has, then
	following  bool   // the newcomer's output is about to follow the donor's
	donorEnded func() // to be called then, if the donor has
	doomed     bool   // it is being killed
}

// healer makes what --heal needs.
func (p *plan) healer(work func(f func() error) error) *healing {
	if !p.Heal || !p.layout.Replicated() {
		return nil
	}
	return &healing{board: vacancy.New(p.layout, p.healLimit), work: work, marks: map[proto.Proc]int64{}}
}

// clock is the time since the job's start.
func (j *job) clock() proto.Time { return proto.Time(time.Since(j.started)) }

// toHeal says that a place is empty.
func (j *job) toHeal(p *process) {
	if j.heal == nil {
		return
	}
	if note := j.heal.board.Vacated(j.clock(), p.id); note != "" {
		j.note(note)
	}
	j.healNext()
}

// healNext starts the next newcomer, if that can be now.
func (j *job) healNext() {
	h := j.heal
	if h == nil || h.now != nil || j.ending {
		return
	}
	if a := h.board.Next(j.clock(), func(proto.Proc) bool { return true }, j.donates); a != nil {
		j.startNewcomer(a)
	}
}

// donates says whether a process is there to be a donor.
func (j *job) donates(p proto.Proc) bool {
	e := &j.ledger.entries[p]
	return e.end.kind == running && !e.fenced && !e.finalized
}

// startNewcomer fills a place.
func (j *job) startNewcomer(a *vacancy.Attempt) {
	h, slot, donor := j.heal, a.Slot, j.procs[a.Donor]
	rank := j.ledger.Rank(slot)
	part, err := j.home(slot, a.Life)
	if err != nil {
		a.Blame(err.Error())
		j.failedToHeal(&attempt{Attempt: a})
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
		a.Blame(fmt.Sprintf("it can't be started: %v", err))
		j.failedToHeal(&attempt{Attempt: a})
		return
	}
	p.life = a.Life
	slog.Debug("newcomer", "process", slot, "incarnation", p.life, "pid", p.pid, "donor", donor.id)
	h.now = &attempt{Attempt: a, p: p, donor: donor}
	j.running++
	if p.stdin != nil {
		missed := func() {
			j.doomForGood(fmt.Sprintf("its input isn't there any more from its beginning: the launcher keeps %d MiB", inputKept>>20))
		}
		here := j.feeder.revive(j.ledger.Replica(slot), p.sink(), func() {
			j.tell(func() {
				if a := j.heal.now; a != nil && a.p == p {
					missed()
				}
			})
		})
		if !here {
			missed()
		}
	}
	j.enterPart(vacancy.GetReady)
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
		texts[i] = strconv.Itoa(int(max(j.procs[i].life, j.heal.board.Lives(id)))) // for this newcomer, or those that failed
		if j.ledger.entries[i].end.kind != running {
			texts[i] += "d"
		}
	}
	return strings.Join(texts, ",")
}

// enterPart begins a part of the present attempt, and sets the clock for its end.
func (j *job) enterPart(part vacancy.Part) {
	j.heal.board.Enter(j.clock(), part)
	j.awaitDeadline(j.heal.now)
}

// awaitDeadline looks at an attempt when a part of it may have taken too long.
func (j *job) awaitDeadline(a *attempt) {
	deadline := j.heal.board.Deadline()
	time.AfterFunc(time.Duration(deadline-j.clock()), func() {
		j.tell(func() {
			if j.heal.now != a || a.doomed || j.heal.board.Deadline() != deadline {
				return
			}
			if why := j.heal.board.Late(max(j.clock(), deadline)); why != "" {
				j.doom(why)
				return
			}
			j.awaitDeadline(a)
		})
	})
}

// doom ends the present attempt.
func (j *job) doom(why string) {
	if a := j.heal.now; !a.doomed {
		a.doomed = true
		a.Blame(why)
		a.p.signal(unix.SIGKILL)
	}
}

// heardNewcomer takes what a process said that was started as a newcomer, now and later.
func (j *job) heardNewcomer(p *process, m control.Message) {
	a := j.attemptOf(p)
	if a == nil || a.Committed() && m.Type != control.Healed {
		j.heard(p, m)
		return
	}
	slog.Debug("heard", "newcomer", p.id, "message", m)
	if a.doomed {
		return // it is being killed
	}
	switch m.Type {
	case control.Arrived:
		a.admitted = true
		j.tellOthers(p, control.Message{Type: control.Admit, Proc: p.id, Incarnation: p.life})
		a.donor.news.put(control.Message{Type: control.Donate, Proc: p.id, Incarnation: p.life})
		j.enterPart(vacancy.FindSafepoint)
	case control.Committed:
		if mark, opaque := j.heal.marks[a.donor.id]; opaque {
			j.heal.marks[p.id] = mark
		}
		j.seat(p)
		j.enterPart(vacancy.BecomeKnown)
	case control.Healed:
		if p.stdin != nil {
			j.feeder.settle(j.ledger.Replica(p.id))
		}
		j.healed(a)
	case control.HealFailed, control.Unhealable:
		a.Blame(m.Text)
		a.Hopeless = m.Type == control.Unhealable
	case control.Abort:
		// By a program that hasn't come as far as the others: they found no reason.
		why := fmt.Sprintf("it aborted with code %d", m.Code)
		if m.Text != "" {
			why += ": " + m.Text
		}
		j.doom(why)
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
}

// healed ends an attempt that went well.
func (j *job) healed(a *attempt) {
	j.heal.now = nil
	j.report.Heals = append(j.report.Heals, j.healReport(a))
	j.note(j.heal.board.Healed(j.clock(), a.p.pid))
	j.healNext()
}

// healReport is what the report says of an attempt.
func (j *job) healReport(a *attempt) Heal {
	r := Heal{Rank: int(j.ledger.Rank(a.Slot)), Replica: j.ledger.Replica(a.Slot), Process: int(a.Slot), Incarnation: a.Life}
	if a.p != nil {
		r.PID, r.Donor = a.p.pid, j.ledger.Replica(a.Donor)
		r.Began, r.Took = Seconds(a.Began), Seconds(j.clock()-a.Began)
	}
	return r
}

// reapedNewcomer takes the end of a process that was started as a newcomer.
func (j *job) reapedNewcomer(p *process, status unix.WaitStatus, at time.Time) {
	a := j.attemptOf(p)
	if a != nil {
		j.heal.now = nil
	}
	if a == nil || a.Committed() {
		if a != nil {
			j.heal.board.Died()
		}
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
	if status.Signaled() {
		a.Blame(ending{diedEarly, status.Signal(), 0}.String())
	} else {
		a.Blame(ending{diedEarly, 0, max(0, status.ExitStatus())}.String())
	}
	j.failedToHeal(a)
	if j.ledger.rankEnd(rank).lost && !j.ledger.survive {
		j.loseRank(rank, fmt.Sprintf("no replica of rank %d is left", rank))
	}
}

// failedToHeal reports a newcomer that was of no use, once.
func (j *job) failedToHeal(a *attempt) {
	if j.heal.board.Now() != a.Attempt {
		return
	}
	r := j.healReport(a)
	r.Error = a.Why
	j.report.Heals = append(j.report.Heals, r)
	j.note(j.heal.board.Failed(j.ledger.entries[a.Donor].end.kind != running))
	j.healNext()
}

// hopeful says whether a rank without live replicas may yet be saved by a newcomer that
// has got all it needs.
func (j *job) hopeful(rank proto.Rank) bool {
	return j.heal != nil && j.heal.now != nil && !j.heal.now.Committed() && j.heal.now.paused && j.ledger.Rank(j.heal.now.p.id) == rank
}

// healable notes that a rank can be healed from a process. opaque says that nobody can tell how
// much of the input that it has read its program has taken.
func (j *job) healable(p *process, opaque bool) {
	if j.heal == nil {
		return
	}
	j.heal.board.Healable(p.id)
	if p.life == 0 { // else its donor's mark holds: it has read the same before
		read := j.inputRead(p)
		if opaque {
			j.heal.marks[p.id] = read
		}
		p.news.put(control.Message{Type: control.Noted, Input: read})
	}
	j.healNext()
}

// inputRead is how much input a process has read that is paused.
func (j *job) inputRead(p *process) int64 {
	if p.stdin == nil {
		return 0
	}
	return j.feeder.taken(j.ledger.Replica(p.id))
}

// everyone are all processes that may run.
func (j *job) everyone() []*process {
	if j.heal == nil || j.heal.now == nil || j.heal.now.Committed() {
		return j.procs
	}
	return append(slices.Clone(j.procs), j.heal.now.p)
}
