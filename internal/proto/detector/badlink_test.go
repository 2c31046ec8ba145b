package detector

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/testing/explore"
	"banyan/internal/testing/network"
	"banyan/internal/topology"
)

// The times of a timed world, in its ticks: τ, η and δ.
const (
	tickTau   = 1
	tickEta   = 2
	tickDelta = 12 // > 4η + 2τ, and ≥ 8τ
)

// timed is a system with a clock, of which one link goes bad at any time, and good again at any
// time, or never. Each message takes 0 to τ, and those of one pair stay in order. One process may
// die at any time.
type timed struct {
	machines []Machine
	network  network.Network[flight]
	now, end proto.Time
	link     badLink
	phase    int // 0: the link is still good; 1: it is bad; 2: it is good again
	latest   proto.Time
	forGood  bool       // it stays bad
	victim   int        // dies, or -1
	dying    proto.Time // not before
	diedAt   proto.Time
	helped   proto.Time // in τ: how old the last sign of life may be
}

// badLink is one between two processes.
type badLink struct {
	a, b   int
	oneWay bool // only from a to b
	keeps  bool // it holds messages back rather than losing them, as TCP does
}

func (l badLink) leads(from, to int) bool {
	return from == l.a && to == l.b || !l.oneWay && from == l.b && to == l.a
}

// flight is a message that arrives at due at the latest.
type flight struct {
	due    proto.Time
	action Action
}

// newTimed has n processes that start at a time of their own each, and a link that goes bad by
// latest.
func newTimed(starts []proto.Time, opinions uint8, link badLink, victim int, latest, end proto.Time) *timed {
	n := len(starts)
	w := &timed{
		machines: make([]Machine, n), network: network.New[flight](n), end: end, link: link, latest: latest, victim: victim, diedAt: proto.Never, helped: 2,
	}
	view := &View{Ring: topology.IdentityRing(n)}
	for p, at := range starts {
		var out Actions
		w.machines[p].Start(Config{Self: proto.Proc(p), View: view, Period: tickEta, Timeout: tickDelta, Opinions: opinions}, at, &out)
		w.send(p, out)
		w.now = max(w.now, at)
	}
	return w
}

func (w *timed) Clone() *timed {
	c := *w
	c.machines = slices.Clone(w.machines)
	for i := range c.machines {
		m := &c.machines[i]
		m.shared, w.machines[i].shared = true, true
		m.tellers, m.held = slices.Clone(m.tellers), slices.Clone(m.held)
	}
	c.network = w.network.Clone()
	return &c
}

func (w *timed) dead(p int) bool { return p == w.victim && w.diedAt != proto.Never }

// stuck tells whether a message waits for the bad link to be good again.
func (w *timed) stuck(from, to int) bool { return w.phase == 1 && w.link.leads(from, to) }

func (w *timed) Events(dst []step) []step {
	if w.now >= w.end {
		return dst
	}
	idle := true
	for p := range w.machines {
		if w.dead(p) {
			continue
		}
		for q := range w.machines {
			queue := w.network.Queue(q, p)
			if len(queue) > 0 && !w.stuck(q, p) {
				dst = append(dst, step{"deliver", p, q})
				idle = idle && queue[0].due > w.now
			}
		}
		if w.machines[p].Deadline() <= w.now {
			dst = append(dst, step{"tick", p, 0})
			idle = false
		}
	}
	if w.phase == 0 && w.now <= w.latest {
		dst = append(dst, step{"break", w.link.a, w.link.b})
	}
	if w.phase == 1 && !w.forGood {
		dst = append(dst, step{"mend", w.link.a, w.link.b})
	}
	if w.victim >= 0 && w.diedAt == proto.Never && w.now >= w.dying {
		dst = append(dst, step{"die", w.victim, 0})
	}
	if idle {
		dst = append(dst, step{"pass", 0, 0})
	}
	return dst
}

