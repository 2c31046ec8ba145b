package process

import (
	"errors"
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/proto/causal"
	"banyan/internal/proto/match"
	"banyan/internal/runtime/wire"
	"banyan/internal/varint"
)

// A process's state is captured when all stand at a safe point, and a marker of each has come
// (internal/proto/rollback). Then all that was sent before is here: it was received, or waits for
// its receive. What waits is a part of the snapshot.
//
// With replicas more may be here: a replica that was ahead of its siblings may have sent it, and
// have died. Its siblings stand before that, and send it again. The stamp of a message says how
// many its rank has sent (package causal), and the order to flush how many that were at the safe
// point.

// ErrHeld says that bytes aren't the messages that a process held.
var ErrHeld = errors.New("the messages of the snapshot are damaged, or those of another job")

// errSeen is why a led process isn't captured that has what another rank sends after its safe
// point. A probe may have found it, and after a rollback that rank may decide otherwise, and not
// send it. (Without a leader no decision depends on a probe, and the rank sends it again.)
var errSeen = errors.New("a message is here that its sender sends after its safe point, and that the program may have seen")

// Contacts appends the other processes with which this one may have exchanged anything, in
// ascending order, and those that it takes for dead. Such a one may live for a moment, without
// what would have been sent to it: it mustn't be captured, and isn't, since it waits for a marker
// in vain.
func (p *Process) Contacts(dst []proto.Proc) []proto.Proc {
	net, _ := p.net.(interface{ Linked(q proto.Proc) bool })
	for q := range proto.Proc(len(p.peers)) {
		if q != p.cfg.Self && (p.peers[q].gone() || p.peers[q].contacted || net != nil && net.Linked(q)) {
			dst = append(dst, q)
		}
	}
	return dst
}

// Sends is how many messages the program has sent, where ranks have replicas.
func (p *Process) Sends() uint64 {
	if p.clock == nil {
		return 0
	}
	return p.clock.Count(p.rank)
}

// SendMarker sends a process the marker of a snapshot, behind all that was sent to it before. One
// that is taken for dead gets none.
func (p *Process) SendMarker(to proto.Proc, snapshot uint64) {
	if p.peers[to].gone() {
		return
	}
	wire.Marker{Snapshot: snapshot}.Put(&p.header)
	p.send(to, &p.header, nil, 0)
}

// Settled says why what this process has isn't its whole part of a snapshot, although all markers
// have come; nil: it is. sends is how many messages each rank has sent.
func (p *Process) Settled(sends []uint64) error {
	if err := p.Pending(); err != nil {
		return err
	}
	if err := p.oncePending(); err != nil {
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
	if p.clock == nil {
		return nil
	}
	if len(sends) != p.cfg.Layout.Ranks() {
		return errors.New("nobody says how much was sent")
	}
	for r := range sends {
		if r := proto.Rank(r); r != p.rank && p.clock.Count(r) > sends[r] {
			return fmt.Errorf("something was received that %v sends after its safe point", r)
		}
	}
	for i := range p.receives.early {
		if m := &p.receives.early[i]; !late(m.payload[len(m.payload)-p.clock.StampSize():], m.header.Src, sends) {
			return errors.New("a message waits for its cause")
		}
	}
	return nil
}

// late says whether a message was sent behind the safe point of its rank.
func late(stamp []byte, from proto.Rank, sends []uint64) bool {
	return len(stamp) > 0 && int(from) < len(sends) && causal.Counted(stamp, from) > sends[from]
}

// HeldMessages are the messages that have come and weren't received, but for those that are sent
// again.
func (p *Process) HeldMessages(sends []uint64) ([]byte, error) {
	var held []byte
	n := uint64(0)
	offered, ahead := false, false
	p.match.EachUnexpected(func(token uint32) {
		_, a := p.receives.arrivals.at(token)
		if late(a.stamp, a.envelope.Src, sends) {
			ahead = true
			return
		}
		n++
		offered = offered || a.offered
		held = varint.Append(held, a.envelope.Context, uint64(uint32(a.envelope.Src)), uint64(uint32(a.envelope.Tag)), uint64(a.typ))
		held = varint.AppendBytes(held, a.body)
	})
	switch {
	case offered:
		return nil, errors.New("a large message that nobody has received yet")
	case ahead && p.Begun():
		return nil, errSeen
	}
	return append(varint.Append(nil, n), held...), nil
}

// RestoreHeld puts the messages of a snapshot in the place of those that have come. Their causes
// are in the snapshot: the clocks of this epoch needn't know them.
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
		if p.clock != nil && e.Src != p.rank {
			a.stamp = append(a.stamp, make([]byte, p.clock.StampSize())...)
		}
		p.match.Keep(e, ah.index)
	}
	if !r.Done() {
		return fmt.Errorf("%w: bytes follow", ErrHeld)
	}
	p.Changes++
	return nil
}
