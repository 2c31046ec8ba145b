package mpi

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"reflect"

	"banyan/internal/mpi/comm"
	"banyan/internal/runtime/engine"
)

// With "banyan run --replicas 2 --heal" a dead replica is replaced: a new process takes over the
// state of a live one, at a safe point of the program's main loop.
//
//	step, field := 0, make([]float64, n)
//	mpi.Register(world, "step", &step)
//	mpi.RegisterSlice(world, "field", field)
//	for ; step < steps; step++ {
//		if _, err := world.Safepoint(); err != nil {
//			return err
//		}
//		…
//	}
//
// See docs/guide/replication.md. Without healing the calls do nothing and cost next to nothing.

// State is a value that encodes and restores itself.
type State interface {
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// Causes of an Error of the functions below, for errors.Is.
var (
	ErrStateName  = engine.ErrName       // a name is too long, or empty
	ErrRegistered = engine.ErrRegistered // the name is taken
	ErrUnknown    = engine.ErrUnknown    // nothing of this name is registered
	ErrState      = errors.New("the value is no State, and no pointer to something that package gob takes")
)

// Register makes a value part of the program's state, under a name of 1 to 200 bytes that is the
// same at all replicas. The value is a State, or a pointer to a value that package gob encodes
// whole, so without unexported fields. It is saved and restored at safe points only. For large
// slices of numbers use RegisterSlice.
func Register(world *Comm, name string, value any) error {
	v, err := variable(value)
	if err == nil {
		err = world.c.Engine().Register(name, v)
	}
	return world.stateError("Register", err)
}

// RegisterSlice makes the elements of a slice part of the program's state. Its memory is
// transferred as it is. The slice must keep its address and its length, and the length must be the
// same at all replicas.
func RegisterSlice[T Element](world *Comm, name string, slice []T) error {
	err := elementOf[T]().err
	if err == nil {
		err = world.c.Engine().Register(name, engine.Variable{Memory: bytesOf(slice)})
	}
	return world.stateError("RegisterSlice", err)
}

// RegisterInput says that the program reads its standard input through the given reader, which
// reads os.Stdin and nothing else. Then a replacement continues in the input at its donor's
// position, whatever the readers of both have read ahead. A program that doesn't register its
// reader can't be healed once it has read input after its first safe point, since the library can't
// see what readers hold. It must be called before the first safe point.
func RegisterInput(world *Comm, r *bufio.Reader) {
	world.c.Engine().SetInput(reader{r})
}

// reader is an engine.Input.
type reader struct{ *bufio.Reader }

func (r reader) Unread() (int64, bool) { return int64(r.Buffered()), true }

func (r reader) Skip(n int64) error {
	_, err := io.CopyN(io.Discard, r, n)
	return err
}

// Unregister removes a value from the program's state.
func Unregister(world *Comm, name string) error {
	return world.stateError("Unregister", world.c.Engine().Unregister(name))
}

// Safepoint says that the program is at a place, mostly in its main loop, where its registered
// values and the state of MPI are all there is to it: no request is under way, no other goroutine
// uses MPI, and the communicators are those of the first call.
//
// In a process that replaces a dead replica the first call returns with restored true when all
// registered values are those of a live replica, at a safe point of that one. Other calls change
// nothing. They return at once, unless another process waits for this one's state.
func (c *Comm) Safepoint() (restored bool, err error) {
	restored, err = c.c.Engine().Safepoint(nowhere{})
	return restored, c.stateError("Safepoint", err)
}

// ExpectSafepoints says how many safe points the program passes in all, from its beginning to its
// end. People who watch the job ("banyan run --status") are shown how much is left. Each rank says
// it, with its own number; a replacement says the same again. Without it, or with 0, they are shown
// how many it has passed.
func (c *Comm) ExpectSafepoints(total int) { c.c.Engine().ExpectSafepoints(uint64(max(0, total))) }

// nowhere is an engine.Site without work: Go buffers no output, and communicators have no handles.
type nowhere struct{}

func (nowhere) Flush()             {}
func (nowhere) Handles(bool) error { return nil }

func (c *Comm) stateError(op string, err error) error {
	if err == nil {
		return nil
	}
	return c.outcome(&Error{Op: op, Rank: c.Rank(), Peer: comm.NoPeer, Err: err})
}

// variable says how a value is saved and restored.
func variable(value any) (engine.Variable, error) {
	if s, ok := value.(State); ok {
		return engine.Variable{Save: s.MarshalBinary, Load: s.UnmarshalBinary}, nil
	}
	pointer := reflect.ValueOf(value)
	if pointer.Kind() != reflect.Pointer || pointer.IsNil() {
		return engine.Variable{}, fmt.Errorf("%w: it is a %T", ErrState, value)
	}
	if lost := leftOut(pointer.Type().Elem(), map[reflect.Type]bool{}); lost != "" {
		return engine.Variable{}, fmt.Errorf("%w: gob leaves out %s; make its type a State, or export it", ErrState, lost)
	}
	if err := gob.NewEncoder(io.Discard).EncodeValue(pointer); err != nil {
		return engine.Variable{}, fmt.Errorf("%w: %v", ErrState, err)
	}
	return engine.Variable{
		Save: func() ([]byte, error) {
			var b bytes.Buffer
			err := gob.NewEncoder(&b).EncodeValue(pointer)
			return b.Bytes(), err
		},
		Load: func(b []byte) error {
			// Decode into a new value: gob doesn't send zeros, and so would leave old values alone.
			fresh := reflect.New(pointer.Type().Elem())
			if err := gob.NewDecoder(bytes.NewReader(b)).DecodeValue(fresh); err != nil {
				return err
			}
			pointer.Elem().Set(fresh.Elem())
			return nil
		},
	}, nil
}

// leftOut names a field that gob silently leaves out of values of a type, "" if there is none: it
// would be zero in a replacement. The values inside interfaces aren't checked.
func leftOut(t reflect.Type, seen map[reflect.Type]bool) string {
	if seen[t] || encodesItself(t) || encodesItself(reflect.PointerTo(t)) {
		return ""
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return leftOut(t.Elem(), seen)
	case reflect.Map:
		return cmp.Or(leftOut(t.Key(), seen), leftOut(t.Elem(), seen))
	case reflect.Struct:
		for f := range t.Fields() {
			if f.Name == "_" {
				continue
			}
			bare := f.Type
			for bare.Kind() == reflect.Pointer {
				bare = bare.Elem()
			}
			if !f.IsExported() || bare.Kind() == reflect.Chan || bare.Kind() == reflect.Func {
				return fmt.Sprintf("field %s of %v", f.Name, t)
			}
			if lost := leftOut(f.Type, seen); lost != "" {
				return lost
			}
		}
	}
	return ""
}

// encodesItself tells whether values of a type encode themselves for gob.
func encodesItself(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[gob.GobEncoder]()) || t.Implements(reflect.TypeFor[encoding.BinaryMarshaler]())
}
