package comm

// spread is how many exchanges of an Alltoall are under way at a time. spreadOversubscribed is that
// number where members share cores (oversubscribed.go): all, as a rule.
const (
	spread               = 8
	spreadOversubscribed = 32
)

// spreadAlltoall exchanges, in step s, with the members s ahead and s behind. Some steps are under
// way at a time. No member waits for ever: of the members that wait, consider one that is in the
// lowest step. It waits for members that have posted what it needs.
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
