package founding

import (
	"bytes"
	"cmp"
)

// ID is 128 random bits: an identity that a process keeps over restarts, or that of a founding.
type ID [16]byte

// Start is one start of a process.
type Start struct {
	Node  ID     // the process's, as kept on its disk
	Count uint64 // rises with each start
}

// Memory is what a process remembers of the group that it was in last. The zero Memory is of a
// process that wasn't in any.
type Memory struct {
	Founding ID
	Token    uint64 // of the last view in force
	Next     uint64 // names the view that it had accepted as the next one; 0: none
}

// better says whether one memory is of a later view than another.
func (m Memory) better(other Memory) bool {
	return m.Token > other.Token || m.Token == other.Token && m.Next != 0 && other.Next == 0
}

// conflicts says whether two memories can't be told which is the later, and aren't the same.
func (m Memory) conflicts(other Memory) bool {
	return m != other && !m.better(other) && !other.better(m)
}

// Promise supports a candidate in one round. The zero Promise supports none.
type Promise struct {
	To    Start
	Round uint64
}

// Candidate is what a process that looks for its group says of itself.
type Candidate struct {
	Name    string
	Start   Start
	Memory  Memory
	Expect  uint32 // how many found a group that never was
	Change  uint64 // rises with each change of what follows
	Promise Promise
	Exists  bool // it has heard of a live member
}

// stands says whether a candidate supports itself.
func (c *Candidate) stands() bool { return c.Promise.To == c.Start }

// able says whether a candidate may ever found the group. Others have only promises to give.
func (c *Candidate) able() bool { return c.Memory != (Memory{}) || c.Expect > 0 }

// before says whether a candidate is preferred to another one.
func (c *Candidate) before(other *Candidate) bool {
	switch {
	case c.Memory.better(other.Memory):
		return true
	case other.Memory.better(c.Memory):
		return false
	}
	return cmp.Or(cmp.Compare(c.Name, other.Name), bytes.Compare(c.Start.Node[:], other.Start.Node[:])) < 0
}
