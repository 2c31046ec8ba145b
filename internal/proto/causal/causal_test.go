package causal

import (
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/proto"
)

// Rank 0 of a replica layer that is behind gets two messages from rank 1's substitute. The
// second depends on what rank 0 sends after it has received the first.
func TestMessageFromTheFuture(t *testing.T) {
	ahead, substitute, behind := New(0, 2), New(1, 2), New(0, 2)
	first, reply, second := make([]byte, 8), make([]byte, 8), make([]byte, 8)
	substitute.Stamp(first)
	ahead.Received(first)
	ahead.Stamp(reply)
	substitute.Received(reply)
	substitute.Stamp(second)

	if !behind.Ready(first) {
		t.Error("the first message isn't ready, although nothing precedes it")
	}
	if behind.Ready(second) {
		t.Error("the second message is ready before its cause")
	}
	behind.Received(first)
	behind.Stamp(reply)
	if !behind.Ready(second) {
		t.Error("the second message isn't ready after its cause")
	}
}

// Within one layer, whatever the order of deliveries, every message is ready when it arrives,
// and stamps grow along channels.
func TestReadyInOneWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "ranks")
		clocks := make([]*Clock, n)
		for i := range clocks {
			clocks[i] = New(proto.Rank(i), n)
		}
		type message struct {
			from  int
			stamp []byte
		}
		inbox := make([][]message, n)
		last := map[[2]int]uint32{}
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			from, to := rapid.IntRange(0, n-1).Draw(t, "from"), rapid.IntRange(0, n-1).Draw(t, "to")
			if len(inbox[from]) > 0 && rapid.Bool().Draw(t, "receive") {
				i := rapid.IntRange(0, len(inbox[from])-1).Draw(t, "which")
				m := inbox[from][i]
				inbox[from] = append(inbox[from][:i], inbox[from][i+1:]...)
				clocks[from].Received(m.stamp)
				continue
			}
			m := message{from, make([]byte, clocks[from].StampSize())}
			clocks[from].Stamp(m.stamp)
			if !clocks[to].Ready(m.stamp) {
				t.Fatalf("a message from %d isn't ready at %d", from, to)
			}
			now := uint32(m.stamp[4*to]) // fewer than 256 sends
			if now < last[[2]int{from, to}] {
				t.Fatalf("stamps from %d to %d shrink", from, to)
			}
			last[[2]int{from, to}] = now
			inbox[to] = append(inbox[to], m)
		}
	})
}

func TestNoAllocations(t *testing.T) {
	c := New(0, 64)
	b := make([]byte, c.StampSize())
	if n := testing.AllocsPerRun(100, func() { c.Stamp(b); c.Received(b); c.Ready(b) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
