package binding

import (
	"strings"
	"testing"
	"unsafe"
)

// TestStateRegister: each wrong registration is an error of its own class.
func TestStateRegister(t *testing.T) {
	ranks(t, 1, func(t *testing.T, p *Process) {
		p.CommSetErrhandler(CommWorld, ErrorsReturn)
		name := func(s string) *byte { return unsafe.StringData(s + "\x00") }
		memory := make([]float64, 4)
		at := unsafe.Pointer(&memory[0])
		var gaps, uncommitted Datatype
		p.TypeVector(2, 1, 2, TypeInt, &gaps)
		p.TypeCommit(&gaps)
		p.TypeContiguous(2, TypeInt, &uncommitted)
		for _, c := range []struct {
			what     string
			address  unsafe.Pointer
			count    int64
			datatype Datatype
			code     Code
		}{
			{"field", at, 4, TypeDouble, Success},
			{"field", at, 4, TypeDouble, ErrArg},
			{"nothing", nil, 0, TypeDouble, Success},
			{"", at, 4, TypeDouble, ErrArg},
			{strings.Repeat("x", 201), at, 4, TypeDouble, ErrArg},
			{"few", at, -1, TypeDouble, ErrCount},
			{"many", at, 1 << 62, TypeDouble, ErrCount},
			{"nowhere", nil, 4, TypeDouble, ErrBuffer},
			{"in place", InPlace, 4, TypeDouble, ErrBuffer},
			{"gaps", at, 1, gaps, ErrType},
			{"one of them", at, 1, uncommitted, ErrType},
			{"no type", at, 1, DatatypeNull, ErrType},
		} {
			if code := p.StateRegister(name(c.what), c.address, c.count, c.datatype); code != c.code {
				t.Errorf("%.20q: %v, want %v", c.what, className(code), className(c.code))
			}
		}
		if code := p.StateUnregister(name("field")); code != Success {
			t.Error(className(code))
		}
		if code := p.StateUnregister(name("field")); code != ErrArg {
			t.Errorf("again: %v", className(code))
		}
		for total, want := range map[int64]Code{-1: ErrCount, 0: Success, 1 << 40: Success} {
			if code := p.ExpectSafepoints(total); code != want {
				t.Errorf("%d safe points: %v", total, className(code))
			}
		}
		restored := int32(7)
		if code := p.Safepoint(&restored); code != Success || restored != 0 {
			t.Errorf("a safe point without replacement: %v, restored %d", className(code), restored)
		}
		if n := testing.AllocsPerRun(100, func() { p.Safepoint(&restored) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

// TestHandles: a process can't be a donor while it has other handles than at the first safe
// point. The error names the kind. Handles that were made and freed since don't matter.
func TestHandles(t *testing.T) {
	ranks(t, 1, func(t *testing.T, p *Process) {
		s := site{p}
		var kept Datatype
		p.TypeContiguous(2, TypeInt, &kept)
		var buffer [4]int32
		var persistent Request
		p.RecvInit(unsafe.Pointer(&buffer), 4, TypeInt, 0, 1, CommWorld, &persistent)
		if err := s.Handles(true); err != nil {
			t.Fatal(err)
		}
		refused := func(what string) {
			t.Helper()
			if err := s.Handles(false); err == nil || !strings.Contains(err.Error(), what) {
				t.Errorf("%v, want %s", err, what)
			}
		}
		accepted := func() {
			t.Helper()
			if err := s.Handles(false); err != nil {
				t.Error(err)
			}
		}
		accepted()
		p.Start(&persistent)
		refused("requests that haven't been completed: 1")
		p.Send(unsafe.Pointer(&buffer), 4, TypeInt, 0, 1, CommWorld)
		p.Wait(&persistent, nil)
		accepted()

		var d Datatype
		p.TypeContiguous(3, TypeInt, &d)
		refused("a datatype was made")
		p.TypeFree(&d)
		accepted()
		var c Comm
		p.CommDup(CommWorld, &c)
		refused("a communicator was made")
		p.CommFree(&c)
		var g Group
		p.CommGroup(CommWorld, &g)
		refused("a group was made")
		p.GroupFree(&g)
		var i Info
		p.InfoCreate(&i)
		refused("an info object was made")
		p.InfoFree(&i)
		accepted()
		p.TypeFree(&kept)
		refused("a datatype was freed")
		p.RequestFree(&persistent)
	})
}
