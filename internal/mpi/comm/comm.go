// Package comm is communicators: their members, point-to-point operations between the members, and
// the collective algorithms.
//
// Everything is in bytes; package mpi and the C library put element types on top. A collective is a
// Plan: a program of messages and local steps that the engine carries out while the caller waits,
// or in the background. Each algorithm has a file of its own, which tells its cost: n members, m
// bytes (of all parts together, where there are parts), α for a message, β for a byte, γ for
// combining a byte.
//
// # Invariants
//
//   - A communicator's context is derived from its parent's and from the order in which the parent
//     made children. So all members, and all replicas of each, get the same context without
//     exchanging messages. No two communicators share one.
//   - Every member sends the same messages in the same order, whatever the timing: replication
//     depends on it. In particular, an algorithm is chosen by what is the same everywhere: the
//     sizes, the members, and what the launcher has said of their hosts.
//   - Reductions combine in rank order. So their result depends on the communicator alone: not on
//     the root, the timing or the replica.
//
// # Failures
//
// When a member is lost for good, with all its replicas, the collectives of an unreplicated
// communicator end with an error at every live member. Only Bcast completes, as long as its root
// lives.
//
// # Limits
//
// The collectives of one communicator begin one after another, in the same order at all members, as
// MPI demands. Those in the background may overlap. Buffers of one call don't overlap unless a
// comment allows it. If several goroutines send to the same rank over one communicator, replicas
// may differ in the order: give each goroutine a communicator of its own (Dup).
package comm

import (
	"sync"

	"banyan/internal/proto"
	"banyan/internal/runtime/engine"
	"banyan/internal/splitmix"
)

// worldContext is the context of the world. The lowest bit of a context is 0 for point-to-point
// traffic and 1 for collective traffic.
const (
	worldContext   uint64 = 2
	collectivePart uint64 = 1
)

// Comm is a communicator: an ordered group of ranks and a context.
type Comm struct {
	eng            *engine.Engine
	context        uint64
	handle         uint64       // in the C library; 0: none
	group          []proto.Rank // world ranks by rank in the communicator
	inverse        []int32      // ranks in the communicator by world rank, or -1
	rank           int
	shared         bool // all members read each other's memory
	oversubscribed bool // all members share too few cores
	copies         bool // ranks run as several replicas
	cast           caster
	calls          engine.Calls
	sharing        sharing
	spares         int // of the last members, who wait for Refill
	resilience     resilience
	pact           pact
	strict         bool   // agreements return when all members have the outcome
	parts          *Inter // the intercommunicator that this is for; nil: none
	meets          bool   // the context for meetings of leaders is open

	mu       sync.Mutex
	children uint64            // communicators made from this one
	groups   map[uint64]uint64 // see count
	ends     map[uint64]int    // of partitioned messages, by context

	plans plans
}

// Engine is where the communicator's operations run.
func (c *Comm) Engine() *engine.Engine { return c.eng }

// World is the communicator of all ranks.
func World(eng *engine.Engine) (*Comm, error) {
	group := make([]proto.Rank, eng.Layout().Ranks())
	for i := range group {
		group[i] = proto.Rank(i)
	}
	c, err := open(eng, worldContext, group)
	if c != nil {
		c.spares = min(eng.SpareRanks(), len(group)-1)
	}
	return c, err
}

func open(eng *engine.Engine, context uint64, group []proto.Rank) (*Comm, error) {
	l := eng.Layout()
	_, self := eng.Self()
	c := &Comm{eng: eng, context: context, group: group, inverse: make([]int32, l.Ranks()), copies: l.Replicated(), calls: eng.Calls()}
	for i := range c.inverse {
		c.inverse[i] = -1
	}
	for i, r := range group {
		c.inverse[r] = int32(i)
	}
	c.rank = int(c.inverse[self])
	c.shared = eng.SharesMemory(group)
	c.oversubscribed = len(group) > 2 && eng.Oversubscribed(group)
	c.cast = c.caster()
	c.sharing.may, c.sharing.from = c.mayShare(), c.sharesFrom()
	c.pact.may = c.sharing.may && !eng.Masks()
	if err := eng.OpenContext(context, group, false); err != nil {
		return nil, err
	}
	if err := eng.OpenContext(context|collectivePart, group, true); err != nil {
		eng.CloseContext(context)
		return nil, err
	}
	eng.Attach(c.title(), c)
	return c, nil
}

// Publish makes the communicator known to the C library by its handle there, and Withdraw ends
// that.
func (c *Comm) Publish(handle uintptr) {
	c.handle = uint64(handle)
	c.eng.SetComm(c.handle, c.context, c.group)
}

// Withdraw is the end of Publish.
func (c *Comm) Withdraw(handle uintptr) {
	c.handle = 0
	c.eng.DropComm(uint64(handle))
}

// Rank is this process's rank in the communicator.
func (c *Comm) Rank() int { return c.rank }

// Size is the number of ranks in the communicator.
func (c *Comm) Size() int { return len(c.group) }

// Free gives up the communicator's context. All members call it, each when it has no operation
// under way there.
func (c *Comm) Free() error {
	if c.context == worldContext || c.context == selfContext {
		return &Error{Op: "Free", Rank: c.rank, Peer: NoPeer, Err: ErrWorld}
	}
	c.eng.Detach(c.title())
	c.eng.CloseContext(c.context)
	c.eng.CloseContext(c.context | collectivePart)
	c.closeLanes()
	c.closeMeeting()
	c.closeCommons()
	c.closePact()
	c.closeTries()
	return nil
}

// child derives the context of the next communicator made from this one. branch tells apart the
// communicators that one call makes. Two communicators of a job get the same context with a
// probability of 2^-63 per pair, and that is noticed.
func (c *Comm) child(branch uint64) uint64 {
	c.mu.Lock()
	c.children++
	n := c.children
	c.mu.Unlock()
	return splitmix.Mix(splitmix.Mix(splitmix.Mix(c.context)^n)^branch) &^ collectivePart
}
