package recovery

import (
	"errors"
	"slices"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/testing/explore"
)

// bug names a mistake that was made or could be made; "" is none. Its hooks stand between the world
// and the machine.
type bug string

const (
	// The machine takes a mark for another replacement to be for the current one.
	markOfAnother bug = "mark of another"
	// The machine takes late messages of an earlier replacement for the current one's.
	messageOfAnother bug = "message of another"
	// Messages of a dismissed replacement still count.
	dismissedHeard bug = "dismissed heard"
	// A mark for a dead replacement isn't answered.
	neverAnswered bug = "never answered"
	// A mark that comes while a replacement fails is answered at once, and again when the output is
	// drained.
	answeredTwice bug = "answered twice"
	// The replacement's output follows before the donor's is drained.
	undrained bug = "undrained"
	// The others aren't told of the death of a replacement.
	deathUntold bug = "death untold"
	// The others are told of the death of a replacement that they don't know.
	unknownDeathTold bug = "unknown death told"
	// The machine isn't told of the donor's death if only the replacement is left of the rank: the
	// donor's slot isn't filled later.
	lastDonorIgnored bug = "last donor ignored"
	// A replacement that dies before all know it doesn't count as a failure: attempts never stop.
	unknownExcused bug = "unknown excused"
	// A late message of a dead process makes its replacement a donor.
	healableForever bug = "healable for ever"
	// The machine asks a donor again after a replacement has said that its state is of no use.
	barredAsked bug = "barred asked"
	// A replacement waits for a donor that died before it could be paused.
	orphanAwaited bug = "orphan awaited"
	// Only replacements that filled the slot advance its incarnation.
	incarnationsReused bug = "incarnations reused"
	// The machine forgets that a process was retired, and retires the next.
	retiredForgotten bug = "retired forgotten"
	// To be retired counts as a failure.
	retiredBlamed bug = "retired blamed"
	// The machine retires a process whose donor hasn't answered.
	unheard bug = "unheard"
	// A replacement is ended because it is late, and isn't asked.
	lateEnded bug = "late ended"
	// It is ended because its donor has died, and isn't asked.
	orphanEnded bug = "orphan ended"
	// A replacement that has committed is ended because another replica lives as far as is known.
	siblingUnheard bug = "sibling unheard"
	// A replacement that has committed and says so is ended because it is late.
	answerUnheard bug = "answer unheard"
	// The machine forgets the job's end.
	endForgotten bug = "end forgotten"
)

// sender is the process that the machine takes for the sender of a message.
func (b bug) sender(w *world, p *process, m *message) Process {
	a := w.machine.current
	switch {
	case b == markOfAnother && m.kind == saysMark && a != nil && a.Phase == FindSafepoint:
		m.replacement = a.Process
	case b == messageOfAnother && p.Incarnation > 0 && a != nil && a.Proc == p.Proc:
		return a.Process
	case b == healableForever && m.kind == healable:
		w.machine.table[p.Proc].canDonate = true
	}
	return p.Process
}

// before runs before the machine is told anything.
func (b bug) before(w *world) {
	a := w.machine.current
	switch {
	case b == dismissedHeard && a != nil:
		a.dismissed = false
	case b == answerUnheard && a != nil && a.Committed():
		a.asked = true
	case b == endForgotten:
		w.machine.over = false
	}
	for i := range w.machine.table {
		switch s := &w.machine.table[i]; {
		case b == retiredForgotten:
			s.retired = false
		case b == incarnationsReused && a == nil:
			s.last = s.incarnation
		case b == barredAsked && s.barred:
			s.barred, s.canDonate = false, true
		}
	}
}

// ignoresDeath says that the machine isn't told of a death.
func (b bug) ignoresDeath(w *world, p *process) bool {
	if b == unknownExcused && p != w.replacement && p.Process == w.attempt && w.machine.current != nil {
		w.machine.table[p.Proc].failures--
	}
	if b == retiredBlamed && p.retired {
		w.machine.table[p.Proc].failures++
	}
	if b == lastDonorIgnored && w.replacement != nil && p.Process == w.replacement.donor && w.machine.current.Phase == TakeOver {
		w.machine.unanswered = nil
		return true
	}
	return false
}

