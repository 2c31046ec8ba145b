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
	// Do this before anything can fail. Members may see a failure or not; the communicators that
	// they make afterwards must have the same contexts all the same.
	context := c.child(uint64(colour) + 1)
	records, err := c.shareRecords([2]int{colour, key})
	if err != nil {
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
	for i, r := range records {
		if r[0] == colour {
			members = append(members, member{r[1], i})
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

// shareRecords gives two numbers of each member to all.
func (c *Comm) shareRecords(own [2]int) ([][2]int, error) {
	const size = 16
	room := make([]byte, 0, size)
	for _, n := range own {
		room = binary.LittleEndian.AppendUint64(room, uint64(n))
	}
	all := make([]byte, size*c.Size())
	if err := c.Allgather(room, all).Run(); err != nil {
		return nil, err
	}
	records := make([][2]int, c.Size())
	for i := range records {
		for j := range own {
			records[i][j] = int(int64(binary.LittleEndian.Uint64(all[size*i+8*j:])))
		}
	}
	return records, nil
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
