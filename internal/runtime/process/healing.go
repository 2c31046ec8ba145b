package process

import (
	"slices"

	"banyan/internal/proto"
	"banyan/internal/proto/once"
	"banyan/internal/proto/order"
	"banyan/internal/proto/replica"
	"banyan/internal/runtime/wire"
)

// A dead replica is replaced with the help of a donor, a live replica of the same rank. Package
// replica has the conversation with all other processes. Here are the streams between donor and
// replacement, and what happens at the program's safe points.
//
//   1. The launcher starts the replacement, tells all processes of it (Admit), and tells the
//      donor to help (Help). The donor streams its log, on which the replacement's program comes
//      to its first safe point (replay.go).
//   2. The replacement is ready (KindReady). At its next safe point the donor's program is
//      paused (Donate), all processes prepare, and the donor streams its state.
//   3. The replacement restores that state, is a replica from then on, and tells all. When all
//      have welcomed it, the donor's program goes on (KindHealed).
//
// Replacements of different ranks may join at the same time. Package replica says how they come to
// know each other. What a donor's state says of other slots that are joining is admitted here, too.
//
// A death of either ends the healing. What the replacement has got counts from the moment when
// it has said that it is a replica. Only it knows whether it has. So a process that would have to
// keep too much for it asks it to give up (KindGiveUp), and doesn't take it for dead by itself: if
// the donor has died, the replacement may be the last of its rank.

// HealStep is a step of a healing of which the launcher is told.
type HealStep uint8

// Steps.
const (
	// StepHealable: this process has come to its first safe point, and its rank can be healed
	// from here.
	StepHealable HealStep = iota
	// StepMark, at the donor: the program has written out everything. It writes nothing more
	// until Marked is called, if there is a witness.
	StepMark
	// StepCommitted, at a replacement: it is a replica from here on.
	StepCommitted
	// StepHealed, at a replacement: all processes know it, and its program goes on.
	StepHealed
)

// healing is this process's part in the replacement of dead replicas.
type healing struct {
	history *history // until the first safe point; replicated jobs with healing only
	replay  *replay  // replacements before their first safe point only
	// preparedFor are the replacements for which messages are kept that they don't get yet.
	preparedFor []preparation
	donation    *donation // nil unless this process is a donor
	joining     *joining  // replacements only
	healable    bool      // the rank can be healed from here
	inputKnown  bool      // the launcher has said how much input has been read
	input       int64     // how much that is
}

// preparation is that messages are kept for a replacement.
type preparation struct {
	replacement proto.Proc
	askedOff    bool // it has been asked to give up
}

// ReachedSafepoint says that the program is at its first safe point, and that its rank can be
// healed from here.
func (p *Process) ReachedSafepoint() {
	p.healing.healable = true
	p.host.Heals(StepHealable)
}

// Noted says that the launcher knows of the first safe point, before which the process has read
// so many bytes of input.
func (p *Process) Noted(input int64) { p.healing.inputKnown, p.healing.input = true, input }

// IsNoted tells whether the program may go on from its first safe point.
func (p *Process) IsNoted() bool { return p.healing.inputKnown || !p.cfg.Witness }

// healingArrived routes the frames of a healing.
func (p *Process) healingArrived(from proto.Proc, h *wire.Header, payload []byte) {
	switch h.Kind {
	case wire.KindNote:
		p.noteArrived(from, h)
	case wire.KindLog:
		j := p.healing.joining
		if j == nil || j.committed || j.donor != proto.NoProc && j.donor != from || p.cfg.Layout.Rank(from) != p.rank {
			return
		}
		j.donor = from
		if err := p.FeedLog(payload); err != nil {
			p.failJoining(err)
		}
		p.Changes++
	case wire.KindReady:
		if d := p.healing.donation; d != nil && d.replacement == from && !d.ready {
			d.ready = true
			p.host.SafepointWanted(true)
		}
	case wire.KindState:
		p.stateArrived(from, payload)
	case wire.KindHealed:
		if d := p.healing.donation; d != nil && d.replacement == from && d.begun {
			d.healed = true
			p.endDonation()
		}
	case wire.KindGiveUp:
		p.GiveUpJoining(ErrUnwanted)
	}
}

