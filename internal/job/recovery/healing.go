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

// Kinds of actions.
const (
	Start   ActionKind = iota // the replacement of Attempt; or take one that is there
	Admit                     // tell all that it comes
	Donate                    // tell its donor
	Drain                     // its donor's output, up to now: Drained is to be told
	Follow                    // from here on its output follows its donor's
	Marked                    // tell the donor To that its mark for Replacement has been seen
	Seat                      // it is the process of its place
	Dismiss                   // end it; Died is to be told
	Bury                      // tell all that it is dead
	Healed                    // for the report: the attempt has ended well. Text is for the user
	Failed                    // or hasn't, for the reason Why
	Note                      // Text is for the user
	Empty                     // likewise, and for the report: a place is left empty at the end of the job
)

// Action is something that a Healing wants done.
type Action struct {
	Kind        ActionKind
	Attempt     *Attempt // of all but Marked, Note and Empty
	To          Process
	Replacement Process
	Text        string
}

// mark is what a donor has said whose program is paused, for a replacement.
type mark struct{ donor, replacement Process }

// Healing is the conversation about replacements, as who leads it sees it. It is no goroutine's but the
// caller's, which carries out all actions before the next call; what they bring about at once is told after the last of
// a call's.
type Healing struct {
	Board
	limit   proto.Time
	witness bool
	now     *Attempt // nil: none
	owed    []mark   // that are answered when the donor's output is drained
}

// New makes the conversation of a job in which all are alive. limit is for each part of an attempt, 0 for Limit. witness
// says that the caller sees what processes write.
func New(layout layout.Layout, limit time.Duration, witness bool) *Healing {
	if limit == 0 {
		limit = Limit
	}
	return &Healing{Board: newBoard(layout), limit: proto.Time(limit), witness: witness}
}

// Now is the present attempt, or nil.
func (h *Healing) Now() *Attempt { return h.now }

// of is the present attempt, if it is in a part that lets what is said about a replacement count.
func (h *Healing) of(q Process, first, last Part) *Attempt {
	if a := h.now; a != nil && a.Process == q && !a.dismissed && first <= a.Part && a.Part <= last {
		return a
	}
	return nil
}

// Next begins the next attempt, if that can be now. fits says whether there can be a replacement to a place,
// and donates whether a process that is healable is there to be a donor.
func (h *Healing) Next(now proto.Time, fits, donates func(p proto.Proc) bool, out *[]Action) {
	if h.now != nil {
		return
	}
	if h.now = h.begin(now, fits, donates); h.now != nil {
		h.enter(now, GetReady)
		h.do(Start, "", out)
	}
}

// Arrived, from a replacement: others can reach it.
func (h *Healing) Arrived(now proto.Time, q Process, out *[]Action) {
	if h.of(q, GetReady, GetReady) != nil {
		h.enter(now, FindSafepoint)
		h.do(Admit, "", out)
		h.do(Donate, "", out)
	}
}

// Mark, from the donor of a replacement: its program is paused.
func (h *Healing) Mark(now proto.Time, donor, q Process, out *[]Action) {
	m := mark{donor, q}
	a := h.of(q, FindSafepoint, FindSafepoint)
	switch {
	case !h.alive(donor):
	case slices.Contains(h.owed, m): // it has said so twice
	case a != nil && a.Donor == donor:
		h.enter(now, TakeOver)
		if h.witness {
			h.owed = append(h.owed, m)
			h.do(Drain, "", out)
		}
	default: // for one that is dead: the next one's will come, and behind what the donor writes before
		h.answer(m, out)
	}
}

// Drained says that all is passed on which a donor had written before its mark for a replacement.
func (h *Healing) Drained(donor, q Process, out *[]Action) {
	if a := h.of(q, TakeOver, TakeOver); a != nil && a.Donor == donor && !a.follows {
		a.follows = true
		h.do(Follow, "", out)
	}
	if i := slices.Index(h.owed, mark{donor, q}); i >= 0 {
		h.answer(h.owed[i], out)
		h.owed = slices.Delete(h.owed, i, i+1)
	}
}

func (h *Healing) answer(m mark, out *[]Action) {
	if h.witness {
		*out = append(*out, Action{Kind: Marked, To: m.donor, Replacement: m.replacement})
	}
}

// Committed, from a replacement: it is a replica from here on, even if its donor dies. Without a witness the mark
// may come later.
func (h *Healing) Committed(now proto.Time, q Process, out *[]Action) {
	if a := h.of(q, FindSafepoint, TakeOver); a != nil && (a.follows || !h.witness) {
		h.enter(now, BecomeKnown)
		h.fill(q, proto.Never)
		h.do(Seat, "", out)
	}
}

