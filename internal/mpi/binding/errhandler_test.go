package binding

import (
	"strings"
	"sync"
	"testing"
)

// raised is the call that the C side would make for a code: none below raisedCode.
func raisedBy(t *testing.T, p *Process, code Code) (fn, object uintptr, err, after Code) {
	t.Helper()
	if code < raisedCode {
		t.Fatalf("%d calls no handler", code)
	}
	return p.Raised(code)
}

// Each kind of handler works.
func TestErrhandlers(t *testing.T) {
	ranks(t, 1, func(t *testing.T, p *Process) {
		ok(t, "set", p.CommSetErrhandler(CommWorld, ErrorsReturn))
		var rank int32
		if code := p.CommRank(CommNull, &rank); code != ErrComm {
			t.Errorf("MPI_ERRORS_RETURN: %d", code)
		}
		var h, again Errhandler
		ok(t, "create", p.CommCreateErrhandler(4711, &h))
		ok(t, "set", p.CommSetErrhandler(CommWorld, h))
		code := p.CommRank(CommNull, &rank)
		if fn, object, err, after := raisedBy(t, p, code); fn != 4711 || Comm(object) != CommWorld || err != ErrComm || after != ErrComm {
			t.Errorf("handler %d is called for %#x with %d, and %d is returned", fn, object, err, after)
		}
		// Two raised errors at once, as of two threads, don't mix.
		one, two := p.CommRank(CommNull, &rank), p.CommCallErrhandler(CommWorld, 77)
		if _, _, err, after := raisedBy(t, p, two); err != 77 || after != Success {
			t.Errorf("MPI_Comm_call_errhandler: the handler gets %d, %d is returned", err, after)
		}
		if _, _, err, _ := raisedBy(t, p, one); err != ErrComm {
			t.Errorf("the handler gets %d", err)
		}
		// A freed handler still works where it is set, and MPI_Comm_get_errhandler returns it.
		old := h
		ok(t, "free", p.ErrhandlerFree(&h))
		if h != ErrhandlerNull {
			t.Errorf("freed, the handle is %#x", h)
		}
		ok(t, "get", p.CommGetErrhandler(CommWorld, &h))
		ok(t, "get", p.CommGetErrhandler(CommWorld, &again))
		if h != again || h == old || p.errhandler(h) == nil {
			t.Errorf("a freed handler comes back as %#x and %#x, and was %#x", h, again, old)
		}
		ok(t, "free", p.ErrhandlerFree(&h))
		if p.errhandler(again) == nil {
			t.Error("the second reference is gone with the first")
		}
		ok(t, "set", p.CommSetErrhandler(CommWorld, ErrorsReturn))
		if code := p.CommSetErrhandler(CommWorld, old); code != ErrErrhandler {
			t.Errorf("a freed handler can be set: %d", code)
		}
		ok(t, "create", p.WinCreateErrhandler(1, &h))
		if code := p.CommSetErrhandler(CommWorld, h); code != ErrErrhandler {
			t.Errorf("a window's handler can be set: %d", code)
		}
		ok(t, "get", p.CommGetErrhandler(CommWorld, &h))
		if h != ErrorsReturn {
			t.Errorf("MPI_ERRORS_RETURN comes back as %#x", h)
		}
		ok(t, "free", p.ErrhandlerFree(&h))
	})
}

// Errors that concern no communicator go to MPI_COMM_SELF's handler, or to the world's if the
// program has set only that one.
func TestErrhandlerOfNobody(t *testing.T) {
	ranks(t, 2, func(t *testing.T, p *Process) {
		var world, self Errhandler
		var n int32
		ok(t, "create", p.CommCreateErrhandler(1, &world))
		ok(t, "create", p.CommCreateErrhandler(2, &self))
		ok(t, "set", p.CommSetErrhandler(CommWorld, world))
		if fn, object, _, _ := raisedBy(t, p, p.CommSize(CommNull, &n)); fn != 1 || Comm(object) != CommWorld {
			t.Errorf("handler %d is called for %#x", fn, object)
		}
		ok(t, "set", p.CommSetErrhandler(CommSelf, self))
		if fn, object, _, _ := raisedBy(t, p, p.CommSize(CommNull, &n)); fn != 2 || Comm(object) != CommSelf {
			t.Errorf("handler %d is called for %#x", fn, object)
		}
	})
}

// A program that handles errors survives the loss of ranks. Another doesn't.
func TestSurvive(t *testing.T) {
	for handler, want := range map[Errhandler]bool{ErrorsReturn: true, ErrorsAbort: false, ErrorsAreFatal: false} {
		ranks(t, 1, func(t *testing.T, p *Process) {
			ok(t, "set", p.CommSetErrhandler(CommSelf, handler))
			if got := p.job.(*testMember).survives; got != want {
				t.Errorf("%#x: survives is %v", handler, got)
			}
		})
	}
}

// A call before MPI_Init or after MPI_Finalize ends the process with a clear message.
func TestOutOfTime(t *testing.T) {
	var mu sync.Mutex
	var said []string
	expectAbort(t, func(code int, why string) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, why)
	})
	p := New(Host{Exit: func(code int, why string) { said = append(said, why) }})
	var n int32
	if code := p.CommSize(CommWorld, &n); code == Success {
		t.Error("MPI_Comm_size works before MPI_Init")
	}
	ok(t, "Initialized", p.Initialized(&n))
	if n != 0 {
		t.Error("initialised before MPI_Init")
	}
	ranks(t, 1, func(t *testing.T, p *Process) {
		ok(t, "Finalize", p.Finalize())
		ok(t, "Initialized", p.Initialized(&n))
		var m int32
		ok(t, "Finalized", p.Finalized(&m))
		if n != 1 || m != 1 {
			t.Errorf("after MPI_Finalize: initialised %d, finalised %d", n, m)
		}
		p.CommSize(CommWorld, &n)
	})
	ranks(t, 1, func(t *testing.T, p *Process) { p.Init(nil, nil) })
	want := "MPI_Comm_size is called before MPI_Init|MPI_Comm_size is called after MPI_Finalize|" +
		"MPI_Init, rank 0: the library is initialised already (MPI_ERR_OTHER)"
	if got := strings.Join(said, "|"); got != want {
		t.Errorf("said %s, want %s", got, want)
	}
}
