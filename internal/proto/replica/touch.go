package replica

// touched bounds how many channels of each direction Touch looks at.
const touched = 16

// Touch reads what the next messages need and changes nothing. A driver of many machines, of which
// few fit into a cache, calls it before it gives one its messages: the processor fetches from
// memory at once what the messages would ask for one after the other. The sum means nothing; it has
// to be used, so that the reads aren't left out.
func (m *Machine) Touch() (sum uint64) {
	out, in := m.sending.channels.All(), m.arrival.channels.All()
	out, in = out[:min(len(out), touched)], in[:min(len(in), touched)]
	sum = uint64(m.arrival.owed) + m.skew.horizon + uint64(m.sending.messages)
	for i := range min(len(m.peers), touched) {
		sum += uint64(m.peers[i].present)
	}
	for _, c := range out {
		sum += c.sent + uint64(c.retained.size)
	}
	for _, c := range in {
		sum += c.arrived + uint64(c.offers.size)
	}
	for _, c := range out {
		sum += c.acked[0]
		if w := &c.retained; w.size > 0 {
			sum += w.at(0).seq + w.at(w.size-1).seq
		}
	}
	for _, c := range in {
		sum += c.known[0]
	}
	return sum + uint64(m.slots[0].Replica) + uint64(m.slots[len(m.slots)-1].Replica)
}
