package engine_test

import (
	"errors"
	"sync"
	"testing"
	"time"
	"unsafe"

	"banyan/internal/counters"
	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/process"
	"banyan/internal/runtime/transport/inproc"
	"banyan/internal/runtime/wire"
)

// tape is a SpanRecorder that counts.
type tape struct {
	mu                             sync.Mutex
	sent, received, waits, resumes int
	over, closed                   bool
}

func (r *tape) count(n *int) { r.mu.Lock(); *n++; r.mu.Unlock() }

func (r *tape) Sent(_ proto.Proc, k wire.Kind) {
	if k == wire.KindEager {
		r.count(&r.sent)
	}
}
func (r *tape) Received(_ proto.Proc, k wire.Kind) {
	if k == wire.KindEager {
		r.count(&r.received)
	}
}
func (r *tape) Coloured()       {}
func (r *tape) Died(proto.Proc) {}
func (r *tape) Waits()          { r.count(&r.waits) }
func (r *tape) Resumes()        { r.count(&r.resumes) }
func (r *tape) Over() bool      { r.mu.Lock(); defer r.mu.Unlock(); return r.over }
func (r *tape) Close() error    { r.mu.Lock(); defer r.mu.Unlock(); r.closed = true; return nil }

// While a span is asked for, frames are recorded, and a wait that had begun before; before it and
// afterwards nothing is. A span that can't be recorded is left out, and the next one isn't.
func TestSpan(t *testing.T) {
	net := inproc.NewNetwork(2)
	var engines [2]*engine.Engine
	var page *counters.Page
	tapes := make(chan *tape, 3)
	for i := range engines {
		cfg := engine.Config{Process: process.Config{Self: proto.Proc(i), Layout: layout.Uniform(2, 1), Period: 50e6, Timeout: 10e9}}
		if i == 1 {
			memory := make([]uint64, counters.Size/8)
			var err error
			if page, err = counters.On(unsafe.Slice((*byte)(unsafe.Pointer(&memory[0])), counters.Size)); err != nil {
				t.Fatal(err)
			}
			cfg.Counters = page
			cfg.RecordSpan = func(s counters.Span) (engine.SpanRecorder, error) {
				if s.Path != "file" {
					return nil, errors.New("no such path")
				}
				r := &tape{}
				tapes <- r
				return r, nil
			}
		}
		engines[i] = engine.New(cfg, net.Endpoint(proto.Proc(i)))
		if err := engines[i].OpenContext(context, []proto.Rank{0, 1}, false); err != nil {
			t.Fatal(err)
		}
	}
	exchange := func() { // to 1 and back
		t.Helper()
		got := make(chan error, 1)
		go func() {
			_, err := engines[1].Wait(engines[1].Receive(context, 0, 5, make([]byte, 8)))
			got <- err
		}()
		time.Sleep(5 * time.Millisecond)
		if err := engines[0].SendWait(context, 1, 5, make([]byte, 8)); err != nil {
			t.Fatal(err)
		}
		if err := <-got; err != nil {
			t.Fatal(err)
		}
		if err := engines[1].SendWait(context, 0, 6, make([]byte, 8)); err != nil {
			t.Fatal(err)
		}
		if _, err := engines[0].Wait(engines[0].Receive(context, 1, 6, make([]byte, 8))); err != nil {
			t.Fatal(err)
		}
	}
	exchange()
	page.Ask(&counters.Span{Number: 1, Path: "elsewhere"})
	time.Sleep(50 * time.Millisecond)
	exchange()

	// The program waits already when the span is asked for.
	waits := make(chan error, 1)
	go func() {
		_, err := engines[1].Wait(engines[1].Receive(context, 0, 9, make([]byte, 8)))
		waits <- err
	}()
	time.Sleep(20 * time.Millisecond)
	page.Ask(&counters.Span{Number: 2, Path: "file"})
	var r *tape
	select {
	case r = <-tapes:
	case <-time.After(20 * time.Second):
		t.Fatal("the span isn't recorded")
	}
	time.Sleep(20 * time.Millisecond) // it has begun to record
	if err := engines[0].SendWait(context, 1, 9, make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	if err := <-waits; err != nil {
		t.Fatal(err)
	}
	exchange()
	r.mu.Lock()
	if r.sent != 1 || r.received != 2 || r.waits < 2 || r.resumes != r.waits {
		t.Errorf("recorded: %d sent, %d received, %d waits, %d resumes", r.sent, r.received, r.waits, r.resumes)
	}
	r.over = true
	r.mu.Unlock()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		r.mu.Lock()
		closed := r.closed
		r.mu.Unlock()
		if closed {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it is never closed")
		}
	}
	exchange()
	if r.mu.Lock(); r.sent != 1 || r.received != 2 {
		t.Errorf("afterwards: %d sent, %d received", r.sent, r.received)
	}
	r.mu.Unlock()
	page.Ask(&counters.Span{Number: 3, Path: "file"})
	select {
	case <-tapes:
	case <-time.After(20 * time.Second):
		t.Fatal("the next span isn't recorded")
	}
	for _, e := range engines {
		e.Close()
	}
}
