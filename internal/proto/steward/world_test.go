package steward

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"

	"banyan/internal/proto"
)

// world is a job whose hosts are simulated in real time, with a clock of its own each. It checks
// the promises of the package comment at every step.
type world struct {
	random  *rand.Rand
	now     proto.Time // real
	second  proto.Time
	nodes   []*node
	queue   events
	serial  int
	arrival map[[2]Host]proto.Time // of the last message of a link
	delay   [2]proto.Time          // of a message, from and to
	faults  []fault                // in force, or to come
	finish  proto.Time             // from here on each steward ends the job
	steps   int
	limit   int
	bug     bug
	err     error

	led       map[uint64]Host // the stewards that have acted, by term
	durable   *Ledger         // the last one that any steward found durable
	durableAt Version         // as this version
	spawned   int
	// times of interest: when a steward first acted in a term, and when a host's loss was durable.
	ledAt  map[uint64]proto.Time
	lostAt map[Host]proto.Time
	count  int // messages

	files bool
	disk  []*Entry // file 1 is the first
}

// setting is what a world is made of.
type setting struct {
	hosts     int
	witness   bool
	files     bool // the witness is files; its node is the file system's server
	console   bool // the last host is a console's
	end       bool // with the console
	procs     int
	voters    int
	slow      bool       // messages take up to 300 ms
	drift     proto.Time // clocks differ by so many millionths
	configure func(*Config)
	bug       bug
}

