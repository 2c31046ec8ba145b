package binding

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// members are a group's ranks in the world, as the library translates them.
func members(t *testing.T, p *Process, g Group) []int32 {
	t.Helper()
	var n int32
	ok(t, "GroupSize", p.GroupSize(g, &n))
	if n == 0 {
		return nil
	}
	var world Group
	ok(t, "CommGroup", p.CommGroup(CommWorld, &world))
	from, to := make([]int32, n), make([]int32, n)
	for i := range from {
		from[i] = int32(i)
	}
	ok(t, "GroupTranslateRanks", p.GroupTranslateRanks(g, n, &from[0], world, &to[0]))
	ok(t, "GroupFree", p.GroupFree(&world))
	return to
}

func first[T any](s []T) *T {
	if len(s) == 0 {
		return nil
	}
	return &s[0]
}

// Each operation on groups has the result of the same operation on lists of numbers.
func TestGroupModel(t *testing.T) {
	const n = 8
	ranks(t, n, func(t *testing.T, p *Process) {
		random := rand.New(rand.NewPCG(1, 2))
		var world Group
		ok(t, "CommGroup", p.CommGroup(CommWorld, &world))
		self := int32(p.worldRank())
		pick := func() []int32 {
			all := random.Perm(n)[:random.IntN(n+1)]
			list := make([]int32, len(all))
			for i, r := range all {
				list[i] = int32(r)
			}
			return list
		}
		for range 200 {
			a, b := pick(), pick()
			var ga, gb, got Group
			ok(t, "incl", p.GroupIncl(world, int32(len(a)), first(a), &ga))
			ok(t, "incl", p.GroupIncl(world, int32(len(b)), first(b), &gb))
			check := func(what string, code Code, want []int32) {
				t.Helper()
				ok(t, what, code)
				if list := members(t, p, got); !slices.Equal(list, want) {
					t.Errorf("%s of %v and %v is %v, want %v", what, a, b, list, want)
				}
				if (got == GroupEmpty) != (len(want) == 0) {
					t.Errorf("%s: an empty group is %#x", what, got)
				}
				ok(t, "free", p.GroupFree(&got))
			}
			only := func(list []int32, in bool, of []int32) (out []int32) {
				for _, r := range list {
					if slices.Contains(of, r) == in {
						out = append(out, r)
					}
				}
				return out
			}
			check("union", p.GroupUnion(ga, gb, &got), append(slices.Clone(a), only(b, false, a)...))
			check("intersection", p.GroupIntersection(ga, gb, &got), only(a, true, b))
			check("difference", p.GroupDifference(ga, gb, &got), only(a, false, b))
			if k := len(a); k > 0 {
				indices := random.Perm(k)[:random.IntN(k+1)]
				chosen, in, out := make([]int32, len(indices)), []int32(nil), []int32(nil)
				for i, at := range indices {
					chosen[i] = int32(at)
					in = append(in, a[at])
				}
				for i, r := range a {
					if !slices.Contains(indices, i) {
						out = append(out, r)
					}
				}
				check("incl", p.GroupIncl(ga, int32(len(chosen)), first(chosen), &got), in)
				check("excl", p.GroupExcl(ga, int32(len(chosen)), first(chosen), &got), out)
			}
			var rank, result int32
			ok(t, "rank", p.GroupRank(ga, &rank))
			if want := slices.Index(a, self); int(rank) != want && (want >= 0 || rank != Undefined) {
				t.Errorf("rank %d of %v", rank, a)
			}
			want := int32(Unequal)
			sa, sb := slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
			if slices.Equal(a, b) {
				want = Ident
			} else if slices.Equal(sa, sb) {
				want = Similar
			}
			ok(t, "compare", p.GroupCompare(ga, gb, &result))
			if result != want {
				t.Errorf("%v and %v compare as %d, want %d", a, b, result, want)
			}
			if ga != GroupEmpty {
				ok(t, "free", p.GroupFree(&ga))
			}
			ok(t, "free", p.GroupFree(&gb))
		}
	})
}