// prepareFor begins to keep messages for a replacement.
func (p *Process) prepareFor(q proto.Proc) {
	p.prepared(q)
	p.healing.preparedFor = append(p.healing.preparedFor, preparation{replacement: q})
}

// prepared ends that, and reports whether there was anything to end.
func (p *Process) prepared(q proto.Proc) bool {
	before := len(p.healing.preparedFor)
	p.healing.preparedFor = slices.DeleteFunc(p.healing.preparedFor, func(x preparation) bool { return x.replacement == q })
	return len(p.healing.preparedFor) < before
}

// noteArrived takes a note of package replica's conversation.
func (p *Process) noteArrived(from proto.Proc, h *wire.Header) {
	f := h.Note()
	n := replica.Note{Kind: replica.NoteKind(f.Kind), Replacement: f.Replacement, Incarnation: f.Incarnation, Covers: f.Covers}
	if !p.replicated || int(n.Replacement) >= len(p.peers) {
		return
	}
	if j := p.healing.joining; j != nil && !j.committed && n.Kind != replica.Prepare {
		return // without the state only what other slots are joining is of use
	}
	if n.Kind == replica.Prepare && n.Replacement != p.cfg.Self {
		if q := &p.peers[n.Replacement]; n.Incarnation < q.incarnation || n.Incarnation == q.incarnation && q.state == peerDead {
			return // it is dead already
		}
		p.Admit(n.Replacement, n.Incarnation)
		p.prepareFor(n.Replacement)
		p.orderAdmit(n.Replacement, from)
		p.onceAdmit(n.Replacement, from)
		p.shutdown.Admit(n.Replacement, n.Incarnation, &p.shutdownOut)
		p.runShutdown()
	}
	joined := n.Kind == replica.Joined && p.prepared(from)
	if joined && p.verifying != nil {
		p.verifyJoined(from)
	}
	p.replica.Noted(from, n, &p.replicaOut)
	if rank := p.cfg.Layout.Rank(from); joined && p.verifying != nil && rank != p.rank {
		p.verifyAckAgain(rank)
	}
	p.runReplica()
	if joined {
		p.orderTold(from, (*order.Machine).Joined)
		p.onceTold(from, (*once.Machine).Joined)
	}
}

func (p *Process) sendNote(a *replica.Action) {
	n := a.NoteOf()
	wire.Note{Kind: uint8(n.Kind), Replacement: n.Replacement, Incarnation: n.Incarnation, Covers: n.Covers}.Put(&p.header)
	p.send(a.To, &p.header, nil, 0)
}

// healingStep carries out what package replica says of a healing.
func (p *Process) healingStep(a *replica.Action) {
	switch a.Kind {
	case replica.Handover:
		if d := p.healing.donation; d != nil && d.begun {
			d.handover = true // Work goes on with it: this may be in the middle of something
		}
	case replica.Abandoned: // the replacement has died, or a process has left
		if d := p.healing.donation; d != nil && d.begun {
			d.handover, d.abandoned = false, true
		}
	case replica.Healed:
		j := p.healing.joining
		j.healed = true
		p.Changes++
		if p.Alive(j.donor) {
			p.send(j.donor, p.nextHeader(wire.KindHealed), nil, 0)
		}
		p.host.Heals(StepHealed)
		p.ReachedSafepoint() // this process can be a donor, too: it has the log that it was given
	}
}

// healingDied ends a healing of which this process is a part, if the death concerns it.
func (p *Process) healingDied(q proto.Proc) {
	p.prepared(q)
	if d := p.healing.donation; d != nil && d.replacement == q {
		p.stopDonating()
	}
	if j := p.healing.joining; j != nil && !j.committed && q == j.donor {
		p.failJoining(ErrDonor)
	}
}
