package detector

import (
	"fmt"
	"math"
	"math/rand/v2"

	"banyan/internal/proto"
	"banyan/internal/testing/network"
	"banyan/internal/topology"
)

// The times of the simulated worlds.
const (
	tau    = 10        // τ: the longest transit
	eta    = 100 * tau // η
	delta  = 5 * eta   // δ > 4η + 2τ
	jitter = tau       // the latest that an idle process notices its deadline
)

// machine is what a world runs: the Machine, or the paper's algorithm as printed
// (literal_test.go).
type machine interface {
	Deadline() proto.Time
	Tick(now proto.Time, out *Actions)
	Heartbeat(now proto.Time, from proto.Proc, b Beat, out *Actions)
	Observe(now proto.Time, from proto.Proc, b Beat, out *Actions)
	News(now proto.Time, from proto.Proc, b Bulletin, out *Actions)
	Reconcile(now proto.Time, from proto.Proc, b Bulletin, ask bool, out *Actions)
	Eviction(now proto.Time, from proto.Proc, incarnation proto.Incarnation, out *Actions)
	Evidence(now proto.Time, p proto.Proc, incarnation proto.Incarnation, out *Actions)
	Left(now proto.Time, p proto.Proc, incarnation proto.Incarnation, out *Actions)
	Emitter() proto.Proc
	Observer() proto.Proc
}

// world is n processes in the one-port model (section 3.1.2): a process sends one message at a
// time and receives one at a time, each of which takes (0, τ]. A world crashes and stalls
// processes and lets them leave as told. It watches whether the configuration is stable
// (section 3.1.3), and how long it isn't.
type world struct {
	rng    *rand.Rand
	view   *View
	now    proto.Time
	events network.Schedule[func()]
	nodes  []*node
	sent   [actionKinds]int
	quiet  bool // all transits take τ, and no process is late
	// slow makes transits up to this long, any number at a time: channels that
	// aren't ordered, as in section 3.1.1.
	slow proto.Time

	// holders decides which processes get evidence of a death, and how late.
	holders func(holder, dead proto.Proc) (delay proto.Time, ok bool)
	// lost decides which messages are lost, though the model loses none.
	lost func(from proto.Proc, a *Action) bool
	// deaf says which processes don't hear goodbyes.
	deaf func(p proto.Proc) bool
	// onReport takes reports instead of the world's own count.
	onReport func(a *node, r Report)

	next, prev []proto.Proc // the nearest live processes
	dead       int
	unknown    int // pairs of a live process and a death that it doesn't know of
	wrong      int // processes whose emitter or observer is the wrong one

	since   proto.Time   // when the configuration became unstable; Never: it is stable
	struck  int          // deaths since then
	longest []proto.Time // the longest time to stability, by deaths
	problem string
}

// node is one process of a world.
type node struct {
	m       machine
	self    proto.Proc
	gone    bool // crashed or left
	died    bool
	left    bool
	fenced  bool // was told that it is dead
	stalled bool
	wrong   bool
	budget  int      // sends until it crashes; negative: it doesn't
	sends   int      // so far
	inbox   []func() // arrivals during a stall
	tickAt  proto.Time
	port    []*Action // actions that wait to be sent
	sending bool
	free    proto.Time // when the next receive may begin: there is one at a time
	reports map[proto.Proc]Report
	known   int // true deaths reported
	// goodbyes is how many shutdowns in good order were reported.
	goodbyes int
	out      Actions
}

func newWorld(n int, seed uint64) *world {
	return newWorldOn(topology.IdentityRing(n), seed, nil)
}

// newWorldOn makes a world of the processes of a ring. With a nil make1 they are Machines.
func newWorldOn(ring *topology.Ring, seed uint64, make1 func(cfg Config, out *Actions) machine) *world {
	n := ring.Len()
	w := &world{
		rng: rand.New(rand.NewPCG(seed, 1)), view: &View{Ring: ring}, since: proto.Never,
		next: make([]proto.Proc, n), prev: make([]proto.Proc, n), longest: make([]proto.Time, n+1),
	}
	if make1 == nil {
		make1 = func(cfg Config, out *Actions) machine { return New(cfg, 0, out) }
	}
	for p := range proto.Proc(n) {
		a := &node{self: p, budget: -1, tickAt: proto.Never, reports: map[proto.Proc]Report{}}
		w.next[p], w.prev[p] = ring.Next(p), ring.Prev(p)
		w.nodes = append(w.nodes, a)
		a.m = make1(Config{Self: p, View: w.view, Period: eta, Timeout: delta, Opinions: DefaultOpinions}, &a.out)
	}
	for _, a := range w.nodes {
		w.perform(a)
	}
	return w
}

