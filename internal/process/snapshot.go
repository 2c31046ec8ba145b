package process

import (
	"encoding/binary"
	"errors"
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/proto/match"
	"banyan/internal/proto/replica"
	"banyan/internal/wire"
)

// A newcomer that has come to its first safe point takes over what its donor's
// library has come to: the state of replication with the messages that are
// kept, the clock, and what has arrived and nobody has received. Nothing else is left at a
// safe point where nothing is pending. An offer is taken over without its sender:
// one offers it again.

// snapshotVersion is the first byte of a snapshot.
const snapshotVersion = 1

// ErrSnapshot says that bytes are no snapshot of a replica of this process.
var ErrSnapshot = errors.New("the state of the library is damaged, or that of another job")

// Pending says what the program has under way, or nil: then a safe point may be
// used.
func (p *Process) Pending() error {
	requests, taken := 0, 0
	p.requests.each(func(Handle, *request) { requests++ })
	p.arrivals.each(func(_ Handle, a *arrival) {
		if a.taken {
			taken++
		}
	})
	switch {
	case requests > 0:
		return fmt.Errorf("operations that have been started, and not completed: %d", requests)
	case taken > 0:
		return fmt.Errorf("messages that a matched probe has taken, and nobody received: %d", taken)
	}
	return nil
}

// Snapshot is the donor's part of a transfer, when replication says so (Handover).
func (p *Process) Snapshot() ([]byte, error) {
	if err := p.Pending(); err != nil {
		return nil, err
	}
	b := []byte{snapshotVersion}
	kept := binary.AppendUvarint(nil, uint64(countKept(p.replica)))
	for m := range p.replica.Kept() { // before anything of it may be released
		kept = appendBytes(kept, p.messages.get(handleOf(m.User)).wire)
	}
	b = appendBytes(b, p.replica.AppendState(nil, &p.replicaOut))
	b = append(b, kept...)
	b = appendBytes(b, p.clock.AppendState(nil))

	_, n := p.match.Len()
	b = binary.AppendUvarint(b, uint64(n))
	p.match.EachUnexpected(func(token uint32) {
		_, a := p.arrivals.at(token)
		b = a.appendTo(b)
	})
	b = binary.AppendUvarint(b, uint64(len(p.early)))
	for i := range p.early {
		m := &p.early[i]
		var header [wire.HeaderSize]byte
		wire.EncodeHeader(header[:], &m.header)
		b = appendBytes(append(b, header[:]...), m.payload)
	}
	p.runReplica() // what replication put off for the sake of this
	return b, nil
}

func countKept(m *replica.Machine) (n int) {
	for range m.Kept() {
		n++
	}
	return n
}

// appendTo appends a message that nobody has received.
func (a *arrival) appendTo(b []byte) []byte {
	b = binary.AppendUvarint(b, a.envelope.Context)
	b = binary.AppendUvarint(b, uint64(uint32(a.envelope.Src)))
	b = binary.AppendUvarint(b, uint64(uint32(a.envelope.Tag)))
	b = binary.AppendUvarint(b, a.total)
	seq := uint64(0)
	if a.offered {
		seq = a.seq
	}
	b = binary.AppendUvarint(b, seq)
	b = appendBytes(b, a.stamp)
	if a.offered {
		return b
	}
	return append(b, a.body...)
}

// Restore makes a newcomer what the process is that made the snapshot. After an
// error the process is good for nothing.
func (p *Process) Restore(snapshot []byte) error {
	r := snapshotReader{b: snapshot}
	if len(snapshot) == 0 || snapshot[0] != snapshotVersion {
		return ErrSnapshot
	}
	r.b = r.b[1:]
	machine := r.bytes()
	bodies := make([][]byte, r.count())
	for i := range bodies {
		bodies[i] = r.bytes()
	}
	if r.bad {
		return ErrSnapshot
	}
	err := p.replica.Restore(machine, func(m replica.Message) *replica.Message {
		var body []byte
		if len(bodies) > 0 {
			body, bodies = bodies[0], bodies[1:]
		}
		return p.keepAgain(m, body, &r)
	}, &p.replicaOut)
	p.runReplica()
	if err != nil || r.bad || len(bodies) > 0 || p.clock.Restore(r.bytes()) != nil {
		return ErrSnapshot
	}
	p.restoreUnexpected(&r)
	p.restoreEarly(&r)
	if r.bad || len(r.b) > 0 {
		return ErrSnapshot
	}
	return nil
}

// keepAgain makes a message that the donor keeps for other replicas one of this
// process.
func (p *Process) keepAgain(m replica.Message, body []byte, r *snapshotReader) *replica.Message {
	if uint64(len(body)) != m.Total+uint64(p.clock.StampSize()) {
		r.bad = true
	}
	mh, kept := p.messages.take()
	*kept = message{Message: m, wire: p.buffers.copyOf(body), pooled: true}
	kept.User = mh.bits()
	return &kept.Message
}

func (p *Process) restoreUnexpected(r *snapshotReader) {
	p.match = match.New() // what the log has brought in is all received, or in the snapshot
	p.arrivals.each(func(ah Handle, a *arrival) { p.dropArrival(ah, a) })
	for range r.count() {
		e := match.Envelope{Context: r.uint(), Src: proto.Rank(uint32(r.uint())), Tag: int32(uint32(r.uint()))}
		total, seq := r.uint(), r.uint()
		stamp := r.bytes()
		own := e.Src == p.rank
		if wanted := p.clock.StampSize(); own && len(stamp) > 0 || !own && len(stamp) != wanted ||
			e.Src < 0 || int(e.Src) >= p.cfg.Layout.Ranks() {
			r.bad = true
			return
		}
		ah, a := p.newArrival(e, total)
		a.stamp = append(a.stamp, stamp...)
		if seq > 0 {
			a.offered, a.from, a.seq = true, proto.NoProc, seq
		} else if a.body = p.buffers.copyOf(r.take(total)); r.bad {
			return
		}
		p.match.Keep(e, ah.index)
	}
	p.Changes++
}

func (p *Process) restoreEarly(r *snapshotReader) {
	for range r.count() {
		m := early{from: proto.NoProc}
		if wire.DecodeHeader(&m.header, r.take(wire.HeaderSize)) != nil {
			r.bad = true
			return
		}
		payload := r.bytes()
		if k := m.header.Kind; k != wire.KindEager && k != wire.KindOffer || len(payload) != p.firstFrame(&m.header) {
			r.bad = true
			return
		}
		m.payload = p.buffers.copyOf(payload)
		p.early = append(p.early, m)
	}
}

func appendBytes(b, data []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(data))), data...)
}

// snapshotReader reads what Snapshot wrote. After something impossible, bad is set and
// everything reads as nothing.
type snapshotReader struct {
	b   []byte
	bad bool
}

func (r *snapshotReader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || r.bad {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

// count reads the number of things that follow, of at least a byte each.
func (r *snapshotReader) count() uint64 {
	n := r.uint()
	if n > uint64(len(r.b)) {
		r.bad = true
		return 0
	}
	return n
}

// take reads n bytes, of the snapshot's memory.
func (r *snapshotReader) take(n uint64) []byte {
	if r.bad || n > uint64(len(r.b)) {
		r.bad = true
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *snapshotReader) bytes() []byte { return r.take(r.count()) }
