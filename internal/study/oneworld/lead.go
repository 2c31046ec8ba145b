package oneworld

import (
	"banyan/internal/job/placement"
	"banyan/internal/job/recovery"
	"banyan/internal/proto"
	"banyan/internal/proto/steward"
)

// lead is what the driver of the acting steward does beside the machine: it tells processes of
// deaths, kills those that are held for dead, has dead replicas replaced (package recovery), and
// ends the job. All that it knows is from the ledger and from what agents tell.
type lead struct {
	h     *host
	w     *world
	term  uint64
	m     *recovery.Machine
	slots []slotState
	place *placement.Job
	over  bool // the end was decided
	wakes proto.Time

	endBy     proto.Time // all output is there: the job ends then, also if processes are left
	leaving   bool       // a process has finished: nothing is replaced any more
	busy      bool       // within carry
	askedAt   proto.Time // when a donor was asked last whether it lives
	delivered []bool
	keeps     uint64            // the number of the last state that was to be kept
	awaiting  map[uint64]func() // what is done when a state is durable
}

// slotState is what the lead knows of a replica slot.
type slotState struct {
	last     steward.Place // as the ledger has it
	filled   proto.Incarnation
	known    bool // the end of last has been handled
	fenced   bool // the present process was held for dead
	unproven bool // the present incarnation isn't known to be a replica
	// what is kept of the last replacement
	donor    recovery.Process
	followed proto.Incarnation // its output follows its donor's
	// it holds a rank for lost; if the rank isn't by then, the process has to go, which can't go on
	wrongBy proto.Time
	// it was told to end
	killed    bool
	killAgain proto.Time
}

// verdictLimit is longer than a verdict on a host takes. So long the lead waits for a rank to be
// lost that a process holds for lost, and for processes to end whose ranks are through.
const verdictLimit = 8 * second

// recoveryLimit is how long each phase of a recovery may take, and atOnce how many replacements may
// be on their way at a time: fewer than some hosts have processes.
const (
	recoveryLimit = 10_000_000_000
	atOnce        = 3
)

func newLead(h *host, l *steward.Ledger) *lead {
	w := h.w
	d := &lead{h: h, w: w, term: h.agentTerm(), slots: make([]slotState, w.layout.Procs()), wakes: proto.Never, delivered: make([]bool, w.layout.Ranks()), awaiting: map[uint64]func(){}}
	d.m = recovery.New(w.layout, recoveryLimit, true, atOnce)
	d.place = &placement.Job{Layout: w.layout, Oversubscribe: true}
	d.place.Hosts = make([]placement.Host, len(w.hosts))
	d.resume(l)
	return d
}

// tellAll has all agents tell their processes something.
func (d *lead) tellAll(t tiding) {
	if t.kind == died {
		d.w.toldDead(t.proc, t.incarnation)
	}
	for _, x := range d.w.hosts {
		if x.witness == nil {
			d.w.tell(d.h, x, func() { x.told(d.term, t) })
		}
	}
}

// kill has a process killed, as soon as its host can be reached, and again until it has ended: it
// may not have been started yet.
func (d *lead) kill(p proto.Proc, incarnation proto.Incarnation) {
	d.slots[p].killed, d.slots[p].killAgain = true, d.w.now+second
	x := d.w.hosts[d.slots[p].last.Host]
	d.w.tell(d.h, x, func() { x.kill(d.term, p, incarnation) })
}

// look compares the ledger with what was handled, and acts on what is new.
func (d *lead) look() {
	l := d.h.agent.Ledger()
	if l == nil || d.over || d.busy {
		return
	}
	var dead []proto.Proc
	for i := range l.Places {
		p, s := l.Places[i], &d.slots[i]
		if p.Incarnation != s.last.Incarnation {
			s.known, s.fenced, s.killed, s.wrongBy = false, false, false, 0
		}
		s.last = p
		if p.State != steward.Ended || s.known {
			continue
		}
		s.known = true
		if p.How == 0 {
			d.tellAll(tiding{kind: leftInOrder, proc: p.Proc, incarnation: p.Incarnation})
			d.leaving = true
			continue
		}
		dead = append(dead, p.Proc)
	}
	for _, p := range dead { // all deaths come before what follows from them
		d.tellAll(tiding{kind: died, proc: p, incarnation: d.slots[p].last.Incarnation})
	}
	for _, p := range dead {
		q := recovery.Process{Proc: p, Incarnation: d.slots[p].last.Incarnation}
		d.do(func(now proto.Time, out *[]recovery.Action) { d.m.Died(now, q, "it has died", out) })
	}
	d.next()
}

