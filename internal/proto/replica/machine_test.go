package replica

import (
	"slices"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// Two ranks, two replicas: processes 0 and 2 are rank 0, 1 and 3 are rank 1.
var two = layout.Uniform(2, 2)

// Two ranks, three replicas.
var three = layout.Uniform(2, 3)

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
	sender, receiver := New(Config{Layout: two, Self: 0}), New(Config{Layout: two, Self: 3})
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
	l := layout.Uniform(2, 1)
	sender, receiver := New(Config{Layout: l, Self: 0}), New(Config{Layout: l, Self: 1})
	msg := &Message{Dst: 1}
	var out Actions
	sender.Send(msg, &out)
	if want := (Actions{{Kind: Transmit, To: 1, Message: msg}, {Kind: Release, Message: msg}}); !slices.Equal(out, want) {
		t.Fatalf("Send: %+v", out)
	}
	if v := receiver.Arrive(0, 0, 1, false); v != Accept || receiver.AcksOwed() != 0 || !receiver.Idle() {
		t.Fatalf("%v, owes %d", v, receiver.AcksOwed())
	}
	sender.Dead(1, 0, &out)
	if !sender.Lost(1) || sender.Source(1) != proto.NoProc {
		t.Fatal("the only replica is dead, but the rank isn't lost")
	}
}

// pair sends a rendezvous between replicas 0 of a job of three replicas, as far as its arrival
// as an offer.
func pair(t *testing.T) (sender, receiver *Machine, msg *Message) {
	t.Helper()
	l := layout.Uniform(2, 3)
	sender, receiver = New(Config{Layout: l, Self: 0}), New(Config{Layout: l, Self: 1})
	msg = &Message{Context: 7, Dst: 1, Rendezvous: true}
	var out Actions
	sender.Send(msg, &out)
	if got := transmits(out); !slices.Equal(got, []proto.Proc{1}) || len(out) != 1 {
		t.Fatalf("Send: %+v", out)
	}
	if v := receiver.Arrive(0, 7, 1, true); v != Accept {
		t.Fatal(v)
	}
	return sender, receiver, msg
}

func TestRendezvousWithoutFailures(t *testing.T) {
	sender, receiver, msg := pair(t)
	if receiver.AcksOwed() != 0 {
		t.Error("an offer is acknowledged before it is complete")
	}
	var out Actions
	receiver.Completed(7, 0, 1)
	receiver.FlushAcks(&out)
	want := Actions{
		{Kind: Acknowledge, To: 2, Context: 7, Seq: 1, Single: true},
		{Kind: Acknowledge, To: 4, Context: 7, Seq: 1, Single: true},
	}
	if !slices.Equal(out, want) {
		t.Fatalf("FlushAcks: %+v; want %+v", out, want)
	}

	// Eager acknowledgements don't cover the rendezvous.
	out = out[:0]
	sender.Delivered(msg, 1, &out)
	sender.Acked(3, 7, 1, false, &out)
	sender.Acked(3, 7, 1, true, &out)
	if len(out) != 0 {
		t.Fatalf("released too early: %+v", out)
	}
	sender.Acked(5, 7, 1, true, &out)
	if got := releases(out); len(got) != 1 || got[0] != msg || !sender.Idle() {
		t.Fatalf("Acked: %+v", out)
	}
	sender.Delivered(msg, 1, &out)
	if len(out) != 1 {
		t.Fatalf("Delivered after the release: %+v", out)
	}
}

