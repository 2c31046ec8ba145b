package hosts

import (
	"math/rand/v2"

	"banyan/internal/proto"
	"banyan/internal/proto/steward"
)

// Outcome is the result of a run. Times are from the fault, or from the start; those that don't
// apply, or weren't reached, are proto.Never.
type Outcome struct {
	Up        proto.Time // Start: when every agent held a lease
	Steward   proto.Time // when another agent was the acting steward
	Verdict   proto.Time // when it was in the ledger that all the dead are lost
	Told      proto.Time // when all live hosts had been told of that
	Restarted proto.Time // when all their processes ran elsewhere
	Over      proto.Time // when all live agents had ended, because the console was lost
	// Rate and MostRate are messages that a host sends in a second without faults: the mean of all
	// hosts, and the most of any one.
	Rate, MostRate float64
	Lost           int // hosts that died
	Wrong          int // verdicts on hosts that were alive
}

// warm is how many seconds the agents run before a fault. In the last of them their messages are
// counted.
const warm = 2

// simulation is a run under way.
type simulation struct {
	*Settings
	*network
	random *rand.Rand
	nodes  []node
	out    []steward.Action
	fault  proto.Time // when it happens
	first  steward.Host

	held, over int
	verdicts   int
	told       int // live hosts that know all verdicts
	restarted  int
	live       int
	Outcome
}

type node struct {
	agent   *steward.Agent
	offset  proto.Time // its clock, in real time: at·(1+rate/10^6) + offset
	rate    proto.Time
	wakesAt proto.Time
	heard   int // how many verdicts it has been told
	held    bool
	over    bool
}

// news is that so many more hosts are lost, on its way to a list of hosts.
type news struct {
	lost  int
	hosts []int32
}

func (n *node) clock(now proto.Time) proto.Time { return now + now/1_000_000*n.rate + n.offset }

// real is the time at which the clock shows at, or a little later.
func (n *node) real(at proto.Time) proto.Time {
	at -= n.offset
	return at - at/1_000_000*n.rate + at/1_000_000_000*n.rate*n.rate/1000 + 1000
}

// Run plays one run. The same settings and seed give the same outcome. It returns a *field.Error
// for settings that make no sense.
func Run(s Settings, seed uint64) (Outcome, error) {
	if err := s.Validate(); err != nil {
		return Outcome{}, err
	}
	r := newSimulation(&s, rand.New(rand.NewPCG(seed, 0)))
	until := 4*(s.Lease+s.Margin) + 60*Second
	if s.Fault == Start {
		r.start(0, 0, 1, int32(s.Hosts))
	} else {
		r.fault = warm * Second
		never := func() bool { return false }
		r.play(r.fault-Second, never)
		clear(r.sent)
		r.play(r.fault, never)
		r.rates()
		r.strike()
	}
	r.play(r.fault+until, r.done)
	return r.Outcome, nil
}

func newSimulation(s *Settings, random *rand.Rand) *simulation {
	parties := s.Hosts
	if s.Fault == Console {
		parties++
	}
	r := &simulation{Settings: s, network: newNetwork(s, parties), random: random, nodes: make([]node, parties), live: s.Hosts}
	r.Outcome = Outcome{Up: proto.Never, Steward: proto.Never, Verdict: proto.Never, Told: proto.Never, Restarted: proto.Never, Over: proto.Never}
	entries, places := make([]steward.HostEntry, parties), make([]steward.Place, s.Hosts)
	for h := range entries {
		entries[h] = steward.HostEntry{Host: steward.Host(h), Domain: int32(h / s.Rack), Console: h == s.Hosts}
	}
	for p := range places {
		places[p] = steward.Place{Proc: proto.Proc(p), Host: steward.Host(p), State: steward.Running}
	}
	first := steward.NewLedger(entries, places, steward.NoHost, !s.Continue, s.Voters)
	r.first = first.Electorate.Voters[0].Host
	for h := range r.nodes {
		n := &r.nodes[h]
		n.wakesAt = proto.Never
		n.offset = proto.Time(random.Int64N(int64(1000 * Second)))
		if s.Drift > 0 {
			n.rate = proto.Time(random.Int64N(2*s.Drift+1) - s.Drift)
		}
		n.agent = steward.New(n.clock(0), s.config(h), first)
		switch {
		case s.Fault != Start:
			r.add(proto.Time(random.Int64N(int64(s.Renew))), begins, int32(h), packet{})
		case h == 0:
			r.add(0, begins, 0, packet{})
		}
	}
	return r
}

// start has a host start the hosts from to to, each as the root of a part of the tree.
func (r *simulation) start(now proto.Time, _, from, to int32) {
	for i, part := range split(from, to, r.Fanout) {
		at := now + proto.Time(i+1)*r.Fork + r.Start
		r.add(at, begins, part[0], packet{from: part[0] + 1, to: part[1]})
	}
}

// split cuts a range into parts that differ by one at most.
func split(from, to int32, parts int) (list [][2]int32) {
	n := int(to - from)
	parts = min(parts, n)
	for i := range parts {
		list = append(list, [2]int32{from + int32(i*n/parts), from + int32((i+1)*n/parts)})
	}
	return list
}

// strike lets the fault happen.
func (r *simulation) strike() {
	kill := func(h int) {
		r.dead[h] = true
		r.Lost++
		if h < r.Hosts {
			r.live--
		}
	}
	switch r.Fault {
	case Host:
		kill(1 + r.random.IntN(r.Hosts-1))
	case Steward:
		kill(int(r.first))
	case Console:
		kill(r.Hosts)
	case Rack:
		rack := 1 + r.random.IntN((r.Hosts-1)/r.Rack)
		for h := rack * r.Rack; h < min(r.Hosts, (rack+1)*r.Rack); h++ {
			kill(h)
		}
	}
}

