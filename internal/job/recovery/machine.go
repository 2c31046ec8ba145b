package recovery

import (
	"fmt"
	"slices"
	"time"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// ActionKind says what an Action is.
type ActionKind uint8

// Kinds of actions. All but Marked, Ask, Retire, Note and LeftVacant are about an attempt, that is,
// about its replacement.
const (
	Start         ActionKind = iota // start the replacement, or take a spare for it
	Admit                           // tell all processes that the replacement comes
	Donate                          // tell the donor that it donates to the replacement
	Drain                           // read the donor's output up to now, then call Drained
	Follow                          // from here on the replacement's output follows the donor's
	Marked                          // tell the donor To that its mark for Replacement was seen
	Fill                            // the replacement is the process of its slot
	Dismiss                         // end the replacement, then call Died
	AskToGiveUp                     // have the replacement end because of Text, or else say again that it has committed
	AnnounceDeath                   // tell all processes that the replacement is dead
	Healed                          // the attempt succeeded: report it, and show Text to the user
	Failed                          // the attempt failed for the reason Why: report it, show Text
	Ask                             // have the process To answer with Number, and then call Heard and Next
	Retire                          // kill the process To, then call Died
	Note                            // show Text to the user
	LeftVacant                      // a slot stays vacant at the job's end: report it, show Text
)

// Action is something that a Machine wants done.
type Action struct {
	Kind        ActionKind
	Attempt     *Attempt // nil for Marked, Ask, Retire, Note and LeftVacant
	To          Process
	Replacement Process
	Number      uint64
	Text        string
}

// question is what an answer has to name: another leader, or a user, may have asked before.
type question struct {
	Process
	number uint64
}

// mark is a donor's message that its program is paused for a replacement.
type mark struct{ donor, replacement Process }

// Machine leads the recovery of one job. It isn't safe for concurrent use. The caller carries out
// all actions of a call before the next call. If carrying out an action causes an event at once,
// the caller passes that event on after the last action.
type Machine struct {
	slots
	limit      proto.Time
	seesOutput bool
	attempts   []*Attempt // under way, in the order in which they began; at most one of a rank
	most       int        // attempts at a time
	unanswered []mark     // to be answered when the donor's output is drained
	held       []mark     // to be answered when the replacement, which is dismissed, has ended
	asked      []question // that have no answer yet
	questions  uint64     // the number of the last one
	heard      Process    // it has answered just now
}

// nobody is the Process that doesn't exist.
var nobody = Process{Proc: proto.NoProc}

// New makes the machine of a job in which all processes live. limit is for each phase of an
// attempt, 0 for Limit. seesOutput says that the caller reads the output of the processes. most is
// how many attempts may be under way at a time.
func New(layout layout.Layout, limit time.Duration, seesOutput bool, most int) *Machine {
	if limit == 0 {
		limit = Limit
	}
	return &Machine{slots: newSlots(layout), limit: proto.Time(limit), seesOutput: seesOutput, most: most, heard: nobody}
}

// Attempts are those under way, in the order in which they began.
func (m *Machine) Attempts() []*Attempt { return slices.Clone(m.attempts) }

// Current is the first of them, or nil: the attempt of a leader that makes one at a time.
func (m *Machine) Current() *Attempt {
	if len(m.attempts) == 0 {
		return nil
	}
	return m.attempts[0]
}

// AttemptAt is the attempt under way for a slot, or nil.
func (m *Machine) AttemptAt(p proto.Proc) *Attempt {
	for _, a := range m.attempts {
		if a.Proc == p {
			return a
		}
	}
	return nil
}

// of is the attempt of this replacement, if it isn't dismissed, and is in one of the given phases.
func (m *Machine) of(q Process, first, last Phase) *Attempt {
	if a := m.AttemptAt(q.Proc); a != nil && a.Process == q && !a.dismissed && first <= a.Phase && a.Phase <= last {
		return a
	}
	return nil
}

// joins says whether a slot of a rank has an attempt.
func (m *Machine) joins(rank proto.Rank) bool {
	return slices.ContainsFunc(m.attempts, func(a *Attempt) bool { return m.layout.Rank(a.Proc) == rank })
}

// ends takes an attempt off the list of those under way.
func (m *Machine) ends(a *Attempt) {
	m.attempts = slices.DeleteFunc(m.attempts, func(b *Attempt) bool { return a == b })
}

// Next begins the next attempt, if one can begin now, or, if none is under way, retires the next
// process that is to leave. It ends a replacement that is late if another replica has just
// answered. Before it retires a process it has the donor asked for a sign of life: it may have died
// unnoticed. fits says whether a replacement for a slot is available. donates says whether a
// process that has come to a safe point is available as a donor. Next returns whether an attempt
// has begun. Another one may begin then: the caller calls it again, when it has carried out the
// actions.
func (m *Machine) Next(now proto.Time, fits, donates func(p proto.Proc) bool, out *[]Action) (began bool) {
	heard := m.heard
	m.heard = nobody
	for _, a := range m.attempts {
		if a.late != "" && heard != nobody && heard == m.sibling(a) {
			m.Fail(a.Process, a.late, Replacement, out)
		}
	}
	if len(m.attempts) < m.most {
		if a := m.begin(now, m.joins, fits, donates); a != nil {
			m.attempts = append(m.attempts, a)
			m.enter(now, a, GetReady)
			do(Start, a, "", out)
			return true
		}
	}
	if len(m.attempts) > 0 {
		return false
	}
	if p, donor := m.nextToRetire(fits, donates); p != proto.NoProc {
		switch d := (Process{donor, m.table[donor].incarnation}); {
		case d == heard:
			m.table[p].retired = true
			*out = append(*out, Action{Kind: Retire, To: Process{p, m.table[p].incarnation}})
		case !m.isAsked(d):
			m.ask(now, d, out)
		}
	}
	return false
}

// ask has a process asked for a sign of life. Only an answer to the last question counts. Questions
// are numbered by the time, so those of two leaders differ.
func (m *Machine) ask(now proto.Time, p Process, out *[]Action) {
	m.questions = max(m.questions+1, uint64(max(now, 0)))
	m.forgetAsked(p)
	m.asked = append(m.asked, question{p, m.questions})
	*out = append(*out, Action{Kind: Ask, To: p, Number: m.questions})
}

func (m *Machine) isAsked(p Process) bool {
	return slices.ContainsFunc(m.asked, func(x question) bool { return x.Process == p })
}

func (m *Machine) forgetAsked(p Process) {
	m.asked = slices.DeleteFunc(m.asked, func(x question) bool { return x.Process == p })
}

// Heard takes a process's answer to the question of this number.
func (m *Machine) Heard(p Process, number uint64) {
	if i := slices.Index(m.asked, question{p, number}); i >= 0 {
		m.asked, m.heard = slices.Delete(m.asked, i, i+1), p
	}
}

// NotNow says that nothing can begin or be retired for a while. An answer that has come is too old
// afterwards.
func (m *Machine) NotNow() { m.heard = nobody }

// Arrived takes a replacement's message that others can reach it.
func (m *Machine) Arrived(now proto.Time, q Process, out *[]Action) {
	if a := m.of(q, GetReady, GetReady); a != nil {
		m.enter(now, a, FindSafepoint)
		do(Admit, a, "", out)
		do(Donate, a, "", out)
	}
}

// Mark takes the message of a replacement's donor that its program is paused.
func (m *Machine) Mark(now proto.Time, donor, q Process, out *[]Action) {
	said := mark{donor, q}
	a := m.of(q, FindSafepoint, FindSafepoint)
	switch {
	case !m.alive(donor):
	case slices.Contains(m.unanswered, said), slices.Contains(m.held, said): // a repeated message
	case a != nil && a.Donor == donor:
		m.enter(now, a, TakeOver)
		if m.seesOutput {
			m.unanswered = append(m.unanswered, said)
			do(Drain, a, "", out)
		}
	default:
		m.settle(said, out)
	}
}

// settle answers a mark, unless its replacement is being ended. That may live for a while: it would
// get the state, and become a replica that nobody counts. If it is dead the mark for the next one
// comes after all that the donor writes until then.
func (m *Machine) settle(said mark, out *[]Action) {
	if m.ending(said.replacement) {
		m.held = append(m.held, said)
		return
	}
	m.answer(said, out)
}

// ending says whether a replacement was dismissed, and hasn't ended yet.
func (m *Machine) ending(q Process) bool {
	a := m.AttemptAt(q.Proc)
	return a != nil && a.Process == q && a.dismissed && !a.Committed()
}

// release answers the marks for a replacement that has ended.
func (m *Machine) release(q Process, out *[]Action) {
	for _, said := range m.held {
		if said.replacement == q {
			m.answer(said, out)
		}
	}
	m.held = slices.DeleteFunc(m.held, func(x mark) bool { return x.replacement == q })
}

// Drained says that all output which a donor wrote before its mark for a replacement was passed on.
func (m *Machine) Drained(donor, q Process, out *[]Action) {
	if a := m.of(q, TakeOver, TakeOver); a != nil && a.Donor == donor && !a.follows {
		a.follows = true
		do(Follow, a, "", out)
	}
	if i := slices.Index(m.unanswered, mark{donor, q}); i >= 0 {
		m.settle(m.unanswered[i], out)
		m.unanswered = slices.Delete(m.unanswered, i, i+1)
	}
}

func (m *Machine) answer(said mark, out *[]Action) {
	if m.seesOutput {
		*out = append(*out, Action{Kind: Marked, To: said.donor, Replacement: said.replacement})
	}
}

// Committed takes a replacement's message that it is a replica from here on, even if its donor
// dies. If the leader doesn't see output, the mark may come later.
func (m *Machine) Committed(now proto.Time, q Process, out *[]Action) {
	if a := m.of(q, FindSafepoint, TakeOver); a != nil && (a.follows || !m.seesOutput) {
		m.enter(now, a, BecomeKnown)
		m.fill(q, proto.Never)
		do(Fill, a, "", out)
	} else if a := m.of(q, BecomeKnown, BecomeKnown); a != nil {
		m.enter(now, a, BecomeKnown) // it was asked to give up: it reacts, and only has to wait
	}
}

// Healed takes a replacement's message that all processes know it. pid is its number on its host.
func (m *Machine) Healed(now proto.Time, q Process, pid int, out *[]Action) {
	if a := m.of(q, BecomeKnown, BecomeKnown); a != nil {
		m.table[q.Proc].proven = now + proto.Time(Relapse)
		do(Healed, a, fmt.Sprintf("%s is back after %s (pid %d), with the state of replica %d",
			m.name(q.Proc), time.Duration(now-a.Began).Round(time.Millisecond), pid, m.layout.Replica(a.Donor.Proc)), out)
		m.ends(a)
	}
}

// Fail ends the attempt of a replacement, because the replacement or another process says so.
func (m *Machine) Fail(q Process, why string, blame Blame, out *[]Action) {
	if a := m.of(q, GetReady, BecomeKnown); a != nil {
		a.Why, a.blame, a.dismissed = why, blame, true
		do(Dismiss, a, why, out)
	}
}

// Died takes the death of a process, a replacement or a replica. why says how it ended. It is the
// reason of a failed attempt that has no other.
func (m *Machine) Died(now proto.Time, p Process, why string, out *[]Action) {
	if a := m.AttemptAt(p.Proc); a != nil && a.Process == p {
		if !a.Committed() {
			if !a.dismissed {
				a.Why = why
			}
			do(Failed, a, m.failed(a), out)
			if a.admitted() {
				do(AnnounceDeath, a, "", out)
			}
			m.ends(a)
			m.release(p, out)
			return
		}
		m.ends(a) // it was a replica
	}
	if !m.alive(p) {
		return // an old death
	}
	ofDonor := func(x mark) bool { return x.donor == p }
	m.unanswered, m.held = slices.DeleteFunc(m.unanswered, ofDonor), slices.DeleteFunc(m.held, ofDonor)
	m.forgetAsked(p)
	if note := m.vacate(now, p.Proc); note != "" {
		*out = append(*out, Action{Kind: Note, Text: note})
	}
	for _, a := range m.attempts {
		if a.Donor == p {
			m.orphaned(now, a, out)
		}
	}
}

// orphaned takes the death of an attempt's donor. Before TakeOver the replacement may not know its
// donor yet. Later it finds out itself whether it has the whole state.
func (m *Machine) orphaned(now proto.Time, a *Attempt, out *[]Action) {
	a.donorDied = true
	const why = "the replica whose state it was to take over has died"
	switch {
	case a.Phase >= TakeOver || a.asked:
	case m.mayHaveCommitted(a):
		m.askToGiveUp(now, a, why, out)
	default:
		m.Fail(a.Process, why, Nobody, out)
	}
}

// Filled notes that another leader has filled the slot of a process. The next incarnation of the
// slot is higher.
func (m *Machine) Filled(p Process, out *[]Action) {
	if p.Incarnation <= m.LastIncarnation(p.Proc) {
		return
	}
	m.fill(p, 0)
	switch a := m.AttemptAt(p.Proc); {
	case a == nil:
	case a.Committed(): // it filled the slot
		m.ends(a)
	default:
		m.Fail(a.Process, "another process has taken its slot", Nobody, out)
	}
}

// Over says that the job is about to end: no slot is filled any more.
func (m *Machine) Over(out *[]Action) {
	if m.over {
		return
	}
	for _, text := range m.end() {
		*out = append(*out, Action{Kind: LeftVacant, Text: text})
	}
	for _, a := range m.attempts {
		if !a.Committed() {
			m.Fail(a.Process, End, Replacement, out)
		}
	}
}

// StepDown ends all attempts, because the caller doesn't lead any more. The caller doesn't hear
// what becomes of replacements that have committed.
func (m *Machine) StepDown(why string, out *[]Action) {
	m.attempts = slices.DeleteFunc(m.attempts, (*Attempt).Committed)
	for _, a := range m.attempts {
		m.Fail(a.Process, why, Nobody, out)
	}
}

// Deadline is when the caller has to call Tick, or Never.
func (m *Machine) Deadline() proto.Time {
	first := proto.Never
	for _, a := range m.attempts {
		if !a.dismissed {
			first = min(first, a.deadline)
		}
	}
	return first
}

// Tick ends attempts that are late, or asks their replacements to give up.
func (m *Machine) Tick(now proto.Time, out *[]Action) {
	for _, a := range m.attempts {
		if !a.dismissed && now >= a.deadline {
			m.late(now, a, out)
		}
	}
}

// late ends an attempt that is late, or asks its replacement to give up.
func (m *Machine) late(now proto.Time, a *Attempt, out *[]Action) {
	late := fmt.Sprintf("it didn't %v within %v", a.Phase, time.Duration(m.limit))
	switch {
	case a.Phase == FindSafepoint && !m.keepsWaiting(a) && !a.asked:
		a.deadline = now + m.limit
	case a.asked:
		m.Fail(a.Process, "it doesn't react", Replacement, out)
	case m.mayHaveCommitted(a):
		m.askToGiveUp(now, a, late, out)
		if d := m.sibling(a); a.Committed() && d != nobody {
			a.late = late
			m.ask(now, d, out)
		}
	default:
		m.Fail(a.Process, late, m.slowed(a), out)
	}
}

// keepsWaiting says whether a slot waits for the end of an attempt: another one of its rank, or any
// if there are as many attempts as there may be.
func (m *Machine) keepsWaiting(a *Attempt) bool {
	return slices.ContainsFunc(m.waiting, func(p proto.Proc) bool {
		return len(m.attempts) >= m.most || m.layout.Rank(p) == m.layout.Rank(a.Proc)
	})
}

// slowed is to blame for an attempt that is late. Several at a time share processors and networks.
// So if others were under way it isn't the replacement's fault, and from now on there are at most
// half as many at a time. How long a donor takes to a safe point is another matter.
func (m *Machine) slowed(a *Attempt) Blame {
	if len(m.attempts) == 1 || a.Phase == FindSafepoint {
		return Replacement
	}
	m.most = min(m.most, len(m.attempts)/2)
	return Nobody
}

// sibling is another replica of an attempt's rank that lives as far as is known, or nobody.
func (m *Machine) sibling(a *Attempt) Process {
	for k := range m.layout.Degree(m.layout.Rank(a.Proc)) {
		if p := m.layout.Proc(m.layout.Rank(a.Proc), k); p != a.Proc && !m.table[p].vacant {
			return Process{p, m.table[p].incarnation}
		}
	}
	return nobody
}

// mayHaveCommitted says whether a replacement may be a replica by now, and the last of its rank:
// its donor may have given it the state.
func (m *Machine) mayHaveCommitted(a *Attempt) bool {
	return a.follows || a.Committed() || !m.seesOutput && a.admitted()
}

// askToGiveUp asks the replacement of an attempt to give up. Only it knows whether it is a replica.
// One that doesn't answer hangs, and is ended.
func (m *Machine) askToGiveUp(now proto.Time, a *Attempt, why string, out *[]Action) {
	a.asked, a.deadline = true, now+m.limit
	do(AskToGiveUp, a, why, out)
}

// enter begins a phase of an attempt.
func (m *Machine) enter(now proto.Time, a *Attempt, phase Phase) {
	a.Phase, a.deadline, a.asked = phase, now+m.limit, false
}

// do appends an action about an attempt.
func do(kind ActionKind, a *Attempt, text string, out *[]Action) {
	*out = append(*out, Action{Kind: kind, Attempt: a, Text: text})
}
