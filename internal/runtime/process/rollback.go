package process

import (
	"errors"
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/proto/match"
	"banyan/internal/runtime/wire"
	"banyan/internal/varint"
)

// In a job without replicas a rank's state is captured when all ranks stand at a safe point, and a
// marker of each has come (internal/proto/rollback). Then all that was sent before is here: it was
// received, or waits for its receive. What waits is a part of the snapshot.

// ErrHeld says that bytes aren't the messages that a process held.
var ErrHeld = errors.New("the messages of the snapshot are damaged, or those of another job")

// Contacts appends the other ranks with which this process may have exchanged anything, in
// ascending order.
func (p *Process) Contacts(dst []proto.Rank) []proto.Rank {
	net, _ := p.net.(interface{ Linked(q proto.Proc) bool })
	for q := range proto.Proc(len(p.peers)) {
		if q != p.cfg.Self && (p.peers[q].contacted || net != nil && net.Linked(q)) {
			dst = append(dst, p.cfg.Layout.Rank(q))
		}
	}
	return dst
}

// SendMarker sends a rank the marker of a snapshot, behind all that was sent to it before.
func (p *Process) SendMarker(to proto.Rank, snapshot uint64) {
	wire.Marker{Snapshot: snapshot}.Put(&p.header)
	p.send(p.cfg.Layout.Proc(to, 0), &p.header, nil, 0)
}

// Settled says why what this process has isn't its whole part of a snapshot, although all markers
// have come; nil: it is.
func (p *Process) Settled() error {
	if err := p.Pending(); err != nil {
		return err
	}
	if len(p.contexts.orphans) > 0 {
		return errors.New("a broadcast in a communicator that isn't made here yet")
	}
	for _, c := range p.contexts.active {
		if c.stream.Ahead() {
			return errors.New("a broadcast that other ranks have begun before their safe point, and this one hasn't")
		}
	}
	return nil
}

// HeldMessages are the messages that have come and weren't received.
func (p *Process) HeldMessages() ([]byte, error) {
	_, n := p.match.Len()
	b := varint.Append(nil, uint64(n))
	offered := false
	p.match.EachUnexpected(func(token uint32) {
		_, a := p.receives.arrivals.at(token)
		offered = offered || a.offered
		b = varint.Append(b, a.envelope.Context, uint64(uint32(a.envelope.Src)), uint64(uint32(a.envelope.Tag)), uint64(a.typ))
		b = varint.AppendBytes(b, a.body)
	})
	if offered {
		return nil, errors.New("a large message that nobody has received yet")
	}
	return b, nil
}

// RestoreHeld puts the messages of a snapshot in the place of those that have come.
func (p *Process) RestoreHeld(held []byte) error {
	p.match.EachUnexpected(func(token uint32) {
		ah, a := p.receives.arrivals.at(token)
		p.dropArrival(ah, a)
	})
	counts := p.cfg.Counts
	if counts == nil {
		counts = &match.Counts{}
	}
	p.match = match.NewCounted(counts)
	r := varint.Read(held)
	for range r.Count() {
		e := match.Envelope{Context: r.Uint(), Src: proto.Rank(uint32(r.Uint())), Tag: int32(uint32(r.Uint()))}
		typ, body := uint32(r.Uint()), r.Bytes()
		if r.Failed() || e.Src < 0 || int(e.Src) >= p.cfg.Layout.Ranks() {
			return ErrHeld
		}
		ah, a := p.newArrival(e, uint64(len(body)))
		a.body, a.typ = p.buffers.copyOf(body), typ
		p.match.Keep(e, ah.index)
	}
	if !r.Done() {
		return fmt.Errorf("%w: bytes follow", ErrHeld)
	}
	p.Changes++
	return nil
}
