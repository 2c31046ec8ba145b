package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"banyan/internal/proto"
	"banyan/internal/proto/rollback"
	"banyan/internal/runtime/process"
	"banyan/internal/runtime/state"
)

// The state of all processes is captured together, at a safe point of one
// number, and when a rank is lost all processes start again and load it
// (internal/proto/rollback). This file drives a process's Participant. The thread that stands at
// a safe point captures and loads, without the engine's lock: meanwhile the progress thread
// answers the others.

// Rollback says how a process takes part in snapshots.
type Rollback struct {
	// Epoch is that of the process, and From the snapshot with which it begins.
	Epoch rollback.Epoch
	From  rollback.Snapshot
	// Report passes a report on, in order. It must not wait.
	Report func(r rollback.Report)
	// Noted tells the launcher that the process is at its first safe point. Opaque says that
	// nobody can tell how much of its input its program has taken. Engine.Noted answers.
	Noted func(opaque bool)
	// Save keeps the stream of a snapshot, and Load gives it.
	Save func(n rollback.Snapshot, stream *state.Encoder) error
	Load func(n rollback.Snapshot) (io.Reader, error)
	// Prepare may make room for parts of about this many bytes. It must not wait.
	Prepare func(length int64)
	// Grace is how long the process stands still when it learns of a death: it is about to be
	// killed, and what it did meanwhile wouldn't be repeated.
	Grace time.Duration
}

// back is the engine's part in snapshots. The engine's lock guards it.
type back struct {
	*Rollback
	part *rollback.Participant
	take rollback.Snapshot // what the thread at the safe point is to capture or load; Beginning: nothing
	read int64             // how many bytes of its input the process has read, by the last order
	done bool              // the first safe point is over
}

// maxHeld bounds the messages of a loaded snapshot, in bytes.
const maxHeld = maxLibrary

// Names of regions.
const (
	prefixRegion = "the library: what was decided before the first safe point"
	heldRegion   = "the library: messages that weren't received"
	pointRegion  = "the library: the number of the safe point"
)

// ErrNoState is why a program can't run with rollback.
var ErrNoState = errors.New("the program has registered no state before its first safe point: after a death nothing would be left of it")

// beginRollback prepares the process for snapshots.
func (e *Engine) beginRollback() {
	r := e.cfg.Rollback
	if r == nil {
		return
	}
	e.back = &back{Rollback: r, part: rollback.NewParticipant(r.Epoch, r.From)}
	e.safe.always = true
	e.cfg.Process.Marker = func(from proto.Proc, n uint64) {
		e.deeds(func(out *[]rollback.Deed) { e.back.part.Marker(from, rollback.Snapshot(n), out) })
	}
}

// Ordered takes an order of the coordinator of snapshots. read is how many bytes of its input the
// process has read, where the order is to flush.
func (e *Engine) Ordered(o rollback.Order, read int64) {
	e.tell(func(p *process.Process) {
		if e.back == nil {
			return
		}
		if o.Kind == rollback.Flush {
			e.back.read = read
		}
		e.deeds(func(out *[]rollback.Deed) { e.back.part.Ordered(e.now(), o, e.contacts, out) })
		p.Changes++
	})
}

func (e *Engine) contacts() ([]proto.Proc, uint64) { return e.p.Contacts(nil), e.p.Sends() }

// deeds has the participant do something, and carries out what it wants.
func (e *Engine) deeds(do func(out *[]rollback.Deed)) {
	var out []rollback.Deed
	do(&out)
	for _, d := range out {
		switch d.Kind {
		case rollback.SayReport:
			e.back.Report(d.Report)
		case rollback.SendMark:
			e.p.SendMarker(d.To, uint64(d.Snapshot))
		case rollback.TakeState:
			e.back.take = d.Snapshot
			e.p.Changes++
		case rollback.GoOn:
			e.p.Changes++
		}
	}
}