func (w *world) at(t proto.Time, run func()) { w.events.Add(t, run) }

// runUntil lets time pass up to a point.
func (w *world) runUntil(end proto.Time) { w.runWhile(end, func() bool { return true }) }

// runWhile lets time pass while a condition holds, up to a point.
func (w *world) runWhile(end proto.Time, holds func() bool) {
	for w.events.Time() <= end && w.events.Time() != proto.Never && w.problem == "" {
		if !holds() {
			return
		}
		w.now = w.events.Time()
		w.events.Next()()
	}
	w.now = max(w.now, end)
}

func (w *world) fail(format string, args ...any) {
	if w.problem == "" {
		w.problem = fmt.Sprintf("at %d: ", w.now) + fmt.Sprintf(format, args...)
	}
}

// perform carries out what a machine has asked for.
func (w *world) perform(a *node) {
	for i := range a.out {
		act := &a.out[i]
		switch act.Kind {
		case ReportDeath:
			w.reported(a, act.Report)
		case ReportLeft:
			if !w.nodes[act.Report.Proc].left {
				w.fail("%v: %v hasn't left", a.self, act.Report.Proc)
			}
			a.goodbyes++
		case ReportFenced:
			a.fenced = true
			w.vanish(a)
		default:
			c := *act
			a.port = append(a.port, &c)
		}
	}
	a.out = a.out[:0]
	if m, ok := a.m.(*Machine); ok && !a.gone && len(w.nodes) <= 64 {
		if err := m.invariants(); err != nil {
			w.fail("%v: %v", a.self, err)
		}
	}
	w.send(a)
	w.schedule(a)
	w.check(a.self)
}

func (w *world) schedule(a *node) {
	if a.gone || a.stalled {
		return
	}
	late := proto.Time(0)
	if !w.quiet {
		late = proto.Time(w.rng.IntN(jitter))
	}
	if d := a.m.Deadline(); d < a.tickAt {
		at := max(d, w.now) + late
		a.tickAt = at
		w.at(at, func() {
			if a.tickAt != at {
				return // the machine has asked for an earlier call since
			}
			a.tickAt = proto.Never
			w.step(a, func() { a.m.Tick(w.now, &a.out) })
		})
	}
}

// send sends the next message of a process whose port is free.
func (w *world) send(a *node) {
	if a.gone || a.sending || a.stalled || len(a.port) == 0 {
		return
	}
	if a.budget == 0 {
		w.crash(a.self)
		return
	}
	a.budget--
	a.sends++
	act := a.port[0]
	a.port = a.port[1:]
	w.sent[act.Kind]++
	transit := proto.Time(tau)
	if !w.quiet {
		transit = 1 + proto.Time(w.rng.IntN(tau))
	}
	to := w.nodes[act.To]
	if w.slow > 0 {
		w.at(w.now+1+proto.Time(w.rng.Int64N(int64(w.slow))), func() { w.step(to, func() { w.receive(to, a.self, act) }) })
		w.send(a)
		return
	}
	a.sending = true
	w.at(w.now+transit, func() {
		a.sending = false
		w.send(a)
	})
	if w.lost != nil && w.lost(a.self, act) {
		return
	}
	to.free = max(to.free, w.now) + transit
	w.at(to.free, func() { w.step(to, func() { w.receive(to, a.self, act) }) })
}

func (w *world) receive(to *node, from proto.Proc, a *Action) {
	switch a.Kind {
	case SendHeartbeat:
		to.m.Heartbeat(w.now, from, a.Beat, &to.out)
	case SendObserve:
		to.m.Observe(w.now, from, a.Beat, &to.out)
	case SendNews:
		to.m.News(w.now, from, a.Bulletin, &to.out)
	case SendReconcile:
		to.m.Reconcile(w.now, from, a.Bulletin, a.Ask, &to.out)
	case SendProbe:
		if m, ok := to.m.(*Machine); ok {
			m.Probe(w.now, from, a.Beat, a.Probe, &to.out)
		}
	case SendEviction:
		to.m.Eviction(w.now, from, a.Incarnation, &to.out)
	}
}

// step lets a process handle something, or keeps it until its stall ends.
func (w *world) step(a *node, handle func()) {
	switch {
	case a.gone:
	case a.stalled:
		a.inbox = append(a.inbox, handle)
	default:
		handle()
		w.perform(a)
	}
}

func (w *world) reported(a *node, r Report) {
	if w.onReport != nil {
		w.onReport(a, r)
		return
	}
	if _, ok := a.reports[r.Proc]; ok {
		w.fail("%v reported %v twice", a.self, r.Proc)
	}
	a.reports[r.Proc] = r
	switch p := w.nodes[r.Proc]; {
	case p.died:
		a.known++
		w.unknown--
	case !p.stalled && !p.fenced:
		w.fail("%v took %v for dead: %+v", a.self, r.Proc, r)
	}
}

