package engine

import (
	"sync"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/process"
	"banyan/internal/runtime/transport/inproc"
	"banyan/internal/runtime/wire"
)

// turns records waits alone. The lock is held.
type turns struct{ log string }

func (*turns) Sent(proto.Proc, wire.Kind)     {}
func (*turns) Received(proto.Proc, wire.Kind) {}
func (*turns) Coloured()                      {}
func (*turns) Died(proto.Proc)                {}
func (r *turns) Waits()                       { r.log += "w" }
func (r *turns) Resumes()                     { r.log += "r" }

// A recorder hears of each wait once, also if the progress thread rests meanwhile; of the waits of
// several threads at a time, as of one; and of none if what is wanted is there.
func TestWaitsAreRecorded(t *testing.T) {
	const context = 2
	net := inproc.NewNetwork(2)
	var r turns
	var both [2]*Engine
	for i := range both {
		c := Config{Process: process.Config{
			Self: proto.Proc(i), Layout: layout.Uniform(2, 1), Period: 20e6, Timeout: 3600e9,
		}}
		if i == 0 {
			c.Process.Recorder = &r
		}
		both[i] = New(c, net.Endpoint(proto.Proc(i)))
		defer both[i].Close()
		if err := both[i].OpenContext(context, []proto.Rank{0, 1}, false); err != nil {
			t.Fatal(err)
		}
	}
	e := both[0]
	receive := func(tag int32) {
		if _, err := e.ReceiveWait(context, 1, tag, make([]byte, 1)); err != nil {
			t.Error(err)
		}
	}
	send := func(tag int32) {
		if err := both[1].SendWait(context, 0, tag, make([]byte, 1)); err != nil {
			t.Error(err)
		}
	}
	recorded := func(want string) {
		t.Helper()
		await(t, e, "the waits are over", func() bool { return e.waiting.waiters() == 0 })
		e.mu.Lock()
		defer e.mu.Unlock()
		if r.log != want {
			t.Errorf("recorded %q, want %q", r.log, want)
		}
	}
	for range 2 {
		var wg sync.WaitGroup
		wg.Go(func() { receive(1) })
		await(t, e, "the progress thread rests", func() bool { return e.waiting.resting && e.waiting.waiters() == 1 })
		send(1)
		wg.Wait()
	}
	recorded("wrwr")
	var wg sync.WaitGroup
	for tag := range int32(2) {
		wg.Go(func() { receive(2 + tag) })
	}
	await(t, e, "both threads wait", func() bool { return e.waiting.waiters() == 2 })
	send(2)
	await(t, e, "one waits", func() bool { return e.waiting.waiters() == 1 })
	send(3)
	wg.Wait()
	recorded("wrwrwr")
	send(4)
	await(t, e, "the message is there", func() bool { return e.step() == 0 })
	receive(4)
	recorded("wrwrwr")
}
