package membership

import (
	"cmp"
	"fmt"
	"slices"

	"banyan/internal/proto"
)

// Member is one incarnation of a process. A process that comes back keeps its Proc and
// gets a higher incarnation.
type Member struct {
	Proc        proto.Proc
	Incarnation proto.Incarnation
}

func (m Member) String() string { return fmt.Sprintf("%d.%d", m.Proc, m.Incarnation) }

// Why says how a member went.
type Why uint8

const (
	// Silent: it hasn't been heard of. It may live, beyond a cut.
	Silent Why = iota
	// Died: a witness saw it end.
	Died
	// Left: it said goodbye.
	Left
)

func (w Why) String() string {
	switch w {
	case Silent:
		return "silent"
	case Died:
		return "died"
	case Left:
		return "left"
	}
	return fmt.Sprintf("why %d", uint8(w))
}

// Departure is a member that is gone.
type Departure struct {
	Member
	Why Why
}

// View is the list of members. Views are numbered without holes, and there is one of each
// number. A View isn't changed once made, and is shared.
type View struct {
	Number uint64
	// Members are in the order of seniority: those that came in first stand first. A member's index
	// is its position. The member at position 0 coordinates.
	Members []Member
	// Joined and Gone are the changes from the view before.
	Joined []Member
	Gone   []Departure
	// Past has the last incarnation of each process that was a member and isn't
	// now, by Proc.
	Past []Member
	// Metadata are what members say of themselves, by Proc. Updated are those that have changed
	// since the view before.
	Metadata, Updated []Metadata

	order []int32 // positions by Proc, ascending
	sum   uint64  // of Number, Members, Past and Metadata
}

// FirstView is the view with which a job of n processes begins. Every process makes
// it without a message.
func FirstView(n int) *View {
	v := &View{Number: 1, Members: make([]Member, n)}
	for p := range v.Members {
		v.Members[p].Proc = proto.Proc(p)
	}
	v.index()
	v.seal()
	return v
}

// seal makes the checksum, when all else is there.
func (v *View) seal() {
	v.sum = 0xcbf29ce484222325
	v.add(v.Number, uint64(len(v.Members)))
	for _, list := range [...][]Member{v.Members, v.Past} {
		for _, m := range list {
			v.add(uint64(uint32(m.Proc))<<32 | uint64(m.Incarnation))
		}
	}
	for _, d := range v.Metadata {
		v.add(uint64(uint32(d.Proc))<<32|uint64(d.Version), uint64(len(d.Bytes)))
		for _, b := range []byte(d.Bytes) {
			v.add(uint64(b))
		}
	}
}

// NewView makes a view that has come in a message. It returns an error that
// says what is wrong with it.
func NewView(number uint64, members, joined []Member, gone []Departure, past []Member) (*View, error) {
	v := &View{Number: number, Members: members, Joined: joined, Gone: gone, Past: past}
	if number == 0 {
		return nil, fmt.Errorf("a view numbered 0")
	}
	if len(members) == 0 {
		return nil, fmt.Errorf("view %d has no members", number)
	}
	for _, m := range members {
		if m.Proc < 0 {
			return nil, fmt.Errorf("view %d: member %v: want a process from 0", number, m)
		}
	}
	v.index()
	for i := 1; i < len(v.order); i++ {
		if m := members[v.order[i]]; m.Proc == members[v.order[i-1]].Proc {
			return nil, fmt.Errorf("view %d: process %d is a member twice", number, m.Proc)
		}
	}
	for i, m := range past {
		if i > 0 && past[i-1].Proc >= m.Proc {
			return nil, fmt.Errorf("view %d: past members aren't in order at %v", number, m)
		}
		if v.incarnation(m.Proc) >= 0 {
			return nil, fmt.Errorf("view %d: process %d is a member, and past", number, m.Proc)
		}
	}
	for i, m := range joined {
		if at := len(members) - len(joined) + i; at < 0 || members[at] != m {
			return nil, fmt.Errorf("view %d: %v has joined but isn't among the youngest", number, m)
		}
	}
	for _, g := range gone {
		if v.Has(g.Member) {
			return nil, fmt.Errorf("view %d: %v is a member, and gone", number, g.Member)
		}
	}
	v.seal()
	return v, nil
}

// Sum is a checksum of what makes two views of a number the same one.
func (v *View) Sum() uint64 { return v.sum }

// add mixes words into the checksum, as FNV-1a does with bytes.
func (v *View) add(words ...uint64) {
	for _, w := range words {
		v.sum = (v.sum ^ w) * 0x100000001b3
		v.sum ^= v.sum >> 32
	}
}

func (v *View) index() {
	v.order = make([]int32, len(v.Members))
	for i := range v.order {
		v.order[i] = int32(i)
	}
	slices.SortFunc(v.order, func(a, b int32) int { return cmp.Compare(v.Members[a].Proc, v.Members[b].Proc) })
}

// incarnation is the position of the present incarnation of a process, or -1.
func (v *View) incarnation(p proto.Proc) int {
	// In a young view every process is at the position of its number.
	if p >= 0 && int(p) < len(v.Members) && v.Members[p].Proc == p {
		return int(p)
	}
	i, found := slices.BinarySearchFunc(v.order, p, func(i int32, p proto.Proc) int { return cmp.Compare(v.Members[i].Proc, p) })
	if !found {
		return -1
	}
	return int(v.order[i])
}

// Position is a member's index in the order of seniority, -1 if it is no member.
func (v *View) Position(m Member) int {
	if i := v.incarnation(m.Proc); i >= 0 && v.Members[i] == m {
		return i
	}
	return -1
}

// Has says whether m is a member.
func (v *View) Has(m Member) bool { return v.Position(m) >= 0 }

