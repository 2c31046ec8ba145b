package queue

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestModel compares a queue with a slice.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q Queue[int]
		var model []int
		for i, push := range rapid.SliceOfN(rapid.Bool(), 0, 500).Draw(t, "pushes") {
			if push || len(model) == 0 {
				q.Push(i)
				model = append(model, i)
			} else if got := q.Pop(); got != model[0] {
				t.Fatalf("popped %d, want %d", got, model[0])
			} else {
				model = model[1:]
			}
			if q.Len() != len(model) {
				t.Fatalf("%d elements, want %d", q.Len(), len(model))
			}
			if len(model) > 0 && (*q.Front() != model[0] || *q.At(len(model) - 1) != model[len(model)-1]) {
				t.Fatalf("from %d to %d, want %v", *q.Front(), *q.At(len(model) - 1), model)
			}
		}
		count := rapid.IntRange(0, len(model)).Draw(t, "count")
		parts := q.First(count)
		if got := slices.Concat(parts[0], parts[1]); !slices.Equal(got, model[:count]) {
			t.Fatalf("the first %d are %v, want %v", count, got, model[:count])
		}
		q.Drop(count)
		if q.Len() != len(model)-count || q.Len() > 0 && *q.Front() != model[count] {
			t.Fatalf("%d elements after dropping %d of %v", q.Len(), count, model)
		}
		q.Clear()
		q.Push(-1)
		if q.Len() != 1 || *q.Front() != -1 {
			t.Fatalf("%d elements after Clear and Push", q.Len())
		}
	})
}

// TestSteadyFlow: a queue that doesn't grow allocates nothing.
func TestSteadyFlow(t *testing.T) {
	var q Queue[int]
	q.Push(0)
	if n := testing.AllocsPerRun(100, func() {
		for range 5 {
			q.Push(1)
		}
		for range 5 {
			q.Pop()
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
