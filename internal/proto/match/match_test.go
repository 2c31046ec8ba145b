package match

import (
	"testing"

	"banyan/internal/proto"
)

// wantMatch checks the outcome of a Post or an Arrive.
func wantMatch(t *testing.T, want uint32) func(token uint32, matched bool) {
	return func(token uint32, matched bool) {
		t.Helper()
		if !matched || token != want {
			t.Errorf("got %d, %v; want %d", token, matched, want)
		}
	}
}

func wantNone(t *testing.T) func(token uint32, matched bool) {
	return func(token uint32, matched bool) {
		t.Helper()
		if matched {
			t.Errorf("matched %d; want none", token)
		}
	}
}

func TestReceiveTakesEarliestMessage(t *testing.T) {
	q := New()
	wantNone(t)(q.Arrive(Envelope{1, 0, 5}, 10))
	wantNone(t)(q.Arrive(Envelope{1, 2, 5}, 11))
	wantNone(t)(q.Arrive(Envelope{1, 2, 6}, 12))
	wantNone(t)(q.Arrive(Envelope{2, 2, 5}, 13))

	wantMatch(t, 11)(q.Probe(Envelope{1, 2, proto.AnyTag}))
	wantMatch(t, 12)(q.Post(Envelope{1, proto.AnyRank, 6}, 1))
	wantMatch(t, 10)(q.Take(Envelope{1, proto.AnyRank, proto.AnyTag}))
	wantMatch(t, 11)(q.Post(Envelope{1, 2, proto.AnyTag}, 2))
	wantNone(t)(q.Probe(Envelope{1, proto.AnyRank, proto.AnyTag}))
	wantMatch(t, 13)(q.Post(Envelope{2, 2, 5}, 3))
}

func TestMessageGoesToEarliestReceive(t *testing.T) {
	q := New()
	wantNone(t)(q.Post(Envelope{1, 3, 5}, 1))
	wantNone(t)(q.Post(Envelope{1, proto.AnyRank, 5}, 2))
	wantNone(t)(q.Post(Envelope{1, 3, proto.AnyTag}, 3))
	wantNone(t)(q.Post(Envelope{1, proto.AnyRank, proto.AnyTag}, 4))

	wantMatch(t, 3)(q.Arrive(Envelope{1, 3, 6}, 10))
	wantMatch(t, 1)(q.Arrive(Envelope{1, 3, 5}, 11))
	wantMatch(t, 2)(q.Arrive(Envelope{1, 3, 5}, 12))
	wantNone(t)(q.Arrive(Envelope{2, 3, 5}, 13))
	wantMatch(t, 4)(q.Arrive(Envelope{1, 9, 9}, 14))
	if posted, unexpected := q.Len(); posted != 0 || unexpected != 1 {
		t.Errorf("%d posted, %d unexpected", posted, unexpected)
	}
}

func TestDropContext(t *testing.T) {
	q := New()
	q.Post(Envelope{1, 0, 9}, 1)
	q.Post(Envelope{1, proto.AnyRank, 9}, 2)
	q.Arrive(Envelope{1, 0, 5}, 10)
	q.Arrive(Envelope{1, 1, 5}, 11)
	q.Arrive(Envelope{2, 1, 5}, 12)
	var dropped []uint32
	q.DropContext(1, func(token uint32) { dropped = append(dropped, token) })
	if len(dropped) != 2 || dropped[0] != 10 || dropped[1] != 11 {
		t.Errorf("dropped %v", dropped)
	}
	q.DropContext(1, func(uint32) { t.Error("dropped twice") })
	if posted, unexpected := q.Len(); posted != 0 || unexpected != 1 {
		t.Errorf("%d posted, %d unexpected", posted, unexpected)
	}
	wantNone(t)(q.Arrive(Envelope{1, 0, 9}, 13))
	wantMatch(t, 12)(q.Take(Envelope{2, 1, 5}))
}

// TestEachUnexpected: messages that are kept again in the order in which they are shown are
// received in the same order.
func TestEachUnexpected(t *testing.T) {
	a := New()
	envelopes := []Envelope{}
	for i := range 30 {
		e := Envelope{Context: uint64(i % 3), Src: proto.Rank(i % 4), Tag: int32(i % 2)}
		envelopes = append(envelopes, e)
		a.Keep(e, uint32(i))
	}
	a.Take(envelopes[4])
	a.Post(Envelope{Context: 9, Src: 1}, 77) // isn't shown
	b := New()
	a.EachUnexpected(func(i uint32) { b.Keep(envelopes[i], i) })
	for context := range uint64(3) {
		for {
			e := Envelope{Context: context, Src: proto.AnyRank, Tag: proto.AnyTag}
			x, found := a.Take(e)
			y, also := b.Take(e)
			if x != y || found != also {
				t.Fatalf("context %d: %d and %d are first", context, x, y)
			}
			if !found {
				break
			}
		}
	}
	if _, n := b.Len(); n != 0 {
		t.Errorf("%d are left", n)
	}
}

// A queued receive tells what it takes messages of: alone, beside another, and after that.
func TestSource(t *testing.T) {
	q := New()
	first, _ := q.Post(Envelope{Context: 2, Src: 7, Tag: 1}, 1)
	if got := q.Source(first); got != 7 {
		t.Fatal(got)
	}
	second, _ := q.Post(Envelope{Context: 2, Src: proto.AnyRank, Tag: 1}, 2)
	if a, b := q.Source(first), q.Source(second); a != 7 || b != proto.AnyRank {
		t.Fatal(a, b)
	}
}
