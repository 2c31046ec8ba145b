package comm

// Collectives between two groups are plans of the communicator of both. A part of the steps goes
// along one group's own members (near), by the algorithms of ordinary collectives, and a part
// across to the other group's. n is the number of members of the group whose data is meant.
//
// In the collectives with a root, one group has the root. The root gives Root, its neighbours in
// its group give Bystander and do nothing, and the members of the other group give its rank.

// What a member of the root's group gives in place of a root.
const (
	Root      = -3
	Bystander = -4
)

// plan begins a plan of both groups.
func (i *Inter) plan(op string, root int, parts ...[]byte) *Plan {
	p := i.whole.plan(op)
	p.gives(root, parts...)
	return p
}

// along has steps made among the members of this rank's group, across among the other group's: what
// they call a rank is one of that group.
func (i *Inter) along(p *Plan)  { p.comm = i.near }
func (i *Inter) across(p *Plan) { p.comm = i.Comm }

// done ends the making of a plan.
func (i *Inter) done(p *Plan) *Plan {
	p.comm = i.whole
	return p
}

// badRoot is the error of a root that is none; nil if it is one.
func (i *Inter) badRoot(root int) error {
	if root == Root || root == Bystander {
		return nil
	}
	return i.checkRoot(root)
}

// Barrier returns at no member before every member of both groups has called it.
func (i *Inter) Barrier() *Plan { return i.whole.Barrier() }

// Bcast brings the root's data to every member of the other group. The root sends it to that
// group's rank 0, which sends it on.
//
//	(1 + ⌈log2 n⌉) · (α + m β)
func (i *Inter) Bcast(data []byte, root int) *Plan {
	p := i.plan("Bcast", root)
	if err := i.badRoot(root); err != nil {
		return p.fail(err)
	}
	switch root {
	case Bystander:
	case Root:
		p.gives(root, data)
		i.across(p)
		p.send(0, data)
	default:
		p.given.takes = len(data)
		if i.rank == 0 {
			i.across(p)
			p.receive(root, data)
			p.wait()
		}
		i.along(p)
		p.messageBcast(data, 0)
	}
	return i.done(p)
}

// Gather collects the data of the other group's members at the root. recv is used there only.
//
//	n · (α + m/n β) at the root, one step elsewhere
func (i *Inter) Gather(send []byte, recv Blocks, root int) *Plan {
	p := i.plan("Gather", root)
	if err := i.badRoot(root); err != nil {
		return p.fail(err)
	}
	i.across(p)
	switch root {
	case Bystander:
	case Root:
		if err := recv.check("the receive buffer", i.Size()); err != nil {
			return i.done(p).fail(err)
		}
		for r := range i.Size() {
			p.receive(r, recv.Of(r))
		}
	default:
		p.gives(root, send)
		p.send(root, send)
	}
	return i.done(p)
}

// Scatter gives each member of the other group a part of the root's data. send is used there only.
//
//	n · (α + m/n β) at the root, one step elsewhere
func (i *Inter) Scatter(send Blocks, recv []byte, root int) *Plan {
	p := i.plan("Scatter", root)
	if err := i.badRoot(root); err != nil {
		return p.fail(err)
	}
	i.across(p)
	switch root {
	case Bystander:
	case Root:
		if err := send.check("the send buffer", i.Size()); err != nil {
			return i.done(p).fail(err)
		}
		p.givesBlocks(root, send, i.Size())
		for r := range i.Size() {
			p.send(r, send.Of(r))
		}
	default:
		p.given.takes = len(recv)
		p.receive(root, recv)
	}
	return i.done(p)
}

// Allgather leaves the data of the other group's members at each member: recv.Of(r) is that of
// rank r. All send theirs to rank 0 of the other group, which has its group know.
//
//	(n + ⌈log2 n⌉) · α + (1 + log2 n) · m β
func (i *Inter) Allgather(send []byte, recv Blocks) *Plan {
	p := i.plan("Allgather", NoPeer, send)
	if err := recv.check("the receive buffer", i.Size()); err != nil {
		return p.fail(err)
	}
	total := 0
	for r := range i.Size() {
		total += recv.Len(r)
	}
	all := recv.Data
	if recv.Parts != nil {
		all = p.scratch(total)
	}
	of := func(at, r int) []byte { return all[at : at+recv.Len(r) : at+recv.Len(r)] }
	i.across(p)
	if i.rank == 0 {
		at := 0
		for r := range i.Size() {
			p.receive(r, of(at, r))
			at += recv.Len(r)
		}
	}
	p.send(0, send)
	p.wait()
	i.along(p)
	p.messageBcast(all, 0)
	if recv.Parts != nil {
		p.wait() // the copies are for those that have received
		at := 0
		for r := range i.Size() {
			p.copy(recv.Of(r), of(at, r))
			at += recv.Len(r)
		}
	}
	return i.done(p)
}

