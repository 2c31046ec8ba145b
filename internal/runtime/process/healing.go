package process

import (
	"errors"

	"banyan/internal/proto"
	"banyan/internal/proto/replica"
	"banyan/internal/runtime/state"
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
// A death of either ends the healing. What the replacement has got counts from the moment when
// it has said that it is a replica.

// ErrDonor ends a replacement whose donor has died.
var ErrDonor = errors.New("the replica whose state this process was to take over has died")

// Hopeless tells whether what has ended a replacement would end any other, too: the same program
// would register a state again that differs from the donor's.
func Hopeless(err error) bool { return errors.Is(err, state.ErrDiffers) }

const (
	// pieceSize is how much of a stream one frame carries, and piecesQueued how many bytes may
	// wait in the transport.
	pieceSize    = 256 << 10
	piecesQueued = 2 * pieceSize
)

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
	// preparedFor is the replacement for which messages are kept that it doesn't get yet;
	// NoProc if there is none.
	preparedFor proto.Proc
	donation    *donation // nil unless this process is a donor
	joining     *joining  // replacements only
	healable    bool      // the rank can be healed from here
	inputKnown  bool      // the launcher has said how much input has been read
	input       int64     // how much that is
}

// donation is a donor's part in a healing.
type donation struct {
	replacement proto.Proc
	incarnation proto.Incarnation

	stream *state.Encoder // on its way; nil if nothing is
	kind   wire.Kind      // of its frames
	offset uint64

	ready    bool // the replacement is at its first safe point
	encode   func() (*state.Encoder, error)
	begun    bool // the program is paused
	handover bool // all have prepared
	// abandoned says that they won't: the replacement, if it lives, can't join.
	abandoned bool
	marked    bool // the launcher knows how far the program's output goes
	healed    bool // all processes know the replacement
}

// joining is a replacement's part in its own healing.
type joining struct {
	donor     proto.Proc // NoProc until its log comes
	decoder   *state.Decoder
	restored  func() error
	committed bool
	healed    bool
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

// Help asks this process to be the donor of a replacement. If it can't be, it ignores that.
func (p *Process) Help(q proto.Proc, incarnation proto.Incarnation) {
	if !p.healing.healable || p.healing.donation != nil || p.lifecycle.finishing || p.peers[q].incarnation != incarnation || p.peers[q].state == peerDead ||
		p.cfg.Layout.Rank(q) != p.rank || q == p.cfg.Self {
		return
	}
	p.healing.donation = &donation{replacement: q, incarnation: incarnation, stream: p.LogEncoder(), kind: wire.KindLog, marked: !p.cfg.Witness}
	p.pumpDonation()
}

// SafepointWanted tells whether a replacement waits for this process's state.
func (p *Process) SafepointWanted() bool {
	d := p.healing.donation
	return d != nil && d.ready && !d.begun
}

// Donate begins to give this process's state to the replacement that waits for it, at a safe
// point of the program. encode is called once all other processes are prepared, under the same
// lock as all calls. It takes the Snapshot and returns the stream. The program is paused as long
// as the process is Donating.
func (p *Process) Donate(encode func() (*state.Encoder, error)) {
	d := p.healing.donation
	if d == nil || !d.ready || d.begun || !p.replica.Donate(d.replacement, d.incarnation, &p.replicaOut) {
		return // the replacement has died, or it has to wait for the next safe point
	}
	d.begun, d.encode = true, encode
	p.healing.preparedFor = d.replacement
	p.shutdown.Admit(d.replacement, d.incarnation, &p.shutdownOut)
	p.runShutdown()
	p.host.Heals(StepMark)
	p.runReplica()
}

// InputRead is how many bytes of input the process had read at its first safe point, once that
// IsNoted; and at the safe point of the present donation, when its state is asked for. known is
// false where there is no launcher to say so.
func (p *Process) InputRead() (n int64, known bool) { return p.healing.input, p.cfg.Witness }

// Replacement is the process of which this one is the donor.
func (p *Process) Replacement() (q proto.Proc, incarnation proto.Incarnation) {
	return p.healing.donation.replacement, p.healing.donation.incarnation
}

// Marked says, in a donation to a replacement, that the launcher knows how far the output of
// this process goes, and that the process has read so many bytes of input. One of an earlier
// donation may come late, and changes nothing.
func (p *Process) Marked(q proto.Proc, incarnation proto.Incarnation, input int64) {
	if d := p.healing.donation; d != nil && d.begun && d.replacement == q && d.incarnation == incarnation {
		d.marked, p.healing.input = true, input
		p.endDonation()
	}
}

// Donating tells whether the program has to stay where it is.
func (p *Process) Donating() bool { return p.healing.donation != nil && p.healing.donation.begun }

// endDonation ends a donation when all processes know the replacement, and the program's output
// is marked.
func (p *Process) endDonation() {
	if d := p.healing.donation; d.healed && d.marked {
		p.stopDonating()
	}
}

func (p *Process) stopDonating() {
	p.healing.donation = nil
	p.Changes++
	p.host.SafepointWanted(false)
}

// pumpDonation hands the transport the next bytes for a replacement, and reports whether there
// were any.
func (p *Process) pumpDonation() (sent bool) {
	d := p.healing.donation
	if d == nil {
		return false
	}
	if d.abandoned {
		p.giveUpReplacement(d)
		return false
	}
	if d.handover && d.marked { // earlier, the replacement's output could seem to precede the mark
		d.handover = false
		encoder, err := d.encode()
		if err != nil {
			p.giveUpReplacement(d)
			return false
		}
		d.stream, d.kind, d.offset = encoder, wire.KindState, 0
	}
	for d.stream != nil && p.net.Queued(d.replacement) <= piecesQueued {
		piece := d.stream.Next(pieceSize)
		if piece == nil {
			d.stream = nil
			break
		}
		wire.Piece{Kind: d.kind, Offset: d.offset}.Put(&p.header)
		d.offset += uint64(len(piece))
		p.send(d.replacement, &p.header, piece, 0)
		sent = true
	}
	return sent
}

// dropReplacement ends a replacement for which too much would have to be kept: the job does
// without it rather than wait. A replacement that is the last of its rank, since its donor has
// died, isn't dropped: it is one of the job already, or it ends by itself.
func (p *Process) dropReplacement(q proto.Proc) {
	rank := p.cfg.Layout.Rank(q)
	for k := range p.cfg.Layout.Degree(rank) {
		if other := p.cfg.Layout.Proc(rank, k); other != q && !p.peers[other].gone() {
			p.Evidence(q, p.peers[q].incarnation)
			return
		}
	}
}

// giveUpReplacement ends a replacement that can't have this process's state after all: it is
// taken for dead, and the launcher kills it.
func (p *Process) giveUpReplacement(d *donation) { p.Evidence(d.replacement, d.incarnation) }

// AwaitState says that this replacement's program is at its first safe point. The donor's state
// goes to the decoder. Once it is whole, restored is called, under the same lock as all calls:
// it must Restore the library's part.
func (p *Process) AwaitState(decoder *state.Decoder, restored func() error) {
	j := p.healing.joining
	j.decoder, j.restored = decoder, restored
	p.send(j.donor, p.nextHeader(wire.KindReady), nil, 0)
}

// Joined tells whether this process, if it was started as a replacement, has joined or never
// will.
func (p *Process) Joined() bool {
	return p.healing.joining == nil || p.healing.joining.healed || p.lifecycle.fenced
}

// HealFailed says that this replacement can't join: it must stop.
func (p *Process) HealFailed(err error) { p.host.HealFailed(err) }

// failJoining ends a replacement.
func (p *Process) failJoining(err error) {
	if p.healing.replay != nil {
		p.failReplay(err)
		return
	}
	p.host.HealFailed(err)
}

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
	}
}

