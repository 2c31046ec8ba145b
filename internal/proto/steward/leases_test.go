package steward

import (
	"errors"
	"fmt"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/testing/explore"
)

// leases is a world in which the steward, host 0, may conclude that the last host is lost. Real
// time passes in ticks, and each clock has its rate. Agents may ask at any moment, and messages may
// come late or never: so every death, pause and cut at every moment is among what is tried.
type leases struct {
	leasesSetting
	agents  []*Agent
	witness *Witness
	disk    *disk // in place of a witness that hears messages
	links
	now      proto.Time // ticks
	deadline proto.Time // of the last host's processes, by its clock
	alive    bool       // they haven't been killed
	asks     [2]int     // that may still happen: of the steward, of the last host
}

type leasesSetting struct {
	hosts       int
	withWitness bool
	rates       []proto.Time // of each party: how far its clock runs in a tick
	mayAsk      [2]int
	until       proto.Time
	fresh       bool // the last host begins without a lease
	files       bool // the witness is files
	lies        int  // of the disk
	cut         bool // agents don't hear each other
	mistake     diskMistake
	bug         bug
}

// leaseStep is an event: a message of a link, a question of an agent, or time.
type leaseStep struct {
	asks        Host
	link, index int
	time        bool
	disk        diskStep // of the host that asks
}

func (s leaseStep) String() string {
	switch {
	case s.time:
		return "tick"
	case s.disk != dsNone:
		return fmt.Sprintf("%s:%d", diskSteps[s.disk], s.asks)
	case s.asks != NoHost:
		return fmt.Sprintf("ask:%d", s.asks)
	}
	return fmt.Sprintf("deliver:%d.%d", s.link, s.index)
}

const tick = 10 // how far a clock runs in a tick that runs at the right rate

func newLeases(s leasesSetting) *leases {
	var entries []HostEntry
	for h := range Host(s.hosts) {
		entries = append(entries, HostEntry{Host: h})
	}
	parties, witness := s.hosts, NoHost
	if s.withWitness {
		parties, witness = s.hosts+1, Host(s.hosts)
	}
	first := NewLedger(entries, []Place{{Host: Host(s.hosts - 1), State: Running}}, witness, false, MaxVoters)
	w := &leases{leasesSetting: s, links: newLinks(parties), alive: true, asks: s.mayAsk}
	for h := range Host(s.hosts) {
		cfg := Config{Self: h, Lease: 3 * tick, Renew: tick + 2, Patience: 1, GiveUp: 1000 * tick, Drift: 100_000}
		cfg.Margin = cfg.LeastMargin()
		if s.bug == noMargin {
			cfg.Drift, cfg.Margin = 0, 0
		}
		w.agents = append(w.agents, New(0, cfg, first))
	}
	switch {
	case s.files:
		w.disk = newDisk(s.hosts, witness, first, s.lies, s.mistake)
	case s.withWitness:
		w.witness = NewWitness(0, witness, first)
	}
	var out []Action
	// All have begun: the steward acts, and has the votes of all for that.
	w.agents[0].out = &out
	w.agents[0].takeOver(0, 1, first)
	for _, v := range first.Electorate.Voters {
		w.agents[0].steward.confirm(v.Host, 0)
	}
	w.agents[0].settle(0)
	for _, a := range w.agents[:s.hosts-1] {
		a.lease.held, a.lease.until, a.welcome = true, maxSpan, true // theirs don't matter
	}
	if last := w.agents[s.hosts-1]; !s.fresh {
		last.lease.held, last.lease.until, last.welcome = true, last.cfg.Lease, true
		if w.deadline = last.lease.until; s.bug == leaseForgotten {
			w.deadline = maxSpan
		}
	}
	return w
}

func (w *leases) clock(h Host) proto.Time { return w.now * w.rates[h] }

func (w *leases) last() Host { return Host(w.hosts - 1) }