func TestOfferedAgain(t *testing.T) {
	_, receiver, _ := pair(t)
	offer := func(from proto.Proc, want Verdict) {
		t.Helper()
		if v := receiver.Arrive(from, 7, 1, true); v != want {
			t.Fatalf("offer of %v: %v; want %v", from, v, want)
		}
	}
	var out Actions
	offer(2, Spare)
	offer(2, Spare) // a repeated offer changes nothing
	offer(0, Duplicate)
	receiver.Dead(0, 0, &out)
	if want := (Action{Kind: Redirect, To: 2, Context: 7, Seq: 1}); len(out) != 1 || out[0] != want {
		t.Fatalf("Dead: %+v", out)
	}
	out = out[:0]
	receiver.Dead(2, 0, &out) // no other process has offered it
	if len(out) != 0 {
		t.Fatalf("Dead: %+v", out)
	}
	offer(2, Excluded)
	offer(4, Reoffer)

	// Once complete, it is acknowledged to every live process except the one it came from, and
	// again to every process that offers it.
	receiver.Completed(7, 0, 1)
	receiver.Completed(7, 0, 1)
	receiver.FlushAcks(&out)
	if len(out) != 0 {
		t.Fatalf("FlushAcks: %+v", out)
	}
	out = out[:0]
	if v := receiver.Arrive(4, 7, 1, true); v != Duplicate {
		t.Fatal(v)
	}
	receiver.FlushAcks(&out)
	if want := (Action{Kind: Acknowledge, To: 4, Context: 7, Seq: 1, Single: true}); len(out) != 1 || out[0] != want {
		t.Fatalf("FlushAcks: %+v", out)
	}
}

func TestVerdicts(t *testing.T) {
	m := New(Config{Layout: two, Self: 1})
	var out Actions
	m.Dead(2, 0, &out)
	for _, c := range []struct {
		from proto.Proc
		seq  uint64
		want Verdict
	}{
		{0, 2, Invalid}, // a gap
		{0, 0, Invalid}, // numbers begin at 1
		{3, 1, Invalid}, // from its own rank
		{4, 1, Invalid}, // from no process of the job
		{proto.NoProc, 1, Invalid},
		{2, 1, Excluded},
		{0, 1, Accept},
		{0, 1, Duplicate},
		{0, 2, Accept},
	} {
		if v := m.Arrive(c.from, 0, c.seq, false); v != c.want {
			t.Errorf("number %d of %v: %v; want %v", c.seq, c.from, v, c.want)
		}
	}
	if m.AcksOwed() != 0 {
		t.Errorf("owes %d acknowledgements to the dead", m.AcksOwed())
	}
}

// TestSubstitution: the substitute resends what isn't acknowledged, once, in the order of
// channels and numbers.
func TestSubstitution(t *testing.T) {
	m := New(Config{Layout: two, Self: 0}) // its sibling is 2, which sends to 3
	var out Actions
	for _, msg := range []*Message{{Context: 1, Dst: 1, Total: 10}, {Context: 1, Dst: 1, Rendezvous: true}, {Context: 0, Dst: 1}, {Context: 1, Dst: 1}} {
		m.Send(msg, &out)
	}
	m.Acked(3, 1, 1, false, &out)
	m.Acked(3, 1, 4, false, &out) // early, for the next
	out = out[:0]
	m.Dead(2, 0, &out)
	m.Dead(2, 0, &out)
	type sent struct{ context, seq uint64 }
	var got []sent
	for _, a := range out {
		if a.Kind == Transmit {
			if a.To != 3 {
				t.Errorf("resends to %v", a.To)
			}
			got = append(got, sent{a.Message.Context, a.Message.Seq})
		}
	}
	if want := []sent{{1, 2}, {0, 1}}; !slices.Equal(got, want) {
		t.Fatalf("resent %v; want %v", got, want)
	}

	// From now on this process sends to both, but skips messages that were acknowledged early.
	out = out[:0]
	m.Send(&Message{Context: 1, Dst: 1}, &out)
	m.Send(&Message{Context: 1, Dst: 1}, &out)
	if got := transmits(out); !slices.Equal(got, []proto.Proc{1, 1, 3}) || len(releases(out)) != 2 {
		t.Fatalf("Send: %+v", out)
	}
}

func TestLeftAndLost(t *testing.T) {
	m := New(Config{Layout: two, Self: 0})
	var out Actions
	m.Send(&Message{Dst: 1}, &out)
	out = out[:0]
	m.Left(3, &out)
	if len(releases(out)) != 1 || m.Alive(3) || m.Source(1) != 1 {
		t.Fatalf("Left: %+v", out)
	}
	m.Dead(1, 0, &out)
	if m.Lost(1) || m.Source(1) != proto.NoProc {
		t.Error("rank 1 has left in order, but counts as lost")
	}
	m.Dead(0, 0, &out)
	if !m.Alive(0) {
		t.Error("a process holds itself for dead")
	}
}

