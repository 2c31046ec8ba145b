package oneworld

import (
	"slices"

	"banyan/internal/proto"
	"banyan/internal/proto/steward"
)

// host is a machine: its kernel with a clock of its own, its agent, and the processes of the job
// that run there. A console on a machine of its own is a host without processes, a witness one
// without an agent.
type host struct {
	actor     // the whole machine
	w         *world
	id        steward.Host
	rate      proto.Time // in millionths
	offset    proto.Time
	dead      bool       // without power
	deadline  proto.Time // by the clock: the kernel kills the processes then
	ranks     []*rank    // that live
	agentGo   actor      // the agent alone
	agentDead bool
	agent     *steward.Agent
	witness   *steward.Witness
	wakesAt   proto.Time
	woken     func() // at wakesAt
	over      bool   // its agent is over

	places  []steward.Place // to be started when the agent may
	records []*record       // of the processes that this agent has started
	lead    *lead           // it is the acting steward
	early   []func()        // what agents told it before it acted
	leader  steward.Host    // the last that was told of all records
	term    uint64
	taps    []*tap

	// What the processes of the job are, as far as this agent was told.
	tidings      []tiding
	incarnations []proto.Incarnation
	gone         []bool
}

// record is what an agent remembers of a process, for a steward that takes over.
type record struct {
	r         *rank
	said      []saying // what holds until it ends
	ended     bool
	finalized bool
}

// tiding is what the steward has all agents, or one, tell processes.
type tiding struct {
	kind          tidingKind
	proc          proto.Proc
	incarnation   proto.Incarnation
	to            proto.Proc
	toIncarnation proto.Incarnation
	number        uint64 // of a question
}

type tidingKind uint8

const (
	died tidingKind = iota
	leftInOrder
	admit
	donate
	marked
	noted
	ask    // whether it lives
	giveUp // unless it has committed
)

// clock is the host's CLOCK_BOOTTIME.
func (h *host) clock() proto.Time { return h.offset + h.w.now + h.w.now/million*h.rate }

const million = 1_000_000

// begin prepares what is called again and again.
func (h *host) begin() {
	tick := func(now proto.Time, out *[]steward.Action) { h.agent.Tick(now, out) }
	act := func() { h.call(tick) }
	h.woken = func() {
		if h.wakesAt == h.w.now {
			h.wakesAt = proto.Never
		}
		h.agentDo(act)
	}
}

// real is when the clock shows a time, or a little later.
func (h *host) real(at proto.Time) proto.Time {
	if at > h.offset+1_000_000*second {
		return proto.Never
	}
	t := at - h.offset
	real := t - t/million*h.rate
	for h.offset+real+real/million*h.rate < at {
		real += (at-h.offset-real-real/million*h.rate)/2 + 1
	}
	return max(h.w.now+1, real)
}

// kernelDo calls f when the machine isn't stopped.
func (h *host) kernelDo(f func()) {
	if h.stopped(h.w.now) {
		h.hold(f)
		return
	}
	f()
}

// agentDo calls f in the agent, when neither it nor the machine is stopped.
func (h *host) agentDo(f func()) {
	switch now := h.w.now; {
	case h.stopped(now):
		h.hold(func() { h.agentDo(f) })
	case h.agentGo.stopped(now) || len(h.agentGo.held) > 0: // nothing overtakes what waits
		h.agentGo.hold(func() { h.agentDo(f) })
	case !h.dead && !h.agentDead:
		f()
	}
}

// call calls the agent's machine and carries out what it asks for.
func (h *host) call(f func(now proto.Time, out *[]steward.Action)) {
	if h.agent == nil {
		return
	}
	h.agent.Hold(h.holdsOutput() && h.w.bug != LeftWithOutput)
	var out []steward.Action
	f(h.clock(), &out)
	h.carryOut(out)
	if term, leader := h.agent.Term(); term > h.term || leader != h.leader {
		h.term, h.leader = term, leader
		h.retell()
	}
	if h.lead != nil {
		h.lead.look()
	}
	at := h.real(h.agent.Deadline())
	if at < h.wakesAt {
		h.wakesAt = at
		h.w.at(at, h.woken)
	}
}

