package order

import (
	"errors"
	"testing"
)

// donated is the state of replica 0 of 3 for replica 2: two decisions, of which 1 knows one.
func donated() (*Machine, []byte) {
	m, out := New(Config{Degree: 3, Self: 0}), Actions{}
	m.Decide([]byte("first"))
	m.Flush(&out)
	m.Arrived(1, Message{Kind: Known, First: 2}, &out)
	m.Admit(2, 0, &out)
	m.Decide([]byte("second"))
	return m, m.AppendState(nil, 2)
}

// TestRestored: a replacement goes on from its donor's log, and leads after the others only.
func TestRestored(t *testing.T) {
	_, state := donated()
	m, out := New(Config{Degree: 3, Self: 2, Joins: true}), Actions{}
	if err := m.Restore(state); err != nil {
		t.Fatal(err)
	}
	m.Commit(&out)
	if m.Len() != 2 || m.Stable() != 1 || m.Leads() {
		t.Errorf("it knows %d decisions, of which %d are stable; leads: %t", m.Len(), m.Stable(), m.Leads())
	}
	m.Dead(0, &out)
	if m.Leads() {
		t.Error("it leads, though 1 lives")
	}
	out = nil
	m.Dead(1, &out)
	if !m.Leads() || m.Stable() != 2 {
		t.Error("it doesn't lead alone")
	}
}

// TestStableWaitsForJoining: nothing leaves that a replacement may lack while it joins.
func TestStableWaitsForJoining(t *testing.T) {
	m, _ := donated()
	var out Actions
	m.Arrived(1, Message{Kind: Known, First: 3}, &out)
	if m.Stable() != 1 {
		t.Errorf("%d decisions are stable while replica 2 joins, want 1", m.Stable())
	}
	out = nil
	m.Joined(2, &out)
	m.Arrived(2, Message{Kind: Known, First: 3}, &out)
	if m.Stable() != 2 {
		t.Errorf("%d decisions are stable, want 2", m.Stable())
	}
}

// FuzzRestore: no bytes make a machine panic, and only whole states are taken.
func FuzzRestore(f *testing.F) {
	_, state := donated()
	f.Add(state)
	f.Add(state[:len(state)-1])
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, out := New(Config{Degree: 3, Self: 2, Joins: true}), Actions{}
		if err := m.Restore(b); err != nil {
			if !errors.Is(err, ErrState) {
				t.Errorf("%v is another error", err)
			}
			return
		}
		m.Commit(&out)
		for p := range MaxDegree {
			m.Dead(p, &out)
		}
		if !m.Leads() {
			t.Error("the last replica doesn't lead")
		}
	})
}

// TestJoinsInSilence: a replacement without a state neither leads nor says anything, though others
// die.
func TestJoinsInSilence(t *testing.T) {
	m, out := New(Config{Degree: 3, Self: 0, Joins: true}), Actions{}
	m.Dead(1, &out)
	m.Arrived(2, Message{Kind: Claim, First: 1}, &out)
	m.Dead(2, &out)
	if m.Leads() || len(out) > 0 {
		t.Errorf("it leads: %t; it says %v", m.Leads(), out)
	}
}
