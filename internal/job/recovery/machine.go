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
	Ask                             // have the process To answer, and then call Heard and Next
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
	Text        string
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
	current    *Attempt // nil: none
	unanswered []mark   // to be answered when the donor's output is drained
	asked      Process  // it was asked to answer, and hasn't yet; nobody: none
	heard      Process  // it has answered just now
}

// nobody is the Process that doesn't exist.
var nobody = Process{Proc: proto.NoProc}

// New makes the machine of a job in which all processes live. limit is for each phase of an
// attempt, 0 for Limit. seesOutput says that the caller reads the output of the processes.
func New(layout layout.Layout, limit time.Duration, seesOutput bool) *Machine {
	if limit == 0 {
		limit = Limit
	}
	return &Machine{slots: newSlots(layout), limit: proto.Time(limit), seesOutput: seesOutput, asked: nobody, heard: nobody}
}

// Current is the attempt under way, or nil.
func (m *Machine) Current() *Attempt { return m.current }

// of is the current attempt, if it is about this replacement, isn't dismissed, and is in one of the
// given phases.
func (m *Machine) of(q Process, first, last Phase) *Attempt {
	if a := m.current; a != nil && a.Process == q && !a.dismissed && first <= a.Phase && a.Phase <= last {
		return a
	}
	return nil
}

// Next begins the next attempt, if one can begin now, or retires the next process that is to
// leave, or ends a replacement that is late if another replica has just answered. Before it
// retires a process it has the donor asked for a sign of life: it may have died unnoticed. fits
// says whether a replacement for a slot is available. donates says whether a process that has come
// to a safe point is available as a donor.
func (m *Machine) Next(now proto.Time, fits, donates func(p proto.Proc) bool, out *[]Action) {
	heard := m.heard
	m.heard = nobody
	if a := m.current; a != nil {
		if a.late != "" && heard != nobody && heard == m.sibling(a) {
			m.Fail(a.Process, a.late, Replacement, out)
		}
		return
	}
	if m.current = m.begin(now, fits, donates); m.current != nil {
		m.enter(now, GetReady)
		m.do(Start, "", out)
	} else if p, donor := m.nextToRetire(fits, donates); p != proto.NoProc {
		switch d := (Process{donor, m.table[donor].incarnation}); d {
		case heard:
			m.table[p].retired = true
			*out = append(*out, Action{Kind: Retire, To: Process{p, m.table[p].incarnation}})
		case m.asked:
		default:
			m.asked = d
			*out = append(*out, Action{Kind: Ask, To: d})
		}
	}
}

// Heard takes the answer of a process that was asked.
func (m *Machine) Heard(p Process) {
	if p == m.asked {
		m.asked, m.heard = nobody, p
	}
}

// Arrived takes a replacement's message that others can reach it.
func (m *Machine) Arrived(now proto.Time, q Process, out *[]Action) {
	if m.of(q, GetReady, GetReady) != nil {
		m.enter(now, FindSafepoint)
		m.do(Admit, "", out)
		m.do(Donate, "", out)
	}
}

// Mark takes the message of a replacement's donor that its program is paused.
func (m *Machine) Mark(now proto.Time, donor, q Process, out *[]Action) {
	said := mark{donor, q}
	a := m.of(q, FindSafepoint, FindSafepoint)
	switch {
	case !m.alive(donor):
	case slices.Contains(m.unanswered, said): // a repeated message
	case a != nil && a.Donor == donor:
		m.enter(now, TakeOver)
		if m.seesOutput {
			m.unanswered = append(m.unanswered, said)
			m.do(Drain, "", out)
		}
	default:
		// This replacement is dead. The mark for the next one comes after all that the donor writes
		// until then.
		m.answer(said, out)
	}
}

// Drained says that all output which a donor wrote before its mark for a replacement was passed on.
func (m *Machine) Drained(donor, q Process, out *[]Action) {
	if a := m.of(q, TakeOver, TakeOver); a != nil && a.Donor == donor && !a.follows {
		a.follows = true
		m.do(Follow, "", out)
	}
	if i := slices.Index(m.unanswered, mark{donor, q}); i >= 0 {
		m.answer(m.unanswered[i], out)
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
		m.enter(now, BecomeKnown)
		m.fill(q, proto.Never)
		m.do(Fill, "", out)
	} else if a := m.of(q, BecomeKnown, BecomeKnown); a != nil {
		m.enter(now, BecomeKnown) // it was asked to give up: it reacts, and only has to wait
	}
}

