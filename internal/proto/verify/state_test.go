package verify

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"banyan/internal/proto"
)

func three(replica int) Config {
	return Config{Rank: 1, Replica: replica, Ranks: 3, Degree: func(proto.Rank) int { return 3 }, Covers: func(j int) bool { return j == replica }}
}

// donor is a machine of replica 1 with digests, words and rendezvous that wait, and a dead
// sibling.
func donor() *Machine {
	m := New(three(1))
	var out Verdicts
	for seq := uint64(1); seq <= 3; seq++ {
		m.Sent(2, 0, seq, false, -7, uint32(seq), &out)
	}
	m.Acked(0, 0, 2, 1, false, roll(0, 1), true, &out)
	m.Acked(0, 2, 2, 5, false, 9, true, &out)
	m.Acked(0, 2, 2, 8, false, 10, true, &out)
	m.Acked(0, 0, 2, 4, true, 77, true, &out)
	m.Acked(0, 2, 2, 4, true, 0, false, &out)
	m.Arrived(6, 2, 1, 5)
	m.Gone(1, 2, &out)
	m.Gone(2, 0, &out)
	return m
}

// A replacement continues from its donor's state: it finds the differences that the donor
// finds, except in its own stream, and it also hears of its donor's stream.
func TestRestore(t *testing.T) {
	d, m := donor(), New(three(2))
	m.Arrived(6, 2, 1, 1) // the content is forgotten
	state := d.AppendState(nil)
	if err := m.Restore(state); err != nil {
		t.Fatal(err)
	}
	if m.Digest(6, 2) != d.Digest(6, 2) || m.senders != first(3) || m.gone[2] != only(0) {
		t.Errorf("digest %d, senders %b, gone %v", m.Digest(6, 2), m.senders, m.gone)
	}
	n, c := m.sending.All()[0], d.sending.All()[0]
	if !slices.Equal(n.marks, c.marks) || n.sent != 3 || n.streams[0].told != 1 || len(n.streams[0].ahead) != 0 {
		t.Errorf("%+v of %+v", n, c)
	}
	if len(n.streams[2].ahead) != 0 || len(n.singles) != 1 || n.singles[0].told != only(0)|only(2) || n.singles[0].sums[0] != 77 {
		t.Errorf("it knows of its own stream: %+v", n)
	}
	var out Verdicts
	m.Acked(0, 1, 2, 3, false, c.marks[len(c.marks)-1].digest, true, &out)
	if len(out) > 0 || n.streams[1].agreed != 3 {
		t.Errorf("its donor's stream: %+v, %+v", out, n.streams[1])
	}
	m.Sent(2, 0, 4, true, 5, 77, &out)
	if len(out) > 0 {
		t.Errorf("%+v", out)
	}
	m.Acked(0, 1, 2, 4, true, 78, true, &out)
	if len(out) != 1 || out[0].Kind != Outvoted || out[0].Replica != 1 {
		t.Errorf("two against its donor: %+v", out)
	}
	again := New(three(0))
	if err := again.Restore(d.AppendState(nil)); err != nil || !bytes.Equal(state, d.AppendState(nil)) {
		t.Errorf("the donor has changed: %v", err)
	}
}

func TestRestoreRefuses(t *testing.T) {
	state := donor().AppendState(nil)
	for n := range state {
		if err := New(three(2)).Restore(state[:n]); !errors.Is(err, ErrState) {
			t.Errorf("%d of %d bytes: %v", n, len(state), err)
		}
	}
	other := three(2)
	other.Rank = 2
	for name, err := range map[string]error{
		"another rank": New(other).Restore(state),
		"the donor":    New(three(1)).Restore(state),
		"more":         New(three(2)).Restore(append(state, 0)),
	} {
		if !errors.Is(err, ErrState) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzRestore: no state makes a machine panic, when it is restored or when it is used.
func FuzzRestore(f *testing.F) {
	f.Add(donor().AppendState(nil))
	f.Fuzz(func(t *testing.T, state []byte) {
		m := New(three(2))
		if m.Restore(state) != nil {
			return
		}
		var out Verdicts
		for k := range 2 {
			m.Acked(0, k, 2, 3, false, 5, true, &out)
			m.Acked(0, k, 2, 4, true, 5, true, &out)
		}
		m.Sent(2, 0, 4, true, 1, 1, &out)
		m.Sent(2, 0, 5, false, 1, 1, &out)
		m.Gone(0, 1, &out)
		m.Came(0, 1, func(_, seq uint64) bool { return seq%2 == 0 }, &out)
		m.Gone(1, 1, &out)
		m.Came(1, 1, nil, &out)
		m.Arrived(2, 0, 9, 1)
		m.Inflows(0, func(context, seq uint64) {})
		m.AppendState(nil)
	})
}
