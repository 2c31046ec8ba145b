package mpi

import (
	"reflect"
	"testing"

	"banyan/internal/runtime/wire"
)

// Layouts that differ have numbers that differ, and all are in the range that frames have.
func TestNumbersOfTypes(t *testing.T) {
	types := []any{
		false, int8(0), int16(0), int32(0), int64(0), uint8(0), uint16(0), uint32(0), uint64(0), float32(0), float64(0), complex64(0), complex128(0),
		struct {
			A int32
			B float32
		}{}, struct {
			A float32
			B int32
		}{}, struct {
			A [2]int32
			B [2]float32
		}{}, struct {
			A, B [2]int32
			C    [4]float32
		}{},
		[2]struct {
			A int32
			B float32
		}{},
	}
	var all []reflect.Type
	for _, v := range types {
		all = append(all, reflect.TypeOf(v))
	}
	all = append(all, reflect.TypeFor[[1 << 20]struct {
		A int32
		B float32
	}](), reflect.TypeFor[struct {
		A int32
		B [1 << 30]float32
	}](), reflect.TypeFor[struct {
		A int32
		B [1<<30 + 1]float32
	}]())
	seen := map[uint32]reflect.Type{}
	for _, typ := range all {
		e := newElement(typ)
		if other, is := seen[e.id]; is || e.err != nil || e.id == 0 || e.id > wire.MaxType {
			t.Errorf("%v has the number %d, as %v: %v", e.typ, e.id, other, e.err)
		}
		seen[e.id] = e.typ
	}
	same := [][2]any{
		{0, int64(0)}, {[3]float64{}, float64(0)}, {struct{ A, B uint16 }{}, uint16(0)},
		{struct {
			A int32
			B [2]float32
		}{}, struct {
			X    [1]int32
			Y, Z float32
		}{}},
		{struct {
			A [2]struct {
				B int32
				C float32
			}
		}{}, struct {
			B int32
			C float32
			D int32
			E float32
		}{}},
	}
	for _, pair := range same {
		a, b := newElement(reflect.TypeOf(pair[0])), newElement(reflect.TypeOf(pair[1]))
		if a.id != b.id {
			t.Errorf("%v has the number %d, and %v has %d", a.typ, a.id, b.typ, b.id)
		}
	}
}

// Where two types have the same place in the cache each is still found.
func TestTypesAtOnePlace(t *testing.T) {
	type a struct{ X int32 }
	for range 3 {
		if e := elementOf[a](); e.size != 4 {
			t.Errorf("%+v", e)
		}
		for i := range elements {
			elements[i].Store(&cached{nil, nil})
		}
	}
	for i := range elements {
		elements[i].Store(nil)
	}
}
