package engine_test

import (
	"strings"
	"testing"
	"time"
	"unsafe"

	"banyan/internal/counters"
	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/process"
	"banyan/internal/runtime/transport/inproc"
)

// What a process counts can be read while it computes, waits and passes safe points: how much it
// has sent, what has come that it doesn't want yet, and for whom it waits.
func TestCounting(t *testing.T) {
	net := inproc.NewNetwork(2)
	var pages [2]*counters.Page
	var engines [2]*engine.Engine
	for i := range engines {
		memory := make([]uint64, counters.Size/8)
		page, err := counters.On(unsafe.Slice((*byte)(unsafe.Pointer(&memory[0])), counters.Size))
		if err != nil {
			t.Fatal(err)
		}
		pages[i] = page
		e := engine.New(engine.Config{Counters: page, Process: process.Config{
			Self: proto.Proc(i), Layout: layout.Uniform(2, 1), Period: 50e6, Timeout: 10e9,
		}}, net.Endpoint(proto.Proc(i)))
		if err := e.OpenContext(context, []proto.Rank{0, 1}, false); err != nil {
			t.Fatal(err)
		}
		engines[i] = e
	}
	await := func(i int, what string, is func(r counters.Record) bool) counters.Record {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			if r, ok := pages[i].Read(); ok && is(r) {
				return r
			} else if time.Now().After(deadline) {
				t.Fatalf("%s: process %d counts %+v", what, i, r)
			}
		}
	}
	const messages = 7
	for range messages {
		if err := engines[0].SendWait(context, 1, 3, []byte("unexpected")); err != nil {
			t.Fatal(err)
		}
	}
	engines[0].ExpectSafepoints(50)
	for range 5 { // the safe points of a job in which nobody needs them
		if restored, err := engines[0].Safepoint(nil); restored || err != nil {
			t.Fatal(restored, err)
		}
	}
	await(0, "sent", func(r counters.Record) bool {
		return r.Sent == messages && r.Safepoints == 5 && r.Expected == 50 && r.Waits == "" && r.WaitsFor == counters.NoRank
	})
	await(1, "come", func(r counters.Record) bool { return r.Unexpected == messages && r.Posted == 0 })
	received := make(chan error, 1)
	go func() {
		_, err := engines[1].Wait(engines[1].Receive(context, 0, 9, make([]byte, 8)))
		received <- err
	}()
	r := await(1, "waits", func(r counters.Record) bool { return r.Waited > 500e6 })
	if r.WaitsFor != 0 || !strings.Contains(r.Waits, "for a message from rank 0 with tag 9") || r.Posted != 1 {
		t.Errorf("a process that waits counts %+v", r)
	}
	if err := engines[0].SendWait(context, 1, 9, make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	if err := <-received; err != nil {
		t.Fatal(err)
	}
	await(1, "went on", func(r counters.Record) bool { return r.Waits == "" && r.Posted == 0 })
	for _, e := range engines {
		e.Close()
	}
}
