package membership

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/testing/network"
)

var (
	swarmSeed  = flag.Uint64("seed", 0, "play this run of TestSwarm or TestCuts only")
	swarmSeeds = flag.Uint64("seeds", 0, "so many runs of TestSwarm and TestCuts, in place of some hundreds")
)

// swarm is a group of any size in time. Each message takes its own time, but messages between
// two processes stay in order. Each process is told of a death at a time of its own. A process
// that crashes has made some of the sends of its last step. Every step checks the protocol's
// promises, by name.
type swarm struct {
	random  *rand.Rand
	script  string // the faults, for the report
	arity   int
	gather  proto.Time
	now     proto.Time
	queue   network.Schedule[func() error]
	nodes   []*node
	index   map[Member]int
	arrival map[[2]int]proto.Time // of the last message between two
	views   map[uint64]*View      // by number: the first view that some process installed
	once    map[sending]bool
	seen    map[string]int // the events that have occurred, so that the test isn't void

	// The cut: the processes of the first side, and its time. If it is one way, the others hear
	// the first side.
	side         []bool
	cutAt, until proto.Time
	oneWay, far  bool
	announces    bool // all are told of a process that joins before it does
	lies         bool // the detector suspects arbitrary processes: only safety is promised
	bug          bug
	claims       map[int]claim // what processes rely on, by the time of the world; nil: none asks for leases
	rates        []proto.Time  // of clocks, in percent
}

// bug is a known bug, for canaries.
type bug struct {
	quorum   func(*View, []Departure) bool
	presumes bool // a new coordinator proposes without collecting first
	ignores  bool // who is announced isn't asked
	slow     bool // clocks are slower than leases allow for
}

type node struct {
	Member
	machine *Machine
	state   state
	doomed  int // >0: it dies in its next step, after one send less than this
	first   uint64
	suspect bool // the detector wrongly suspects it
}

// sending is what is sent only once.
type sending struct {
	from, to int
	kind     Kind
	number   uint64
	ballot   Ballot
}

func (s *swarm) after(d proto.Time, do func() error) {
	s.queue.Add(s.now+d, do)
}

// within is a random moment within a duration.
func (s *swarm) within(d proto.Time) proto.Time { return proto.Time(s.random.Int64N(int64(d) + 1)) }

func newSwarm(seed uint64, n int, b bug) *swarm {
	random := rand.New(rand.NewPCG(seed, 1))
	s := &swarm{random: random, arity: 2 << random.IntN(4), index: map[Member]int{}, arrival: map[[2]int]proto.Time{},
		views: map[uint64]*View{}, once: map[sending]bool{}, seen: map[string]int{}, cutAt: proto.Never, bug: b}
	if random.IntN(2) == 0 {
		s.gather = 20
	}
	first := FirstView(n)
	s.views[1] = first
	for _, m := range first.Members {
		s.add(m).machine = New(s.config(m), first)
		s.nodes[len(s.nodes)-1].first = 1
	}
	if n <= 32 && seed%2 == 0 || b.slow {
		s.lease(n)
	}
	return s
}

func (s *swarm) config(m Member) Config {
	return Config{Self: m, Metadata: "joined", Arity: s.arity, Gather: s.gather, Patience: 3000, Retry: 400, quorum: s.bug.quorum, Lease: swarmLease, Promise: swarmPromise,
		bugs: bugs{ignoresAnnounced: s.bug.ignores}}
}

func (s *swarm) add(m Member) *node {
	s.index[m] = len(s.nodes)
	x := &node{Member: m, state: living}
	s.nodes = append(s.nodes, x)
	s.side = append(s.side, false)
	return x
}

// deaf says whether q hears nothing of p now.
func (s *swarm) deaf(p, q int) bool {
	return s.now >= s.cutAt && s.now < s.until && s.side[p] != s.side[q] && !(s.oneWay && s.side[p])
}

// step lets a process take a step and performs its actions.
func (s *swarm) step(p int, do func(*Machine, *Actions)) error {
	x := s.nodes[p]
	if x.state != living {
		return nil
	}
	var out Actions
	do(x.machine, &out)
	if s.bug.presumes {
		x.machine.lead.collected = true
	}
	sends := 0
	for _, a := range out {
		switch a.Kind {
		case Send:
			if sends++; x.doomed > 0 && sends >= x.doomed {
				return s.die(p, dead)
			}
			if err := s.send(p, a); err != nil {
				return err
			}
		case Install:
			if err := s.installed(p, a); err != nil {
				return err
			}
		case Excluded, Released, Halted, Refused:
			s.seen[[...]string{Excluded: "excluded", Released: "released", Halted: "halted", Refused: "refused"}[a.Kind]]++
			return s.die(p, stopped)
		}
	}
	if x.doomed > 0 && len(out) > 0 {
		return s.die(p, dead)
	}
	s.wake(p)
	return nil
}

// wake calls a machine at its deadline.
func (s *swarm) wake(p int) {
	if at := s.nodes[p].machine.Deadline(); at != proto.Never {
		s.after(max(at-s.now, 0), func() error {
			if s.nodes[p].state != living || s.nodes[p].machine.Deadline() > s.now {
				return nil
			}
			return s.step(p, func(m *Machine, out *Actions) { m.Tick(s.now, out) })
		})
	}
}

