package remote

import (
	"errors"
	"sync"
	"testing"
	"time"

	"banyan/internal/job/agent/secure"
	"banyan/internal/job/agent/wire"
)

// waiting are peers whose voters grant nothing.
type waiting struct {
	mu    sync.Mutex
	heard bool
	due   bool
	since time.Time // when it became so
}

func (w *waiting) Open() (wire.Ports, error)                    { return wire.Ports{}, nil }
func (w *waiting) Begin([]byte, func(Lease), func() bool) error { return nil }
func (w *waiting) Meet([]byte)                                  {}
func (w *waiting) Next() <-chan Successor                       { return nil }

func (w *waiting) Ending(due bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if due && !w.due {
		w.since = time.Now()
	}
	w.heard, w.due = true, due
}

// The launcher is lost before the voters have granted a lease. The peers hear that its lease nearly
// ends while the agent can still say something, and not before.
func TestEnding(t *testing.T) {
	peers, key := new(waiting), secure.NewKey()
	l, err := Listen("127.0.0.1:0", key, Options{Lease: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	between := newProxy(t, l.Addresses()[0])
	served := make(chan error, 1)
	go func() {
		served <- Serve(t.Context(), Config{Addresses: []string{between.address()}, Number: 1, Key: key, Agent: newFake("h1"), Peers: peers})
	}()
	if _, err := l.Expect(soon(t), 1); err != nil {
		t.Fatal(err)
	}
	until(t, "the agent has its lease", func() bool {
		peers.mu.Lock()
		defer peers.mu.Unlock()
		return peers.heard
	})
	between.block()
	cut := time.Now()
	if err := <-served; !errors.Is(err, ErrLeaseOver) {
		t.Fatal(err)
	}
	peers.mu.Lock()
	defer peers.mu.Unlock()
	if !peers.due || peers.since.Sub(cut) < time.Second || time.Since(peers.since) < forewarning/4 {
		t.Errorf("the end is due: %v, %v after the cut and %v before the end", peers.due, peers.since.Sub(cut), time.Since(peers.since))
	}
}
