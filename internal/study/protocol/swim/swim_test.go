package swim

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/proto"
	"banyan/internal/study/driver/oneport"
)

// Times of the tests: messages take up to 1.
const (
	tau    = 1000
	period = 100 * tau
)

// packet is a message for the driver.
type packet struct{ Message }

func (p packet) Kind() uint8 { return uint8(p.Message.Kind) }

// world runs members under the one-port model.
type world struct {
	machines []*Machine
	out      Actions
	cut      func(from, to proto.Proc) bool // the pairs whose messages are lost
	reports  []report
}

type report struct {
	at   proto.Time
	by   proto.Proc
	what Rumour
}

func newWorld(t testing.TB, cfg Config, net oneport.Config) (*world, *oneport.Network[packet]) {
	t.Helper()
	w := &world{}
	for p := range cfg.N {
		c := cfg
		c.Self = proto.Proc(p)
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		w.machines = append(w.machines, New(c, 0))
	}
	net.Nodes, net.Tau = cfg.N, tau
	n, err := oneport.New[packet](net, w)
	if err != nil {
		t.Fatal(err)
	}
	return w, n
}

func (w *world) Receive(now proto.Time, node, from int32, p *packet, out *[]oneport.Send[packet]) {
	if w.cut != nil && w.cut(proto.Proc(from), proto.Proc(node)) {
		return
	}
	w.machines[node].Receive(now, proto.Proc(from), &p.Message, &w.out)
	w.carryOut(now, node, out)
}

func (w *world) Tick(now proto.Time, node int32, out *[]oneport.Send[packet]) {
	w.machines[node].Tick(now, &w.out)
	w.carryOut(now, node, out)
}

func (w *world) Deadline(node int32) proto.Time { return w.machines[node].Deadline() }

func (w *world) Crashed(proto.Time, int32) {}

func (w *world) carryOut(now proto.Time, node int32, out *[]oneport.Send[packet]) {
	for i := range w.out {
		switch a := &w.out[i]; a.Kind {
		case SendMessage:
			*out = append(*out, oneport.Send[packet]{To: int32(a.To), Message: packet{a.Message}})
		case Report:
			w.reports = append(w.reports, report{now, proto.Proc(node), a.Changed})
		}
	}
	w.out = w.out[:0]
}

// count is the number of reports of a state.
func (w *world) count(s State) int {
	n := 0
	for _, r := range w.reports {
		if r.what.State == s {
			n++
		}
	}
	return n
}

func config(n int) Config {
	return Config{
		N: n, Period: period, ProbeTimeout: period / 4, Indirect: 3,
		Suspicion: 8 * period, Transmit: DefaultTransmit(n), Seed: 1,
	}
}

// Without loss and load no member is ever suspected, and only one ping and one acknowledgement
// are sent for each member and period.
func TestQuiet(t *testing.T) {
	for _, roundRobin := range []bool{false, true} {
		cfg := config(32)
		cfg.RoundRobin = roundRobin
		w, n := newWorld(t, cfg, oneport.Config{Seed: 2})
		const periods = 200
		n.Run(periods*period + period/2)
		if len(w.reports) > 0 {
			t.Errorf("round robin %v: %v", roundRobin, w.reports[0])
		}
		// The first period begins within one, the last may have begun or not.
		if pings := n.Sent[Ping]; pings < 32*periods || pings > 32*(periods+1) || n.Sent[Ack] != pings || n.Sent[Ask] != 0 {
			t.Errorf("round robin %v: sent %v in %d periods of 32 members", roundRobin, n.Sent, periods)
		}
	}
}

// Every member learns of a death, and of no other.
func TestDetects(t *testing.T) {
	for _, suspicion := range []proto.Time{0, 8 * period} {
		cfg := config(32)
		cfg.Suspicion = suspicion
		w, n := newWorld(t, cfg, oneport.Config{Seed: 3})
		n.Crash(5, 10*period)
		n.Run(60 * period)
		if got := w.count(Dead); got != 31 {
			t.Errorf("suspicion %d: %d members know, want 31", suspicion, got)
		}
		for _, r := range w.reports {
			if r.what.Proc != 5 || r.at < 10*period {
				t.Errorf("suspicion %d: %v", suspicion, r)
			}
			if r.what.State == Dead && r.at < 10*period+suspicion {
				t.Errorf("declared dead at %d, sooner than the suspicion's %d", r.at, suspicion)
			}
		}
	}
}

