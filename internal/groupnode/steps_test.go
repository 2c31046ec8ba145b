package groupnode

import (
	"log/slog"
	"testing"
	"time"

	"banyan/internal/proto/membership"
	"banyan/internal/runtime/wire"
	"banyan/internal/runtime/wire/views"
)

// A message that builds on a view which isn't here yet waits for it. One of a view that is long
// over is dropped.
func TestHeldMessages(t *testing.T) {
	da, db := newViewLog(), newViewLog()
	a := testJoin(t, testConfig("a", da))
	b := testJoin(t, testConfig("b", db, a.Card().Address))
	da.await(t, 2)
	v := db.await(t, 2)
	chain := []*membership.View{v}
	for i := range uint32(3) {
		chain = append(chain, chain[i].Next(nil, nil, membership.Metadata{Member: a.Number(), Version: i + 1, Bytes: "x"}))
	}
	// What a would propose after its view i.
	proposal := func(i int) []byte {
		x := &membership.Message{Kind: membership.Propose, From: a.Number(), Number: chain[i+1].Number,
			Ballot: membership.Ballot{Attempt: 1}, Base: chain[i], View: chain[i+1]}
		return appendEnvelope(nil, views.AppendSteps(nil, x), nil)
	}
	feed := func(message []byte) (held int) {
		done := make(chan int, 1)
		b.post(func() {
			b.membershipMessage(b.streams[a.Number()], message)
			b.settle()
			done <- len(b.held)
		})
		return <-done
	}
	// The stream of a may still be under way.
	for limit := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		there := make(chan bool, 1)
		b.post(func() { there <- b.streams[a.Number()] != nil })
		if <-there {
			break
		}
		if time.Now().After(limit) {
			t.Fatal("a doesn't send to b")
		}
	}
	if held := feed(proposal(2)); held != 1 {
		t.Fatalf("%d messages are held", held)
	}
	if held := feed(proposal(1)); held != 0 {
		t.Errorf("%d messages are held after the view has come", held)
	}
	if last := db.last(); last.Number != v.Number+2 || last.MetadataOf(a.Number()).Version != 2 {
		t.Errorf("view %d, want %d", last.Number, v.Number+2)
	}
	x := &membership.Message{Kind: membership.Propose, From: a.Number(), Number: 2, Base: membership.FirstView(2), View: membership.FirstView(2).Next(nil, nil)}
	if held := feed(appendEnvelope(nil, views.AppendSteps(nil, x), nil)); held != 0 || b.Err() != nil {
		t.Errorf("%d messages are held, %v", held, b.Err())
	}
}

// A message that is longer than a frame comes whole, and one that is too long doesn't.
func TestLongMessages(t *testing.T) {
	m := &Member{log: slog.New(slog.DiscardHandler), cards: map[membership.Member]Card{}}
	s := &stream{member: m}
	part := make([]byte, wire.MaxPayload)
	for range 3 {
		if _, ok := s.whole(&wire.Header{Aux: unfinished}, part); ok {
			t.Fatal("it isn't whole yet")
		}
	}
	if b, ok := s.whole(&wire.Header{}, []byte("end")); !ok || len(b) != 3*len(part)+3 {
		t.Errorf("%d bytes, %v", len(b), ok)
	}
	if b, ok := s.whole(&wire.Header{}, []byte("next")); !ok || string(b) != "next" {
		t.Errorf("%q, %v", b, ok)
	}
	for size := 0; size <= maxMessage; size += len(part) {
		s.whole(&wire.Header{Aux: unfinished}, part)
	}
	if len(s.message) > len(part) {
		t.Errorf("%d bytes are kept", len(s.message))
	}
}
