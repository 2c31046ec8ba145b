package comm

// Way is one way to do a collective, for the benchmark that compares them (ways_test.go). The
// buffers have room for n·m bytes. A way serves only the numbers of members n that it accepts.
type Way struct {
	Kind, Name string
	Fits       func(c *Comm) bool
	Plan       func(c *Comm, send, recv []byte, m int, op Op) *Plan
}

// Ways are the algorithms of each kind, and as "rule" what the communicator chooses.
func Ways() []Way {
	always := func(*Comm) bool { return true }
	shared := func(c *Comm) bool { return c.shared }
	powers := func(c *Comm) bool { return power(c.Size()) }
	within := func(kind string, steps func(p *Plan, send, recv []byte, m int, op Op)) func(*Comm, []byte, []byte, int, Op) *Plan {
		return func(c *Comm, send, recv []byte, m int, op Op) *Plan {
			p := c.plan(kind)
			steps(p, send, recv, m, op)
			return p
		}
	}
	// each is a buffer as parts of m bytes.
	each := func(b []byte, m int) Blocks { return Blocks{Data: b, Each: m} }
	starts := func(p *Plan, m int) []int {
		s := p.numbers(0, p.size()+1)
		for i := range s {
			s[i] = i * m
		}
		return s
	}
	own := func(p *Plan, recv []byte, m int) []byte { return recv[p.rank()*m : (p.rank()+1)*m] }
	return []Way{
		{"barrier", "rule", always, func(c *Comm, _, _ []byte, _ int, _ Op) *Plan { return c.Barrier() }},
		{"barrier", "dissemination", always, within("Barrier", func(p *Plan, _, _ []byte, _ int, _ Op) { p.disseminationBarrier() })},
		{"barrier", "gathered", always, within("Barrier", func(p *Plan, _, _ []byte, _ int, _ Op) { p.gatheredBarrier() })},

		{"bcast", "rule", always, func(c *Comm, _, recv []byte, m int, _ Op) *Plan { return c.Bcast(recv[:m], 0) }},
		{"bcast", "corrected", always, within("Bcast", func(p *Plan, _, recv []byte, m int, _ Op) { p.correctedBcast(recv[:m], 0) })},
		{"bcast", "flat", always, within("Bcast", func(p *Plan, _, recv []byte, m int, _ Op) { p.flatBcast(recv[:m], 0) })},
		{"bcast", "direct", shared, within("Bcast", func(p *Plan, _, recv []byte, m int, _ Op) { p.directBcast(recv[:m], 0) })},
		{"bcast", "binomial", always, within("Bcast", func(p *Plan, _, recv []byte, m int, _ Op) { p.binomialBcast(recv[:m], 0) })},
		{"bcast", "scattered", always, within("Bcast", func(p *Plan, _, recv []byte, m int, _ Op) { p.scatteredBcast(recv[:m], 0) })},

		{"reduce", "rule", always, func(c *Comm, send, recv []byte, m int, op Op) *Plan { return c.Reduce(send[:m], recv[:m], op, 0) }},
		{"reduce", "binomial", always, within("Reduce", func(p *Plan, send, recv []byte, m int, op Op) {
			p.binomialReduce(send[:m], recv[:m], op, 0)
		})},
		{"reduce", "halving", always, within("Reduce", func(p *Plan, send, recv []byte, m int, op Op) {
			p.halvingReduce(fold(p.size(), p.rank()), send[:m], recv[:m], op, 0)
		})},

		{"allreduce", "rule", always, func(c *Comm, send, recv []byte, m int, op Op) *Plan { return c.Allreduce(send[:m], recv[:m], op) }},
		{"allreduce", "doubling", always, within("Allreduce", func(p *Plan, send, recv []byte, m int, op Op) {
			p.doublingAllreduce(fold(p.size(), p.rank()), send[:m], recv[:m], op)
		})},
		{"allreduce", "halving", always, within("Allreduce", func(p *Plan, send, recv []byte, m int, op Op) {
			p.halvingAllreduce(fold(p.size(), p.rank()), send[:m], recv[:m], op)
		})},
		{"allreduce", "gathered", always, within("Allreduce", func(p *Plan, send, recv []byte, m int, op Op) {
			p.gatheredAllreduce(fold(p.size(), p.rank()), send[:m], recv[:m], op)
		})},

		{"reduce-scatter", "rule", always, func(c *Comm, send, recv []byte, m int, op Op) *Plan {
			return c.ReduceScatter(send, recv[:m], nil, op)
		}},
		{"reduce-scatter", "halving", always, within("Reduce_scatter", func(p *Plan, send, recv []byte, m int, op Op) {
			p.halvingReduceScatter(send, recv[:m], starts(p, m), op)
		})},
		{"reduce-scatter", "pairwise", always, within("Reduce_scatter", func(p *Plan, send, recv []byte, m int, op Op) {
			p.pairwiseReduceScatter(send, recv[:m], starts(p, m), op)
		})},

		{"allgather", "rule", always, func(c *Comm, send, recv []byte, m int, _ Op) *Plan { return c.Allgather(send[:m], recv) }},
		{"allgather", "doubling", powers, within("Allgather", func(p *Plan, send, recv []byte, m int, _ Op) {
			p.copy(own(p, recv, m), send[:m])
			p.doublingAllgather(recv, m)
		})},
		{"allgather", "Bruck", always, within("Allgather", func(p *Plan, send, recv []byte, m int, _ Op) {
			p.copy(own(p, recv, m), send[:m])
			p.bruckAllgather(each(recv, m))
		})},
		{"allgather", "ring", always, within("Allgather", func(p *Plan, send, recv []byte, m int, _ Op) {
			p.copy(own(p, recv, m), send[:m])
			p.ringAllgather(each(recv, m))
		})},

		{"alltoall", "rule", always, func(c *Comm, send, recv []byte, m int, _ Op) *Plan { return c.Alltoall(send, recv, 1) }},
		{"alltoall", "Bruck", always, within("Alltoall", func(p *Plan, send, recv []byte, m int, _ Op) { p.bruckAlltoall(send, recv, m) })},
		{"alltoall", "spread", always, within("Alltoall", func(p *Plan, send, recv []byte, m int, _ Op) {
			p.spreadAlltoall(each(send, m), each(recv, m))
		})},

		{"gather", "rule", always, func(c *Comm, send, recv []byte, m int, _ Op) *Plan { return c.Gather(send[:m], recv, 0) }},
		{"gather", "binomial", always, within("Gather", func(p *Plan, send, recv []byte, m int, _ Op) { p.binomialGather(send[:m], recv, 0) })},
		{"gather", "linear", always, within("Gather", func(p *Plan, send, recv []byte, m int, _ Op) { p.linearGather(send[:m], each(recv, m), 0) })},

		{"scatter", "rule", always, func(c *Comm, send, recv []byte, m int, _ Op) *Plan { return c.Scatter(send, recv[:m], 0) }},
		{"scatter", "binomial", always, within("Scatter", func(p *Plan, send, recv []byte, m int, _ Op) { p.binomialScatter(send, recv[:m], 0) })},
		{"scatter", "linear", always, within("Scatter", func(p *Plan, send, recv []byte, m int, _ Op) { p.linearScatter(each(send, m), recv[:m], 0) })},
	}
}

// SharedFrom is the number of the small collective that opens a communicator's common memory at
// the latest.
const SharedFrom = sharedFromOversubscribed

// CountSmall has the communicator count a small collective, as one of members that share memory,
// and tells whether that one opens their common memory.
func (c *Comm) CountSmall() (opens bool) {
	c.sharing.may, c.sharing.from = true, sharedFromOversubscribed
	return c.isSmall(1, 1)
}

// Shares tells whether small collectives go through common memory.
func (c *Comm) Shares() bool { return c.sharing.in != nil }

// ByMessages has all collectives go by messages.
func (c *Comm) ByMessages() { c.sharing.may = false }

// Unwilling has this member refuse to share memory.
func (c *Comm) Unwilling(is bool) { c.sharing.unwilling = is }

// SharesAgreements tells whether agreements go through common memory.
func (c *Comm) SharesAgreements() bool { return c.pact.in != nil }
