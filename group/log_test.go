package group_test

import (
	"fmt"
	"slices"
	"testing"

	"banyan/group"
)

// history is what one member has seen, for the checks of whole groups.
type history struct {
	self   group.Identity
	views  []group.View
	claims []claim // leases that it had
	end    string  // why it ended; empty if it was killed, or hasn't
}

// check says what is wrong with the histories of all members of one group. Each must have its
// views in order, without a hole, and be a member of all of them; there must be one view of each
// number; and the incarnations of a name must rise.
func check(all []history) error {
	byNumber := map[uint64]group.View{}
	last := uint64(0)
	for _, h := range all {
		for i, v := range h.views {
			if i > 0 && v.Number != h.views[i-1].Number+1 {
				return fmt.Errorf("%v has view %d after view %d", h.self, v.Number, h.views[i-1].Number)
			}
			if !slices.Contains(v.Members, h.self) {
				return fmt.Errorf("%v has view %d, in which it isn't: %v", h.self, v.Number, v.Members)
			}
			if w, ok := byNumber[v.Number]; !ok {
				byNumber[v.Number] = v
			} else if !slices.Equal(v.Members, w.Members) {
				return fmt.Errorf("%v has view %d of %v, another one of %v", h.self, v.Number, v.Members, w.Members)
			}
			last = max(last, v.Number)
		}
	}
	latest := map[string]group.Identity{}
	for n := uint64(1); n <= last; n++ {
		v, ok := byNumber[n]
		if !ok {
			continue // the members that had it were killed before they reported it
		}
		for i, x := range v.Members {
			if p := v.Position(x.Name); p != i {
				return fmt.Errorf("view %d has %s twice", n, x.Name)
			}
			y, ok := latest[x.Name]
			if again := slices.Contains(v.Joined, x); ok && (y.Incarnation > x.Incarnation || again && y == x) {
				return fmt.Errorf("view %d has %v after %v", n, x, y)
			}
			latest[x.Name] = x
		}
		before, ok := byNumber[n-1]
		if !ok {
			continue
		}
		if err := follows(v, before); err != nil {
			return fmt.Errorf("view %d after view %d: %w", n, n-1, err)
		}
	}
	return nil
}

// follows says whether a view is the former one with the changes that it names.
func follows(v, before group.View) error {
	want := slices.DeleteFunc(slices.Clone(before.Members), func(x group.Identity) bool {
		return slices.Contains(v.Left, x) || slices.ContainsFunc(v.Died, func(d group.Death) bool { return d.Identity == x })
	})
	if len(want)+len(v.Left)+len(v.Died) != len(before.Members) {
		return fmt.Errorf("left %v and died %v aren't members of %v", v.Left, v.Died, before.Members)
	}
	if want = append(want, v.Joined...); !slices.Equal(want, v.Members) {
		return fmt.Errorf("%v, not %v", v.Members, want)
	}
	return nil
}

// check finds each kind of wrong history.
func TestCheck(t *testing.T) {
	id := func(name string, incarnation uint32) group.Identity {
		return group.Identity{Name: name, Incarnation: incarnation}
	}
	a, b, c := id("a", 1), id("b", 2), id("c", 3)
	one := group.View{Number: 1, Members: []group.Identity{a}, Joined: []group.Identity{a}}
	two := group.View{Number: 2, Members: []group.Identity{a, b}, Joined: []group.Identity{b}}
	three := group.View{Number: 3, Members: []group.Identity{a, b, c}, Joined: []group.Identity{c}}
	alone := group.View{Number: 3, Members: []group.Identity{b}, Died: []group.Death{{Identity: a}}}
	good := []history{{self: a, views: []group.View{one, two, three}}, {self: b, views: []group.View{two, three}}, {self: c, views: []group.View{three}}}
	if err := check(good); err != nil {
		t.Errorf("nothing is wrong: %v", err)
	}
	left := group.View{Number: 4, Members: []group.Identity{a, c}, Left: []group.Identity{b}}
	back := group.View{Number: 5, Members: []group.Identity{a, c, id("b", 2)}, Joined: []group.Identity{id("b", 2)}}
	stale := back
	stale.Members, stale.Joined = []group.Identity{a, c, id("b", 1)}, []group.Identity{id("b", 1)}
	unsaid := left
	unsaid.Left = nil
	late := group.View{Number: 4, Members: []group.Identity{a, b, c, id("b", 4)}, Joined: []group.Identity{id("b", 4)}}
	for what, h := range map[string]history{
		"a hole":                {self: a, views: []group.View{one, three}},
		"out of order":          {self: a, views: []group.View{two, one}},
		"two views of a number": {self: b, views: []group.View{two, alone}},
		"not a member":          {self: c, views: []group.View{two, three}},
		"a stale incarnation":   {self: a, views: []group.View{one, two, three, left, stale}},
		"a member come back":    {self: a, views: []group.View{one, two, three, left, back}},
		"a change not named":    {self: a, views: []group.View{one, two, three, unsaid}},
		"a name twice":          {self: a, views: []group.View{one, two, three, late}},
	} {
		if check(append(slices.Clone(good), h)) == nil {
			t.Errorf("%s isn't found", what)
		}
	}
}