func newWorld(s setting, seed uint64) *world {
	const second = 1_000_000
	w := &world{
		random: rand.New(rand.NewPCG(seed, 1)), second: second, arrival: map[[2]Host]proto.Time{}, delay: [2]proto.Time{50, 2000},
		finish: 60 * second, limit: 10_000_000, bug: s.bug, led: map[uint64]Host{},
		ledAt: map[uint64]proto.Time{}, lostAt: map[Host]proto.Time{},
	}
	if s.slow {
		w.delay[1] = 300_000
	}
	var entries []HostEntry
	for h := range Host(s.hosts) {
		entries = append(entries, HostEntry{Host: h, Domain: int32(h), Console: s.console && int(h) == s.hosts-1})
	}
	var places []Place
	for p := range proto.Proc(s.procs) {
		n := s.hosts
		if s.console {
			n--
		}
		places = append(places, Place{Proc: p, Host: Host(int(p) % n), State: Running})
	}
	witness := NoHost
	if s.witness {
		witness = Host(s.hosts)
	}
	w.files = s.files
	first := NewLedger(entries, places, witness, s.end, max(s.voters, 0)+MaxVoters*b2i(s.voters == 0))
	w.durable, w.durableAt = first, Version{Term: 1}
	parties := s.hosts + b2i(s.witness)
	for h := range Host(parties) {
		n := &node{host: h, offset: proto.Time(w.random.Int64N(1000 * second)), wakesAt: proto.Never}
		if s.drift > 0 {
			n.rate = []proto.Time{-s.drift, 0, s.drift}[w.random.IntN(3)]
		}
		n.deadline = n.offset
		cfg := Defaults(second)
		cfg.Self, cfg.Domain, cfg.Voters = h, int32(h), s.voters
		if s.configure != nil {
			s.configure(&cfg)
		}
		if h == witness {
			n.witness = NewWitness(n.clock(0), h, first)
		} else {
			n.agent = New(n.clock(0), cfg, first)
			n.procs = slices.Clone(n.agent.own)
			if s.files {
				n.copy = NewFileWitness(n.clock(0), witness, uint64(h), first)
			}
		}
		w.nodes = append(w.nodes, n)
	}
	for _, n := range w.nodes {
		if n.agent != nil {
			w.call(n, n.agent.Open)
		}
	}
	return w
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (w *world) push(at proto.Time, e event) {
	w.serial++
	e.at, e.serial = at, w.serial
	heap.Push(&w.queue, e)
}

// strike adds a fault.
func (w *world) strike(f fault) {
	w.faults = append(w.faults, f)
	if f.kind == kill || f.kind == stop || f.kind == closed {
		w.push(f.at, event{to: w.nodes[f.host], fault: &f})
	}
}

// run plays until a time, or until a promise is broken.
func (w *world) run(until proto.Time) error {
	for len(w.queue) > 0 && w.err == nil {
		if w.queue[0].at > until {
			break
		}
		e := heap.Pop(&w.queue).(event)
		w.now = e.at
		if w.steps++; w.steps > w.limit {
			return errLimit
		}
		n := e.to
		switch {
		case e.fault != nil:
			w.hit(n, e.fault)
		case e.call != nil:
			w.fileCall(n, e.call)
		case n.dead:
		case w.now < n.stopped:
			if e.message != nil {
				n.held = append(n.held, e.message)
			} else {
				n.wakesAt = proto.Never
				w.wake(n, n.stopped)
			}
		case e.message != nil:
			w.deliver(n, e.message)
		default:
			n.wakesAt = proto.Never
			for _, m := range n.held {
				w.deliver(n, m)
			}
			n.held = nil
			if n.agent != nil {
				w.call(n, n.agent.Tick)
			}
		}
	}
	w.now = max(w.now, until)
	return w.err
}

func (w *world) hit(n *node, f *fault) {
	switch f.kind {
	case kill:
		n.dead = true
	case stop:
		n.stopped = max(n.stopped, f.until)
		w.wake(n, f.until)
	case closed:
		for _, x := range w.nodes {
			if x != n && !x.dead && x.agent != nil && w.now >= x.stopped {
				w.call(x, func(now proto.Time, out *[]Action) { x.agent.Closed(now, n.host, out) })
			}
		}
	}
}

func (w *world) deliver(n *node, m *Message) {
	if n.witness != nil {
		var out []Action
		n.witness.Receive(n.clock(w.now), m, &out)
		w.carry(n, out)
		return
	}
	before, spawned := n.agent.term, w.spawned
	x := w.bug.message(n, m)
	w.call(n, func(now proto.Time, out *[]Action) { n.agent.Receive(now, x, out) })
	if w.spawned > spawned && m.Term < before {
		w.fail("host %d obeys the steward of term %d, and has heard of term %d", n.host, m.Term, before)
	}
}

// call calls an agent's machine, and carries out its actions.
func (w *world) call(n *node, f func(now proto.Time, out *[]Action)) {
	var out []Action
	f(n.clock(w.now), &out)
	w.bug.after(w, n, &out)
	w.carry(n, out)
	w.observe(n)
	if w.now >= w.finish && n.agent.Leads() {
		out = nil
		n.agent.Finish(n.clock(w.now), 0, &out)
		w.carry(n, out)
	}
	w.wake(n, n.real(n.agent.Deadline()))
}

func (w *world) wake(n *node, at proto.Time) {
	if at = max(at, w.now+1); at < n.wakesAt && at < maxSpan {
		n.wakesAt = at
		w.push(at, event{to: n})
	}
}

func (w *world) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("at %d: %w", w.now, fmt.Errorf(format, args...))
	}
}

