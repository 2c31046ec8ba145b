package comm

import (
	"fmt"
	"unsafe"

	"banyan/internal/proto"
)

// HasTurns tells whether accumulates at a member's part take turns in memory that the members on
// its host share: see window.Memory.Begin. If not, no other process accumulates there.
func (w *Window) HasTurns(rank int) bool { return w.memory != nil && w.place[rank] >= 0 }

// Place is a member's number among those on this host, -1 if it is elsewhere.
func (w *Window) Place(rank int) int { return w.place[rank] }

// Turns is where C finds the words of turns, and this member's number among so many. turns is nil
// if there are none.
func (w *Window) Turns() (turns, counts unsafe.Pointer, row, self, members int) {
	if w.memory == nil {
		return nil, nil, 0, 0, 0
	}
	turns, counts, row = w.memory.Turns()
	return turns, counts, row, w.memory.Self(), w.memory.Members()
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
