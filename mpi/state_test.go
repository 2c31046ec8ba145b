package mpi

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// list is a type that contains itself.
type list struct {
	N    int
	Next *list
}

// counter is a State.
type counter struct{ n int }

func (c *counter) MarshalBinary() ([]byte, error) { return fmt.Appendf(nil, "%d", c.n), nil }
func (c *counter) UnmarshalBinary(b []byte) error {
	_, err := fmt.Sscan(string(b), &c.n)
	return err
}

// TestVariable: a value that restores what another saved is equal to it, zeros included.
func TestVariable(t *testing.T) {
	type fields struct {
		A int
		B []float64
		C map[string]bool
	}
	two, five := 2, 5
	for _, c := range []struct{ from, to any }{
		{&counter{7}, &counter{1}},
		{&two, &five},
		{&fields{0, []float64{1, 2.5}, nil}, &fields{3, []float64{1, 2, 3}, map[string]bool{"x": true}}},
		{&[]int{4, 5}, &[]int{}},
	} {
		from, err := variable(c.from)
		if err != nil {
			t.Fatal(err)
		}
		to, err := variable(c.to)
		if err != nil {
			t.Fatal(err)
		}
		b, err := from.Save()
		if err != nil {
			t.Fatal(err)
		}
		if err := to.Load(b); err != nil || !reflect.DeepEqual(c.from, c.to) {
			t.Errorf("%T: %v was restored as %v, error %v", c.from, c.from, c.to, err)
		}
	}
}

// TestRegister: bad names and values are refused with an error that names them. In a job without
// healing safe points do nothing.
func TestRegister(t *testing.T) {
	err := Local(2, func(world *Comm) error {
		field, step := make([]float64, 10), 0
		for _, c := range []struct {
			name  string
			value any
			err   error
		}{
			{"step", &step, nil},
			{"step", &step, ErrRegistered},
			{"", &step, ErrStateName},
			{strings.Repeat("x", 201), &step, ErrStateName},
			{"value", step, ErrState},
			{"nil", (*int)(nil), ErrState},
			{"function", new(func()), ErrState},
			{"private", new(struct{ n int }), ErrState},
			{"partly private", new(struct{ A, b int }), ErrState},
			{"deeply private", new(map[string][]*struct{ A, b int }), ErrState},
			{"with a channel", new(struct {
				A int
				C *chan int
			}), ErrState},
			{"with a time", new(struct{ T time.Time }), nil}, // private inside, but it encodes itself
			{"list", new(list), nil},
		} {
			if err := Register(world, c.name, c.value); !errors.Is(err, c.err) {
				return fmt.Errorf("%q: %v, want %v", c.name, err, c.err)
			}
		}
		if err := RegisterSlice(world, "field", field); err != nil {
			return err
		}
		if err := RegisterSlice(world, "field", field); !errors.Is(err, ErrRegistered) {
			return fmt.Errorf("twice: %v", err)
		}
		if restored, err := world.Safepoint(); restored || err != nil {
			return fmt.Errorf("a safe point: %v, %v", restored, err)
		}
		if err := Unregister(world, "field"); err != nil {
			return err
		}
		if err := Unregister(world, "field"); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), `"field"`) {
			return fmt.Errorf("again: %v", err)
		}
		return nil
	}, WithReplicas(2))
	if err != nil {
		t.Error(err)
	}
}

// TestSafepointAllocates: a safe point without work allocates nothing.
func TestSafepointAllocates(t *testing.T) {
	err := Local(1, func(world *Comm) error {
		if n := testing.AllocsPerRun(1000, func() { world.Safepoint() }); n != 0 {
			return fmt.Errorf("%v allocations", n)
		}
		return nil
	}, WithReplicas(2))
	if err != nil {
		t.Error(err)
	}
}

func BenchmarkSafepoint(b *testing.B) {
	Local(1, func(world *Comm) error {
		for b.Loop() {
			world.Safepoint()
		}
		return nil
	})
}