// Events implements explore.World.
func (w *leases) Events(dst []leaseStep) []leaseStep {
	for link, q := range w.queues {
		for i := range q {
			dst = append(dst, leaseStep{asks: NoHost, link: link, index: i})
		}
	}
	for i, h := range []Host{0, w.last()} {
		if w.asks[i] > 0 {
			dst = append(dst, leaseStep{asks: h})
		}
	}
	if w.disk != nil {
		for h := range Host(w.hosts) {
			for _, s := range w.disk.steps(h) {
				dst = append(dst, leaseStep{asks: h, disk: s})
			}
		}
	}
	if w.now < w.until {
		dst = append(dst, leaseStep{asks: NoHost, time: true})
	}
	return dst
}

// Apply implements explore.World.
func (w *leases) Apply(s leaseStep) error {
	var out []Action
	switch {
	case s.time:
		w.now++
		return nil
	case s.disk == dsExecute:
		w.disk.execute(s.asks)
		return nil
	case s.disk != dsNone:
		for _, x := range w.disk.end(w.clock(s.asks), s.asks, s.disk) {
			w.agents[s.asks].Receive(w.clock(s.asks), x.Message, &out)
		}
		return w.carry(s.asks, out)
	case s.asks != NoHost:
		w.asks[b2i(s.asks != 0)]--
		a := w.agents[s.asks]
		a.at(w.clock(s.asks), &out)
		a.ask(w.clock(s.asks))
		a.tell()
		return w.carry(s.asks, out)
	}
	m := w.take(s.link, s.index)
	at := Host(s.link % w.parties)
	if w.witness != nil && at == w.witness.voter.self {
		w.witness.Receive(w.clock(at), m, &out)
	} else {
		w.agents[at].Receive(w.clock(at), m, &out)
	}
	return w.carry(at, out)
}

func (w *leases) carry(from Host, out []Action) error {
	for _, x := range out {
		switch x.Kind {
		case Send:
			if x.Message.Kind == Write || x.Message.Kind == Prepare {
				continue // what follows from a verdict isn't of interest here
			}
			if w.disk != nil && x.To == w.disk.host {
				w.disk.ask(from, x.Message)
				continue
			}
			if w.cut && x.To != from {
				continue
			}
			if x.To == w.last() || from == w.last() || x.To == 0 || from == 0 {
				w.put(from, x.To, x.Message)
			}
		case Extend:
			if from != w.last() {
				continue
			}
			switch w.deadline = x.Until; w.bug {
			case leaseForgotten:
				w.deadline = maxSpan
			case leaseFromAnswer:
				w.agents[from].lease.until = w.clock(from) + w.agents[from].cfg.Lease
				w.deadline = w.agents[from].lease.until
			}
		case Kill:
			if from == w.last() && w.bug != leaseForgotten {
				w.alive = false
			}
		}
	}
	if from != 0 {
		return nil
	}
	s := w.agents[0]
	if s.steward == nil {
		return nil
	}
	lost := s.steward.now().Entry(w.last()).State == Lost
	if w.bug == ownSilence && s.voter.age(w.clock(0), w.last()) >= s.cfg.Lease+s.cfg.Margin {
		lost = true
	}
	if lost && w.alive && w.clock(w.last()) < w.deadline {
		return fmt.Errorf("host %d counts as lost at %d, and its processes may act until %d", w.last(), w.clock(w.last()), w.deadline)
	}
	return nil
}

// End implements explore.World.
func (w *leases) End() error { return nil }

// Clone implements explore.World.
func (w *leases) Clone() *leases {
	c := *w
	c.links = w.links.clone()
	c.agents = nil
	for _, a := range w.agents {
		c.agents = append(c.agents, a.clone())
	}
	if w.witness != nil {
		c.witness = w.witness.clone()
	}
	if w.disk != nil {
		c.disk = w.disk.clone()
	}
	return &c
}

