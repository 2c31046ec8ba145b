package rma

import "banyan/internal/runtime/lane"

// C accesses parts that this process can reach itself, where nothing has to be decided (package
// lane, capi/lane_window.c): it is told which parts the epoch is about, and whether anything is
// under way. With replicas it is told of no epoch.

// native is the window as C knows it.
func (w *Window) newNative() *lane.Win {
	n := lane.NewWin(w.comm.Size())
	if w.dynamic || w.copies {
		return n
	}
	for rank, p := range w.memory.Parts {
		n.SetTarget(rank, p.At, p.Size, p.Unit, w.memory.Place(rank))
		if p.Process != nil {
			n.SetOther(rank, p.Process.Base(), p.Process.Pid(), p.Process.Descriptor())
		}
	}
	turns, counts, row, self, members := w.memory.Turns()
	n.SetTurns(turns, counts, row, self, members)
	return n
}

// Native is the window as C may know it.
func (w *Window) Native() *lane.Win { return w.native }

// tell tells C of the epoch. The lock mu is held.
func (w *Window) tellEpoch() {
	mode := lane.NoEpoch
	switch e := &w.epoch; {
	case w.copies:
	case e.start:
		mode = lane.Started
	case e.all:
		mode = lane.AllLocked
	case len(e.locks) > 0:
		mode = lane.Locked
	case e.post:
		mode = lane.Exposed
	case e.fence:
		mode = lane.Fenced
	}
	w.native.SetMode(mode)
}

// settle tells C when nothing is under way any more.
func (w *Window) settle() {
	if !w.native.Busy() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for r := range w.to {
		if to := &w.to[r]; to.dirty || len(to.reads)+len(to.sends) > 0 {
			return
		}
	}
	w.native.SetBusy(false)
}