// With a round robin, the first probe of a dead member comes within 2N periods,
// for every schedule.
func TestRoundRobinIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := config(rapid.IntRange(2, 12).Draw(t, "n"))
		cfg.RoundRobin = true
		cfg.Seed = rapid.Uint64().Draw(t, "seed")
		m := New(cfg, 0)
		var out Actions
		last := make([]int, cfg.N)
		for k := range 10 * cfg.N {
			now := m.periodAt
			m.Tick(now, &out)
			target := m.target
			m.Receive(now, target, &Message{Kind: Ack, Origin: 0, Target: target, Probe: m.probe}, &out)
			last[target] = k
			for p := 1; p < cfg.N; p++ {
				if k-last[p] >= 2*cfg.N {
					t.Fatalf("member %d not probed for %d periods", p, k-last[p])
				}
			}
		}
	})
}

// A member that is stopped for less than the suspicion's time-out is suspected, refutes,
// and is never declared dead.
func TestRefutes(t *testing.T) {
	cfg := config(32)
	cfg.Suspicion = 12 * period
	w, n := newWorld(t, cfg, oneport.Config{Seed: 4})
	n.Stop(7, 10*period, 14*period)
	n.Run(100 * period)
	if w.count(Suspect) == 0 || w.count(Dead) != 0 {
		t.Errorf("%d suspected, %d declared dead", w.count(Suspect), w.count(Dead))
	}
	if w.machines[7].Incarnation() == 0 {
		t.Error("no new incarnation")
	}
	for _, m := range w.machines {
		if m.State(7) != Alive {
			t.Errorf("member %d still thinks it %v", m.cfg.Self, m.State(7))
		}
	}
}

// A member stopped for longer is declared dead, and all members take that back when it goes on.
func TestComesBack(t *testing.T) {
	w, n := newWorld(t, config(32), oneport.Config{Seed: 5})
	n.Stop(7, 10*period, 60*period)
	n.Run(59 * period)
	if got := w.count(Dead); got != 31 {
		t.Fatalf("%d declared it dead, want 31", got)
	}
	n.Run(200 * period)
	for _, m := range w.machines {
		for p := range m.members {
			if m.State(proto.Proc(p)) != Alive {
				t.Errorf("member %d still thinks %d %v", m.cfg.Self, p, m.State(proto.Proc(p)))
			}
		}
	}
}

// One broken pair of members: mediators go round it, and without them each suspects the
// other.
func TestBrokenLink(t *testing.T) {
	for _, k := range []int{0, 3} {
		cfg := config(16)
		cfg.Indirect = k
		w, n := newWorld(t, cfg, oneport.Config{Seed: 6})
		w.cut = func(from, to proto.Proc) bool { return from+to == 3 && (from == 1 || from == 2) }
		n.Run(400 * period)
		if suspected := w.count(Suspect) > 0; suspected != (k == 0) {
			t.Errorf("%d mediators: %d suspicions", k, w.count(Suspect))
		}
		if k > 0 && n.Sent[Ask] == 0 {
			t.Error("nobody was asked: the test tests nothing")
		}
	}
}

// Loss causes suspicions; time to refute keeps them from becoming deaths.
func TestLoss(t *testing.T) {
	cfg := config(32)
	cfg.Suspicion = 20 * period
	w, n := newWorld(t, cfg, oneport.Config{Seed: 7, Loss: 0.1})
	n.Run(300 * period)
	if w.count(Suspect) == 0 || w.count(Dead) != 0 {
		t.Errorf("%d suspected, %d declared dead", w.count(Suspect), w.count(Dead))
	}
}

