package recovery

import (
	"errors"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/testing/explore"
)

// bug names a mistake that could be made, or was; "" is none. Its hooks stand between the world and the Healing.
type bug string

const (
	// A mark is taken to be for the present replacement.
	markOfAnother bug = "mark of another"
	// Late words of an earlier replacement are taken for the present one's.
	wordOfAnother bug = "word of another"
	// What a replacement says counts that has been given up.
	dismissedHeard bug = "dismissed heard"
	// A mark for a replacement that is dead isn't answered.
	unanswered bug = "unanswered"
	// One that is said while a replacement fails is answered at once, and again when the output is drained.
	answeredTwice bug = "answered twice"
	// The replacement's output follows before the donor's is drained.
	undrained bug = "undrained"
	// Others aren't told of the death of a replacement.
	unburied bug = "unburied"
	// They are told, of one that they don't know.
	buriedUnknown bug = "buried unknown"
	// The death of the donor isn't told if no other of its rank lives but the replacement: its place isn't filled later.
	lastDonorIgnored bug = "last donor ignored"
	// A replacement that dies before all know it isn't counted: there is no end of replacements.
	unknownExcused bug = "unknown excused"
	// A late word of a dead process makes the one that takes its place a donor.
	healableForever bug = "healable for ever"
	// A donor of whom a replacement has said that nobody could have its state is asked again.
	barredAsked bug = "barred asked"
	// A replacement waits for a donor that has died before it could be paused.
	orphanAwaited bug = "orphan awaited"
	// Lives are counted by those who got the place.
	incarnationsReused bug = "lives reused"
	// The job's end isn't remembered.
	endForgotten bug = "end forgotten"
)

// heard is which process is taken to say something.
func (b bug) heard(w *world, p *process, m *word) Process {
	a := w.h.now
	switch {
	case b == markOfAnother && m.kind == saysMark && a != nil && a.Part == FindSafepoint:
		m.replacement = a.Process
	case b == wordOfAnother && p.Incarnation > 0 && a != nil && a.Proc == p.Proc:
		return a.Process
	case b == healableForever && m.kind == healable:
		w.h.places[p.Proc].healable = true
	}
	return p.Process
}

// before comes before the Healing is told anything.
func (b bug) before(w *world) {
	a := w.h.now
	switch {
	case b == dismissedHeard && a != nil:
		a.dismissed = false
	case b == endForgotten:
		w.h.over = false
	}
	for i := range w.h.places {
		switch s := &w.h.places[i]; {
		case b == incarnationsReused && a == nil:
			s.given = s.incarnation
		case b == barredAsked && s.barred:
			s.barred, s.healable = false, true
		}
	}
}

// deaf says that a death isn't told.
func (b bug) deaf(w *world, p *process) bool {
	if b == unknownExcused && p != w.other && p.Process == w.trying && w.h.now != nil {
		w.h.places[p.Proc].failures--
	}
	if b == lastDonorIgnored && w.other != nil && p.Process == w.other.donor && w.h.now.Part == TakeOver {
		w.h.owed = nil
		return true
	}
	return false
}

// acts is what is done of what the Healing wants.
func (b bug) acts(w *world, out []Action) []Action {
	var kept []Action
	for _, a := range out {
		switch {
		case b == unanswered && a.Kind == Marked && (w.h.now == nil || w.h.now.Process != a.Replacement):
		case b == unburied && a.Kind == Bury:
		case b == answeredTwice && a.Kind == Marked:
			kept = append(kept, a, a)
		case b == undrained && a.Kind == Drain:
			kept = append(kept, a, Action{Kind: Follow, Attempt: a.Attempt})
		case b == buriedUnknown && a.Kind == Failed && !a.Attempt.admitted():
			kept = append(kept, a, Action{Kind: Bury, Attempt: a.Attempt})
		case b == orphanAwaited && a.Kind == Dismiss && a.Attempt.orphan:
			a.Attempt.dismissed = false
		default:
			kept = append(kept, a)
		}
	}
	return kept
}

// TestCanaries: an explorer that finds nothing may be blind.
func TestCanaries(t *testing.T) {
	for _, c := range []struct {
		bug bug
		options
	}{
		{markOfAnother, options{witness: true, faults: 2}},
		{wordOfAnother, options{witness: true, faults: 2}},
		{dismissedHeard, options{witness: true, faults: 2}},
		{unanswered, options{witness: true, faults: 2}},
		{answeredTwice, options{witness: true, faults: 2}},
		{undrained, options{witness: true, faults: 1}},
		{unburied, options{faults: 2}},
		{buriedUnknown, options{faults: 2}},
		{lastDonorIgnored, options{witness: true, faults: 2}},
		{unknownExcused, options{witness: true, faults: 4}},
		{healableForever, options{witness: true, faults: 3}},
		{barredAsked, options{faults: 2}},
		{orphanAwaited, options{witness: true, faults: 2}},
		{incarnationsReused, options{faults: 2}},
		{endForgotten, options{faults: 2, ends: true}},
	} {
		t.Run(string(c.bug), func(t *testing.T) {
			c.options.bug = c.bug
			stats, err := explore.All(newWorld(layout.Uniform(1, 2), c.options), 1e6)
			if err == nil || errors.Is(err, explore.ErrLimit) {
				t.Fatalf("not caught in %d states: %v", stats.States, err)
			}
			t.Logf("%d states: %v", stats.States, err)
		})
	}
}
