package binding

import (
	"strings"
	"testing"
	"unsafe"
)

// alone runs f as a job of one rank with MPI_ERRORS_RETURN.
func alone(t *testing.T, f func(t *testing.T, p *Process)) {
	t.Helper()
	ranks(t, 1, func(t *testing.T, p *Process) {
		ok(t, "CommSetErrhandler", p.CommSetErrhandler(CommWorld, ErrorsReturn))
		f(t, p)
	})
}

// small and large are arrays for MPI_X and MPI_X_c.
func small(s ...int32) Counts { return Counts{unsafe.Pointer(unsafe.SliceData(s)), false} }
func large(s ...int64) Counts { return Counts{unsafe.Pointer(unsafe.SliceData(s)), true} }

func at[T any](s []T) *T { return unsafe.SliceData(s) }

func TestTypeNames(t *testing.T) {
	alone(t, func(t *testing.T, p *Process) {
		name := make([]byte, MaxObjectName)
		expect := func(d Datatype, want string) {
			t.Helper()
			var n int32
			ok(t, "TypeGetName", p.TypeGetName(d, &name[0], &n))
			if got := goString(&name[0]); got != want || int(n) != len(want) {
				t.Errorf("name %q of %d, want %q", got, n, want)
			}
		}
		var d Datatype
		ok(t, "TypeDup", p.TypeDup(TypeDouble, &d))
		expect(TypeDouble, "MPI_DOUBLE")
		expect(d, "")
		ok(t, "TypeSetName", p.TypeSetName(d, at([]byte("row\x00"))))
		expect(d, "row")
		ok(t, "TypeSetName", p.TypeSetName(d, at([]byte(strings.Repeat("x", 200)+"\x00"))))
		expect(d, strings.Repeat("x", MaxObjectName-1))
	})
}

func TestCounting(t *testing.T) {
	alone(t, func(t *testing.T, p *Process) {
		var pair, nothing Datatype
		ok(t, "TypeCreateStruct", p.TypeCreateStruct(2, small(1, 1), at([]int64{0, 8}), at([]Datatype{TypeInt, TypeDouble}), &pair))
		ok(t, "TypeContiguous", p.TypeContiguous(0, TypeInt, &nothing))
		var s Status
		for _, c := range []struct {
			d               Datatype
			bytes           int64
			count, elements int32
		}{
			{TypeInt, 12, 3, 3}, {TypeInt, 13, Undefined, Undefined}, {pair, 24, 2, 4}, {pair, 16, Undefined, 3}, {pair, 17, Undefined, Undefined},
			{nothing, 0, 0, 0}, {nothing, 1, Undefined, Undefined}, {TypeByte, 1 << 33, Undefined, Undefined}, {TypeDoubleInt, 20, Undefined, 3},
		} {
			s.SetBytes(c.bytes)
			var count, elements int32
			ok(t, "GetCount", p.GetCount(&s, c.d, CountOut{unsafe.Pointer(&count), false}))
			ok(t, "GetElements", p.GetElements(&s, c.d, CountOut{unsafe.Pointer(&elements), false}))
			if count != c.count || elements != c.elements {
				t.Errorf("%d bytes of %#x: count %d, elements %d, want %d, %d", c.bytes, c.d, count, elements, c.count, c.elements)
			}
		}
		var wide int64
		s.SetBytes(1 << 33)
		ok(t, "GetCount", p.GetCount(&s, TypeByte, CountOut{unsafe.Pointer(&wide), true}))
		if wide != 1<<33 {
			t.Errorf("a large count is %d", wide)
		}
		ok(t, "StatusSetElements", p.StatusSetElements(&s, pair, 3))
		if s.Bytes() != 16 {
			t.Errorf("3 elements have %d bytes", s.Bytes())
		}
	})
}

func TestValueIndex(t *testing.T) {
	alone(t, func(t *testing.T, p *Process) {
		var d Datatype
		ok(t, "TypeGetValueIndex", p.TypeGetValueIndex(TypeDouble, TypeInt, &d))
		if d != TypeDoubleInt {
			t.Errorf("double and int are %#x", d)
		}
		ok(t, "TypeGetValueIndex", p.TypeGetValueIndex(TypeDouble, TypeDouble, &d))
		if d != DatatypeNull {
			t.Errorf("double and double are %#x", d)
		}
		ok(t, "TypeMatchSize", p.TypeMatchSize(TypeclassComplex, 8, &d))
		if d != TypeComplex8 {
			t.Errorf("complex of 8 bytes is %#x", d)
		}
	})
}
