package oneport

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/proto"
)

const tau = 100

// letter is the message of the tests: a number.
type letter int

func (l letter) Kind() uint8 { return uint8(l % 2) }

// arrival is a letter that some node got.
type arrival struct {
	at       proto.Time
	to, from int32
	letter   letter
}

// script is a node for tests: it takes steps at given times, sends given letters in each, and
// answers letters as told.
type script struct {
	at      []proto.Time // of the next step, by node
	say     func(now proto.Time, node int32) []Send[letter]
	answer  func(now proto.Time, node, from int32, l letter) []Send[letter]
	arrived []arrival
	ticked  []arrival // the steps taken: at and to
	crashed []arrival // likewise
}

func newScript(n int) *script {
	s := &script{at: make([]proto.Time, n)}
	for i := range s.at {
		s.at[i] = proto.Never
	}
	return s
}

func (s *script) Receive(now proto.Time, node, from int32, l *letter, out *[]Send[letter]) {
	s.arrived = append(s.arrived, arrival{now, node, from, *l})
	if s.answer != nil {
		*out = append(*out, s.answer(now, node, from, *l)...)
	}
}

func (s *script) Tick(now proto.Time, node int32, out *[]Send[letter]) {
	s.at[node] = proto.Never
	s.ticked = append(s.ticked, arrival{at: now, to: node})
	if s.say != nil {
		*out = append(*out, s.say(now, node)...)
	}
}

func (s *script) Crashed(now proto.Time, node int32) {
	s.crashed = append(s.crashed, arrival{at: now, to: node})
}

func (s *script) Deadline(node int32) proto.Time { return s.at[node] }

