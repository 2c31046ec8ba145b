package process

import (
	"slices"

	"banyan/internal/proto"
	"banyan/internal/proto/agreement"
	"banyan/internal/proto/membership"
	"banyan/internal/proto/revocation"
	"banyan/internal/runtime/wire"
	"banyan/internal/topology"
)

// A program that handles failures itself (ULFM) revokes communicators, agrees, and shrinks. For
// each communicator in which it does, a process keeps the machines of agreement and of the
// revocation, made when they are first needed. They outlive the communicator: other members may
// need what they keep, until all have freed it (agreement.Forget).
//
// The machines believe only deaths that are final: certain ones, and silent ones that a view has
// excluded. So the side of a cut that isn't to go on agrees on nothing.
//
// A process whose program is through leaves all agreements: it counts as failed to those who agree
// later, though it isn't dead (agreement.Leave).
//
// Jobs with replicas have none of this before they have lost a rank. Until then agreements are
// ordinary collectives there (masked.go).

// tolerance is what the process keeps of communicators in which failures are handled.
type tolerance struct {
	byContext map[uint64]*tolerant
	list      []*tolerant       // in the order in which they were made
	through   []proto.Rank      // that enter no more agreements, in the order in which this process learnt of it
	early     []earlyPact       // messages for communicators that aren't open here yet
	revoked   []earlyRevocation // of communicators that weren't open here yet, when they came
}

// tolerant is one communicator.
type tolerant struct {
	c          *context                           // of its point-to-point messages
	agreement  *agreement.Machine                 // nil before the first agreement
	revocation *revocation.Machine                // nil before the first word of it
	under      []*Agreement                       // entered here, without a decision, in their order
	delayed    []*Agreement                       // not entered yet, since a death isn't final, or behind a strict one
	entered    uint64                             // agreements, and second halves of strict ones
	combine    map[uint64]func(into, from []byte) // what combines the data of one, by its number
	halfway    *Agreement                         // strict: its outcome is known, and its second half not entered
}

// earlyPact is a message of an agreement that came before its communicator was opened here.
type earlyPact struct {
	from    proto.Proc
	context uint64
	payload []byte
}

// earlyRevocation is the first word of a revocation that came before its communicator was opened.
type earlyRevocation struct {
	context uint64
	from    proto.Proc
	message revocation.Message
}

// keepRevoked is how many communicators are remembered that were revoked before they were opened
// here. Some of them have been freed here, and are never opened.
const keepRevoked = 1024

// starMembers is the largest communicator whose members all report to the root, and all hear of a
// revocation from the one that revokes it: each level of a tree would be another process to wake.
const starMembers = 8

// tolerantOf gives what is kept of a communicator, which is open here. It is made if need be.
func (p *Process) tolerantOf(c *context) *tolerant {
	t := p.tolerance.byContext[c.id]
	if t == nil {
		if p.tolerance.byContext == nil {
			p.tolerance.byContext = map[uint64]*tolerant{}
		}
		t = &tolerant{c: c}
		p.tolerance.byContext[c.id] = t
		p.tolerance.list = append(p.tolerance.list, t)
	}
	return t
}

// tolerates gives what is kept of an open communicator; nil if it isn't open, or never was.
func (p *Process) tolerates(id uint64) *tolerant {
	if t := p.tolerance.byContext[id]; t != nil {
		return t
	}
	if c := p.contexts.find(id); c != nil && !c.closed && !c.collective {
		return p.tolerantOf(c)
	}
	return nil
}

// openTolerance goes on with what came for a communicator before it was opened here.
func (p *Process) openTolerance(c *context) {
	o := &p.tolerance
	for i, r := range o.revoked {
		if r.context == c.id {
			o.revoked = slices.Delete(o.revoked, i, i+1)
			p.revocationArrived(r.from, p.tolerantOf(c), r.message)
			break
		}
	}
	early := o.early
	o.early = nil
	for _, m := range early {
		if m.context != c.id {
			o.early = append(o.early, m)
			continue
		}
		p.agreementArrived(m.from, m.context, m.payload)
	}
}

// closeTolerance ends the use of a communicator that the program has freed.
func (p *Process) closeTolerance(id uint64) {
	delete(p.thinned.masked.numbers, id)
	t := p.tolerance.byContext[id]
	if t == nil {
		return
	}
	t.end(p, ErrFreed)
	var out agreement.Actions
	p.machine(t).Close(t.revocation != nil && t.revocation.Known(), &out)
	p.runAgreement(t, out)
}

// leaveAgreements says that the program is through.
func (p *Process) leaveAgreements() {
	for _, t := range slices.Clone(p.tolerance.list) {
		if t.agreement != nil {
			var out agreement.Actions
			t.agreement.Leave(&out)
			p.runAgreement(t, out)
		}
	}
	early := p.tolerance.early
	p.tolerance.early = nil
	for _, m := range early { // these communicators are never opened here
		p.answerPact(m.from, m.context, agreement.KindThrough)
	}
}

// promptAgreements asks others for their part in the agreements that have waited since the last
// time: they may be through. It tells whether any waits.
func (p *Process) promptAgreements() (waits bool) {
	for _, t := range slices.Clone(p.tolerance.list) {
		if len(t.under) == 0 {
			continue
		}
		if waits = true; t.under[0].aged {
			p.prompt(t)
		}
		t.under[0].aged = true
	}
	return waits
}

func (p *Process) prompt(t *tolerant) {
	var out agreement.Actions
	t.agreement.Prompt(&out)
	p.runAgreement(t, out)
}

