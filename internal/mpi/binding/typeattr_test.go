package binding

import (
	"slices"
	"testing"
	"unsafe"
)

// TestTypeAttributes checks that a duplicate gets the attributes that the copy functions keep,
// and that a freed type deletes its own.
func TestTypeAttributes(t *testing.T) {
	alone(t, func(t *testing.T, p *Process) {
		var key int32
		var deleted []uintptr
		copyFn := copyFunction(func(object uintptr, keyval int32, extra, value uintptr) (uintptr, bool, Code) {
			if value == 17 {
				return 0, false, ErrOther
			}
			return value + extra, value != 13, Success
		})
		deleteFn := deleteFunction(func(object uintptr, keyval int32, value, extra uintptr) Code {
			deleted = append(deleted, value)
			if value == 99 {
				return ErrOther
			}
			return Success
		})
		ok(t, "TypeCreateKeyval", p.TypeCreateKeyval(function(copyFn), function(deleteFn), &key, 100))
		var d, dup Datatype
		ok(t, "TypeContiguous", p.TypeContiguous(2, TypeInt, &d))
		expect := func(d Datatype, want uintptr) {
			t.Helper()
			var value uintptr
			var flag int32
			ok(t, "TypeGetAttr", p.TypeGetAttr(d, key, unsafe.Pointer(&value), &flag))
			if value != want || (flag != 0) != (want != 0) {
				t.Errorf("attribute %d, %d, want %d", value, flag, want)
			}
		}
		ok(t, "TypeSetAttr", p.TypeSetAttr(d, key, 5))
		expect(d, 5)
		ok(t, "TypeDup", p.TypeDup(d, &dup))
		expect(dup, 105)
		ok(t, "TypeFree", p.TypeFree(&dup))
		ok(t, "TypeSetAttr", p.TypeSetAttr(d, key, 13))
		ok(t, "TypeDup", p.TypeDup(d, &dup))
		expect(dup, 0)
		ok(t, "TypeSetAttr", p.TypeSetAttr(d, key, 17))
		if code := p.TypeDup(d, &dup); code == Success || dup != DatatypeNull {
			t.Errorf("a type is duplicated, as %#x, though its attribute isn't: %d", dup, code)
		}
		ok(t, "TypeSetAttr", p.TypeSetAttr(d, key, 99))
		if code := p.TypeFree(&d); code == Success || d == DatatypeNull {
			t.Errorf("a type is freed though its attribute isn't: %d", code)
		}
		if !slices.Equal(deleted, []uintptr{105, 5, 13, 17, 99}) {
			t.Errorf("deleted %v", deleted)
		}
	})
}
