package replica

import (
	"slices"
	"testing"

	"banyan/internal/proto"
)

// Two ranks, two replicas: processes 0 and 2 are rank 0, 1 and 3 are rank 1.
var two = Layout{Ranks: 2, Degree: 2}

func transmits(out Actions) (to []proto.Proc) {
	for _, a := range out {
		if a.Kind == Transmit {
			to = append(to, a.To)
		}
	}
	return to
}

func releases(out Actions) (messages []*Message) {
	for _, a := range out {
		if a.Kind == Release {
			messages = append(messages, a.Message)
		}
	}
	return messages
}

func TestEagerWithoutFailures(t *testing.T) {
	sender, receiver := New(two, 0), New(two, 3)
	msg := &Message{Context: 7, Dst: 1, Total: 100}
	var out Actions
	sender.Send(msg, &out)
	if got := transmits(out); !slices.Equal(got, []proto.Proc{1}) || len(out) != 1 || msg.Seq != 1 {
		t.Fatalf("Send: %+v, number %d", out, msg.Seq)
	}
	if n, bytes := sender.Retained(); n != 1 || bytes != 100 || sender.Idle() {
		t.Fatalf("retained %d messages of %d bytes", n, bytes)
	}

	// The sibling's copy reaches the other replica, which acknowledges here.
	if v := receiver.Arrive(2, 7, 1, false); v != Accept {
		t.Fatal(v)
	}
	if receiver.AcksOwed() != 1 || receiver.Idle() {
		t.Fatalf("owes %d acknowledgements", receiver.AcksOwed())
	}
	out = out[:0]
	receiver.FlushAcks(&out)
	if want := (Action{Kind: Acknowledge, To: 0, Context: 7, Seq: 1}); len(out) != 1 || out[0] != want {
		t.Fatalf("FlushAcks: %+v", out)
	}
	if !receiver.Idle() {
		t.Fatal("receiver isn't idle")
	}

	out = out[:0]
	sender.Acked(3, 7, 1, false, &out)
	if got := releases(out); len(got) != 1 || got[0] != msg || !sender.Idle() {
		t.Fatalf("Acked: %+v", out)
	}
}

func TestDegreeOne(t *testing.T) {
	l := Layout{Ranks: 2, Degree: 1}
	sender, receiver := New(l, 0), New(l, 1)
	msg := &Message{Dst: 1}
	var out Actions
	sender.Send(msg, &out)
	if want := (Actions{{Kind: Transmit, To: 1, Message: msg}, {Kind: Release, Message: msg}}); !slices.Equal(out, want) {
		t.Fatalf("Send: %+v", out)
	}
	if v := receiver.Arrive(0, 0, 1, false); v != Accept || receiver.AcksOwed() != 0 || !receiver.Idle() {
		t.Fatalf("%v, owes %d", v, receiver.AcksOwed())
	}
	sender.Dead(1, &out)
	if !sender.Lost(1) || sender.Source(1) != proto.NoProc {
		t.Fatal("the only replica is dead, but the rank isn't lost")
	}
}
