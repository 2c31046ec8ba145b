package comm

import (
	"encoding/binary"

	"banyan/internal/runtime/commons"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/process"
)

// Agreements of members that share memory go through memory that is for them alone, as other small
// collectives go through the commons: each member gives its flags there, and reads those of all
// others. If one is dead and hasn't given any, no member decides there (package cells); all go on
// by messages, also in all later agreements. So the outcome is the same at all that live, as by
// messages. It is there as soon as the last has given its flags, and nobody can change it any more:
// it is always strict.
//
// The memory is opened by two agreements by messages, which carry what is needed beside the
// program's flags: the first where the memory is, the second whether all have opened it. So all
// decide alike, whichever die meanwhile. It doesn't matter how many other collectives have failed
// at which member: members count their agreements only, which all enter in the same order.

// pact is what a communicator knows of the common memory of its agreements.
type pact struct {
	may   bool            // the members share memory, and the common memory isn't known to be impossible
	calls int             // agreements by messages for which the program has waited
	made  *commons.Memory // not yet in use
	in    *engine.Shared  // in use
	give  [4]byte
	flags uint32 // what all have given
}

// Take implements engine.Taker.
func (a *pact) Take(m *commons.Memory) {
	a.flags = ^uint32(0)
	for i := range a.in.Members {
		a.flags &= binary.LittleEndian.Uint32(m.Data(i))
	}
}

// agreeNow agrees on flags, and waits for the outcome.
func (c *Comm) agreeNow(op string, flags uint32) (uint32, error) {
	a := &c.pact
	if a.in != nil {
		binary.LittleEndian.PutUint32(a.give[:], flags)
		a.flags = flags // if C has taken all, these are the outcome
		decided, err := c.eng.AgreeShared(a.in, op, a.give[:], a)
		if decided || err != nil {
			return a.flags, c.wrap(op, err)
		}
		c.closePact()
	}
	if a.may {
		a.calls++
		switch a.calls {
		case c.sharesFrom():
			return c.offerPact(op, flags)
		case c.sharesFrom() + 1:
			return c.openPact(op, flags)
		}
	}
	g := c.agree(op, process.AgreeFlags, flags)
	err := g.wait()
	return g.outcome.Flags, c.wrap(op, err)
}

// offerPact agrees on flags, and tells all members where the common memory is.
func (c *Comm) offerPact(op string, flags uint32) (uint32, error) {
	a := &c.pact
	var ticket commons.Ticket
	willing := c.eng.CanShare() && !c.sharing.unwilling
	if willing && c.rank == 0 {
		a.made, ticket, _ = commons.Make(c.Size())
	}
	outcome, whole, err := c.agreeWith(flags, ticket[:], either)
	if copy(ticket[:], outcome.Data); !whole {
		c.closePact()
	} else if willing && c.rank != 0 {
		a.made, _ = commons.Open(ticket, c.rank, c.Size())
	}
	return outcome.Flags, c.wrap(op, err)
}

// openPact agrees on flags, and on whether all have opened the common memory.
func (c *Comm) openPact(op string, flags uint32) (uint32, error) {
	a := &c.pact
	var opened [1]byte
	if a.made != nil {
		opened[0] = 1
	}
	outcome, whole, err := c.agreeWith(flags, opened[:], both)
	if !whole || outcome.Data[0] != 1 {
		c.closePact()
		return outcome.Flags, c.wrap(op, err)
	}
	if c.rank == 0 {
		a.made.Shut()
	}
	a.in, a.made = &engine.Shared{Memory: a.made, Context: c.context, Members: c.group, Agrees: true}, nil
	c.eng.SetPact(c.handle, &a.in.Part)
	return outcome.Flags, c.wrap(op, err)
}

// agreeWith agrees on flags with data. whole says that all members have given theirs, and that none
// knew of a death: the same at all that live.
func (c *Comm) agreeWith(flags uint32, data []byte, combine func(into, from []byte)) (outcome *process.Agreement, whole bool, err error) {
	h, outcome := c.eng.AgreeWith(c.context, flags, data, combine, c.strict)
	_, err = c.eng.Wait(h)
	return outcome, err == nil && len(outcome.Failed) == 0 && len(outcome.Missing) == 0, err
}

func either(into, from []byte) {
	for i, b := range from {
		into[i] |= b
	}
}

// closePact ends the use of the common memory here, for good.
func (c *Comm) closePact() {
	a := &c.pact
	a.may = false
	if a.in != nil {
		c.eng.SetPact(c.handle, nil)
		a.in.Unmap()
		a.in = nil
	}
	if a.made != nil {
		a.made.Unmap()
		a.made = nil
	}
}