// TestNoAllocationOnceWarm: a send, its acknowledgement, an arrival and a flush.
func TestNoAllocationOnceWarm(t *testing.T) {
	m := New(Config{Layout: two, Self: 0})
	round := exchange(m)
	round()
	if n := testing.AllocsPerRun(1000, round); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// exchange returns a step that sends a message to rank 1 and receives one.
func exchange(m *Machine) func() {
	var out Actions
	var msg Message
	return func() {
		out = out[:0]
		msg = Message{Context: 1, Dst: 1, Total: 8}
		m.Send(&msg, &out)
		m.Arrive(1, 1, msg.Seq, false)
		m.FlushAcks(&out)
		m.Acked(3, 1, msg.Seq, false, &out)
		if len(out) != 3 {
			panic("replica: an exchange takes a transmission, an acknowledgement and a release")
		}
	}
}

func BenchmarkExchange(b *testing.B) {
	round := exchange(New(Config{Layout: two, Self: 0}))
	b.ReportAllocs()
	for b.Loop() {
		round()
	}
}

// BenchmarkLaggingReplica: one replica acknowledges message by message while another hasn't
// acknowledged 100,000.
func BenchmarkLaggingReplica(b *testing.B) {
	m := New(Config{Layout: layout.Uniform(2, 3), Self: 0})
	var out Actions
	send := func() uint64 {
		msg := &Message{Dst: 1}
		m.Send(msg, &out)
		return msg.Seq
	}
	for range 100_000 {
		send()
	}
	for b.Loop() {
		out = out[:0]
		m.Acked(3, 0, send(), false, &out)
	}
}

// TestBehind: a receiver's acknowledgement shows that a sibling alone has sent a message. One
// message for each is allowed.
func TestBehind(t *testing.T) {
	for _, rendezvous := range []bool{false, true} {
		sender, receiver := New(Config{Layout: two, Self: 0}), New(Config{Layout: two, Self: 3})
		var out Actions
		ahead := func() bool {
			dst, behind := sender.Behind()
			return behind && dst == 1
		}
		for seq := range uint64(2) {
			if ahead() {
				t.Fatalf("behind, with %d sent on both sides", seq)
			}
			receiver.Arrive(2, 7, seq+1, rendezvous)
			if rendezvous {
				receiver.Completed(7, 0, seq+1)
			}
			out = out[:0]
			receiver.FlushAcks(&out)
			for _, a := range out {
				sender.Acked(3, a.Context, a.Seq, a.Single, &out)
			}
			if !ahead() {
				t.Fatalf("rendezvous %v: not behind, with %d sent by the sibling alone", rendezvous, seq+1)
			}
			sender.Send(&Message{Context: 7, Dst: 1, Rendezvous: rendezvous}, &out)
		}
		if ahead() {
			t.Fatal("behind at the end")
		}
	}
}

// Acknowledgements owed to one process go in one frame, even if channels to others came
// between.
func TestAcknowledgementsShareFrames(t *testing.T) {
	receiver := New(Config{Layout: three, Self: 1})
	for _, context := range []uint64{7, 9} {
		if v := receiver.Arrive(0, context, 1, false); v != Accept {
			t.Fatal(v)
		}
	}
	var out Actions
	receiver.FlushAcks(&out)
	want := Actions{
		{Kind: Acknowledge, To: 2, Context: 7, Seq: 1}, {Kind: Acknowledge, To: 2, Context: 9, Seq: 1},
		{Kind: Acknowledge, To: 4, Context: 7, Seq: 1}, {Kind: Acknowledge, To: 4, Context: 9, Seq: 1},
	}
	if !slices.Equal(out, want) {
		t.Fatalf("FlushAcks: %+v", out)
	}
}
