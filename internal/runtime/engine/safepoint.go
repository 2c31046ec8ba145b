package engine

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"banyan/internal/runtime/process"
	"banyan/internal/runtime/state"
)

// Site is what the library above the engine does at a safe point of its program.
type Site interface {
	// Flush passes on what the program has written, and what the library's buffers keep back.
	Flush()
	// Handles says why the handles that the program has rule out a donation, or nil. The first
	// safe point calls it with first set; later ones are compared with what it saw then.
	Handles(first bool) error
}

// errNothing is why a program without registered state isn't healed: a replacement would start
// from the beginning while the others are in the middle.
var errNothing = errors.New("the program has registered no state")

// safe is the engine's part in healing. The engine's lock guards its fields.
type safe struct {
	registry
	// due says that the next safe point has something to do: it is the first one, or a replacement
	// wants the state, or safe points are counted. Only setDue changes it.
	due atomic.Bool
	// needed is due without the counting.
	needed, counting bool
	always           bool // snapshots are taken: each safe point counts
	// wanted, if set, hears each change of due.
	wanted func(due bool)
	passed bool            // the first safe point is over
	parts  []string        // the library's parts at the first safe point
	led    []LivingThread  // the program's threads there
	said   map[string]bool // reasons that unhealable has told already
	input  input
}

// Wanted has a function told, now and at each change, whether Safepoint has anything to do. The
// engine calls it with its lock held.
func (e *Engine) Wanted(tell func(due bool)) {
	e.lock()
	defer e.mu.Unlock()
	e.safe.wanted = tell
	tell(e.safe.due.Load())
}

func (s *safe) setDue(needed bool) {
	needed = needed || s.always
	s.needed = needed
	due := needed || s.counting
	s.due.Store(due)
	if s.wanted != nil {
		s.wanted(due)
	}
}

// Safepoint says that the program is at a place where its registered state and the library's are
// all there is to it: no operation is under way, and a process with this state would go on as this
// one does. No other thread may use the library meanwhile.
//
// In a replacement it returns when the state of another replica is here; then restored is true.
// Elsewhere it gives the state to a replacement if one waits for it, and changes nothing. Mostly
// it has nothing to do and costs an atomic load.
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
	if e.counted.safepoints++; !s.needed {
		return false, nil
	}
	if e.back != nil {
		return e.rollbackPoint(site)
	}
	if !s.passed {
		s.passed = true
		s.parts, s.led = slices.Clone(s.partOrder), e.living()
		var handles error
		e.outside(func() {
			handles = site.Handles(true)
			s.input.look()
		})
		if e.p.Replaying() {
			return e.restored(site, handles)
		}
		if err := e.freezeLog(handles); err != nil {
			e.unhealable("can't be the donor of its rank", err)
			s.setDue(false)
			return false, nil
		}
	}
	if e.p.SafepointWanted() {
		e.donate(site)
	}
	s.setDue(e.p.SafepointWanted())
	return false, nil
}

// restored is the first safe point of a replacement: it takes over its donor's state. handles is
// what the site said.
func (e *Engine) restored(site Site, handles error) (bool, error) {
	err := handles
	if err == nil {
		err = e.takeOverState(site)
	}
	if err != nil {
		e.p.HealFailed(err)
		return false, err
	}
	e.safe.setDue(e.p.SafepointWanted())
	return true, nil
}

// freezeLog is the first safe point of any other process: what the process has received up to here
// is the log with which a replacement will begin. It returns an error if the process can't be a
// donor. handles is what the site said.
func (e *Engine) freezeLog(handles error) error {
	if handles != nil {
		return handles
	}
	if err := e.quiescent(); err != nil {
		return err
	}
	if len(e.safe.order) == 0 {
		return errNothing
	}
	if err := e.p.FreezeLog(); err != nil {
		return err
	}
	e.p.ReachedSafepoint()
	// Before the launcher knows of the safe point the program may not go on: it could read input
	// that the launcher counts as read before.
	e.until(e.p.IsNoted)
	e.safe.input.enterFirst(e.p)
	return nil
}

