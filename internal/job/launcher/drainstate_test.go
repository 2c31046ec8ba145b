package launcher

import (
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/console"
	"banyan/internal/proto"
)

// A launcher is lost while a host is drained, and the next one, too. The one after them goes on
// with the drain.
func TestResumeDrain(t *testing.T) {
	t.Parallel()
	const n = 600
	r := newRelayed(t, 3)
	r.names = []string{"a", "b", "c"}
	server := console.NewServer(console.Info{}, nil)
	r.run(Config{Ranks: 2, Replicas: 2, Places: layers(2, 2), Heal: true, Requests: server}, "rounds", "600", "5ms")
	r.await(1, 500)
	go requestDrain(t, server, "b") // its launcher doesn't answer any more
	drains := func() []DrainState {
		r.keeping.Lock()
		defer r.keeping.Unlock()
		s, err := DecodeState(r.state)
		if err != nil {
			t.Error(err)
			return nil
		}
		return s.Drains
	}
	for until := time.Now().Add(20 * time.Second); len(drains()) == 0; time.Sleep(100 * time.Microsecond) {
		if time.Now().After(until) {
			t.Fatal("the state has no drain")
		}
	}
	for range 2 { // at the second one the host may have left
		r.loseLauncher()
		r.resume()
	}
	report := r.end()
	r.check(report, 2, n)
	if report.Hosts[1].Left == nil || report.Hosts[1].Lost != nil {
		t.Errorf("it hasn't left: %+v, heals %+v, notes %q", report.Hosts[1], report.Heals, r.notes.String())
	}
}

// requestDrain asks for a drain, and doesn't wait for it.
func requestDrain(t *testing.T, s *console.Server, host string) {
	socket, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Error(err)
		return
	}
	defer socket.Close()
	go func() {
		if theirs, err := socket.Accept(); err == nil {
			s.Serve(theirs)
		}
	}()
	ours, err := net.Dial("unix", socket.Addr().String())
	if err != nil {
		t.Error(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, _ = console.Ask[console.HostsChanged](ctx, ours, console.DrainHostsRequest, console.DrainHosts{Names: []string{host}}, nil)
}

// A state with a drain that can't be is refused.
func TestBadDrains(t *testing.T) {
	for _, d := range []DrainState{{Host: -1}, {Host: 1}, {Moved: []proto.Proc{-1}}, {Moved: []proto.Proc{1}}} {
		s := State{Slots: make([]SlotState, 1), Hosts: make([]agent.Host, 1), Drains: []DrainState{d}}
		if s.checkDrains() == nil {
			t.Errorf("%+v is taken", d)
		}
	}
}
