package binding

import (
	"testing"
	"time"
)

// A generalised request ends when the program says so, from any thread, with the program's
// status. A program can wait for it together with other requests.
func TestGrequest(t *testing.T) {
	ranks(t, 1, func(t *testing.T, p *Process) {
		ok(t, "set", p.CommSetErrhandler(CommSelf, ErrorsReturn))
		var queried, freed, cancelled int
		result := Success
		query := function(queryFunction(func(extra uintptr, s *Status) Code {
			queried++
			s.Source, s.Tag = 5, 6
			s.SetBytes(40)
			s.SetCancelled(cancelled > 0)
			return result
		}))
		free := function(freeFunction(func(extra uintptr) Code { freed += int(extra); return Success }))
		cancel := function(cancelFunction(func(extra uintptr, complete bool) Code {
			if complete {
				return ErrOther
			}
			cancelled++
			return Success
		}))
		start := func() Request {
			t.Helper()
			var r Request
			ok(t, "start", p.GrequestStart(query, free, cancel, 7, &r))
			return r
		}
		r := start()
		var flag int32
		var s Status
		ok(t, "test", p.Test(&r, &flag, &s))
		if flag != 0 || queried != 0 {
			t.Errorf("over before it is complete: %d, %d", flag, queried)
		}
		go func() {
			time.Sleep(20 * time.Millisecond)
			p.GrequestComplete(r)
		}()
		h := r
		ok(t, "wait", p.Wait(&h, &s))
		if h != RequestNull || s.Source != 5 || s.Tag != 6 || s.Bytes() != 40 || s.Cancelled() || queried != 1 || freed != 7 {
			t.Errorf("%+v, queried %d, freed %d", s, queried, freed)
		}
		// Together with other requests, cancelled, and with an error of the program's function.
		pair := []Request{start(), start()}
		ok(t, "cancel", p.Cancel(&pair[1]))
		ok(t, "complete", p.GrequestComplete(pair[1]))
		if code := p.GrequestComplete(pair[1]); code != ErrRequest {
			t.Errorf("complete twice: %d", code)
		}
		var index int32
		ok(t, "waitany", p.Waitany(2, &pair[0], &index, &s))
		if index != 1 || !s.Cancelled() || cancelled != 1 {
			t.Errorf("index %d, cancelled %v, %d", index, s.Cancelled(), cancelled)
		}
		result = ErrIo
		ok(t, "complete", p.GrequestComplete(pair[0]))
		if code := p.Wait(&pair[0], &s); code != ErrIo {
			t.Errorf("a query function fails: %d", code)
		}
		result = Success
		var bad Request
		ok(t, "start", p.GrequestStart(query, function(freeFunction(func(uintptr) Code { return ErrFile })), cancel, 7, &bad))
		ok(t, "complete", p.GrequestComplete(bad))
		if code := p.Wait(&bad, &s); code != ErrFile || bad != RequestNull {
			t.Errorf("a free function fails: %d, and the handle is %#x", code, bad)
		}
		queried--
		if queried != 3 || freed != 21 {
			t.Errorf("queried %d, freed %d", queried, freed)
		}
	})
}
