package engine

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"banyan/internal/runtime/process"
	"banyan/internal/runtime/state"
)

// Site is what a library over the engine has to say at a safe point of its program.
type Site interface {
	// Flush passes on what the program has written, and what is kept back in its
	// buffers.
	Flush()
	// Handles says why the handles that the program has don't allow for a donation, or nil.
	// It is called with first at the first safe point, and what there is then is
	// the measure later.
	Handles(first bool) error
}

// errNothing is why a program without registered state isn't healed: a replacement would begin anew
// where the others are in the middle.
var errNothing = errors.New("the program has registered no state")

// safe is the engine's part in healing. Its fields are guarded by the engine's lock.
type safe struct {
	registry
	// due says that a safe point isn't to be passed by: it is the first one, or
	// somebody wants the state. Whoever sets it calls Wanted.
	due atomic.Bool
	// Wanted, if set, is told of each change of due.
	wanted func(due bool)
	passed bool     // the first safe point
	parts  []string // that there were there
	told   map[string]bool
	input  input
}

// Wanted has a function told, now and whenever it changes, whether Safepoint has
// anything to do. It is called with the engine's lock held.
func (e *Engine) Wanted(tell func(due bool)) {
	e.lock()
	defer e.mu.Unlock()
	e.safe.wanted = tell
	tell(e.safe.due.Load())
}

func (s *safe) setDue(due bool) {
	s.due.Store(due)
	if s.wanted != nil {
		s.wanted(due)
	}
}

// Safepoint says that the program is at a place where its registered state, with the
// library's, is all that there is to it: nothing is under way, and a process with this
// state would go on as this one does. Nobody else may use the library meanwhile.
//
// In a process that was started to take a dead one's place it returns when the state of
// another replica is here: then restored is true. Elsewhere it gives the state away, if that
// is wanted, and changes nothing. Mostly it does nothing, at the price of an atomic load.
func (e *Engine) Safepoint(site Site) (restored bool, err error) {
	if !e.safe.due.Load() {
		return false, nil
	}
	return e.safepoint(site)
}

func (e *Engine) safepoint(site Site) (restored bool, err error) {
	e.lock()
	defer e.mu.Unlock()
	if e.closed {
		return false, process.ErrClosed
	}
	s := &e.safe
	if !s.passed {
		s.passed = true
		s.parts = slices.Clone(s.partOrder)
		e.outside(func() {
			err = site.Handles(true)
			s.input.look()
		})
		if e.p.Replaying() {
			if err == nil {
				err = e.takeOverState(site)
			}
			if err != nil {
				e.p.HealFailed(err)
				return false, err
			}
			s.setDue(e.p.SafepointWanted())
			return true, nil
		}
		if err == nil {
			err = e.idle()
		}
		if err == nil {
			err = e.surroundings()
		}
		if err == nil && len(s.order) == 0 {
			err = errNothing
		}
		if err == nil {
			err = e.p.FreezeLog()
		}
		if err != nil {
			e.unhealable("can't be the donor of its rank", err)
			s.setDue(false)
			return false, nil
		}
		e.p.ReachedSafepoint()
		e.until(e.p.IsNoted) // else the program could read input that the launcher counts as read before
		s.input.enterFirst(e.p)
	}
	if e.p.SafepointWanted() {
		e.donate(site)
	}
	s.setDue(e.p.SafepointWanted())
	return false, nil
}

// outside runs f with the lock given up.
func (e *Engine) outside(f func()) {
	e.mu.Unlock()
	defer e.mu.Lock()
	f()
}

// idle says what is under way, if anything is.
func (e *Engine) idle() error {
	if len(e.schedules) > 0 {
		return fmt.Errorf("collective operations that are under way: %d", len(e.schedules))
	}
	return e.p.Pending()
}

// surroundings says what a replacement can't have of this process, if there is anything.
func (e *Engine) surroundings() error {
	if e.cfg.Outside == nil {
		return nil
	}
	return e.cfg.Outside()
}

// donate gives this process's state to the replacement that waits for it, if that can
// be now. It returns when the replacement is a replica, or has failed.
func (e *Engine) donate(site Site) {
	s := &e.safe
	var regions []state.Region
	var err error
	e.outside(func() {
		if err = site.Handles(false); err == nil {
			site.Flush()
		}
		s.input.look()
	})
	if err == nil && s.input.lost(e.p) {
		err = errNoInput
	}
	if err == nil {
		err = e.idle()
	}
	if err == nil {
		err = e.surroundings()
	}
	if err == nil {
		err = s.changedParts(s.parts)
	}
	if err == nil {
		variables, order := s.variables, s.order // nobody registers anything meanwhile
		e.outside(func() { regions, err = saved(variables, order) })
	}
	if err != nil {
		e.unhealable("can't be the donor of its rank at this safe point", err)
		return
	}
	e.p.Donate(func() (*state.Encoder, error) {
		own, err := e.p.Snapshot()
		if err != nil { // somebody has broken the rule that nobody else may use the library
			e.unhealable("can't be the donor of its rank at this safe point", err)
			return nil, err
		}
		regions := append(s.library(), regions...)
		return state.NewEncoder(append(regions, s.input.save(e.p), state.Bytes(processRegion, own))...), nil
	})
	e.until(func() bool { return !e.p.Donating() })
}

// takeOverState makes a replacement what its donor is.
func (e *Engine) takeOverState(site Site) error {
	s := &e.safe
	if err := e.idle(); err != nil {
		return fmt.Errorf("at the first safe point of a replacement %w", err)
	}
	if err := e.p.EndReplay(); err != nil {
		return err
	}
	e.outside(site.Flush) // what it has written up to here another replica has written too
	aside := &restoring{}
	sinks := append(s.sinks(aside), aside.put(inputRegion, s.input.restore))
	e.p.AwaitState(state.NewDecoder(sinks...), func() error { return e.p.Restore(aside.process) })
	e.until(e.p.Joined)
	if !e.p.Joined() {
		return process.ErrClosed
	}
	var err error
	e.outside(func() {
		for _, load := range aside.loads {
			if err = load(); err != nil {
				return
			}
		}
	})
	return err
}

// unhealable tells the job what this process can't be, and why, once for each reason.
func (e *Engine) unhealable(what string, why error) {
	text := fmt.Sprintf("%s: %v", what, why)
	if e.safe.told == nil {
		e.safe.told = map[string]bool{}
	}
	if !e.safe.told[text] {
		e.safe.told[text] = true
		host{e}.put(Event{Kind: Unhealable, Text: text})
	}
}