// A member's final opinion doesn't depend on the order in which it heard the news.
func TestOrderDoesntMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const n = 4
		rumour := rapid.Custom(func(t *rapid.T) Rumour {
			return Rumour{
				proto.Proc(rapid.IntRange(0, n-1).Draw(t, "proc")),
				rapid.Uint32Range(0, 3).Draw(t, "incarnation"),
				State(rapid.IntRange(0, 2).Draw(t, "state")),
			}
		})
		heard := rapid.SliceOfN(rumour, 1, 20).Draw(t, "heard")
		order := rapid.Permutation(heard).Draw(t, "order")
		a, b := New(config(n), 0), New(config(n), 0)
		var out Actions
		for i := range heard {
			before := slices.Clone(a.members)
			a.hear(0, heard[i], &out)
			b.hear(0, order[i], &out)
			for p, held := range a.members {
				if was := before[p]; held.incarnation < was.incarnation || held.incarnation == was.incarnation && held.state < was.state {
					t.Fatalf("%v became %v", was, held)
				}
			}
		}
		a.members[0], b.members[0] = opinion{}, opinion{} // own: the refutations do depend on the order
		if !slices.Equal(a.members, b.members) {
			t.Fatalf("%v in one order, %v in another", a.members, b.members)
		}
		others := 0
		for _, o := range a.members[1:] {
			if o.state != Dead {
				others++
			}
		}
		if others != a.others {
			t.Fatalf("%d others, counted %d", others, a.others)
		}
	})
}

// Each item is passed on as often as configured, and the suspect is told first.
func TestNews(t *testing.T) {
	cfg := config(16)
	cfg.Transmit = 3
	m := New(cfg, 0)
	var out Actions
	m.hear(0, Rumour{5, 0, Suspect}, &out)
	told := 0
	for range 10 {
		out = out[:0]
		m.Receive(0, 1, &Message{Kind: Ping, Origin: 1, Target: 0}, &out)
		if msg := out[0].Message; msg.Count == 1 && msg.Rumours[0] == (Rumour{5, 0, Suspect}) {
			told++
		}
	}
	if told != 3 {
		t.Errorf("told %d times, want 3", told)
	}
	out = out[:0]
	m.Receive(0, 5, &Message{Kind: Ping, Origin: 5, Target: 0}, &out)
	if msg := out[0].Message; msg.Count != 1 || msg.Rumours[0].Proc != 5 {
		t.Errorf("the suspect isn't told: %v", msg.Rumours[:msg.Count])
	}
}

// A late acknowledgement of one probe doesn't count for the next.
func TestLateAcknowledgement(t *testing.T) {
	cfg := config(2)
	cfg.Suspicion = 0
	m := New(cfg, 0)
	var out Actions
	m.Tick(m.periodAt, &out)
	first := m.probe
	m.members[1] = opinion{1, Alive} // as if it had come back meanwhile
	m.Tick(m.periodAt, &out)
	if m.State(1) != Dead {
		t.Fatal("no answer, no death")
	}
	m.hear(0, Rumour{1, 2, Alive}, &out)
	m.Tick(m.periodAt, &out)
	m.Receive(0, 1, &Message{Kind: Ack, Origin: 0, Target: 1, Probe: first}, &out)
	if m.target != 1 {
		t.Error("a late acknowledgement ended another probe")
	}
}

// Once warm, a step allocates nothing.
func TestNoAllocations(t *testing.T) {
	w, n := newWorld(t, config(32), oneport.Config{Seed: 8, Loss: 0.3})
	n.Run(500 * period)
	until := n.Now()
	w.reports = slices.Grow(w.reports, 1<<16)
	if got := testing.AllocsPerRun(10, func() {
		until += 10 * period
		n.Run(until)
	}); got > 1 {
		t.Errorf("%v allocations in ten periods of 32 members", got)
	}
}

func TestConfig(t *testing.T) {
	good := config(4)
	for name, spoil := range map[string]func(*Config){
		"self":          func(c *Config) { c.Self = 4 },
		"members":       func(c *Config) { c.N = 0 },
		"probe timeout": func(c *Config) { c.ProbeTimeout = c.Period },
		"mediators":     func(c *Config) { c.Indirect = -1 },
		"suspicion":     func(c *Config) { c.Suspicion = -1 },
		"transmit":      func(c *Config) { c.Transmit = 0 },
	} {
		c := good
		spoil(&c)
		if c.Validate() == nil {
			t.Errorf("wrong %s passes", name)
		}
	}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
}
