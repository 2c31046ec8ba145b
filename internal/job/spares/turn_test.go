package spares

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"banyan/internal/job/control"
	"banyan/internal/layout"
	"banyan/internal/proto"
)

// realm is a job of two ranks of two replicas with its spares: the machines of all, and between them connections that
// keep the order of what is sent, and nothing else. Each process does what a Client and a job do.
type realm struct {
	t         *rapid.T
	n         int // places
	now       proto.Time
	stations  []*subject // by station: the places' first processes, then the spares
	lastGuest int
	given     map[[2]uint32]bool  // place and life
	dead      []proto.Incarnation // so many lives of a place all hold for dead
	admitted  []proto.Incarnation // the last life of a place that all have been told of
	healed    []proto.Incarnation // the last that all know
}

const silence = time.Second

// subject is one process.
type subject struct {
	station     int
	alive       bool
	stopped     bool
	course      course
	urged       uint64
	at          *subject // whose door it is at, nil: nobody's
	guest       int      // its number there
	from        []control.Message
	closed      bool // it has gone: what it has sent still comes
	proc        int  // -1: a spare without a place
	incarnation proto.Incarnation
	steps       int                  // of becoming a replica: 3 is all
	knows       [4]proto.Incarnation // which life of a place it has admitted
	ending

	machine *Machine
	guests  map[int]*line
}

// line is a connection, as a door sees it.
type line struct {
	who    *subject
	inbox  []control.Message
	closed bool
}

func newRealm(t *rapid.T, spares int) *realm {
	const n = 4
	r := &realm{t: t, n: n, given: map[[2]uint32]bool{}, dead: make([]proto.Incarnation, n), admitted: make([]proto.Incarnation, n), healed: make([]proto.Incarnation, n)}
	for i := range n + spares {
		s := &subject{station: i, alive: true, course: course{spares: spares}, proc: i, steps: 3}
		if i >= n {
			s.proc = -1
			s.machine = New(proto.Proc(i), layout.Uniform(2, 2), spares, silence, 0)
			s.guests = map[int]*line{}
		}
		r.stations = append(r.stations, s)
	}
	for _, s := range r.stations[n:] {
		r.turn(s)
	}
	return r
}

func (s *subject) runs() bool { return s.alive && !s.stopped }

// turn has a spare's machine know its turn.
func (r *realm) turn(s *subject) {
	if s.machine != nil {
		r.step(s, func(out *[]Action) { s.machine.Turn(r.now, s.course.turn, out) })
	}
}

// step has a machine do something.
func (r *realm) step(s *subject, do func(out *[]Action)) {
	var out []Action
	do(&out)
	for _, a := range out {
		switch a.Kind {
		case Send:
			l := s.guests[a.To]
			if l == nil {
				continue
			}
			if a.Message.Type == control.Take {
				key := [2]uint32{uint32(a.Message.Proc), uint32(a.Message.Incarnation)}
				if r.given[key] {
					r.t.Fatalf("life %d of place %d is given twice", key[1], key[0])
				}
				r.given[key] = true
			}
			if l.who.guest == a.To && l.who.at == s {
				l.who.from = append(l.who.from, a.Message)
			}
		case Drop:
			if l := s.guests[a.To]; l != nil {
				delete(s.guests, a.To)
				if l.who.at == s && l.who.guest == a.To {
					l.who.closed = true
				}
			}
		case End:
			r.end(s, a)
		case Urge:
			s.urged = max(s.urged, a.Turn)
		}
	}
}

func (r *realm) say(s *subject, m control.Message) {
	if s.at != nil {
		if l := s.at.guests[s.guest]; l != nil {
			l.inbox = append(l.inbox, m)
		}
	}
}

// part closes a process's connection at its end.
func (r *realm) part(s *subject) {
	if s.at != nil {
		if l := s.at.guests[s.guest]; l != nil {
			l.closed = true
		}
	}
	s.at, s.from, s.closed = nil, nil, false
}

// lose is what a process does without its spare leader.
func (r *realm) lose(s *subject) {
	r.part(s)
	if s.proc >= 0 && s.steps < 3 {
		r.kill(s)
		return
	}
	if s.proc >= 0 { // who isn't known to all is given up
		for p, incarnation := range r.admitted {
			if incarnation > r.healed[p] {
				r.bury(p, incarnation)
			}
		}
	}
	r.goOn(s)
}

// goOn turns to the next spare leader.
func (r *realm) goOn(s *subject) {
	if r.finished(s) {
		return
	}
	s.course.goOn(s.urged)
	r.turn(s)
}

