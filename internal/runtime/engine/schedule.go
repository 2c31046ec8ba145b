package engine

import (
	"banyan/internal/proto"
	"banyan/internal/runtime/process"
)

// A Schedule is one process's part in one collective operation: a small program of steps. Some
// steps start an operation with another member (send, receive, broadcast) and go on at once; some
// work on memory (copy, combine); and some wait until the operations started so far, or the first
// few of them, have ended. The steps run in their order. So the program fixes what a process sends
// and in which order; timing can't change it.
//
// Every thread that polls the engine advances all schedules that can go on, so a schedule needs no
// thread that waits for it. See schedule_run.go.
//
// Methods fill a Schedule; then it is run or started. It may be cleared and filled again, and
// allocates nothing once its slices are large enough.
type Schedule struct {
	// Name is the name of the operation, for people.
	Name string
	// Context and Tag are those of all its messages.
	Context uint64
	Tag     int32
	// Casts, if not 0, is the context of its broadcasts.
	Casts uint64
	// Spreads says that sends and offers spread what this member has. Then the loss of a receiver
	// is no error, and any other error ends the schedule.
	Spreads bool
	// Lane, if set, lets the schedules that share it run one after another, in
	// the order of their starts.
	Lane *Lane
	// Agreement, if set, is the agreement that the schedule is (process.MaskedAgreement).
	Agreement *process.Agreement
	// Released, if set, is called when a schedule that was started has ended. The engine's lock is
	// held then, so Released must not call the engine.
	Released func()

	steps   []Step
	starts  int  // operations that the steps start
	large   bool // data of some may be offered
	scratch scratch

	runState
}

// StepKind says what a Step does.
type StepKind uint8

// The kinds of steps.
const (
	StepSend      StepKind = iota // Data to Peer
	StepOffer                     // Data to Peer, which fetches it when it has a buffer, however small
	StepReceive                   // from Peer, exactly as much as Data holds
	StepBroadcast                 // Data from the root, which is number Peer of the context
	StepOnce                      // With is a *Once, which one replica of the rank does
	StepGiven                     // until Count sends have been given; see Engine.Give
	StepWait                      // for the first Count operations that were started
	StepCopy                      // From to Data
	StepCombine                   // Data = Data With From
	StepTake                      // from Peer, at most as much as Data holds; see Taken
)

// Step is one step of a Schedule.
type Step struct {
	Kind   StepKind
	thread runsOn
	Peer   proto.Rank    // in the world; the root of a broadcast by its index in the context
	shape  process.Shape // of a broadcast
	Count  int           // of a wait; of a send or receive: its tag, counted from the schedule's
	Data   []byte
	From   []byte
	With   Combiner
}

// runsOn says on which thread a step on memory runs.
type runsOn uint8

const (
	underLock runsOn = iota // any thread that advances the schedule
	unlocked                // the same, with the engine's lock given up meanwhile
	inCall                  // a thread of the program inside a call, with the lock given up
	mayBlock                // the same of a schedule that Run runs; else a goroutine of its own
)

// Combiner folds the right operand into the left: left[i] = left[i] op right[i].
// Both are whole elements of the same number. It must be associative; it need
// not be commutative.
type Combiner interface {
	Combine(left, right []byte)
}

// lockedBytes is the most memory that a step works on with the lock held.
const lockedBytes = 32 << 10

// Clear forgets the steps, to fill the schedule anew.
func (s *Schedule) Clear() {
	clear(s.steps) // drop the references to the program's memory
	s.steps, s.starts = s.steps[:0], 0
	s.Casts, s.Spreads, s.large, s.Agreement = 0, false, false, nil
	s.scratch.giveBack()
}

// Steps is the program, for tests, which must not change it.
func (s *Schedule) Steps() []Step { return s.steps }

// Send adds a send to a world rank. The data must not change before a wait for it.
func (s *Schedule) Send(to proto.Rank, data []byte) {
	st := s.start(StepSend)
	st.Peer, st.Data = to, data
	s.large = s.large || len(data) > process.EagerLimit
}

