package oneworld

import (
	"errors"
	"fmt"
	"slices"

	"banyan/internal/job/recovery"
	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/proto/membership"
	"banyan/internal/runtime/process"
	"banyan/internal/runtime/transport"
)

// rank is one process of the job: an incarnation of a replica slot, with its program. What it does
// is that of package process. Connections, the program and the lifeline are modelled.
type rank struct {
	actor
	w           *world
	host        *host
	hostLease   proto.Incarnation // of the host's agent
	self        proto.Proc
	incarnation proto.Incarnation
	p           *process.Process
	program     *program
	peers       []peer
	owed        []loan
	started     bool              // it is through with its start: others reach it
	dead        bool              // it has ended
	endedAt     proto.Time        // or its host has
	left        bool              // in order
	hearsay     []detector.Report // of deaths, that the steward may not know
	committed   bool              // it is a replica
	finishing   bool              // the program is through
	departing   bool
	stopping    bool // it has been told to stop, or finds that it must
	stepping    bool
	busy        proto.Time // the program computes until then
	wakesAt     proto.Time
	woken       func() // at wakesAt
	computed    func() // when busy is over
}

type loan struct {
	to    proto.Proc
	token uint64
}

var (
	_ process.Net        = (*rank)(nil)
	_ process.Host       = (*rank)(nil)
	_ transport.Admitter = (*rank)(nil)
)

func (r *rank) String() string { return fmt.Sprintf("%v.%d", r.self, r.incarnation) }

// act calls f when neither the process nor its host is stopped.
func (r *rank) act(f func()) {
	switch now := r.w.now; {
	case r.host.stopped(now):
		r.host.hold(func() { r.act(f) })
	case r.stopped(now) || len(r.held) > 0: // nothing overtakes what waits
		r.hold(func() { r.act(f) })
	case !r.dead && !r.host.dead:
		f()
	}
}

// runs says whether the process and its host live and aren't stopped.
func (r *rank) runs() bool {
	return !r.dead && !r.host.dead && !r.stopped(r.w.now) && !r.host.stopped(r.w.now)
}

// acts says whether the process may act now, or later: it lives, and its host has a lease.
func (r *rank) acts() bool {
	return !r.dead && !r.host.dead && (r.w.bug == ForgottenLease || r.host.clock() < r.host.deadline)
}

// The detector's η and δ.
const period, timeout = 100 * ms, second

// begin starts the process.
func (r *rank) begin() {
	w, h := r.w, r.host
	n := w.layout.Procs()
	r.peers = make([]peer, n)
	cfg := process.Config{
		Self: r.self, Layout: w.layout, Mirror: w.mirror, Period: period, Timeout: timeout, Witness: true, Heal: true,
		Hosts: w.places, Leased: verdictLimit,
	}
	if w.bug == OwnQuorum {
		cfg.Leased = 0
	}
	if r.incarnation > 0 {
		cfg.Replacement = true
		cfg.Incarnations, cfg.Gone = slices.Clone(h.incarnations), slices.Clone(h.gone)
		e := w.started[recovery.Process{Proc: r.self, Incarnation: r.incarnation}]
		for q, incarnation := range e.incarnations {
			if incarnation > cfg.Incarnations[q] {
				cfg.Incarnations[q], cfg.Gone[q] = incarnation, e.gone[q]
			}
		}
		cfg.Incarnations[r.self], cfg.Gone[r.self] = r.incarnation, false
		for q := range r.peers {
			r.peers[q].incarnation = cfg.Incarnations[q]
		}
	} else {
		r.committed = true
	}
	r.program = &program{programState: programState{value: uint64(w.layout.Rank(r.self)) + 1}, memory: w.memory, rank: int(w.layout.Rank(r.self)), ranks: w.layout.Ranks(), rounds: w.Rounds, setUp: w.setUp}
	r.started = true
	r.p = process.New(cfg, h.clock(), r, r)
	members := make([]proto.Rank, w.layout.Ranks())
	for i := range members {
		members[i] = proto.Rank(i)
	}
	if err := r.p.OpenContext(worldContext, members, false); err != nil {
		w.fail("%v: %v", r, err)
	}
	if r.incarnation > 0 {
		r.say(saying{kind: arrived})
	}
	r.log("started on host %d", h.id)
	for _, t := range h.tidings {
		r.hear(t)
	}
	r.call(func() {})
}