// actions are those that are carried out.
func (b bug) actions(w *world, out []Action) []Action {
	var kept []Action
	for _, a := range out {
		switch {
		case b == neverAnswered && a.Kind == Marked && (w.machine.current == nil || w.machine.current.Process != a.Replacement):
		case b == deathUntold && a.Kind == AnnounceDeath:
		case b == unheard && a.Kind == Ask:
			p := slices.IndexFunc(w.machine.table, func(s slot) bool { return s.leaving })
			w.machine.table[p].retired = true
			kept = append(kept, Action{Kind: Retire, To: Process{proto.Proc(p), w.machine.table[p].incarnation}})
		case b == lateEnded && a.Kind == AskToGiveUp && w.cause == evLimit, b == orphanEnded && a.Kind == AskToGiveUp && w.cause == evReaped:
			w.machine.Fail(a.Attempt.Process, "it wasn't asked", Replacement, &kept)
		case b == siblingUnheard && a.Kind == Ask && w.machine.current != nil:
			w.machine.Fail(w.machine.current.Process, "nobody was asked", Replacement, &kept)
		case b == answeredTwice && a.Kind == Marked:
			kept = append(kept, a, a)
		case b == undrained && a.Kind == Drain:
			kept = append(kept, a, Action{Kind: Follow, Attempt: a.Attempt})
		case b == unknownDeathTold && a.Kind == Failed && !a.Attempt.admitted():
			kept = append(kept, a, Action{Kind: AnnounceDeath, Attempt: a.Attempt})
		case b == orphanAwaited && a.Kind == Dismiss && a.Attempt.donorDied:
			a.Attempt.dismissed = false
		default:
			kept = append(kept, a)
		}
	}
	return kept
}

// TestCanaries checks that the exploration finds each bug.
func TestCanaries(t *testing.T) {
	for _, l := range []struct {
		bug bug
		options
	}{
		{markOfAnother, options{seesOutput: true, faults: 2}},
		{messageOfAnother, options{seesOutput: true, faults: 2}},
		{dismissedHeard, options{seesOutput: true, faults: 2}},
		{neverAnswered, options{seesOutput: true, faults: 2}},
		{answeredTwice, options{seesOutput: true, faults: 2}},
		{undrained, options{seesOutput: true, faults: 1}},
		{deathUntold, options{faults: 2}},
		{unknownDeathTold, options{faults: 2}},
		{lastDonorIgnored, options{seesOutput: true, faults: 2}},
		{unknownExcused, options{seesOutput: true, faults: 4}},
		{healableForever, options{seesOutput: true, faults: 3}},
		{barredAsked, options{faults: 2}},
		{orphanAwaited, options{seesOutput: true, faults: 2}},
		{incarnationsReused, options{faults: 2}},
		{endForgotten, options{faults: 2, ends: true}},
		{retiredForgotten, options{seesOutput: true, leaves: 2}},
		{unheard, options{seesOutput: true, leaves: 1, safe: true}},
		{lateEnded, options{seesOutput: true, faults: 3, safe: true}},
		{orphanEnded, options{faults: 2, safe: true}},
		{siblingUnheard, options{seesOutput: true, faults: 3, safe: true}},
		{answerUnheard, options{seesOutput: true, faults: 3, safe: true}},
		{retiredBlamed, options{seesOutput: true, leaves: 4, safe: true}},
	} {
		t.Run(string(l.bug), func(t *testing.T) {
			l.options.bug = l.bug
			stats, err := explore.All(newWorld(layout.Uniform(1, 2), l.options), 1e6)
			if err == nil || errors.Is(err, explore.ErrLimit) {
				t.Fatalf("not caught in %d states: %v", stats.States, err)
			}
			t.Logf("%d states: %v", stats.States, err)
		})
	}
}
