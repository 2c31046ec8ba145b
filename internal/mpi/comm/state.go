package comm

import (
	"errors"
	"fmt"
	"slices"

	"banyan/internal/varint"
)

// A communicator's counts belong to the state that one replica gives to another. The list of
// communicators doesn't: a replacement has made the same ones up to its first safe point, and a
// communicator made later prevents a donation.

// ErrState says that the bytes aren't the state of this communicator at another replica.
var ErrState = errors.New("not the state of such a communicator")

// title names a communicator among the parts of a process.
func (c *Comm) title() string {
	switch c.context {
	case worldContext:
		return "the world"
	case selfContext:
		return "the communicator of the process itself"
	}
	return fmt.Sprintf("a communicator of %d ranks (%x)", len(c.group), c.context)
}

// AppendState appends the communicator's counts.
func (c *Comm) AppendState(b []byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	b = varint.Append(b, c.children, uint64(len(c.groups)))
	var keys []uint64
	for key := range c.groups {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		b = varint.Append(b, key, c.groups[key])
	}
	p := &c.plans
	p.Lock()
	defer p.Unlock()
	open := uint64(0)
	for i := range p.background {
		if p.background[i].open {
			open |= 1 << i
		}
	}
	if p.spread {
		open |= 1 << backgroundLanes
	}
	if c.meets {
		open |= 1 << (backgroundLanes + 1)
	}
	return varint.Append(b, uint64(p.runs.Load()&(keptTag-1)), uint64(p.kept), p.started, open, uint64(c.sharing.calls))
}

// Restore sets the counts to those of another replica of this rank, and opens the contexts that the
// other one has opened.
func (c *Comm) Restore(b []byte) error {
	r := varint.Read(b)
	children, groups := r.Uint(), map[uint64]uint64{}
	for range r.Count() {
		key := r.Uint()
		groups[key] = r.Uint()
	}
	runs, kept, started, open := r.Uint(), r.Uint(), r.Uint(), r.Uint()
	calls := r.Uint()
	if calls > sharedFromOversubscribed || !r.Done() || runs >= keptTag || kept >= keptTag || open>>(backgroundLanes+2) != 0 {
		return ErrState
	}
	c.mu.Lock()
	c.children, c.groups, c.sharing.calls = children, groups, int(calls)
	c.mu.Unlock()
	p := &c.plans
	p.Lock()
	p.kept, p.started = int32(kept), started
	p.runs.Store(uint32(runs))
	var contexts []uint64
	for i := range p.background {
		if l := &p.background[i]; !l.open && open&(1<<i) != 0 {
			l.open = true
			contexts = append(contexts, c.laneContext(i))
		}
	}
	spread := !p.spread && open&(1<<backgroundLanes) != 0
	p.spread = p.spread || spread
	p.Unlock()
	if spread {
		if err := c.eng.OpenBranch(c.context, c.branch(spreadBranch), c.group, false); err != nil {
			return err
		}
	}
	if open&(1<<(backgroundLanes+1)) != 0 {
		if _, err := c.openMeeting(); err != nil {
			return err
		}
	}
	for _, context := range contexts {
		if err := c.eng.OpenContext(context, c.group, true); err != nil {
			return err
		}
	}
	return nil
}