func (s *swarm) send(p int, a Action) error {
	q, known := s.index[a.To]
	x := a.Message
	switch {
	case !known || q == p || x.From != s.nodes[p].Member:
		return fmt.Errorf("delivery integrity: %v sends a %v of %v to %v", s.nodes[p].Member, x.Kind, x.From, a.To)
	case x.Kind <= Commit:
		if k := (sending{p, q, x.Kind, x.Number, x.Ballot}); s.once[k] {
			return fmt.Errorf("no duplication: %v sends %v a second %v for view %d, ballot %v", x.From, a.To, x.Kind, x.Number, x.Ballot)
		} else {
			s.once[k] = true
		}
	}
	s.seen[x.Kind.String()]++
	if x.Kind == Ack || x.Kind == Report {
		if v := s.nodes[p].machine.View(); v.Number+1 != x.Number || !v.same(s.views[v.Number]) && !s.divided() {
			return fmt.Errorf("same view: %v answers for view %d in view %d", x.From, x.Number, v.Number)
		}
	}
	if s.nodes[q].state != living || s.deaf(p, q) && s.until == proto.Never {
		return nil
	}
	delay := 5 + s.within(10)
	if s.random.IntN(50) == 0 {
		delay += s.within(300)
	}
	at := max(s.now+delay, s.arrival[[2]int{p, q}])
	if s.deaf(p, q) {
		at = max(at, s.until) // it is sent again when the network is whole again
	}
	s.arrival[[2]int{p, q}] = at
	s.after(at-s.now, func() error { return s.deliver(p, q, x) })
	return nil
}

func (s *swarm) deliver(p, q int, x *Message) error {
	to := s.nodes[q]
	if to.state != living || s.deaf(p, q) {
		return nil
	}
	if v := to.machine.View(); v != nil && v.Excludes(x.From) {
		s.seen["heard of the excluded"]++
		before := *to.machine
		before.skipped, before.cfg.quorum = nil, nil
		if err := s.step(q, func(m *Machine, out *Actions) {
			m.Receive(s.now, x, out)
			if len(*out) > 1 || len(*out) == 1 && (*out)[0].To != x.From {
				m.over = true
			}
		}); err != nil {
			return err
		}
		after := *to.machine
		after.skipped, after.cfg.quorum = nil, nil
		if to.state == living && !reflect.DeepEqual(before, after) {
			return fmt.Errorf("the excluded aren't heard: %v listens to a %v of %v", to.Member, x.Kind, x.From)
		}
		return nil
	}
	return s.step(q, func(m *Machine, out *Actions) { m.Receive(s.now, x, out) })
}

func (s *swarm) divided() bool { return s.cutAt != proto.Never || s.lies }

func (s *swarm) installed(p int, a Action) error {
	x, v := s.nodes[p], a.View
	if !v.Has(x.Member) {
		return fmt.Errorf("self inclusion: %v installs %s", x.Member, brief(v))
	}
	if x.first == 0 {
		x.first = v.Number
		s.seen["let in"]++
		if v.Position(x.Member) >= 0 && x.Incarnation > 0 {
			s.seen["let in again"]++
		}
	}
	if err := s.past(v.Number); err != nil {
		return err
	}
	switch first := s.views[v.Number]; {
	case first == nil:
		if err := s.decided(p, v); err != nil {
			return err
		}
		s.views[v.Number] = v
	case !first.same(v) || !slices.Equal(first.Joined, v.Joined) || !slices.Equal(first.Gone, v.Gone):
		if !s.divided() {
			return fmt.Errorf("total order: %v installs %s, somebody had %s", x.Member, brief(v), brief(first))
		}
		for _, y := range s.nodes {
			if y.state == living && y.machine.View() != nil && y.machine.View().Number == v.Number && !y.machine.View().same(v) {
				return fmt.Errorf("total order: %v installs %s, %v has %s", x.Member, brief(v), y.Member, brief(y.machine.View()))
			}
		}
		s.views[v.Number] = v // processes with other views of this number have surely ended
	}
	return nil
}

// decided checks that all live processes have accepted a view that comes into force.
func (s *swarm) decided(p int, v *View) error {
	base := s.views[v.Number-1]
	if base == nil {
		return fmt.Errorf("views without a hole: %v installs %s", s.nodes[p].Member, brief(v))
	}
	for _, m := range base.Members {
		y := s.nodes[s.index[m]]
		if y.state != living || y.suspect || s.divided() || m == s.nodes[p].Member {
			continue
		}
		if at := y.machine.View().Number; at < v.Number && !(y.machine.proposal.same(v)) {
			return fmt.Errorf("delivery integrity: %v installs %s, which %v hasn't accepted", s.nodes[p].Member, brief(v), m)
		}
	}
	return nil
}

func brief(v *View) string {
	if len(v.Members) <= 16 {
		return show(v)
	}
	return fmt.Sprintf("view %d of %d, joined %v, gone %v", v.Number, len(v.Members), v.Joined, v.Gone)
}

