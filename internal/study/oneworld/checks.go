package oneworld

import (
	"fmt"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/proto/membership"
	"banyan/internal/proto/steward"
)

// checks are what a run has seen, and the first promise that it has broken.
type checks struct {
	err        error
	steps      int
	failed     int              // attempts to replace a process
	leaders    map[uint64]*host // by term
	views      []installed
	lost       []proto.Rank
	outcomes   []steward.Outcome
	electorate steward.Electorate // the last that a quorum has written
	written    []writing
	drained    map[steward.Host]bool // hosts that were to leave when they were lost
}

// installed is a view that a process has installed.
type installed struct {
	by   *rank
	view *membership.View
}

// writing is a version of the ledger, and the voters that have written it.
type writing struct {
	at         steward.Version
	electorate *steward.Electorate
	by         []steward.Host
}

func newChecks(w *world) checks {
	return checks{leaders: map[uint64]*host{}, drained: map[steward.Host]bool{}}
}

func (w *world) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("at %s: %w", inSeconds(w.now), fmt.Errorf(format, args...))
		w.logf(nil, "broken: %v", w.err)
	}
}

// led checks that one agent acts in a term.
func (w *world) led(h *host) {
	term := h.agentTerm()
	if x := w.leaders[term]; x != nil && x != h {
		w.fail("hosts %d and %d both act in term %d", x.id, h.id, term)
	}
	w.leaders[term] = h
}

// obeyed checks that an agent obeys no earlier steward than one of which it has heard.
func (w *world) obeyed(h *host, term, known uint64) {
	if term < known {
		w.fail("host %d obeys the steward of term %d, and has heard of term %d", h.id, term, known)
	}
}

// judged checks that the processes of a lost host don't act.
func (w *world) judged(id steward.Host, incarnation proto.Incarnation) {
	for _, r := range w.hosts[id].ranks {
		if r.hostLease == incarnation && r.acts() {
			w.fail("host %d.%d counts as lost, and %v may act there", id, incarnation, r)
		}
	}
}

// toldDead checks that a process which a steward tells is dead will never act again.
func (w *world) toldDead(p proto.Proc, incarnation proto.Incarnation) {
	for _, r := range w.slots[p] {
		if r.incarnation <= incarnation && r.acts() {
			w.fail("all are told that %v is dead, and it may act on host %d", r, r.host.id)
		}
	}
}

// returns checks that a host which was to leave, and was lost, is still to leave when it is back.
func (w *world) returns(by *host, id steward.Host) {
	if l := by.agent.Ledger(); l != nil && w.drained[id] && l.Entry(id).State == steward.Up {
		w.fail("host %d was to leave, and is up again", id)
	}
}

// spawned checks that no two incarnations of a process act, and that replicas of a rank don't
// share a host.
func (w *world) spawned(h *host, p steward.Place) {
	for _, r := range w.slots[p.Proc] {
		if r.acts() {
			w.fail("%v.%d starts on host %d, and %v may act on host %d", p.Proc, p.Incarnation, h.id, r, r.host.id)
		}
	}
	for _, r := range h.ranks {
		if r.acts() && w.layout.Rank(r.self) == w.layout.Rank(p.Proc) {
			w.fail("%v.%d starts on host %d beside %v, a replica of the same rank", p.Proc, p.Incarnation, h.id, r)
		}
	}
}

// viewed checks that the processes which a view calls dead are, and that live processes agree on
// views.
func (w *world) viewed(r *rank, v *membership.View) {
	r.log("view %d: %v", v.Number, v.Members)
	for _, g := range v.Gone {
		if x := w.incarnationOf(g.Proc, g.Incarnation); g.Why == membership.Died && x != nil && x.acts() {
			w.fail("view %d calls %v dead, which may act on host %d", v.Number, x, x.host.id)
		}
	}
	for i := range w.views {
		x := &w.views[i]
		if x.view.Number == v.Number && x.by.acts() && !x.by.stopping && !slices.Equal(x.view.Members, v.Members) {
			w.fail("view %d has the members %v at %v, and %v at %v", v.Number, x.view.Members, x.by, v.Members, r)
		}
	}
	w.views = append(w.views, installed{r, v})
}

// leaves checks that a process which leaves in order knows of all others that they are through, or
// will never act again. Otherwise both sides of a cut might end well.
func (w *world) leaves(r *rank) {
	for _, x := range w.ranks {
		if x != r && x.committed && x.acts() && !x.departing && !x.stopping && !x.p.Fenced() {
			w.fail("%v leaves, and %v isn't through, which may act on host %d", r, x, x.host.id)
		}
	}
}

// declaredLost checks that a rank which a steward holds for lost has no replica left.
func (w *world) declaredLost(d *lead, rank proto.Rank) {
	d.h.logf("%v is lost", rank)
	w.lost = append(w.lost, rank)
	for k := range w.layout.Degree(rank) {
		for _, r := range w.slots[w.layout.Proc(rank, k)] {
			if r.committed && r.acts() {
				w.fail("%v counts as lost, and %v lives on host %d", rank, r, r.host.id)
			}
		}
	}
}

