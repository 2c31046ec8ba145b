// Package passive is the order in which the replicas of a rank do what concerns the rank's part of
// a window in leader order (design, section 4.7; decision 134): what other ranks ask of the part,
// and where among that its own program synchronises. One replica, the leader, decides what comes
// next as it can; its siblings do the same, step by step.
//
// # The protocol
//
// The part has a public copy, on which all accesses are carried out in the order of Steps. The
// program's memory, its private copy, is brought together with the public one in steps of the
// program alone (MPI_WIN_SEPARATE). So the outcome of each step follows from the steps before it,
// whatever the program does meanwhile, and requests are served while it computes.
//
// A replica does the steps that it has learnt, in their order. One that leads, and has done all of
// these, decides what is next: a message that is here, or the program's own step, if it waits. The
// leader's decisions are part of its log (package order), so nothing that depends on one leaves
// before the siblings know it, or find it.
//
// # What is relied on
//
//   - Messages of one rank come to each replica of the target in the same order, and as long as a
//     replica lives (package replica).
//   - The logs of siblings are beginnings of one log, and a leader knows all that anything depends
//     on which has left (package order).
//   - All replicas of the target come to the same own steps, in the same order.
//
// # Invariants
//
//   - The steps that a replica has done are a beginning of those that its leader has done, or will
//     do.
//   - A step that can be done at the leader can be done at each sibling that has done those before
//     it: it waits for its message, or for its program, and both come without that step.
package passive

import (
	"fmt"

	"banyan/internal/proto"
)

// Step is what is done next at a part.
type Step struct {
	// Own says that it is the program's: the two copies are brought together.
	Own bool
	// Source is whose next message is carried out.
	Source proto.Rank
}

func (s Step) String() string {
	if s.Own {
		return "the program's own step"
	}
	return fmt.Sprintf("a message of %v", s.Source)
}

// Machine is the order of steps at one replica. The zero Machine knows of none.
type Machine struct {
	known []run // those that were decided and aren't done
	begin int   // the runs before are over
}

// run is a step that is done so many times.
type run struct {
	step  Step
	times uint64
}

// Learn takes in that the leader has decided a step, so many times.
func (m *Machine) Learn(s Step, times uint64) {
	if times == 0 {
		return
	}
	if m.begin > 0 && m.begin >= len(m.known)/2 {
		m.known = m.known[:copy(m.known, m.known[m.begin:])]
		m.begin = 0
	}
	if last := len(m.known) - 1; last >= m.begin && m.known[last].step == s {
		m.known[last].times += times
		return
	}
	m.known = append(m.known, run{s, times})
}

// Next is the next step, if it was decided.
func (m *Machine) Next() (s Step, known bool) {
	if m.Empty() {
		return Step{}, false
	}
	return m.known[m.begin].step, true
}

// Empty says that all steps that were decided are done.
func (m *Machine) Empty() bool { return m.begin == len(m.known) }

// May tells whether a step may be done now; leads says that this replica leads its rank.
func (m *Machine) May(s Step, leads bool) bool {
	next, known := m.Next()
	return known && next == s || !known && leads
}

// Do does a step that May be done. It tells whether that is a decision, of which the siblings have
// to hear.
func (m *Machine) Do(s Step) (decision bool) {
	if m.Empty() {
		return true
	}
	now := &m.known[m.begin]
	if now.step != s {
		panic(fmt.Sprintf("passive: %v, where %v is next", s, now.step))
	}
	if now.times--; now.times == 0 {
		m.begin++
	}
	return false
}

// Each visits the steps that were decided and aren't done, in their order.
func (m *Machine) Each(visit func(s Step, times uint64)) {
	for _, r := range m.known[m.begin:] {
		visit(r.step, r.times)
	}
}
