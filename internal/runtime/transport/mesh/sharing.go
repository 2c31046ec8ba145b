package mesh

import (
	"unsafe"

	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
)

var _ transport.Nudger = (*Transport)(nil)

// Share has publish told of the ends of the rings of each peer that shares memory with this
// process, a shm.Ends, as long as they exist; then nil. They may be used only under the owner's
// lock.
func (t *Transport) Share(publish func(p proto.Proc, ends unsafe.Pointer)) {
	t.publish = publish
	for _, p := range t.peers {
		if p != nil && p.link != nil {
			t.share(p)
		}
	}
}

// share publishes the ends of a peer's rings, or that there are none.
func (t *Transport) share(p *peer) {
	switch {
	case t.publish == nil:
	case p.link == nil:
		t.publish(p.proc, nil)
	default:
		t.publish(p.proc, unsafe.Pointer(p.link.Ends))
	}
}

// Nudge implements transport.Nudger.
func (t *Transport) Nudge(q proto.Proc) bool {
	if !t.Linked(q) {
		return false
	}
	t.peers[q].link.Nudge(q)
	return true
}

// Linked says whether a peer shares memory with this process. Frames may go to it and come from it
// without this package (Share).
func (t *Transport) Linked(q proto.Proc) bool {
	p := t.peers[q]
	return p != nil && p.link != nil
}
