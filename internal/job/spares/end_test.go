package spares

import (
	"pgregory.net/rapid"

	"banyan/internal/job/control"
)

// ending is what becomes of a process at the job's end.
type ending struct {
	leaves   bool     // it wants to leave in order
	left     bool     // it has, as far as its spare leader's place in it goes
	tried    int      // so many spare leaders haven't answered
	lasted   int      // so many signs of life a spare leader that has left has given since
	by       *subject // who has
	departed bool     // a spare that knows that somebody has left
	hindered bool     // it was stopped or killed, or too slow, at the end
	code     int      // of a spare that has ended, plus 1
}

func (e *ending) exit(code int) {
	if e.code == 0 {
		e.code = code + 1
	}
}

// leave is what a process does in MPI_Finalize.
func (r *realm) leave(s *subject) {
	if !s.leaves {
		s.leaves = true
		r.say(s, control.Message{Type: control.Finalized})
	}
}

// answered takes a spare leader's word that somebody has left in order.
func (r *realm) answered(s *subject) {
	switch {
	case s.proc < 0:
		s.departed = true
	case s.leaves:
		s.left, s.by = true, s.at
		r.part(s)
		r.goodbye(s)
	}
}

// finished says, when a process turns to the next spare leader, whether it has told what it had to say to everyone.
func (r *realm) finished(s *subject) bool {
	if s.leaves && s.urged <= s.course.turn {
		s.tried++
	}
	if s.leaves && s.tried >= s.course.spares {
		s.left = true
		r.goodbye(s)
	}
	return s.left
}

// goodbye ends a process that has left, unless it is a spare leader whom others may need for a while.
func (r *realm) goodbye(s *subject) {
	if s.machine == nil || !s.machine.reigns || s.machine.over || s.lasted > 2*beats {
		s.steps = 0 // no death of a replica
		s.proc = -1
		r.kill(s)
	}
}

// end takes a spare leader's word that the job is over.
func (r *realm) end(s *subject, a Action) {
	over := true
	for _, o := range r.stations {
		over = over && (!o.alive || o.proc < 0 || o.leaves || o.hindered)
	}
	if !over {
		r.t.Fatalf("spare %d ends a job that isn't over: %d %s", s.station, a.Code, a.Text)
	}
	if s.proc < 0 {
		s.exit(a.Code)
		r.kill(s)
		return
	}
	for _, l := range s.guests {
		l.who.closed = l.who.closed || l.who.at == s
	}
	s.guests = nil
	if s.left {
		r.goodbye(s)
	}
}

// playEnd has all leave, whoever is stopped, woken and killed meanwhile, and looks how they end.
func (r *realm) playEnd() {
	for range rapid.IntRange(0, 60).Draw(r.t, "last events") {
		s := r.who()
		switch what := rapid.IntRange(0, 9).Draw(r.t, "what"); {
		case !s.alive:
		case what == 0 && s.machine != nil:
			s.stopped, s.hindered = !s.stopped, true
		case what == 1 && (s.proc < 0 || s.leaves):
			s.hindered = true
			r.kill(s)
		case what == 2:
			r.pass()
		case what < 5 && s.runs() && s.proc >= 0:
			r.leave(s)
		case what < 8:
			r.act(s)
		case len(s.guests) > 0:
			r.serve(s, rapid.SampledFrom(sorted(s.guests)).Draw(r.t, "guest"))
		}
	}
	for _, s := range r.stations {
		if s.alive && s.proc >= 0 { // a job waits for a process that is stopped in MPI_Finalize
			s.stopped = false
			r.leave(s)
		}
	}
	for range 60 * beats {
		r.pass()
		for _, s := range r.stations {
			if s.runs() && s.left {
				s.lasted++
				r.goodbye(s)
			}
		}
	}
	heard := false
	for _, s := range r.stations {
		heard = heard || s.by != nil && !s.by.hindered || s.departed && !s.hindered
	}
	for _, s := range r.stations {
		switch {
		case s.runs():
			r.t.Errorf("process %d doesn't end", s.station)
		case s.proc < 0 && heard && s.machine != nil && !s.hindered && s.code > 1:
			r.t.Errorf("spare %d ends with code %d, though a process that had left in order said so, and a spare that lives knew it", s.station, s.code-1)
		}
	}
}
