package process

import (
	"slices"
	"testing"

	"banyan/internal/proto"
)

func TestContextsAreForgotten(t *testing.T) {
	s := newContexts()
	for id := range uint64(keepForgotten + 2) {
		c := &context{id: id, members: []proto.Rank{0, 1}}
		s.byID[id] = c
		s.active = append(s.active, c)
		for _, look := range []string{"first", "second"} { // the second finds it among the recent ones
			if s.find(id) != c {
				t.Fatalf("context %d isn't found at the %s look-up", id, look)
			}
		}
	}
	s.forget(func(c *context) bool { return c.id > 0 })
	if len(s.active) != 1 || s.find(0) == nil || s.find(1) != nil {
		t.Errorf("%d are active, context 0 is %v, context 1 %v", len(s.active), s.find(0), s.find(1))
	}
	if !s.wasForgotten(2) || !s.wasForgotten(keepForgotten+1) || s.wasForgotten(1) {
		t.Error("other contexts are remembered than the ones forgotten last")
	}
}

func TestContextIndices(t *testing.T) {
	for name, members := range map[string][]proto.Rank{"world": {0, 1, 2}, "some": {2, 0}, "one": {1}} {
		c := &context{members: members}
		for pass := range 2 { // without the inverse, and with it
			for r := range proto.Rank(3) {
				want := -1
				for i, m := range members {
					if m == r {
						want = i
					}
				}
				if got := c.index(r); got != want {
					t.Errorf("%s, pass %d: rank %d has index %d, want %d", name, pass, r, got, want)
				}
			}
			c.indices = c.inverse(3)
		}
	}
}

func TestContextsNoteLostMembers(t *testing.T) {
	s := newContexts()
	s.byID[2] = &context{id: 2, members: []proto.Rank{0, 1}}
	s.byID[3] = &context{id: 3, members: []proto.Rank{0, 2}}
	s.noteLost(1)
	s.noteLost(0)
	s.noteLost(1)
	if a, b := s.find(2).failed, s.find(3).failed; !slices.Equal(a, []proto.Rank{1, 0}) || !slices.Equal(b, []proto.Rank{0}) {
		t.Errorf("failed are %v and %v, want 1, then 0, and 0", a, b)
	}
}
