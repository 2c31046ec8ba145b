package mesh

import (
	"slices"

	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
)

var _ transport.Preserver = (*Transport)(nil)

// keptRecord is a record that a peer has kept for this process.
type keptRecord struct {
	number uint64
	record []byte
}

// Keep implements transport.Preserver. As long as nothing has come over the link the peer may not
// have it yet, and would overlook what is kept there if it heard of this process's death now.
func (t *Transport) Keep(to proto.Proc, number uint64, record []byte) bool {
	p := t.peers[to]
	return p != nil && p.state == live && p.link != nil && p.link.In.Begun() && p.link.Keep.Put(number, record)
}

// Release implements transport.Preserver.
func (t *Transport) Release(to proto.Proc, number uint64) {
	if p := t.peers[to]; p != nil && p.link != nil {
		p.link.Keep.Release(number)
	}
}

// Kept implements transport.Preserver.
func (t *Transport) Kept(from proto.Proc, last bool, visit func(number uint64, record []byte)) {
	p := t.peers[from]
	switch {
	case p == nil:
	case p.link == nil:
		for _, k := range p.kept {
			visit(k.number, k.record)
		}
	default:
		if last {
			p.link.Kept.Close()
		}
		p.link.Kept.Read(visit)
	}
}

// endKept takes over what a peer has kept, before its link ends.
func (t *Transport) endKept(p *peer) {
	p.kept = nil
	t.Kept(p.proc, true, func(number uint64, record []byte) {
		p.kept = append(p.kept, keptRecord{number, slices.Clone(record)})
	})
}
