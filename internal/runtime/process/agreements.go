package process

import (
	"errors"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/proto/agreement"
	"banyan/internal/runtime/wire"
	"banyan/internal/topology"
)

// AgreementKind is what an agreement is for. All members must enter it for the same.
type AgreementKind uint8

// Kinds of agreements.
const (
	AgreeFlags   AgreementKind = iota // MPI's agree
	AgreeFailed                       // on who has failed
	AgreeShrink                       // on the members of a smaller communicator
	AgreeRefill                       // on the members of one in which spares take the places of the dead
	AgreeData                         // on what the members' data comes to: a small resilient collective
	AgreeBarrier                      // the same without data
	AgreeRetry                        // on whether a try at a larger one has succeeded
	confirm                           // that all have the outcome of a strict one
)

// Agreement is the outcome of an agreement, when its request has ended.
type Agreement struct {
	Kind   AgreementKind
	Number uint64 // among those of its communicator
	Flags  uint32 // the bitwise AND of what the contributors gave
	// Failed are the members that a contributor knew to have failed, and those that have finished
	// without this agreement, in the order of their ranks in the communicator. All members have the
	// same.
	Failed []proto.Rank
	// Missing are the members that haven't contributed, Acknowledged those whose failure all
	// contributors had acknowledged.
	Missing, Acknowledged []proto.Rank

	Data []byte // of AgreeOn and AgreeWith: what the contributors' data comes to

	handle  Handle
	combine func(into, from []byte)
	aged    bool             // it has waited for long
	strict  bool             // it is over when all live members have the outcome
	value   *agreement.Value // of a strict one: its outcome, which isn't known to be everywhere yet
	masked  *maskedAgreement // in a job that hides deaths, as long as it does
}

// Errors of agreements.
var (
	ErrReplicated = errors.New("programs can't revoke communicators in a job with replicas before it has lost a rank: replicas of one rank would learn of it at different places")
	ErrOperations = errors.New("the members have entered different operations")
	ErrInFlight   = errors.New("too many agreements are under way")
	ErrGoesBack   = errors.New("programs can't revoke communicators in a job with --rollback: a death takes it back to its last snapshot")
)

// Agree enters a communicator's next agreement. The request ends when it is decided. Its error is a
// LostError if it is about flags and a member that hasn't contributed has failed, and its failure
// isn't acknowledged by all contributors. All live members get the same error, or none. A strict
// agreement ends when all live members have its outcome; it is so at all members or at none.
func (p *Process) Agree(id uint64, kind AgreementKind, flags uint32, strict bool) (Handle, *Agreement) {
	h, r := p.newRequest(composite)
	a := &Agreement{Kind: kind, Flags: flags, handle: h, strict: strict}
	p.attend(id, r, a)
	return h, a
}

// attend enters an agreement as soon as it may be.
func (p *Process) attend(id uint64, r *request, a *Agreement) {
	c := p.contexts.find(id)
	err := p.contextError(id)
	switch {
	case p.intolerant() != nil:
		err = p.intolerant()
	case errors.Is(err, ErrRevoked):
		err = nil
	}
	if err != nil {
		p.complete(a.handle, r, err)
		return
	}
	t := p.tolerantOf(c)
	t.delayed = append(t.delayed, a)
	p.enterDelayed(t)
}

// AgreeWith is Agree of flags that carries data beside them, as AgreeOn does.
func (p *Process) AgreeWith(id uint64, flags uint32, data []byte, combine func(into, from []byte), strict bool) (Handle, *Agreement) {
	h, r := p.newRequest(composite)
	a := &Agreement{Kind: AgreeFlags, Flags: flags, Data: slices.Clone(data), handle: h, strict: strict, combine: combine}
	p.attend(id, r, a)
	return h, a
}

// AgreeOn enters an agreement on what the members' data comes to, combined in the order of the
// members by a function that leaves its result in its first argument; without data it is a
// barrier. It ends as Agree of flags does, also if it has an error with the result of those that
// contributed. The function may be called by another thread, as long as the request hasn't ended.
func (p *Process) AgreeOn(id uint64, data []byte, combine func(into, from []byte), strict bool) (Handle, *Agreement) {
	h, r := p.newRequest(composite)
	a := &Agreement{Kind: AgreeData, Flags: ^uint32(0), Data: slices.Clone(data), handle: h, strict: strict, combine: combine}
	if len(data) == 0 {
		a.Kind, a.combine = AgreeBarrier, nil
	}
	p.attend(id, r, a)
	return h, a
}

