package process

import (
	"testing"

	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
)

// beats lets some heartbeat periods pass.
func beats(p *Process, from proto.Time) {
	for now := from + 100e6; now <= from+600e6; now += 100e6 {
		p.At(now)
		p.Tick()
		p.Frame(7, &wire.Header{Kind: wire.KindHeartbeat}, nil) // from the emitter
	}
}

// A process has a link to the next live one on its host. It testifies to the death of that one, if
// the kernel has seen it, to the observer of the dead.
func TestTestimony(t *testing.T) {
	p, w := eight()
	p.cfg.Hosts = []int32{0, 1, 1, 0, 2, 0, 3, 3}
	beats(p, 0)
	if p.liveness.beside != 3 || !p.peers[3].contacted {
		t.Fatalf("it watches %v", p.liveness.beside)
	}
	p.Closed(3, transport.EvidenceExited)
	if h := w.last(wire.KindReconcile); h == nil || w.to[len(w.to)-1] != 5 { // the ring is … 1 3 5 7
		t.Errorf("it testifies to %v", w.to[len(w.to)-1])
	}
	beats(p, 600e6)
	if p.liveness.beside != 5 {
		t.Errorf("then it watches %v", p.liveness.beside)
	}
}

// What the network says of the end of a process is a hint: the process counts as dead only after δ,
// and its death isn't certain. A lower one has twice as long.
func TestBrokenConnectionIsAHint(t *testing.T) {
	for _, c := range []struct {
		peer proto.Proc
		wait proto.Time
	}{{4, 1e9}, {0, 2e9}} {
		w := &payloads{}
		first, _ := eight()
		cfg := first.cfg
		cfg.Self = 2
		p := New(cfg, 0, w, w)
		p.Closed(c.peer, transport.EvidenceLost)
		for now := proto.Time(100e6); now < c.wait; now += 100e6 {
			p.At(now)
			p.Frame(0, &wire.Header{Kind: wire.KindHeartbeat}, nil)
			p.Tick()
			if !p.Alive(c.peer) {
				t.Fatalf("%d is dead after %v", c.peer, now)
			}
		}
		p.At(c.wait)
		p.Tick()
		if p.Alive(c.peer) || p.peers[c.peer].why != 0 {
			t.Errorf("%d: alive %v, %v", c.peer, p.Alive(c.peer), p.peers[c.peer].why)
		}
		if w.last(wire.KindReconcile) != nil {
			t.Error("it testifies to what it doesn't know")
		}
	}
}
