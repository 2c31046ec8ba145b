package binding

import (
	"bytes"
	"slices"
	"testing"
	"unsafe"
)

func TestOpArguments(t *testing.T) {
	alone(t, func(t *testing.T, p *Process) {
		a, b := []int32{1, 2}, []int32{3, 4}
		in, inout := unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0])
		var derived Datatype
		ok(t, "TypeContiguous", p.TypeContiguous(2, TypeInt, &derived))
		ok(t, "TypeCommit", p.TypeCommit(&derived))
		var op Op
		ok(t, "OpCreate", p.OpCreate(function(reduceFunction(nil)), 1, &op))
		freed := op
		ok(t, "OpFree", p.OpFree(&op))
		sum := OpSum
		for what, c := range map[string]struct{ got, want Code }{
			"null operation":    {p.ReduceLocal(in, inout, 2, TypeInt, OpNull), ErrOp},
			"freed operation":   {p.ReduceLocal(in, inout, 2, TypeInt, freed), ErrOp},
			"type as operation": {p.ReduceLocal(in, inout, 2, TypeInt, Op(TypeInt)), ErrOp},
			"replace":           {p.ReduceLocal(in, inout, 2, TypeInt, OpReplace), ErrOp},
			"not for the type":  {p.ReduceLocal(in, inout, 2, TypeFloat, OpBand), ErrOp},
			"derived type":      {p.ReduceLocal(in, inout, 1, derived, OpSum), ErrOp},
			"null type":         {p.ReduceLocal(in, inout, 1, DatatypeNull, OpSum), ErrType},
			"count":             {p.ReduceLocal(in, inout, -1, TypeInt, OpSum), ErrCount},
			"in place":          {p.ReduceLocal(InPlace, inout, 1, TypeInt, OpSum), ErrBuffer},
			"null function":     {p.OpCreate(0, 1, &op), ErrArg},
			"free predefined":   {p.OpFree(&sum), ErrOp},
		} {
			if c.got != c.want {
				t.Errorf("%s: %d (%s), want %s", what, c.got, classes[c.got][0], classes[c.want][0])
			}
		}
		if op != OpNull || sum != OpSum || !slices.Equal(b, []int32{3, 4}) {
			t.Error("an error changed something")
		}
		for h, want := range map[Op]int32{OpSum: 1, OpMinloc: 1, OpReplace: 0} {
			var commutes int32
			if ok(t, "OpCommutative", p.OpCommutative(h, &commutes)); commutes != want {
				t.Errorf("%#x commutes: %d", h, commutes)
			}
		}
	})
}

func TestReduceLocal(t *testing.T) {
	alone(t, func(t *testing.T, p *Process) {
		a, b := []int32{1, 2, 3}, []int32{10, 20, 30}
		ok(t, "ReduceLocal", p.ReduceLocal(unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0]), 3, TypeInt, OpSum))
		if !slices.Equal(b, []int32{11, 22, 33}) {
			t.Errorf("the sum is %v", b)
		}
		type located struct {
			value float64
			index int32
			gap   int32
		}
		x, y := []located{{1, 5, 7}, {4, 2, 7}}, []located{{2, 3, 9}, {3, 1, 9}}
		ok(t, "ReduceLocal", p.ReduceLocal(unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]), 2, TypeDoubleInt, OpMinloc))
		if !slices.Equal(y, []located{{1, 5, 9}, {3, 1, 9}}) {
			t.Errorf("the minima are %v", y)
		}
	})
}

// subtract is inout = in - inout. It is neither commutative nor associative, so operands in the
// wrong order show.
func subtract(in, inout unsafe.Pointer, count int64, datatype Datatype) {
	l, r := unsafe.Slice((*int32)(in), count), unsafe.Slice((*int32)(inout), count)
	for i := range l {
		r[i] = l[i] - r[i]
	}
}

