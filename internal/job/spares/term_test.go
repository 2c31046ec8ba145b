package spares

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"banyan/internal/job/control"
	"banyan/internal/job/recovery"
	"banyan/internal/layout"
	"banyan/internal/proto"
)

// jobModel is a job of two ranks of two replicas with its spares: the machines of all spares, and
// connections between the processes that keep the order of messages and guarantee nothing else.
// Each process does what a Client and package join do.
type jobModel struct {
	t        *rapid.T
	n        int // replica slots
	now      proto.Time
	procs    []*modelProc // by launcher rank: the spares are last
	lastPeer int
	given    map[[2]uint32]bool  // slot and incarnation
	dead     []proto.Incarnation // so many incarnations of a slot are held for dead by all
	admitted []proto.Incarnation // the last incarnation of a slot that all have been told of
	healed   []proto.Incarnation // the last that all know
	attempts []int               // replacements of a slot in a row that weren't healed, or died soon after
	proven   []proto.Time        // when the last replacement that was healed no longer dies soon
}

const silence = time.Second

// modelProc is one process of it.
type modelProc struct {
	launcherRank int
	alive        bool
	stopped      bool
	tracker      tracker
	announced    uint64
	at           *modelProc // the spare that it is connected to, or nil
	peerID       int        // its number as a peer there
	from         []control.Message
	closed       bool // the spare has closed the connection; what it sent before still comes
	proc         int  // -1: a spare that fills no slot
	incarnation  proto.Incarnation
	steps        int                  // of becoming a replica; after 3 it is one
	knows        [4]proto.Incarnation // which incarnation of a slot it has admitted
	ending

	machine *Machine
	links   map[int]*modelLink
}

// modelLink is a connection, as a spare sees it.
type modelLink struct {
	peer   *modelProc
	inbox  []control.Message
	closed bool
}

func newJobModel(t *rapid.T, spares int) *jobModel {
	const n = 4
	j := &jobModel{t: t, n: n, given: map[[2]uint32]bool{}, dead: make([]proto.Incarnation, n), admitted: make([]proto.Incarnation, n), healed: make([]proto.Incarnation, n),
		attempts: make([]int, n), proven: make([]proto.Time, n)}
	for i := range n + spares {
		s := &modelProc{launcherRank: i, alive: true, tracker: tracker{spares: spares}, proc: i, steps: 3}
		if i >= n {
			s.proc = -1
			s.machine = New(proto.Proc(i), layout.Uniform(2, 2), spares, silence, 0)
			s.links = map[int]*modelLink{}
		}
		j.procs = append(j.procs, s)
	}
	for _, s := range j.procs[n:] {
		j.setTerm(s)
	}
	return j
}

func (s *modelProc) runs() bool { return s.alive && !s.stopped }

// setTerm tells a spare's machine its term.
func (j *jobModel) setTerm(s *modelProc) {
	if s.machine != nil {
		j.step(s, func(out *[]Action) { s.machine.SetTerm(j.now, s.tracker.term, out) })
	}
}

// step has a machine do something.
func (j *jobModel) step(s *modelProc, do func(out *[]Action)) {
	var out []Action
	do(&out)
	for _, a := range out {
		switch a.Kind {
		case Send:
			l := s.links[a.To]
			if l == nil {
				continue
			}
			if a.Message.Type == control.Take {
				key := [2]uint32{uint32(a.Message.Proc), uint32(a.Message.Incarnation)}
				if j.given[key] {
					j.t.Fatalf("incarnation %d of slot %d is given twice", key[1], key[0])
				}
				j.given[key] = true
				j.attempts[a.Message.Proc]++
			}
			if a.Message.Type == control.Healed {
				j.proven[a.Message.Proc] = j.now + proto.Time(recovery.Relapse)
			}
			if l.peer.peerID == a.To && l.peer.at == s {
				l.peer.from = append(l.peer.from, a.Message)
			}
		case Drop:
			if l := s.links[a.To]; l != nil {
				delete(s.links, a.To)
				if l.peer.at == s && l.peer.peerID == a.To {
					l.peer.closed = true
				}
			}
		case End:
			j.end(s, a)
		case Advance:
			s.announced = max(s.announced, a.Term)
		}
	}
}

func (j *jobModel) say(s *modelProc, m control.Message) {
	if s.at != nil {
		if l := s.at.links[s.peerID]; l != nil {
			l.inbox = append(l.inbox, m)
		}
	}
}

// part closes a process's connection at its end.
func (j *jobModel) part(s *modelProc) {
	if s.at != nil {
		if l := s.at.links[s.peerID]; l != nil {
			l.closed = true
		}
	}
	s.at, s.from, s.closed = nil, nil, false
}

// lose is what a process does when it has lost its spare leader.
func (j *jobModel) lose(s *modelProc) {
	j.part(s)
	if s.proc >= 0 && s.steps < 3 {
		j.kill(s)
		return
	}
	if s.proc >= 0 { // a replacement that isn't known to all is given up
		for p, incarnation := range j.admitted {
			if incarnation > j.healed[p] {
				j.bury(p, incarnation)
			}
		}
	}
	j.goOn(s)
}

