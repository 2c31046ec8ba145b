package spares

import (
	"fmt"
	"slices"
)

// phase is what a spare does in the present term.
type phase uint8

const (
	// following: another spare leads the term. This one notes what peers tell it.
	following phase = iota
	// catchingUp: this spare leads, and was stopped for a while. It begins nothing before it has
	// read the messages that arrived meanwhile.
	catchingUp
	// awaitingSpares: this spare leads, and waits for spares that no spare leader has seen yet.
	awaitingSpares
	// leading: this spare leads, and begins attempts as soon as all processes are connected.
	leading
	// superseded: this spare leads, but a later term has begun elsewhere. It begins nothing until
	// its own client has gone on, too.
	superseded
	// finished: the job is over.
	finished
)

func (p phase) String() string {
	return [...]string{"following", "catching up", "awaiting spares", "leading", "superseded", "finished"}[p]
}

// nextPhases are the phases that may follow each phase.
var nextPhases = [...][]phase{
	following:      {catchingUp, awaitingSpares, leading, superseded},
	catchingUp:     {awaitingSpares, leading, superseded, following, finished},
	awaitingSpares: {catchingUp, leading, superseded, following, finished},
	leading:        {catchingUp, superseded, following, finished},
	superseded:     {following, finished},
	finished:       {},
}

// leads says whether this spare is the spare leader of a job that isn't over.
func (p phase) leads() bool { return p != following && p != finished }

// enter goes to another phase.
func (m *Machine) enter(next phase) {
	if next == m.phase {
		return
	}
	if !slices.Contains(nextPhases[m.phase], next) {
		panic(fmt.Sprintf("spares: from phase %v to %v", m.phase, next))
	}
	m.phase = next
}

// advance enters the phase of a spare leader that fits what it has heard by now.
func (m *Machine) advance() {
	switch {
	case m.announced > m.term:
		m.enter(superseded)
	case m.now < m.caughtUp:
		m.enter(catchingUp)
	case m.awaitsUnseenSpares():
		m.enter(awaitingSpares)
	default:
		m.enter(leading)
	}
}
