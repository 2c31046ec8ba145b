// Package summary says in a few lines of text what happened in a simulated broadcast: messages,
// latencies, gaps, and a histogram of when processes were coloured.
//
// A Summary is a logp.Listener: the simulator tells it the numbers at the end. It keeps eleven
// bytes a process and none a message, so it serves millions of processes. A test compares its
// numbers with those of logp.Outcome and with a count of the events.
package summary

import (
	"banyan/internal/proto"
	"banyan/internal/trace"
)

// Summary holds the numbers of a broadcast.
type Summary struct {
	Messages   [trace.Purposes]int // sent
	Coloured   [trace.Purposes]int // processes, by what coloured them; the root by dissemination
	Dead       int                 // processes, at the end
	Quiescence proto.Time          // the end of the last receive, or arrival at a dead process

	at    []proto.Time // when each process was coloured; Never if it wasn't
	state []state
	lost  int // messages at dead processes
	told  int // how many processes Process has been called for
}

// state is what is known of a process.
type state struct {
	reached, dead bool
	last          trace.Purpose // of what it received last
}

// New is for a broadcast among so many processes.
func New(procs int) *Summary {
	s := &Summary{at: make([]proto.Time, procs), state: make([]state, procs)}
	for p := range s.at {
		s.at[p] = proto.Never
	}
	return s
}

// Sent counts messages of a purpose. It and the next three methods make a Summary a logp.Listener.
func (s *Summary) Sent(purpose trace.Purpose, messages int) { s.Messages[purpose] += messages }

// Lost counts messages that arrived at dead processes.
func (s *Summary) Lost(messages int) { s.lost += messages }

// Quiet takes a time at which all was over.
func (s *Summary) Quiet(at proto.Time) { s.Quiescence = max(s.Quiescence, at) }

// Process takes what happened to the next process.
func (s *Summary) Process(coloured proto.Time, by trace.Purpose, reached, dead bool) {
	s.at[s.told], s.state[s.told] = coloured, state{reached: reached, dead: dead}
	s.told++
	if coloured != proto.Never {
		s.Coloured[by]++
	}
	if dead {
		s.Dead++
	}
}

// Total is how many messages were sent.
func (s *Summary) Total() (n int) {
	for _, k := range s.Messages {
		n += k
	}
	return n
}

// Live is how many processes are alive at the end.
func (s *Summary) Live() int { return len(s.state) - s.Dead }

// Unreached is how many live processes were never coloured.
func (s *Summary) Unreached() (n int) {
	for p, at := range s.at {
		if at == proto.Never && !s.state[p].dead {
			n++
		}
	}
	return n
}

// Coloring is the time when the last process was coloured, 0 if none was.
func (s *Summary) Coloring() (last proto.Time) {
	for _, at := range s.at {
		if at != proto.Never {
			last = max(last, at)
		}
	}
	return last
}

// Gaps counts the gaps by length. A gap is a run of processes on the ring, dead or live, that
// dissemination didn't reach. A process that died after it was reached is in no gap.
func (s *Summary) Gaps() map[int]int {
	gaps := map[int]int{}
	first, gap := -1, 0 // first is the length before the first process that was reached
	for _, p := range s.state {
		if !p.reached {
			gap++
			continue
		}
		if first < 0 {
			first = gap
		} else if gap > 0 {
			gaps[gap]++
		}
		gap = 0
	}
	if around := gap + max(first, 0); around > 0 {
		gaps[around]++
	}
	return gaps
}