// next begins the attempts that can begin, and ends the job if it is time.
func (d *lead) next() {
	if d.over || d.busy || d.h.lead != d && d.w.bug != OldTerm {
		return
	}
	if d.leaving {
		d.do(func(_ proto.Time, out *[]recovery.Action) { d.m.Over(out) })
	}
	for i := range d.slots {
		s := &d.slots[i]
		late := s.wrongBy != 0 && d.w.now >= s.wrongBy
		if s.last.State != steward.Ended && (late || s.killed && d.w.now >= s.killAgain) {
			s.wrongBy = proto.Never
			d.kill(proto.Proc(i), s.last.Incarnation)
		}
	}
	d.drain()
	d.end()
	if d.over || d.h.agent.Ledger() == nil {
		return
	}
	for range d.slots { // an attempt that can't be started may be begun again
		began := false
		d.do(func(now proto.Time, out *[]recovery.Action) {
			began = d.m.Next(now, func(p proto.Proc) bool { _, ok := d.home(p); return ok }, d.donates, out)
		})
		if !began {
			break
		}
	}
	d.wake()
}

// wake has the recovery called at its deadline, and looks again from time to time.
func (d *lead) wake() {
	at := d.w.now + 100*ms
	if d.wakes != proto.Never {
		return
	}
	d.wakes = at
	d.w.at(at, func() {
		d.wakes = proto.Never
		d.h.agentDo(func() {
			if d.h.lead == d {
				d.do(func(now proto.Time, out *[]recovery.Action) { d.m.Tick(now, out) })
				d.next()
			}
		})
	})
}

func (d *lead) donates(p proto.Proc) bool {
	s := &d.slots[p]
	return s.last.State == steward.Running && !s.fenced && !s.unproven
}

// drain has the processes of hosts leave that are to.
func (d *lead) drain() {
	l := d.h.agent.Ledger()
	if l == nil {
		return
	}
	for _, p := range l.Places {
		if p.State == steward.Running && l.Entry(p.Host).State == steward.Draining {
			d.m.Leave(recovery.Process{Proc: p.Proc, Incarnation: p.Incarnation})
		}
	}
}

// home is the host for a replacement of a process.
func (d *lead) home(p proto.Proc) (steward.Host, bool) {
	l := d.h.agent.Ledger()
	if l == nil || d.slots[p].last.State != steward.Ended && l.Entry(d.slots[p].last.Host).State != steward.Draining {
		return 0, false
	}
	now := placement.Running{At: make([]int, len(d.slots)), Last: make([]int, len(d.slots)), Alive: make([]bool, len(d.w.hosts))}
	for _, x := range l.Hosts {
		now.Alive[x.Host] = x.State == steward.Up && !x.Console
	}
	for i, q := range l.Places {
		now.At[i], now.Last[i] = -1, int(q.Host)
		if q.State != steward.Ended && q.Proc != p {
			now.At[i] = int(q.Host)
		}
	}
	if d.w.bug == SharedHost {
		for i := range now.At {
			if d.w.layout.Rank(proto.Proc(i)) == d.w.layout.Rank(p) && now.At[i] >= 0 {
				return steward.Host(now.At[i]), true
			}
		}
	}
	on, _, err := d.place.Replacement(p, now)
	if err != nil {
		return 0, false
	}
	return steward.Host(on), true
}

// do calls the recovery's machine and carries out what it asks for.
func (d *lead) do(f func(now proto.Time, out *[]recovery.Action)) {
	var out []recovery.Action
	f(d.w.now, &out)
	d.carry(out)
}

