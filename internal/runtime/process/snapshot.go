package process

import (
	"cmp"
	"errors"
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/proto/match"
	"banyan/internal/proto/replica"
	"banyan/internal/runtime/wire"
	"banyan/internal/varint"
)

// A replacement that has come to its first safe point takes over the state of its donor's
// library: the state of replication with the messages that are kept, the clock, the digests to
// compare, and the messages that have arrived and weren't received. At a safe point where
// nothing is pending there is nothing else. An offer is taken over without its sender: a sender
// offers it again.

// snapshotVersion is the first byte of a snapshot.
const snapshotVersion = 8

// ErrSnapshot says that bytes aren't a snapshot of a replica of this process.
var ErrSnapshot = errors.New("the state of the library is damaged, or that of another job")

// Pending says what the program has under way; nil: this may be a safe point.
func (p *Process) Pending() error {
	requests, taken := 0, 0
	p.requests.each(func(Handle, *request) { requests++ })
	p.receives.arrivals.each(func(_ Handle, a *arrival) {
		if a.taken {
			taken++
		}
	})
	switch {
	case requests > 0:
		return fmt.Errorf("operations that have been started, and not completed: %d", requests)
	case taken > 0:
		return fmt.Errorf("messages that a matched probe has taken, and that weren't received: %d", taken)
	}
	return nil
}

// Snapshot is the donor's part of a transfer. Replication says when it is time (Handover).
func (p *Process) Snapshot() ([]byte, error) {
	p.readLeader()
	if err := p.Pending(); err != nil {
		return nil, err
	}
	if err := p.oncePending(); err != nil {
		return nil, err
	}
	b := []byte{snapshotVersion}
	kept := varint.Append(nil, uint64(countKept(p.replica)))
	for m := range p.replica.Kept() { // before replication releases any of it
		own := p.sends.messages.get(handleOf(m.User))
		kept = varint.AppendBytes(varint.Append(kept, uint64(own.typ)), own.wire)
	}
	b = varint.AppendBytes(b, p.replica.AppendState(nil, &p.replicaOut))
	b = append(b, kept...)
	b = varint.AppendBytes(b, p.clock.AppendState(nil))
	b = varint.Append(b, uint64(p.layers.mark))
	b = varint.AppendBytes(b, p.verifyState())

	_, n := p.match.Len()
	b = varint.Append(b, uint64(n))
	p.match.EachUnexpected(func(token uint32) {
		_, a := p.receives.arrivals.at(token)
		b = a.appendTo(b)
	})
	b = varint.Append(b, uint64(len(p.receives.early)))
	for i := range p.receives.early {
		m := &p.receives.early[i]
		var header [wire.HeaderSize]byte
		wire.EncodeHeader(header[:], &m.header)
		b = varint.AppendBytes(append(b, header[:]...), m.payload)
	}
	p.runReplica() // what AppendState asked for
	return p.appendOrder(p.appendMasked(p.appendOnce(b))), nil
}

func countKept(m *replica.Machine) (n int) {
	for range m.Kept() {
		n++
	}
	return n
}

// appendTo appends a message that wasn't received.
func (a *arrival) appendTo(b []byte) []byte {
	seq := uint64(0)
	if a.offered {
		seq = a.seq
	}
	b = varint.Append(b, a.envelope.Context, uint64(uint32(a.envelope.Src)), uint64(uint32(a.envelope.Tag)), uint64(a.typ), a.total, seq)
	b = varint.AppendBytes(b, a.stamp)
	if a.offered {
		return b
	}
	return append(b, a.body...)
}

// Restore makes a replacement what its donor was at the snapshot. After an error the process is
// useless.
func (p *Process) Restore(snapshot []byte) error {
	if len(snapshot) == 0 || snapshot[0] != snapshotVersion {
		return ErrSnapshot
	}
	r := varint.Read(snapshot[1:])
	machine := r.Bytes()
	bodies := make([]keptBody, r.Count())
	for i := range bodies {
		bodies[i] = keptBody{uint32(r.Uint()), r.Bytes()}
	}
	if r.Failed() {
		return ErrSnapshot
	}
	err := p.replica.Restore(machine, func(m replica.Message) *replica.Message {
		var body keptBody
		if len(bodies) > 0 {
			body, bodies = bodies[0], bodies[1:]
		}
		return p.restoreMessage(m, body, &r)
	}, &p.replicaOut)
	p.runReplica()
	if err != nil || r.Failed() || len(bodies) > 0 || p.clock.Restore(r.Bytes()) != nil {
		return ErrSnapshot
	}
	if marks := r.Uint(); marks&wire.CausesLost != 0 { // a replacement has heard of another layer
		p.mix(wire.CausesLost)
	}
	if p.restoreVerifying(r.Bytes()) != nil {
		return ErrSnapshot
	}
	p.restoreUnexpected(&r)
	p.restoreEarly(&r)
	if p.restoreOnce(r.Bytes()) != nil {
		return ErrSnapshot
	}
	p.restoreMasked(&r)
	if err := p.restoreOrder(&r); err != nil || !r.Done() {
		return ErrSnapshot
	}
	return nil
}

// keptBody is the first frame of a message that the donor keeps, and the type of its data.
type keptBody struct {
	typ  uint32
	wire []byte
}

// restoreMessage makes a message that the donor keeps for other replicas one of this process.
func (p *Process) restoreMessage(m replica.Message, body keptBody, r *varint.Reader) *replica.Message {
	if uint64(len(body.wire)) != m.Total+uint64(p.clock.StampSize()) {
		r.Fail()
	}
	mh, kept := p.sends.messages.take()
	*kept = message{Message: m, typ: body.typ, wire: p.buffers.copyOf(body.wire), pooled: true}
	kept.User = mh.bits()
	return &kept.Message
}

func (p *Process) restoreUnexpected(r *varint.Reader) {
	p.match = match.NewCounted(cmp.Or(p.cfg.Counts, &match.Counts{})) // every message of the log was received, or is in the snapshot
	p.receives.arrivals.each(func(ah Handle, a *arrival) { p.dropArrival(ah, a) })
	for range r.Count() {
		e := match.Envelope{Context: r.Uint(), Src: proto.Rank(uint32(r.Uint())), Tag: int32(uint32(r.Uint()))}
		typ, total, seq := uint32(r.Uint()), r.Uint(), r.Uint()
		stamp := r.Bytes()
		own := e.Src == p.rank
		if wanted := p.clock.StampSize(); own && len(stamp) > 0 || !own && len(stamp) != wanted ||
			e.Src < 0 || int(e.Src) >= p.cfg.Layout.Ranks() {
			r.Fail()
			return
		}
		ah, a := p.newArrival(e, total)
		a.stamp, a.typ = append(a.stamp, stamp...), typ
		if seq > 0 {
			a.offered, a.from, a.seq = true, proto.NoProc, seq
		} else if a.body = p.buffers.copyOf(r.Take(total)); r.Failed() {
			return
		}
		p.match.Keep(e, ah.index)
	}
	p.Changes++
}

func (p *Process) restoreEarly(r *varint.Reader) {
	for range r.Count() {
		m := early{from: proto.NoProc}
		if wire.DecodeHeader(&m.header, r.Take(wire.HeaderSize)) != nil {
			r.Fail()
			return
		}
		payload := r.Bytes()
		if k := m.header.Kind; k != wire.KindEager && k != wire.KindOffer || len(payload) != p.firstFrame(&m.header) {
			r.Fail()
			return
		}
		m.payload = p.buffers.copyOf(payload)
		p.receives.early = append(p.receives.early, m)
	}
}