// Excludes says whether an incarnation is over as far as the view knows: it was a member
// once, or a later incarnation of the same process was or is.
func (v *View) Excludes(m Member) bool {
	if i := v.incarnation(m.Proc); i >= 0 {
		return v.Members[i].Incarnation > m.Incarnation
	}
	i, found := slices.BinarySearchFunc(v.Past, m.Proc, func(x Member, p proto.Proc) int { return cmp.Compare(x.Proc, p) })
	return found && v.Past[i].Incarnation >= m.Incarnation
}

// Next is the view after this one, without those that are gone, with the joiners, in their order,
// and with changed metadata. A joiner with the name of a member replaces it.
func (v *View) Next(gone []Departure, joined []Member, updated ...Metadata) *View {
	w := &View{Number: v.Number + 1, Gone: slices.Clone(gone), Joined: slices.Clone(joined)}
	out, left := make([]bool, len(v.Members)), 0
	for _, d := range gone {
		if i := v.Position(d.Member); i >= 0 && !out[i] {
			out[i] = true
			left++
		}
	}
	w.Members = make([]Member, 0, len(v.Members)-left+len(joined))
	w.Past = make([]Member, 0, len(v.Past)+left)
	w.Past = append(w.Past, v.Past...)
	for i, m := range v.Members {
		if out[i] {
			w.Past = append(w.Past, m)
		} else {
			w.Members = append(w.Members, m)
		}
	}
	w.Members = append(w.Members, joined...)
	w.index()
	w.Past = slices.DeleteFunc(w.Past, func(m Member) bool { return w.incarnation(m.Proc) >= 0 })
	slices.SortFunc(w.Past, func(a, b Member) int {
		return cmp.Or(cmp.Compare(a.Proc, b.Proc), -cmp.Compare(a.Incarnation, b.Incarnation))
	})
	w.Past = slices.CompactFunc(w.Past, func(a, b Member) bool { return a.Proc == b.Proc })
	v.update(w, updated)
	w.seal()
	return w
}

// follows returns an error if a view can't be the next one after another: its own changes must
// lead from that view's members to its own.
func (v *View) follows(base *View) error {
	if v.Number != base.Number+1 {
		return fmt.Errorf("view %d after view %d", v.Number, base.Number)
	}
	for _, d := range v.Gone {
		if !base.Has(d.Member) {
			return fmt.Errorf("view %d: %v is gone, but was no member", v.Number, d.Member)
		}
	}
	for _, m := range v.Joined {
		if base.Excludes(m) {
			return fmt.Errorf("view %d: %v has joined, but that incarnation is over", v.Number, m)
		}
	}
	if err := v.updates(base); err != nil {
		return err
	}
	if !base.Next(v.Gone, v.Joined, v.Updated...).same(v) {
		return fmt.Errorf("view %d doesn't come of view %d by its changes", v.Number, base.Number)
	}
	return nil
}

// Step is Next for changes that have come in a message. It returns an error that says what is wrong
// with them.
func (v *View) Step(joined []Member, gone []Departure, updated []Metadata) (*View, error) {
	if v.Number+1 == 0 {
		return nil, fmt.Errorf("a view after view %d", v.Number)
	}
	for i, m := range joined {
		if m.Proc < 0 || v.Excludes(m) || v.Has(m) || slices.ContainsFunc(joined[:i], func(x Member) bool { return x.Proc == m.Proc }) {
			return nil, fmt.Errorf("view %d: %v can't join", v.Number+1, m)
		}
		if i := v.incarnation(m.Proc); i >= 0 && departed(gone, v.Members[i]) < 0 {
			return nil, fmt.Errorf("view %d: %v joins, and an earlier incarnation isn't gone", v.Number+1, m)
		}
	}
	for i, d := range updated {
		if i > 0 && updated[i-1].Proc >= d.Proc {
			return nil, fmt.Errorf("view %d: metadata aren't in order at %v", v.Number+1, d.Member)
		}
	}
	for _, d := range gone {
		if !v.Has(d.Member) {
			return nil, fmt.Errorf("view %d: %v is gone, but was no member", v.Number+1, d.Member)
		}
	}
	w := v.Next(gone, joined, updated...)
	if len(w.Members) == 0 {
		return nil, fmt.Errorf("view %d has no members", w.Number)
	}
	return w, w.updates(v)
}

// same says whether two views have the same members and metadata, and the same past.
func (v *View) same(other *View) bool {
	return v == other || v != nil && other != nil && v.Number == other.Number &&
		slices.Equal(v.Members, other.Members) && slices.Equal(v.Past, other.Past) && slices.Equal(v.Metadata, other.Metadata)
}

// departed is the index of a member in a list of those gone, or -1.
func departed(gone []Departure, m Member) int {
	return slices.IndexFunc(gone, func(d Departure) bool { return d.Member == m })
}

// Quorum says whether the members of a view that aren't gone may decide on the
// next one: if all departures are certain, if the others are more than half
// of the view, or if they are half of it and the most senior member is one of
// them. The package's documentation says why it is no more lenient.
func (v *View) Quorum(gone []Departure) bool {
	silent := slices.ContainsFunc(gone, func(d Departure) bool { return d.Why == Silent && v.Has(d.Member) })
	return !silent || v.majority(gone)
}

// majority is Quorum without the first case: however certain the departures are.
func (v *View) majority(gone []Departure) bool {
	here, first := len(v.Members), true
	for _, d := range gone {
		switch v.Position(d.Member) {
		case -1:
			continue
		case 0:
			first = false
		}
		here--
	}
	return 2*here > len(v.Members) || 2*here == len(v.Members) && first
}