// rates notes how many messages were sent in the last second.
func (r *simulation) rates() {
	for _, sent := range r.sent[:r.Hosts] {
		r.Rate += float64(sent) / float64(r.Hosts)
		r.MostRate = max(r.MostRate, float64(sent))
	}
}

// done says whether all that is measured has happened.
func (r *simulation) done() bool {
	switch r.Fault {
	case Start:
		return r.Up != proto.Never
	case Console:
		return r.Told != proto.Never && (r.Continue || r.Over != proto.Never)
	case Steward:
		return r.Steward != proto.Never && r.Told != proto.Never && r.Restarted != proto.Never
	}
	return r.Told != proto.Never && r.Restarted != proto.Never
}

func (r *simulation) play(until proto.Time, done func() bool) {
	for !done() {
		e, ok := r.next(until)
		if !ok {
			return
		}
		n := &r.nodes[e.host]
		switch stage(e.order >> 56) {
		case begins:
			r.there[e.host] = true
			r.start(e.at, e.host, e.packet.from, e.packet.to)
			r.call(e.at, e.host, n.agent.Open)
		case wakes:
			if e.at >= n.wakesAt {
				n.wakesAt = proto.Never
				r.call(e.at, e.host, n.agent.Tick)
			}
		case received:
			if e.packet.news != nil {
				r.hear(e.at, e.host, e.packet)
				continue
			}
			n.agent.Receive(n.clock(e.at), e.packet.message, &r.out)
			r.carry(e.at, e.host)
		}
	}
}

func (r *simulation) call(now proto.Time, h int32, f func(now proto.Time, out *[]steward.Action)) {
	f(r.nodes[h].clock(now), &r.out)
	r.carry(now, h)
}

// carry carries out a machine's actions.
func (r *simulation) carry(now proto.Time, h int32) {
	n := &r.nodes[h]
	lost, leads := 0, false
	for _, a := range r.out {
		switch a.Kind {
		case steward.Send:
			r.send(now, h, int32(a.To), packet{message: a.Message})
		case steward.Extend:
			if !n.held {
				n.held = true
				if r.held++; r.held == len(r.nodes) && r.Fault == Start {
					r.Up = now - r.fault
				}
			}
		case steward.Lead:
			if leads = true; steward.Host(h) != r.first && r.Steward == proto.Never {
				r.Steward = now - r.fault
			}
		case steward.HostLost:
			if lost++; !r.dead[a.Host] {
				r.Wrong++
			}
		case steward.Spawn:
			if r.restarted++; r.restarted == r.Lost {
				r.Restarted = now - r.fault
			}
		case steward.Over:
			r.ended(now, h)
		}
	}
	clear(r.out)
	r.out = r.out[:0]
	if lost > 0 {
		if r.verdicts += lost; r.verdicts == r.Lost {
			r.Verdict = now - r.fault
		}
		r.tell(now, h)
	}
	if lost > 0 || leads && r.verdicts > 0 {
		r.restart(now, h)
	}
	if at := n.agent.Deadline(); at != proto.Never {
		if at = max(n.real(at), now+1000); at < n.wakesAt || n.wakesAt == proto.Never {
			n.wakesAt = at
			r.add(at, wakes, h, packet{})
		}
	}
}

func (r *simulation) ended(now proto.Time, h int32) {
	n := &r.nodes[h]
	if n.over {
		return
	}
	n.over = true
	if r.over++; r.over == r.live {
		r.Over = now - r.fault
	}
}

// restart has the steward start what was lost, each process on a host drawn at random.
func (r *simulation) restart(now proto.Time, h int32) {
	n := &r.nodes[h]
	for {
		l := n.agent.Ledger()
		if l == nil {
			break
		}
		started := false
		for p := range l.Places {
			if x := l.Places[p]; x.State == steward.Ended && x.How == steward.LostWithHost {
				for range 64 { // a host that is lost may be drawn
					to := steward.Host(r.random.IntN(r.Hosts))
					if n.agent.Start(n.clock(now), proto.Proc(p), to, &r.out) {
						started = true
						break
					}
				}
			}
		}
		if !started {
			break
		}
	}
	for _, a := range r.out {
		if a.Kind == steward.Send {
			r.send(now, h, int32(a.To), packet{message: a.Message})
		}
	}
	clear(r.out)
	r.out = r.out[:0]
}

// tell sends the news of all verdicts down a tree of the hosts that are up.
func (r *simulation) tell(now proto.Time, h int32) {
	x := &news{lost: r.verdicts}
	for i := range r.Hosts {
		if !r.dead[i] && int32(i) != h {
			x.hosts = append(x.hosts, int32(i))
		}
	}
	r.learn(now, h, x.lost)
	r.pass(now, h, packet{news: x, to: int32(len(x.hosts))})
}

// hear takes news, and passes it on.
func (r *simulation) hear(now proto.Time, h int32, p packet) {
	r.learn(now, h, p.news.lost)
	r.pass(now, h, p)
}

func (r *simulation) pass(now proto.Time, h int32, p packet) {
	for _, part := range split(p.from, p.to, r.Fanout) {
		r.send(now, h, p.news.hosts[part[0]], packet{news: p.news, from: part[0] + 1, to: part[1]})
	}
}

// learn notes that a host knows of so many verdicts.
func (r *simulation) learn(now proto.Time, h int32, lost int) {
	n := &r.nodes[h]
	if lost == r.Lost && n.heard < lost {
		if r.told++; r.told == r.live {
			r.Told = now - r.fault
		}
	}
	n.heard = max(n.heard, lost)
}
