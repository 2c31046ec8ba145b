package mesh

// Volume is how many bytes have been sent through sockets, and through the rings that there are
// now: those of frames, with what carries them. It adds up what rings and sockets know anyway, and
// is for now and then.
func (t *Transport) Volume() (bytes uint64) {
	bytes = t.written
	for _, p := range t.peers {
		if p != nil && p.link != nil {
			bytes += p.link.Out.Written()
		}
	}
	return bytes
}
