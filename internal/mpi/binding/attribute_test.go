package binding

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// Attributes are set, found, copied as their functions decide, and deleted, the last first.
func TestAttributes(t *testing.T) {
	ranks(t, 2, func(t *testing.T, p *Process) {
		ok(t, "set", p.CommSetErrhandler(CommWorld, ErrorsReturn))
		var log []string
		const refuse = 99
		copyFn := function(copyFunction(func(object uintptr, key int32, extra, value uintptr) (uintptr, bool, Code) {
			log = append(log, fmt.Sprintf("copy %d %d", extra, value))
			if value == refuse {
				return 0, false, ErrOther
			}
			return value + 1, value != 50, Success
		}))
		deleteFn := function(deleteFunction(func(object uintptr, key int32, value, extra uintptr) Code {
			log = append(log, fmt.Sprintf("delete %d %d", extra, value))
			if value == refuse {
				return ErrIo
			}
			return Success
		}))
		said := func(want ...string) {
			t.Helper()
			if !slices.Equal(log, want) {
				t.Errorf("called %s, want %s", strings.Join(log, ", "), strings.Join(want, ", "))
			}
			log = nil
		}
		var own, duplicated, lost int32
		ok(t, "keyval", p.CommCreateKeyval(copyFn, deleteFn, &own, 7))
		ok(t, "keyval", p.CommCreateKeyval(copyValue, deleteOnly, &duplicated, 0))
		ok(t, "keyval", p.KeyvalCreate(copyNothing, deleteOnly, &lost, 0))
		var c, d Comm
		ok(t, "dup", p.CommDup(CommWorld, &c))
		get := func(c Comm, key int32) (uintptr, bool) {
			t.Helper()
			var value uintptr
			var flag int32
			ok(t, "get", p.CommGetAttr(c, key, unsafe.Pointer(&value), &flag))
			return value, flag != 0
		}
		if _, set := get(c, own); set {
			t.Error("an attribute is set before it is set")
		}
		for key, value := range map[int32]uintptr{own: 10, duplicated: 20, lost: 30} {
			ok(t, "set", p.CommSetAttr(c, key, value))
			if v, set := get(c, key); !set || v != value {
				t.Errorf("attribute %d is %d, %v", key, v, set)
			}
		}
		said()
		ok(t, "set", p.AttrPut(c, own, 11)) // the old one is deleted
		said("delete 7 10")
		ok(t, "dup", p.CommDup(c, &d))
		said("copy 7 11")
		for key, want := range map[int32]uintptr{own: 12, duplicated: 20, lost: 0} {
			if v, set := get(d, key); v != want || set != (want != 0) {
				t.Errorf("attribute %d of the duplicate is %d, %v", key, v, set)
			}
		}
		var e Comm
		ok(t, "split", p.CommSplit(c, 0, 0, &e)) // copies none
		if _, set := get(e, duplicated); set {
			t.Error("a split communicator has an attribute")
		}
		said()
		ok(t, "free", p.CommFree(&d))
		said("delete 7 12")
		ok(t, "set", p.CommSetAttr(c, own, 50))
		said("delete 7 11")
		ok(t, "dup", p.CommDup(c, &d))
		said("copy 7 50")
		if _, set := get(d, own); set {
			t.Error("an attribute is copied against its function's will")
		}
		ok(t, "set", p.CommSetAttr(c, own, refuse))
		log = nil
		var f Comm
		if code := p.CommDup(c, &f); code != ErrOther || f != CommNull {
			t.Errorf("a copy function fails: %d, %#x", code, f)
		}
		said("copy 7 99")
		if code := p.CommDeleteAttr(c, own); code != ErrIo {
			t.Errorf("a delete function fails: %d", code)
		}
		if code := p.CommSetAttr(c, own, 1); code != ErrIo {
			t.Errorf("a delete function fails: %d", code)
		}
		if code := p.CommFree(&c); code != ErrIo || c == CommNull {
			t.Errorf("a delete function fails: %d, %#x", code, c)
		}
		if v, _ := get(c, own); v != refuse {
			t.Errorf("an attribute that can't be deleted is %d", v)
		}
		log = nil
		// A freed key goes with its last attribute.
		ok(t, "delete", p.AttrDelete(d, duplicated))
		key := own
		ok(t, "set", p.CommSetAttr(d, own, 60))
		ok(t, "free", p.CommFreeKeyval(&own))
		if own != KeyvalInvalid {
			t.Errorf("a freed key is %d", own)
		}
		if code := p.CommSetAttr(d, key, 61); code != ErrKeyval {
			t.Errorf("a freed key can be used: %d", code)
		}
		ok(t, "free", p.CommFree(&d))
		said("delete 7 60")
		// MPI_Finalize deletes the attributes of MPI_COMM_SELF.
		ok(t, "keyval", p.CommCreateKeyval(copyNothing, deleteFn, &key, 8))
		ok(t, "set", p.CommSetAttr(CommSelf, key, 1))
		ok(t, "keyval", p.CommCreateKeyval(copyNothing, deleteFn, &key, 9))
		ok(t, "set", p.CommSetAttr(CommSelf, key, 2))
		ok(t, "Finalize", p.Finalize())
		said("delete 9 2", "delete 8 1")
	})
}