func (w *timed) Apply(s step) error {
	m := &w.machines[s.p]
	var out Actions
	switch s.what {
	case "pass":
		w.now++
		return w.late()
	case "break":
		w.phase = 1
		if !w.link.keeps {
			for _, pair := range [...][2]int{{s.p, s.q}, {s.q, s.p}} {
				if w.link.leads(pair[0], pair[1]) {
					w.network.Keep(pair[0], pair[1], 0)
				}
			}
		}
	case "mend":
		w.phase = 2
		for p := range w.machines {
			for q := range w.machines {
				if w.link.leads(p, q) { // they arrive within τ from now
					queue := slices.Clone(w.network.Queue(p, q))
					w.network.Keep(p, q, 0)
					for _, f := range queue {
						w.network.Send(p, q, flight{w.now + tickTau, f.action})
					}
				}
			}
		}
	case "die":
		w.diedAt = w.now
		w.network.Deafen(s.p)
	case "tick":
		m.Tick(w.now, &out)
	case "deliver":
		a := w.network.Receive(s.q, s.p).action
		switch from := proto.Proc(s.q); a.Kind {
		case SendHeartbeat:
			m.Heartbeat(w.now, from, a.Beat, &out)
		case SendObserve:
			m.Observe(w.now, from, a.Beat, &out)
		case SendNews:
			m.News(w.now, from, a.Bulletin, &out)
		case SendReconcile:
			m.Reconcile(w.now, from, a.Bulletin, a.Ask, &out)
		case SendProbe:
			m.Probe(w.now, from, a.Beat, a.Probe, &out)
		case SendEviction:
			m.Eviction(w.now, from, a.Incarnation, &out)
		}
	}
	for _, a := range out {
		switch {
		case a.Kind == ReportDeath && !w.dead(int(a.Report.Proc)):
			return fmt.Errorf("%d takes the live %v for dead: %v", s.p, a.Report.Proc, a.Report.Cause)
		case a.Kind == ReportFenced:
			return fmt.Errorf("%d is fenced", s.p)
		}
	}
	w.send(s.p, out)
	return m.invariants()
}

func (w *timed) send(from int, out Actions) {
	for _, a := range out {
		if a.Kind >= ReportDeath || w.dead(int(a.To)) || w.stuck(from, int(a.To)) && !w.link.keeps {
			continue
		}
		w.network.Send(from, int(a.To), flight{w.now + tickTau, a})
	}
}

// late is an error if the observer of the victim doesn't know of its death in time. The victim's
// last sign of life may have come by a helper, 2τ after its death.
func (w *timed) late() error {
	if w.diedAt == proto.Never {
		return nil
	}
	for p := range w.machines {
		m, bound := &w.machines[p], w.helped*tickTau+proto.Time(tickDelta)
		if m.unheard {
			bound += tickDelta
		}
		if int(m.emitter) == w.victim && p != w.victim && w.now > w.diedAt+bound {
			return fmt.Errorf("%d still observes %d, %d after its death", p, w.victim, w.now-w.diedAt)
		}
	}
	return nil
}

// End: the time is over.
func (w *timed) End() error { return nil }

func (w *timed) AppendKey(dst []byte) []byte {
	at := func(t proto.Time) byte { return byte(min(t-w.now, 250)) }
	dst = append(dst, byte(w.now), byte(w.phase), byte(min(w.diedAt, 255)))
	for p := range w.machines {
		m := &w.machines[p]
		dst = append(dst, 'm', byte(m.emitter), byte(m.observer), byte(m.helper), at(m.suspectAt), at(m.askAt), at(m.doubted),
			at(m.beatAt), at(m.oweUntil), byte(boolean(m.unheard)), byte(m.doubt), byte(len(m.gone)))
		for i, e := range m.gone {
			dst = append(dst, byte(e.Proc), byte(m.tellers[i]))
		}
		for _, h := range m.held {
			dst = append(dst, 'h', byte(h.proc), at(h.tellAt))
		}
	}
	n := len(w.machines)
	for i := range n * n {
		for _, f := range w.network.Queue(i/n, i%n) {
			a := &f.action
			dst = append(dst, 'l', byte(i), at(f.due), byte(a.Kind), byte(a.Beat.Digest.Count), byte(a.Probe.Stage), byte(a.Probe.Observer),
				byte(a.Probe.Suspect), byte(boolean(a.Ask)), byte(a.Bulletin.Source), a.Bulletin.Cube, a.Bulletin.Tree, byte(len(a.Bulletin.Gone)))
		}
	}
	return dst
}

