// Package summary says in a few lines of text what happened in a simulated broadcast: messages,
// latencies, gaps, and a histogram of when processes were coloured.
//
// A Summary is a logp.Listener: the simulator tells it the numbers at the end. It keeps nothing of
// a process or a message, only how many there were of each sort, so it serves millions of
// processes. A test compares its numbers with those of logp.Outcome and with a count of the events.
package summary

import (
	"maps"

	"banyan/internal/proto"
	"banyan/internal/trace"
)

// Summary holds the numbers of a broadcast. The zero Summary is ready.
type Summary struct {
	Messages   [trace.Purposes]int // sent
	Coloured   [trace.Purposes]int // processes, by what coloured them; the root by dissemination
	Dead       int                 // processes, at the end
	Quiescence proto.Time          // the end of the last receive, or arrival at a dead process

	procs     int   // how many processes Process has been called for
	unreached int   // live processes that were never coloured
	lost      int   // messages at dead processes
	when      times // when processes were coloured

	// The gaps so far: gap is the length of the one at the last process, inner counts those that
	// have ended but the first, and before is the length of the first, if anybody was reached.
	inner       map[int]int
	gap, before int
	reached     bool
}

// Sent counts messages of a purpose. It and the next three methods make a Summary a logp.Listener.
func (s *Summary) Sent(purpose trace.Purpose, messages int) { s.Messages[purpose] += messages }

// Lost counts messages that arrived at dead processes.
func (s *Summary) Lost(messages int) { s.lost += messages }

// Quiet takes a time at which all was over.
func (s *Summary) Quiet(at proto.Time) { s.Quiescence = max(s.Quiescence, at) }

// Process takes what happened to the next process.
func (s *Summary) Process(coloured proto.Time, by trace.Purpose, reached, dead bool) {
	s.procs++
	if dead {
		s.Dead++
	}
	if coloured != proto.Never {
		s.Coloured[by]++
		s.when.add(coloured)
	} else if !dead {
		s.unreached++
	}
	switch {
	case !reached:
		s.gap++
	case !s.reached:
		s.reached, s.before, s.gap = true, s.gap, 0
	case s.gap > 0:
		if s.inner == nil {
			s.inner = map[int]int{}
		}
		s.inner[s.gap]++
		s.gap = 0
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
func (s *Summary) Live() int { return s.procs - s.Dead }

// Unreached is how many live processes were never coloured.
func (s *Summary) Unreached() int { return s.unreached }

// Coloring is the time when the last process was coloured, 0 if none was.
func (s *Summary) Coloring() proto.Time { return s.when.last }

// Gaps counts the gaps by length. A gap is a run of processes on the ring, dead or live, that
// dissemination didn't reach. A process that died after it was reached is in no gap.
func (s *Summary) Gaps() map[int]int {
	gaps := map[int]int{}
	maps.Copy(gaps, s.inner)
	if around := s.gap + s.before; around > 0 {
		gaps[around]++
	}
	return gaps
}
