package binding

import (
	"slices"

	"banyan/internal/proto"
)

// group is an ordered set of ranks of the world, and of processes of other jobs: those have numbers
// above all ranks (link.go). It never changes.
type group struct {
	ranks   []proto.Rank
	session *session // that it comes from; nil: from a communicator
}

var emptyGroup = &group{}

// group is the object of a handle, nil if it has none.
func (p *Process) group(h Group) *group {
	if h == GroupEmpty {
		return emptyGroup
	}
	return p.groups.get(uintptr(h))
}

// noGroup is the error of a handle that names no group.
func (p *Process) noGroup(function string, h Group) Code {
	if !p.live() {
		return p.outOfTime(function)
	}
	if h == GroupNull {
		return p.fail(nil, function, ErrGroup, "the group is MPI_GROUP_NULL")
	}
	return p.noHandle(nil, function, ErrGroup, "group", uintptr(h))
}

// newGroup gives a group of ranks a handle. from is the session that they come from, or nil.
func (p *Process) newGroup(ranks []proto.Rank, from *session) Group {
	if len(ranks) == 0 {
		return GroupEmpty
	}
	return Group(p.groups.add(&group{ranks, from}))
}

// rankOf is a member's rank in the group, or Undefined.
func (g *group) rankOf(r proto.Rank) int32 {
	// In most groups, members have their ranks of the world.
	if int(r) < len(g.ranks) && g.ranks[r] == r {
		return int32(r)
	}
	if i := slices.Index(g.ranks, r); i >= 0 {
		return int32(i)
	}
	return Undefined
}

// set is the group as a map, for many look-ups.
func (g *group) set() map[proto.Rank]bool {
	m := make(map[proto.Rank]bool, len(g.ranks))
	for _, r := range g.ranks {
		m[r] = true
	}
	return m
}

// chosen are the members that keep accepts.
func (g *group) chosen(keep func(proto.Rank) bool) (list []proto.Rank) {
	for _, r := range g.ranks {
		if keep(r) {
			list = append(list, r)
		}
	}
	return list
}

// compareGroups gives MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL.
func compareGroups(a, b *group) int32 {
	if slices.Equal(a.ranks, b.ranks) {
		return Ident
	}
	if len(a.ranks) == len(b.ranks) {
		in := b.set()
		if !slices.ContainsFunc(a.ranks, func(r proto.Rank) bool { return !in[r] }) {
			return Similar
		}
	}
	return Unequal
}

// worldRank is this process's rank in the world.
func (p *Process) worldRank() proto.Rank {
	_, r := p.job.Engine().Self()
	return r
}

// GroupSize is MPI_Group_size.
func (p *Process) GroupSize(group Group, size *int32) Code {
	g := p.group(group)
	if g == nil {
		return p.noGroup("MPI_Group_size", group)
	}
	*size = int32(len(g.ranks))
	return Success
}

// GroupRank is MPI_Group_rank.
func (p *Process) GroupRank(group Group, rank *int32) Code {
	g := p.group(group)
	if g == nil || !p.live() {
		return p.noGroup("MPI_Group_rank", group)
	}
	*rank = g.rankOf(p.worldRank())
	return Success
}

// GroupCompare is MPI_Group_compare.
func (p *Process) GroupCompare(group1, group2 Group, result *int32) Code {
	return p.withGroups("MPI_Group_compare", group1, group2, func(a, b *group) { *result = compareGroups(a, b) })
}

// GroupUnion is MPI_Group_union: the first group, then the ranks that only the second has.
func (p *Process) GroupUnion(group1, group2 Group, newgroup *Group) Code {
	return p.withGroups("MPI_Group_union", group1, group2, func(a, b *group) {
		in := a.set()
		*newgroup = p.newGroup(append(slices.Clone(a.ranks), b.chosen(func(r proto.Rank) bool { return !in[r] })...), a.session)
	})
}

// GroupIntersection is MPI_Group_intersection, in the order of the first group.
func (p *Process) GroupIntersection(group1, group2 Group, newgroup *Group) Code {
	return p.withGroups("MPI_Group_intersection", group1, group2, func(a, b *group) {
		in := b.set()
		*newgroup = p.newGroup(a.chosen(func(r proto.Rank) bool { return in[r] }), a.session)
	})
}

// GroupDifference is MPI_Group_difference: the ranks that only the first group has.
func (p *Process) GroupDifference(group1, group2 Group, newgroup *Group) Code {
	return p.withGroups("MPI_Group_difference", group1, group2, func(a, b *group) {
		in := b.set()
		*newgroup = p.newGroup(a.chosen(func(r proto.Rank) bool { return !in[r] }), a.session)
	})
}

func (p *Process) withGroups(function string, group1, group2 Group, f func(a, b *group)) Code {
	a, b := p.group(group1), p.group(group2)
	switch {
	case a == nil:
		return p.noGroup(function, group1)
	case b == nil:
		return p.noGroup(function, group2)
	}
	f(a, b)
	return Success
}

