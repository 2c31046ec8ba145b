package process

import (
	"banyan/internal/proto"
	"banyan/internal/proto/membership"
	"banyan/internal/runtime/wire"
	"banyan/internal/runtime/wire/views"
)

// View is the view in force here; nil at a replacement that is in none yet.
func (p *Process) View() *membership.View {
	if p.liveness.members == nil {
		return nil
	}
	return p.liveness.members.View()
}

// gone tells the membership of a death. A departure in order changes no view: all processes
// leave once the shutdown barrier has found that all programs are through.
func (p *Process) gone(q proto.Proc, why membership.Why) {
	if p.lifecycle.finished || p.lifecycle.fenced {
		return
	}
	p.peers[q].why = max(p.peers[q].why, why)
	if p.liveness.members == nil {
		return // adopt tells the membership later
	}
	p.liveness.members.Departed(p.now, p.peers.member(q), why, &p.liveness.membersOut)
	p.runMembership()
}

// membershipArrived takes a message about views. It drops one that an honest process can't have
// sent.
func (p *Process) membershipArrived(from proto.Proc, payload []byte) {
	x, err := views.Decode(payload)
	if err != nil || x.From != p.peers.member(from) || p.lifecycle.finished || p.lifecycle.fenced || p.liveness.members == nil {
		return
	}
	p.liveness.members.Receive(p.now, x, &p.liveness.membersOut)
	p.runMembership()
	p.adoptViews()
}

// runMembership carries out what the membership asked for.
func (p *Process) runMembership() {
	for i := range p.liveness.membersOut {
		switch a := &p.liveness.membersOut[i]; a.Kind {
		case membership.Send:
			if a.To != p.peers.member(a.To.Proc) {
				break // that incarnation is over
			}
			p.scratch = views.Append(p.scratch[:0], a.Message)
			p.send(a.To.Proc, p.nextHeader(wire.KindMembership), p.scratch, 0)
			p.scratch = p.scratch[:0]
		case membership.Install:
			p.liveness.views = append(p.liveness.views, a.View)
			p.host.Viewed(a.View, a.Stable)
		case membership.Excluded:
			p.fence(proto.NoProc)
		case membership.Halted:
			p.host.Minority(a.Gone)
			p.fence(proto.NoProc)
		}
		p.liveness.membersOut[i] = membership.Action{}
	}
	p.liveness.membersOut = p.liveness.membersOut[:0]
}
