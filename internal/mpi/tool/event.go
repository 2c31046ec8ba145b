package tool

import (
	"slices"
	"time"
)

// EventType is a kind of event. Its elements are C ints.
type EventType struct {
	Named
	Elements []string
}

// Events, by their index.
const (
	ProcessDied = iota
	RankLost
	ReplicaHealed
	ViewChanged
)

// EventTypes are all kinds, at their index.
func EventTypes() []EventType {
	return []EventType{
		ProcessDied:   {Named{"process_died", "a process of the job has died: its rank, its replica, and 1 if this process has concluded it from silence, 0 if it was told or has seen it", Failures, ForUsers}, []string{"rank", "replica", "cause"}},
		RankLost:      {Named{"rank_lost", "a rank has no replica left: the rank", Failures, ForUsers}, []string{"rank"}},
		ReplicaHealed: {Named{"replica_healed", "a replacement has become a member: its rank and its replica", Failures, ForUsers}, []string{"rank", "replica"}},
		ViewChanged:   {Named{"view_changed", "a view of the members has come into force: its number and how many they are", Failures, ForUsers}, []string{"view", "members"}},
	}
}

// Ticks is how many units of a time stamp are a second.
const Ticks = int64(time.Second)

// begin is when time stamps are 0.
var begin = time.Now()

// Now is a time stamp.
func Now() int64 { return int64(time.Since(begin)) }

// Instance is an event that has happened.
type Instance struct {
	Of     int // index of its type
	Values []int32
	Stamp  int64
}

// Safety says what a callback may rely on, as the standard numbers it.
type Safety int32

// Values of Safety.
const (
	RequireNone       Safety = 0x00
	RequireRestricted Safety = 0x03
	RequireThreadSafe Safety = 0x0f
	RequireSignalSafe Safety = 0x3f
)

var safeties = []Safety{RequireNone, RequireRestricted, RequireThreadSafe, RequireSignalSafe}

// Registration is a tool's interest in events of one type.
type Registration struct {
	of        int
	callbacks [4]func(instance, registration uintptr) // by safety, in order
	dropped   func(n int64, registration uintptr)
	missed    int64 // events that found no room in the queue, and of which nobody has been told
	freed     bool
}

// maxWaiting bounds the events that wait for callbacks to return. Those that find no room are
// dropped.
const maxWaiting = 256

// Register makes a registration for a type of events.
func (t *Interface) Register(index int) (uintptr, error) {
	if index < 0 || index >= len(t.Events) {
		return 0, ErrIndex
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.queue == nil {
		t.queue = make(chan func(), maxWaiting)
		go deliver(t.queue)
	}
	n := t.number()
	t.registrations[n] = &Registration{of: index}
	return n, nil
}

// deliver calls callbacks, one after the other.
func deliver(queue <-chan func()) {
	for call := range queue {
		call()
	}
}

// Registered says whether there is such a registration.
func (t *Interface) Registered(registration uintptr) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.registrations[registration] == nil {
		return ErrHandle
	}
	return nil
}

// Call sets or (nil) removes the callback of a safety.
func (t *Interface) Call(registration uintptr, safety Safety, f func(instance, registration uintptr)) error {
	level := slices.Index(safeties, safety)
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.registrations[registration]
	switch {
	case r == nil:
		return ErrHandle
	case level < 0:
		return ErrValue
	}
	r.callbacks[level] = f
	return nil
}

// Dropped sets or (nil) removes what is called when events are dropped.
func (t *Interface) Dropped(registration uintptr, f func(n int64, registration uintptr)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.registrations[registration]
	if r == nil {
		return ErrHandle
	}
	r.dropped = f
	return nil
}

// Unregister ends a registration. done, if not nil, is called once no callback runs any more.
func (t *Interface) Unregister(registration uintptr, done func()) error {
	t.mu.Lock()
	r := t.registrations[registration]
	if r == nil {
		t.mu.Unlock()
		return ErrHandle
	}
	r.freed = true
	delete(t.registrations, registration)
	queue := t.queue
	t.mu.Unlock()
	if done != nil {
		go func() { queue <- done }()
	}
	return nil
}

// Happened hands an event to those who are interested. It doesn't wait.
func (t *Interface) Happened(index int, values ...int32) {
	e := &Instance{index, values, Now()}
	t.mu.Lock()
	defer t.mu.Unlock()
	for n, r := range t.registrations {
		if r.of != index {
			continue
		}
		call := r.callbacks[2]
		if call == nil {
			call = r.callbacks[3]
		}
		work := func() { t.call(e, n, r, call) }
		if call == nil {
			work = func() { t.drop(n, r) }
		}
		select {
		case t.queue <- work:
		default: // the callbacks are too slow; the next delivery says so
			r.missed++
		}
	}
}

// call calls a callback with an instance that it can read meanwhile.
func (t *Interface) call(e *Instance, n uintptr, r *Registration, f func(instance, registration uintptr)) {
	t.mu.Lock()
	if r.freed {
		t.mu.Unlock()
		return
	}
	i := t.number()
	t.instances[i] = e
	missed, dropped := r.missed, r.dropped
	r.missed = 0
	t.mu.Unlock()
	if missed > 0 && dropped != nil {
		dropped(missed, n)
	}
	f(i, n)
	t.mu.Lock()
	delete(t.instances, i)
	t.mu.Unlock()
}

// drop tells a tool that it has no callback for an event.
func (t *Interface) drop(n uintptr, r *Registration) {
	t.mu.Lock()
	f, missed := r.dropped, r.missed
	if r.freed {
		f = nil
	}
	r.missed = 0
	t.mu.Unlock()
	if f != nil {
		f(1+missed, n)
	}
}

// Instance is the event of a handle that a callback has got.
func (t *Interface) Instance(instance uintptr) (*Instance, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.instances[instance]; e != nil {
		return e, nil
	}
	return nil, ErrHandle
}