// Ranges give the ranks of the loops that they stand for.
func TestGroupRanges(t *testing.T) {
	ranks(t, 10, func(t *testing.T, p *Process) {
		ok(t, "set", p.CommSetErrhandler(CommWorld, ErrorsReturn))
		var world, got Group
		ok(t, "CommGroup", p.CommGroup(CommWorld, &world))
		for _, test := range []struct {
			ranges   []int32
			in, out  []int32
			wantCode Code
		}{
			{ranges: []int32{1, 7, 3, 9, 8, -1}, in: []int32{1, 4, 7, 9, 8}, out: []int32{0, 2, 3, 5, 6}},
			{ranges: []int32{5, 4, 1}, in: nil, out: []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
			{ranges: []int32{0, 9, 1}, in: []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, out: nil},
			{ranges: []int32{1, 7, 0}, wantCode: ErrArg},
			{ranges: []int32{1, 3, 1, 3, 4, 1}, wantCode: ErrRank},
			{ranges: []int32{8, 11, 1}, wantCode: ErrRank},
			{ranges: []int32{2, -2147483648, -2147483648}, in: []int32{2}, wantCode: ErrRank},
		} {
			k := int32(len(test.ranges) / 3)
			code := p.GroupRangeIncl(world, k, &test.ranges[0], &got)
			if code != test.wantCode {
				t.Errorf("%v: %d, want %d", test.ranges, code, test.wantCode)
			}
			if code != Success {
				continue
			}
			if list := members(t, p, got); !slices.Equal(list, test.in) {
				t.Errorf("%v: %v, want %v", test.ranges, list, test.in)
			}
			ok(t, "excl", p.GroupRangeExcl(world, k, &test.ranges[0], &got))
			if list := members(t, p, got); !slices.Equal(list, test.out) {
				t.Errorf("all but %v: %v, want %v", test.ranges, list, test.out)
			}
		}
	})
}

func TestGroupErrors(t *testing.T) {
	ranks(t, 2, func(t *testing.T, p *Process) {
		ok(t, "set", p.CommSetErrhandler(CommWorld, ErrorsReturn))
		var world, got Group
		var n int32
		ok(t, "CommGroup", p.CommGroup(CommWorld, &world))
		freed := world
		ok(t, "free", p.GroupFree(&freed))
		old := world
		ok(t, "CommGroup", p.CommGroup(CommWorld, &world))
		two, big := []int32{0, 0}, []int32{2}
		for what, test := range map[string]struct{ got, want Code }{
			"the size of the null group": {p.GroupSize(GroupNull, &n), ErrGroup},
			"the size of a freed group":  {p.GroupSize(old, &n), ErrGroup},
			"the group of a group":       {p.CommGroup(Comm(world), &got), ErrComm},
			"the size of a communicator": {p.GroupSize(Group(CommWorld), &n), ErrGroup},
			"a rank twice":               {p.GroupIncl(world, 2, &two[0], &got), ErrRank},
			"a rank too large":           {p.GroupExcl(world, 1, &big[0], &got), ErrRank},
			"minus one ranks":            {p.GroupIncl(world, -1, nil, &got), ErrArg},
			"translation of no rank":     {p.GroupTranslateRanks(world, 1, &big[0], world, &n), ErrRank},
			"freed twice":                {p.GroupFree(&old), ErrGroup},
		} {
			if test.got != test.want {
				t.Errorf("%s: %d, want %d", what, test.got, test.want)
			}
		}
		null := []int32{ProcNull}
		ok(t, "translate", p.GroupTranslateRanks(world, 1, &null[0], GroupEmpty, &n))
		if n != ProcNull {
			t.Errorf("MPI_PROC_NULL is %d elsewhere", n)
		}
		one := []int32{1}
		ok(t, "translate", p.GroupTranslateRanks(world, 1, &one[0], GroupEmpty, &n))
		if n != Undefined {
			t.Errorf("a rank that isn't there is %d", n)
		}
	})
}