// TestUserReduction runs user functions as collectives do, on packed operands.
func TestUserReduction(t *testing.T) {
	alone(t, func(t *testing.T, p *Process) {
		var op Op
		var seen []Datatype
		ok(t, "OpCreate", p.OpCreate(function(reduceFunction(func(in, inout unsafe.Pointer, count int64, d Datatype) {
			seen = append(seen, d)
			subtract(in, inout, count, d)
		})), 0, &op))
		r, code := p.reduction(nil, "test", op, p.datatype(TypeInt))
		if code != Success || r.Size != 4 || !r.Foreign {
			t.Fatalf("%+v, %d", r, code)
		}
		left, right := []byte{9, 0, 0, 0, 8, 0, 0, 0}, []byte{2, 0, 0, 0, 3, 0, 0, 0}
		r.Combine(left, right)
		if !bytes.Equal(left, []byte{7, 0, 0, 0, 5, 0, 0, 0}) || !bytes.Equal(right, []byte{2, 0, 0, 0, 3, 0, 0, 0}) {
			t.Errorf("%v from %v", left, right)
		}
		if !slices.Equal(seen, []Datatype{TypeInt}) {
			t.Errorf("the function saw %v", seen)
		}

		b := []int32{4, 5}
		a := []int32{10, 10}
		ok(t, "ReduceLocal", p.ReduceLocal(unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0]), 2, TypeInt, op))
		if !slices.Equal(b, []int32{6, 5}) {
			t.Errorf("locally %v", b)
		}
	})
}

// TestUserReductionLayout checks that a function gets structs as C lays them out, with padding
// and bounds, in both orders.
func TestUserReductionLayout(t *testing.T) {
	type record struct {
		before int32
		value  int64
		tag    int8 // and 7 bytes of padding
	}
	alone(t, func(t *testing.T, p *Process) {
		for _, lb := range []int64{0, -8, 8} {
			for _, commutative := range []int32{0, 1} {
				var d, resized Datatype
				ok(t, "TypeCreateStruct", p.TypeCreateStruct(3, small(1, 1, 1), at([]int64{lb, lb + 8, lb + 16}), at([]Datatype{TypeInt, TypeInt64T, TypeInt8T}), &d))
				ok(t, "TypeCreateResized", p.TypeCreateResized(d, lb, 24, &resized))
				ok(t, "TypeCommit", p.TypeCommit(&resized))
				var op Op
				ok(t, "OpCreateC", p.OpCreateC(function(reduceFunction(func(in, inout unsafe.Pointer, count int64, d Datatype) {
					l, r := unsafe.Slice((*record)(unsafe.Add(in, lb)), count), unsafe.Slice((*record)(unsafe.Add(inout, lb)), count)
					for i := range l {
						r[i] = record{l[i].before, l[i].value + r[i].value, l[i].tag} // all bytes
					}
				})), commutative, &op))
				element := func(before, value, tag byte) []byte {
					return []byte{before, 0, 0, 0, value, 0, 0, 0, 0, 0, 0, 0, tag}
				}
				left := append(element(1, 10, 2), element(3, 20, 4)...)
				right := append(element(5, 1, 6), element(7, 2, 8)...)
				want := append(element(1, 11, 2), element(3, 22, 4)...)
				if commutative != 0 { // the function isn't commutative, and so shows that its operands were exchanged
					want = append(element(5, 11, 6), element(7, 22, 8)...)
				}
				r, code := p.reduction(nil, "test", op, p.datatype(resized))
				ok(t, "reduction", code)
				r.Combine(left, right)
				if !bytes.Equal(left, want) {
					t.Errorf("lb %d, commutative %d: %v, want %v", lb, commutative, left, want)
				}
			}
		}
	})
}

// TestPredefinedReduction checks that a predefined operation allocates nothing.
func TestPredefinedReduction(t *testing.T) {
	alone(t, func(t *testing.T, p *Process) {
		left, right := make([]byte, 64), make([]byte, 64)
		d := p.datatype(TypeDouble)
		if n := testing.AllocsPerRun(100, func() {
			r, _ := p.reduction(nil, "test", OpSum, d)
			r.Combine(left, right)
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}
