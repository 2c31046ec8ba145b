package match

import (
	"slices"
	"strconv"
	"testing"

	"banyan/internal/proto"

	"pgregory.net/rapid"
)

// naive is MPI matching written without regard for speed: two lists, searched from the front.
type naive struct{ posted, unexpected []item }

type item struct {
	envelope Envelope
	token    uint32
	ticket   uint32 // of a posted receive
}

// Arrive is the outcome of a message's arrival.
func (q *Queues) Arrive(e Envelope, token uint32) (posted uint32, matched bool) {
	awaited, ok := q.Awaited(e)
	if posted, matched = q.Claim(e); !matched {
		q.Keep(e, token)
	}
	if ok != matched || ok && awaited != posted {
		panic("Awaited finds another receive than Claim")
	}
	return posted, matched
}

func fits(message, receive Envelope) bool {
	return message.Context == receive.Context &&
		(receive.Src == proto.AnyRank || receive.Src == message.Src) &&
		(receive.Tag == proto.AnyTag || receive.Tag == message.Tag)
}

// take removes the first item that ok accepts.
func take(items *[]item, ok func(item) bool) (uint32, bool) {
	i := slices.IndexFunc(*items, ok)
	if i < 0 {
		return 0, false
	}
	token := (*items)[i].token
	*items = slices.Delete(*items, i, i+1)
	return token, true
}

func (n *naive) receive(e Envelope) (uint32, bool) {
	return take(&n.unexpected, func(m item) bool { return fits(m.envelope, e) })
}

func (n *naive) arrive(e Envelope) (uint32, bool) {
	return take(&n.posted, func(r item) bool { return fits(e, r.envelope) })
}

// TestAgainstNaive compares everything that Queues shows with the naive model.
func TestAgainstNaive(t *testing.T) {
	// Few tags and sources make many matches. There are more contexts than the first slab of
	// lanes holds, so some lanes are reused.
	message := rapid.Custom(func(t *rapid.T) Envelope {
		return Envelope{
			Context: rapid.Uint64Range(0, 6).Draw(t, "context"),
			Src:     proto.Rank(rapid.Int32Range(0, 3).Draw(t, "src")),
			Tag:     rapid.Int32Range(0, 2).Draw(t, "tag"),
		}
	})
	receive := rapid.Custom(func(t *rapid.T) Envelope {
		e := message.Draw(t, "envelope")
		if rapid.Bool().Draw(t, "any source") {
			e.Src = proto.AnyRank
		}
		if rapid.Bool().Draw(t, "any tag") {
			e.Tag = proto.AnyTag
		}
		return e
	})
	rapid.Check(t, func(t *rapid.T) {
		q, model, last := New(), naive{}, uint32(0)
		// With little patience lists come into the index by tag as soon as a tag is searched for.
		q.tags.patience = rapid.SampledFrom([]int{0, 1, 3, defaultPatience}).Draw(t, "patience")
		same := func(what string, token uint32, ok bool, wantToken uint32, want bool) {
			if token != wantToken || ok != want {
				t.Fatalf("%s: %d, %v; want %d, %v", what, token, ok, wantToken, want)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"post": func(t *rapid.T) {
				e := receive.Draw(t, "receive")
				last++
				token, ok := q.Post(e, last)
				wantToken, want := model.receive(e)
				if !want {
					model.posted = append(model.posted, item{e, last, token})
					wantToken = token
				}
				same("Post", token, ok, wantToken, want)
			},
			"arrive": func(t *rapid.T) {
				e := message.Draw(t, "message")
				last++
				token, ok := q.Arrive(e, last)
				wantToken, want := model.arrive(e)
				if !want {
					model.unexpected = append(model.unexpected, item{envelope: e, token: last})
				}
				same("Arrive", token, ok, wantToken, want)
			},
			"probe": func(t *rapid.T) {
				e := receive.Draw(t, "receive")
				token, ok := q.Probe(e)
				copied := naive{unexpected: slices.Clone(model.unexpected)}
				wantToken, want := copied.receive(e)
				same("Probe", token, ok, wantToken, want)
			},
			"take": func(t *rapid.T) {
				e := receive.Draw(t, "receive")
				token, ok := q.Take(e)
				wantToken, want := model.receive(e)
				same("Take", token, ok, wantToken, want)
			},
			"cancel": func(t *rapid.T) {
				if len(model.posted) == 0 {
					t.Skip("nothing is posted")
				}
				i := rapid.IntRange(0, len(model.posted)-1).Draw(t, "which")
				q.Cancel(model.posted[i].ticket)
				model.posted = slices.Delete(model.posted, i, i+1)
			},
			"drop context": func(t *rapid.T) {
				context := rapid.Uint64Range(0, 6).Draw(t, "context")
				var dropped, want []uint32
				q.DropContext(context, func(token uint32) { dropped = append(dropped, token) })
				for _, m := range model.unexpected {
					if m.envelope.Context == context {
						want = append(want, m.token)
					}
				}
				in := func(i item) bool { return i.envelope.Context == context }
				model.unexpected = slices.DeleteFunc(model.unexpected, in)
				model.posted = slices.DeleteFunc(model.posted, in)
				if !slices.Equal(dropped, want) {
					t.Fatalf("DropContext: %v; want %v", dropped, want)
				}
			},
			"drop some": func(t *rapid.T) {
				n := rapid.Uint32Range(2, 5).Draw(t, "one of so many")
				q.DropUnexpected(func(token uint32) bool { return token%n == 0 })
				model.unexpected = slices.DeleteFunc(model.unexpected, func(i item) bool { return i.token%n == 0 })
			},
			"": func(t *rapid.T) {
				if p, u := q.Len(); p != len(model.posted) || u != len(model.unexpected) {
					t.Fatalf("Len: %d, %d; want %d, %d", p, u, len(model.posted), len(model.unexpected))
				}
			},
		})
	})
}

