package spares

import (
	"pgregory.net/rapid"

	"banyan/internal/job/control"
)

// ending is what becomes of a process at the job's end.
type ending struct {
	leaves   bool       // it wants to leave in order
	left     bool       // it has left, though its machine may still lead
	tried    int        // so many spare leaders haven't answered
	lasted   int        // as a spare leader: so many signs of life it has given since it left
	by       *modelProc // the spare leader that has answered it
	departed bool       // it is a spare and knows that a process has left
	hindered bool       // it was stopped or killed, or too slow, at the end
	code     int        // of a spare that has ended: its exit code plus 1
}

func (e *ending) exit(code int) {
	if e.code == 0 {
		e.code = code + 1
	}
}

// leave is what a process does in MPI_Finalize.
func (j *jobModel) leave(s *modelProc) {
	if !s.leaves {
		s.leaves = true
		j.say(s, control.Message{Type: control.Finalized})
	}
}

// answered takes a spare leader's Finalized.
func (j *jobModel) answered(s *modelProc) {
	switch {
	case s.proc < 0:
		s.departed = true
	case s.leaves:
		s.left, s.by = true, s.at
		j.part(s)
		j.goodbye(s)
	}
}

// finished says whether a process that goes on to the next term has told each spare leader that
// it leaves.
func (j *jobModel) finished(s *modelProc) bool {
	if s.leaves && s.announced <= s.tracker.term {
		s.tried++
	}
	if s.leaves && s.tried >= s.tracker.spares {
		s.left = true
		j.goodbye(s)
	}
	return s.left
}

// goodbye ends a process that has left, unless it is a spare leader that others may still need.
func (j *jobModel) goodbye(s *modelProc) {
	if s.machine == nil || !s.machine.phase.leads() || s.lasted > 2*beats {
		s.steps = 0 // no death of a replica
		s.proc = -1
		j.kill(s)
	}
}

// end takes a spare leader's word that the job is over.
func (j *jobModel) end(s *modelProc, a Action) {
	over := true
	for _, o := range j.procs {
		over = over && (!o.alive || o.proc < 0 || o.leaves || o.hindered)
	}
	if !over {
		j.t.Fatalf("spare %d ends a job that isn't over: %d %s", s.launcherRank, a.Code, a.Text)
	}
	if s.proc < 0 {
		s.exit(a.Code)
		j.kill(s)
		return
	}
	for _, l := range s.links {
		l.peer.closed = l.peer.closed || l.peer.at == s
	}
	s.links = nil
	if s.left {
		j.goodbye(s)
	}
}

// playEnd has all processes leave while some are stopped, woken and killed, and checks how they
// end.
func (j *jobModel) playEnd() {
	for range rapid.IntRange(0, 60).Draw(j.t, "last events") {
		s := j.pick()
		switch what := rapid.IntRange(0, 9).Draw(j.t, "what"); {
		case !s.alive:
		case what == 0 && s.machine != nil:
			s.stopped, s.hindered = !s.stopped, true
		case what == 1 && (s.proc < 0 || s.leaves):
			s.hindered = true
			j.kill(s)
		case what == 2:
			j.pass()
		case what < 5 && s.runs() && s.proc >= 0:
			j.leave(s)
		case what < 8:
			j.act(s)
		case len(s.links) > 0:
			j.serve(s, rapid.SampledFrom(sorted(s.links)).Draw(j.t, "peer"))
		}
	}
	for _, s := range j.procs {
		if s.alive && s.proc >= 0 { // a job waits for a process that is stopped in MPI_Finalize
			s.stopped = false
			j.leave(s)
		}
	}
	for range 60 * beats {
		j.pass()
		for _, s := range j.procs {
			if s.runs() && s.left {
				s.lasted++
				j.goodbye(s)
			}
		}
	}
	heard := false
	for _, s := range j.procs {
		heard = heard || s.by != nil && !s.by.hindered || s.departed && !s.hindered
	}
	for _, s := range j.procs {
		switch {
		case s.runs():
			j.t.Errorf("process %d doesn't end", s.launcherRank)
		case s.proc < 0 && heard && s.machine != nil && !s.hindered && s.code > 1:
			j.t.Errorf("spare %d ends with code %d, though a process that had left in order said so, and a live spare knew it", s.launcherRank, s.code-1)
		}
	}
}
