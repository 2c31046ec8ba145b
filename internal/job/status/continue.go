package status

import "slices"

// Continue makes a Tracker that goes on where another one was, as its last reader has it: events
// keep their numbers and times, and what was before can be looked at. The new launcher tells all
// that it knows to have happened; what the State has already isn't told again.
func Continue(before State) *Tracker {
	before.Job.Ranks = max(0, before.Job.Ranks)
	t := NewTracker(before.Job)
	was := t.state
	t.state = before
	t.state.Over, t.state.Old = nil, false
	if before.Base == nil {
		t.state.Base = was.Base
	}
	t.known = make(map[[2]string]int)
	for i := range before.Events {
		e := &before.Events[i]
		t.number, t.latest = max(t.number, e.Number), max(t.latest, e.At)
		t.known[[2]string{e.Kind, e.Text}]++
	}
	t.told = slices.Clone(before.Base)
	for i := range before.Events {
		t.told = apply(t.told, before.Events[i].Set, len(before.Slots))
	}
	t.heard = make([]heard, len(before.Slots))
	return t
}

// unknown are those of some events that another Tracker hasn't told. What that may have told is all
// in the first observation, but for deaths, heals and views, which the launcher may find again
// later: they name a process or a number that doesn't come twice.
func (t *Tracker) unknown(all []Event) (news []Event) {
	for _, e := range all {
		key := [2]string{e.Kind, e.Text}
		if t.known[key] > 0 {
			t.known[key]--
			continue
		}
		news = append(news, e)
	}
	for key := range t.known { //banyan:maporder each by itself
		if !slices.Contains([]string{KindDeath, KindHealed, KindNotHeal, KindView, KindHostLost}, key[0]) {
			delete(t.known, key)
		}
	}
	return news
}