// Healed, from a replacement, process pid of its system: all know it.
func (h *Healing) Healed(now proto.Time, q Process, pid int, out *[]Action) {
	if a := h.of(q, BecomeKnown, BecomeKnown); a != nil {
		h.places[q.Proc].proven = now + proto.Time(Relapse)
		h.do(Healed, fmt.Sprintf("%s is back after %s (pid %d), with the state of replica %d",
			h.name(q.Proc), time.Duration(now-a.Began).Round(time.Millisecond), pid, h.layout.Replica(a.Donor.Proc)), out)
		h.now = nil
	}
}

// Fail ends a replacement, by its own word or another's.
func (h *Healing) Fail(q Process, why string, blame Blame, out *[]Action) {
	if a := h.of(q, GetReady, BecomeKnown); a != nil {
		a.Why, a.blame, a.dismissed = why, blame, true
		h.do(Dismiss, why, out)
	}
}

// Died takes the death of a process, that of a replacement first of all. why is how that ended, should nothing be known that it
// failed for.
func (h *Healing) Died(now proto.Time, p Process, why string, out *[]Action) {
	a := h.now
	if a != nil && a.Process == p && !a.Committed() {
		if !a.dismissed {
			a.Why = why
		}
		h.do(Failed, h.failed(a), out)
		if a.admitted() {
			h.do(Bury, "", out)
		}
		h.now = nil
		return
	}
	if !h.alive(p) {
		return // long since
	}
	h.owed = slices.DeleteFunc(h.owed, func(m mark) bool { return m.donor == p })
	if note := h.vacate(now, p.Proc); note != "" {
		*out = append(*out, Action{Kind: Note, Text: note})
	}
	switch {
	case a == nil:
	case a.Process == p: // it had committed: a replica like others
		h.now = nil
	case a.Donor == p:
		a.orphan = true
		if a.Part < TakeOver { // it may not even know whose state it was to have; later it finds out itself whether it has all
			h.Fail(a.Process, "the replica whose state it was to take over has died", Nobody, out)
		}
	}
}

// Filled notes a process that somebody else has given its place. If that is news, the next life is a higher one.
func (h *Healing) Filled(p Process, out *[]Action) {
	if p.Incarnation <= h.Given(p.Proc) {
		return
	}
	h.fill(p, 0)
	switch a := h.now; {
	case a == nil || a.Proc != p.Proc:
	case a.Committed(): // it had the place
		h.now = nil
	default:
		h.Fail(a.Process, "another process has taken the place", Nobody, out)
	}
}

// Over says that the job is about to end: nobody needs replacements any more.
func (h *Healing) Over(out *[]Action) {
	if h.over {
		return
	}
	for _, text := range h.end() {
		*out = append(*out, Action{Kind: Empty, Text: text})
	}
	if a := h.now; a != nil && !a.Committed() {
		h.Fail(a.Process, End, Replacement, out)
	}
}

// Abdicate ends the present attempt, if there is one, since the caller doesn't lead any more. What becomes of a
// replacement that has committed isn't heard here.
func (h *Healing) Abdicate(why string, out *[]Action) {
	switch a := h.now; {
	case a == nil:
	case a.Committed():
		h.now = nil
	default:
		h.Fail(a.Process, why, Nobody, out)
	}
}

// Deadline is when Tick has to be called, or Never.
func (h *Healing) Deadline() proto.Time {
	if h.now == nil || h.now.dismissed {
		return proto.Never
	}
	return h.now.deadline
}

// Tick ends an attempt that is late.
func (h *Healing) Tick(now proto.Time, out *[]Action) {
	a := h.now
	if now < h.Deadline() {
		return
	}
	a.deadline = now + h.limit
	if a.Part == FindSafepoint && len(h.waiting) == 0 {
		return // nobody else waits for it
	}
	h.Fail(a.Process, fmt.Sprintf("it didn't %v within %v", a.Part, time.Duration(h.limit)), Replacement, out)
}

// enter begins a part of the present attempt.
func (h *Healing) enter(now proto.Time, part Part) {
	h.now.Part, h.now.deadline = part, now+h.limit
}

// do has something done about the present attempt.
func (h *Healing) do(kind ActionKind, text string, out *[]Action) {
	*out = append(*out, Action{Kind: kind, Attempt: h.now, Text: text})
}