// Healed takes a replacement's message that all processes know it. pid is its number on its host.
func (m *Machine) Healed(now proto.Time, q Process, pid int, out *[]Action) {
	if a := m.of(q, BecomeKnown, BecomeKnown); a != nil {
		m.table[q.Proc].proven = now + proto.Time(Relapse)
		m.do(Healed, fmt.Sprintf("%s is back after %s (pid %d), with the state of replica %d",
			m.name(q.Proc), time.Duration(now-a.Began).Round(time.Millisecond), pid, m.layout.Replica(a.Donor.Proc)), out)
		m.current = nil
	}
}

// Fail ends the attempt of a replacement, because the replacement or another process says so.
func (m *Machine) Fail(q Process, why string, blame Blame, out *[]Action) {
	if a := m.of(q, GetReady, BecomeKnown); a != nil {
		a.Why, a.blame, a.dismissed = why, blame, true
		m.do(Dismiss, why, out)
	}
}

// Died takes the death of a process, a replacement or a replica. why says how it ended. It is the
// reason of a failed attempt that has no other.
func (m *Machine) Died(now proto.Time, p Process, why string, out *[]Action) {
	a := m.current
	if a != nil && a.Process == p && !a.Committed() {
		if !a.dismissed {
			a.Why = why
		}
		m.do(Failed, m.failed(a), out)
		if a.admitted() {
			m.do(AnnounceDeath, "", out)
		}
		m.current = nil
		return
	}
	if !m.alive(p) {
		return // an old death
	}
	m.unanswered = slices.DeleteFunc(m.unanswered, func(x mark) bool { return x.donor == p })
	if note := m.vacate(now, p.Proc); note != "" {
		*out = append(*out, Action{Kind: Note, Text: note})
	}
	switch {
	case a == nil:
	case a.Process == p: // it had committed, and so was a replica
		m.current = nil
	case a.Donor == p:
		a.donorDied = true
		// Before TakeOver the replacement may not know its donor yet. Later it finds out itself
		// whether it has the whole state.
		const why = "the replica whose state it was to take over has died"
		switch {
		case a.Phase >= TakeOver || a.asked:
		case m.mayHaveCommitted(a):
			m.askToGiveUp(now, why, out)
		default:
			m.Fail(a.Process, why, Nobody, out)
		}
	}
}

// Filled notes that another leader has filled the slot of a process. The next incarnation of the
// slot is higher.
func (m *Machine) Filled(p Process, out *[]Action) {
	if p.Incarnation <= m.LastIncarnation(p.Proc) {
		return
	}
	m.fill(p, 0)
	switch a := m.current; {
	case a == nil || a.Proc != p.Proc:
	case a.Committed(): // it filled the slot
		m.current = nil
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
	if a := m.current; a != nil && !a.Committed() {
		m.Fail(a.Process, End, Replacement, out)
	}
}

// StepDown ends the current attempt, if there is one, because the caller doesn't lead any more. The
// caller doesn't hear what becomes of a replacement that has committed.
func (m *Machine) StepDown(why string, out *[]Action) {
	switch a := m.current; {
	case a == nil:
	case a.Committed():
		m.current = nil
	default:
		m.Fail(a.Process, why, Nobody, out)
	}
}

// Deadline is when the caller has to call Tick, or Never.
func (m *Machine) Deadline() proto.Time {
	if m.current == nil || m.current.dismissed {
		return proto.Never
	}
	return m.current.deadline
}

// Tick ends an attempt that is late, or asks its replacement to give up.
func (m *Machine) Tick(now proto.Time, out *[]Action) {
	a := m.current
	if now < m.Deadline() {
		return
	}
	late := fmt.Sprintf("it didn't %v within %v", a.Phase, time.Duration(m.limit))
	switch {
	case a.Phase == FindSafepoint && len(m.waiting) == 0 && !a.asked: // no other slot waits
		a.deadline = now + m.limit
	case a.asked:
		m.Fail(a.Process, "it doesn't react", Replacement, out)
	case m.mayHaveCommitted(a):
		m.askToGiveUp(now, late, out)
		if d := m.sibling(a); a.Committed() && d != nobody {
			a.late, m.asked = late, d
			*out = append(*out, Action{Kind: Ask, To: d})
		}
	default:
		m.Fail(a.Process, late, Replacement, out)
	}
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

// askToGiveUp asks the replacement of the current attempt to give up. Only it knows whether it is a
// replica. One that doesn't answer hangs, and is ended.
func (m *Machine) askToGiveUp(now proto.Time, why string, out *[]Action) {
	m.current.asked, m.current.deadline = true, now+m.limit
	m.do(AskToGiveUp, why, out)
}

// enter begins a phase of the current attempt.
func (m *Machine) enter(now proto.Time, phase Phase) {
	m.current.Phase, m.current.deadline, m.current.asked = phase, now+m.limit, false
}

// do appends an action about the current attempt.
func (m *Machine) do(kind ActionKind, text string, out *[]Action) {
	*out = append(*out, Action{Kind: kind, Attempt: m.current, Text: text})
}
