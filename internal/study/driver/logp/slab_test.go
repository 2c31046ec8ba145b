package logp

import (
	"testing"

	"pgregory.net/rapid"
)

// TestSlab: every list is first in, first out, whatever is done with the others, and the slab
// grows no larger than all lists together.
func TestSlab(t *testing.T) {
	var s slab
	rapid.Check(t, func(t *rapid.T) {
		s.reset()
		lists := [4]list{emptyList, emptyList, emptyList, emptyList}
		var want [len(lists)][]Message
		most, now := 0, 0
		for n := range Message(rapid.IntRange(0, 100).Draw(t, "steps")) {
			i := rapid.IntRange(0, len(lists)-1).Draw(t, "list")
			switch step := rapid.IntRange(0, 9).Draw(t, "step"); {
			case step == 0:
				s.drop(&lists[i])
				now -= len(want[i])
				want[i] = nil
			case step < 4 && len(want[i]) > 0:
				if got := s.pop(&lists[i]); got != want[i][0] {
					t.Fatalf("list %d: %d, want %d", i, got, want[i][0])
				}
				want[i] = want[i][1:]
				now--
			default:
				s.push(&lists[i], n)
				want[i] = append(want[i], n)
				now++
				most = max(most, now)
			}
			if lists[i].empty() != (len(want[i]) == 0) {
				t.Fatalf("list %d is empty: %v", i, lists[i].empty())
			}
		}
		if len(s.slots) != most {
			t.Fatalf("%d slots, %d would do", len(s.slots), most)
		}
	})
}