// goOn goes on to the next term.
func (j *jobModel) goOn(s *modelProc) {
	if j.finished(s) {
		return
	}
	s.tracker.goOn(s.announced)
	j.setTerm(s)
}

// bury does what the detectors do: all hold a process for dead.
func (j *jobModel) bury(p int, incarnation proto.Incarnation) {
	if j.dead[p] > incarnation {
		return
	}
	if incarnation > 0 && incarnation == j.healed[p] && j.now >= j.proven[p] {
		j.attempts[p] = 0
	}
	j.dead[p] = incarnation + 1
	for _, s := range j.procs {
		if s.alive && s.proc == p && s.incarnation <= incarnation {
			j.kill(s)
		} else if s.alive && s.proc >= 0 && s.steps == 3 {
			j.say(s, msg(control.Eviction, proto.Proc(p), incarnation))
		}
	}
}

func (j *jobModel) kill(s *modelProc) {
	s.alive = false
	j.part(s)
	if s.machine != nil {
		for _, l := range s.links {
			l.peer.closed = l.peer.closed || l.peer.at == s
		}
		s.links = nil
	}
	if s.proc >= 0 && (s.steps == 3 || j.admitted[s.proc] >= s.incarnation) {
		j.bury(s.proc, s.incarnation)
	}
}

// act has a process do the next thing, if there is one, and says whether it did.
func (j *jobModel) act(s *modelProc) bool {
	switch {
	case !s.runs() || s.left:
		return false
	case s.at == nil:
		leader := j.procs[j.n+s.tracker.leader()]
		if !leader.alive || leader.machine.phase == finished {
			j.goOn(s)
			return false // it pauses
		}
		j.lastPeer++
		s.at, s.peerID = leader, j.lastPeer
		leader.links[s.peerID] = &modelLink{peer: s}
		leader.machine.Opened(s.peerID, proto.Proc(s.launcherRank))
		j.say(s, control.Message{Type: control.Term, Number: s.tracker.term})
		j.introduce(s)
		if s.leaves {
			j.say(s, control.Message{Type: control.Finalized})
		}
		return true
	case s.announced > s.tracker.term:
		j.say(s, control.Message{Type: control.Term, Number: s.announced})
		j.lose(s)
		return true
	case len(s.from) > 0:
		m := s.from[0]
		s.from = s.from[1:]
		j.heard(s, m)
		return true
	case s.closed:
		j.lose(s)
		return true
	case s.proc >= 0 && s.steps < 3 && (s.steps == 0 || j.allKnow(s)):
		s.steps++
		j.say(s, control.Message{Type: []control.Type{control.Arrived, control.Committed, control.Healed}[s.steps-1]})
		if s.steps == 3 {
			j.healed[s.proc] = s.incarnation
			copy(s.knows[:], j.admitted)
			j.say(s, msg(control.Healable, 0, 0))
		}
		return true
	}
	return false
}

// allKnow says whether all replicas have admitted a replacement and none holds it for dead.
func (j *jobModel) allKnow(q *modelProc) bool {
	for _, s := range j.procs {
		if s.alive && s.proc >= 0 && s.steps == 3 && s.knows[q.proc] != q.incarnation {
			return false
		}
	}
	return true
}

func (j *jobModel) introduce(s *modelProc) {
	if s.proc < 0 {
		j.say(s, control.Message{Type: control.Spare})
		if s.departed {
			j.say(s, control.Message{Type: control.Finalized})
		}
		return
	}
	j.say(s, msg(control.Member, proto.Proc(s.proc), s.incarnation))
	for p := range j.n {
		if j.admitted[p] > 0 {
			j.say(s, msg(control.Knows, proto.Proc(p), j.admitted[p]))
		}
		if j.dead[p] > 0 {
			j.say(s, msg(control.Eviction, proto.Proc(p), j.dead[p]-1))
		}
	}
	j.say(s, msg(control.Healable, 0, 0))
}

func (j *jobModel) heard(s *modelProc, m control.Message) {
	switch m.Type {
	case control.Term:
		if !s.leaves {
			s.tracker.heard(m.Number)
		}
	case control.Finalized:
		j.answered(s)
	case control.Take:
		s.proc, s.incarnation, s.steps = int(m.Proc), m.Incarnation, 0
	case control.Admit:
		if s.steps == 3 && j.dead[m.Proc] <= m.Incarnation {
			s.knows[m.Proc] = max(s.knows[m.Proc], m.Incarnation)
			j.admitted[m.Proc] = max(j.admitted[m.Proc], m.Incarnation)
		}
	case control.Dismissed:
		if s.proc < 0 {
			s.exit(m.Code)
		}
		j.kill(s)
	case control.Death:
		switch {
		case s.proc < 0 || s.steps < 3:
		case int(m.Proc) != s.proc:
			j.bury(int(m.Proc), m.Incarnation)
		case s.incarnation <= m.Incarnation:
			j.t.Fatalf("process %d is told that it is dead", s.proc)
		}
	}
}

