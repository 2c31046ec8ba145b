package comm

import (
	"slices"

	"banyan/internal/proto"
	"banyan/internal/splitmix"
)

// Inter is an intercommunicator: two disjoint groups, of which one is this rank's. Messages go
// between the groups. The other group is the remote one.
//
// The members of both groups are members of one ordinary communicator, whole, which the program
// doesn't see. Its order is that of the groups, the one with the least rank of the world first. So
// collectives between groups are plans of it, and contexts, agreements, revocations and the state
// of a replica are as they are elsewhere.
type Inter struct {
	// Comm is for messages to the other group, and from it: its members and its size are those of
	// that group, its rank is this one's in its own group. No collective runs over it.
	*Comm
	whole *Comm
	near  *Comm // this rank's group, as the algorithms of plans need it; without a context
	low   bool  // this rank's group is the first of whole
}

// openInter makes the intercommunicator of this rank's group and another one.
func (c *Comm) openInter(context uint64, local, remote []proto.Rank) (*Inter, error) {
	low := slices.Min(local) < slices.Min(remote)
	all := slices.Concat(local, remote)
	if !low {
		all = slices.Concat(remote, local)
	}
	whole, err := open(c.eng, context, all)
	if err != nil {
		return nil, err
	}
	i := &Inter{whole: whole, low: low}
	i.near, i.Comm = whole.part(local), whole.part(remote)
	i.near.rank = slices.Index(local, whole.group[whole.rank])
	i.Comm.rank = i.near.rank
	whole.parts, i.Comm.parts = i, i
	c.eng.SetSources(context, remote)
	return i, nil
}

// part is some members of a communicator, in its context. The caller sets the rank.
func (c *Comm) part(group []proto.Rank) *Comm {
	d := &Comm{eng: c.eng, context: c.context, group: slices.Clone(group), inverse: make([]int32, len(c.inverse)),
		shared: c.shared, oversubscribed: c.oversubscribed, copies: c.copies, calls: c.calls}
	for i := range d.inverse {
		d.inverse[i] = -1
	}
	for i, r := range d.group {
		d.inverse[r] = int32(i)
	}
	return d
}

// Whole is the communicator of both groups.
func (i *Inter) Whole() *Comm { return i.whole }

// LocalRanks are the members of this rank's group, as ranks of the world. The caller must not
// change them.
func (i *Inter) LocalRanks() []proto.Rank { return i.near.group }

// LocalSize is the number of ranks in this rank's group.
func (i *Inter) LocalSize() int { return len(i.near.group) }

// Free gives up the intercommunicator, as Comm.Free does.
func (i *Inter) Free() error { return i.whole.Free() }

// Dup makes an intercommunicator of the same groups.
func (i *Inter) Dup() (*Inter, error) {
	w := i.whole
	if err := w.Usable(); err != nil {
		return nil, w.wrap("Dup", err)
	}
	d, err := i.openInter(w.child(0), i.near.group, i.group)
	return d, w.wrap("Dup", err)
}

// Split makes intercommunicators of those members of both groups that give the same colour,
// ordered by key, then by their present rank. A member gets nil for Undefined, and if nobody in the
// other group gives its colour.
func (i *Inter) Split(colour, key int) (*Inter, error) {
	const op = "Split"
	w := i.whole
	context := w.child(uint64(colour) + 1)
	records, err := w.shareRecords([2]int{colour, key})
	if err != nil {
		return nil, w.wrap(op, err)
	}
	if colour == Undefined {
		return nil, nil
	}
	return i.selected(op, context, records, func(r [2]int) (key int, in bool) { return r[1], r[0] == colour })
}

// Create makes an intercommunicator of some members of this rank's group, given as ranks of
// the world in their new order, and of those that the members of the other group give. All members
// of a group give the same. A member gets nil if it isn't among them, or if one of the groups is
// empty.
func (i *Inter) Create(group []proto.Rank) (*Inter, error) {
	const op = "Create"
	w := i.whole
	_, self := w.eng.Self()
	place := slices.Index(group, self)
	var wrong error
	for _, r := range group {
		if i.near.local(r) < 0 {
			wrong = rankError(int(r), len(i.near.inverse))
		}
	}
	context := w.child(0)
	records, err := w.shareRecords([2]int{place, 0})
	switch {
	case wrong != nil:
		return nil, w.wrap(op, wrong)
	case err != nil:
		return nil, w.wrap(op, err)
	case place < 0:
		return nil, nil
	}
	return i.selected(op, context, records, func(r [2]int) (key int, in bool) { return r[0], r[0] >= 0 })
}

// selected makes an intercommunicator of members that their records select, ordered by keys; nil if
// one of the groups would be empty. This rank is among them.
func (i *Inter) selected(op string, context uint64, records [][2]int, is func(r [2]int) (key int, in bool)) (*Inter, error) {
	w := i.whole
	chosen := func(group []proto.Rank) []proto.Rank {
		var keys []int
		var list []proto.Rank
		for _, r := range group {
			key, in := is(records[w.local(r)])
			if !in {
				continue
			}
			at := len(keys)
			for at > 0 && keys[at-1] > key {
				at--
			}
			keys, list = slices.Insert(keys, at, key), slices.Insert(list, at, r)
		}
		return list
	}
	local, remote := chosen(i.near.group), chosen(i.group)
	if len(remote) == 0 {
		return nil, nil
	}
	d, err := i.openInter(context, local, remote)
	return d, w.wrap(op, err)
}

// Merge makes a communicator of both groups. The group whose members give high comes second. If
// both give the same, the one with the least rank of the world comes first.
func (i *Inter) Merge(high bool) (*Comm, error) {
	const op = "Merge"
	w := i.whole
	context := w.child(0)
	own := 0
	if high {
		own = 1
	}
	records, err := w.shareRecords([2]int{own, 0})
	if err != nil {
		return nil, w.wrap(op, err)
	}
	first := len(i.group) // of whole: the members of its first group
	if i.low {
		first = i.LocalSize()
	}
	for r, record := range records {
		of := 0
		if r >= first {
			of = first
		}
		if record != records[of] {
			return nil, w.wrap(op, ErrHigh)
		}
	}
	group := w.group
	if records[0][0] > records[first][0] {
		group = slices.Concat(w.group[first:], w.group[:first])
	}
	d, err := open(w.eng, context, slices.Clone(group))
	return d, w.wrap(op, err)
}

// Same tells whether two intercommunicators are one and the same.
func (i *Inter) Same(j *Inter) bool { return i.context == j.context }

// contextBetween is the context of an intercommunicator, from one that each of its groups has
// derived for itself. No other pair has both.
func contextBetween(low, high uint64) uint64 {
	return splitmix.Mix(splitmix.Mix(splitmix.Mix(low)^interBranch)^high) &^ collectivePart
}