func (d *lead) carry(out []recovery.Action) {
	d.busy = true
	defer func() { d.busy = false }()
	for len(out) > 0 {
		a := out[0]
		out = out[1:]
		var more []recovery.Action
		if a.Text != "" {
			d.h.logf("recovery: %s", a.Text)
		}
		switch a.Kind {
		case recovery.Failed:
			d.w.failed++
		case recovery.Start:
			d.start(a.Attempt, &more)
		case recovery.Admit:
			d.tellAll(tiding{kind: admit, proc: a.Attempt.Proc, incarnation: a.Attempt.Incarnation})
		case recovery.Donate:
			d.tellAll(tiding{kind: donate, proc: a.Attempt.Proc, incarnation: a.Attempt.Incarnation, to: a.Attempt.Donor.Proc, toIncarnation: a.Attempt.Donor.Incarnation})
		case recovery.Drain:
			if d.w.bug == KeptByOne {
				d.m.Drained(a.Attempt.Donor, a.Attempt.Process, &more)
				break
			}
			d.handOver(a.Attempt.Donor, a.Attempt.Process)
		case recovery.Follow:
			d.slots[a.Attempt.Proc].followed = a.Attempt.Incarnation
		case recovery.Marked: // the next steward must know that the donor may give its state away
			d.durably(func() {
				d.tellAll(tiding{kind: marked, proc: a.Replacement.Proc, incarnation: a.Replacement.Incarnation, to: a.To.Proc, toIncarnation: a.To.Incarnation})
			})
		case recovery.Fill:
			s := &d.slots[a.Attempt.Proc]
			s.filled, s.unproven = a.Attempt.Incarnation, false
			d.durably(func() {})
		case recovery.Ask:
			d.askedAt = d.w.now
			d.tellAll(tiding{kind: ask, to: a.To.Proc, toIncarnation: a.To.Incarnation, number: a.Number})
			if d.w.bug == Unasked {
				d.m.Heard(a.To, a.Number)
			}
		case recovery.Retire:
			d.h.logf("%v.%d is retired", a.To.Proc, a.To.Incarnation)
			d.w.retired(d, a.To.Proc)
			d.slots[a.To.Proc].fenced = true
			d.kill(a.To.Proc, a.To.Incarnation)
		case recovery.AskToGiveUp:
			d.tellAll(tiding{kind: giveUp, to: a.Attempt.Proc, toIncarnation: a.Attempt.Incarnation})
		case recovery.Dismiss:
			d.dismiss(a.Attempt, &more)
		case recovery.AnnounceDeath:
			d.tellAll(tiding{kind: died, proc: a.Attempt.Proc, incarnation: a.Attempt.Incarnation})
		}
		out = append(out, more...)
	}
}

// handOver has the donor's agent give what it keeps of the donor's output to the agent of the
// replacement. Before it has come the donor doesn't give its state away.
func (d *lead) handOver(donor, process recovery.Process) {
	from, to := d.w.hosts[d.slots[donor.Proc].last.Host], d.w.hosts[d.slots[process.Proc].last.Host]
	d.w.tell(d.h, from, func() {
		t := from.tap(donor)
		if !from.obeys(d.term) || t == nil {
			return
		}
		kept := *t
		d.w.tell(from, to, func() {
			if !to.keep(process, &kept) {
				return
			}
			d.w.tell(to, d.h, func() {
				if d.h.lead == d {
					d.do(func(_ proto.Time, out *[]recovery.Action) { d.m.Drained(donor, process, out) })
					d.next()
				}
			})
		})
	})
}

// start has a replacement started.
func (d *lead) start(a *recovery.Attempt, more *[]recovery.Action) {
	on, ok := d.home(a.Proc)
	if ok {
		var out []steward.Action
		ok = d.h.agent.Start(d.h.clock(), a.Proc, on, &out)
		d.h.carryOut(out)
	}
	l := d.h.agent.Ledger()
	if !ok || l == nil || l.Places[a.Proc].Incarnation != a.Incarnation {
		d.m.Fail(a.Process, "it can't be started", recovery.Nobody, more)
		return
	}
	s := &d.slots[a.Proc]
	*s = slotState{last: l.Places[a.Proc], filled: s.filled, unproven: true, donor: a.Donor}
	d.w.started[a.Process] = d.environment(a)
	d.h.logf("%v.%d is to start on host %d", a.Proc, a.Incarnation, on)
}

// environment is what a replacement is told at its start, as in package launcher: the incarnations
// of all processes, and which are dead; of another slot that is being filled, what the others were
// told. Its host's agent may not have been told yet.
type environment struct {
	incarnations []proto.Incarnation
	gone         []bool
}