// noteArrived takes a note of package replica's conversation.
func (p *Process) noteArrived(from proto.Proc, h *wire.Header) {
	f := h.Note()
	n := replica.Note{Kind: replica.NoteKind(f.Kind), Replacement: f.Replacement, Incarnation: f.Incarnation, Covers: f.Covers}
	if !p.replicated || int(n.Replacement) >= len(p.peers) || p.healing.joining != nil && !p.healing.joining.committed {
		return
	}
	if n.Kind == replica.Prepare && n.Replacement != p.cfg.Self {
		if q := &p.peers[n.Replacement]; n.Incarnation < q.incarnation || n.Incarnation == q.incarnation && q.state == peerDead {
			return // it is dead already
		}
		p.Admit(n.Replacement, n.Incarnation)
		p.healing.preparedFor = n.Replacement
		p.shutdown.Admit(n.Replacement, n.Incarnation, &p.shutdownOut)
		p.runShutdown()
	}
	joined := n.Kind == replica.Joined && from == p.healing.preparedFor
	if joined {
		p.healing.preparedFor = proto.NoProc
		if p.verifying != nil {
			p.verifyJoined(from)
		}
	}
	p.replica.Noted(from, n, &p.replicaOut)
	if rank := p.cfg.Layout.Rank(from); joined && p.verifying != nil && rank != p.rank {
		p.verifyAckAgain(rank)
	}
	p.runReplica()
}

func (p *Process) sendNote(a *replica.Action) {
	n := a.NoteOf()
	wire.Note{Kind: uint8(n.Kind), Replacement: n.Replacement, Incarnation: n.Incarnation, Covers: n.Covers}.Put(&p.header)
	p.send(a.To, &p.header, nil, 0)
}

// stateArrived takes the next bytes of the donor's state.
func (p *Process) stateArrived(from proto.Proc, payload []byte) {
	j := p.healing.joining
	if j == nil || j.committed || j.decoder == nil || from != j.donor {
		return
	}
	if err := j.decoder.Write(payload); err != nil {
		p.failJoining(err)
		return
	}
	if !j.decoder.Whole() {
		return
	}
	if err := j.restored(); err != nil {
		p.failJoining(err)
		return
	}
	j.committed = true
	p.host.Heals(StepCommitted)
	p.shutdown = p.shutdown.Rejoin(p.peers.incarnations(), p.peers.dead()) // some may have finished
	p.replica.Commit(&p.replicaOut)
	p.runReplica()
	p.joinView()
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
	if p.healing.preparedFor == q {
		p.healing.preparedFor = proto.NoProc
	}
	if d := p.healing.donation; d != nil && d.replacement == q {
		p.stopDonating()
	}
	if j := p.healing.joining; j != nil && !j.committed && q == j.donor {
		p.failJoining(ErrDonor)
	}
}
