package logp

import (
	"banyan/internal/proto"
	"banyan/internal/trace"
)

// Listener gets more than an [Outcome] when a broadcast is over, at far less cost than a trace.
type Listener interface {
	// Sent says how many messages of one kind were sent.
	Sent(purpose trace.Purpose, messages int)
	// Lost says how many of all messages arrived at dead processes.
	Lost(messages int)
	// Process says of each process, in the order of their numbers, when and by which kind of
	// message it was coloured (proto.Never if it wasn't), whether dissemination reached it, and
	// whether it is dead in the end. The root is coloured by dissemination.
	Process(coloured proto.Time, by trace.Purpose, reached, dead bool)
	// Quiet says when the broadcast was quiet.
	Quiet(at proto.Time)
}

// kindCounts is how many messages of each kind were sent.
type kindCounts [1 << 8]int

func (k *kindCounts) add(messages []Message) {
	for _, x := range messages {
		k[x.Kind()]++
	}
}

// tell reports the run that has just ended to the listener.
func (s *Simulator) tell(activity Activity, dead func(p int) bool) {
	var purposes [len(s.kinds)]trace.Purpose
	for kind, n := range s.kinds {
		if n > 0 {
			purposes[kind] = trace.PurposeOf(s.run.KindName(uint8(kind)))
			s.Listener.Sent(purposes[kind], n)
		}
	}
	s.Listener.Lost(activity.Lost)
	s.Listener.Quiet(activity.Quiescence)
	for p := range s.run.states {
		state := &s.run.states[p]
		coloured, by := proto.Never, trace.Other
		if state.Coloured() {
			coloured, by = s.run.times[p], purposes[s.run.colouredBy[p]]
		}
		s.Listener.Process(coloured, by, state.Reached(), dead(p))
	}
}
