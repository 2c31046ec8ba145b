package comm

import (
	"slices"

	"banyan/internal/proto"
	"banyan/internal/runtime/process"
	"banyan/internal/splitmix"
)

// A program keeps its size although ranks die if some ranks are spares: the last ones of a
// communicator. They wait in Refill, which all members call after a death. What it makes has its
// spares at the end again.

// Spares is how many of the last members are spares: in the world as many as the job's user said,
// in a communicator of Refill those that are left, in all others none.
func (c *Comm) Spares() int { return c.spares }

// SetSpares makes the last n members spares. All members call it, between the same agreements.
func (c *Comm) SetSpares(n int) error {
	if n < 0 || n >= len(c.group) {
		return c.wrap("SetSpares", sizeError("the number of spares", n, len(c.group)-1))
	}
	c.spares = n
	return nil
}

// Refill makes a communicator of the members that live, in which spares have taken the ranks of
// dead ones. All other members that aren't spares keep their ranks. If more have died than there
// were spares, those behind the gaps move up. All members that live call it, spares too, and all
// that return are members.
func (c *Comm) Refill() (*Comm, error) {
	a := c.agree("Refill", process.AgreeRefill, 0)
	if err := a.wait(); err != nil {
		return nil, c.wrap(a.op, err)
	}
	group, spares := refilled(c.group, c.spares, a.outcome.Failed)
	d, err := open(c.eng, a.derived(refillBranch), group)
	if err != nil {
		return nil, c.wrap(a.op, err)
	}
	d.strict, d.spares = c.strict, spares
	return d, nil
}

// refilled is a group without the failed ones, whose places the first of its last members have that
// live, the spares; and how many spares are left.
func refilled(group []proto.Rank, spares int, failed []proto.Rank) (filled []proto.Rank, left int) {
	dead := func(r proto.Rank) bool { return slices.Contains(failed, r) }
	first := len(group) - spares
	waiting := slices.DeleteFunc(slices.Clone(group[first:]), dead)
	for _, r := range group[:first] {
		if dead(r) {
			if len(waiting) == 0 {
				continue
			}
			r, waiting = waiting[0], waiting[1:]
		}
		filled = append(filled, r)
	}
	return append(filled, waiting...), len(waiting)
}

// derived is the context of a communicator that an agreement has made. All members derive the same
// without messages, from what they have agreed on.
func derived(parent, branch uint64, outcome *process.Agreement) uint64 {
	context := splitmix.Mix(branchOf(parent, branch) ^ outcome.Number)
	for _, r := range outcome.Failed {
		context = splitmix.Mix(context ^ uint64(r))
	}
	return context &^ collectivePart
}
