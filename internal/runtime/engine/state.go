package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"banyan/internal/runtime/state"
)

// Errors of the registration of state.
var (
	ErrName       = errors.New("the name of a piece of state has 1 to 200 bytes")
	ErrRegistered = errors.New("a piece of state of this name is registered already")
	ErrUnknown    = errors.New("no piece of state of this name is registered")
)

const maxStateName = 200

// Variable is a piece of the program's state, of either kind.
type Variable struct {
	// Memory is saved and restored as it is.
	Memory []byte
	// Save and Load, if set, give and take the piece as bytes. The thread that is at a safe
	// point calls them.
	Save func() ([]byte, error)
	Load func([]byte) error
	// Pieces, if set, gives the piece in place of Save, without a copy: as memory that doesn't
	// change until the program goes on.
	Pieces func() ([][]byte, error)
}

// Part is something that the library keeps for the program and that has state of its own, such
// as a communicator. Both methods are called while the program is at a safe point.
type Part interface {
	AppendState(b []byte) []byte
	Restore(b []byte) error
}

// Settler is a Part that may have to wait for other ranks until it is settled: it says why a
// snapshot of this rank's state alone would lack something, or nil.
type Settler interface{ Settled() error }

// registry holds the state of a process above its engine. The names are in the order in which
// they were added, which is the same at all replicas.
type registry struct {
	variables map[string]Variable
	order     []string
	parts     map[string]Part
	partOrder []string
}

// Register adds a piece of the program's state, under a name that no other piece has.
func (e *Engine) Register(name string, v Variable) error {
	e.lock()
	defer e.mu.Unlock()
	r := &e.safe.registry
	switch _, taken := r.variables[name]; {
	case name == "" || len(name) > maxStateName:
		return fmt.Errorf("%w, not %d", ErrName, len(name))
	case taken:
		return fmt.Errorf("%q: %w", name, ErrRegistered)
	}
	if r.variables == nil {
		r.variables = map[string]Variable{}
	}
	r.variables[name] = v
	r.order = append(r.order, name)
	return nil
}

// Unregister removes a piece of the program's state.
func (e *Engine) Unregister(name string) error {
	e.lock()
	defer e.mu.Unlock()
	r := &e.safe.registry
	if _, known := r.variables[name]; !known {
		return fmt.Errorf("%q: %w", name, ErrUnknown)
	}
	delete(r.variables, name)
	r.order = slices.DeleteFunc(r.order, func(s string) bool { return s == name })
	return nil
}

// Attach adds a part of the library, under a name that describes it.
func (e *Engine) Attach(name string, part Part) {
	e.lock()
	defer e.mu.Unlock()
	r := &e.safe.registry
	if r.parts == nil {
		r.parts = map[string]Part{}
	}
	if r.parts[name] == nil {
		r.partOrder = append(r.partOrder, name)
	}
	r.parts[name] = part
}

// Detach removes a part.
func (e *Engine) Detach(name string) {
	e.lock()
	defer e.mu.Unlock()
	r := &e.safe.registry
	delete(r.parts, name)
	r.partOrder = slices.DeleteFunc(r.partOrder, func(s string) bool { return s == name })
}

// Names of regions.
const (
	processRegion = "the library"
	partPrefix    = "the library: "
	programPrefix = "the program's "
)

// maxLibrary bounds, in bytes, a received region that isn't the program's memory.
const maxLibrary = 4 << 30

// saved gives the program's regions. Memory is first: what is behind something that changes its
// length moves from one snapshot to the next. The lock isn't held, because Save is the
// program's.
func saved(variables map[string]Variable, order []string) ([]state.Region, error) {
	var regions []state.Region
	order = slices.Clone(order)
	slices.SortStableFunc(order, func(a, b string) int {
		return cmp.Compare(truth(variables[a].Load != nil), truth(variables[b].Load != nil))
	})
	for _, name := range order {
		v := variables[name]
		parts := [][]byte{v.Memory}
		var err error
		switch {
		case v.Pieces != nil:
			parts, err = v.Pieces()
		case v.Save != nil:
			parts[0], err = v.Save()
		}
		if err != nil {
			return nil, fmt.Errorf("saving %q: %w", name, err)
		}
		regions = append(regions, state.Region{Name: programPrefix + name, Parts: parts})
	}
	return regions, nil
}

// memory is how many bytes of memory are registered.
func (r *registry) memory() (n int64) {
	for _, name := range r.order {
		n += int64(len(r.variables[name].Memory))
	}
	return n
}

// library gives the regions of the library's parts.
func (r *registry) library() []state.Region {
	var regions []state.Region
	for _, name := range r.partOrder {
		regions = append(regions, state.Bytes(partPrefix+name, r.parts[name].AppendState(nil)))
	}
	return regions
}

// sinks take in a donor's regions. Regions that aren't the program's memory are put aside first.
func (r *registry) sinks(aside *restoring) []state.Sink {
	var sinks []state.Sink
	for _, name := range r.partOrder {
		sinks = append(sinks, aside.put(partPrefix+name, r.parts[name].Restore))
	}
	for _, name := range r.order {
		if v := r.variables[name]; v.Load != nil {
			sinks = append(sinks, aside.put(programPrefix+name, v.Load))
		} else {
			sinks = append(sinks, state.Sink{Name: programPrefix + name, Memory: v.Memory})
		}
	}
	return append(sinks, state.Sink{Name: processRegion, Limit: maxLibrary, Load: func(b []byte) error {
		aside.process = b
		return nil
	}})
}

// restoring is the state that a replacement has received and not yet taken over.
type restoring struct {
	process []byte
	loads   []func() error
}

// put is the sink of a region that load will take over.
func (r *restoring) put(name string, load func([]byte) error) state.Sink {
	return state.Sink{Name: name, Limit: maxLibrary, Load: func(b []byte) error {
		r.loads = append(r.loads, func() error {
			if err := load(b); err != nil {
				return fmt.Errorf("restoring %s: %w", name, err)
			}
			return nil
		})
		return nil
	}}
}

// changedParts says which part was made or freed after the first safe point, nil if none was.
func (r *registry) changedParts(first []string) error {
	for _, name := range r.partOrder {
		if !slices.Contains(first, name) {
			return fmt.Errorf("%s was made after the first safe point", name)
		}
	}
	for _, name := range first {
		if r.parts[name] == nil {
			return fmt.Errorf("%s was freed after the first safe point", name)
		}
	}
	return nil
}