func start(t testing.TB, s *script, change func(*Config)) *Network[letter] {
	t.Helper()
	cfg := Config{Nodes: len(s.at), Tau: tau, Fixed: true, Seed: 1}
	if change != nil {
		change(&cfg)
	}
	w, err := New(cfg, s)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// toAll is one letter to each of the nodes.
func toAll(nodes ...int32) (sends []Send[letter]) {
	for i, to := range nodes {
		sends = append(sends, Send[letter]{to, letter(i)})
	}
	return sends
}

func TestSendsAreSerial(t *testing.T) {
	s := newScript(4)
	s.at[0] = 7
	s.say = func(proto.Time, int32) []Send[letter] { return toAll(1, 2, 1, 3) }
	w := start(t, s, nil)
	if !w.Run(1000) || w.Now() != 1000 {
		t.Errorf("it ran to %d", w.Now())
	}
	want := []arrival{{107, 1, 0, 0}, {207, 2, 0, 1}, {307, 1, 0, 2}, {407, 3, 0, 3}}
	if !slices.Equal(s.arrived, want) {
		t.Errorf("got %v, want %v", s.arrived, want)
	}
	if w.Sent != [Kinds]int{2, 2} || w.Total() != 4 || w.Received != 4 {
		t.Errorf("counted %+v", w.Counts)
	}
}

// TestReceivesAreSerial: a receiver takes senders in the order of their arrival. A sender's
// letters to others wait with it.
func TestReceivesAreSerial(t *testing.T) {
	s := newScript(5)
	s.at[1], s.at[2], s.at[3] = 0, 10, 5
	s.say = func(_ proto.Time, node int32) []Send[letter] {
		return []Send[letter]{{0, letter(node)}, {4, letter(node)}}
	}
	start(t, s, nil).Run(1000)
	want := []arrival{{100, 0, 1, 1}, {200, 0, 3, 3}, {200, 4, 1, 1}, {300, 0, 2, 2}, {300, 4, 3, 3}, {400, 4, 2, 2}}
	if !slices.Equal(s.arrived, want) {
		t.Errorf("got %v, want %v", s.arrived, want)
	}
}

// TestBothPortsAtOnce: every node sends to the next of a ring at the same time.
func TestBothPortsAtOnce(t *testing.T) {
	const n = 10
	s := newScript(n)
	for i := range s.at {
		s.at[i] = 0
	}
	s.say = func(_ proto.Time, node int32) []Send[letter] { return toAll((node + 1) % n) }
	start(t, s, nil).Run(1000)
	if len(s.arrived) != n {
		t.Fatalf("%d letters", len(s.arrived))
	}
	for _, a := range s.arrived {
		if a.at != tau || a.to != (a.from+1)%n {
			t.Errorf("%+v", a)
		}
	}
}

// TestBinomialBroadcast: 2^k nodes are reached in k steps, the least possible.
func TestBinomialBroadcast(t *testing.T) {
	const k = 10
	s := newScript(1 << k)
	s.at[0] = 0
	children := func(node int32, from letter) (sends []Send[letter]) {
		for bit := from; bit < k; bit++ {
			sends = append(sends, Send[letter]{node | 1<<bit, bit + 1})
		}
		return sends
	}
	s.say = func(proto.Time, int32) []Send[letter] { return children(0, 0) }
	s.answer = func(_ proto.Time, node, _ int32, l letter) []Send[letter] { return children(node, l) }
	start(t, s, nil).Run(proto.Never - 1)
	if last := s.arrived[len(s.arrived)-1]; len(s.arrived) != 1<<k-1 || last.at != k*tau {
		t.Errorf("%d letters, the last at %d", len(s.arrived), last.at)
	}
}

// TestCrashBetweenSends: a crash leaves any prefix of what a node sends in one step.
func TestCrashBetweenSends(t *testing.T) {
	const n = 6
	for sends := range n {
		s := newScript(n)
		s.at[0] = 1
		s.say = func(proto.Time, int32) []Send[letter] { return toAll(1, 2, 3, 4, 5) }
		w := start(t, s, nil)
		w.Crash(0, proto.Time(sends)*tau) // while the last is under way, if there is one
		w.Run(10000)
		got := 0
		for i, a := range s.arrived {
			if a.to != int32(i+1) {
				t.Errorf("%d sends: %v", sends, s.arrived)
			}
			got++
		}
		if got != sends || w.Total() != got || w.Alive(0) {
			t.Errorf("%d sends: %d arrived, %d sent, alive %v", sends, got, w.Total(), w.Alive(0))
		}
	}
}

// TestTheDead: dead nodes take no turns and do nothing, and what they were receiving is lost.
func TestTheDead(t *testing.T) {
	s := newScript(5)
	s.at[0], s.at[1], s.at[2], s.at[3] = 500, 0, 0, 0
	s.say = func(_ proto.Time, node int32) []Send[letter] { return toAll(0, 4) }
	w := start(t, s, nil)
	w.Crash(0, 50) // during its first receive, with two more waiting
	w.Run(1000)
	// 1's letter to 0 ends at 100; those of 2 and 3 begin at 50 and end at 150. Then all want 4.
	want := []arrival{{200, 4, 1, 1}, {300, 4, 2, 1}, {400, 4, 3, 1}}
	if !slices.Equal(s.arrived, want) {
		t.Errorf("got %v, want %v", s.arrived, want)
	}
	if len(s.ticked) != 3 || w.Alive(0) || !slices.Equal(s.crashed, []arrival{{at: 50, to: 0}}) || w.Total() != 6 || w.Received != 3 {
		t.Errorf("%v ticked, counts %+v", s.ticked, w.Counts)
	}
}

// TestStopped: letters to a stopped node wait, and are handed over before its next step; what
// it had said is sent.
func TestStopped(t *testing.T) {
	s := newScript(3)
	s.at[0], s.at[1] = 0, 10
	s.say = func(now proto.Time, node int32) []Send[letter] {
		if now > 10 {
			return nil
		}
		if node == 0 {
			s.at[0] = 300
		}
		return toAll(1-node, 2)
	}
	w := start(t, s, nil)
	w.Stop(0, 50, 500)
	w.Stop(0, 100, 450)
	w.Run(1000)
	want := []arrival{{100, 1, 0, 0}, {200, 2, 0, 1}, {300, 2, 1, 1}, {500, 0, 1, 0}}
	slices.SortFunc(s.arrived, func(a, b arrival) int { return int(a.at - b.at) })
	if !slices.Equal(s.arrived, want) {
		t.Errorf("got %v, want %v", s.arrived, want)
	}
	if last := s.ticked[len(s.ticked)-1]; last.at != 500 || last.to != 0 {
		t.Errorf("ticked %v", s.ticked)
	}
}

// TestUniform: uncontended messages take times from (0, τ], evenly distributed.
func TestUniform(t *testing.T) {
	const count = 20000
	s := newScript(2)
	s.at[0] = 0
	var begun proto.Time
	var parts [10]int
	s.say = func(now proto.Time, _ int32) []Send[letter] { begun = now; return toAll(1) }
	s.answer = func(now proto.Time, node, from int32, _ letter) []Send[letter] {
		d := now - begun
		if d < 1 || d > tau {
			t.Fatalf("a message took %d", d)
		}
		parts[(d-1)*10/tau]++
		begun = now
		if len(s.arrived) < count {
			return toAll(from)
		}
		return nil
	}
	start(t, s, func(c *Config) { c.Fixed = false }).Run(proto.Never - 1)
	chi := 0.0
	for _, n := range parts {
		chi += math.Pow(float64(n)-count/10, 2) / (count / 10)
	}
	if chi > 28 { // 9 degrees of freedom: 1 in 1,000
		t.Errorf("tenths of τ: %v", parts)
	}
}

func TestLoss(t *testing.T) {
	s := newScript(2)
	s.at[0] = 0
	s.say = func(proto.Time, int32) []Send[letter] { return toAll(make([]int32, 10000)...) }
	w := start(t, s, func(c *Config) { c.Loss = 0.25 })
	w.Run(proto.Never - 1)
	if w.Lost+len(s.arrived) != 10000 || w.Lost < 2300 || w.Lost > 2700 {
		t.Errorf("%d lost, %d arrived", w.Lost, len(s.arrived))
	}
}

// TestLoad: the shares of nodes and of their time that stalls take are as configured. A step
// that is due in a stall comes at its end, so the delays add up to the stalls.
func TestLoad(t *testing.T) {
	const n, end = 200, 1 << 18
	s := newScript(n)
	for i := range s.at {
		s.at[i] = 0
	}
	due, late := make([]proto.Time, n), make([]proto.Time, n)
	s.say = func(now proto.Time, node int32) []Send[letter] {
		late[node] += now - due[node]
		due[node] = now + 20
		s.at[node] = due[node]
		return nil
	}
	start(t, s, func(c *Config) { c.Load = Load{Share: 0.5, Every: 3000, Stalls: 1000} }).Run(end)
	loaded, stalled := 0, proto.Time(0)
	for _, l := range late {
		if l > 0 {
			loaded++
			stalled += l
		}
	}
	share := float64(stalled) / float64(loaded) / end
	if loaded < 75 || loaded > 125 || share < 0.235 || share > 0.26 {
		t.Errorf("%d of %d nodes are stalled %.3f of the time", loaded, n, share)
	}
}

// network is a random case for the properties below: letters go round at random.
func network(seed uint64, n int, change func(*Config)) (*script, Config) {
	s := newScript(n)
	rng := rand.New(rand.NewPCG(seed, 2))
	for i := range s.at {
		s.at[i] = proto.Time(rng.IntN(10 * tau))
	}
	some := func() (sends []Send[letter]) {
		for range rng.IntN(3) {
			sends = append(sends, Send[letter]{int32(rng.IntN(n)), letter(rng.IntN(100))})
		}
		return sends
	}
	s.say = func(now proto.Time, node int32) []Send[letter] {
		s.at[node] = now + proto.Time(1+rng.IntN(10*tau))
		return some()
	}
	s.answer = func(proto.Time, int32, int32, letter) []Send[letter] {
		if rng.IntN(4) > 0 {
			return nil
		}
		return some()
	}
	cfg := Config{Nodes: n, Tau: tau, Seed: seed, Fixed: true}
	if change != nil {
		change(&cfg)
	}
	return s, cfg
}

// TestOnePort: whatever is sent, no port handles two messages within τ, if each takes exactly
// τ.
func TestOnePort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 8).Draw(t, "n")
		s, cfg := network(rapid.Uint64().Draw(t, "seed"), n, nil)
		w, err := New(cfg, s)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 2).Draw(t, "crashes") {
			w.Crash(int32(rapid.IntRange(0, n-1).Draw(t, "node")), proto.Time(rapid.IntRange(0, 5000).Draw(t, "at")))
		}
		w.Run(5000)
		sent, received := make([]proto.Time, n), make([]proto.Time, n)
		for _, a := range s.arrived {
			if a.at < sent[a.from]+tau || a.at < received[a.to]+tau {
				t.Fatalf("%+v; the last ends at %d and %d", a, sent[a.from], received[a.to])
			}
			sent[a.from], received[a.to] = a.at, a.at
		}
		if len(s.arrived) == 0 && n > 4 {
			t.Fatal("nothing happened")
		}
	})
}