// rollbackPoint is Safepoint. The lock is held.
func (e *Engine) rollbackPoint(site Site) (restored bool, err error) {
	s, b := &e.safe, e.back
	if !b.done {
		b.done = true
		if e.p.Replaying() {
			return e.joinAtPoint(site)
		}
		if err := e.firstPoint(site); err != nil {
			return false, err
		}
	}
	restored = b.part.Loads()
	if !b.part.Idle() {
		// A marker is behind all that the program has sent. What waits for siblings to know of
		// decisions would be in no part of the snapshot.
		e.until(e.p.OutputSent)
	}
	e.deeds(func(out *[]rollback.Deed) { b.part.Safepoint(e.now(), e.contacts, out) })
	for b.part.Waits() {
		e.until(func() bool { return b.take != rollback.Beginning || !b.part.Waits() })
		if e.closed {
			return false, process.ErrClosed
		}
		if n := b.take; n != rollback.Beginning {
			b.take = rollback.Beginning
			if b.part.Loads() {
				err = e.load(site, n)
			} else {
				err = e.capture(site, n)
			}
			e.deeds(func(out *[]rollback.Deed) {
				if err != nil {
					b.part.Fail(err.Error(), out)
				} else {
					b.part.Done(out)
				}
			})
			if restored && err != nil {
				return false, err
			}
		}
	}
	s.passed = true
	if e.p.SafepointWanted() { // no snapshot is taken while a replacement joins
		e.donate(site)
	}
	return restored, nil
}

// joinAtPoint is the first safe point of a replacement of a dead replica. It gets its donor's
// state, and not that of a snapshot.
func (e *Engine) joinAtPoint(site Site) (restored bool, err error) {
	s := &e.safe
	s.passed = true
	s.parts, s.led = slices.Clone(s.partOrder), e.living()
	var handles error
	e.outside(func() {
		handles = site.Handles(true)
		s.input.look()
	})
	if restored, err = e.restored(site, handles); err == nil {
		e.back.Prepare(s.memory())
	}
	return restored, err
}

// firstPoint is what a process does once, at its first safe point.
func (e *Engine) firstPoint(site Site) error {
	s := &e.safe
	if len(s.order) == 0 {
		return ErrNoState
	}
	s.parts, s.led = slices.Clone(s.partOrder), e.living()
	e.p.EndPrefix()
	var handles error
	e.outside(func() {
		handles = site.Handles(true)
		s.input.look()
	})
	if handles != nil {
		return handles
	}
	e.back.Prepare(s.memory())
	if !e.canDonate() {
		e.back.Noted(s.input.opaque)
	}
	e.until(e.p.IsNoted)
	s.input.enterFirst(e.p)
	return nil
}

// canDonate has the log of this process end at its first safe point, and tells the launcher of
// that, if dead replicas are replaced here.
func (e *Engine) canDonate() bool {
	if !e.cfg.Process.Heal {
		return false
	}
	err := e.quiescent()
	if err == nil {
		err = e.p.FreezeLog()
	}
	if err != nil {
		e.unhealable("can't be the donor of its rank", err)
		return false
	}
	e.p.ReachedSafepoint()
	return true
}

// settled says why this process's state isn't its whole part of a snapshot.
func (e *Engine) settled() error {
	if err := e.idle(); err != nil {
		return err
	}
	if err := e.p.Settled(e.back.part.Sends()); err != nil {
		return err
	}
	for _, name := range e.safe.partOrder {
		if part, ok := e.safe.registry.parts[name].(Settler); ok {
			if err := part.Settled(); err != nil {
				return err
			}
		}
	}
	return nil
}

// capture keeps the state of this process as its part of a snapshot.
func (e *Engine) capture(site Site, n rollback.Snapshot) error {
	s, b := &e.safe, e.back
	if err := e.settled(); err != nil {
		return fmt.Errorf("can't be captured at this safe point: %w", err)
	}
	e.p.Noted(b.read)
	regions, err := e.programState(site)
	if err != nil {
		return fmt.Errorf("can't be captured at this safe point: %w", err)
	}
	held, err := e.p.HeldMessages(b.part.Sends())
	if err != nil {
		return fmt.Errorf("can't be captured at this safe point: %w", err)
	}
	led, err := e.saveLed(s.led)
	if err != nil {
		return fmt.Errorf("can't be captured at this safe point: %w", err)
	}
	var prefix []byte
	if b.part.Repeats() {
		if prefix, err = e.p.Prefix(); err != nil {
			return fmt.Errorf("can't be captured: %w", err)
		}
	}
	point := binary.LittleEndian.AppendUint64(nil, b.part.Passed())
	if err := e.unheard(); err != nil { // others may have asked something meanwhile
		return fmt.Errorf("can't be captured at this safe point: %w", err)
	}
	// What a process reads before its program begins comes first. What changes its length comes
	// last: before it nothing moves from one snapshot to the next.
	regions = append([]state.Region{state.Bytes(prefixRegion, prefix)}, append(regions, s.library()...)...)
	regions = append(regions, state.Bytes(pointRegion, point), s.input.save(e.p), led, state.Bytes(heldRegion, held))
	stream := state.NewEncoder(regions...)
	e.outside(func() { err = b.Save(n, stream) })
	if err != nil {
		return fmt.Errorf("can't keep its part of the snapshot: %w", err)
	}
	return nil
}