// retired checks that a process which has to leave a drained host isn't the last of its rank:
// another replica lived when the steward asked whether it does.
func (w *world) retired(d *lead, p proto.Proc) {
	rank := w.layout.Rank(p)
	for k := range w.layout.Degree(rank) {
		for _, r := range w.slots[w.layout.Proc(rank, k)] {
			if r.self != p && r.committed && (r.acts() || r.endedAt >= d.askedAt) {
				return
			}
		}
	}
	w.fail("%v is retired, and no other replica of %v lived when the steward asked", p, rank)
}

// outcome notes the end of an agent.
func (w *world) outcome(h *host, o steward.Outcome) {
	w.outcomes = append(w.outcomes, o)
	if o.Reason == steward.Finished {
		for _, x := range w.outcomes {
			if x.Reason == steward.Finished && x != o {
				w.fail("the job ends with exit code %d on host %d, and with %d on another", o.Code, h.id, x.Code)
			}
		}
	}
}

// wrote notes what voters have written, to know the electorate in force.
func (w *world) wrote(m *steward.Message) {
	if m.Kind != steward.Write && m.Kind != steward.Wrote {
		return
	}
	i := slices.IndexFunc(w.written, func(x writing) bool { return x.at == m.At })
	if i < 0 {
		if m.Kind == steward.Wrote {
			return
		}
		w.written = append(w.written, writing{at: m.At, electorate: m.Electorate})
		i = len(w.written) - 1
	}
	x := &w.written[i]
	if !slices.Contains(x.by, m.From) {
		x.by = append(x.by, m.From)
	}
	if x.electorate.Since.After(w.electorate.Since) && x.electorate.Quorum(func(v steward.Voter) bool { return slices.Contains(x.by, v.Host) }) {
		w.electorate = *x.electorate
		w.logf(nil, "voters are %v, before them %v, by %v in version %v", x.electorate.Voters, x.electorate.Former, x.by, x.at)
	}
}

// finished says whether a steward has ended the job, and how.
func (w *world) finished() (code int32, ok bool) {
	for _, o := range w.outcomes {
		if o.Reason == steward.Finished {
			return o.Code, true
		}
	}
	return 0, false
}

// final checks what must hold at the end.
func (w *world) final() {
	for _, h := range w.hosts {
		if h.agent != nil && !h.dead && !h.agentDead && !h.over && w.now >= h.actor.until {
			w.fail("host %d isn't through: %v, a lease: %v; %s", h.id, h.agent, h.agent.Held(), w.state())
		}
		for _, r := range h.ranks {
			if r.acts() {
				w.fail("%v is left on host %d", r, h.id)
			}
		}
	}
	code, ok := w.finished()
	switch {
	case w.err != nil:
	case ok && code == 0:
		for r := range w.expected {
			if w.console.files[r] != w.expected[r] {
				w.fail("the job ends well, and the output of rank %d isn't whole: %d of %d bytes", r, len(w.console.files[r]), len(w.expected[r]))
			}
		}
	case ok:
		if len(w.lost) == 0 {
			w.fail("the job ends with exit code %d, and no rank is lost", code)
		}
	default:
		for _, h := range w.hosts {
			if h.agent != nil && !h.dead && !h.agentDead && h.agent.Outcome().Reason != steward.Drained && w.couldLead(h) {
				w.fail("no majority, they say, and host %d reaches one", h.id)
			}
		}
	}
}

// couldLead says whether an agent reaches a quorum of the voters. If voters that it reaches have
// agreed to a change of the electorate it must be a quorum of both: the change may be durable.
func (w *world) couldLead(h *host) bool {
	reaches := func(id steward.Host) bool {
		x := w.hosts[id]
		return !x.dead && !x.agentDead && w.roundTrip(h, x) == passes
	}
	e, since := &w.electorate, w.electorate.Since
	for i := range w.written {
		if x := &w.written[i]; x.at.After(since) && slices.ContainsFunc(x.by, reaches) {
			e, since = x.electorate, x.at
		}
	}
	return e.Quorum(func(v steward.Voter) bool { return reaches(v.Host) })
}

// state is what the processes that are left wait for.
func (w *world) state() string {
	s := ""
	for _, r := range w.ranks {
		if r.acts() && r.started {
			s += fmt.Sprintf("\n%v on host %d: round %d.%d, finishing %v, departing %v, stopping %v, committed %v, joined %v, donating %v, flushed %v, fenced %v: %v",
				r, r.host.id, r.program.round, r.program.stage, r.finishing, r.departing, r.stopping, r.committed, r.p.Joined(), r.p.Donating(),
				r.finishing && r.p.Flushed(), r.p.Fenced(), r.p.Waits())
		}
	}
	for _, h := range w.hosts {
		if h.lead != nil {
			s += fmt.Sprintf("\nhost %d leads: ledger %+v, delivered %v", h.id, h.agent.Ledger(), h.lead.delivered)
			for _, a := range h.lead.m.Attempts() {
				s += fmt.Sprintf(", attempt %+v", a)
			}
		}
	}
	return s
}
