// Package explore tries what can happen in a small concurrent system: everything
// ([All]), or, where that is too much, something chosen by a seed ([Random]). It
// is the third driver of protocol machines, for tests.
//
// # Use
//
// A test describes its system as a [World]: the machines, the messages under
// way, the dead processes. An event is one step that may happen next: a message
// arrives, a process sends, a process dies. The world checks the protocol's
// promises for every step in Apply (safety), and in End when nothing can happen
// any more (liveness, for systems that come to an end). What ought to be tried
// in the first place, such as which processes are dead from the start, is a world each.
//
// All visits every state once: two sequences of events that lead to the same
// state, by its Key, are followed only once. So a key must tell states apart
// whose futures differ, and should tell no others apart. A world may leave out
// events that make no difference: if one of the events of a state changes
// nothing that any other event depends on, now or later, then that one alone is
// enough (the rest come after it).
//
// Both report the events that led to a violation; Random reports its seed too.
//
// # Limits
//
// Time and memory are those of the number of states: some 18 bytes and a visit each.
// Keys are hashed to 95 bits, so a state may be missed with a probability of
// about 10^-13 for 10^8 states. Worlds must be finite: All gives up at its
// limit, Random at its.
package explore

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
)

// World is a state of a system; W is its own type, E an event that may happen
// in it.
type World[W, E any] interface {
	// Events appends what can happen next to dst, in an order that depends on
	// the state only.
	Events(dst []E) []E
	// Apply lets an event of Events happen, and returns an error if that breaks
	// a promise.
	Apply(E) error
	// End is called when nothing can happen, and returns an error if the system
	// shouldn't have ended like this.
	End() error
	// Clone returns a copy that shares nothing that Apply changes.
	Clone() W
	// AppendKey appends a description of the state to dst.
	AppendKey(dst []byte) []byte
}

// Stats says how much All has seen.
type Stats struct {
	States int // distinct ones
	Ends   int // of them, those in which nothing can happen any more
	Depth  int // the longest sequence of events without a repeated state that was followed
}

// A Violation is a broken promise and how it came to be.
type Violation struct {
	Err    error
	Events []string
	Seed   uint64 // of Random
}

// shown is how many of the last events Error prints.
const shown = 60

func (v *Violation) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v, after %d events", v.Err, len(v.Events))
	if v.Seed != 0 {
		fmt.Fprintf(&b, " (seed %d)", v.Seed)
	}
	events := v.Events
	if len(events) > shown {
		b.WriteString(": …")
		events = events[len(events)-shown:]
	} else {
		b.WriteString(":")
	}
	for _, e := range events {
		b.WriteString(" ")
		b.WriteString(e)
	}
	return b.String()
}

func (v *Violation) Unwrap() error { return v.Err }

// A Checker is a World that has something to say of each state.
type Checker interface {
	// Check is called once for each state, and returns an error if there
	// shouldn't be such a state.
	Check() error
}

// A Copier is a World that can be copied into one that isn't needed any more, as Clone
// would, without taking new memory.
type Copier[W any] interface {
	CopyInto(W)
}

// ErrLimit is what All returns if there are more states than it may visit.
var ErrLimit = errors.New("explore: too many states")

// All visits every state that can be reached from start, and returns the first
// violation it finds. It is an error if there are more states than limit.
func All[W World[W, E], E any](start W, limit int) (Stats, error) {
	x := explorer[W, E]{seen: newSet(), limit: limit}
	err := x.visit(start)
	x.stats.States = min(x.seen.size, limit)
	return x.stats, err
}

type explorer[W World[W, E], E any] struct {
	seen   *set
	path   []E
	limit  int
	stats  Stats
	key    []byte
	events [][]E // by depth
	worlds []W   // likewise: copies that may be written over
}

func (x *explorer[W, E]) visit(w W) error {
	x.key = w.AppendKey(x.key[:0])
	if !x.seen.add(x.key) {
		return nil
	}
	if x.seen.size > x.limit {
		return fmt.Errorf("%w: more than %d", ErrLimit, x.limit)
	}
	depth := len(x.path)
	x.stats.Depth = max(x.stats.Depth, depth)
	if c, ok := any(w).(Checker); ok {
		if err := c.Check(); err != nil {
			return violation(err, x.path, 0)
		}
	}
	if depth == len(x.events) {
		x.events = append(x.events, nil)
	}
	x.events[depth] = w.Events(x.events[depth][:0])
	if len(x.events[depth]) == 0 {
		x.stats.Ends++
		if err := w.End(); err != nil {
			return violation(err, x.path, 0)
		}
	}
	for _, e := range x.events[depth] {
		next := x.copy(w, depth)
		x.path = append(x.path, e)
		if err := next.Apply(e); err != nil {
			return violation(err, x.path, 0)
		}
		if err := x.visit(next); err != nil {
			return err
		}
		x.path = x.path[:len(x.path)-1]
	}
	return nil
}

func (x *explorer[W, E]) copy(w W, depth int) W {
	c, ok := any(w).(Copier[W])
	if !ok {
		return w.Clone()
	}
	if depth == len(x.worlds) {
		x.worlds = append(x.worlds, w.Clone())
	} else {
		c.CopyInto(x.worlds[depth])
	}
	return x.worlds[depth]
}

// Random lets events happen to w, each chosen among those possible, until none is.
// It is an error if that takes more steps than limit. Seeds are from 1.
func Random[W World[W, E], E any](w W, seed uint64, limit int) error {
	random := rand.New(rand.NewPCG(seed, 0))
	var events, path []E
	for {
		events = w.Events(events[:0])
		if len(events) == 0 {
			break
		}
		if len(path) == limit {
			return violation(fmt.Errorf("no end within %d events", limit), path, seed)
		}
		e := events[random.IntN(len(events))]
		path = append(path, e)
		if err := w.Apply(e); err != nil {
			return violation(err, path, seed)
		}
	}
	if err := w.End(); err != nil {
		return violation(err, path, seed)
	}
	return nil
}

func violation[E any](err error, path []E, seed uint64) error {
	v := &Violation{Err: err, Seed: seed}
	for _, e := range path {
		v.Events = append(v.Events, fmt.Sprint(e))
	}
	return v
}
