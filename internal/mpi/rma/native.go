package rma

import "banyan/internal/runtime/lane"

// C accesses parts that this process can reach itself, where nothing has to be decided (package
// lane, capi/lane_window.c), and begins and ends epochs of which all ranks share memory with it
// (capi/lane_epoch.c). It knows whether anything is under way. With replicas there is no lane.

// native is the window as C knows it.
func (w *Window) newNative() *lane.Win {
	n := lane.NewWin(w.comm.Size())
	if w.copies || w.led {
		return n
	}
	n.SetWords(w.memory.Words(), !w.spread && !w.noLocks)
	for rank, p := range w.memory.Parts {
		if w.dynamic {
			n.SetTarget(rank, nil, 0, 1, w.memory.Place(rank))
			continue
		}
		n.SetTarget(rank, p.At, p.Size, p.Unit, w.memory.Place(rank))
		if p.Process != nil {
			n.SetOther(rank, p.Process.Base(), p.Process.Pid(), p.Process.Descriptor())
		}
	}
	return n
}

// Native is the window as C may know it.
func (w *Window) Native() *lane.Win { return w.native }

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
