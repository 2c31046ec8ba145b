package broadcast

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/testing/explore"
)

// prefixes is failure-proof correction where every process, the root too, may crash at any
// point, and messages arrive in any order. It has no crash as an event: a run with crashes is
// also a run in which those processes are merely slow. So in every state the messages sent so
// far must be enough: if one process has finished, every process has been sent to. After that
// any set of processes may crash.
//
// It makes three reductions. A run ends when all have been sent to. A message arrives when it
// matters to what its receiver sends next: earlier it would make no difference, later it makes
// the same. Of two messages that teach a receiver the same, one is kept. prefixes implements
// explore.World.
type prefixes struct {
	config  *Config
	machine machine
	states  []State
	unread  []uint64 // of each process, the messages that could teach it something
	sentTo  uint64
}

// A message of unread is a bit: nine for each sender.
var codes = [...]Kind{
	KindTree,
	KindLeft, KindLeft.withNumber(1), KindLeft.withNumber(2), KindLeft.withNumber(everything),
	KindRight, KindRight.withNumber(1), KindRight.withNumber(2), KindRight.withNumber(everything),
}

func newPrefixes(c *Config, m machine) *prefixes {
	procs := c.Tree.Procs()
	w := &prefixes{config: c, machine: m, states: make([]State, procs), unread: make([]uint64, procs), sentTo: 1}
	for p := range w.states {
		m.Start(&w.states[p], p)
	}
	return w
}

// after is the state of a process after it has received a message.
func (w *prefixes) after(p, bit int) State {
	s := w.states[p]
	w.machine.Receive(&s, bit/len(codes), codes[bit%len(codes)])
	return s
}

// lesson is a process and a message that it receives; where bit is -1, it sends instead.
type lesson struct{ process, bit int8 }

func (e lesson) String() string {
	if e.bit < 0 {
		return fmt.Sprint(e.process)
	}
	return fmt.Sprintf("%d>%d:%v", int(e.bit)/len(codes), e.process, codes[int(e.bit)%len(codes)])
}

func (w *prefixes) Events(dst []lesson) []lesson {
	if w.missing() == len(w.states) {
		return dst // nothing can go wrong any more, whatever is answered
	}
	for p, s := range w.states {
		for unread := w.unread[p]; unread != 0; unread &= unread - 1 {
			if bit := bits.TrailingZeros64(unread); w.matters(p, bit) {
				dst = append(dst, lesson{int8(p), int8(bit)})
			}
		}
		if _, _, ok := w.machine.SendReady(&s, 0); ok {
			dst = append(dst, lesson{int8(p), -1})
		}
	}
	return dst
}

// matters says whether a message would change what a process sends next. A message that moves
// the end of the stretch to which the process sends next always does. So if several messages
// matter together, there is an order of them in which each matters.
func (w *prefixes) matters(p, bit int) bool {
	was, is := w.states[p], w.after(p, bit)
	if was.Coloured() != is.Coloured() {
		return true
	}
	to, kind, ok := w.machine.SendReady(&was, 0)
	newTo, newKind, newOK := w.machine.SendReady(&is, 0)
	return to != newTo || kind != newKind || ok != newOK
}

func (w *prefixes) Apply(e lesson) error {
	p := int(e.process)
	to := p
	if e.bit >= 0 {
		w.states[p] = w.after(p, int(e.bit))
	} else {
		var kind Kind
		to, kind, _ = w.machine.SendReady(&w.states[p], 0)
		w.sentTo |= 1 << to
		w.unread[to] |= 1 << (len(codes)*p + slices.Index(codes[:], kind))
	}
	w.forget(to)
	return w.relied(p)
}

// forget drops the messages that could teach a process nothing new.
func (w *prefixes) forget(p int) {
	var lessons []State
	for unread := w.unread[p]; unread != 0; unread &= unread - 1 {
		bit := bits.TrailingZeros64(unread)
		after := w.after(p, bit)
		if after == w.states[p] || slices.Contains(lessons, after) {
			w.unread[p] &^= 1 << bit
		}
		lessons = append(lessons, after)
	}
}

// missing is the first process that nothing has been sent to.
func (w *prefixes) missing() int { return bits.TrailingZeros64(^w.sentTo) }

// relied checks that a process that has finished doesn't rely on what others will do.
func (w *prefixes) relied(p int) error {
	s := w.states[p]
	if !s.Coloured() || !w.config.finished(&s) {
		return nil
	}
	if x := w.missing(); x < len(w.states) {
		return fmt.Errorf("%w: %d, if all but it and %d crash now", errUnreached, x, p)
	}
	return nil
}

func (w *prefixes) End() error { return nil }

func (w *prefixes) Clone() *prefixes {
	v := *w
	v.states, v.unread = slices.Clone(w.states), slices.Clone(w.unread)
	return &v
}

