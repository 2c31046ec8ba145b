package detector

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/testing/explore"
	"banyan/internal/testing/network"
	"banyan/internal/topology"
)

// timeless is a system without clocks: any possible event may come next. Messages may be
// arbitrarily slow, but those of one pair stay in order. Evidence comes, sooner or later, to
// the processes that the test names, and so does the silence of a dead emitter to its observer.
// A back-off ends at any time. A process dies between any two sends.
type timeless struct {
	machines []Machine
	dead     []bool
	deaths   int // still to come
	network  network.Network[parcel]
	sent     []int  // by process: messages so far
	heard    []int  // by process: the last of its messages that some process has received
	evident  []bool // by observer·n + dead: still to come
	holds    func(holder, dead int) bool
	canary   canary
}

// canary is a bug, built in by hand.
type canary uint8

const (
	// credulous believes every NEWOBSERVER (task T4 as printed).
	credulous canary = iota + 1
	// narrow takes from a broadcast only the death that its source observed (T5 as printed).
	narrow
)

type parcel struct {
	number int // of its sender
	action Action
}

// step is an event: process p does something that concerns q.
type step struct {
	what string
	p, q int
}

func (s step) String() string { return s.what + " " + strconv.Itoa(s.p) + " " + strconv.Itoa(s.q) }

func newTimeless(n, deaths int, witness bool, holds func(holder, dead int) bool) *timeless {
	w := &timeless{
		machines: make([]Machine, n), dead: make([]bool, n), deaths: deaths, network: network.New[parcel](n),
		sent: make([]int, n), heard: make([]int, n), evident: make([]bool, n*n), holds: holds,
	}
	view := &View{Ring: topology.IdentityRing(n)}
	for p := range w.machines {
		var out Actions // heartbeats
		w.machines[p].Start(Config{Self: proto.Proc(p), View: view, Period: eta, Timeout: delta, Witness: witness}, 0, &out)
	}
	return w
}

func (w *timeless) Clone() *timeless {
	c := *w
	c.machines = slices.Clone(w.machines)
	for i := range c.machines {
		m := &c.machines[i]
		m.shared, w.machines[i].shared = true, true
		m.tellers, m.held = slices.Clone(m.tellers), slices.Clone(m.held)
	}
	c.dead, c.sent, c.heard, c.evident = slices.Clone(w.dead), slices.Clone(w.sent), slices.Clone(w.heard), slices.Clone(w.evident)
	c.network = w.network.Clone()
	return &c
}

func (w *timeless) Events(dst []step) []step {
	n := len(w.machines)
	for p := range n {
		if w.dead[p] {
			continue
		}
		m := &w.machines[p]
		if len(m.held) > 0 || m.oweUntil != proto.Never {
			dst = append(dst, step{"tell", p, 0})
		}
		if e := m.emitter; e != proto.NoProc && w.dead[e] {
			dst = append(dst, step{"silence", p, int(e)})
		}
		for q := range n {
			if w.evident[p*n+q] && m.live(proto.Proc(q)) {
				dst = append(dst, step{"evidence", p, q})
			}
			if len(w.network.Queue(q, p)) > 0 {
				dst = append(dst, step{"deliver", p, q})
			}
		}
		if w.deaths > 0 {
			// It dies after some of the messages of its last call.
			for keep := w.heard[p]; keep <= w.sent[p]; keep++ {
				dst = append(dst, step{"die", p, keep})
			}
		}
	}
	return dst
}

func (w *timeless) Apply(s step) error {
	n := len(w.machines)
	m := &w.machines[s.p]
	var out Actions
	switch s.what {
	case "tell":
		m.broadcast(&out)
	case "silence", "evidence":
		w.evident[s.p*n+s.q] = false
		m.Evidence(0, proto.Proc(s.q), 0, &out)
	case "deliver":
		a := w.network.Receive(s.q, s.p)
		w.heard[s.q] = max(w.heard[s.q], a.number)
		switch from := proto.Proc(s.q); a.action.Kind {
		case SendObserve:
			if w.canary == credulous {
				m.observer = from
			}
			m.Observe(0, from, a.action.Beat, &out)
		case SendNews:
			if w.canary == narrow {
				w.listen(m, from, a.action.Bulletin, &out)
				break
			}
			m.News(0, from, a.action.Bulletin, &out)
		case SendEviction:
			m.Eviction(0, from, a.action.Incarnation, &out)
		}
	case "die":
		w.deaths--
		w.dead[s.p] = true
		w.network.Deafen(s.p)
		for q := range n {
			sent := func(a parcel) bool { return a.number > s.q }
			if lost := slices.IndexFunc(w.network.Queue(s.p, q), sent); lost >= 0 {
				w.network.Keep(s.p, q, lost)
			}
			w.evident[q*n+s.p] = q != s.p && !w.dead[q] && w.holds(q, s.p)
		}
	}
	for i := range out {
		switch a := &out[i]; a.Kind {
		case SendHeartbeat, SendReconcile: // there is no time
		case ReportDeath:
			if !w.dead[a.Report.Proc] {
				return fmt.Errorf("%d takes %v for dead", s.p, a.Report.Proc)
			}
		case ReportFenced:
			return fmt.Errorf("%d is fenced", s.p)
		default:
			w.sent[s.p]++
			if !w.dead[a.To] {
				w.network.Send(s.p, int(a.To), parcel{w.sent[s.p], *a})
			}
		}
	}
	if w.canary != 0 {
		return nil // it must be seen from outside
	}
	return m.invariants()
}