// crash ends a process, and gives evidence to the holders.
func (w *world) crash(p proto.Proc) {
	a := w.nodes[p]
	if a.gone {
		return
	}
	w.unknown -= w.dead - a.known
	w.dead++
	a.died = true
	for _, b := range w.nodes {
		if b.gone || b == a {
			continue
		}
		if _, ok := b.reports[p]; ok { // it was stopped, and is dead only now
			b.known++
		} else {
			w.unknown++
		}
	}
	if w.since == proto.Never {
		w.since, w.struck = w.now, 0
	}
	w.struck++
	w.vanish(a)
	for _, b := range w.nodes {
		if w.holders == nil || b == a {
			continue
		}
		if delay, ok := w.holders(b.self, p); ok {
			w.at(w.now+delay, func() { w.step(b, func() { b.m.Evidence(w.now, p, 0, &b.out) }) })
		}
	}
}

// vanish takes a process out of the ring of the live processes.
func (w *world) vanish(a *node) {
	if a.gone {
		return
	}
	a.gone = true
	a.port = nil
	if a.wrong {
		w.wrong--
	}
	next, prev := w.next[a.self], w.prev[a.self]
	w.next[prev], w.prev[next] = next, prev
	w.check(next)
	w.check(prev)
}

// check looks whether a process is connected, and whether the configuration is stable.
func (w *world) check(p proto.Proc) {
	a := w.nodes[p]
	if a.gone {
		return
	}
	next, prev := w.next[p], w.prev[p]
	if next == p {
		next, prev = proto.NoProc, proto.NoProc
	}
	if wrong := a.m.Observer() != next || a.m.Emitter() != prev; wrong != a.wrong {
		a.wrong = wrong
		if wrong {
			w.wrong++
		} else {
			w.wrong--
		}
	}
	if w.since != proto.Never && w.unknown == 0 && w.wrong == 0 {
		w.longest[w.struck] = max(w.longest[w.struck], w.now-w.since)
		w.since = proto.Never
	}
}

// checkStable fails unless the configuration is stable.
func (w *world) checkStable() {
	if w.unknown == 0 && w.wrong == 0 {
		return
	}
	for _, a := range w.nodes {
		if a.gone {
			continue
		}
		if a.known < w.dead {
			for _, b := range w.nodes {
				if _, ok := a.reports[b.self]; b.died && !ok {
					w.fail("%v never learns of the death of %v", a.self, b.self)
				}
			}
		}
		if a.wrong {
			w.fail("%v between %v and %v has the emitter %v and the observer %v",
				a.self, w.prev[a.self], w.next[a.self], a.m.Emitter(), a.m.Observer())
		}
	}
}

// bound is T(f), the paper's equation 1, for n processes. A suspicion may come later by the
// jitter, which the paper's model doesn't have; the bound must have room for that.
func bound(n, f int) proto.Time {
	broadcast := 8 * tau * math.Log2(float64(n))
	return proto.Time(f*(f+1)*delta + f*tau + int(float64(f*(f+1)/2)*broadcast))
}

// leave lets a process say goodbye to all processes and go.
func (w *world) leave(p proto.Proc) {
	a := w.nodes[p]
	if a.gone {
		return
	}
	a.left = true
	w.unknown -= w.dead - a.known
	for _, b := range w.nodes {
		if b != a && (w.deaf == nil || !w.deaf(b.self)) {
			w.at(w.now+1+proto.Time(w.rng.IntN(tau)), func() {
				w.step(b, func() { b.m.Left(w.now, p, 0, &b.out) })
			})
		}
	}
	pending := a.port // it says goodbye after the messages that it has yet to send
	w.vanish(a)
	for i, act := range pending {
		to := w.nodes[act.To]
		w.sent[act.Kind]++
		w.at(w.now+proto.Time(i+1)*tau, func() { w.step(to, func() { w.receive(to, p, act) }) })
	}
}

// stall stops a process's loop until a time. Then the process looks either first at the clock
// or first at its inbox.
func (w *world) stall(p proto.Proc, until proto.Time) {
	a := w.nodes[p]
	a.stalled = true
	w.at(until, func() {
		a.stalled = false
		missed := a.inbox
		a.inbox = nil
		if w.rng.IntN(2) == 0 {
			w.step(a, func() { a.m.Tick(w.now, &a.out) })
		}
		for _, handle := range missed {
			w.step(a, handle)
		}
		a.tickAt = proto.Never
		w.step(a, func() { a.m.Tick(w.now, &a.out) })
	})
}