// intolerant is why there is no failure in this job that a program could handle itself, or nil.
func (p *Process) intolerant() error {
	switch {
	case p.replicated && !p.thinned.shown:
		return ErrReplicated
	case p.cfg.Marker != nil:
		return ErrGoesBack
	}
	return nil
}

// enterDelayed enters the agreements that wait, unless a failure of which the program knows isn't
// final yet. Else a communicator could come out of a shrink with a member whose failure has been an
// error before. Those behind a strict one wait for its end: else members would number its second
// half, which each enters when it has the outcome, in different orders.
func (p *Process) enterDelayed(t *tolerant) {
	for len(t.delayed) > 0 && !slices.ContainsFunc(t.under, func(a *Agreement) bool { return a.strict }) &&
		!slices.ContainsFunc(t.c.failed, func(r proto.Rank) bool { return !p.settled(r) }) {
		a := t.delayed[0]
		t.delayed = t.delayed[1:]
		p.enter(t, a)
	}
}

// enter enters an agreement, or the second half of a strict one.
func (p *Process) enter(t *tolerant, a *Agreement) {
	kind := a.Kind
	if a.value != nil {
		kind = confirm
	}
	contribution := agreement.Contribution{Flags: uint64(a.Flags) | 1<<(32+kind)}
	for _, r := range t.c.failed[:t.c.acked] {
		contribution.Acknowledged = contribution.Acknowledged.With(t.c.index(r))
	}
	if a.combine != nil && a.value == nil {
		contribution.Payload = a.Data
		if t.combine == nil {
			t.combine = map[uint64]func(into, from []byte){}
		}
		t.combine[t.entered+1] = a.combine
	}
	m := p.machine(t)
	t.under = append(t.under, a)
	var out agreement.Actions
	number := m.Contribute(contribution, &out)
	if number == 0 {
		t.under = t.under[:len(t.under)-1]
		p.End(a.handle, ErrInFlight)
	} else {
		t.entered = number
		if a.value == nil {
			a.Number = number
		}
	}
	p.runAgreement(t, out)
	if number > 0 && slices.ContainsFunc(p.tolerance.through, func(r proto.Rank) bool { return t.c.index(r) >= 0 }) {
		p.prompt(t)
	}
}

// agreementArrived takes a message of an agreement.
func (p *Process) agreementArrived(from proto.Proc, id uint64, payload []byte) {
	t := p.tolerates(id)
	if t == nil {
		p.agreementElsewhere(from, id, payload)
		return
	}
	i := t.c.index(p.cfg.Layout.Rank(from))
	m, err := agreement.Parse(payload, len(t.c.members))
	if i < 0 || err != nil {
		return // no honest member sends this
	}
	if m.Kind == agreement.KindThrough {
		p.noteThrough(p.cfg.Layout.Rank(from))
	}
	var out agreement.Actions
	p.machine(t).Receive(i, m, &out)
	p.runAgreement(t, out)
}

// agreementElsewhere takes a message for a communicator that isn't open here.
func (p *Process) agreementElsewhere(from proto.Proc, id uint64, payload []byte) {
	m, err := agreement.Parse(payload, topology.MaxProcs)
	switch {
	case err != nil:
	case p.lifecycle.finishing && m.Waits():
		p.answerPact(from, id, agreement.KindThrough)
	case m.Opens():
		p.tolerance.early = append(p.tolerance.early, earlyPact{from, id, slices.Clone(payload)})
	case m.Kind != agreement.KindAbsent && m.Kind != agreement.KindThrough && m.Kind != agreement.KindPrompt:
		p.answerPact(from, id, agreement.KindAbsent)
	}
}

// answerPact answers a message for a communicator that isn't open here.
func (p *Process) answerPact(to proto.Proc, id uint64, kind agreement.Kind) {
	answer := agreement.Message{Kind: kind}
	h := p.nextHeader(wire.KindAgreement)
	h.Context = id
	p.send(to, h, answer.Append(nil), 0)
}

