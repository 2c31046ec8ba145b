package process

// Large data goes one of two ways between processes that share memory. The receiver reads it in the
// sender's memory (direct.go), which needs nothing of the sender. Or it asks for fragments
// (transfer.go), which the sender writes into the ring while the receiver copies them out: that
// takes both processes, but two cores copy, and without the kernel, which has to find each page.
// So it is faster where both have nothing else to do, even if they share a core: where both attend,
// that is, wait in the library and poll meanwhile.
//
// A process announces that it attends only while it offers something. What it has asked for, or
// has been asked for, then comes at once; so a thread that stops waiting first finishes that
// (Streams), for a while.

// attention is whether this process attends.
type attention struct {
	threads   int  // that wait
	announced bool // the others know
	offers    int  // messages that are offered
	asked     int  // messages of others that this process has asked for because both attend
}

// Attend says that a thread begins to wait.
func (p *Process) Attend() {
	p.attention.threads++
	if p.attention.offers > 0 {
		p.announce(true)
	}
}

// Leave says that a thread waits no longer.
func (p *Process) Leave() {
	p.attention.threads--
	if p.attention.announced && p.attention.threads == 0 {
		p.announce(false)
	}
}

// Sleep says whether the threads that wait sleep: then they don't poll.
func (p *Process) Sleep(asleep bool) {
	if p.attention.offers > 0 && p.attention.threads > 0 {
		p.announce(!asleep)
	}
}

// announce tells the others, if they can read offers at all.
func (p *Process) announce(on bool) {
	if p.direct != nil && !p.replicated && p.attention.announced != on {
		p.attention.announced = on
		p.direct.Attend(on)
	}
}

// offering counts an offer. Its receiver may see the offer at once, so it must see before that this
// process attends.
func (p *Process) offering() {
	p.attention.offers++
	if p.attention.threads > 0 {
		p.announce(true)
	}
}

// both tells whether both ends of an offer attend.
func (p *Process) both(a *arrival) bool {
	return p.attention.threads > 0 && a.offer.Memory != 0 && !p.replicated && p.direct.Answers(a.from)
}

// Streams tells whether data that was asked for is under way.
func (p *Process) Streams() bool { return p.attention.asked > 0 || p.sends.answered > 0 }
