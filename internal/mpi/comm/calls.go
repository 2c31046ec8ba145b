package comm

import "banyan/internal/runtime/engine"

// An engine.Calls may listen to what the program calls, to compare it with the calls of other
// replicas. Mostly there is none; then this costs one comparison with nil.

// sends tells of a send.
func (c *Comm) sends(op string, data []byte, dest, tag int) {
	if c.calls != nil {
		c.calls.Calls(&engine.Call{Op: op, Context: c.context, Peer: dest, Tag: int32(tag), Parts: [][]byte{data}})
	}
}

// receives tells the outcome of a receive from a source or from AnySource.
func (c *Comm) receives(s Status, source, tag int) {
	c.calls.Receives(&engine.Receipt{
		Context: c.context, Source: s.Source, Tag: s.Tag, AnySource: source == AnySource, AnyTag: tag == AnyTag,
	})
}

// given is what a plan says of its call when it begins.
type given struct {
	root  int
	parts [][]byte
	takes int
}

// gives notes the root of a collective, or engine.NoPeer, and what this rank gives.
func (p *Plan) gives(root int, parts ...[]byte) {
	if p.comm.calls != nil {
		clear(p.given.parts)
		p.given = given{root, append(p.given.parts[:0], parts...), 0}
	}
}

// givesBlocks does the same as gives for n blocks.
func (p *Plan) givesBlocks(root int, b Blocks, n int) {
	if p.comm.calls == nil {
		return
	}
	p.gives(root)
	for i := range n {
		p.given.parts = append(p.given.parts, b.Of(i))
	}
}

// givesRooted does the same for data of the root.
func (p *Plan) givesRooted(root int, data []byte) {
	if p.rank() == root {
		p.gives(root, data)
	} else {
		p.gives(root)
		p.given.takes = len(data)
	}
}

// givesScattered does the same for the root's blocks, one for each member.
func (p *Plan) givesScattered(root int, b Blocks, takes int) {
	p.gives(root)
	p.given.takes = takes
	if p.rank() == root {
		p.givesBlocks(root, b, p.size())
	}
}

// begins tells of the call.
func (p *Plan) begins() {
	if c := p.comm; c.calls != nil {
		g := &p.given
		c.calls.Calls(&engine.Call{Op: p.op, Collective: true, Context: c.context, Peer: g.root, Parts: g.parts, Takes: g.takes})
	}
}