func (h *host) carryOut(out []steward.Action) {
	w := h.w
	for _, a := range out {
		switch a.Kind {
		case steward.Send:
			to, m := w.hosts[a.To], a.Message
			w.wrote(m)
			w.datagram(h, to, func() { to.receive(m) }, func() {
				h.call(func(now proto.Time, out *[]steward.Action) { h.agent.Closed(now, to.id, out) })
			})
		case steward.Extend:
			h.extend(a.Until)
		case steward.Kill:
			h.places = nil
			if w.bug != ForgottenLease {
				h.logf("kills its processes")
				h.killAll()
			}
		case steward.Spawn:
			h.spawn(a.Place)
		case steward.Lead:
			h.logf("leads in term %d, with the voters %v, before them %v", h.agentTerm(), a.Ledger.Electorate.Voters, a.Ledger.Electorate.Former)
			w.led(h)
			h.lead = newLead(h, a.Ledger)
			early := h.early
			h.early = nil
			for _, f := range early {
				f()
			}
		case steward.Kept:
			if h.lead != nil {
				h.lead.kept(a.Number)
			}
		case steward.StepDown:
			h.logf("leads no more")
			if w.bug != OldTerm {
				h.lead = nil
			}
		case steward.HostLost:
			h.logf("host %d.%d is lost", a.Host, a.Incarnation)
			w.judged(a.Host, a.Incarnation)
			if l := h.agent.Ledger(); l != nil && l.Entry(a.Host).Leaves {
				w.drained[a.Host] = true
			}
			if on := w.console.on; on != nil && on.id == a.Host {
				w.consoleLost() // its user attaches another one
			}
		case steward.HostUp:
			h.logf("host %d.%d is up", a.Host, a.Incarnation)
			w.returns(h, a.Host)
		case steward.Over:
			h.logf("is over: %v %d", a.Outcome.Reason, a.Outcome.Code)
			h.killAll()
			h.over = true
			w.outcome(h, a.Outcome)
			if a.Outcome.Reason == steward.Drained && w.console.on == h {
				w.consoleLost()
			}
		}
	}
}

func (h *host) agentTerm() uint64 { t, _ := h.agent.Term(); return t }

func (h *host) receive(m *steward.Message) {
	if h.witness != nil {
		var out []steward.Action
		h.witness.Receive(h.clock(), m, &out)
		h.carryOut(out)
		return
	}
	h.call(func(now proto.Time, out *[]steward.Action) { h.agent.Receive(now, m, out) })
}

// extend lets the processes act until a time by the clock. The kernel kills them then, also if
// the agent is stopped. A machine that was stopped kills when it goes on, before anything else.
func (h *host) extend(until proto.Time) {
	h.deadline = max(h.deadline, until)
	for _, p := range h.places {
		h.fork(p)
	}
	h.places = nil
	h.w.at(h.real(until), func() {
		h.kernelDo(func() {
			if h.clock() >= h.deadline && len(h.ranks) > 0 && h.w.bug != ForgottenLease {
				h.logf("the kernel kills: the lease is over")
				h.killAll()
			}
		})
	})
}

// spawn starts a process, which no other incarnation of it may outlive.
func (h *host) spawn(p steward.Place) {
	h.w.spawned(h, p)
	h.fork(p)
}

func (h *host) fork(p steward.Place) {
	w := h.w
	r := &rank{w: w, host: h, hostLease: p.HostIncarnation, self: p.Proc, incarnation: p.Incarnation, wakesAt: proto.Never}
	w.ranks = append(w.ranks, r)
	w.slots[p.Proc] = append(w.slots[p.Proc], r)
	h.ranks = append(h.ranks, r)
	h.records = append(h.records, &record{r: r})
	h.taps = append(h.taps, &tap{r: r})
	again := r.again
	r.computed = func() { r.act(again) }
	r.woken = func() {
		if r.wakesAt == w.now {
			r.wakesAt = proto.Never
		}
		r.act(again)
	}
	w.after(ms+w.upTo(5*ms), func() { r.act(r.begin) })
}

// killAll ends all processes, and reaps them.
func (h *host) killAll() {
	for len(h.ranks) > 0 {
		h.ended(h.ranks[0], sigkill)
	}
}

// Statuses of ended processes, beside exit codes.
const sigkill int32 = 9 << 8

