package replica

import "banyan/internal/prefetch"

// fetched bounds how many channels of each direction Fetch asks for.
const fetched = 16

// Fetch asks for what the next messages need and changes nothing. A driver of many machines, of
// which few fit into a cache, calls it before it gives one its messages (package prefetch): with
// stage 0 for the machine's own memory, and with 1, 2 and 3, when what was asked for before is
// there, for what that points to.
func (m *Machine) Fetch(stage int) {
	switch stage {
	case 0:
		prefetch.Until(m, &m.skew.reported)
	case 1:
		prefetch.Slice(m.slots[:min(len(m.slots), fetched)])
		prefetch.Slice(m.peers[:min(len(m.peers), fetched)])
		m.sending.channels.Fetch(fetched)
		m.arrival.channels.Fetch(fetched)
		prefetch.Slice(m.arrival.dirty)
	case 2:
		for _, c := range m.sending.channels.First(fetched) {
			prefetch.Value(c)
		}
		for _, c := range m.arrival.channels.First(fetched) {
			prefetch.Value(c)
		}
	case 3:
		for _, c := range m.sending.channels.First(fetched) {
			prefetch.First(&c.acked[0])
			if w := &c.retained; len(w.ring) > 0 {
				prefetch.First(w.at(0))
				prefetch.First(w.at(w.size))
			}
		}
		for _, c := range m.arrival.channels.First(fetched) {
			prefetch.First(&c.known[0])
		}
	}
}
