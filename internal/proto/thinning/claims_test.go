package thinning

import (
	"slices"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// settlingOf is a coordinator of so many ranks of one process each, of which all but the first
// stay, and are told.
func settlingOf(ranks int) *Coordinator {
	c := NewCoordinator(layout.Uniform(ranks, 1))
	var out Actions
	c.Begin(func(p proto.Proc) bool { return p != 0 }, &out)
	for p := 1; p < ranks; p++ {
		c.Counted(proto.Proc(p), 0, &out)
	}
	return c
}

// owed are the processes that are told what others claim of them, with how many that is.
func owed(out Actions) (all [][2]int) {
	for _, a := range out {
		if a.Kind == Owe {
			all = append(all, [2]int{int(a.To), len(a.Debts)})
		}
	}
	return all
}

func shows(out Actions) bool {
	return slices.ContainsFunc(out, func(a Action) bool { return a.Kind == Show })
}

func waitsFor(r, me proto.Rank) []Claim { return []Claim{{r, Debt{To: me, Number: 1}}} }

// A claim goes from the process that owes to those for which it waits, and on from there. When it
// owes nothing any more, all are told so, and settle anew.
func TestClaims(t *testing.T) {
	c := settlingOf(5)
	step := func(what string, want [][2]int, tell func(out *Actions)) (out Actions) {
		tell(&out)
		if got := owed(out); !slices.Equal(got, want) {
			t.Fatalf("%s: %v are told, want %v", what, got, want)
		}
		return out
	}
	step("3 waits, but owes nothing", nil, func(out *Actions) { c.Settled(3, 0, out); c.Waits(3, waitsFor(4, 3), out) })
	step("4 has settled", nil, func(out *Actions) { c.Settled(4, 0, out) })
	step("2 waits for 3", [][2]int{{3, 1}, {4, 1}}, func(out *Actions) { c.Waits(2, waitsFor(3, 2), out) })
	step("it says so again", nil, func(out *Actions) { c.Waits(2, waitsFor(3, 2), out) })
	step("1 waits for it, too", [][2]int{{3, 2}}, func(out *Actions) { c.Waits(1, waitsFor(3, 1), out) })
	step("1 waits no more", [][2]int{{3, 1}}, func(out *Actions) { c.Settled(1, 0, out) })
	step("2 waits no more", [][2]int{{3, 0}, {4, 0}}, func(out *Actions) { c.Settled(2, 0, out) })
	if out := step("3 answers", nil, func(out *Actions) { c.Settled(3, 4, out) }); shows(out) {
		t.Error("losses show before 4 has settled anew")
	}
	if out := step("4 answers an older word", nil, func(out *Actions) { c.Settled(4, 1, out) }); shows(out) {
		t.Error("an answer counts that was under way")
	}
	if out := step("4 answers", nil, func(out *Actions) { c.Ended(4, []Result{{1, 1, nil}}); c.Settled(4, 2, out) }); !shows(out) || len(c.Results()) != 1 {
		t.Error("losses don't show, or without what has ended at 4 meanwhile")
	}
}

// A process that dies claims nothing any more, and nothing is claimed of it.
func TestClaimsOfTheDead(t *testing.T) {
	c := settlingOf(4)
	var out Actions
	c.Settled(2, 0, &out)
	c.Settled(3, 0, &out)
	c.Waits(1, waitsFor(2, 1), &out)
	if got := owed(out); !slices.Equal(got, [][2]int{{2, 1}}) {
		t.Fatal(got)
	}
	out = nil
	c.Gone(1, &out)
	if got := owed(out); !slices.Equal(got, [][2]int{{2, 0}}) || shows(out) {
		t.Fatal(out)
	}
	if c.Settled(2, 2, &out); !shows(out) {
		t.Fatal("losses don't show")
	}
}

// A rank that isn't one, or that is lost, claims nothing.
func TestClaimsOfNobody(t *testing.T) {
	c := settlingOf(3)
	var out Actions
	c.Waits(1, []Claim{{Rank: 0}, {Rank: 1 << 20}, {Rank: -5}}, &out)
	if len(out) > 0 {
		t.Fatal(out)
	}
}

func TestParts(t *testing.T) {
	data := func(sizes ...int) (all []Result) {
		for i, n := range sizes {
			all = append(all, Result{Number: uint64(i), Data: make([]byte, n)})
		}
		return all
	}
	for _, c := range []struct {
		all  []Result
		want []int
	}{
		{nil, []int{0}},
		{data(1, 1, 1), []int{3}},
		{data(1, 1, 1, 1, 1), []int{4, 1}},
		{data(6, 5, 5, 20, 1), []int{1, 2, 1, 1}},
	} {
		var got []int
		for _, part := range Parts(c.all, 10, 4) {
			got = append(got, len(part))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d results: %v, want %v", len(c.all), got, c.want)
		}
	}
}