// call calls the process, and then does what its program and its machines have to do.
func (r *rank) call(f func()) {
	if r.dead || !r.started {
		return
	}
	r.p.At(r.host.clock())
	f()
	r.advance()
}

// advance lets the process and its program go on as far as they can.
func (r *rank) advance() {
	if r.stepping {
		return
	}
	r.stepping = true
	defer func() { r.stepping = false }()
	for i := 0; !r.dead; i++ {
		if i > 100_000 {
			r.w.fail("%v goes round in circles", r)
			return
		}
		r.p.At(r.host.clock())
		for len(r.owed) > 0 {
			o := r.owed[0]
			r.owed = r.owed[1:]
			r.p.Sent(o.to, o.token)
		}
		if r.p.Deadline() <= r.host.clock() {
			r.p.Tick()
			continue
		}
		if r.p.Work() || len(r.owed) > 0 {
			continue
		}
		if r.stopping || !r.proceed() {
			break
		}
	}
	r.wake()
}

// proceed lets the program do one thing, or the process one on its way out. It says whether
// there may be more.
func (r *rank) proceed() bool {
	w := r.w
	if !r.finishing {
		if w.now < r.busy {
			return false
		}
		d := r.program.step(r.p)
		if r.program.damage != nil {
			w.fail("%v: %v", r, r.program.damage)
			return false
		}
		if r.program.err != nil {
			r.log("the program ends: %v", r.program.err)
			r.stopping = true // it waits for the end of the job
			return false
		}
		switch d {
		case waits:
			return false
		case computes:
			r.busy = w.now + w.compute/2 + w.upTo(w.compute)
			w.at(r.busy, r.computed)
			return false
		case prints:
			r.print(line(r.program.rank, r.program.round-1, r.program.value))
		case finishes:
			r.finishing = true
			for _, d := range r.hearsay {
				r.Died(d)
			}
			r.p.Finish()
		}
		return true
	}
	if err := r.p.Diverged(); err != nil {
		w.fail("%v: %v", r, err)
		return false
	}
	if !r.departing {
		if !r.p.Flushed() {
			return false
		}
		r.departing = true
		r.p.Depart()
		return true
	}
	if !r.p.Departed() || r.p.Fenced() {
		return false
	}
	r.p.Goodbye()
	r.say(saying{kind: finalized})
	r.left = true
	w.leaves(r)
	r.log("leaves in order")
	r.exit(0)
	return false
}

// wake has the process called at its deadline.
func (r *rank) wake() {
	if r.dead {
		return
	}
	at := r.host.real(r.p.Deadline())
	if at < r.wakesAt {
		r.wakesAt = at
		r.w.at(at, r.woken)
	}
}

// again lets the process go on.
func (r *rank) again() {
	if !r.dead && r.started {
		r.advance()
	}
}

// print writes to the standard output, which is a pipe of the agent's.
func (r *rank) print(text string) {
	offset := r.program.wrote
	r.program.wrote += len(text)
	if r.p.Replaying() {
		return // the library knows that another replica has written this
	}
	h := r.host
	h.agentDo(func() { h.tapped(r, offset, text) })
}

// exit ends the process by itself.
func (r *rank) exit(code int32) {
	if r.dead {
		return
	}
	r.host.ended(r, code)
}

// stop ends the process, since the job goes on without it.
func (r *rank) stop(format string, args ...any) {
	if r.stopping || r.dead {
		return
	}
	r.stopping = true
	r.log("stops: "+format, args...)
	r.w.after(100*us, func() { r.act(func() { r.exit(1) }) })
}

func (r *rank) log(format string, args ...any) {
	if r.w.Log != nil {
		r.w.logf(r.host, "%v "+format, append([]any{r}, args...)...)
	}
}

