package engine

import (
	"banyan/internal/proto"
	"banyan/internal/runtime/process"
)

// A Schedule is one collective operation at one process: a small program of
// steps. Some start an operation with another member (send, receive, broadcast)
// and go on at once; some work on memory here (copy, combine); and some wait until
// the operations started so far, or the first few of them, have ended. The steps
// run in their order. So what a process sends, and in which order, is written in
// its program, and no timing can change it.
//
// Whoever polls the engine goes on with every schedule that can: a schedule that
// was started needs nobody who waits for it. See schedule_run.go.
//
// A Schedule is filled by its methods, then run or started, and may be cleared
// and filled again: it allocates nothing once its slices are large enough.
type Schedule struct {
	// Name is the operation's, for people.
	Name string
	// Context and Tag are those of all its messages.
	Context uint64
	Tag     int32
	// Casts, if not 0, is the context of its broadcasts.
	Casts uint64
	// Spreads says that sends and offers spread what this member has: that another who should
	// get it is lost is no error. But any other error is the end of the schedule.
	Spreads bool
	// Lane, if set, lets the schedules that share it run one after another, in
	// the order of their starts.
	Lane *Lane
	// Released, if set, is called when a schedule that was started has ended. It
	// must not call the engine, whose lock is held.
	Released func()

	steps   []Step
	starts  int // operations that the steps start
	scratch scratch

	runState
}

// StepKind says what a Step does.
type StepKind uint8

// The kinds of steps.
const (
	StepSend      StepKind = iota // Data to Peer
	StepOffer                     // Data to Peer, which gets it when it wants it, however little it is
	StepReceive                   // from Peer, exactly as much as Data holds
	StepBroadcast                 // Data from the root, which is number Peer of the context
	StepWait                      // for the first Count operations that were started
	StepCopy                      // From to Data
	StepCombine                   // Data = Data With From
)

// Step is one step of a Schedule.
type Step struct {
	Kind  StepKind
	place place
	Peer  proto.Rank    // in the world; the root of a broadcast by its index in the context
	shape process.Shape // of a broadcast
	Count int
	Data  []byte
	From  []byte
	With  Combiner
}

// place says where a step on memory runs.
type place uint8

const (
	underLock place = iota // on whichever thread goes on with the schedule
	unlocked               // the same, but with the engine's lock given up meanwhile
	inCall                 // so too, but only on a thread of the program that is inside a call
)

// Combiner folds the right operand into the left: left[i] = left[i] op right[i].
// Both are whole elements of the same number. It must be associative; it need
// not be commutative.
type Combiner interface {
	Combine(left, right []byte)
}

// lockedBytes is up to how much memory is worked on with the lock held.
const lockedBytes = 32 << 10

// Clear forgets the steps, to fill the schedule anew.
func (s *Schedule) Clear() {
	clear(s.steps) // the program's memory is not ours to keep
	s.steps, s.starts = s.steps[:0], 0
	s.Casts, s.Spreads = 0, false
	s.scratch.giveBack()
}

// Steps is the program, for tests. It is not to be changed.
func (s *Schedule) Steps() []Step { return s.steps }

// Send adds a send to a world rank. The data must not change before a wait for it.
func (s *Schedule) Send(to proto.Rank, data []byte) {
	st := s.start(StepSend)
	st.Peer, st.Data = to, data
}

// Offer adds a send to a world rank that ends when the data was received.
func (s *Schedule) Offer(to proto.Rank, data []byte) {
	st := s.start(StepOffer)
	st.Peer, st.Data = to, data
}

// Receive adds a receive from a world rank of exactly as much as the buffer holds.
func (s *Schedule) Receive(from proto.Rank, buffer []byte) {
	st := s.start(StepReceive)
	st.Peer, st.Data = from, buffer
}

// Broadcast adds a part in the context's next broadcast; see process.Process.BroadcastAs.
func (s *Schedule) Broadcast(root int, shape process.Shape, buffer []byte) {
	st := s.start(StepBroadcast)
	st.Peer, st.shape, st.Data = proto.Rank(root), shape, buffer
}

func (s *Schedule) start(k StepKind) *Step {
	s.starts++
	return s.step(k)
}

// step adds a step to fill in: what lies beyond the steps there are is clear.
func (s *Schedule) step(k StepKind) *Step {
	n := len(s.steps)
	if n == cap(s.steps) {
		s.steps = append(s.steps, Step{})
	} else {
		s.steps = s.steps[:n+1]
	}
	st := &s.steps[n]
	st.Kind = k
	return st
}

// Wait adds a wait for all operations started so far.
func (s *Schedule) Wait() { s.WaitFor(s.starts) }

// WaitFor adds a wait for the first n operations that the program starts.
func (s *Schedule) WaitFor(n int) {
	if n > 0 {
		s.step(StepWait).Count = n
	}
}

// Copy adds a copy. Between the same memory there is nothing to do.
func (s *Schedule) Copy(to, from []byte) {
	if len(to) == 0 || &to[0] == &from[0] {
		return
	}
	st := s.step(StepCopy)
	st.Data, st.From = to, from
	if len(to) > lockedBytes {
		st.place = unlocked
	}
}

// Combine adds a combination: left = left op right. foreign says that the
// combiner is the program's own code: it runs only while the program is inside a
// call, and may call the library.
func (s *Schedule) Combine(op Combiner, foreign bool, left, right []byte) {
	if len(left) == 0 {
		return
	}
	st := s.step(StepCombine)
	st.Data, st.From, st.With = left, right, op
	switch {
	case foreign:
		st.place = inCall
	case len(left) > lockedBytes:
		st.place = unlocked
	}
}

// Scratch gives n bytes that belong to the schedule until it is cleared, aligned
// for every element type.
func (s *Schedule) Scratch(n int) []byte { return s.scratch.take(n) }

// Do carries out a step on memory.
func (st *Step) Do() {
	if st.Kind == StepCopy {
		copy(st.Data, st.From)
		return
	}
	st.With.Combine(st.Data, st.From)
}

// local tells whether a step works on memory only.
func (st *Step) local() bool { return st.Kind >= StepCopy }