// serve has a spare read a message of a peer.
func (j *jobModel) serve(s *modelProc, id int) bool {
	l := s.links[id]
	switch {
	case !s.runs() || l == nil:
		return false
	case len(l.inbox) > 0:
		m := l.inbox[0]
		l.inbox = l.inbox[1:]
		j.step(s, func(out *[]Action) { s.machine.Heard(j.now, id, m, out) })
		return true
	case l.closed:
		delete(s.links, id)
		j.step(s, func(out *[]Action) { s.machine.Closed(j.now, id, out) })
		return true
	}
	return false
}

// pass lets the time between two signs of life pass.
func (j *jobModel) pass() {
	j.now += proto.Time(silence / beats)
	for _, s := range j.procs {
		if s.runs() && s.machine != nil {
			j.step(s, func(out *[]Action) { s.machine.Tick(j.now, out) })
		}
	}
	j.settle()
	for _, s := range j.procs {
		switch {
		case !s.runs() || s.at == nil:
		case s.tracker.tick():
			j.say(s, control.Message{Type: control.Term, Number: max(s.tracker.term+1, s.announced)})
			j.lose(s)
		default:
			j.say(s, control.Message{Type: control.Term, Number: s.tracker.term})
		}
	}
	j.settle()
}

// settle has all processes do what there is to do, in order.
func (j *jobModel) settle() {
	for busy, rounds := true, 0; busy; rounds++ {
		if busy = false; rounds > 10000 {
			j.t.Fatal("it doesn't come to rest")
		}
		for _, s := range j.procs {
			for j.act(s) {
				busy = true
				if rounds++; rounds > 10000 {
					j.t.Fatal("it doesn't come to rest")
				}
			}
			for _, id := range sorted(s.links) {
				for j.serve(s, id) {
					busy = true
				}
			}
		}
	}
}

func sorted(links map[int]*modelLink) (ids []int) {
	for id := range links {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Processes are stopped, woken and killed, or find a spare too slow, at any moment. No
// incarnation is given twice, and no live process is told that it is dead. In the end all
// processes that are left are connected to one spare leader, and each slot is filled for which
// there is a spare, unless three replacements in a row have failed, or died soon.
func TestTerms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := newJobModel(t, rapid.IntRange(1, 4).Draw(t, "spares"))
		j.settle()
		for range rapid.IntRange(0, 60).Draw(t, "events") {
			s := j.pick()
			switch what := rapid.IntRange(0, 9).Draw(t, "what"); {
			case what == 0 && s.alive && s.machine != nil && s.proc < 0:
				s.stopped = !s.stopped
			case what == 1 && s.alive:
				if s.proc < 0 || j.replaceable(s.proc) {
					j.kill(s)
				}
			case what < 4:
				j.pass()
			case what == 4 && s.runs() && s.at == nil: // the next spare doesn't answer in time
				j.goOn(s)
			case what < 7:
				j.act(s)
			case len(s.links) > 0:
				j.serve(s, rapid.SampledFrom(sorted(s.links)).Draw(t, "peer"))
			}
		}
		for _, s := range j.procs {
			s.stopped = false
		}
		for range 60 * beats {
			j.pass()
		}
		j.judge()
		j.playEnd()
	})
}

// pick is a process to which something happens.
func (j *jobModel) pick() *modelProc {
	return j.procs[rapid.IntRange(0, len(j.procs)-1).Draw(j.t, "process")]
}

// replaceable says whether the rank of a process has another replica that runs.
func (j *jobModel) replaceable(p int) bool {
	for _, s := range j.procs {
		if s.runs() && s.proc == (p+2)%4 && s.steps == 3 {
			return true
		}
	}
	return false
}

// judge checks the state in the end.
func (j *jobModel) judge() {
	var spareLeaders, spares, living []*modelProc
	filled := map[int]bool{}
	for _, s := range j.procs {
		if !s.alive {
			continue
		}
		living = append(living, s)
		if s.machine != nil && s.machine.phase.leads() {
			spareLeaders = append(spareLeaders, s)
		}
		if s.proc < 0 {
			spares = append(spares, s)
		} else {
			filled[s.proc] = true
		}
	}
	if slices.ContainsFunc(living, func(s *modelProc) bool { return s.machine != nil }) {
		if len(spareLeaders) != 1 {
			j.t.Fatalf("%d spare leaders", len(spareLeaders))
		}
		for _, s := range living {
			if s.at != spareLeaders[0] {
				j.t.Fatalf("process %d in term %d isn't connected to the spare leader, %d, in term %d", s.launcherRank, s.tracker.term, spareLeaders[0].launcherRank, spareLeaders[0].tracker.term)
			}
		}
	}
	for p := range j.n {
		if len(spares) > 0 && !filled[p] && j.attempts[p] < recovery.MaxFailures {
			j.t.Fatalf("slot %d is vacant after %d attempts, and there are %d spares", p, j.attempts[p], len(spares))
		}
	}
}
