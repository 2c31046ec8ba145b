package logp

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/proto"
)

// TestEvents: they come out by time and stage, and as they were pushed.
func TestEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h events
		var want []event
		for range rapid.IntRange(0, 200).Draw(t, "events") {
			h.push(proto.Time(rapid.IntRange(0, 9).Draw(t, "time")), rapid.IntRange(crashes, maySend).Draw(t, "stage"), 0)
		}
		want = slices.Clone(h.heap)
		slices.SortFunc(want, func(a, b event) int {
			if a.time != b.time {
				return int(a.time - b.time)
			}
			if a.stage() != b.stage() {
				return a.stage() - b.stage()
			}
			return int(a.order) - int(b.order)
		})
		for _, w := range want {
			if h.next() != w.time {
				t.Fatalf("next is at %d, want %d", h.next(), w.time)
			}
			if got := h.pop(); got != w {
				t.Fatalf("%+v, want %+v", got, w)
			}
		}
		if h.next() != proto.Never {
			t.Error("there is more")
		}
	})
}
