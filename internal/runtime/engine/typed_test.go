package engine_test

import (
	"fmt"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/wire"
)

// The number of a type comes with its message, whichever way that takes, and the sender tells the
// name to those who ask, while its program waits and while it doesn't.
func TestTypesOfMessages(t *testing.T) {
	sizes := []int{0, 8, 5000, 1 << 20}
	types := []uint32{1, wire.MaxType, 0}
	names := func(rank int, cfg *engine.Config) {
		cfg.Process.TypeName = func(typ uint32) string {
			if typ == 77 {
				return ""
			}
			return fmt.Sprintf("type %d of %d", typ, rank)
		}
	}
	pair(t, [2]func(e *engine.Engine){
		func(e *engine.Engine) {
			for _, n := range sizes {
				for _, typ := range types {
					if err := e.SendTypedWait(context, 1, 0, make([]byte, n), typ); err != nil {
						t.Error(err)
					}
					if _, err := e.Wait(e.SendTyped(context, 1, 0, make([]byte, n), typ)); err != nil {
						t.Error(err)
					}
					if err := e.SendWait(context, 1, 0, make([]byte, n)); err != nil { // has none
						t.Error(err)
					}
				}
			}
			if _, err := e.ReceiveWait(context, 1, 0, nil); err != nil {
				t.Error(err)
			}
		},
		func(e *engine.Engine) {
			for _, n := range sizes {
				for _, typ := range types {
					for i := range 3 {
						want := typ
						if i == 2 {
							want = 0
						}
						if p, err := e.ProbeWait(context, 0, 0); err != nil || p.Type != want {
							t.Errorf("probed %+v, %v; want type %d", p, err, want)
						}
						s, err := e.ReceiveWait(context, 0, 0, make([]byte, n))
						if err != nil || s.Type != want || s.Bytes != n {
							t.Errorf("received %+v, %v; want type %d", s, err, want)
						}
					}
				}
			}
			for typ, want := range map[uint32]string{5: "type 5 of 0", 77: "", wire.MaxType: fmt.Sprintf("type %d of 0", wire.MaxType)} {
				if got := e.TypeName(proto.Rank(0), typ); got != want {
					t.Errorf("type %d is %q", typ, got)
				}
			}
			if got := e.TypeName(proto.Rank(1), 6); got != "" {
				t.Errorf("this rank itself says %q", got)
			}
			if err := e.SendWait(context, 0, 0, nil); err != nil {
				t.Error(err)
			}
		},
	}, names)
}