// saying is what a process tells its agent, and the agent the steward.
type saying struct {
	kind        sayingKind
	proc        proto.Proc // suspect, mark: about whom
	incarnation proto.Incarnation
	text        string
	number      uint64 // of the question
}

type sayingKind uint8

const (
	arrived sayingKind = iota
	healable
	mark
	committed
	healed
	failed
	suspect
	finalized
	lostRank
	here
)

func (k sayingKind) String() string {
	return [...]string{"arrived", "healable", "mark", "committed", "healed", "heal failed", "suspect", "finalized", "rank lost", "here"}[k]
}

// say puts a message on the lifeline.
func (r *rank) say(s saying) {
	h := r.host
	h.agentDo(func() { h.said(r, s) })
}

// errLate ends a replacement that was asked to give up.
var errLate = errors.New("it was late")

// hear takes what an agent says on the lifeline.
func (r *rank) hear(t tiding) {
	r.w.after(20*us, func() {
		r.act(func() {
			r.call(func() {
				switch {
				case t.kind == donate || t.kind == marked || t.kind == noted || t.kind == ask || t.kind == giveUp:
					if t.to != r.self || t.toIncarnation != r.incarnation {
						return
					}
				case t.proc == r.self:
					return
				}
				switch t.kind {
				case died:
					r.p.Evidence(t.proc, t.incarnation)
				case leftInOrder:
					if r.peers[t.proc].incarnation <= t.incarnation {
						r.p.Left(t.proc)
					}
				case admit:
					r.p.Admit(t.proc, t.incarnation)
				case donate:
					r.p.Help(t.proc, t.incarnation)
				case marked:
					r.p.Marked(t.proc, t.incarnation, 0)
				case noted:
					r.p.Noted(0)
				case ask:
					r.say(saying{kind: here, number: t.number})
				case giveUp:
					if !r.p.GiveUpJoining(errLate) {
						r.say(saying{kind: committed})
					}
				}
			})
		})
	})
}

// Died implements process.Host.
func (r *rank) Died(d detector.Report) {
	r.log("holds %v.%d for dead (%v)", d.Proc, d.Incarnation, d.Cause)
	if d.Cause != detector.CauseTold || r.finishing {
		r.say(saying{kind: suspect, proc: d.Proc, incarnation: d.Incarnation, text: d.Cause.String()})
		return
	}
	r.hearsay = append(r.hearsay, d)
}

// Revoked implements process.Host: its programs don't handle failures.
func (r *rank) Revoked(uint64) {}

// RankLost implements process.Host.
func (r *rank) RankLost(q proto.Rank) {
	r.log("holds %v for lost", q)
	r.say(saying{kind: lostRank})
}

// Viewed implements process.Host.
func (r *rank) Viewed(v *membership.View, coordinator bool) { r.w.viewed(r, v) }

// Minority implements process.Host.
func (r *rank) Minority(gone []membership.Departure) {
	r.stop("%d are gone, some of them silent: a minority", len(gone))
}

// Apart implements process.Host.
func (r *rank) Apart(from proto.Proc) { r.stop("it and %v can't reach each other", from) }

// Fenced implements process.Host.
func (r *rank) Fenced(by proto.Proc) { r.stop("%v holds it for dead", by) }

// Aborted implements process.Host.
func (r *rank) Aborted(by proto.Proc, code int) { r.w.fail("%v: %v aborted", r, by) }

// HealFailed implements process.Host.
func (r *rank) HealFailed(err error) {
	r.say(saying{kind: failed, text: err.Error()})
	r.stop("%v", err)
}

// SafepointWanted implements process.Host.
func (r *rank) SafepointWanted(bool) {}

// Heals implements process.Host.
func (r *rank) Heals(step process.HealStep) {
	s := saying{}
	switch step {
	case process.StepHealable:
		s.kind = healable
	case process.StepMark:
		s.kind = mark
		s.proc, s.incarnation = r.p.Replacement()
	case process.StepCommitted:
		s.kind, r.committed = committed, true
	case process.StepHealed:
		s.kind = healed
	}
	r.log("%v", s.kind)
	r.say(s)
}
