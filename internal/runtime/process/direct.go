package process

// The data of a large message needn't travel in frames if its receiver can read the sender's
// memory (transport.DirectReader). The offer says where the data is. The receiver reads it
// straight into the program's buffer, and then releases the sender by a pull that asks for no
// data. If anything goes wrong the receiver asks for fragments instead, as if it couldn't read
// at all. So a sender that dies meanwhile has the ordinary outcome: a substitute offers the
// message again, or the receive ends with an error.
//
// A sender's buffer may become the program's again before every receiver has released the
// sender, since a receiver or its whole rank is lost. Then the sender first revokes what it has
// offered.

const (
	// directMin is the least that is worth a system call.
	directMin = 16 << 10
	// streamMin is the least that is asked for where both ends attend.
	streamMin = 16 << 10
	// directPiece is how much is read at once: heartbeats must not wait.
	directPiece = 1 << 20
)

// expose gives what an offer says about where its data is; 0: nothing.
func (p *Process) expose(body []byte) uint64 {
	if p.direct == nil || len(body) < directMin {
		return 0
	}
	return p.direct.Expose(body)
}

// revoke makes the offers made so far useless for reading.
func (p *Process) revoke() {
	if p.direct != nil {
		p.direct.Revoke()
	}
}

// read begins to read the data of an offer, and tells whether that goes well.
func (p *Process) read(a *arrival, r *request) bool {
	if p.direct == nil || a.offer.Memory == 0 || a.wanted < directMin || !p.readPiece(a, r) {
		return false
	}
	if a.received < a.wanted {
		p.receives.reading = append(p.receives.reading, a.self)
	}
	return true
}

// readPiece reads on, and ends the rendezvous if that was all.
func (p *Process) readPiece(a *arrival, r *request) bool {
	n := min(a.wanted-a.received, directPiece)
	if !p.direct.Read(a.from, r.buffer[a.received:a.received+n], a.offer.Memory, a.received) {
		a.offer.Memory = 0
		return false
	}
	a.received += n
	p.BytesRead += n
	if a.received == a.wanted {
		p.releaseSender(a)
		p.endRendezvous(a)
	}
	return true
}

// readOn reads the next piece of each message that is being read, and reports whether there was
// one.
func (p *Process) readOn() bool {
	if len(p.receives.reading) == 0 {
		return false
	}
	kept := p.receives.reading[:0]
	for _, ah := range p.receives.reading {
		a := p.receives.arrivals.get(ah)
		if a == nil || a.offer.Memory == 0 || a.received == a.wanted {
			continue // it has ended, or comes in fragments
		}
		r := p.requests.get(a.request)
		if r == nil || r.done {
			continue
		}
		if !p.readPiece(a, r) {
			p.ask(a)
		} else if p.receives.arrivals.get(ah) != nil {
			kept = append(kept, ah)
		}
	}
	p.receives.reading = kept
	return true
}
