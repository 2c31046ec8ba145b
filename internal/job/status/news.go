package status

import "slices"

// News is what those who have a State are told when something has happened. They have the State
// that follows by Hear.
type News struct {
	At       Seconds      `json:"at_s"`
	Events   []Event      `json:"events"`
	Hosts    []Host       `json:"hosts"`
	View     uint64       `json:"view"`
	Members  int          `json:"members"`
	Survives Survival     `json:"survives"`
	Totals   Totals       `json:"totals"`
	Deaths   []DeathCount `json:"deaths_by,omitempty"`
	PIDs     map[int]int  `json:"pids,omitempty"` // of processes that have changed
	Over     *Over        `json:"over,omitempty"`
	// Addresses are those of the State, if they have changed; nil: they haven't.
	Addresses []Place `json:"addresses,omitempty"`
}

// Update is what those who have a State are told about once a second. They have the State that
// follows by HearUpdate.
type Update struct {
	At       Seconds           `json:"at_s"`
	Rate     *Rate             `json:"rate,omitempty"`
	Totals   Totals            `json:"totals"`
	Survives Survival          `json:"survives"`
	Circle   []int             `json:"circle"`
	Counters map[int]*Counters `json:"counters"` // of processes that have counted
}

// News are events that have just been observed, for those who have the State before them.
func (s *State) News(events []Event) *News {
	n := &News{
		At: s.At, Events: events, Hosts: s.Hosts, View: s.View, Members: s.Members, Survives: s.Survives, Totals: s.Totals,
		Deaths: s.Deaths, Over: s.Over, PIDs: map[int]int{},
	}
	for _, e := range events {
		for _, c := range e.Set {
			n.PIDs[c.Process] = s.Slots[c.Process].PID
		}
	}
	return n
}

// Hear has a State follow from the one before. What doesn't fit is left out: it comes from
// elsewhere.
func (s *State) Hear(n *News) {
	for _, e := range n.Events {
		if k := len(s.Events); k > 0 && e.Number <= s.Events[k-1].Number {
			continue
		}
		for _, c := range e.Set {
			if c.Process < 0 || c.Process >= len(s.Slots) {
				continue
			}
			x := &s.Slots[c.Process]
			if x.Incarnation != c.Incarnation {
				x.Counters = nil
			}
			if x.Incarnation != c.Incarnation || x.State != c.State {
				x.Since = n.At
			}
			x.State, x.Host, x.Incarnation = c.State, c.Host, c.Incarnation
			if pid, is := n.PIDs[c.Process]; is {
				x.PID = pid
			}
		}
		s.keep(e)
	}
	s.At, s.Hosts, s.View, s.Members, s.Survives, s.Totals, s.Deaths, s.Over = n.At, n.Hosts, n.View, n.Members, n.Survives, n.Totals, n.Deaths, n.Over
	if n.Addresses != nil {
		s.Addresses = n.Addresses
	}
	s.Old = false
}

// HearUpdate has a State follow from the one before.
func (s *State) HearUpdate(x *Update) {
	s.At, s.Totals, s.Survives, s.Circle, s.Counting = x.At, x.Totals, x.Survives, x.Circle, true
	for p, c := range x.Counters { //banyan:maporder each process has its own place
		if p >= 0 && p < len(s.Slots) {
			s.Slots[p].Counters = c
		}
	}
	if x.Rate != nil {
		s.addRate(*x.Rate)
	}
	s.Old = false
}

// addRate adds a rate, and forgets the first if there are too many.
func (s *State) addRate(r Rate) {
	if s.Rates = append(s.Rates, r); len(s.Rates) > MaxRates {
		s.Rates = slices.Clone(s.Rates[len(s.Rates)-MaxRates:])
	}
}

// keep keeps an event, and folds the first ones into the base if there are too many.
func (s *State) keep(e Event) {
	if len(s.Events) >= MaxEvents {
		drop := MaxEvents / 4
		for _, old := range s.Events[:drop] {
			s.Base = apply(s.Base, old.Set, len(s.Slots))
		}
		s.Events = slices.Clone(s.Events[drop:])
	}
	s.Events = append(s.Events, e)
}

// apply changes slots, by process, of which there are so many.
func apply(slots, changes []Change, size int) []Change {
	for _, c := range changes {
		if c.Process < 0 || c.Process >= size {
			continue
		}
		for len(slots) <= c.Process {
			slots = append(slots, Change{Process: len(slots), State: Starting})
		}
		slots[c.Process] = c
	}
	return slots
}