// outside runs f with the lock given up.
func (e *Engine) outside(f func()) {
	e.mu.Unlock()
	defer e.lock()
	f()
}

// quiescent says what rules out a donation now: an operation under way, or something outside of the
// process's memory that a replacement can't have. nil: nothing does.
func (e *Engine) quiescent() error {
	if err := e.idle(); err != nil || e.cfg.Outside == nil {
		return err
	}
	return e.cfg.Outside()
}

// idle says which operations are under way, nil if there are none.
func (e *Engine) idle() error {
	if n := len(e.running.schedules); n > 0 {
		return fmt.Errorf("collective operations that are under way: %d", n)
	}
	if err := e.unheard(); err != nil {
		return err
	}
	return e.p.Pending()
}

// notNow begins the sentence about a donor that has no state to give at this safe point.
const notNow = "can't be the donor of its rank at this safe point"

// donate gives this process's state to the replacement that waits for it, if that is possible now.
// It returns when the replacement is a replica, or has failed.
func (e *Engine) donate(site Site) {
	e.until(e.p.OutputSent)
	regions, err := e.programState(site)
	if err != nil {
		e.unhealable(notNow, err)
		return
	}
	s := &e.safe
	led, err := e.saveLed(s.led)
	if err != nil {
		e.unhealable(notNow, err)
		return
	}
	e.p.Donate(func() (*state.Encoder, error) {
		own, err := e.p.Snapshot()
		if err == nil {
			err = e.unheard() // others may have asked something meanwhile
		}
		if err != nil { // or another thread uses the library, against the rule
			e.unhealable(notNow, err)
			return nil, err
		}
		regions := append(s.library(), regions...)
		return state.NewEncoder(append(regions, s.input.save(e.p), e.savePoints(), led, state.Bytes(processRegion, own))...), nil
	})
	e.until(func() bool { return !e.p.Donating() })
}

// programState is the program's state at this safe point, or why it can't be given away.
func (e *Engine) programState(site Site) (regions []state.Region, err error) {
	s := &e.safe
	e.outside(func() {
		if err = site.Handles(false); err == nil {
			site.Flush()
		}
		s.input.look()
	})
	if err != nil {
		return nil, err
	}
	if s.input.lost(e.p) {
		return nil, errNoInput
	}
	if err := e.quiescent(); err != nil {
		return nil, err
	}
	if err := s.changedParts(s.parts); err != nil {
		return nil, err
	}
	variables, order := s.variables, s.order // no thread registers anything meanwhile
	e.outside(func() { regions, err = saved(variables, order) })
	return regions, err
}

// takeOverState gives a replacement the state of its donor.
func (e *Engine) takeOverState(site Site) error {
	if err := e.idle(); err != nil {
		return fmt.Errorf("at the first safe point of a replacement %w", err)
	}
	if err := e.p.EndReplay(); err != nil {
		return err
	}
	e.outside(site.Flush) // another replica has written the same up to here
	return e.hushed(e.awaitState)
}

// awaitState gives a replacement what its donor sends.
func (e *Engine) awaitState() error {
	s := &e.safe
	aside := &restoring{}
	sinks := append(s.sinks(aside), aside.put(inputRegion, s.input.restore), aside.put(pointsRegion, e.restorePoints), aside.put(ledRegion, e.restoreLed))
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

// unhealable tells the job what this process can't be, and why: once for each reason.
func (e *Engine) unhealable(what string, why error) {
	text := fmt.Sprintf("%s: %v", what, why)
	if e.safe.said == nil {
		e.safe.said = map[string]bool{}
	}
	if !e.safe.said[text] {
		e.safe.said[text] = true
		host{e}.put(Event{Kind: Unhealable, Text: text})
	}
}
