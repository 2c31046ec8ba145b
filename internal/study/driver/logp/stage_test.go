package logp

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/proto"
)

func TestStage(t *testing.T) {
	var s stage[string]
	if s.next() != proto.Never || s.ending(3) != 0 {
		t.Error("something ends in an empty stage")
	}
	s.push(3, "a")
	s.push(3, "b")
	s.push(5, "c")
	if s.next() != 3 || s.ending(4) != 0 || s.ending(3) != 2 || s.entries.Pop() != "a" || s.entries.Pop() != "b" {
		t.Error("two end at 3")
	}
	if s.next() != 5 || s.ending(5) != 1 || s.entries.Pop() != "c" || s.next() != proto.Never {
		t.Error("one ends at 5")
	}
}

// TestAgenda: the added entries come out in order, each once, and leave the agenda empty.
func TestAgenda(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const size = 10_000
		a := newAgenda(size)
		for range 2 {
			added := rapid.SliceOf(rapid.Int32Range(0, size-1)).Draw(t, "added")
			for _, p := range added {
				a.add(p)
			}
			var got []int32
			for next := 0; next >= 0; {
				var some []int32
				some, next = a.take(next, make([]int32, 0, 100))
				got = append(got, some...)
			}
			slices.Sort(added)
			if want := slices.Compact(added); !slices.Equal(got, want) {
				t.Fatalf("drained %v, want %v", got, want)
			}
		}
	})
}

func TestSet(t *testing.T) {
	s := NewSet(100)
	for _, p := range []int{0, 63, 64, 99, 99} {
		s.Add(p)
	}
	if s.Len() != 4 || !s.Has(99) || s.Has(98) || s.Has(5000) || Set(nil).Has(0) {
		t.Errorf("%v", s)
	}
}
