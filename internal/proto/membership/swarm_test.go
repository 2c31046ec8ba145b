package membership

import (
	"container/heap"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"banyan/internal/proto"
)

var (
	swarmSeed  = flag.Uint64("seed", 0, "play this run of TestSwarm or TestCuts only")
	swarmSeeds = flag.Uint64("seeds", 0, "so many runs of TestSwarm and TestCuts, in place of some hundreds")
)

// swarm is a group of any size in time: messages take a while, each its own, in order
// between two; a death is told to each at a moment of his own; whoever crashes
// has made some of the sends of its last step. What the protocol promises is checked at
// every step, by name.
type swarm struct {
	random  *rand.Rand
	script  string // what happens, for the report
	arity   int
	gather  proto.Time
	now     proto.Time
	queue   happenings
	made    int // happenings ever
	nodes   []*node
	index   map[Member]int
	arrival map[[2]int]proto.Time // of the last message between two
	views   map[uint64]*View      // the first that somebody installed, by number
	once    map[sending]bool
	seen    map[string]int // what has occurred, so that the test isn't void

	// The cut: processes of the first side, and when it is. One way: the first side
	// is heard by the others.
	side         []bool
	cutAt, until proto.Time
	oneWay, far  bool
	lies         bool // the detector suspects anybody: only safety is promised
	bug          bug
}

// bug is a known one, for canaries.
type bug struct {
	quorum   func(*View, []Departure) bool
	presumes bool // a new coordinator proposes without collecting first
}

type node struct {
	Member
	machine *Machine
	state   state
	doomed  int // >0: it dies in its next step, after so many sends less one
	first   uint64
	suspect bool // the detector is wrong about it
}

// sending is what is sent only once.
type sending struct {
	from, to int
	kind     Kind
	number   uint64
	ballot   Ballot
}

type happening struct {
	at   proto.Time
	made int // breaks ties
	do   func() error
}

type happenings []happening

func (h happenings) Len() int { return len(h) }
func (h happenings) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].made < h[j].made
}
func (h happenings) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *happenings) Push(x any)   { *h = append(*h, x.(happening)) }
func (h *happenings) Pop() any {
	old := *h
	x := old[len(old)-1]
	old[len(old)-1] = happening{}
	*h = old[:len(old)-1]
	return x
}

func (s *swarm) after(d proto.Time, do func() error) {
	s.made++
	heap.Push(&s.queue, happening{s.now + d, s.made, do})
}

// within is a moment before another.
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
	return s
}

func (s *swarm) config(m Member) Config {
	return Config{Self: m, Arity: s.arity, Gather: s.gather, Patience: 3000, Retry: 400, quorum: s.bug.quorum}
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

// step lets a process take a step and carries out what it wants.
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
		at = max(at, s.until) // it is sent again when the network is whole
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
		s.views[v.Number] = v // of the others all have surely ended
	}
	return nil
}

// decided checks that a view that comes into force has been accepted by all who live.
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

// die ends a process. All are told, sooner or later.
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
	for q := range s.nodes {
		s.tell(q, p, why, delay+s.within(spread))
	}
	return nil
}

// tell has q told of p, by and by. What is feared at first is certain later.
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

// kill lets somebody die: between two steps, or in the next one after some sends.
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

// join lets somebody ask to be let in, under its name if that is free by then.
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
		return s.step(p, func(_ *Machine, out *Actions) { x.machine = NewJoiner(s.config(m), contacts, s.now, out) })
	})
	return p
}

