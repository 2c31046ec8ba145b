package comm

import (
	"cmp"
	"encoding/binary"
	"slices"

	"banyan/internal/proto"
)

// Undefined is the colour of a rank that takes part in Split but wants no communicator.
const Undefined = -1

// Split makes a communicator of the members that give the same colour, ordered
// by key, then by their present rank. It returns nil for Undefined.
func (c *Comm) Split(colour, key int) (*Comm, error) {
	const op = "Split"
	own := make([]byte, 16)
	binary.LittleEndian.PutUint64(own, uint64(colour))
	binary.LittleEndian.PutUint64(own[8:], uint64(key))
	all := make([]byte, 16*c.Size())
	// Do this before anything can fail. Members may see a failure or not; the communicators that
	// they make afterwards must have the same contexts all the same.
	context := c.child(uint64(colour) + 1)
	if err := c.Allgather(own, all).Run(); err != nil {
		return nil, c.wrap(op, err)
	}
	if colour == Undefined {
		return nil, nil
	}
	type member struct {
		key  int
		rank int
	}
	var members []member
	for i := range c.Size() {
		record := all[16*i:]
		if int(int64(binary.LittleEndian.Uint64(record))) == colour {
			members = append(members, member{int(int64(binary.LittleEndian.Uint64(record[8:]))), i})
		}
	}
	slices.SortStableFunc(members, func(a, b member) int { return cmp.Compare(a.key, b.key) })
	group := make([]proto.Rank, len(members))
	for i, m := range members {
		group[i] = c.group[m.rank]
	}
	d, err := open(c.eng, context, group)
	if err != nil {
		return nil, c.wrap(op, err)
	}
	return d, nil
}

// Dup makes a communicator of the same members. Messages of the two never match each other.
func (c *Comm) Dup() (*Comm, error) {
	if err := c.Usable(); err != nil {
		return nil, c.wrap("Dup", err)
	}
	d, err := open(c.eng, c.child(0), append([]proto.Rank(nil), c.group...))
	if err != nil {
		return nil, c.wrap("Dup", err)
	}
	return d, nil
}
