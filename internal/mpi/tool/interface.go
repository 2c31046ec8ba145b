package tool

import (
	"errors"
	"sync"
)

// Errors, one for each class of MPI_T_ERR that something here can have.
var (
	ErrUninitialised = errors.New("tool: not initialised")
	ErrIndex         = errors.New("tool: no such index")
	ErrName          = errors.New("tool: no such name")
	ErrSession       = errors.New("tool: no such session")
	ErrHandle        = errors.New("tool: no such handle")
	ErrNever         = errors.New("tool: a program can't set it")
	ErrNotNow        = errors.New("tool: it can't be set any more")
	ErrReadOnly      = errors.New("tool: it can't be written")
	ErrContinuous    = errors.New("tool: it can't be started or stopped")
	ErrValue         = errors.New("tool: no such value")
)

// AllHandles stands for all handles of a session.
const AllHandles = 1

// Interface is the tool interface of a process.
type Interface struct {
	Controls    []Control
	Performance []Performance
	Events      []EventType
	Categories  []Category
	Enums       []*Enum // of controls

	sample func() Sample
	fixed  func() bool // the job has begun: settings can't change any more

	mu            sync.Mutex
	uses          int     // calls of Begin without End
	last          uintptr // the last number of a handle
	controls      map[uintptr]*Control
	sessions      map[uintptr]map[uintptr]*handle
	registrations map[uintptr]*Registration
	instances     map[uintptr]*Instance // while their callbacks run
	queue         chan func()
}

// New makes the interface. sample tells what the process has counted, fixed whether settings are
// in use already. Both are called without a lock.
func New(controls []Control, sample func() Sample, fixed func() bool) *Interface {
	t := &Interface{
		Controls: controls, Performance: Performances(), Events: EventTypes(), sample: sample, fixed: fixed, last: AllHandles,
		controls: map[uintptr]*Control{}, sessions: map[uintptr]map[uintptr]*handle{},
		registrations: map[uintptr]*Registration{}, instances: map[uintptr]*Instance{},
	}
	for i := range controls {
		if e := controls[i].Enum; e != nil {
			t.Enums = append(t.Enums, e)
		}
	}
	t.Categories = t.categories()
	return t
}

// Begin is MPI_T_init_thread.
func (t *Interface) Begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.uses++
}

// End is MPI_T_finalize. The last End frees everything.
func (t *Interface) End() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.uses == 0 {
		return ErrUninitialised
	}
	if t.uses--; t.uses == 0 {
		clear(t.controls)
		clear(t.sessions)
		for _, r := range t.registrations {
			r.freed = true
		}
		clear(t.registrations)
	}
	return nil
}

// Active says whether somebody uses the interface.
func (t *Interface) Active() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.uses > 0
}

// number is a new handle. The lock is held.
func (t *Interface) number() uintptr {
	t.last++
	return t.last
}