// TestRepeats: the same seed gives the same run, in new memory or in used memory, in one call
// or in many.
func TestRepeats(t *testing.T) {
	change := func(c *Config) {
		c.Fixed, c.Loss, c.Load = false, 0.1, Load{Share: 0.5, Every: 1000, Stalls: 300}
	}
	plan := func(w *Network[letter]) {
		w.Crash(3, 2000)
		w.Crash(5, 1500)
		w.Stop(6, 100, 3000)
	}
	s, cfg := network(1, 20, change)
	w, err := New(cfg, s)
	if err != nil {
		t.Fatal(err)
	}
	plan(w)
	w.Run(20000)
	counts := w.Counts
	if counts.Lost == 0 || counts.Received < 100 || w.Alive(3) || w.Alive(5) || !w.Alive(6) {
		t.Errorf("a dull run: %+v", counts)
	}
	again, _ := network(1, 20, change)
	if err := w.Reset(cfg, again); err != nil {
		t.Fatal(err)
	}
	plan(w)
	for until := proto.Time(0); until <= 20000; until += 50 {
		w.Run(until)
	}
	if !reflect.DeepEqual(s.arrived, again.arrived) || !reflect.DeepEqual(s.ticked, again.ticked) || w.Counts != counts {
		t.Errorf("%d arrivals and %d are different", len(s.arrived), len(again.arrived))
	}
	other, cfg := network(1, 20, change)
	cfg.Seed++
	w, err = New(cfg, other)
	if err != nil {
		t.Fatal(err)
	}
	plan(w)
	w.Run(20000)
	if reflect.DeepEqual(s.arrived, other.arrived) {
		t.Error("the seed doesn't matter")
	}
}

