package comm

import (
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/runtime/window"
)

// HasTurns tells whether accumulates at a member's part take turns in memory that the members on
// its host share: see window.Memory.Begin. If not, no other process accumulates there.
func (w *Window) HasTurns(rank int) bool { return w.memory != nil && w.place[rank] >= 0 }

// Place is a member's number among those on this host, -1 if it is elsewhere.
func (w *Window) Place(rank int) int { return w.place[rank] }

// Words is where C finds the words of turns, locks and epochs; without them its Turns is nil.
func (w *Window) Words() (words window.Words) {
	if w.memory != nil {
		words = w.memory.Words()
	}
	return words
}

// TryTurn begins an accumulate at the part of a member that has turns, or returns false if others
// are in its way. lost tells whether a rank is lost; nil: that isn't known.
func (w *Window) TryTurn(rank int, alone bool, lost func(proto.Rank) bool) bool {
	return w.memory.Begin(w.place[rank], alone, func(member int) bool {
		return lost != nil && member < len(w.near) && lost(w.comm.group[w.near[member]])
	})
}

// Turn does the same, but waits.
func (w *Window) Turn(rank int, alone bool) error {
	if w.TryTurn(rank, alone, nil) {
		return nil
	}
	what := fmt.Sprintf("for accumulates of others on rank %d's part", rank)
	err := w.comm.eng.AwaitLock(w.comm.context, "MPI_Accumulate", what, func(lost func(proto.Rank) bool) (bool, error) {
		return w.TryTurn(rank, alone, lost), nil
	})
	return w.comm.wrap("Accumulate", err)
}

// EndTurn is the end of TryTurn and Turn.
func (w *Window) EndTurn(rank int, alone bool) { w.memory.End(w.place[rank], alone) }
