package detector

import (
	"fmt"

	"banyan/internal/proto"
)

// An observer that hears nothing may have a bad link rather than a dead emitter. So before the
// silence counts, it asks others for a second opinion: each of them probes the silent process, and
// passes its answer on (the indirect probes of SWIM: Das, Gupta and Motivala, 2002). An answer is a
// sign of life, like a heartbeat.
//
// The observer asks after half of δ, when at least one heartbeat is overdue, and again each η. So
// an answer, which takes 4τ, comes in time if δ ≥ 8τ, and silence is found after δ as without
// opinions. In a quiet system no process asks.
//
// Two processes that only hear of each other by others are of no use to each other, though both
// live. After patience δ one of them goes: the one with the higher number, so that they agree.

// Probe is an indirect probe on its way.
type Probe struct {
	Stage    ProbeStage
	Observer proto.Proc // it wants to know
	Suspect  proto.Proc // it is silent
	// Incarnation is the suspect's, from ProbeAnswer on.
	Incarnation proto.Incarnation
}

// ProbeStage says how far an indirect probe has come.
type ProbeStage uint8

// The stages of an indirect probe.
const (
	// ProbeAsk: the observer asks a helper.
	ProbeAsk ProbeStage = iota
	// ProbePing: the helper asks the suspect.
	ProbePing
	// ProbeAnswer: the suspect answers the helper.
	ProbeAnswer
	// ProbeVouch: the helper tells the observer that the suspect lives.
	ProbeVouch
)

func (s ProbeStage) String() string {
	if s > ProbeVouch {
		return fmt.Sprintf("stage %d", uint8(s))
	}
	return [...]string{"ask", "ping", "answer", "vouch"}[s]
}

// DefaultOpinions is how many others a job asks before a silent process counts as dead.
const DefaultOpinions = 3

// ask asks the next helpers about the silent emitter. They are the next on the ring after those
// that were asked last, so that a repetition goes other ways.
func (m *Machine) ask(now proto.Time, out *Actions) {
	ring := m.cfg.View.Ring
	if m.doubted == proto.Never {
		m.doubted = now
		// A process that is late to ask waits for the answers all the same.
		m.suspectAt = max(m.suspectAt, now+m.cfg.Timeout/4)
	}
	if ring.Position(m.helper) < 0 {
		m.helper = m.cfg.Self
	}
	left := int(m.cfg.Opinions)
	for range ring.Len() {
		if left == 0 {
			break
		}
		m.helper = ring.Next(m.helper)
		if m.helper == m.cfg.Self || m.helper == m.emitter || !m.live(m.helper) {
			continue
		}
		m.probe(m.helper, Probe{Stage: ProbeAsk, Observer: m.cfg.Self, Suspect: m.emitter}, out)
		left--
	}
	if m.unheard { // the emitter may not have heard of its new observer
		*out = append(*out, Action{Kind: SendObserve, To: m.emitter, Beat: m.stamp()})
	}
	if m.askAt = now + m.cfg.Period; m.askAt >= m.suspectAt {
		m.askAt = proto.Never
	}
}

// Overdue is the emitter while others are asked about it, and NoProc otherwise. A driver that will
// have to say whether it is starved can begin to look.
func (m *Machine) Overdue() proto.Proc {
	if m.doubted == proto.Never {
		return proto.NoProc
	}
	return m.emitter
}

func (m *Machine) probe(to proto.Proc, x Probe, out *Actions) {
	*out = append(*out, Action{Kind: SendProbe, To: to, Beat: m.stamp(), Probe: x})
}

// Probe takes an indirect probe: as the helper, as the suspect, or as the observer. Helpers and
// suspects remember nothing of it.
func (m *Machine) Probe(now proto.Time, from proto.Proc, b Beat, x Probe, out *Actions) {
	m.wake(now)
	if !m.admits(now, from, b.View, b.Incarnation, out) {
		return
	}
	self := m.cfg.Self
	switch x.Stage {
	case ProbeAsk:
		if x.Observer == from && m.reachable(x.Suspect) {
			x.Stage = ProbePing
			m.probe(x.Suspect, x, out)
		}
	case ProbePing:
		if x.Suspect == self {
			x.Stage, x.Incarnation = ProbeAnswer, m.cfg.Incarnation
			m.probe(from, x, out)
		}
	case ProbeAnswer:
		if x.Suspect == from && m.reachable(x.Observer) {
			x.Stage, x.Incarnation = ProbeVouch, b.Incarnation
			m.probe(x.Observer, x, out)
		}
	case ProbeVouch:
		if x.Observer == self {
			m.vouched(now, x, out)
		}
	}
}

// reachable tells whether a process is another live member.
func (m *Machine) reachable(p proto.Proc) bool {
	return p != m.cfg.Self && m.cfg.View.Ring.Position(p) >= 0 && m.live(p)
}

// vouched takes a helper's word that the emitter lives.
func (m *Machine) vouched(now proto.Time, x Probe, out *Actions) {
	if m.doubted == proto.Never || x.Suspect != m.emitter || x.Incarnation != m.cfg.View.of(m.emitter) {
		return
	}
	apart := now-m.doubted >= patience*m.cfg.Timeout
	if apart && m.cfg.Self < m.emitter {
		m.suspect(now, out)
		return
	}
	m.suspectAt = max(m.suspectAt, now+m.cfg.Timeout)
	m.askAt = m.suspectAt - m.cfg.Timeout/2
	if apart {
		*out = append(*out, Action{Kind: ReportFenced, Report: Report{
			Proc: m.cfg.Self, Cause: CauseSilence, Silent: now - m.heard, By: m.emitter,
		}})
	}
}
