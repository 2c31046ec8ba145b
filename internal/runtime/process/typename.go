package process

import (
	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
)

// A message carries the number of its data's type, and no name: the number has room in the header.
// A receiver that finds another type than it expects wants to name both. A process knows the names
// of the types that its own program uses. It asks the sender for others, which is rare: there is an
// error already.

// AskTypeName asks the live replicas of a rank for the name of a type. It tells whether there are
// any.
func (p *Process) AskTypeName(rank proto.Rank, t uint32) (asked bool) {
	for k, degree := 0, p.cfg.Layout.Degree(rank); k < degree; k++ {
		q := p.cfg.Layout.Proc(rank, k)
		if q == p.cfg.Self || !p.Alive(q) || !p.present(q) {
			continue
		}
		asked = true
		wire.TypeName{Type: t}.Put(&p.header)
		p.send(q, &p.header, nil, 0)
	}
	return asked
}

// TypeName is what another process has said to be the name of a type.
func (p *Process) TypeName(t uint32) (name string, told bool) {
	name, told = p.typeNames[t]
	return name, told
}

// longestTypeName bounds a name in an answer.
const longestTypeName = 1000

// typeNameArrived takes a question for the name of a type, or an answer.
func (p *Process) typeNameArrived(from proto.Proc, h *wire.Header, payload []byte) {
	f := h.TypeName()
	if f.Answers {
		if p.typeNames == nil {
			p.typeNames = map[uint32]string{}
		}
		p.typeNames[f.Type] = string(payload[:min(len(payload), longestTypeName)])
		p.Changes++
		return
	}
	name := ""
	if p.cfg.TypeName != nil {
		name = p.cfg.TypeName(f.Type)
	}
	f.Answers = true
	f.Put(&p.header)
	p.send(from, &p.header, []byte(name[:min(len(name), longestTypeName)]), 0)
}
