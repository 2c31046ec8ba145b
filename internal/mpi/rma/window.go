package rma

import (
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"banyan/internal/mpi/comm"
	"banyan/internal/proto"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/lane"
	"banyan/internal/runtime/window"
)

// Config is what a window is made of.
type Config struct {
	Comm    *comm.Comm   // for the window alone
	Memory  *comm.Window // its parts
	Dynamic bool         // parts are what their ranks attach; displacements are addresses
	NoLocks bool         // the program has promised that it locks nothing
	Answers *comm.Comm   // what Order has made of Comm
}

// Window is the one-sided side of a window: its epochs and what is under way.
type Window struct {
	comm    *comm.Comm
	memory  *comm.Window
	dynamic bool
	noLocks bool
	copies  bool // ranks have replicas, and no leader decides: see replicas.go
	led     bool // ranks have replicas, and leaders decide: see led.go
	spread  bool // members are on several hosts: locks travel as messages
	answers *comm.Comm
	public  *public

	ear    *engine.Ear // nil with replicas, and for a window of one rank
	native *lane.Win   // the window as C knows it
	target target

	mu     sync.Mutex // guards what follows
	number int32      // of the last answer asked for
	to     []peer
	spare  []byte     // memory for the next message
	alone  sync.Mutex // held by accumulates where no other process accumulates
	came   sync.Cond  // signalled when an Operation is over
	wait   sync.Mutex // held by the thread that waits for what is under way
}

// peer is what this rank has under way at a target.
type peer struct {
	dirty bool         // something was sent that no flush has followed
	reads []*Operation // that haven't come
	sends []sent
	held  int64 // bytes of sends
	count int   // with replicas: operations sent since the last fence
}

// sent is a message that hasn't left.
type sent struct {
	comm.Pending
	bytes int64
}

// Open makes the one-sided side of a window. All members call it.
func Open(cfg Config) *Window {
	c := cfg.Comm
	w := &Window{
		comm: c, memory: cfg.Memory, dynamic: cfg.Dynamic, noLocks: cfg.NoLocks, to: make([]peer, c.Size()),
		copies: cfg.Answers == nil && c.Engine().Layout().Replicated() && c.Size() > 1,
		led:    cfg.Answers != nil, answers: c,
	}
	w.came.L = &w.mu
	for _, p := range w.memory.Parts {
		w.spread = w.spread || !p.Host
	}
	w.native = w.newNative()
	w.target.open(w)
	switch {
	case w.led:
		w.spread, w.answers, w.public = true, cfg.Answers, newPublic(w.private())
		w.ear = c.ListenInOrder(w.answers, &w.target)
	case !w.copies && c.Size() > 1:
		w.ear = c.Listen(&w.target)
	}
	c.Engine().Attach(w.title(), w)
	return w
}

// Close ends the one-sided side of a window, when nothing is under way any more.
func (w *Window) Close() {
	w.comm.Engine().Detach(w.title())
	if w.ear != nil {
		w.ear.Close()
	}
	if w.led {
		w.answers.Free()
	}
}

// base is the address from which displacements in a member's part count. ok is false if this
// process can't reach it.
func (w *Window) base(rank int) (at unsafe.Pointer, ok bool) {
	if w.dynamic {
		return nil, rank == w.comm.Rank()
	}
	at = w.memory.Parts[rank].At
	return at, at != nil
}

// answerTag is a tag for the next answer. The lock mu is held.
func (w *Window) answerTag() int32 {
	w.number = w.number%(1<<30) + 1
	return w.number
}

// send sends a message to a target, with data behind it.
func (w *Window) send(rank int, m *message) error {
	w.mu.Lock()
	b := w.spare
	w.spare = nil
	w.mu.Unlock()
	if n := 64 + len(m.data); cap(b) < n {
		b = make([]byte, 0, n)
	}
	b = append(m.append(b[:0]), m.data...)
	tag := comm.HeardTag
	if m.deferred {
		tag = w.deferredTag()
	}
	s, err := w.comm.Isend(b, rank, tag)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.Ended() && cap(b) <= mostSpare {
		w.spare = b
	}
	to := &w.to[rank]
	if m.deferred {
		to.count++
	}
	to.dirty = to.dirty || m.verb.moves() && !(w.led && m.deferred)
	w.native.SetBusy(true)
	if !s.Ended() {
		to.sends = append(to.sends, sent{s, int64(len(b))})
		to.held += int64(len(b))
	}
	return nil
}

// mostSpare is the most memory that is kept for the next message.
const mostSpare = 64 << 10

// region is memory that this rank has attached to a dynamic window.
type region struct{ at, size uintptr }

// AttachError is about memory that can't be attached or detached.
type AttachError struct{ text string }

func (e *AttachError) Error() string { return e.text }

// Attach adds memory to this rank's part of a dynamic window.
func (w *Window) Attach(at unsafe.Pointer, size int64) error {
	t := &w.target
	t.mu.Lock()
	defer t.mu.Unlock()
	r := region{uintptr(at), uintptr(size)}
	for _, o := range t.regions {
		if r.at == o.at || r.at < o.at+o.size && o.at < r.at+r.size {
			return &AttachError{fmt.Sprintf("%d bytes at %#x overlap the %d bytes at %#x that are attached already", size, r.at, o.size, o.at)}
		}
	}
	t.regions = append(t.regions, r)
	return nil
}

// Detach is the end of Attach.
func (w *Window) Detach(at unsafe.Pointer) error {
	t := &w.target
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.regions, func(r region) bool { return r.at == uintptr(at) })
	if i < 0 {
		return &AttachError{fmt.Sprintf("nothing is attached at %#x", uintptr(at))}
	}
	t.regions = slices.Delete(t.regions, i, i+1)
	return nil
}

// target is the side of a window that others access. It hears their messages.
type target struct {
	w    *Window
	lock window.FarLock

	// Guarded by the engine's lock.
	under    map[proto.Rank]*under // accesses that are being carried out
	wrong    map[int]string        // by origin: what was wrong with its accesses since its last flush
	posts    []int                 // by member: times that it has exposed its part to this rank
	ends     []int                 // by member: access epochs that it has completed
	lockTags []int32               // by member: of the lock that it wants
	left     []bool                // by member: it has left, maybe with a lock
	spare    *under                // for the next access

	mu      sync.Mutex // guards regions
	regions []region
}

// under is an access that is being carried out.
type under struct {
	message
	base unsafe.Pointer
	done int64
	all  int64
	old  []byte
	how  manner
}