// SendTagged is Send with a tag of its own, counted from the schedule's.
func (s *Schedule) SendTagged(to proto.Rank, tag int32, data []byte) {
	s.Send(to, data)
	s.steps[len(s.steps)-1].Count = int(tag)
}

// Offer adds a send to a world rank that ends when the receiver has the data.
func (s *Schedule) Offer(to proto.Rank, data []byte) {
	st := s.start(StepOffer)
	st.Peer, st.Data = to, data
	s.large = true
}

// Receive adds a receive from a world rank of exactly as much as the buffer holds.
func (s *Schedule) Receive(from proto.Rank, buffer []byte) {
	st := s.start(StepReceive)
	st.Peer, st.Data = from, buffer
	s.large = s.large || len(buffer) > lockedBytes
}

// ReceiveTagged is Receive with a tag of its own, counted from the schedule's.
func (s *Schedule) ReceiveTagged(from proto.Rank, tag int32, buffer []byte) {
	s.Receive(from, buffer)
	s.steps[len(s.steps)-1].Count = int(tag)
}

// TakeTagged is ReceiveTagged of at most as much as the buffer holds. Taken says how much it was.
func (s *Schedule) TakeTagged(from proto.Rank, tag int32, buffer []byte) {
	s.ReceiveTagged(from, tag, buffer)
	s.steps[len(s.steps)-1].Kind = StepTake
}

// Taken is the size of the message that the last TakeTagged has received.
func (s *Schedule) Taken() int { return s.taken }

// Given adds a wait until the program has given n sends since the start, by Engine.Give.
func (s *Schedule) Given(n int) { s.step(StepGiven).Count = n }

// Broadcast adds a part in the context's next broadcast; see process.Process.Broadcast.
func (s *Schedule) Broadcast(root int, shape process.Shape, buffer []byte) {
	st := s.start(StepBroadcast)
	st.Peer, st.shape, st.Data = proto.Rank(root), shape, buffer
}

func (s *Schedule) start(k StepKind) *Step {
	s.starts++
	return s.step(k)
}

// step adds an empty step for the caller to fill in. The memory beyond the last step is always
// clear.
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

// Started is the number of operations that the steps start.
func (s *Schedule) Started() int { return s.starts }

// Wait adds a wait for all operations started so far.
func (s *Schedule) Wait() { s.WaitFor(s.starts) }

// WaitFor adds a wait for the first n operations that the program starts.
func (s *Schedule) WaitFor(n int) {
	if n > 0 {
		s.step(StepWait).Count = n
	}
}

// Copy adds a copy. Nothing is to be done if both are the same memory.
func (s *Schedule) Copy(to, from []byte) {
	if len(to) == 0 || &to[0] == &from[0] {
		return
	}
	st := s.step(StepCopy)
	st.Data, st.From = to, from
	if len(to) > lockedBytes {
		st.thread = unlocked
	}
}

// Combine adds a combination: left = left op right. foreign says that the combiner is the
// program's own code. Such code runs only while the program is inside a call, and may call the
// library.
func (s *Schedule) Combine(op Combiner, foreign bool, left, right []byte) {
	if len(left) == 0 {
		return
	}
	st := s.step(StepCombine)
	st.Data, st.From, st.With = left, right, op
	switch {
	case foreign:
		st.thread = inCall
	case len(left) > lockedBytes:
		st.thread = unlocked
	}
}

// Work adds a step that calls a function without the engine's lock. It may block for long: no
// thread that must send heartbeats runs it. It may add further steps at the end of the schedule if
// it is the last step itself. So what is done next may depend on what has been received.
func (s *Schedule) Work(do func()) {
	st := s.step(StepCombine)
	st.With, st.thread = work(do), mayBlock
}

// work is a function as a Combiner.
type work func()

// Combine calls the function.
func (w work) Combine(_, _ []byte) { w() }

// Scratch gives n bytes, aligned for every element type. They belong to the schedule until it is
// cleared.
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
