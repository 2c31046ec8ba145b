package replica

import "banyan/internal/proto"

// Arrived visits the channels from a rank, with how many messages have arrived on each, offers
// included.
func (m *Machine) Arrived(src proto.Rank, visit func(context, n uint64)) {
	for _, c := range m.arrival.channels.All() {
		if c.src == src && c.arrived > 0 {
			visit(c.context, c.arrived)
		}
	}
}

// ArrivedOn is how many messages have arrived on a channel, offers included.
func (m *Machine) ArrivedOn(context uint64, src proto.Rank) uint64 {
	if c := m.arrival.channels.Find(context, src); c != nil {
		return c.arrived
	}
	return 0
}

// Sent is how many messages this process has sent on a channel.
func (m *Machine) Sent(context uint64, dst proto.Rank) uint64 {
	if c := m.sending.channels.Find(context, dst); c != nil {
		return c.sent
	}
	return 0
}
