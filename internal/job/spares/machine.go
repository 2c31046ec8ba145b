package spares

import (
	"fmt"
	"slices"
	"time"

	"banyan/internal/job/control"
	"banyan/internal/job/recovery"
	"banyan/internal/layout"
	"banyan/internal/proto"
)

const (
	// incarnationsPerTerm is how many incarnations of a slot a spare leader can give that no
	// other spare leader gives.
	incarnationsPerTerm = 256
	// maxIncarnation is more than the incarnation of any process.
	maxIncarnation = 1 << 31
)

// ActionKind says what an Action is.
type ActionKind uint8

// Kinds of actions.
const (
	Send    ActionKind = iota // Message to the peer To
	Drop                      // the peer To
	Note                      // Text, for the user
	End                       // this spare, the last one: the job is over, with Code, because of Text
	Advance                   // this spare itself must go on to Term
)

// Action is something that the machine wants done.
type Action struct {
	Kind    ActionKind
	To      int
	Message control.Message
	Text    string
	Code    int
	Term    uint64
}

// peer is a connected process: a process of the job, a spare, or one that hasn't said which.
type peer struct {
	id           int
	launcherRank proto.Proc // the handshake has proved it
	spare        bool       // it fills no slot yet
	member       bool       // it fills the slot proc, in its incarnation
	proc         proto.Proc
	incarnation  proto.Incarnation
	pid          int
	program      uint64
	term         uint64     // the one that it takes for the present one; maxTerm before it has said so
	heard        proto.Time // when it last said anything
}

// process is what package recovery knows of a member.
func (p *peer) process() recovery.Process {
	return recovery.Process{Proc: p.proc, Incarnation: p.incarnation}
}

// slot is a replica slot of the job.
type slot struct {
	peer     *peer             // nil: its process isn't connected, or is dead
	known    proto.Incarnation // the last incarnation that any process was told of
	reported proto.Incarnation // some process holds so many incarnations for dead
	ended    proto.Incarnation // so many incarnations are dead
	left     bool              // its process left in order
	card     string            // of the incarnation that is known, if that isn't 0
}

func (s *slot) dead() bool { return s.ended > s.known }

// Machine decides what a spare does as the spare leader, and notes what it has to know before it
// becomes one. It has no clock and no connections: peers are numbers, and those with higher
// numbers came later.
type Machine struct {
	self    proto.Proc // this spare's launcher rank
	layout  layout.Layout
	silence proto.Time // a spare leader that is silent for longer counts as gone

	phase     phase
	term      uint64
	announced uint64     // the latest term that any process has announced
	nextBeat  proto.Time // when the next sign of life is due
	caughtUp  proto.Time // nothing is begun before
	attendance

	peers       []*peer // in the order in which they came
	slots       []slot  // by Proc
	programs    []int64 // by rank: which of the job's programs it runs, -1 if no process has said
	recovery    *recovery.Machine
	replacement *peer // of the present attempt

	notes []string        // for the user, while this isn't the spare leader
	noted map[string]bool // what the user is told only once

	now proto.Time
	out *[]Action
}

// New makes the machine of the spare with this launcher rank. A spare leader that is silent for
// longer than silence counts as gone. limit is package recovery's.
func New(launcherRank proto.Proc, layout layout.Layout, spares int, silence, limit time.Duration) *Machine {
	m := &Machine{
		self: launcherRank, layout: layout, silence: proto.Time(silence),
		attendance: attendance{seen: make([]bool, spares), deserted: proto.Never},
		slots:      make([]slot, layout.Procs()), programs: make([]int64, layout.Ranks()),
		recovery: recovery.New(layout, limit, false, 1), noted: map[string]bool{},
	}
	for r := range m.programs {
		m.programs[r] = -1
	}
	return m
}

// SetTerm says which term this spare takes for the present one. The spare leads the terms that are
// its own.
func (m *Machine) SetTerm(now proto.Time, term uint64, out *[]Action) {
	m.at(now, out)
	if m.phase == finished || m.phase.leads() && term == m.term {
		return
	}
	m.term = term
	m.stepDown() // even if this spare leads again: other terms were between
	for i := range m.seen {
		m.seen[i] = slices.ContainsFunc(m.peers, func(p *peer) bool { return (p.spare || p.member) && m.number(p) == i })
	}
	if leaderOf(term, len(m.seen)) == int(m.self)-m.layout.Procs() {
		m.lead()
	}
}

