package engine

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"banyan/internal/runtime/process"
	"banyan/internal/runtime/state"
	"banyan/internal/varint"
)

// What a replacement has to know in leader order, above its process: what the clocks have told, and
// how many threads each thread of the program has created, since that names the next ones.
//
// Threads that live at a safe point are part of the program's state, and no replacement can have
// any but those that it has created up to its first safe point. So a donor has just these.

const ledRegion = "the library: clocks and threads in leader order"

// errOtherThreads is why a program isn't a donor now.
var errOtherThreads = errors.New("other threads of the program live than at its first safe point, and a replacement would lack them, or have too many")

// living are the threads that live, in an order that is the same at all replicas.
func (e *Engine) living() []LivingThread {
	if !e.orders {
		return nil
	}
	all := e.cfg.Threads.Living()
	slices.SortFunc(all, func(a, b LivingThread) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// saveLed is the region of leader order, at a donor whose first safe point had these threads.
func (e *Engine) saveLed(first []LivingThread) (state.Region, error) {
	all := e.living()
	if !slices.EqualFunc(all, first, func(a, b LivingThread) bool { return a.ID == b.ID }) {
		return state.Region{}, errOtherThreads
	}
	b := varint.Append(nil, uint64(len(all)))
	for _, t := range all {
		b = varint.Append(b, uint64(t.ID), t.Created)
	}
	b = varint.Append(b, uint64(len(e.clocks)))
	for _, c := range slices.Sorted(maps.Keys(e.clocks)) {
		b = varint.Append(b, uint64(c), uint64(e.clocks[c].last))
	}
	return state.Bytes(ledRegion, b), nil
}

// restoreLed takes that over. The lock isn't held.
func (e *Engine) restoreLed(b []byte) error {
	r := varint.Read(b)
	var err error
	e.tell(func(*process.Process) {
		for range r.Count() {
			if t := (LivingThread{process.ThreadID(r.Uint()), r.Uint()}); !r.Failed() && (!e.orders || !e.cfg.Threads.SetCreated(t)) {
				err = errOtherThreads
			}
		}
		for range r.Count() {
			c, last := Clock(r.Uint()), int64(r.Uint())
			e.clock(c).goOn(last)
		}
	})
	if err == nil && !r.Done() {
		err = process.ErrSnapshot
	}
	return err
}
