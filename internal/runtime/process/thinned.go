package process

import (
	"bytes"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/proto/thinning"
	"banyan/internal/runtime/wire"
)

// A job with replicas that has lost a rank goes on with one replica of each other one, where a
// launcher leads it (Config.Thins, package thinning). Until the launcher says so the loss
// doesn't show: what needs the rank waits. From then on the job is to the program one without
// replicas: losses show at once, and communicators are revoked, agreed on and shrunk. Its
// messages are still numbered and kept as with replicas.

// thinned is a process's part in that.
type thinned struct {
	m      *thinning.Member // nil: no launcher leads the job on
	host   ThinHost
	shown  bool
	claims []thinning.Claim // that the launcher knows of
	pacts  []earlyFrame
	masked maskedAgreements
}

// earlyFrame is a frame about agreements or revocations that came before losses have shown here.
type earlyFrame struct {
	from    proto.Proc
	header  wire.Header
	payload []byte
}

// beginThinned makes this process one that a launcher may lead on.
func (p *Process) beginThinned() {
	if p.replicated && p.cfg.Thins {
		p.thinned.m, p.thinned.host = thinning.NewMember(p.cfg.Layout, p.rank), p.host.(ThinHost)
	}
}

// shows tells whether a loss shows at once.
func (p *Process) shows() bool { return p.thinned.m == nil || p.thinned.shown }

// lost tells whether a rank is lost, and the program may know of it.
func (p *Process) lost(r proto.Rank) bool { return p.shows() && p.replica.Lost(r) }

// proc is the process of a rank that has one.
func (p *Process) proc(r proto.Rank) proto.Proc {
	if p.thinned.m == nil {
		return p.cfg.Layout.Proc(r, 0)
	}
	return p.thinned.m.Proc(r)
}

// Thinned tells whether the ranks have one replica each because one was lost, and the program may
// know of it.
func (p *Process) Thinned() bool { return p.thinned.shown }

// ArrivedOfLost is how many messages have arrived here of ranks that are lost.
func (p *Process) ArrivedOfLost() (n uint64) {
	for r := range proto.Rank(p.cfg.Layout.Ranks()) {
		if p.replica.Lost(r) {
			p.replica.Arrived(r, func(_, arrived uint64) { n += arrived })
		}
	}
	return n
}

// settleMost is how many records a frame has at most.
const settleMost = 1000

// Thin says which processes stay, by rank; NoProc is none. This one tells each of them how many
// messages of its rank it has.
func (p *Process) Thin(stay []proto.Proc) {
	m := p.thinned.m
	if m == nil || len(stay) != p.cfg.Layout.Ranks() {
		return
	}
	for _, q := range m.Thin(stay) {
		if q == p.cfg.Self || !p.present(q) {
			continue
		}
		var all []byte
		p.replica.Arrived(p.cfg.Layout.Rank(q), func(context, n uint64) { all = wire.AppendAck(all, wire.Ack{Context: context, Seq: n}) })
		for more := true; more; {
			n := min(len(all), settleMost*wire.AckSize)
			more = n < len(all)
			wire.Settle{More: more}.Put(&p.header)
			p.send(q, &p.header, all[:n], 0)
			all = all[n:]
		}
	}
	for r := range proto.Rank(p.cfg.Layout.Ranks()) {
		if p.replica.Lost(r) || r == p.rank {
			m.Heard(r)
		}
	}
	if m.Settled() {
		p.thinned.host.Settled(0, p.thinned.masked.results())
	}
	p.thinned.claims = nil // another launcher doesn't know of them
	p.settleThinned()
}

// settleArrived takes what another process that stays has of this rank.
func (p *Process) settleArrived(from proto.Proc, h *wire.Header, payload []byte) {
	m := p.thinned.m
	acks, err := wire.DecodeAcks(nil, payload)
	if m == nil || err != nil {
		return
	}
	src := p.cfg.Layout.Rank(from)
	for _, a := range acks {
		m.Owe(thinning.Debt{Context: a.Context, To: src, Number: a.Seq})
	}
	if !h.Settle().More {
		m.Heard(src)
	}
	p.settleThinned()
}

// thinnedDied notes that one that stays, or was to, is dead.
func (p *Process) thinnedDied(q proto.Proc) {
	m, rank := p.thinned.m, p.cfg.Layout.Rank(q)
	if m != nil && (p.replica.Lost(rank) || m.Begun() && m.Proc(rank) == q) {
		m.Heard(rank)
		p.settleThinned()
	}
}

// settleThinned notes that this process owes nothing any more, and that nobody claims anything of
// it any more, when that is so.
func (p *Process) settleThinned() {
	t := &p.thinned
	if t.m == nil || !t.m.Begun() || t.shown || !p.drained() || !t.m.Settle(p.replica.Sent) {
		return
	}
	t.host.Settled(t.m.Told(), t.masked.results())
}

