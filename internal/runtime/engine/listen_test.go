package engine_test

import (
	"testing"

	"banyan/internal/proto"
	"banyan/internal/runtime/engine"
)

// answerer answers each message with a lot.
type answerer struct{ ear *engine.Ear }

func (a *answerer) Hear(from proto.Rank, _ []byte) bool {
	a.ear.Send(from, 1, make([]byte, 4<<20))
	return true
}
func (a *answerer) Lost(proto.Rank) {}

// An ear that is closed while an answer is under way leaves no operation behind.
func TestEarCloses(t *testing.T) {
	var requests int
	pair(t, [2]func(e *engine.Engine){
		func(e *engine.Engine) {
			a := &answerer{}
			a.ear = e.Listen(context, a)
			e.Wait(e.Receive(context, 1, 2, nil)) // behind the message that is heard
			a.ear.Close()
			e.Wait(e.Send(context, 1, 3, nil))
			e.Wait(e.Receive(context, 1, 4, nil))
			for i := 0; !e.TestUntil(func(func(engine.Handle) bool) bool { return requests == 0 }); i++ {
				if i == 1000 {
					t.Error("an operation is left")
					break
				}
			}
		},
		func(e *engine.Engine) {
			e.Wait(e.Send(context, 0, engine.HeardTag, []byte{1}))
			e.Wait(e.Send(context, 0, 2, nil))
			e.Wait(e.Receive(context, 0, 3, nil))
			e.Wait(e.Receive(context, 0, 1, make([]byte, 4<<20)))
			e.Wait(e.Send(context, 0, 4, nil))
		},
	}, func(rank int, cfg *engine.Config) {
		if rank == 0 {
			cfg.Process.Requests = &requests
		}
	})
}
