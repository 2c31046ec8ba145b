package replication

import "banyan/internal/proto"

// This is what package process does in early.go for a program of one thread.

// postponed keeps a message for later that comes before its cause.
func (n *node) postponed(f *frame) bool {
	if n.clock.Ready(f.Body.stamp) && !n.preceded(f, n.early) {
		return false
	}
	n.tally.early++
	n.early = append(n.early, *f)
	return true
}

// preceded says whether messages of the same channel wait.
func (n *node) preceded(f *frame, waiting []frame) bool {
	for i := range waiting {
		if n.sameChannel(&waiting[i], f) {
			return true
		}
	}
	return false
}

func (n *node) sameChannel(f, g *frame) bool {
	return f.Body.collective == g.Body.collective && n.job.layout.Rank(f.From) == n.job.layout.Rank(g.From)
}

// deliverEarly delivers messages that a send or another copy has made ready.
func (n *node) deliverEarly() {
	waiting := n.early
	n.early = nil
	var kept []frame
	for i := range waiting {
		f := &waiting[i]
		if !n.clock.Ready(f.Body.stamp) || n.preceded(f, kept) {
			kept = append(kept, *f)
			continue
		}
		n.deliver(f)
	}
	n.early = append(kept, n.early...)
}

// duplicateArrived takes another copy of a message, whose cause may be less than that of the copy
// that waits.
func (n *node) duplicateArrived(f *frame) {
	if n.clock == nil {
		return
	}
	for i := range n.early {
		e := &n.early[i]
		if e.Body.seq == f.Body.seq && n.sameChannel(e, f) {
			if n.clock.Sends(f.Body.stamp) < n.clock.Sends(e.Body.stamp) {
				e.Body.stamp = f.Body.stamp
				n.deliverEarly()
			}
			return
		}
	}
}

// turnEarly turns an offer that waits for its cause to its new sender.
func (n *node) turnEarly(to proto.Proc, context, seq uint64, id uint32) {
	for i := range n.early {
		e := &n.early[i]
		if e.Body.kind == offer && e.Body.seq == seq && e.Body.context() == context && n.sourceOf(n.local(e.From)) == n.sourceOf(to) {
			e.From, e.Body.id, e.Body.receiver = n.proc(to), id, 0
		}
	}
}

// learn has the program know what it has received.
func (n *node) learn() {
	for _, stamp := range n.learned {
		n.clock.Received(stamp)
	}
	clear(n.learned)
	n.learned = n.learned[:0]
}

func appendStamp(list [][]byte, stamp []byte) [][]byte {
	if stamp == nil {
		return list
	}
	return append(list, stamp)
}