func TestAttributeErrors(t *testing.T) {
	ranks(t, 1, func(t *testing.T, p *Process) {
		ok(t, "set", p.CommSetErrhandler(CommWorld, ErrorsReturn))
		var key, flag int32
		var value uintptr
		tagUB := int32(KeyTagUb)
		ok(t, "keyval", p.TypeCreateKeyval(copyNothing, deleteOnly, &key, 0))
		for what, code := range map[string]Code{
			"a type's key":         p.CommSetAttr(CommWorld, key, 1),
			"a predefined key":     p.CommSetAttr(CommWorld, KeyTagUb, 1),
			"a deleted predefined": p.CommDeleteAttr(CommWorld, KeyTagUb),
			"no key":               p.CommGetAttr(CommWorld, KeyvalInvalid, unsafe.Pointer(&value), &flag),
			"nothing to delete":    p.CommDeleteAttr(CommWorld, 12345),
			"a predefined freed":   p.CommFreeKeyval(&tagUB),
			"a type's key freed":   p.KeyvalFree(&key),
			"a communicator's key": p.TypeSetAttr(TypeInt, tagUB, 1),
		} {
			if code != ErrKeyval {
				t.Errorf("%s: %d", what, code)
			}
		}
	})
}

// The predefined attributes are pointers to int. The last used error code changes with the
// codes.
func TestPredefinedAttributes(t *testing.T) {
	ranks(t, 3, func(t *testing.T, p *Process) {
		var dup Comm
		ok(t, "dup", p.CommDup(CommWorld, &dup))
		get := func(c Comm, key int32) *int32 {
			t.Helper()
			var at *int32
			var flag int32
			ok(t, "get", p.CommGetAttr(c, key, unsafe.Pointer(&at), &flag))
			if flag == 0 {
				t.Errorf("attribute %d isn't set", key)
			}
			return at
		}
		for key, want := range map[int32]int32{KeyTagUb: 1<<31 - 1, KeyHost: ProcNull, KeyIo: AnySource, KeyWtimeIsGlobal: 1,
			KeyUniverseSize: 5, KeyAppnum: 0} {
			if got := *get(CommWorld, key); got != want || *get(dup, key) != want {
				t.Errorf("attribute %d is %d, want %d", key, got, want)
			}
		}
		last := get(CommWorld, KeyLastusedcode)
		before := *last
		var class int32
		ok(t, "class", p.AddErrorClass(&class))
		if before < int32(ErrLastcode) || *last != class {
			t.Errorf("the last used code was %d, and is %d after class %d", before, *last, class)
		}
	})
}

// A delete function may free its key, and the program frees it after that. Otherwise a key is freed
// once.
func TestKeyvalFreedAgain(t *testing.T) {
	ranks(t, 1, func(t *testing.T, p *Process) {
		ok(t, "errhandler", p.CommSetErrhandler(CommWorld, ErrorsReturn))
		var key, plain int32
		var d Comm
		deleted := function(deleteFunction(func(_ uintptr, number int32, _, _ uintptr) Code {
			return p.CommFreeKeyval(&number)
		}))
		ok(t, "keyval", p.CommCreateKeyval(copyNothing, deleted, &key, 0))
		ok(t, "keyval", p.CommCreateKeyval(copyNothing, deleteOnly, &plain, 0))
		for range 2 {
			ok(t, "dup", p.CommDup(CommSelf, &d))
			ok(t, "set", p.CommSetAttr(d, plain, 1))
			if again := p.keyvals.find(kindComm, key); again != nil {
				ok(t, "set", p.CommSetAttr(d, key, 1))
			}
			ok(t, "free", p.CommFree(&d))
		}
		once, twice, other := key, key, key
		ok(t, "free the key", p.CommFreeKeyval(&once))
		ok(t, "free the key again", p.CommFreeKeyval(&twice))
		if code := p.TypeFreeKeyval(&other); code != ErrKeyval {
			t.Errorf("the key is freed as one of datatypes: %d", code)
		}
		once, twice = plain, plain
		ok(t, "free the key", p.CommFreeKeyval(&once))
		if code := p.CommFreeKeyval(&twice); code != ErrKeyval {
			t.Errorf("a key is freed twice: %d", code)
		}
	})
}
