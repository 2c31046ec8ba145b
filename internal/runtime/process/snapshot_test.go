package process

import (
	"errors"
	"fmt"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/proto/replica"
)

// contents lists everything that a snapshot has to bring over.
func contents(p *Process) (s []string) {
	for m := range p.replica.Kept() {
		s = append(s, fmt.Sprintf("kept %d %v %d %d %d %x", m.Context, m.Dst, m.Tag, m.Total, m.Seq, p.sends.messages.get(handleOf(m.User)).wire))
	}
	p.match.EachUnexpected(func(token uint32) {
		_, a := p.receives.arrivals.at(token)
		s = append(s, fmt.Sprintf("unexpected %x", a.appendTo(nil)))
	})
	for _, m := range p.receives.early {
		s = append(s, fmt.Sprintf("early %v %d %x", m.header.Kind, m.header.Seq, m.payload))
	}
	return append(s, fmt.Sprint(*p.clock))
}

// middle runs the program of TestReplay, with every process but one as slow as chance has it,
// until that one has nothing under way in the middle of it. Then it takes that one's snapshot
// for the slot of a dead replica of the same rank.
func middle(t *testing.T, seed uint64) (donor *Process, replacement proto.Proc, snapshot []byte, before []string) {
	layout := layout.Uniform(3, 3)
	twin := proto.Proc(4)
	w := newTestJob(t, seed, layout, func(r proto.Rank, k int) program {
		c := newRandomProgram(int(r), layout.Ranks(), 6, seed)
		c.end = func(*Process) {}
		return c
	})
	d := w.nodes[1]
	w.crash(twin)
	for {
		if key, ok := w.pick(); ok && w.rng.IntN(3) > 0 {
			w.deliver(key)
			continue
		}
		n := w.nodes[w.rng.IntN(len(w.nodes))]
		if n.dead || n.gone {
			continue
		}
		c, running := n.program.(*randomProgram)
		if n == d && running && len(c.open) == 0 && d.p.Pending() == nil && !d.p.liveness.detector.Alive(twin) &&
			(d.p.receives.early != nil || countKept(d.p.replica) > 0 || w.rng.IntN(8) == 0) { // preferably with more to take
			break
		}
		if n == d && !running {
			return nil, 0, nil, nil // it was never idle
		}
		w.advance(n)
	}
	p := d.p
	if !p.replica.Donate(twin, 1, &p.replicaOut) {
		return nil, 0, nil, nil
	}
	p.replicaOut = p.replicaOut[:0]
	for q := range proto.Proc(layout.Procs()) {
		p.replica.Noted(q, replica.Note{Kind: replica.Prepared, Replacement: twin, Incarnation: 1}, &p.replicaOut)
	}
	if n := len(p.replicaOut); n == 0 || p.replicaOut[n-1].Kind != replica.Handover {
		t.Fatal("no handover")
	}
	p.replicaOut = p.replicaOut[:0]
	before = contents(p)
	snapshot, err := p.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return p, twin, snapshot, before
}

// A replacement has what its donor had: messages kept for others, unreceived messages, messages
// that came before their cause, the clock.
func TestSnapshot(t *testing.T) {
	kept, unexpected := 0, 0
	for seed := range uint64(30) {
		donor, replacement, snapshot, want := middle(t, seed)
		if donor == nil {
			continue
		}
		_, p := alone(t, donor.cfg.Layout, replacement)
		p.healing.replay = nil
		if err := p.Restore(snapshot); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		got := contents(p)
		if len(got) != len(want) {
			t.Fatalf("seed %d: %d things, the donor had %d", seed, len(got), len(want))
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("seed %d: thing %d is %.80s, the donor had %.80s", seed, i, got[i], want[i])
			}
			switch got[i][0] {
			case 'k':
				kept++
			case 'u':
				unexpected++
			}
		}
		for i := 0; i < len(snapshot); i += 1 + len(snapshot)/50 {
			_, p := alone(t, donor.cfg.Layout, replacement)
			if err := p.Restore(snapshot[:i]); !errors.Is(err, ErrSnapshot) {
				t.Fatalf("seed %d: the first %d of %d bytes: %v", seed, i, len(snapshot), err)
			}
		}
	}
	if kept < 5 || unexpected < 5 {
		t.Errorf("too little was seen: %d kept, %d unexpected", kept, unexpected)
	}
}

// A safe point with something under way can't be used.
func TestPending(t *testing.T) {
	_, p := alone(t, layout.Uniform(2, 2), 0)
	p.healing.replay = nil
	if err := p.Pending(); err != nil {
		t.Error(err)
	}
	h := p.Receive(2, 1, 0, nil)
	if p.Pending() == nil {
		t.Error("a receive is under way")
	}
	p.Cancel(h)
	p.Take(h)
	p.Send(2, 0, 7, []byte{1})
	if err := p.Pending(); err != nil {
		t.Errorf("an unexpected message: %v", err)
	}
	message, _, found, _ := p.MatchedProbe(2, 0, 7)
	if !found || p.Pending() == nil {
		t.Error("a matched message is under way")
	}
	p.Take(p.ReceiveMatched(message, make([]byte, 1)))
	if err := p.Pending(); err != nil {
		t.Error(err)
	}
}

// No snapshot breaks a replacement.
func FuzzRestore(f *testing.F) {
	f.Add([]byte{snapshotVersion, 0, 0})
	for seed := range uint64(3) {
		t := &testing.T{}
		if donor, _, snapshot, _ := middle(t, seed); donor != nil && len(snapshot) < 1<<16 {
			f.Add(snapshot)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_, p := alone(t, layout.Uniform(3, 3), 4)
		p.healing.replay = nil
		p.Restore(b)
	})
}