// ended is the end of a process: the kernel closes its connections, its agent reaps it.
func (h *host) ended(r *rank, status int32) {
	w := h.w
	r.dead, r.endedAt = true, w.now
	h.ranks = slices.DeleteFunc(h.ranks, func(x *rank) bool { return x == r })
	if status != 0 {
		r.log("ends: status %d", status)
	}
	if r.started {
		for q := range r.peers {
			if l := r.peers[q].link; l != nil && !r.peers[q].fenced {
				w.hangUp(l, r)
			}
		}
	}
	w.after(50*us+w.upTo(500*us), func() { h.agentDo(func() { h.reaped(r, status) }) })
}

// reaped takes the end of a process.
func (h *host) reaped(r *rank, status int32) {
	rec := h.record(r)
	rec.ended = true
	for _, t := range h.taps {
		if t.r == r {
			t.ended, t.complete = true, status == 0 && rec.finalized
		}
	}
	h.sendOutput()
	if h.agent != nil {
		if status == 0 && !rec.finalized {
			status = 1
		}
		p := steward.Place{Proc: r.self, Incarnation: r.incarnation, Host: h.id, HostIncarnation: r.hostLease}
		h.call(func(now proto.Time, out *[]steward.Action) { h.agent.Ended(now, p, status, out) })
	}
}

func (h *host) record(r *rank) *record {
	for _, x := range h.records {
		if x.r == r {
			return x
		}
	}
	panic("no record of a process")
}

// said takes what a process says on its lifeline, and passes it on to the steward.
func (h *host) said(r *rank, s saying) {
	rec := h.record(r)
	switch s.kind {
	case finalized:
		rec.finalized = true
	case here:
	default:
		rec.said = append(rec.said, s)
	}
	h.report(r, s)
}

func (h *host) report(r *rank, s saying) {
	if h.leader == steward.NoHost {
		return
	}
	to := h.w.hosts[h.leader]
	h.w.tell(h, to, func() {
		hear := func() { to.lead.heard(r.self, r.incarnation, s) }
		if to.lead == nil { // agents know of a term before its steward acts
			to.early = append(to.early, hear)
			return
		}
		hear()
	})
}

// retell tells a new steward all that it must know of this agent's processes.
func (h *host) retell() {
	if h.w.bug == Untold {
		return
	}
	for _, rec := range h.records {
		if rec.ended || rec.r.dead {
			continue
		}
		for _, s := range rec.said {
			h.report(rec.r, s)
		}
		if rec.finalized {
			h.report(rec.r, saying{kind: finalized})
		}
	}
}

// told takes what a steward has processes told.
func (h *host) told(term uint64, t tiding) {
	if !h.obeys(term) {
		return
	}
	switch t.kind {
	case died, leftInOrder:
		if t.incarnation >= h.incarnations[t.proc] {
			h.incarnations[t.proc], h.gone[t.proc] = t.incarnation, true
		}
	case admit:
		if t.incarnation > h.incarnations[t.proc] {
			h.incarnations[t.proc], h.gone[t.proc] = t.incarnation, false
		}
	}
	if !slices.Contains(h.tidings, t) || t.kind == donate || t.kind == marked || t.kind == ask || t.kind == giveUp {
		h.tidings = append(h.tidings, t)
		for _, r := range h.ranks {
			if r.started {
				r.hear(t)
			}
		}
	}
}

// kill takes a steward's command to kill a process.
func (h *host) kill(term uint64, p proto.Proc, incarnation proto.Incarnation) {
	if !h.obeys(term) {
		return
	}
	for _, r := range h.ranks {
		if r.self == p && r.incarnation == incarnation {
			r.log("is killed on the word of the steward")
			h.ended(r, sigkill)
			return
		}
	}
}

// obeys says whether a command of a steward counts: it isn't of an earlier term than the agent has
// heard of.
func (h *host) obeys(term uint64) bool {
	if h.agent == nil {
		return false
	}
	known := h.agentTerm()
	if term < known && h.w.bug != OldTerm {
		return false
	}
	h.w.obeyed(h, term, known)
	return true
}

func (h *host) logf(format string, args ...any) {
	if h.w.Log != nil {
		h.w.logf(h, format, args...)
	}
}