// listen is News of the narrow canary.
func (w *timeless) listen(m *Machine, from proto.Proc, b Bulletin, out *Actions) {
	var all Actions
	w.Clone().of(m.cfg.Self).News(0, from, b, &all)
	for _, a := range all {
		if a.Kind == SendNews && a.Bulletin.Source == b.Source {
			*out = append(*out, a)
		}
	}
	if e := (Entry{Proc: m.cfg.View.Ring.Prev(b.Source)}); slices.Contains(b.Gone, e) && m.learn(e, Report{}, out) {
		m.hasTold(b.Source, b.Gone)
		m.settle(0, out)
	}
}

func (w *timeless) of(p proto.Proc) *Machine { return &w.machines[p] }

// End: no process has anything more to send, so every process knows of every death.
func (w *timeless) End() error {
	n := len(w.machines)
	for p := range w.machines {
		m := &w.machines[p]
		if w.dead[p] {
			continue
		}
		next := (p + 1) % n
		for w.dead[next] {
			next = (next + 1) % n
		}
		if next == p {
			next = int(proto.NoProc)
		}
		if int(m.observer) != next {
			return fmt.Errorf("the observer of %d is %v, not %d", p, m.observer, next)
		}
		for q := range n {
			if w.dead[q] == m.live(proto.Proc(q)) {
				return fmt.Errorf("%d doesn't know of the death of %d", p, q)
			}
		}
	}
	return nil
}

func (w *timeless) AppendKey(dst []byte) []byte {
	for p := range w.machines {
		m := &w.machines[p]
		dst = append(dst, 'm', byte(p), byte(m.emitter), byte(m.observer), byte(len(m.gone)), byte(w.sent[p]-w.heard[p]), byte(boolean(m.oweUntil != proto.Never)))
		for i, e := range m.gone {
			dst = append(dst, byte(e.Proc), byte(m.tellers[i]))
		}
		for _, h := range m.held {
			dst = append(dst, 'h', byte(h.proc))
		}
	}
	n := len(w.machines)
	for i := range n * n {
		from := i / n
		for _, a := range w.network.Queue(from, i%n) {
			b := a.action.Bulletin
			dst = append(dst, 'l', byte(i), byte(w.sent[from]-a.number), byte(a.action.Kind), byte(b.Source), b.Cube, b.Tree)
			for _, e := range b.Gone {
				dst = append(dst, byte(e.Proc))
			}
		}
	}
	dst = append(dst, byte(w.deaths))
	for _, flags := range [][]bool{w.dead, w.evident} {
		for _, f := range flags {
			dst = append(dst, '0'+byte(boolean(f)))
		}
	}
	return dst
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

func nobody(int, int) bool    { return false }
func everybody(int, int) bool { return true }

// Every order of events for one or two deaths among few processes.
func TestEveryOrderOfFewDeaths(t *testing.T) {
	for _, c := range []struct {
		n, deaths int
		witness   bool
		holds     func(holder, dead int) bool
		states    int // at least
	}{
		{3, 1, false, everybody, 50}, {4, 1, false, nobody, 20}, {4, 1, false, everybody, 1000}, {5, 1, false, nobody, 2000},
		{6, 1, false, nobody, 2000}, {4, 2, false, nobody, 1000}, {4, 1, true, everybody, 1000}, {4, 2, true, nobody, 1000},
	} {
		stats, err := explore.All(newTimeless(c.n, c.deaths, c.witness, c.holds), 100_000)
		if err != nil {
			t.Fatalf("n = %d: %v", c.n, err)
		}
		if stats.States < c.states {
			t.Errorf("n = %d: only %+v", c.n, stats)
		}
	}
}

// A sample of the orders of events for as many deaths as theorem 1 allows.
func TestSomeOrdersOfMoreDeaths(t *testing.T) {
	runs := uint64(200)
	if testing.Short() {
		runs = 20
	}
	for _, n := range []int{8, 16} {
		f := topology.NewHypercubes(n).Trees() - 1
		for seed := range runs {
			holds := []func(int, int) bool{nobody, everybody, func(h, d int) bool { return (h*7+d)%5 == int(seed%5) }}[seed%3]
			if err := explore.Random(newTimeless(n, f, seed%2 == 1, holds), seed+1, 1_000_000); err != nil {
				t.Fatalf("n = %d: %v", n, err)
			}
		}
	}
}

// The explorer finds the bugs that it is meant to find; the narrow one in 31 % of the runs.
func TestCanaries(t *testing.T) {
	for bug, n := range map[canary]int{credulous: 8, narrow: 8} {
		caught := 0
		for seed := range uint64(1000) {
			w := newTimeless(n, topology.NewHypercubes(n).Trees()-1, false, func(h, d int) bool { return (h*7+d)%5 == int(seed%5) })
			w.canary = bug
			if explore.Random(w, seed+1, 1_000_000) != nil {
				caught++
			}
		}
		if caught == 0 {
			t.Errorf("canary %d isn't caught", bug)
		}
	}
}
