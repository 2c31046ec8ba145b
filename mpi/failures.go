package mpi

import (
	"errors"

	"banyan/internal/mpi/comm"
	"banyan/internal/proto"
)

// What a program uses that handles failures itself, in the manner of MPI's fault tolerance (ULFM):
// see docs/guide/ulfm.md. It asks to go on by SurviveRankLoss. In jobs that hide deaths from it,
// with replicas or --rollback, agreements and shrinks are of all ranks, and Revoke returns an
// error. In leader order that holds until a rank is lost for good.

// Revoke ends all operations of the communicator with ErrRevoked at all ranks, those under way and
// later ones: here at once, and elsewhere in time, even if this rank dies. It needn't be called by
// all. Agree, Shrink, Free and what is local go on.
func (c *Comm) Revoke() error { return c.outcome(c.c.Revoke()) }

// Revoked tells whether the communicator is revoked, as far as this rank knows.
func (c *Comm) Revoked() bool { return c.c.Revoked() }

// Agree returns the bitwise AND of the flags of all ranks that gave theirs before they died. All
// ranks that live call it, also in a communicator that is revoked, and get the same flags. The
// error is ErrProcFailed, at all of them, if a rank died without giving its flags and one of
// those that gave theirs had not acknowledged that failure (AckFailed).
func (c *Comm) Agree(flags uint32) (uint32, error) {
	flags, err := c.c.Agree(flags)
	return flags, c.outcome(err)
}

// SetStrict has Agree and Shrink return only when all ranks that live have the outcome. Else a
// rank that returns and dies may have had another one than the others have. It takes twice as
// long. All ranks call it, between the same agreements.
func (c *Comm) SetStrict(on bool) { c.c.SetStrict(on) }

// Shrink makes a communicator of the ranks that live, in their order. All that live call it, also
// in a communicator that is revoked.
func (c *Comm) Shrink() (*Comm, error) {
	d, err := c.c.Shrink()
	if err != nil {
		return nil, c.outcome(err)
	}
	return c.with(d), nil
}

// SetResilient has Barrier, Reduce and Allreduce survive the failure of ranks, at the price of an
// Agree more. All ranks that live get the same result, of the same contributors, although others
// die meanwhile; and ErrProcFailed with it, at all of them, as long as one that has contributed
// hasn't acknowledged (AckFailed) the failure of one that is missing. Missing tells which those
// are. A Reduce fails at all ranks if its root has died. A revocation doesn't end them. All ranks
// call it, between the same collectives.
func (c *Comm) SetResilient(on bool) { c.c.SetResilient(on) }

// Missing are the ranks whose contributions the last resilient Barrier, Reduce or Allreduce did
// without. All ranks that live have the same.
func (c *Comm) Missing() []int { return c.locals(c.c.Missing()) }

// Spares is how many of the last ranks are spares, which wait in Refill to take the rank of a
// dead one: in the world those of "banyan run --spare-ranks", in a communicator of Refill those
// that are left.
func (c *Comm) Spares() int { return c.c.Spares() }

// SetSpares makes the last n ranks spares. All ranks call it, between the same agreements.
func (c *Comm) SetSpares(n int) error { return c.c.SetSpares(n) }

// Refill makes a communicator of the ranks that live, in which spares have taken the ranks of
// dead ones. All others keep their ranks, unless there are too few spares: then those behind the
// gaps move up. All that live call it, spares too, also in a communicator that is revoked.
func (c *Comm) Refill() (*Comm, error) {
	d, err := c.c.Refill()
	if err != nil {
		return nil, c.outcome(err)
	}
	return c.with(d), nil
}

// Failed are the ranks of the communicator of whose failure this rank knows, in the order in which
// it learnt of them. The list only grows.
func (c *Comm) Failed() []int { return c.locals(c.c.Failed()) }

// locals are ranks of the world as ranks of the communicator.
func (c *Comm) locals(world []proto.Rank) (ranks []int) {
	for _, r := range world {
		ranks = append(ranks, c.c.Local(r))
	}
	return ranks
}

// WorldRanks are the ranks of the communicator as ranks of the world, in their order. They tell who
// is left after a Shrink.
func (c *Comm) WorldRanks() []int {
	all := make([]int, 0, c.Size())
	for _, r := range c.c.Ranks() {
		all = append(all, int(r))
	}
	return all
}

// AckFailed acknowledges the first n of Failed, and returns how many are acknowledged. A receive
// from AnySource returns ErrProcFailed as long as a failure that is known isn't acknowledged: the
// dead rank might be the one that it waits for. A Request of such a receive returns the error
// too, but stays active, and may still end with a message.
func (c *Comm) AckFailed(n int) int { return c.c.AckFailed(n) }

// goesOn tells whether a request stays active although its wait has returned an error.
func goesOn(err error) bool { return err != nil && errors.Is(err, comm.ErrPending) }
