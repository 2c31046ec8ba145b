package channel

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/proto"
)

// TestModel compares a table with a map.
func TestModel(t *testing.T) {
	const ranks = 3
	rapid.Check(t, func(t *rapid.T) {
		table, model := New[int](ranks), map[key]*int{}
		var order []*int
		for range rapid.IntRange(0, 50).Draw(t, "look-ups") {
			context := rapid.Uint64Range(0, 4).Draw(t, "context")
			peer := proto.Rank(rapid.IntRange(0, ranks-1).Draw(t, "peer"))
			got, want := table.Find(context, peer), model[key{context, peer}]
			if got != want {
				t.Fatalf("context %d, %v: found %p, want %p", context, peer, got, want)
			}
			if want == nil && rapid.Bool().Draw(t, "add") {
				c := table.Add(context, peer, new(int))
				model[key{context, peer}] = c
				order = append(order, c)
			}
		}
		if !slices.Equal(table.All(), order) {
			t.Fatal("not in the order in which they were added")
		}
	})
}