// noteThrough notes that a rank enters no more agreements.
func (p *Process) noteThrough(r proto.Rank) {
	if q := &p.peers[p.proc(r)]; !q.through && (!p.replicated || p.thinned.shown) {
		q.through = true
		p.tolerance.through = append(p.tolerance.through, r)
	}
}

// settled tells whether nothing of a rank counts any more in agreements: its death is beyond doubt,
// or it is through.
func (p *Process) settled(r proto.Rank) bool {
	return p.final(r) || p.peers[p.proc(r)].through
}

// loss is the error of an operation that needs a failed rank.
func (p *Process) loss(r proto.Rank) error {
	return &LostError{Rank: r, Finished: slices.Contains(p.tolerance.through, r) && !p.replica.Lost(r)}
}

// forgetTolerance forgets a communicator that all live members have freed.
func (p *Process) forgetTolerance(t *tolerant) {
	delete(p.tolerance.byContext, t.c.id)
	for i, x := range p.tolerance.list {
		if x == t {
			p.tolerance.list = slices.Delete(p.tolerance.list, i, i+1)
			return
		}
	}
}

// machine is the agreement machine of a communicator.
func (p *Process) machine(t *tolerant) *agreement.Machine {
	if t.agreement == nil {
		n := len(t.c.members)
		tree, err := topology.Binomial(n, topology.InOrder)
		if n <= starMembers {
			tree, err = topology.KAry(n, max(1, n-1), topology.InOrder)
		}
		if err != nil {
			panic(err) // a communicator has members, and not too many
		}
		t.agreement = agreement.New(agreement.Config{Self: t.c.self, Tree: tree, Combine: t.combined})
		var out agreement.Actions
		for i, m := range t.c.members {
			if p.final(m) {
				t.agreement.Dead(i, &out)
			}
		}
		if p.lifecycle.finishing {
			t.agreement.Leave(&out)
		}
		p.runAgreement(t, out)
	}
	return t.agreement
}

// combined combines the data of two parts of the members. Parts that differ in size come to
// nothing, which is an error at all members.
func (t *tolerant) combined(number uint64, into, from []byte) []byte {
	f := t.combine[number]
	if f == nil || len(into) != len(from) {
		return into[:0]
	}
	if len(into) > 0 {
		f(into, from)
	}
	return into
}

// revocationMachine is the machine of a communicator's revocation.
func (p *Process) revocationMachine(t *tolerant) *revocation.Machine {
	if t.revocation == nil {
		n := len(t.c.members)
		tree, err := topology.Binomial(n, topology.Interleaved)
		if n <= starMembers {
			tree, err = topology.KAry(n, max(1, n-1), topology.Interleaved)
		}
		if err != nil {
			panic(err) // as above
		}
		t.revocation = revocation.New(revocation.Config{Self: t.c.self, Tree: tree})
		var out revocation.Actions
		for i, m := range t.c.members {
			if p.final(m) {
				t.revocation.Dead(i, &out)
			}
		}
		p.runRevocation(t, out)
	}
	return t.revocation
}

// Final tells whether the death of a rank is beyond doubt: agreements do without it.
func (p *Process) Final(r proto.Rank) bool { return p.final(r) }

// final tells whether the death of a rank is beyond doubt, in a job whose ranks have one replica
// each.
func (p *Process) final(r proto.Rank) bool { return p.peers[p.proc(r)].final }

// confirmExcluded takes those for dead for good that a view excludes. Where agents with leases
// decide both sides of a cut have views, so only evidence counts.
func (p *Process) confirmExcluded(v *membership.View) {
	if p.leased() {
		return
	}
	for q := range p.peers {
		if v.Excludes(p.peers.member(proto.Proc(q))) {
			p.confirm(proto.Proc(q))
		}
	}
}

// confirm notes that a death is final, and tells the machines.
func (p *Process) confirm(q proto.Proc) {
	rank := p.cfg.Layout.Rank(q)
	if p.peers[q].final || p.replicated && (!p.thinned.shown || p.proc(rank) != q) {
		return
	}
	p.peers[q].final = true
	for _, t := range slices.Clone(p.tolerance.list) {
		i := t.c.index(rank)
		if i < 0 {
			continue
		}
		if t.revocation != nil {
			var out revocation.Actions
			t.revocation.Dead(i, &out)
			p.runRevocation(t, out)
		}
		if t.agreement != nil {
			var out agreement.Actions
			t.agreement.Dead(i, &out)
			p.runAgreement(t, out)
		}
		p.enterDelayed(t)
	}
}

// sendPact sends a member a message of one of the machines. The header is filled but for its
// context.
func (p *Process) sendPact(t *tolerant, to int, h *wire.Header, payload []byte) {
	h.Context = t.c.id
	p.send(p.proc(t.c.members[to]), h, payload, 0)
}

// pactArrived routes the frames of the machines.
func (p *Process) pactArrived(from proto.Proc, h *wire.Header, payload []byte) {
	switch {
	case h.Context%2 == 1:
	case p.replicated && !p.thinned.shown:
		p.keepPact(from, h, payload)
	case h.Kind == wire.KindAgreement:
		p.agreementArrived(from, h.Context, payload)
	default:
		f := h.Revocation()
		m := revocation.Message{Kind: revocation.Revoke, Origin: f.Origin}
		if f.Absent {
			m.Kind = revocation.Absent
		}
		t := p.tolerates(h.Context)
		if t == nil {
			p.revokedEarly(from, h.Context, m)
			return
		}
		p.revocationArrived(from, t, m)
	}
}
