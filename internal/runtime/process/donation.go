package process

import (
	"banyan/internal/proto"
	"banyan/internal/runtime/state"
	"banyan/internal/runtime/wire"
)

const (
	// pieceSize is how much of a stream one frame carries, and piecesQueued how many bytes may
	// wait in the transport.
	pieceSize    = 256 << 10
	piecesQueued = 2 * pieceSize
)

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
	if d == nil || !d.ready || d.begun || !p.OutputSent() || p.oncePending() != nil || !p.replica.Donate(d.replacement, d.incarnation, &p.replicaOut) {
		return // the replacement has died, or it has to wait for the next safe point
	}
	d.begun, d.encode = true, encode
	p.prepareFor(d.replacement)
	p.orderAdmit(d.replacement, p.cfg.Self)
	p.onceAdmit(d.replacement, p.cfg.Self)
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

// askToGiveUp asks the replacements to end for which too much would have to be kept: the job does
// without them rather than wait. One that has joined ignores that: it says so to all, which ends
// the wait as well.
func (p *Process) askToGiveUp() {
	for i := range p.healing.preparedFor {
		if x := &p.healing.preparedFor[i]; !x.askedOff {
			x.askedOff = true
			p.send(x.replacement, p.nextHeader(wire.KindGiveUp), nil, 0)
		}
	}
}

// giveUpReplacement ends a replacement that can't have this process's state after all: it is
// taken for dead, and the launcher kills it. It hasn't joined: nothing of the state has gone out.
func (p *Process) giveUpReplacement(d *donation) { p.excluded(d.replacement, d.incarnation) }