// AppendKey implements explore.World.
func (w *leases) AppendKey(dst []byte) []byte {
	dst = fmt.Append(dst, w.now, w.deadline, w.alive, w.asks)
	for _, a := range w.agents {
		dst = fmt.Append(dst, "\na", a.voter.granted, a.voter.doubted, a.voter.stewardHeard, a.hinted, a.incarnation, a.lease.held, a.lease.until, a.lease.number, a.welcome, a.steward != nil)
		for _, q := range a.lease.questions {
			dst = fmt.Append(dst, q.number, q.asked, q.about, q.answers)
		}
		if a.steward != nil {
			dst = fmt.Append(dst, a.steward.latest, a.steward.draft != nil)
		}
	}
	if w.witness != nil {
		dst = fmt.Append(dst, "\nw", w.witness.voter.granted, w.witness.voter.doubted, w.witness.voter.stewardHeard)
	}
	if w.disk != nil {
		dst = w.disk.appendKey(dst)
	}
	for i, q := range w.queues {
		for _, m := range q {
			dst = fmt.Append(dst, "\nm", i, m.Kind, m.Number, m.Incarnation, m.About, m.Ages, m.Withheld, m.StewardAge)
		}
	}
	return dst
}

// clocks are all ways in which the steward, another voter and the last host may have clocks that
// run at wrong rates.
func clocks(parties int) (all [][]proto.Time) {
	for bits := range 8 {
		var rates []proto.Time
		for p := range parties {
			role := 1
			switch p {
			case 0:
				role = 0
			case parties - 1:
				role = 2
			}
			rates = append(rates, []proto.Time{9, 11}[bits>>role&1])
		}
		all = append(all, rates)
	}
	return all
}

// leasesOf makes a setting; the last host isn't the last party if there is a witness.
func leasesOf(hosts int, witness bool, steward, last int, bits int) leasesSetting {
	s := leasesSetting{hosts: hosts, withWitness: witness, mayAsk: [2]int{steward, last}, until: 6}
	s.rates = clocks(hosts)[bits]
	if witness {
		s.rates = append(s.rates, []proto.Time{9, 11}[bits>>1&1])
	}
	return s
}

// TestLeases tries everything with two to four voters, and, thorough, all clocks.
func TestLeases(t *testing.T) {
	for _, tc := range []struct {
		hosts         int
		witness       bool
		steward, last int
		fresh         bool
		long          bool
	}{
		{2, false, 1, 1, false, false},
		{2, true, 1, 1, false, true},
		{2, false, 1, 2, true, true},
		{2, false, 2, 2, false, true},
		{2, true, 1, 2, true, true},
		{3, false, 1, 1, false, true},
		{3, false, 1, 2, true, true},
		{3, true, 1, 1, false, true},
		{4, false, 1, 1, false, true},
	} {
		t.Run(fmt.Sprintf("%+v", tc), func(t *testing.T) {
			if tc.long && !explore.Long() {
				t.Skip("long")
			}
			states := 0
			for bits := range 8 {
				if bits != 1 && !explore.Long() {
					continue // the steward's clock is fast and the last host's slow: the worst
				}
				s := leasesOf(tc.hosts, tc.witness, tc.steward, tc.last, bits)
				s.fresh = tc.fresh
				stats, err := explore.All(newLeases(s), 20_000_000)
				states += stats.States
				if errors.Is(err, explore.ErrLimit) {
					t.Logf("clocks %v: not all of them", s.rates)
				} else if err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("%d states", states)
		})
	}
}

// TestLeasesCanaries checks that the exploration finds each mistake.
func TestLeasesCanaries(t *testing.T) {
	for _, b := range []bug{leaseForgotten, leaseFromAnswer, noMargin, ownSilence} {
		t.Run(string(b), func(t *testing.T) {
			states := 0
			for bits := range 8 {
				s := leasesOf(2, b == ownSilence, 1, 1, bits)
				s.bug = b
				stats, err := explore.All(newLeases(s), 5_000_000)
				states += stats.States
				var v *explore.Violation
				if errors.As(err, &v) {
					t.Logf("clocks %v, %d states: %v", s.rates, states, err)
					return
				}
			}
			t.Fatalf("not caught in %d states", states)
		})
	}
}