func (w *prefixes) AppendKey(dst []byte) []byte {
	dst = append(dst, byte(w.sentTo))
	for p, s := range w.states {
		dst = append(dst, byte(s.flags), byte(s.sentLeft), byte(s.sentRight), byte(s.heardLeft), byte(s.heardRight))
		children := 0 // to come
		for ok := s.is(flagSpreading); ok; children++ {
			_, ok = w.config.Tree.Next(&s.children)
		}
		dst = append(dst, byte(children))
		dst = binary.LittleEndian.AppendUint64(dst, w.unread[p])
	}
	return dst
}

// TestCrashes explores failure-proof correction with crashes at every point of
// every process, to 6 processes.
func TestCrashes(t *testing.T) {
	for procs := 1; procs <= 6; procs++ {
		for _, tree := range smallTrees(procs) {
			c := variant{correction: FailureProof}.config(tree)
			stats, err := explore.All(newPrefixes(c, c), stateLimit)
			if err != nil {
				t.Fatalf("%d processes: %v", procs, err)
			}
			t.Logf("%d processes: %d states", procs, stats.States)
		}
	}
}

// TestRandomCrashes is the same test with more processes, for one order of events and one set
// of crash points each, both chosen by the seed.
func TestRandomCrashes(t *testing.T) {
	same := func(c *Config) machine { return c }
	for seed := uint64(1); seed <= 1000; seed++ {
		if err := randomCrashes(seed, 2+int(seed%40), FailureProof, float64(seed%5)/5, same); err != nil {
			t.Fatal(err)
		}
	}
	for seed, procs := range []int{256, 1000, 4096} {
		if err := randomCrashes(1+uint64(seed), procs, FailureProof, 0.2, same); err != nil {
			t.Fatal(err)
		}
	}
}

// randomCrashes runs one broadcast. Each process crashes with the probability rate,
// after some of its sends; the root only with every second seed.
func randomCrashes(seed uint64, procs int, correction Correction, rate float64, as func(*Config) machine) error {
	random := rand.New(rand.NewPCG(seed, 2))
	c := &Config{Tree: mustTree(randomTree(random, procs)), Correction: correction}
	m := as(c)
	type message struct {
		from, to int
		kind     Kind
	}
	states, sends, awake := make([]State, procs), make([]int, procs), make([]bool, procs)
	for p := range states {
		m.Start(&states[p], p)
		sends[p] = 1 << 30 // before it crashes
		if random.Float64() < rate && (p > 0 || seed%2 == 0) {
			sends[p] = random.IntN(2 + 2*bits.Len(uint(procs)))
		}
	}
	active, flying := []int{0}, []message(nil)
	awake[0] = true
	for len(active)+len(flying) > 0 {
		i := random.IntN(len(active) + len(flying))
		if i < len(active) {
			p := active[i]
			to, kind, ok := m.SendReady(&states[p], 0)
			if !ok || sends[p] == 0 {
				active[i] = active[len(active)-1]
				active, awake[p] = active[:len(active)-1], false
				continue
			}
			sends[p]--
			flying = append(flying, message{p, to, kind})
			continue
		}
		i -= len(active)
		x := flying[i]
		flying[i] = flying[len(flying)-1]
		flying = flying[:len(flying)-1]
		if m.Receive(&states[x.to], x.from, x.kind); !awake[x.to] && sends[x.to] > 0 {
			active, awake[x.to] = append(active, x.to), true
		}
	}
	known := slices.ContainsFunc(states, func(s State) bool { return s.Coloured() && sends[s.self] > 0 })
	for p, s := range states {
		if known && sends[p] > 0 && !s.Coloured() {
			return fmt.Errorf("%w: %d of %d (seed %d)", errUnreached, p, procs, seed)
		}
	}
	return nil
}

// boastful says that it knows of three positions, whatever it knows.
type boastful struct{ *Config }

func (b boastful) SendReady(s *State, now proto.Time) (int, Kind, bool) {
	to, kind, ok := b.Config.SendReady(s, now)
	if kind.Base() == KindRight || kind.Base() == KindLeft {
		kind = kind.Base().withNumber(2)
	}
	return to, kind, ok
}

// TestCrashCanaries: exploration and random runs find the corrections that rely on other
// processes; checked correction is one of them.
func TestCrashCanaries(t *testing.T) {
	c := variant{correction: FailureProof}.config(smallTrees(4)[1])
	if _, err := explore.All(newPrefixes(c, boastful{c}), stateLimit); !errors.Is(err, errUnreached) {
		t.Errorf("of one who boasts: %v", err)
	}
	for seed := uint64(1); ; seed++ {
		err := randomCrashes(seed, 20, Checked, 0.5, func(c *Config) machine { return c })
		if errors.Is(err, errUnreached) {
			t.Log(err)
			break
		}
		if seed == 2000 {
			t.Fatal("checked correction seems to be failure-proof")
		}
	}
}