// run lets all happen that is going to, and checks how it ends.
func (s *swarm) run() error {
	limit := 1_000_000 + 20_000*len(s.nodes)
	for steps := 0; len(s.queue) > 0; steps++ {
		if steps == limit {
			return fmt.Errorf("termination: no end after %d steps", steps)
		}
		x := heap.Pop(&s.queue).(happening)
		s.now = x.at
		if err := x.do(); err != nil {
			return err
		}
	}
	if s.lies {
		return nil
	}
	var last *View
	lives := 0
	for _, x := range s.nodes {
		if x.state != living {
			continue
		}
		lives++
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
	if len(last.Members) != lives {
		return fmt.Errorf("termination: %d live, the last view is %s", lives, brief(last))
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

// play makes up a run from a seed: a group of up to n and what befalls it.
func play(seed uint64, n int, b bug) (*swarm, error) {
	random := rand.New(rand.NewPCG(seed, 2))
	n -= random.IntN(n/2 + 1)
	s := newSwarm(seed, n, b)
	s.script = fmt.Sprintf("%d members, arity %d", n, s.arity)
	// One lives on, so that somebody can let others in.
	safe := random.IntN(n)
	kill := func(at proto.Time, p int) {
		if p != safe && p < n {
			s.kill(at, p)
		}
	}
	leave := func(at proto.Time, p int) {
		if p != safe {
			s.after(at, func() error { return s.leave(p) })
		}
	}
	contacts := func() []Member {
		list := []Member{s.nodes[safe].Member}
		for range 2 {
			list = append(list, s.nodes[random.IntN(n)].Member)
		}
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		return list
	}
	next, lives := n, map[int]uint32{}
	suspects := 0
	for range 1 + random.IntN(4) {
		at := proto.Time(random.IntN(1500))
		p := random.IntN(n)
		kind := random.IntN(11)
		s.script += fmt.Sprintf("; at %d: ", at)
		switch kind {
		case 0:
			s.script += fmt.Sprintf("%d dies", p)
			kill(at, p)
		case 1:
			k := 1 + random.IntN(min(n, 20))
			s.script += fmt.Sprintf("%d from %d on die", k, p)
			for i := range k {
				kill(at+proto.Time(random.IntN(100)), p+i)
			}
		case 2:
			s.script += "one of each level dies"
			for q := 1; q < n; q = s.arity*q + 1 {
				kill(at, q)
			}
		case 3:
			k := 1 + random.IntN(min(n, 6))
			s.script += fmt.Sprintf("%d coordinators in a row die", k)
			for i := range k {
				kill(at+proto.Time(i*random.IntN(400)), i)
			}
		case 4:
			s.script += fmt.Sprintf("%d leaves", p)
			leave(at, p)
		case 5:
			s.script += "the coordinator leaves"
			leave(at, 0)
		case 6, 7, 8:
			k := 1 + random.IntN(3)
			s.script += fmt.Sprintf("%d join", k)
			for range k {
				q := s.join(at, Member{Proc: proto.Proc(next)}, contacts())
				next++
				if kind == 7 {
					s.script += " and die"
					s.kill(at+proto.Time(random.IntN(150)), q)
				}
			}
			if kind == 8 {
				s.script += ", the coordinators die"
				kill(at+proto.Time(random.IntN(100)), 0)
				kill(at+proto.Time(random.IntN(300)), 1)
			}
		case 9:
			lives[p]++
			s.script += fmt.Sprintf("%d dies and comes back", p)
			if p != safe && lives[p] == 1 {
				kill(at, p)
				s.join(at+proto.Time(70+random.IntN(900)), Member{proto.Proc(p), 1}, contacts())
			}
		case 10:
			// Suspicions are few, so that there is a quorum even with all deaths feared.
			if p == safe || suspects > 0 || n < 8 {
				break
			}
			suspects++
			s.script += fmt.Sprintf("%d is held for dead", p)
			s.nodes[p].suspect = true
			s.after(at, func() error {
				for q := range s.nodes {
					if p != q {
						s.after(s.within(300), func() error {
							if s.nodes[q].machine == nil {
								return nil
							}
							return s.step(q, func(m *Machine, out *Actions) { m.Departed(s.now, s.nodes[p].Member, Silent, out) })
						})
					}
				}
				return nil
			})
		}
	}
	for q := n; q < len(s.nodes) && suspects > 0; q++ {
		// There may be no quorum in the end, and nobody to let it in.
		s.after(20_000, func() error {
			if m := s.nodes[q].machine; m == nil || m.View() != nil {
				return nil
			}
			return s.die(q, dead)
		})
	}
	return s, s.run()
}

func (s *swarm) leave(p int) error {
	return s.step(p, func(m *Machine, out *Actions) { m.Leave(s.now, out) })
}

// TestSwarm plays groups of up to 1,024 with faults of all kinds.
func TestSwarm(t *testing.T) {
	largest := 0
	seen := swarms(t, 1500, "TestSwarm", func(seed uint64) (*swarm, error) {
		n := 3 << (seed % 6)
		if seed%40 == 0 {
			n = 1024
		}
		s, err := play(seed, n, bug{})
		largest = max(largest, len(s.nodes))
		return s, err
	})
	t.Logf("the largest of %d", largest)
	for _, what := range []string{"a coordinator dies", "a coordinator dies while admitting", "a coordinator dies during a change", "a joiner dies",
		"let in", "let in again", "released", "excluded", "heard of the excluded", "collect", "report", "reject", "redirect", "obituary", "current"} {
		if seen[what] == 0 && !t.Failed() && *swarmSeed == 0 && !testing.Short() {
			t.Errorf("it never occurred: %s", what)
		}
	}
}

// swarms plays runs and gathers what has occurred in them.
func swarms(t *testing.T, seeds uint64, test string, play func(uint64) (*swarm, error)) map[string]int {
	first := uint64(1)
	switch {
	case *swarmSeed > 0:
		first, seeds = *swarmSeed, *swarmSeed
	case *swarmSeeds > 0:
		seeds = *swarmSeeds
	case testing.Short():
		seeds /= 8
	}
	all := map[string]int{}
	for seed := first; seed <= seeds; seed++ {
		s, err := play(seed)
		if err != nil {
			t.Fatalf("go test ./internal/proto/membership -run '%s$' -seed %d: %v (%s)", test, seed, err, s.script)
		}
		for what, n := range s.seen {
			all[what] += n
		}
	}
	t.Logf("%d runs: %v", seeds-first+1, all)
	return all
}

// playCut makes up a run in which the network is cut in two: with certain deaths on
// both sides, ties, before, during and after changes, for good or for a while, in both
// directions or in one. Or the detector suspects anybody at all.
func playCut(seed uint64, b bug) (*swarm, error) {
	random := rand.New(rand.NewPCG(seed, 3))
	n := 2 + random.IntN(15)
	s := newSwarm(seed, n, b)
	s.script = fmt.Sprintf("%d members, arity %d", n, s.arity)
	if seed%4 == 0 {
		s.lies, s.script = true, s.script+", the detector lies"
		for range 1 + random.IntN(3*n) {
			p, q, at := random.IntN(n), random.IntN(n), proto.Time(random.IntN(2500))
			if p != q {
				s.after(at, func() error {
					return s.step(p, func(m *Machine, out *Actions) { m.Departed(s.now, s.nodes[q].Member, Silent, out) })
				})
			}
		}
	} else {
		s.cut(random, n)
	}
	for range random.IntN(4) {
		p, at := random.IntN(n), proto.Time(random.IntN(2000))
		s.script += fmt.Sprintf("; at %d: %d ", at, p)
		if random.IntN(4) == 0 {
			s.script += "leaves"
			s.after(at, func() error { return s.leave(p) })
		} else {
			s.script += "dies"
			s.kill(at, p)
		}
	}
	if !s.lies && (s.far || random.IntN(3) == 0) {
		// Who joins during a cut: see Limits. Deaths beyond it are never certain here.
		s.far = true
		at := proto.Time(random.IntN(2000))
		s.script += fmt.Sprintf("; at %d: one joins", at)
		contact := random.IntN(n)
		q := s.join(at, Member{Proc: proto.Proc(n)}, []Member{s.nodes[contact].Member})
		s.side[q] = s.side[contact]
		s.kill(at+20_000, q) // it may ask the dead for ever
	}
	return s, s.run()
}

func (s *swarm) cut(random *rand.Rand, n int) {
	first := 0
	for p := range n {
		if random.IntN(2) == 0 || p == 0 && n > 1 && random.IntN(2) == 0 {
			s.side[p] = true
			first++
		}
	}
	s.cutAt, s.until = proto.Time(random.IntN(1500)), proto.Never
	if random.IntN(2) == 0 {
		s.until = s.cutAt + 600 + proto.Time(random.IntN(3000))
	}
	s.oneWay, s.far = random.IntN(3) == 0, random.IntN(2) == 0
	s.script += fmt.Sprintf("; at %d: cut %d from %d until %d, one way %v, deaths beyond uncertain %v", s.cutAt, first, n-first, s.until, s.oneWay, s.far)
	s.after(s.cutAt, func() error {
		delay := 300 + s.within(300)
		for p := range s.nodes {
			for q := range s.nodes {
				if s.deaf(q, p) {
					s.after(delay+s.within(300), func() error {
						if s.nodes[p].machine == nil || s.nodes[q].state == unborn {
							return nil
						}
						return s.step(p, func(m *Machine, out *Actions) { m.Departed(s.now, s.nodes[q].Member, Silent, out) })
					})
				}
			}
		}
		return nil
	})
}

// TestCuts: two sides never both go on, whatever breaks when, and whoever the detector
// suspects; and where it suspects only who is beyond the cut, all who go on end in one view.
func TestCuts(t *testing.T) {
	seen := swarms(t, 3000, "TestCuts", func(seed uint64) (*swarm, error) { return playCut(seed, bug{}) })
	for _, what := range []string{"halted", "excluded", "let in", "ask", "certain", "halt", "reject", "nobody is left"} {
		if seen[what] == 0 && !t.Failed() && *swarmSeed == 0 && !testing.Short() {
			t.Errorf("it never occurred: %s", what)
		}
	}
}

// TestSwarmCatches: known bugs are found, by the property that they break.
func TestSwarmCatches(t *testing.T) {
	caught := func(name, property string, play func(uint64) (*swarm, error)) {
		for seed := uint64(1); seed <= 20_000; seed++ {
			if s, err := play(seed); err != nil {
				if !strings.HasPrefix(err.Error(), property) {
					t.Errorf("%s: %v, want %s (%s)", name, err, property, s.script)
				}
				return
			}
		}
		t.Errorf("%s: never caught", name)
	}
	caught("who takes over doesn't ask", "total order", func(seed uint64) (*swarm, error) { return play(seed, 12, bug{presumes: true}) })
	all := func(*View, []Departure) bool { return true }
	caught("anybody may decide", "total order", func(seed uint64) (*swarm, error) { return playCut(seed, bug{quorum: all}) })
}
