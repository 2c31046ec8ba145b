package engine

import (
	"testing"
	"time"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/process"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
)

// silence is a transport over which nothing ever comes.
type silence struct{ wait func() }

func (s *silence) Send(proto.Proc, *wire.Header, []byte, uint64) {}
func (s *silence) Queued(proto.Proc) int                         { return 0 }
func (s *silence) Poll(transport.Sink) int                       { return 0 }
func (s *silence) Wait(time.Duration)                            { s.wait() }
func (s *silence) Wake()                                         {}
func (s *silence) Fence(proto.Proc)                              {}
func (s *silence) Drain(time.Duration)                           {}
func (s *silence) Close() error                                  { return nil }

// A program that tests in vain gives its core up now and then. In between it keeps the core for a
// while, since it may do a little work between its tests.
func TestNapsAreApart(t *testing.T) {
	var e *Engine
	var end proto.Time // of the last nap
	naps := 0
	tr := &silence{wait: func() {
		if e.waiting.sleeperIsProgressThread {
			return
		}
		if now := e.now(); naps > 0 && now-end < workBetween {
			t.Errorf("the core is given up %v after the last time", time.Duration(now-end))
		}
		naps++
		end = e.now()
	}}
	e = New(Config{Crowd: 2, Process: process.Config{
		Layout: layout.Uniform(2, 1), Period: 3600e9, Timeout: 36000e9,
	}}, tr)
	defer e.Close()
	if err := e.OpenContext(2, []proto.Rank{0, 1}, false); err != nil {
		t.Fatal(err)
	}
	h := e.Receive(2, 1, 1, make([]byte, 1))
	for deadline := time.Now().Add(20 * time.Second); naps < 50; {
		if _, done, err := e.Test(h); done {
			t.Fatal("there was a message", err)
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d naps", naps)
		}
	}
}