// bury is what the detectors do: all hold somebody for dead.
func (r *realm) bury(p int, incarnation proto.Incarnation) {
	if r.dead[p] > incarnation {
		return
	}
	r.dead[p] = incarnation + 1
	for _, s := range r.stations {
		if s.alive && s.proc == p && s.incarnation <= incarnation {
			r.kill(s)
		} else if s.alive && s.proc >= 0 && s.steps == 3 {
			r.say(s, msg(control.Eviction, proto.Proc(p), incarnation))
		}
	}
}

func (r *realm) kill(s *subject) {
	s.alive = false
	r.part(s)
	if s.machine != nil {
		for _, l := range s.guests {
			l.who.closed = l.who.closed || l.who.at == s
		}
		s.guests = nil
	}
	if s.proc >= 0 && (s.steps == 3 || r.admitted[s.proc] >= s.incarnation) {
		r.bury(s.proc, s.incarnation)
	}
}

// act has a process do the next thing, if there is one.
func (r *realm) act(s *subject) bool {
	switch {
	case !s.runs() || s.left:
		return false
	case s.at == nil:
		door := r.stations[r.n+s.course.spare()]
		if !door.alive || door.machine.over {
			r.goOn(s)
			return false // it pauses
		}
		r.lastGuest++
		s.at, s.guest = door, r.lastGuest
		door.guests[s.guest] = &line{who: s}
		door.machine.Opened(s.guest, proto.Proc(s.station))
		r.say(s, control.Message{Type: control.Turn, Number: s.course.turn})
		r.introduce(s)
		if s.leaves {
			r.say(s, control.Message{Type: control.Finalized})
		}
		return true
	case s.urged > s.course.turn:
		r.say(s, control.Message{Type: control.Turn, Number: s.urged})
		r.lose(s)
		return true
	case len(s.from) > 0:
		m := s.from[0]
		s.from = s.from[1:]
		r.heard(s, m)
		return true
	case s.closed:
		r.lose(s)
		return true
	case s.proc >= 0 && s.steps < 3 && (s.steps == 0 || r.allKnow(s)):
		s.steps++
		r.say(s, control.Message{Type: []control.Type{control.Arrived, control.Committed, control.Healed}[s.steps-1]})
		if s.steps == 3 {
			r.healed[s.proc] = s.incarnation
			copy(s.knows[:], r.admitted)
			r.say(s, msg(control.Healable, 0, 0))
		}
		return true
	}
	return false
}

// allKnow says whether all replicas have admitted a replacement, which nobody holds for dead.
func (r *realm) allKnow(q *subject) bool {
	for _, s := range r.stations {
		if s.alive && s.proc >= 0 && s.steps == 3 && s.knows[q.proc] != q.incarnation {
			return false
		}
	}
	return true
}

func (r *realm) introduce(s *subject) {
	if s.proc < 0 {
		r.say(s, control.Message{Type: control.Spare})
		if s.departed {
			r.say(s, control.Message{Type: control.Finalized})
		}
		return
	}
	r.say(s, msg(control.Member, proto.Proc(s.proc), s.incarnation))
	for p := range r.n {
		if r.admitted[p] > 0 {
			r.say(s, msg(control.Knows, proto.Proc(p), r.admitted[p]))
		}
		if r.dead[p] > 0 {
			r.say(s, msg(control.Eviction, proto.Proc(p), r.dead[p]-1))
		}
	}
	r.say(s, msg(control.Healable, 0, 0))
}

func (r *realm) heard(s *subject, m control.Message) {
	switch m.Type {
	case control.Turn:
		if !s.leaves {
			s.course.heard(m.Number)
		}
	case control.Finalized:
		r.answered(s)
	case control.Take:
		s.proc, s.incarnation, s.steps = int(m.Proc), m.Incarnation, 0
	case control.Admit:
		if s.steps == 3 && r.dead[m.Proc] <= m.Incarnation {
			s.knows[m.Proc] = max(s.knows[m.Proc], m.Incarnation)
			r.admitted[m.Proc] = max(r.admitted[m.Proc], m.Incarnation)
		}
	case control.Dismissed:
		if s.proc < 0 {
			s.exit(m.Code)
		}
		r.kill(s)
	case control.Death:
		switch {
		case s.proc < 0 || s.steps < 3:
		case int(m.Proc) != s.proc:
			r.bury(int(m.Proc), m.Incarnation)
		case s.incarnation <= m.Incarnation:
			r.t.Fatalf("process %d is told that it is dead", s.proc)
		}
	}
}

