package causal

import "testing"

// Ranks 0 and 1 take part in a collective, after which rank 1 sends to rank 0. In a replica
// layer that is behind, rank 0 hasn't begun the collective, so the message isn't ready there
// until it has.
func TestMessageAfterACollective(t *testing.T) {
	ahead, sender, behind := New(0, 2), New(1, 2), New(0, 2)
	stamp, after := make([]byte, 8), make([]byte, 8)

	fork, senders := New(0, 2), New(1, 2)
	ahead.Fork(fork)
	fork.Stamp(stamp) // rank 0's message of the collective
	sender.Fork(senders)
	senders.Received(stamp)
	sender.Join(senders)
	sender.Stamp(after)
	if behind.Ready(after) {
		t.Error("the message is ready before rank 0 has begun the collective")
	}
	behind.Fork(New(0, 2))
	if !behind.Ready(after) {
		t.Error("the message isn't ready after rank 0 has begun the collective")
	}
}

// The number and the times of a collective's messages change nothing in the program's own
// stamps.
func TestForksDontCount(t *testing.T) {
	a, b := New(0, 3), New(0, 3)
	forkA, forkB := New(0, 3), New(0, 3)
	x, y := make([]byte, 12), make([]byte, 12)
	a.Fork(forkA)
	forkA.Stamp(x)
	forkA.Stamp(x)
	a.Stamp(x)
	b.Fork(forkB)
	b.Stamp(y)
	forkB.Stamp(make([]byte, 12))
	if string(x) != string(y) {
		t.Errorf("stamps %v and %v", x, y)
	}
}

// An operation that knows more than the program keeps that to itself until its end.
func TestForkIsApart(t *testing.T) {
	c, fork, other := New(0, 2), New(0, 2), New(1, 2)
	stamp, before, after := make([]byte, 8), make([]byte, 8), make([]byte, 8)
	other.Stamp(stamp)
	c.Fork(fork)
	fork.Received(stamp)
	c.Stamp(before)
	c.Join(fork)
	c.Stamp(after)
	if before[4] != 0 || after[4] != 1 {
		t.Errorf("rank 1 has sent %d before the end and %d after", before[4], after[4])
	}
}