// badLinks are the ways in which a link can be bad between two processes.
func badLinks(a, b int) (list []badLink) {
	for _, keeps := range []bool{false, true} {
		list = append(list, badLink{a, b, false, keeps}, badLink{a, b, true, keeps}, badLink{b, a, true, keeps})
	}
	return list
}

// exploreLinks visits all states of worlds with a bad link between two processes.
func exploreLinks(t *testing.T, starts []proto.Time, a, b, victim int, end proto.Time) {
	t.Helper()
	states := 0
	for _, link := range badLinks(a, b) {
		stats, err := explore.All(newTimed(starts, 2, link, victim, tickEta, end), 30_000_000)
		if err != nil {
			t.Fatalf("%v, %+v: %v", starts, link, err)
		}
		states += stats.States
	}
	t.Logf("starts %v, link %d-%d, victim %d: %d states", starts, a, b, victim, states)
}

// One bad link kills nobody, whenever it goes bad and good again, and whatever the order of
// events. All links of three processes are alike, since a ring has no beginning.
func TestBadLinkKillsNobody(t *testing.T) {
	if !explore.Long() {
		exploreLinks(t, []proto.Time{0, 0, 0}, 0, 1, -1, tickDelta+2*tickEta)
		return
	}
	for _, starts := range [][]proto.Time{{0, 0, 0}, {0, 1, 0}, {1, 0, 0}, {0, 0, 1}} {
		exploreLinks(t, starts, 0, 1, -1, 3*tickDelta)
	}
	exploreFour(t)
}

// exploreFour visits all states of four processes with a link that goes bad at the start, between
// neighbours or not, and stays bad.
func exploreFour(t *testing.T) {
	t.Helper()
	for _, b := range []int{1, 2} {
		for _, link := range badLinks(0, b)[:3] {
			w := newTimed([]proto.Time{0, 0, 0, 0}, 2, link, -1, 0, tickDelta+tickEta)
			w.forGood = true
			stats, err := explore.All(w, 30_000_000)
			if err != nil {
				t.Fatalf("%+v: %v", link, err)
			}
			t.Logf("%+v: %d states", link, stats.States)
		}
	}
}

// A process at an end of a bad link that dies is found in time all the same: δ + 2τ after its
// death, since its last sign of life may have come by a helper. Without a bad link it is δ + τ.
func TestDeathBesideABadLink(t *testing.T) {
	starts, end := []proto.Time{0, 0, 0}, proto.Time(3*tickDelta)
	if explore.Long() {
		exploreLinks(t, starts, 0, 1, 0, end)
		exploreLinks(t, starts, 0, 1, 1, end)
	}
	over := 0
	for seed := range uint64(1500) {
		link := badLinks(0, 1)[seed%6]
		w := newTimed(starts, 2, link, int(seed%2), tickEta, end)
		w.dying = proto.Time(seed % uint64(end))
		if err := explore.Random(w.Clone(), seed+1, 100_000); err != nil {
			t.Fatalf("%+v: %v", link, err)
		}
		w.helped = 1
		if explore.Random(w, seed+1, 100_000) != nil {
			over++
		}
	}
	if over == 0 {
		t.Error("no death takes longer than δ + τ: the bound could be stricter, or nothing was tried")
	}
}

// Without a second opinion somebody is killed.
func TestBadLinkCanary(t *testing.T) {
	for _, link := range badLinks(0, 1) {
		var violation *explore.Violation
		_, err := explore.All(newTimed([]proto.Time{0, 0, 0}, 0, link, -1, tickEta, 2*tickDelta), 5_000_000)
		if !errors.As(err, &violation) && link != (badLink{1, 0, true, link.keeps}) { // 1 sends nothing to 0 but probes
			t.Errorf("%+v: nobody is killed without a second opinion: %v", link, err)
		}
	}
}