// serve has a spare leader, or who may become it, hear a guest.
func (r *realm) serve(s *subject, id int) bool {
	l := s.guests[id]
	switch {
	case !s.runs() || l == nil:
		return false
	case len(l.inbox) > 0:
		m := l.inbox[0]
		l.inbox = l.inbox[1:]
		r.step(s, func(out *[]Action) { s.machine.Heard(r.now, id, m, out) })
		return true
	case l.closed:
		delete(s.guests, id)
		r.step(s, func(out *[]Action) { s.machine.Closed(r.now, id, out) })
		return true
	}
	return false
}

// pass lets a sign of life be due.
func (r *realm) pass() {
	r.now += proto.Time(silence / beats)
	for _, s := range r.stations {
		if s.runs() && s.machine != nil {
			r.step(s, func(out *[]Action) { s.machine.Tick(r.now, out) })
		}
	}
	r.settle()
	for _, s := range r.stations {
		switch {
		case !s.runs() || s.at == nil:
		case s.course.tick():
			r.say(s, control.Message{Type: control.Turn, Number: max(s.course.turn+1, s.urged)})
			r.lose(s)
		default:
			r.say(s, control.Message{Type: control.Turn, Number: s.course.turn})
		}
	}
	r.settle()
}

// settle has everybody do all there is to be done, in order.
func (r *realm) settle() {
	for busy, rounds := true, 0; busy; rounds++ {
		if busy = false; rounds > 10000 {
			r.t.Fatal("no end of it")
		}
		for _, s := range r.stations {
			for r.act(s) {
				busy = true
				if rounds++; rounds > 10000 {
					r.t.Fatal("no end of it")
				}
			}
			for _, id := range sorted(s.guests) {
				for r.serve(s, id) {
					busy = true
				}
			}
		}
	}
}

func sorted(guests map[int]*line) (ids []int) {
	for id := range guests {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Whoever is stopped, woken and killed, or finds a spare too slow, at whatever moment: no life is given twice, nobody who lives is told that he is
// dead, and in the end all who are left are at one spare leader's, and each place is filled for which there is a spare.
func TestTurns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRealm(t, rapid.IntRange(1, 4).Draw(t, "spares"))
		r.settle()
		for range rapid.IntRange(0, 60).Draw(t, "events") {
			s := r.who()
			switch what := rapid.IntRange(0, 9).Draw(t, "what"); {
			case what == 0 && s.alive && s.machine != nil && s.proc < 0:
				s.stopped = !s.stopped
			case what == 1 && s.alive:
				if s.proc < 0 || r.replaceable(s.proc) {
					r.kill(s)
				}
			case what < 4:
				r.pass()
			case what == 4 && s.runs() && s.at == nil: // the next spare doesn't answer in time
				r.goOn(s)
			case what < 7:
				r.act(s)
			case len(s.guests) > 0:
				r.serve(s, rapid.SampledFrom(sorted(s.guests)).Draw(t, "guest"))
			}
		}
		for _, s := range r.stations {
			s.stopped = false
		}
		for range 60 * beats {
			r.pass()
		}
		r.judge()
		r.playEnd()
	})
}

// who is a process to which something happens.
func (r *realm) who() *subject {
	return r.stations[rapid.IntRange(0, len(r.stations)-1).Draw(r.t, "who")]
}

// replaceable says whether a rank keeps a replica without a process.
func (r *realm) replaceable(p int) bool {
	for _, s := range r.stations {
		if s.runs() && s.proc == (p+2)%4 && s.steps == 3 {
			return true
		}
	}
	return false
}

// judge looks at what is in the end.
func (r *realm) judge() {
	var spareLeaders, spares, living []*subject
	filled := map[int]bool{}
	for _, s := range r.stations {
		if !s.alive {
			continue
		}
		living = append(living, s)
		if s.machine != nil && s.machine.reigns {
			spareLeaders = append(spareLeaders, s)
		}
		if s.proc < 0 {
			spares = append(spares, s)
		} else {
			filled[s.proc] = true
		}
	}
	if slices.ContainsFunc(living, func(s *subject) bool { return s.machine != nil }) {
		if len(spareLeaders) != 1 {
			r.t.Fatalf("%d spare leaders", len(spareLeaders))
		}
		for _, s := range living {
			if s.at != spareLeaders[0] {
				r.t.Fatalf("process %d of turn %d isn't at the spare leader's, %d, of turn %d", s.station, s.course.turn, spareLeaders[0].station, spareLeaders[0].course.turn)
			}
		}
	}
	if len(spares) > 0 && len(filled) < r.n {
		r.t.Fatal(fmt.Sprintf("only %d places are filled, and there are %d spares", len(filled), len(spares)))
	}
}
