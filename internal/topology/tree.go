package topology

import "fmt"

// MaxProcs is the largest number of processes in a tree.
const MaxProcs = 1 << 30

// Numbering is the order in which the processes of a tree get their positions.
type Numbering uint8

const (
	Interleaved Numbering = iota // in the order in which they are reached
	InOrder                      // depth first
)

func (n Numbering) String() string {
	switch n {
	case Interleaved:
		return "interleaved"
	case InOrder:
		return "inorder"
	}
	return fmt.Sprintf("numbering %d", uint8(n))
}

// ParseNumbering is the inverse of [Numbering.String].
func ParseNumbering(s string) (Numbering, error) {
	for _, n := range []Numbering{Interleaved, InOrder} {
		if s == n.String() {
			return n, nil
		}
	}
	return 0, fmt.Errorf("unknown numbering %q: want interleaved or inorder", s)
}

// Tree is a tree over the positions 0…Procs()-1. Values come from [KAry],
// [Binomial], [Lame] or [Optimal], never change, and may be copied and shared.
type Tree struct {
	procs     int32
	arity     int32 // of a k-ary tree; 0: a tree of rounds
	numbering Numbering
	rounds    rounds // of the others
}

// Procs is the number of processes.
func (t *Tree) Procs() int { return int(t.procs) }

// Numbering says how the positions were given.
func (t *Tree) Numbering() Numbering { return t.numbering }

// Interleaved reports whether the tree is interleaved in the sense of the paper's
// definition 1, whatever P is. It says no of in-order trees and of optimal trees
// where o doesn't divide L.
func (t *Tree) Interleaved() bool {
	return t.numbering == Interleaved && (t.arity > 0 || t.rounds.dense())
}

// Cursor walks the children of one process, in the order in which it sends to
// them. It belongs to the tree that made it, is small and holds no pointer, so
// that a protocol can keep one for each of very many processes. The zero Cursor
// has no meaning.
type Cursor struct {
	at int32 // what the next child is computed from; its meaning depends on the tree
	by int32
	to int32
}

// Children returns a cursor before the first child of a process.
func (t *Tree) Children(process int) Cursor {
	switch {
	case t.arity > 0:
		return t.karyChildren(int32(process))
	case t.numbering == Interleaved:
		return t.rounds.children(int32(process))
	default:
		return t.rounds.inOrderChildren(int32(process), t.procs)
	}
}

// Next moves the cursor over one child and returns it; ok is false when there
// is none left.
func (t *Tree) Next(c *Cursor) (child int, ok bool) {
	var n int32
	switch {
	case t.arity > 0:
		n, ok = t.karyNext(c)
	case t.numbering == Interleaved:
		n, ok = t.rounds.next(c, t.procs)
	default:
		n, ok = t.rounds.inOrderNext(c, t.procs)
	}
	return int(n), ok
}

// AppendChildren appends the children of a process in sending order.
func (t *Tree) AppendChildren(dst []int, process int) []int {
	c := t.Children(process)
	for {
		child, ok := t.Next(&c)
		if !ok {
			return dst
		}
		dst = append(dst, child)
	}
}

// Parent returns the process that sends to this one, or -1 for the root.
func (t *Tree) Parent(process int) int {
	switch {
	case process == 0:
		return -1
	case t.arity > 0:
		return int(t.karyParent(int32(process)))
	case t.numbering == Interleaved:
		return int(t.rounds.parent(int32(process)))
	default:
		return int(t.rounds.inOrderParent(int32(process)))
	}
}

func checkProcs(procs int) error {
	if procs < 1 || procs > MaxProcs {
		return fmt.Errorf("a tree of %d processes: want 1 to %d", procs, MaxProcs)
	}
	return nil
}