func TestHalt(t *testing.T) {
	s := newScript(2)
	s.at[0] = 0
	s.say = func(proto.Time, int32) []Send[letter] { return toAll(1, 1, 1) }
	w := start(t, s, nil)
	s.answer = func(proto.Time, int32, int32, letter) []Send[letter] { w.Halt(); return nil }
	for i := 1; i <= 3; i++ {
		if w.Run(1000) || len(s.arrived) != i || w.Now() != proto.Time(i)*tau {
			t.Errorf("run %d ends at %d with %v", i, w.Now(), s.arrived)
		}
	}
	if !w.Run(1000) || w.Now() != 1000 {
		t.Errorf("it ends at %d", w.Now())
	}
}

func TestValidate(t *testing.T) {
	good := Config{Nodes: 1, Tau: 1}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*Config){
		"no nodes":     func(c *Config) { c.Nodes = 0 },
		"no time":      func(c *Config) { c.Tau = 0 },
		"loss":         func(c *Config) { c.Loss = math.NaN() },
		"load":         func(c *Config) { c.Load = Load{Share: 1.5, Every: 1, Stalls: 1} },
		"empty stalls": func(c *Config) { c.Load = Load{Share: 0.5, Every: 1} },
	} {
		c := good
		if spoil(&c); c.Validate() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// beats are nodes that send a heartbeat to the next one each period, and have a timer as an
// observer has: the work of a quiet detector.
type beats struct {
	period    proto.Time
	at, heard []proto.Time
}

func (b *beats) Receive(now proto.Time, node, _ int32, _ *letter, _ *[]Send[letter]) {
	b.heard[node] = now
}

func (b *beats) Tick(now proto.Time, node int32, out *[]Send[letter]) {
	b.at[node] = now + b.period
	*out = append(*out, Send[letter]{(node + 1) % int32(len(b.at)), 0})
}

func (b *beats) Crashed(proto.Time, int32) {}

func (b *beats) Deadline(node int32) proto.Time { return min(b.at[node], b.heard[node]+6*b.period) }

func newBeats(n int, period proto.Time) *beats {
	b := &beats{period: period, at: make([]proto.Time, n), heard: make([]proto.Time, n)}
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range b.at {
		b.at[i] = proto.Time(rng.Int64N(int64(period)))
	}
	return b
}

func TestEventsDontAllocate(t *testing.T) {
	const period = 10000
	b := newBeats(1000, period)
	w, err := New(Config{Nodes: 1000, Tau: tau, Seed: 1}, b)
	if err != nil {
		t.Fatal(err)
	}
	w.Run(1 << 20)
	allocs := testing.AllocsPerRun(10, func() { w.Run(w.Now() + 10*period) })
	if allocs > 1 {
		t.Errorf("%v allocations in ten periods of 1,000 nodes", allocs)
	}
}

// BenchmarkHeartbeats is a period of 256,000 nodes, η = 10 s and τ = 1 µs.
func BenchmarkHeartbeats(b *testing.B) {
	const n, period = 256000, 10e9
	w, err := New(Config{Nodes: n, Tau: 1000, Seed: 1}, newBeats(n, period))
	if err != nil {
		b.Fatal(err)
	}
	w.Run(2 * period)
	begun := w.Events
	for b.Loop() {
		w.Run(w.Now() + period)
	}
	b.ReportMetric(float64(w.Events-begun)/b.Elapsed().Seconds(), "events/s")
}