func (d *lead) environment(own *recovery.Attempt) (e environment) {
	for i := range d.slots {
		incarnation, gone := d.slots[i].last.Incarnation, d.slots[i].last.State == steward.Ended
		if a := d.m.AttemptAt(proto.Proc(i)); a != nil && a.Process != own.Process && a.Phase == recovery.GetReady {
			incarnation, gone = a.Incarnation-1, true
		}
		if d.w.bug == DeadAtBirth && d.m.AttemptAt(proto.Proc(i)) != nil {
			incarnation, gone = d.slots[i].last.Incarnation, true
		}
		e.incarnations, e.gone = append(e.incarnations, incarnation), append(e.gone, gone)
	}
	return e
}

// dismiss ends a replacement. Its death ends the attempt.
func (d *lead) dismiss(a *recovery.Attempt, more *[]recovery.Action) {
	if s := &d.slots[a.Proc]; s.last.Incarnation == a.Incarnation && s.last.State != steward.Ended {
		d.kill(a.Proc, a.Incarnation)
		return
	}
	d.m.Died(d.w.now, a.Process, "", more)
}

// heard takes what a process said.
func (d *lead) heard(p proto.Proc, incarnation proto.Incarnation, s saying) {
	by, slot := recovery.Process{Proc: p, Incarnation: incarnation}, &d.slots[p]
	if d.over || slot.last.Incarnation != incarnation {
		return
	}
	switch s.kind {
	case arrived:
		d.do(func(now proto.Time, out *[]recovery.Action) { d.m.Arrived(now, by, out) })
	case healable:
		d.m.Healable(by)
		d.tellAll(tiding{kind: noted, to: p, toIncarnation: incarnation})
	case mark:
		q := recovery.Process{Proc: s.proc, Incarnation: s.incarnation}
		d.do(func(now proto.Time, out *[]recovery.Action) {
			d.m.Mark(now, by, q, out)
		})
	case committed:
		d.do(func(now proto.Time, out *[]recovery.Action) { d.m.Committed(now, by, out) })
	case healed:
		d.do(func(now proto.Time, out *[]recovery.Action) { d.m.Healed(now, by, 0, out) })
	case failed:
		d.do(func(now proto.Time, out *[]recovery.Action) { d.m.Fail(by, s.text, recovery.Replacement, out) })
	case finalized:
		d.leaving = true
	case here:
		d.m.Heard(by, s.number)
	case lostRank:
		if slot.wrongBy == 0 {
			slot.wrongBy = d.w.now + verdictLimit
		}
	case suspect:
		q := &d.slots[s.proc]
		if slot.fenced || q.last.Incarnation != s.incarnation || q.last.State == steward.Ended || q.fenced {
			break // the suspicion of a fenced process doesn't count
		}
		q.fenced = true
		d.h.logf("%v suspects %v.%d (%s)", by.Proc, s.proc, s.incarnation, s.text)
		d.kill(s.proc, s.incarnation)
	}
	d.next()
}

// end ends the job: when all processes have ended and the output is out, or a rank is lost.
func (d *lead) end() {
	l := d.h.agent.Ledger()
	if l == nil {
		return
	}
	all, left, lost := true, false, false
	for r := range proto.Rank(d.w.layout.Ranks()) {
		running, ok := false, false
		for k := range d.w.layout.Degree(r) {
			p := l.Places[d.w.layout.Proc(r, k)]
			running = running || p.State != steward.Ended
			// What a replica that left has written may be on a lost host.
			ok = ok || p.State == steward.Ended && p.How == 0 && l.Entry(p.Host).Incarnation == p.HostIncarnation && l.Entry(p.Host).State != steward.Lost
		}
		ok = ok || d.delivered[r]
		if all, left = all && d.delivered[r], left || running; !running && !ok && !lost {
			lost = true
			d.w.declaredLost(d, r)
		}
	}
	if !lost && !all {
		return
	}
	if all && left {
		// Processes that the others held for dead, when they left, wait for them in vain.
		if d.endBy == 0 {
			d.endBy = d.w.now + verdictLimit
		}
		if d.w.now < d.endBy {
			return
		}
	}
	code := int32(0)
	if lost {
		code = 1
	}
	d.h.logf("ends the job with exit code %d", code)
	d.over = true
	var out []steward.Action
	d.h.agent.Finish(d.h.clock(), code, &out)
	d.h.carryOut(out)
}

// complete takes the console's word that it has all output of some ranks.
func (d *lead) complete(ranks []bool) {
	for r := range ranks {
		d.delivered[r] = d.delivered[r] || ranks[r]
	}
	d.next()
}