// die ends a process. All others are told, sooner or later.
func (s *swarm) die(p int, how state) error {
	x := s.nodes[p]
	if x.state != living {
		return nil
	}
	x.state = how
	why := Died
	if how == stopped && x.machine.leaving {
		why = Left
	}
	delay, spread := s.within(200), s.within(300)
	if how == stopped {
		delay += max(s.claims[p].until-s.now, 0) // its program relies on a lease: see groupnode
	} else {
		delete(s.claims, p)
	}
	for q := range s.nodes {
		s.tell(q, p, why, delay+s.within(spread))
	}
	return nil
}

// tell has q told of p after a delay. A suspected death becomes certain later.
func (s *swarm) tell(q, p int, why Why, delay proto.Time) {
	if p == q {
		return
	}
	to, m := s.nodes[q], s.nodes[p].Member
	say := func(why Why, delay proto.Time) {
		s.after(delay, func() error {
			if to.state != living {
				return nil
			}
			return s.step(q, func(x *Machine, out *Actions) { x.Departed(s.now, m, why, out) })
		})
	}
	if s.far && s.now >= s.cutAt && s.side[p] != s.side[q] {
		say(Silent, delay)
		return
	}
	if why == Died && s.random.IntN(4) == 0 {
		say(Silent, delay)
		delay += s.within(100)
	}
	say(why, delay)
}

// kill lets a process die: between two steps, or in the next one after some sends.
func (s *swarm) kill(at proto.Time, p int) {
	s.after(at-s.now, func() error {
		if s.nodes[p].state != living {
			return nil
		}
		c, _ := s.nodes[p].machine.Coordinator()
		if c == s.nodes[p].Member {
			s.seen["a coordinator dies"]++
			if len(s.nodes[p].machine.joins) > 0 {
				s.seen["a coordinator dies while admitting"]++
			}
			if s.nodes[p].machine.lead.busy {
				s.seen["a coordinator dies during a change"]++
			}
		}
		if s.nodes[p].machine.View() == nil {
			s.seen["a joiner dies"]++
		}
		if s.random.IntN(2) == 0 {
			return s.die(p, dead)
		}
		s.nodes[p].doomed = 1 + s.random.IntN(s.arity+1)
		s.after(60, func() error { return s.die(p, dead) })
		return nil
	})
}

// join lets a process ask for admission, under its name if that is free by then.
func (s *swarm) join(at proto.Time, m Member, contacts []Member) int {
	x := s.add(m)
	x.state = unborn
	p := s.index[m]
	s.after(at-s.now, func() error {
		for _, y := range s.nodes {
			if y.Proc == m.Proc && y.Incarnation < m.Incarnation && y.state != dead && y.state != stopped {
				s.seen["a name isn't free"]++
				return nil
			}
		}
		x.state = living
		for q, y := range s.nodes {
			if y.state == dead || y.state == stopped {
				s.tell(p, q, Died, s.within(300))
			}
		}
		return s.step(p, func(_ *Machine, out *Actions) {
			x.machine = NewJoiner(s.config(m), contacts, s.now, out)
			for _, y := range s.nodes {
				if s.announces && y != x && y.state == living {
					y.machine.Announce(m)
				}
			}
		})
	})
	return p
}

// run runs all events, and checks the end.
func (s *swarm) run() error {
	limit := 1_000_000 + 20_000*len(s.nodes)
	for steps := 0; s.queue.Time() != proto.Never; steps++ {
		if steps == limit {
			return fmt.Errorf("termination: no end after %d steps", steps)
		}
		s.now = s.queue.Time()
		if err := s.queue.Next()(); err != nil {
			return err
		}
	}
	if s.lies {
		return nil
	}
	var last *View
	incarnations := 0
	for _, x := range s.nodes {
		if x.state != living {
			continue
		}
		incarnations++
		v := x.machine.View()
		switch {
		case v == nil:
			return fmt.Errorf("termination: %v waits to be let in", x.Member)
		case last == nil:
			last = v
		case !v.same(last):
			return fmt.Errorf("termination: %v ends in %s, another in %s", x.Member, brief(v), brief(last))
		}
	}
	if last == nil {
		s.seen["nobody is left"]++
		return nil
	}
	for _, x := range s.nodes {
		if x.state == living && x.machine.own != last.MetadataOf(x.Member) && x.machine.own.Version > 0 {
			return fmt.Errorf("metadata: %v says %v of itself in the end, but the last view has %v", x.Member, x.machine.own, last.MetadataOf(x.Member))
		}
	}
	if len(last.Members) != incarnations {
		return fmt.Errorf("termination: %d live, the last view is %s", incarnations, brief(last))
	}
	for k := uint64(1); k <= last.Number && !s.divided(); k++ {
		for _, m := range s.views[k].Members {
			if x := s.nodes[s.index[m]]; x.state == living && k < x.first && x.first > last.Number {
				return fmt.Errorf("installed or superseded: %v never had %s", m, brief(s.views[k]))
			}
		}
	}
	return nil
}
