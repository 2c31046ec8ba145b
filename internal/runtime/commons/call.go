package commons

import "banyan/internal/proto/cells"

// Pattern says which members give data in a call and which take it; see package cells.
type Pattern = cells.Pattern

// The patterns.
const (
	All      = cells.All
	FromRoot = cells.FromRoot
	ToRoot   = cells.ToRoot
	Agree    = cells.Agree
)

// Kind is the operation that a call carries out, at most 7.
type Kind uint8

// The kinds.
const (
	Barrier Kind = 1 + iota
	Bcast
	Reduce
	Allreduce
	Allgather
	Alltoall
	Agreement
)

// Call is a collective operation of all members.
type Call struct {
	Pattern Pattern
	Root    int
	// Kind tells operations apart, so that members that mean different ones notice it.
	Kind Kind
	// Size is how many bytes each member gives that gives any: the same at all, at most Room. It
	// is told to the others as well.
	Size int
	// Give are those bytes, if this member gives.
	Give []byte
}

// note is what members compare: the kind and the size.
func (c *Call) note() uint64 { return uint64(c.Size)<<sizeShift | uint64(c.Kind) }

const sizeShift = 3 // of the size in a note

// State is how far a call has come.
type State uint8

// The states.
const (
	Waits  State = iota // for a store of another member: Go looks again
	Reads               // the data of others is to be read now: Data, then HasRead
	Wakes               // another member may be asleep: wake Subject, then Go
	Sleeps              // after Doze: this member may sleep now, and Go once it is awake
	Ended               // see Outcome
)

// Begin begins a call. Only one is under way at a time.
func (s *Memory) Begin(c Call) {
	s.call, s.running = c, true
	s.m.Begin(c.Pattern, c.Root, c.note(), c.Size > 0)
}

// Running tells whether a call is under way.
func (s *Memory) Running() bool { return s.running }

// Go goes on with the call as far as possible.
func (s *Memory) Go() State {
	m := &s.m
	if s.asleep { // it has slept
		s.asleep = false
		m.Result(0)
	}
	for {
		a := m.Next()
		switch a.Op {
		case cells.End:
			return Ended
		case cells.Claim:
			s.line(a.Member, a.Cell).turn.Store(a.Value)
			m.Result(0)
		case cells.Write:
			copy(s.place(a.Member, a.Cell, s.call.Size), s.call.Give)
			m.Result(0)
		case cells.Publish, cells.Close:
			ok := uint64(0)
			if s.line(a.Member, a.Cell).word.CompareAndSwap(a.Old, a.Value) {
				ok = 1
			}
			m.Result(ok)
		case cells.AwaitWord:
			if !m.Result(s.line(a.Member, a.Cell).word.Load()) {
				return Waits
			}
		case cells.AwaitDone:
			if !m.Result(s.own(a.Member).done.Load()) {
				return Waits
			}
		case cells.Read:
			return Reads
		case cells.Check:
			m.Result(s.line(a.Member, a.Cell).turn.Load())
		case cells.Finish:
			s.own(a.Member).done.Store(a.Value)
			m.Result(0)
		case cells.Sleepers:
			m.Result(s.sleepers.Load())
		case cells.Waits:
			m.Result(s.own(a.Member).waits.Load())
		case cells.Look:
			m.Result(s.line(a.Member, a.Cell).word.Load())
		case cells.Notify:
			return Wakes
		case cells.Announce:
			s.own(a.Member).waits.Store(a.Value)
			m.Result(0)
		case cells.LieDown:
			s.sleepers.Or(a.Value)
			m.Result(0)
		case cells.Sleep:
			s.asleep = true
			return Sleeps
		case cells.GetUp:
			s.sleepers.And(^a.Value)
			m.Result(0)
		}
	}
}

// Doze says, in state Waits, that this member is about to sleep.
func (s *Memory) Doze() { s.m.Doze() }

// Subject is the member to wake in state Wakes, and the one that is waited for in states Waits and
// Sleeps.
func (s *Memory) Subject() int { return s.m.Next().Member }

// Done ends state Reads or Wakes: the caller has read, or woken.
func (s *Memory) Done() { s.m.Result(0) }

// Data is, in state Reads, what a member from which this one takes has given, Size bytes. It is
// the memory itself, which the caller must not change; if a member that was taken for dead writes
// it meanwhile, the call ends as Fenced.
func (s *Memory) Data(member int) []byte {
	return s.place(member, s.m.Cell(), s.call.Size)
}

// Gone notes that a member is dead.
func (s *Memory) Gone(member int) { s.m.Gone(member) }

// End ends the call, in state Ended or when it is given up for good, and says how. culprit is the
// member that the outcome concerns, and has how many bytes that one has given in place of Size.
func (s *Memory) End() (o cells.Outcome, culprit, has int) {
	s.running, s.call.Give = false, nil
	o, culprit = s.m.Outcome()
	s.m.Leave()
	if o == cells.Mismatch {
		has = int(cells.Note(s.line(culprit, s.m.Cell()).word.Load()) >> sizeShift)
	}
	return o, culprit, has
}

// Ahead tells whether another member has given its data in a call that this one hasn't begun. Both
// rest.
func (s *Memory) Ahead() bool {
	for member := range int(s.size) {
		for cell := range Depth {
			if s.line(member, cell).word.Load()>>cells.NumberShift > s.m.Call() {
				return true
			}
		}
	}
	return false
}