// TestManyTags: neither thousands of posted receives nor thousands of unexpected messages of other
// tags make a search longer, in whatever order they are found, and what is left of them is empty.
func TestManyTags(t *testing.T) {
	const n = 4000
	for name, pick := range map[string]func(i int32) int32{
		"in order":  func(i int32) int32 { return i },
		"backwards": func(i int32) int32 { return n - 1 - i },
		"mixed":     func(i int32) int32 { return i * 1237 % n },
	} {
		for _, src := range []proto.Rank{3, proto.AnyRank} {
			q := New()
			for i := range int32(n) {
				q.Post(Envelope{1, src, i}, uint32(i))
			}
			for i := range int32(n) {
				wantMatch(t, uint32(pick(i)))(q.Arrive(Envelope{1, 3, pick(i)}, 0))
			}
			for i := range int32(n) {
				q.Arrive(Envelope{1, 3, i}, uint32(i))
			}
			for i := range int32(n) {
				wantMatch(t, uint32(pick(i)))(q.Post(Envelope{1, src, pick(i)}, 0))
			}
			if q.tags.passed > 4*defaultPatience {
				t.Errorf("%s, source %d: %d messages passed over %d others", name, src, 2*n, q.tags.passed)
			}
			posted, unexpected := q.Len()
			if posted+unexpected+q.tags.used != 0 {
				t.Errorf("%s, source %d: %d posted, %d unexpected, %d bins are left", name, src, posted, unexpected, q.tags.used)
			}
		}
	}
}

// TestContextsComeAndGo: a program that makes communicator after communicator without dropping
// one doesn't grow without limit.
func TestContextsComeAndGo(t *testing.T) {
	q := New()
	for context := range uint64(10_000) {
		for src := range proto.Rank(4) {
			q.Arrive(Envelope{context, src, 1}, 7)
			wantMatch(t, 7)(q.Post(Envelope{context, src, 1}, 8))
		}
	}
	if n := len(q.lanes.slab); n > 64 {
		t.Errorf("%d lanes for one context of 4 sources at a time", n)
	}
}

// TestNoAllocationOnceWarm: neither matched traffic nor a backlog allocates, in slots that have
// been used before.
func TestNoAllocationOnceWarm(t *testing.T) {
	q := New()
	rounds := func() {
		for src := range proto.Rank(8) {
			for tag := range int32(8) {
				q.Arrive(Envelope{1, src, tag}, 1)
				q.Post(Envelope{2, src, tag}, 2)
			}
		}
		for tag := range int32(8) {
			for src := range proto.Rank(8) {
				q.Post(Envelope{1, proto.AnyRank, tag}, 3)
				q.Arrive(Envelope{2, src, tag}, 4)
			}
		}
	}
	rounds() // and by tag
	if q.tags.used != 0 || len(q.tags.heads) == 0 {
		t.Errorf("%d bins are left, of %d chains", q.tags.used, len(q.tags.heads))
	}
	if n := testing.AllocsPerRun(100, rounds); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if posted, unexpected := q.Len(); posted != 0 || unexpected != 0 {
		t.Errorf("%d posted, %d unexpected are left", posted, unexpected)
	}
}

// BenchmarkPair: a message that finds its receive posted.
func BenchmarkPair(b *testing.B) {
	q := New()
	b.ReportAllocs()
	for b.Loop() {
		q.Post(Envelope{1, 3, 5}, 1)
		q.Arrive(Envelope{1, 3, 5}, 2)
	}
}

// BenchmarkTags: a message and a receive beside so many posted receives of other tags.
func BenchmarkTags(b *testing.B) {
	for _, n := range []int{0, 1, 10, 1000, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			q := New()
			for i := range n {
				q.Post(Envelope{1, 3, int32(100 + i)}, 1)
			}
			b.ReportAllocs()
			for b.Loop() {
				q.Post(Envelope{1, 3, 5}, 1)
				q.Arrive(Envelope{1, 3, 5}, 2)
			}
		})
	}
}

// BenchmarkBacklog: 10^6 unexpected messages from 4 sources, then received in order, by source
// or from any source.
func BenchmarkBacklog(b *testing.B) {
	const n = 1_000_000
	for _, any := range []bool{false, true} {
		name := "source"
		if any {
			name = "any"
		}
		b.Run(name, func(b *testing.B) {
			q := New()
			b.ReportAllocs()
			for b.Loop() {
				for i := range uint32(n) {
					q.Arrive(Envelope{1, proto.Rank(i % 4), 5}, i)
				}
				for i := range uint32(n) {
					e := Envelope{1, proto.Rank(i % 4), 5}
					if any {
						e.Src = proto.AnyRank
					}
					if token, ok := q.Post(e, 0); !ok || token != i {
						b.Fatalf("message %d: got %d, %v", i, token, ok)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/message")
		})
	}
}

// BenchmarkDeepPosted: 10,000 receives posted for other sources and tags.
func BenchmarkDeepPosted(b *testing.B) {
	q := New()
	for i := range uint32(10_000) {
		q.Post(Envelope{1, proto.Rank(i), 9}, i)
	}
	b.ReportAllocs()
	for b.Loop() {
		q.Post(Envelope{1, 3, 5}, 1)
		q.Arrive(Envelope{1, 3, 5}, 2)
	}
}
