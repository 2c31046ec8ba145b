package verify

import "banyan/internal/proto"

// Came says that a replacement has filled the slot of a replica that is Gone, with the state of a
// donor (see Restore). It votes from here on; its predecessor's words are void.
//
// Of a receiver, lacks tells whether it has yet to complete a rendezvous that this process sends or
// has sent to it. The replacement says nothing of those that it has from its donor.
func (m *Machine) Came(r proto.Rank, replica int, lacks func(context, seq uint64) bool, out *Verdicts) {
	if replica == m.cfg.Replica && r == m.cfg.Rank {
		return
	}
	for _, c := range m.sending.All() {
		switch {
		case r == c.dst:
			c.receiverCame(replica, lacks)
		case r == m.cfg.Rank:
			c.senderCame(replica, m.receivers(c.dst).has(replica), m.cfg.Covers(replica))
		}
	}
	if r == m.cfg.Rank {
		m.senders |= only(replica)
	} else {
		m.gone[r] &^= only(replica)
	}
	m.reconsider(r, out)
}

// receiverCame begins a stream whose receiver is a replacement. Its digest is its donor's, so all
// of the stream is compared when it first tells.
func (c *outgoing) receiverCame(k int, lacks func(context, seq uint64) bool) {
	c.streams[k] = stream{}
	c.differ &^= only(k)
	for i := range c.singles {
		s := &c.singles[i]
		if lacks(c.context, s.seq) {
			s.told, s.silent = s.told&^only(k), s.silent&^only(k)
			continue
		}
		if !s.sent || !s.told.has(k) || s.sums[k] != s.sum { // else the one before it has said that its sender is right
			s.silent |= only(k)
		}
		s.told |= only(k)
	}
}

// senderCame continues a stream whose sender is a replacement. Its receiver, if live, is unchanged.
// covered says that this process sent to the receiver meanwhile.
func (c *outgoing) senderCame(k int, receives, covered bool) {
	if !receives { // what was wrong, if anything was, is dead
		c.streams[k] = stream{}
		c.differ &^= only(k)
	}
	for i := range c.singles {
		switch s := &c.singles[i]; {
		case !receives && s.told.has(k), covered && s.sent && !s.told.has(k):
			s.told |= only(k)
			s.silent |= only(k)
		}
	}
}

// Inflows calls f for each channel from a rank, with the number of the last eager message that has
// arrived, if one has. When a replacement of that rank comes, all of its replicas are told anew.
func (m *Machine) Inflows(src proto.Rank, f func(context, seq uint64)) {
	for _, in := range m.arrival.All() {
		if in.src == src && in.seq > 0 {
			f(in.context, in.seq)
		}
	}
}

// Kept is how many digests of this process's messages wait to be compared, and how many rendezvous.
func (m *Machine) Kept() (digests, rendezvous int) {
	for _, c := range m.sending.All() {
		digests += len(c.marks) - 1
		rendezvous += len(c.singles)
	}
	return digests, rendezvous
}