// lead begins a term of its own.
func (m *Machine) lead() {
	m.recovery.NumberFrom(proto.Incarnation(min(m.term*incarnationsPerTerm, maxIncarnation)))
	m.nextBeat = m.now + m.silence/beats
	m.await()
	m.advance()
	for _, text := range m.notes {
		m.note(text)
	}
	m.notes = nil
	m.attend()
	m.next()
}

// stepDown ends a term of its own, if there was one, and sends on all peers that are in an earlier
// term. If this process was stopped, a peer may have announced the later term and left, and this
// process hasn't read that yet. Such a peer is sent on when it next says which term it is in.
func (m *Machine) stepDown() {
	m.drive(func(out *[]recovery.Action) { m.recovery.StepDown(succeeded, out) })
	m.enter(following)
	m.came = false // how long no process has been here goes on counting
	for _, p := range slices.Clone(m.peers) {
		if p.term < m.term && m.now >= m.caughtUp {
			m.sendOn(p)
		}
	}
}

// sendOn sends a peer to the next spare leader.
func (m *Machine) sendOn(p *peer) {
	if p.member && m.slots[p.proc].peer == p {
		m.slots[p.proc].peer = nil
	}
	m.drop(p)
}

// Opened takes a new peer.
func (m *Machine) Opened(id int, launcherRank proto.Proc) {
	m.peers = append(m.peers, &peer{id: id, launcherRank: launcherRank, proc: proto.NoProc, term: maxTerm})
}

// Closed says that a peer's connection has ended.
func (m *Machine) Closed(now proto.Time, id int, out *[]Action) {
	m.at(now, out)
	p := m.forget(id)
	if p == nil {
		return
	}
	if m.joining(p) {
		m.fail("it has ended")
	}
	if p.member && m.slots[p.proc].peer == p {
		m.slots[p.proc].peer = nil
		m.confirm(p.proc)
	}
	m.attend()
	m.next()
}

// Deadline is when Tick must be called next, or Never.
func (m *Machine) Deadline() proto.Time {
	if !m.phase.leads() {
		return proto.Never
	}
	deadline := min(m.deserted, m.nextBeat, m.recovery.Deadline())
	if m.awaitsSpares() {
		deadline = min(deadline, m.sparesUntil)
	}
	return deadline
}

// Tick lets time pass.
func (m *Machine) Tick(now proto.Time, out *[]Action) {
	m.at(now, out)
	if !m.phase.leads() {
		return
	}
	if now >= m.nextBeat {
		m.nextBeat = now + m.silence/beats
		for _, p := range m.peers {
			m.send(p, control.Message{Type: control.Term, Number: m.term})
		}
	}
	if m.recovery.Current() != nil && now-m.replacement.heard > m.silence+m.silence/beats {
		m.fail(fmt.Sprintf("it was silent for %v", time.Duration(m.silence)))
	}
	m.drive(func(out *[]recovery.Action) { m.recovery.Tick(now, out) })
	m.attend()
	m.next()
	m.search()
	m.giveUp()
}

func (m *Machine) at(now proto.Time, out *[]Action) {
	m.now, m.out = now, out
	if !m.phase.leads() || now <= m.nextBeat+m.silence/beats {
		return
	}
	// This process was stopped. Others may have gone on to the next term, and have said so.
	m.nextBeat, m.caughtUp = now, now+m.silence/beats
	m.extend()
	for _, p := range m.peers {
		p.heard = now
	}
}

// end ends the job for all processes that fill no slot.
func (m *Machine) end(code int, text string) {
	m.enter(finished)
	for _, p := range m.peers {
		if !p.member && p.launcherRank != m.self { // a replacement on its way, too
			m.send(p, control.Message{Type: control.Dismissed, Code: code, Text: text})
		}
	}
	*m.out = append(*m.out, Action{Kind: End, Code: code, Text: text})
}
