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
	// The machine fills two slots of one rank at the same time.
	rankTwice bug = "rank twice"
	// It fills the slots of different ranks one after the other.
	oneByOne bug = "one by one"
	// It begins more attempts than there may be.
	unbounded bug = "unbounded"
	// It retires a process while a slot of another rank is being filled.
	retiredBeside bug = "retired beside"
	// A message of one replacement counts for that of another rank.
	messageOfNeighbour bug = "message of a neighbour"
	// All attempts end with one of them.
	endedTogether bug = "ended together"
	// The limit of all attempts is that of the first one.
	oneLimit bug = "one limit"
	// The next leader ends a replacement that may have committed.
	lateLost bug = "late lost"
	// The next leader forgets a replacement that is under way.
	lateForgotten bug = "late forgotten"
	// A mark for a replacement that is being ended is answered at once.
	endingAnswered bug = "ending answered"
	// Only one attempt hears of the job's end.
	endHeardOnce bug = "end heard once"
)

// next calls Next.
func (b bug) next(w *world, out *[]Action) (began bool) {
	m := w.machine
	attempts := m.attempts
	switch {
	case b == oneByOne && len(attempts) > 0:
		return false
	case b == rankTwice, b == retiredBeside && len(m.waiting) == 0:
		m.attempts = nil
		began = w.nextOf(m, out)
		m.attempts = append(slices.Clip(attempts), m.attempts...)
		return began
	}
	return w.nextOf(m, out)
}

// left is what the next leader is told of a replacement.
func (b bug) left(x Left) Left {
	x.Follows = x.Follows && b != lateLost
	return x
}

// sender is the process that the machine takes for the sender of a message.
func (b bug) sender(w *world, p *process, m *message) Process {
	a := w.machine.AttemptAt(p.Proc)
	switch {
	case b == markOfAnother && m.kind == saysMark && len(w.machine.attempts) > 0 && w.machine.attempts[0].Phase == FindSafepoint:
		m.replacement = w.machine.attempts[0].Process
	case b == messageOfNeighbour && p.Incarnation > 0 && len(w.machine.attempts) > 0:
		return w.machine.attempts[0].Process
	case b == messageOfAnother && p.Incarnation > 0 && a != nil:
		return a.Process
	case b == healableForever && m.kind == healable:
		w.machine.table[p.Proc].canDonate = true
	}
	return p.Process
}

// before runs before the machine is told anything.
func (b bug) before(w *world) {
	for _, a := range w.machine.attempts {
		switch {
		case b == dismissedHeard:
			a.dismissed = false
		case b == answerUnheard && a.Committed():
			a.asked = true
		case b == oneLimit:
			a.deadline = w.machine.attempts[0].deadline
		}
	}
	switch b {
	case endForgotten:
		w.machine.over = false
	case unbounded:
		w.machine.most = len(w.machine.table)
	}
	for i := range w.machine.table {
		switch s := &w.machine.table[i]; {
		case b == retiredForgotten:
			s.retired = false
		case b == incarnationsReused && len(w.machine.attempts) == 0:
			s.last = s.incarnation
		case b == barredAsked && s.barred:
			s.barred, s.canDonate = false, true
		}
	}
}