// load gives this process the state that was captured. What has come to it since its start is
// dropped: the snapshot has what was held then.
func (e *Engine) load(site Site, n rollback.Snapshot) error {
	return e.hushed(func() error { return e.loadPart(site, n) })
}

func (e *Engine) loadPart(site Site, n rollback.Snapshot) error {
	s, b := &e.safe, e.back
	if err := e.settled(); err != nil {
		return err
	}
	if err := e.p.Repeated(); err != nil {
		return err
	}
	e.outside(site.Flush) // what the program wrote up to here was shown before
	aside := &restoring{}
	var held []byte
	sinks := s.sinks(aside)
	sinks = sinks[:len(sinks)-1] // there is no state of replication
	sinks = append(sinks, aside.put(inputRegion, s.input.restore), aside.put(ledRegion, e.restoreLed),
		state.Sink{Name: prefixRegion, Limit: maxLibrary, Load: func([]byte) error { return nil }}, // AwaitPrefix has read it
		state.Sink{Name: heldRegion, Limit: maxHeld, Load: func(b []byte) error { held = b; return nil }},
		state.Sink{Name: pointRegion, Limit: 8, Load: func(p []byte) error {
			if len(p) != 8 {
				return fmt.Errorf("%d bytes, want 8", len(p))
			}
			b.part.SetPassed(binary.LittleEndian.Uint64(p))
			return nil
		}})
	var err error
	e.outside(func() { err = e.decode(n, state.NewDecoder(sinks...)) })
	if err != nil {
		return err
	}
	if err := e.p.RestoreHeld(held); err != nil {
		return err
	}
	if e.cfg.Committed != nil {
		e.cfg.Committed()
	}
	e.outside(func() {
		for _, load := range aside.loads {
			if err = load(); err != nil {
				return
			}
		}
	})
	return err
}

// AwaitPrefix waits, in a process in leader order that is to load a snapshot, until its part is at
// its host, and takes from there what was decided before the first safe point. The program must not
// begin before.
func (e *Engine) AwaitPrefix() error {
	e.lock()
	defer e.mu.Unlock()
	b := e.back
	if b == nil || !b.part.Loads() || !e.p.Repeats() {
		return nil
	}
	e.until(b.part.Here)
	if !b.part.Here() {
		return process.ErrClosed
	}
	var prefix []byte
	var err error
	e.outside(func() { prefix, err = e.prefixOf(b.From) })
	if err == nil {
		e.p.Repeat(prefix)
	}
	return err
}

// prefixOf reads what was decided before the first safe point: the first region of a part.
func (e *Engine) prefixOf(n rollback.Snapshot) (prefix []byte, err error) {
	from, err := e.back.Load(n)
	if err != nil {
		return nil, err
	}
	here := errors.New("the region is here")
	d := state.NewDecoder(state.Sink{Name: prefixRegion, Limit: maxLibrary, Load: func(b []byte) error {
		prefix = b
		return here
	}})
	chunk := make([]byte, 4096)
	for err == nil {
		k, end := from.Read(chunk)
		if err = d.Write(chunk[:k]); err == nil {
			err = end
		}
	}
	if errors.Is(err, here) {
		return prefix, nil
	}
	return nil, fmt.Errorf("snapshot %d: what was decided before the first safe point can't be read: %w", n, err)
}

// decode reads a snapshot.
func (e *Engine) decode(n rollback.Snapshot, d *state.Decoder) error {
	from, err := e.back.Load(n)
	if err != nil {
		return err
	}
	chunk := make([]byte, 1<<20)
	for {
		n, err := from.Read(chunk)
		if err := d.Write(chunk[:n]); err != nil {
			return err
		}
		switch {
		case err == io.EOF && d.Whole():
			return nil
		case err == io.EOF:
			return fmt.Errorf("%w: it ends before its end", state.ErrCorrupt)
		case err != nil:
			return err
		}
	}
}