// GroupTranslateRanks is MPI_Group_translate_ranks.
func (p *Process) GroupTranslateRanks(group1 Group, n int32, ranks1 *int32, group2 Group, ranks2 *int32) Code {
	const function = "MPI_Group_translate_ranks"
	a, b := p.group(group1), p.group(group2)
	switch {
	case a == nil:
		return p.noGroup(function, group1)
	case b == nil:
		return p.noGroup(function, group2)
	case n < 0:
		return p.fail(nil, function, ErrArg, "the number of ranks is %d", n)
	case n > 0 && (ranks1 == nil || ranks2 == nil):
		return p.fail(nil, function, ErrArg, "the arrays of %d ranks are at %p and %p", n, ranks1, ranks2)
	}
	to := array(ranks2, n)
	for i, r := range array(ranks1, n) {
		switch {
		case r == ProcNull:
			to[i] = ProcNull
		case r < 0 || int(r) >= len(a.ranks):
			return p.fail(nil, function, ErrRank, "rank %d is none of a group of %d", r, len(a.ranks))
		default:
			to[i] = b.rankOf(a.ranks[r])
		}
	}
	return Success
}

// GroupIncl is MPI_Group_incl.
func (p *Process) GroupIncl(group Group, n int32, ranks *int32, newgroup *Group) Code {
	if code := p.listed("MPI_Group_incl", group, n, ranks); code != Success {
		return code
	}
	return p.choose("MPI_Group_incl", group, n, func(yield func(int64) bool) {
		each(array(ranks, n), yield)
	}, true, newgroup)
}

// GroupExcl is MPI_Group_excl.
func (p *Process) GroupExcl(group Group, n int32, ranks *int32, newgroup *Group) Code {
	if code := p.listed("MPI_Group_excl", group, n, ranks); code != Success {
		return code
	}
	return p.choose("MPI_Group_excl", group, n, func(yield func(int64) bool) {
		each(array(ranks, n), yield)
	}, false, newgroup)
}

// GroupRangeIncl is MPI_Group_range_incl.
func (p *Process) GroupRangeIncl(group Group, n int32, ranges *int32, newgroup *Group) Code {
	return p.selectRanges("MPI_Group_range_incl", group, n, ranges, true, newgroup)
}

// GroupRangeExcl is MPI_Group_range_excl.
func (p *Process) GroupRangeExcl(group Group, n int32, ranges *int32, newgroup *Group) Code {
	return p.selectRanges("MPI_Group_range_excl", group, n, ranges, false, newgroup)
}

// listed checks that there is a list of n ranks of a group.
func (p *Process) listed(function string, h Group, n int32, list *int32) Code {
	if n > 0 && list == nil && p.group(h) != nil {
		return p.fail(nil, function, ErrArg, "the array of %d elements is NULL", n)
	}
	return Success
}

func each(ranks []int32, yield func(int64) bool) {
	for _, r := range ranks {
		if !yield(int64(r)) {
			return
		}
	}
}

// selectRanges is choose for triplets of first, last and stride.
func (p *Process) selectRanges(function string, h Group, n int32, ranges *int32, include bool, newgroup *Group) Code {
	if code := p.listed(function, h, n, ranges); code != Success {
		return code
	}
	triplets := array(ranges, 3*max(n, 0))
	for i := 0; i < len(triplets); i += 3 {
		if triplets[i+2] == 0 && p.group(h) != nil {
			return p.fail(nil, function, ErrArg, "the stride of range %d is 0", i/3)
		}
	}
	return p.choose(function, h, n, func(yield func(int64) bool) {
		for ; len(triplets) > 0; triplets = triplets[3:] {
			first, last, stride := int64(triplets[0]), int64(triplets[1]), int64(triplets[2])
			for r := first; stride > 0 && r <= last || stride < 0 && r >= last; r += stride {
				if !yield(r) {
					return
				}
			}
		}
	}, include, newgroup)
}

// choose makes a group of the chosen members in the order of choice, or, without include, of
// all other members.
func (p *Process) choose(function string, h Group, n int32, choice func(yield func(int64) bool), include bool, newgroup *Group) Code {
	g := p.group(h)
	if g == nil {
		return p.noGroup(function, h)
	}
	if n < 0 {
		return p.fail(nil, function, ErrArg, "the number of ranks is %d", n)
	}
	taken := make([]bool, len(g.ranks))
	var list []proto.Rank
	code := Success
	choice(func(r int64) bool {
		switch {
		case r < 0 || r >= int64(len(taken)):
			code = p.fail(nil, function, ErrRank, "rank %d is none of a group of %d", r, len(taken))
		case taken[r]:
			code = p.fail(nil, function, ErrRank, "rank %d is given twice", r)
		default:
			taken[r] = true
			list = append(list, g.ranks[r])
			return true
		}
		return false
	})
	if code != Success {
		return code
	}
	if !include {
		list = nil
		for i, r := range g.ranks {
			if !taken[i] {
				list = append(list, r)
			}
		}
	}
	*newgroup = p.newGroup(list, g.session)
	return Success
}

// GroupFree is MPI_Group_free.
func (p *Process) GroupFree(group *Group) Code {
	p.forgetGroup(*group) // before another one may get its handle
	if *group != GroupEmpty && p.groups.remove(uintptr(*group)) == nil {
		return p.noGroup("MPI_Group_free", *group)
	}
	*group = GroupNull
	return Success
}

// CommGroup is MPI_Comm_group.
func (p *Process) CommGroup(comm Comm, group *Group) Code {
	c := p.communicator(comm)
	if c == nil {
		return p.noComm("MPI_Comm_group", comm)
	}
	ranks := c.comm.Ranks()
	if c.inter != nil {
		ranks = c.inter.LocalRanks()
	}
	*group = p.newGroup(p.outside(c, ranks), c.session)
	return Success
}