// drained tells whether the program has carried out all decisions that are known, and has come to
// all that was done once for its rank, and all that it has sent has left.
func (p *Process) drained() bool {
	if !p.once.m.Idle() {
		return false
	}
	if p.order == nil {
		return true
	}
	for _, t := range p.order.threads {
		if !t.script.empty() || len(t.matches) > 0 {
			return false
		}
	}
	return len(p.order.held) == 0 && p.sentAll()
}

// Claimed says what others that stay claim of this rank, in place of what they claimed before: they
// owe, and wait for it. While they do this process goes the way that its sibling has gone, and its
// agreements end, though it has settled.
func (p *Process) Claimed(debts []thinning.Debt) {
	m := p.thinned.m
	if m == nil || !m.Begun() || p.thinned.shown {
		return
	}
	m.Claimed(debts)
	if !m.Frozen() {
		p.thawMasked()
	}
	p.settleThinned()
}

// bound tells whether the program has to go the way that a sibling of this process has gone.
func (p *Process) bound() bool {
	m := p.thinned.m
	return m != nil && m.Begun() && m.AllHeard() && !p.thinned.shown && (!m.Settled() || m.Bound(p.replica.Sent))
}

// claimThinned says for what the program waits, if it has to go the way that a sibling has gone: it
// claims that of ranks that live. If it waits for a lost rank it can't go on, and this process
// ends. It is asked as through.go asks about waits that are long.
func (p *Process) claimThinned() {
	t := &p.thinned
	if !p.bound() {
		return
	}
	free := p.order == nil || p.order.free
	stuck, claims := false, []thinning.Claim(nil)
	claim := func(c thinning.Claim) {
		switch {
		case c.Rank == proto.AnyRank:
			stuck = stuck || free
		case c.Rank == p.rank:
		case p.replica.Lost(c.Rank):
			stuck = stuck || c.Number > 0
		case len(claims) < claimsMost && !slices.Contains(claims, c):
			claims = append(claims, c)
		}
	}
	next := func(context uint64, src proto.Rank) {
		c := thinning.Claim{Rank: src, Debt: thinning.Debt{Context: context, To: p.rank}}
		if src != proto.AnyRank {
			c.Number = p.replica.ArrivedOn(context, src) + 1
		}
		claim(c)
	}
	p.requests.each(func(_ Handle, r *request) {
		switch {
		case !r.aged || r.done:
		case r.kind == sending:
			claim(thinning.Claim{Rank: r.peer, Debt: thinning.Debt{Context: r.context, To: p.rank}})
		case r.kind == receiving && r.arrival == Handle{} && !r.held:
			next(r.context, p.match.Source(r.posted))
		}
	})
	for _, what := range p.through.probes {
		if what.aged {
			next(what.context, what.src)
		}
	}
	if stuck {
		to, _ := t.m.Owed(p.replica.Sent)
		t.host.Outrun(to)
		return
	}
	if !slices.Equal(claims, t.claims) {
		t.claims = claims
		t.host.Claims(claims)
	}
}

// claimsMost is how many claims are told at once, at most: a line of the lifeline is limited.
const claimsMost = 512

// Show has the losses show. results are those of agreements that have ended at some process.
func (p *Process) Show(results []thinning.Result) {
	t := &p.thinned
	if t.m == nil || !t.m.Begun() || t.shown {
		return
	}
	t.shown = true
	for q := range p.peers {
		rank := p.cfg.Layout.Rank(proto.Proc(q))
		p.peers[q].final = p.peers[q].final || p.peers[q].over && p.proc(rank) == proto.Proc(q)
	}
	var lost []proto.Rank
	for r := range proto.Rank(p.cfg.Layout.Ranks()) {
		switch {
		case p.replica.Lost(r):
			lost = append(lost, r)
		case p.over(r):
			p.noteThrough(r)
		}
	}
	for _, r := range lost {
		p.rankLost(r)
	}
	p.deliverEarly()
	p.showMasked(results)
	pacts := t.pacts
	t.pacts = nil
	for i := range pacts {
		p.pactArrived(pacts[i].from, &pacts[i].header, pacts[i].payload)
	}
	p.Changes++
}

// keepPact keeps a frame about agreements or revocations until the losses have shown.
func (p *Process) keepPact(from proto.Proc, h *wire.Header, payload []byte) {
	if m := p.thinned.m; m != nil && m.Begun() {
		p.thinned.pacts = append(p.thinned.pacts, earlyFrame{from, *h, bytes.Clone(payload)})
	}
}