// Alltoall gives send.Of(r) to the other group's rank r, and gets recv.Of(r) of it. In step s a
// member exchanges with the one that is s further in the other group, as long as there is one.
// As in spreadAlltoall no member waits for ever.
//
//	max(n of both) · α + m β
func (i *Inter) Alltoall(send, recv Blocks) *Plan {
	p := i.plan("Alltoall", NoPeer)
	if err := send.check("the send buffer", i.Size()); err != nil {
		return p.fail(err)
	}
	if err := recv.check("the receive buffer", i.Size()); err != nil {
		return p.fail(err)
	}
	p.givesBlocks(NoPeer, send, i.Size())
	window := spread
	if i.whole.oversubscribed {
		window = spreadOversubscribed
	}
	i.across(p)
	steps, exchanges := max(i.Size(), i.LocalSize()), 0
	for s := range steps {
		peer := (i.rank + s) % steps
		if !i.low { // the one whose step s this rank is
			peer = (i.rank - s + steps) % steps
		}
		if peer >= i.Size() {
			continue
		}
		p.s.WaitFor(2 * (exchanges - window + 1))
		p.give(peer, send.Of(peer))
		p.receive(peer, recv.Of(peer))
		exchanges++
	}
	return i.done(p)
}

// Reduce combines the data of the other group's members in rank order and leaves the result in recv
// at the root. That group's rank 0 has it first.
//
//	(1 + ⌈log2 n⌉) · (α + m β) + ⌈log2 n⌉ · m γ
func (i *Inter) Reduce(send, recv []byte, op Op, root int) *Plan {
	p := i.plan("Reduce", root)
	if err := i.badRoot(root); err != nil {
		return p.fail(err)
	}
	switch root {
	case Bystander:
	case Root:
		i.across(p)
		p.receive(0, recv)
	default:
		p.gives(root, send)
		if all := i.reduced(p, send, op); i.rank == 0 {
			i.across(p)
			p.send(root, all)
		}
	}
	return i.done(p)
}

// reduced combines the data of this rank's group. Rank 0 gets the result, which is there when the
// steps so far have been carried out.
func (i *Inter) reduced(p *Plan, send []byte, op Op) (all []byte) {
	if i.rank == 0 {
		all = p.scratch(len(send))
	}
	i.along(p)
	if i.LocalSize() == 1 {
		p.copy(all, send)
	} else {
		p.binomialReduce(send, all, op, 0)
	}
	return all
}

// exchanged gives rank 0 the result of the other group for that of its own.
func (i *Inter) exchanged(p *Plan, own, other []byte) {
	if i.rank == 0 {
		i.across(p)
		p.exchange(0, own, 0, other)
	}
}

// Allreduce combines the data of each group and leaves the result in recv at the members of the
// other group. send and recv have the same length.
//
//	(1 + 2 ⌈log2 n⌉) · (α + m β) + ⌈log2 n⌉ · m γ
func (i *Inter) Allreduce(send, recv []byte, op Op) *Plan {
	p := i.plan("Allreduce", NoPeer, send)
	if len(send) != len(recv) {
		return p.fail(sizeError("the receive buffer", len(recv), len(send)))
	}
	i.exchanged(p, i.reduced(p, send, op), recv)
	i.along(p)
	p.messageBcast(recv, 0)
	return i.done(p)
}

// ReduceScatter combines the data of each group, and scatters the result in the other one: member r
// gets the counts[r]-th part, of so many elements, in recv. The sums of counts in both groups
// are the same. If counts is nil all parts of a group are as long as recv.
//
//	(2 n + ⌈log2 n⌉) · α + (1 + log2 n + n) · m β + ⌈log2 n⌉ · m γ
func (i *Inter) ReduceScatter(send, recv []byte, counts []int, op Op) *Plan {
	p := i.plan("ReduceScatter", NoPeer, send)
	if counts == nil {
		counts = p.numbers(0, i.LocalSize())
		for r := range counts {
			counts[r] = len(recv) / op.Size
		}
	}
	total := 0
	for _, n := range counts {
		total += n * op.Size
	}
	switch {
	case len(counts) != i.LocalSize():
		return p.fail(sizeError("the list of counts", len(counts), i.LocalSize()))
	case len(send) != total:
		return p.fail(sizeError("the send buffer", len(send), total))
	case len(recv) != counts[i.rank]*op.Size:
		return p.fail(sizeError("the receive buffer", len(recv), counts[i.rank]*op.Size))
	}
	own := i.reduced(p, send, op)
	var other []byte
	if i.rank == 0 {
		other = p.scratch(total)
	}
	i.exchanged(p, own, other)
	i.along(p)
	at := 0
	for r, n := range counts {
		switch size := n * op.Size; {
		case i.rank == 0 && r == 0:
			p.copy(recv, other[:size])
		case i.rank == 0:
			p.send(r, other[at:at+size])
		case i.rank == r:
			p.receive(0, recv)
		}
		at += n * op.Size
	}
	return i.done(p)
}