// runAgreement carries out what a machine asked for.
func (p *Process) runAgreement(t *tolerant, out agreement.Actions) {
	for i := range out {
		switch a := &out[i]; a.Kind {
		case agreement.Send:
			p.scratch = a.Message.Append(p.scratch[:0])
			p.sendPact(t, a.To, p.nextHeader(wire.KindAgreement), p.scratch)
			p.scratch = p.scratch[:0]
		case agreement.Decide:
			p.decided(t, &a.Message.Value)
		case agreement.Excluded:
			p.fence(proto.NoProc)
		case agreement.Forget:
			p.forgetTolerance(t)
		}
	}
	// What follows begins when the machine's actions are carried out, since it gives others.
	if a := t.halfway; a != nil {
		t.halfway = nil
		p.enter(t, a)
	} else if len(t.delayed) > 0 {
		p.enterDelayed(t)
	}
}

// decided ends the oldest agreement of the program, or the first half of it.
func (p *Process) decided(t *tolerant, v *agreement.Value) {
	if len(t.under) == 0 {
		return // the program is through, and this is another one's
	}
	a := t.under[0]
	t.under = t.under[1:]
	if a.strict && a.value == nil && v.Flags>>(32+a.Kind)&1 != 0 {
		value := *v
		value.Payload = slices.Clone(v.Payload)
		a.value = &value
		t.halfway = a
		return
	}
	delete(t.combine, a.Number)
	operation := a.Kind
	if a.value != nil {
		operation = confirm
	}
	same := v.Flags>>(32+operation)&1 != 0
	if a.value != nil {
		v = a.value
	}
	p.outcome(t, a, v, same)
}

// outcome ends an agreement of the program. same says that all members have entered the same
// operation.
func (p *Process) outcome(t *tolerant, a *Agreement, v *agreement.Value, same bool) {
	var room [16]int
	for _, i := range v.Left.AppendMembers(room[:0]) {
		p.noteThrough(t.c.members[i])
	}
	for _, i := range v.Failed.Union(v.Left).AppendMembers(room[:0]) {
		r := t.c.members[i]
		a.Failed = append(a.Failed, r)
		if t.c.noteFailed(r) {
			p.warnReceives(t.c)
		}
		if c := p.contexts.find(t.c.id | 1); c != nil {
			c.noteFailed(r)
			c.shut = c.shut || !v.Left.Empty()
		}
	}
	t.c.shut = t.c.shut || !v.Left.Empty()
	a.Missing, a.Acknowledged = t.c.ranks(v.Missing), t.c.ranks(v.Acknowledged)
	var err error
	a.Flags = uint32(v.Flags)
	if !same || len(v.Payload) != len(a.Data) {
		err = ErrOperations
	} else if gone := v.Unacknowledged(); a.Kind.fails() && !gone.Empty() {
		i := gone.AppendMembers(room[:0])[0]
		err = &LostError{Rank: t.c.members[i], Finished: v.Left.Has(i)}
	}
	if err != ErrOperations {
		copy(a.Data, v.Payload)
	}
	p.End(a.handle, err)
}

// fails tells whether an agreement ends with an error if a member hasn't contributed whose failure
// isn't acknowledged.
func (k AgreementKind) fails() bool { return k == AgreeFlags || k == AgreeData || k == AgreeBarrier }

// ranks are the members in a set.
func (c *context) ranks(s agreement.Set) (ranks []proto.Rank) {
	for _, i := range s.AppendMembers(nil) {
		ranks = append(ranks, c.members[i])
	}
	return ranks
}

// end ends all agreements of a communicator that the program waits for.
func (t *tolerant) end(p *Process, err error) {
	all := append(slices.Clone(t.under), t.delayed...)
	if t.halfway != nil {
		all = append(all, t.halfway)
	}
	for _, a := range all {
		p.End(a.handle, err)
	}
	t.delayed, t.halfway = nil, nil
}

// endAgreements ends all agreements that the program waits for: this process can't go on.
func (p *Process) endAgreements(err error) {
	for _, t := range p.tolerance.list {
		t.end(p, err)
	}
}

// agreementWaits appends whom the program's agreements wait for: members that are below this one in
// the tree, or the one above, or one whose death isn't final.
func (p *Process) agreementWaits(all []Wait) []Wait {
	for _, t := range p.tolerance.list {
		if len(t.under) > 0 {
			for _, i := range t.agreement.Waiting(nil) {
				all = append(all, Wait{Agrees: true, Peer: t.c.members[i]})
			}
		} else if len(t.delayed) > 0 {
			i := slices.IndexFunc(t.c.failed, func(r proto.Rank) bool { return !p.settled(r) })
			all = append(all, Wait{Agrees: true, Peer: t.c.failed[max(i, 0)]})
		}
	}
	return all
}
