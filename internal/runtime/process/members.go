package process

import (
	"banyan/internal/proto"
	"banyan/internal/proto/membership"
	"banyan/internal/runtime/wire"
	"banyan/internal/runtime/wire/views"
)

// View is the view in force here, nil at a replacement that is in none yet.
func (p *Process) View() *membership.View {
	if p.members == nil {
		return nil
	}
	return p.members.View()
}

// gone tells the membership of a death. That somebody leaves in order is no change
// of view: all do, once shutdown barrier has found that all are through.
func (p *Process) gone(q proto.Proc, why membership.Why) {
	if p.finished || p.fenced {
		return
	}
	p.peers[q].why = max(p.peers[q].why, why)
	if p.members == nil {
		return // adopt tells it
	}
	p.members.Departed(p.now, p.peers.member(q), why, &p.membersOut)
	p.runMembership()
}

// membershipArrived takes a message about views. One that an honest process
// can't have sent is dropped.
func (p *Process) membershipArrived(from proto.Proc, payload []byte) {
	x, err := views.Decode(payload)
	if err != nil || x.From != p.peers.member(from) || p.finished || p.fenced || p.members == nil {
		return
	}
	p.members.Receive(p.now, x, &p.membersOut)
	p.runMembership()
	p.adoptViews()
}

// runMembership carries out what the membership asked for.
func (p *Process) runMembership() {
	for i := range p.membersOut {
		switch a := &p.membersOut[i]; a.Kind {
		case membership.Send:
			if a.To != p.peers.member(a.To.Proc) {
				break // that life is over
			}
			p.scratch = views.Append(p.scratch[:0], a.Message)
			p.send(a.To.Proc, p.nextHeader(wire.KindMembership), p.scratch, 0)
			p.scratch = p.scratch[:0]
		case membership.Install:
			p.views = append(p.views, a.View)
			p.host.Viewed(a.View, a.Stable)
		case membership.Excluded:
			p.fence(proto.NoProc)
		case membership.Halted:
			p.host.Minority(a.Gone)
			p.fence(proto.NoProc)
		}
		p.membersOut[i] = membership.Action{}
	}
	p.membersOut = p.membersOut[:0]
}
