package rma

import (
	"unsafe"

	"banyan/internal/mpi/comm"
	"banyan/internal/mpi/reduce"
)

// In leader order replicas hear what others ask of their part in the order that the leader decides
// (engine.ListenInOrder), so all epochs are as without replicas. But a replica's program is at
// another instruction than its sibling's. So there are two copies of the part, as in MPI's separate
// memory model: others access the public one, and the program's own calls that synchronise bring
// the two together, at a place among the accesses that the leader decides, too.
//
// In epochs of MPI_Win_fence the targets' programs carry the accesses out, as in free order
// (replicas.go): nothing needs to be decided but the place of the fence.
//
// A rank's accesses to its own part are messages to itself, outside of such epochs.

// fenceTag is the tag of accesses in epochs of MPI_Win_fence, which nobody hears.
const fenceTag = postTag - 1

// Order is a communicator for what a window's members answer each other in leader order; nil if
// they don't listen in that order, because the job has none, or a member has threads that
// communicate at once, or the program wants no locks. All members of c call it.
func Order(c *comm.Comm, dynamic, noLocks bool) (*comm.Comm, error) {
	e := c.Engine()
	if !e.Layout().Replicated() || !e.LedJob() || c.Size() == 1 {
		return nil, nil
	}
	own, all := []byte{0}, make([]byte, c.Size())
	if e.HearsInOrder() && !dynamic && !noLocks {
		own[0] = 1
	}
	if err := c.Allgather(own, all).Run(); err != nil {
		return nil, err
	}
	for _, willing := range all {
		if willing == 0 {
			return nil, nil
		}
	}
	return c.Dup()
}

// private is the program's copy of this rank's part.
func (w *Window) private() []byte {
	p := w.memory.Parts[w.comm.Rank()]
	return unsafe.Slice((*byte)(p.At), p.Size)
}

// Separate says that the window has the separate memory model.
func (w *Window) Separate() bool { return w.led }

// synchronise brings the two copies of this rank's part together, if there are two.
func (w *Window) synchronise(name string, last bool) error {
	if !w.led {
		return nil
	}
	return w.step(name, last, func() { w.public.merge(w.private()) })
}

// ownAccesses shows the program, at the end of an epoch, what it has done to its own part: that
// travelled to the public copy behind its stores. MPI promises it at the next lock only. Programs
// that rely on the unified model read at once.
func (w *Window) ownAccesses(name string) error { return w.synchronise(name, false) }

// step does something to both copies at a place among the accesses of others. last says that there
// are none behind it. A part without memory needs no place.
func (w *Window) step(name string, last bool, do func()) error {
	if w.memory.Parts[w.comm.Rank()].Size == 0 {
		do()
		return nil
	}
	return w.ear.Step(name, last, do)
}

// Sync is MPI_Win_sync.
func (w *Window) Sync() error {
	order()
	defer order()
	return w.synchronise("MPI_Win_sync", false)
}

// Freed is the end of all accesses: what others have left in the public copy is the program's.
func (w *Window) Freed() error { return w.synchronise("MPI_Win_free", true) }

// fenceLed is fenceReplicas among what is heard.
func (w *Window) fenceLed() (err error) {
	counts, err := w.fenceCounts()
	if err != nil {
		return err
	}
	failed := w.step("MPI_Win_fence", false, func() {
		w.public.merge(w.private())
		err = w.applyCounted(counts)
		w.public.merge(w.private())
	})
	return either(failed, err)
}

// wrote notes what an access to the public copy has changed.
func (c *public) wrote(m *message) {
	if m.verb == get || m.verb == fetch && m.op == reduce.NoOp {
		return
	}
	n, _ := m.bytes()
	m.eachRun(0, n, func(disp, _, length int64) { c.note(disp, length) })
}
