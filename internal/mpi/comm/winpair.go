package comm

import (
	"banyan/internal/proto"
	"banyan/internal/runtime/window"
)

// Counts tells whether a member and this one count the events of epochs in memory that they share:
// see window.Memory.Tell.
func (w *Window) Counts(rank int) bool { return w.HasTurns(rank) && !w.comm.copies }

// Tell counts an event for a member, and wakes that one if it may sleep.
func (w *Window) Tell(e window.Event, rank int) {
	if w.memory.Tell(e, w.place[rank]) {
		w.comm.eng.Nudge(w.comm.group[rank])
	}
}

// Told is how often a member has counted an event for this one.
func (w *Window) Told(e window.Event, rank int) uint32 { return w.memory.Told(e, w.place[rank]) }

// Nudge wakes the members that may sleep: C has counted an event for one of them.
func (w *Window) Nudge() {
	for member, rank := range w.near {
		if w.memory.Dozing(member) {
			w.comm.eng.Nudge(w.comm.group[rank])
		}
	}
}

// AwaitTold is Await for what a member counts here, or tells by a message.
func (w *Window) AwaitTold(from int, name, what string, met func(lost func(proto.Rank) bool) (bool, error)) error {
	if w.Counts(from) {
		w.memory.Doze(true)
		defer w.memory.Doze(false)
	}
	return w.comm.Await(from, name, what, met)
}
