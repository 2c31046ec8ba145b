package comm

// spread is how many exchanges of an Alltoall are under way at a time, and spreadOversubscribed where
// members share cores (oversubscribed.go): all, as a rule.
const (
	spread               = 8
	spreadOversubscribed = 32
)

// spreadAlltoall exchanges in step s with those s ahead and s behind; some steps
// are under way at a time. Nobody waits for ever: among those that wait, one that
// has come least far waits for members that have posted what it needs.
//
//	(n-1) · α + (n-1)/n · m β
func (p *Plan) spreadAlltoall(send, recv Blocks) {
	n, rank := p.size(), p.rank()
	window := spread
	if p.comm.oversubscribed {
		window = spreadOversubscribed
	}
	for s := 1; s < n; s++ {
		p.s.WaitFor(2 * (s - window))
		to, from := (rank+s)%n, (rank-s+n)%n
		p.send(to, send.Of(to))
		p.receive(from, recv.Of(from))
	}
	p.copy(recv.Of(rank), send.Of(rank))
}
