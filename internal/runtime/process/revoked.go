package process

import (
	"slices"

	"banyan/internal/proto"
	"banyan/internal/proto/revocation"
	"banyan/internal/runtime/wire"
)

// Revoke revokes a communicator, named by its context of point-to-point messages: here at once, and
// at all other members in time. To revoke it again does nothing.
func (p *Process) Revoke(id uint64) error {
	if err := p.intolerant(); err != nil {
		return err
	}
	switch err := p.contextError(id); err {
	case nil:
	case ErrRevoked:
		return nil
	default:
		return err
	}
	t := p.tolerantOf(p.contexts.find(id))
	var out revocation.Actions
	p.revocationMachine(t).Revoke(&out)
	p.runRevocation(t, out)
	return nil
}

// Revoked tells whether a communicator is revoked here.
func (p *Process) Revoked(id uint64) bool {
	c := p.contexts.find(id)
	return c != nil && c.revoked
}

// revocationArrived takes a message about a revocation.
func (p *Process) revocationArrived(from proto.Proc, t *tolerant, m revocation.Message) {
	if i := t.c.index(p.cfg.Layout.Rank(from)); i >= 0 {
		var out revocation.Actions
		p.revocationMachine(t).Receive(i, m, &out)
		p.runRevocation(t, out)
	}
}

// revokedEarly takes a revocation of a communicator that isn't open here. Its sender goes on to
// another member.
func (p *Process) revokedEarly(from proto.Proc, id uint64, m revocation.Message) {
	if m.Kind != revocation.Revoke {
		return
	}
	o := &p.tolerance
	if !slices.ContainsFunc(o.revoked, func(r earlyRevocation) bool { return r.context == id }) {
		if len(o.revoked) == keepRevoked {
			o.revoked = slices.Delete(o.revoked, 0, 1)
		}
		o.revoked = append(o.revoked, earlyRevocation{id, from, m})
	}
	wire.Revocation{Absent: true}.Put(&p.header)
	p.header.Context = id
	p.send(from, &p.header, nil, 0)
}

// runRevocation carries out what a machine asked for.
func (p *Process) runRevocation(t *tolerant, out revocation.Actions) {
	for i := range out {
		switch a := &out[i]; a.Kind {
		case revocation.Send:
			wire.Revocation{Origin: a.Message.Origin}.Put(&p.header)
			p.sendPact(t, a.To, &p.header, nil)
		case revocation.Revoked:
			p.revoked(t)
		}
	}
}

// revoked puts a revocation into force here: what is under way in the communicator ends, unless its
// data is moving.
func (p *Process) revoked(t *tolerant) {
	p.contexts.revoked++
	family := t.c.id
	for _, id := range p.contexts.family(family) {
		c := p.contexts.byID[id]
		c.revoked, c.shut = true, true
		// The other members leave its broadcasts too, so nobody needs what the stream
		// keeps.
		c.waiting, c.stream, c.begun, c.broadcasts = nil, nil, false, false
		p.contexts.deactivate(c)
	}
	p.requests.each(func(h Handle, r *request) {
		if c := p.contexts.find(r.context); c != nil && c.family == family {
			p.fail(h, r, ErrRevoked)
		}
	})
	for _, id := range p.contexts.family(family) {
		p.dropContext(id)
	}
	p.Changes++
	p.host.Revoked(family)
}

// belated tells whether a frame belongs to a communicator that is revoked here. Its sender may not
// know that yet, so it is told.
func (p *Process) belated(from proto.Proc, id uint64) bool {
	t := p.tolerance.byContext[id&^1]
	if c := p.contexts.find(id); c != nil {
		t = p.tolerance.byContext[c.family]
	}
	if t == nil || t.revocation == nil || !t.revocation.Known() {
		return false
	}
	if i := t.c.index(p.cfg.Layout.Rank(from)); i >= 0 {
		var out revocation.Actions
		t.revocation.Remind(i, &out)
		p.runRevocation(t, out)
	}
	return true
}
