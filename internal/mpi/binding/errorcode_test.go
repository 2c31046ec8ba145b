package binding

import (
	"testing"
	"unsafe"

	"banyan/abi"
)

// Every error class of the table has a name and a text.
func TestClasses(t *testing.T) {
	table, err := abi.Load()
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, c := range table.Constants {
		value, cast, _ := c.Number()
		if class, isClass := classes[Code(value)]; isClass && class[0] == c.Name && cast == "" {
			named++
			if class[1] == "" {
				t.Errorf("%s has no text", c.Name)
			}
		}
	}
	// Those of fault tolerance have no number in the table yet.
	if named != len(classes)-3 || named != 82 {
		t.Errorf("%d classes of %d are in the table, want 82 of 85", named, len(classes))
	}
}

func cString(s string) *byte { return unsafe.StringData(s + "\x00") }

func TestErrorCodes(t *testing.T) {
	ranks(t, 1, func(t *testing.T, p *Process) {
		ok(t, "set", p.CommSetErrhandler(CommWorld, ErrorsReturn))
		var class, code, other, got, length int32
		ok(t, "AddErrorClass", p.AddErrorClass(&class))
		ok(t, "AddErrorCode", p.AddErrorCode(class, &code))
		ok(t, "AddErrorCode", p.AddErrorCode(int32(ErrIo), &other))
		if class <= int32(ErrLastcode) || code <= class || other <= code {
			t.Errorf("class %d, codes %d and %d", class, code, other)
		}
		for c, want := range map[int32]int32{class: class, code: class, other: int32(ErrIo), int32(ErrRank): int32(ErrRank)} {
			if ok(t, "ErrorClass", p.ErrorClass(c, &got)); got != want {
				t.Errorf("the class of %d is %d, want %d", c, got, want)
			}
		}
		buffer := make([]byte, MaxErrorString)
		text := func(c int32) string {
			t.Helper()
			ok(t, "ErrorString", p.ErrorString(c, &buffer[0], &length))
			if s := goString(&buffer[0]); len(s) != int(length) {
				t.Errorf("%q has the length %d", s, length)
			}
			return goString(&buffer[0])
		}
		if s := text(code); s != "" {
			t.Errorf("a code without a text has %q", s)
		}
		ok(t, "AddErrorString", p.AddErrorString(code, cString("the moon is full")))
		if s := text(code); s != "the moon is full" {
			t.Error(s)
		}
		if s := text(int32(ErrRank)); s != "MPI_ERR_RANK: invalid rank" {
			t.Error(s)
		}
		for what, c := range map[string]Code{
			"a text for a predefined code":  p.AddErrorString(int32(ErrRank), cString("x")),
			"a code of a code":              p.AddErrorCode(code, &got),
			"a code of nothing":             p.AddErrorCode(9999, &got),
			"the class of nothing":          p.ErrorClass(99999, &got),
			"the text of nothing":           p.ErrorString(99999, &buffer[0], &length),
			"a class with codes is removed": p.RemoveErrorClass(class),
			"a code with a text is removed": p.RemoveErrorCode(code),
			"a predefined text is removed":  p.RemoveErrorString(int32(ErrRank)),
		} {
			if c != ErrArg {
				t.Errorf("%s: %d", what, c)
			}
		}
		ok(t, "RemoveErrorString", p.RemoveErrorString(code))
		ok(t, "RemoveErrorCode", p.RemoveErrorCode(code))
		ok(t, "RemoveErrorClass", p.RemoveErrorClass(class))
		if c := p.ErrorClass(code, &got); c != ErrArg {
			t.Errorf("a removed code has a class: %d", c)
		}
	})
}
