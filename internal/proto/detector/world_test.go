package detector

import (
	"container/heap"
	"fmt"
	"math/rand/v2"

	"banyan/internal/proto"
)

// The times of the simulated worlds: δ > 4η + 2τ.
const (
	eta    = 100 // η
	delta  = 500 // δ
	tau    = 20  // τ: the longest transit
	jitter = 10  // the latest that an idle process notices its deadline
)

// world is n processes that exchange frames with random delays, in order for
// each pair, and that crash, stall and leave as told.
type world struct {
	rng    *rand.Rand
	now    proto.Time
	events events
	order  int // of events at the same time
	procs  []*actor
	sent   [ReportDeath]int

	// holders decides who gets evidence of a death, and how late.
	holders     func(holder, dead proto.Proc) (delay proto.Time, ok bool)
	lastArrival []proto.Time // by from·n + to
	problem     string
}

// actor is one process of a world.
type actor struct {
	m       *Machine
	self    proto.Proc
	gone    bool // crashed or left
	fenced  bool // was told that it is dead
	stalled bool
	budget  int        // actions until it crashes; negative: it doesn't
	inbox   []func()   // frames that arrived in a stall
	tickAt  proto.Time // the tick that is scheduled
	reports map[proto.Proc]Report
	known   map[proto.Proc]proto.Time
	out     Actions
}

type event struct {
	at    proto.Time
	order int
	run   func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].order < e[j].order
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

func newWorld(n int, seed uint64) *world {
	w := &world{
		rng:         rand.New(rand.NewPCG(seed, 1)),
		lastArrival: make([]proto.Time, n*n),
	}
	for p := range n {
		w.procs = append(w.procs, &actor{
			self: proto.Proc(p), budget: -1, tickAt: proto.Never,
			reports: map[proto.Proc]Report{}, known: map[proto.Proc]proto.Time{},
		})
	}
	return w
}

// start lets every process begin at time 0.
func (w *world) start() {
	for _, a := range w.procs {
		a.m = New(Config{Self: a.self, N: len(w.procs), Period: eta, Timeout: delta}, 0, &a.out)
	}
	for _, a := range w.procs {
		w.perform(a)
	}
}

func (w *world) at(t proto.Time, run func()) {
	w.order++
	heap.Push(&w.events, event{t, w.order, run})
}

func (w *world) runUntil(end proto.Time) {
	for len(w.events) > 0 && w.events[0].at <= end {
		e := heap.Pop(&w.events).(event)
		w.now = e.at
		e.run()
	}
	w.now = end
}

func (w *world) fail(format string, args ...any) {
	if w.problem == "" {
		w.problem = fmt.Sprintf("at %d: ", w.now) + fmt.Sprintf(format, args...)
	}
}

// perform carries out what a machine has asked for, or a prefix of it.
func (w *world) perform(a *actor) {
	for _, act := range a.out {
		if a.gone {
			break
		}
		if a.budget == 0 {
			w.crash(a.self)
			break
		}
		a.budget--
		w.act(a, act)
	}
	a.out = a.out[:0]
	if a.gone {
		return
	}
	if d := a.m.Deadline(); d < a.tickAt {
		a.tickAt = d + proto.Time(w.rng.IntN(jitter))
		w.at(a.tickAt, func() {
			a.tickAt = proto.Never
			w.step(a, func() { a.m.Tick(w.now, &a.out) })
		})
	}
}

func (w *world) act(a *actor, act Action) {
	if act.Kind == ReportDeath {
		p := act.Report.Proc
		if _, ok := a.reports[p]; ok {
			w.fail("%v reported %v twice", a.self, p)
		}
		a.reports[p] = act.Report
		a.known[p] = w.now
		return
	}
	w.sent[act.Kind]++
	to, list := w.procs[act.To], append([]proto.Proc(nil), act.Dead...)
	w.deliver(a, to, func() {
		switch act.Kind {
		case SendHeartbeat:
			to.m.Heartbeat(w.now, a.self, &to.out)
		case SendObserve:
			to.m.Observe(w.now, a.self, &to.out)
		case SendDeaths:
			to.m.Deaths(w.now, a.self, list, &to.out)
		case SendObituary:
			to.gone, to.fenced = true, true
		}
	})
}

// deliver carries a frame, never past an earlier one of the same pair.
func (w *world) deliver(from, to *actor, receive func()) {
	link := int(from.self)*len(w.procs) + int(to.self)
	arrival := max(w.lastArrival[link], w.now+1+proto.Time(w.rng.IntN(tau)))
	w.lastArrival[link] = arrival
	w.at(arrival, func() { w.step(to, receive) })
}

// step lets a process handle something, or keeps it for the end of its stall.
func (w *world) step(a *actor, handle func()) {
	switch {
	case a.gone:
	case a.stalled:
		a.inbox = append(a.inbox, handle)
	default:
		handle()
		w.perform(a)
	}
}

// crash ends a process, and gives evidence to those who hold it.
func (w *world) crash(p proto.Proc) {
	w.procs[p].gone = true
	if w.holders == nil {
		return
	}
	for _, a := range w.procs {
		if delay, ok := w.holders(a.self, p); ok && a.self != p {
			w.at(w.now+delay, func() { w.step(a, func() { a.m.Evidence(w.now, p, &a.out) }) })
		}
	}
}

// leave lets a process say goodbye to all and go.
func (w *world) leave(p proto.Proc) {
	a := w.procs[p]
	if a.gone {
		return
	}
	for _, to := range w.procs {
		if to != a {
			w.deliver(a, to, func() { to.m.Left(w.now, p, &to.out) })
		}
	}
	a.gone = true
}

// stall stops a process's loop until a time. It then looks at the clock first
// or at its inbox first.
func (w *world) stall(p proto.Proc, until proto.Time) {
	a := w.procs[p]
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
		w.step(a, func() { a.m.Tick(w.now, &a.out) })
	})
}

// checkAccuracy fails unless all reports are of processes that crashed.
func (w *world) checkAccuracy(crashed func(proto.Proc) bool) {
	for _, a := range w.procs {
		for p, r := range a.reports {
			if !crashed(p) {
				w.fail("%v took %v for dead: %+v", a.self, p, r)
			}
		}
	}
}

// checkStable fails unless every process that lives knows every death and none
// else, since a time, and the ring is closed.
func (w *world) checkStable(crashed func(proto.Proc) bool, by proto.Time) {
	w.checkAccuracy(crashed)
	for _, a := range w.procs {
		if a.gone {
			continue
		}
		for _, b := range w.procs {
			if !crashed(b.self) {
				continue
			}
			if at, ok := a.known[b.self]; !ok || at > by {
				w.fail("%v knows of %v at %d (%t), later than %d", a.self, b.self, at, ok, by)
			}
		}
		next := w.procs[a.m.next(a.self)]
		for next.gone {
			next = w.procs[a.m.next(next.self)]
		}
		if next == a {
			next = &actor{self: proto.NoProc}
		}
		if a.m.observer != next.self {
			w.fail("%v has the observer %v, not %v", a.self, a.m.observer, next.self)
		}
		if next.m != nil && next.m.emitter != a.self {
			w.fail("%v has the emitter %v, not %v", next.self, next.m.emitter, a.self)
		}
	}
}