func (w *world) carry(n *node, out []Action) {
	for _, a := range out {
		switch a.Kind {
		case Send:
			w.count++
			if a.To == n.host {
				w.push(w.now, event{to: n, message: a.Message})
				continue
			}
			if w.files && int(a.To) == len(w.nodes)-1 {
				w.begin(n, n.copy.Ask(a.Message))
				continue
			}
			if w.lost(n.host, a.To) {
				continue
			}
			link := [2]Host{n.host, a.To}
			at := max(w.arrival[link], w.now+w.delay[0]+proto.Time(w.random.Int64N(int64(w.delay[1]-w.delay[0]+1))))
			w.arrival[link] = at
			w.push(at, event{to: w.nodes[a.To], message: a.Message})
		case Extend:
			n.deadline = a.Until
		case Kill:
			n.procs = nil
		case Spawn:
			w.spawn(n, a.Place)
		case Lead:
			if o := a.Ledger.Outcome.Reason; o != NotOver {
				w.fail("host %d goes on with a job that is over: %v", n.host, o)
			}
			if h, is := w.led[n.agent.steward.term]; is && h != n.host {
				w.fail("hosts %d and %d both act in term %d", h, n.host, n.agent.steward.term)
			}
			w.led[n.agent.steward.term], w.ledAt[n.agent.steward.term] = n.host, w.now
			w.restart(n)
		case HostLost:
			if _, is := w.lostAt[a.Host]; !is {
				w.lostAt[a.Host] = w.now
			}
			if x := w.nodes[a.Host]; x.agent.incarnation == a.Incarnation && len(x.procs) > 0 && x.acts(w.now) {
				w.fail("host %d.%d counts as lost, and its processes may act", a.Host, a.Incarnation)
			}
			w.restart(n)
		case HostUp:
			w.restart(n)
		}
	}
}

// restart has a steward start anew what was lost with its host.
func (w *world) restart(n *node) {
	l := n.agent.Ledger()
	if l == nil {
		return
	}
	for _, p := range l.Places {
		if p.State != Ended || p.How != LostWithHost {
			continue
		}
		for range 4 {
			x := l.Hosts[w.random.IntN(len(l.Hosts))]
			if x.Console || x.State != Up {
				continue
			}
			var out []Action
			n.agent.Start(n.clock(w.now), p.Proc, x.Host, &out)
			w.carry(n, out)
			break
		}
		if l = n.agent.Ledger(); l == nil {
			return
		}
	}
}

// spawn starts a process, which no other incarnation of it may outlive.
func (w *world) spawn(n *node, p Place) {
	w.spawned++
	for _, x := range w.nodes {
		for _, q := range x.procs {
			if q.Proc == p.Proc && x.acts(w.now) {
				w.fail("process %d.%d starts on host %d while its incarnation %d may act on host %d", p.Proc, p.Incarnation, n.host, q.Incarnation, x.host)
			}
		}
	}
	n.procs = append(n.procs, p)
}

// observe checks what a steward holds for durable: that nothing of it is ever lost, and that
// nobody obeys an earlier steward than before.
func (w *world) observe(n *node) {
	a := n.agent
	if a.term < n.lastTerm {
		w.fail("host %d goes back from term %d to term %d", n.host, n.lastTerm, a.term)
	}
	n.lastTerm = a.term
	if !a.Leads() {
		return
	}
	at := Version{a.steward.term, a.steward.durable}
	if at == w.durableAt {
		return
	}
	early, late := w.durable, a.steward.version(a.steward.durable)
	if w.durableAt.After(at) {
		early, late = late, early
	} else {
		w.durableAt = at
	}
	if what := missing(early, late); what != "" {
		w.fail("%s of ledger %v was durable and isn't in %v", what, early.ID, late.ID)
	}
	w.durable = late
}

// missing returns what an early ledger says and a late one has forgotten: nothing, if that is
// empty. Incarnations grow, and the states of each go one way.
func missing(early, late *Ledger) string {
	older := func(i, j proto.Incarnation, s, t int) bool { return i > j || i == j && s > t }
	for i, p := range early.Places {
		if q := late.Places[i]; older(p.Incarnation, q.Incarnation, int(p.State), int(q.State)) {
			return fmt.Sprintf("process %d.%d, state %d,", p.Proc, p.Incarnation, p.State)
		}
	}
	for _, x := range early.Hosts {
		if y := late.Entry(x.Host); y == nil || older(x.Incarnation, y.Incarnation, int(x.State), int(y.State)) {
			return fmt.Sprintf("host %d.%d, state %d,", x.Host, x.Incarnation, x.State)
		}
	}
	switch {
	case early.Electorate.Since.After(late.Electorate.Since):
		return "an electorate"
	case early.Outcome.Reason > late.Outcome.Reason:
		return "the outcome"
	}
	return ""
}
