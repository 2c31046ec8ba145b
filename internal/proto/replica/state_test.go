package replica

import (
	"errors"
	"testing"

	"banyan/internal/proto"
)

// donorState is the state of process 0 of two ranks of three replicas. It retains a message, an
// offer waits, and its siblings have completed a rendezvous.
func donorState(tb testing.TB) []byte {
	m := New(Config{Layout: three, Self: 0})
	var out Actions
	m.Send(&Message{Context: 3, Dst: 1, Tag: -7, Total: 5, Body: []byte("hello")}, &out)
	m.Acked(5, 3, 2, true, &out)
	m.Arrive(1, 4, 1, true)
	m.Dead(3, 0, &out)
	if !m.Donate(2, 1, &out) {
		tb.Fatal("declined")
	}
	for _, p := range []proto.Proc{1, 4, 5} {
		m.Noted(p, Note{Kind: Prepared, Replacement: 2, Incarnation: 1}, &out)
	}
	if !asks(out, Handover) {
		tb.Fatalf("no handover: %+v", out)
	}
	return m.AppendState(nil, &out)
}

func TestRestore(t *testing.T) {
	m := New(Config{Layout: three, Self: 2})
	var out Actions
	m.Dead(4, 0, &out) // this machine knows of the death, and its donor didn't
	var kept []*Message
	err := m.Restore(donorState(t), func(h Message) *Message {
		h.User = 9
		kept = append(kept, &h)
		return &h
	}, &out)
	if err != nil {
		t.Fatal(err)
	}
	if len(kept) != 1 || kept[0].Context != 3 || kept[0].Dst != 1 || kept[0].Tag != -7 || kept[0].Total != 5 || kept[0].Seq != 1 {
		t.Fatalf("kept %+v", kept)
	}
	for p, want := range []bool{true, true, true, false, false, true} {
		if m.Alive(proto.Proc(p)) != want {
			t.Errorf("process %d is alive: %v", p, !want)
		}
	}
	m.Commit(&out)
	if dst, behind := m.Behind(); !behind || dst != 1 {
		t.Error("not behind, though a receiver has a rendezvous that this rank hasn't sent here")
	}
	if v := m.Arrive(1, 4, 1, true); v != Reoffer {
		t.Errorf("the offer that waits, again: %v", v)
	}
	// Process 1 has the message from the donor; only 5 needs it from here.
	out = out[:0]
	m.Acked(5, 3, 1, false, &out)
	if got := releases(out); len(got) != 1 || got[0] != kept[0] {
		t.Errorf("Acked: %+v", out)
	}
}

func TestRestoreRefuses(t *testing.T) {
	state := donorState(t)
	restore := func(cfg Config, b []byte) error {
		var out Actions
		return New(cfg).Restore(b, func(m Message) *Message { return &m }, &out)
	}
	for n := range state {
		if err := restore(Config{Layout: three, Self: 2}, state[:n]); !errors.Is(err, ErrState) {
			t.Errorf("%d of %d bytes: %v", n, len(state), err)
		}
	}
	for name, err := range map[string]error{
		"another process": restore(Config{Layout: three, Self: 4}, state),
		"another job":     restore(Config{Layout: two, Self: 2}, state),
		"more":            restore(Config{Layout: three, Self: 2}, append(state, 0)),
	} {
		if !errors.Is(err, ErrState) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzRestore: no state makes a machine panic, when it is restored or when it is used.
func FuzzRestore(f *testing.F) {
	f.Add(donorState(f))
	f.Fuzz(func(t *testing.T, state []byte) {
		m := New(Config{Layout: three, Self: 2})
		var out Actions
		m.Dead(4, 0, &out)
		if m.Restore(state, func(m Message) *Message { return &m }, &out) != nil {
			return
		}
		m.Commit(&out)
		m.Behind()
		m.Send(&Message{Context: 3, Dst: 1}, &out)
		for _, p := range []proto.Proc{0, 1, 3, 5} {
			m.Arrive(p, 4, 1, true)
			m.Acked(p, 3, 1, false, &out)
			m.Dead(p, 7, &out)
		}
	})
}