// ignoresDeath says that the machine isn't told of a death.
func (b bug) ignoresDeath(w *world, p *process) bool {
	a, joining := w.machine.AttemptAt(p.Proc), w.joining[p.Proc]
	if b == unknownExcused && p != joining && a != nil && p.Process == a.Process {
		w.machine.table[p.Proc].failures--
	}
	if b == retiredBlamed && p.retired {
		w.machine.table[p.Proc].failures++
	}
	orphan := func(a *Attempt) bool { return a.Donor == p.Process && a.Phase == TakeOver }
	if b == lastDonorIgnored && slices.ContainsFunc(w.machine.attempts, orphan) {
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
		case b == neverAnswered && a.Kind == Marked && w.machine.of(a.Replacement, GetReady, BecomeKnown) == nil:
		case b == deathUntold && a.Kind == AnnounceDeath:
		case b == unheard && a.Kind == Ask:
			p := slices.IndexFunc(w.machine.table, func(s slot) bool { return s.leaving })
			w.machine.table[p].retired = true
			kept = append(kept, Action{Kind: Retire, To: Process{proto.Proc(p), w.machine.table[p].incarnation}})
		case b == lateEnded && a.Kind == AskToGiveUp && w.cause.kind == evLimit, b == orphanEnded && a.Kind == AskToGiveUp && w.cause.kind == evReaped:
			w.machine.Fail(a.Attempt.Process, "it wasn't asked", Replacement, &kept)
		case b == siblingUnheard && a.Kind == Ask && len(w.machine.attempts) > 0:
			w.machine.Fail(w.machine.attempts[0].Process, "nobody was asked", Replacement, &kept)
		case b == endedTogether && a.Kind == Dismiss && len(w.machine.attempts) > 1:
			kept = append(kept, a)
			for _, other := range w.machine.attempts {
				w.machine.Fail(other.Process, "another has failed", Replacement, &kept)
			}
		case b == endHeardOnce && a.Kind == Dismiss && w.cause.kind == evOver && a.Attempt != w.machine.attempts[0]:
			a.Attempt.dismissed = false
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
	if b == endingAnswered {
		for _, x := range w.machine.held {
			w.machine.answer(x, &kept)
		}
		w.machine.held = nil
	}
	return kept
}

// TestCanaries checks that the exploration finds each bug.
func TestCanaries(t *testing.T) {
	for _, l := range []struct {
		bug bug
		options
		ranks, replicas int // 0: one, with two replicas
	}{
		{markOfAnother, options{seesOutput: true, faults: 2}, 0, 0},
		{messageOfAnother, options{seesOutput: true, faults: 2}, 0, 0},
		{dismissedHeard, options{seesOutput: true, faults: 2}, 0, 0},
		{neverAnswered, options{seesOutput: true, faults: 2}, 0, 0},
		{answeredTwice, options{seesOutput: true, faults: 2}, 0, 0},
		{undrained, options{seesOutput: true, faults: 1}, 0, 0},
		{deathUntold, options{faults: 2}, 0, 0},
		{unknownDeathTold, options{faults: 2}, 0, 0},
		{lastDonorIgnored, options{seesOutput: true, faults: 2}, 0, 0},
		{unknownExcused, options{seesOutput: true, faults: 4}, 0, 0},
		{healableForever, options{seesOutput: true, faults: 3}, 0, 0},
		{barredAsked, options{faults: 2}, 0, 0},
		{orphanAwaited, options{seesOutput: true, faults: 2}, 0, 0},
		{incarnationsReused, options{faults: 2}, 0, 0},
		{endForgotten, options{faults: 2, ends: true}, 0, 0},
		{retiredForgotten, options{seesOutput: true, leaves: 2}, 0, 0},
		{unheard, options{seesOutput: true, leaves: 1, safe: true}, 0, 0},
		{lateEnded, options{seesOutput: true, faults: 3, safe: true}, 0, 0},
		{orphanEnded, options{faults: 2, safe: true}, 0, 0},
		{siblingUnheard, options{seesOutput: true, faults: 3, safe: true}, 0, 0},
		{answerUnheard, options{seesOutput: true, faults: 3, safe: true}, 0, 0},
		{retiredBlamed, options{seesOutput: true, leaves: 4, safe: true}, 0, 0},
		{rankTwice, options{seesOutput: true, faults: 2, safe: true, most: 2}, 1, 3},
		{oneByOne, options{seesOutput: true, faults: 2, safe: true, most: 2}, 2, 2},
		{unbounded, options{seesOutput: true, faults: 2, safe: true}, 2, 2},
		{retiredBeside, options{seesOutput: true, faults: 1, leaves: 1, safe: true, most: 2}, 2, 2},
		{messageOfNeighbour, options{seesOutput: true, faults: 2, safe: true, most: 2}, 2, 2},
		{endedTogether, options{seesOutput: true, faults: 3, safe: true, most: 2}, 2, 2},
		{oneLimit, options{seesOutput: true, faults: 3, safe: true, most: 2}, 2, 2},
		{lateLost, options{seesOutput: true, faults: 2, safe: true, leaders: 1}, 0, 0},
		{lateForgotten, options{seesOutput: true, faults: 1, safe: true, leaders: 1}, 0, 0},
		{endingAnswered, options{seesOutput: true, faults: 1, safe: true, leaders: 1}, 0, 0},
		{endHeardOnce, options{seesOutput: true, faults: 2, safe: true, ends: true, most: 2}, 2, 2},
	} {
		t.Run(string(l.bug), func(t *testing.T) {
			l.options.bug = l.bug
			stats, err := explore.All(newWorld(layout.Uniform(max(l.ranks, 1), max(l.replicas, 2)), l.options), 1e6)
			if err == nil || errors.Is(err, explore.ErrLimit) {
				t.Fatalf("not caught in %d states: %v", stats.States, err)
			}
			t.Logf("%d states: %v", stats.States, err)
		})
	}
}
