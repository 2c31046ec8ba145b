package reduction

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/testing/explore"
	"banyan/internal/topology"
)

// machine is a Config, or one with a bug.
type machine interface {
	Receive(s *State, from int, kind Kind) Effect
	SendReady(s *State, now proto.Time) (to int, kind Kind, ok bool)
	Taker(position int, cutOff func(int) bool) (int, bool)
}

// untimed is a reduction in which every action takes any time: messages arrive in any order,
// and every process loses patience at any moment, or never. A process that is dead from some
// moment on is one that does nothing more, so every crash is among these runs. The promise is
// that nothing is counted twice and the root knows what it has. untimed implements
// explore.World.
type untimed struct {
	config  *Config
	machine machine
	states  []State
	parts   []value // of each process
	rests   []value
	unread  []message // in ascending order
}

// value has a digit for each contribution, and the set of the processes on the list.
type value struct {
	sum    uint64
	silent uint64
}

func digit(p int) uint64 { return 1 << (6 * p) }

func (v *value) add(other value) { v.sum, v.silent = v.sum+other.sum, v.silent|other.silent }

type message struct {
	from, to int8
	kind     Kind
}

// A happening is a message's arrival, or what a process (to) does next, patient or impatient.
type happening struct {
	message
	step, impatient bool
}

func (h happening) String() string {
	switch {
	case h.step && h.impatient:
		return fmt.Sprintf("%d gives up", h.to)
	case h.step:
		return fmt.Sprint(h.to)
	}
	return fmt.Sprintf("%d>%d:%v", h.from, h.to, h.kind)
}

const (
	patient   proto.Time = 0
	impatient proto.Time = 1 << 40 // beyond all deadlines
)

// newUntimed begins when every process has sent its copies. Copies that were never sent are
// among those that never arrive.
func newUntimed(c *Config, m machine) *untimed {
	procs := c.Tree.Procs()
	w := &untimed{config: c, machine: m, states: make([]State, procs), parts: make([]value, procs), rests: make([]value, procs)}
	for p := range w.states {
		c.Start(&w.states[p], p)
		w.parts[p].sum = digit(p)
		for range c.Neighbours() {
			to, kind, _ := m.SendReady(&w.states[p], patient)
			w.send(p, to, kind)
		}
	}
	return w
}

func (w *untimed) send(from, to int, kind Kind) {
	w.unread = append(w.unread, message{int8(from), int8(to), kind})
	slices.SortFunc(w.unread, func(a, b message) int {
		return int(a.to-b.to)<<16 + int(a.from-b.from)<<8 + int(a.kind) - int(b.kind)
	})
}

func (w *untimed) Events(dst []happening) []happening {
	if w.states[0].Done() {
		return dst
	}
	for _, m := range w.unread {
		// A copy matters only to what its receiver takes into its rest; earlier it makes no
		// difference.
		if s := &w.states[m.to]; m.kind != KindCopy || m.to == 0 || s.Mending() && !s.Done() {
			dst = append(dst, happening{message: m})
		}
	}
	for p, s := range w.states {
		late := s
		if _, _, ok := w.machine.SendReady(&s, patient); ok || s != w.states[p] {
			dst = append(dst, happening{message: message{to: int8(p)}, step: true})
		} else if _, _, ok := w.machine.SendReady(&late, impatient); ok || late != w.states[p] {
			dst = append(dst, happening{message: message{to: int8(p)}, step: true, impatient: true})
		}
	}
	return dst
}

func (w *untimed) Apply(h happening) error {
	p := int(h.to)
	s := &w.states[p]
	if !h.step {
		i := slices.Index(w.unread, h.message)
		w.unread = slices.Delete(w.unread, i, i+1)
		if w.machine.Receive(s, int(h.from), h.kind) == Combine {
			if h.kind == KindRest {
				w.rests[p].add(w.rests[h.from])
			} else {
				w.parts[p].add(w.parts[h.from])
			}
		}
		return w.check()
	}
	now, open := patient, !s.Closed()
	if h.impatient {
		now = impatient
	}
	to, kind, ok := w.machine.SendReady(s, now)
	if open && s.Closed() {
		w.giveUp(&w.parts[p], s, KindPart)
	}
	if s.Mending() && s.Done() {
		w.take(p)
	}
	if ok {
		w.send(p, to, kind)
	}
	return w.check()
}

func (w *untimed) giveUp(v *value, s *State, kind Kind) {
	for _, child := range w.config.AppendSilent(nil, s, kind) {
		v.silent |= 1 << child
	}
}

func (w *untimed) cutOff(p int) bool {
	return w.config.CutOff(p, func(p int) bool { return w.parts[0].silent>>p&1 != 0 })
}

// take puts the copies that a process must take into its rest. The root's list is the one sent
// to it: it doesn't change while there are mending processes.
func (w *untimed) take(p int) {
	w.giveUp(&w.rests[p], &w.states[p], KindRest)
	for held := w.states[p].Copies(); held != 0; held &= held - 1 {
		origin := w.config.Origin(p, bits.TrailingZeros64(held))
		if taker, ok := w.machine.Taker(origin, w.cutOff); ok && (taker == p || taker == anyone) && w.cutOff(origin) {
			w.rests[p].sum += digit(origin)
		}
	}
}

// check checks the promise, at the root.
func (w *untimed) check() error {
	if !w.states[0].Closed() {
		return nil
	}
	for p := range w.states {
		switch n := int((w.parts[0].sum + w.rests[0].sum) / digit(p) & 63); {
		case n > 1:
			return fmt.Errorf("the contribution of %d is counted %d times", p, n)
		case !w.cutOff(p) && n == 0:
			return fmt.Errorf("the root believes to have the contribution of %d", p)
		}
	}
	return nil
}

func (w *untimed) End() error {
	if !w.states[0].Done() {
		return fmt.Errorf("the root waits for ever")
	}
	return nil
}

func (w *untimed) Clone() *untimed {
	c := *w
	c.states, c.parts, c.rests, c.unread = slices.Clone(w.states), slices.Clone(w.parts), slices.Clone(w.rests), slices.Clone(w.unread)
	return &c
}

func (w *untimed) AppendKey(dst []byte) []byte {
	for p, s := range w.states {
		dst = append(dst, byte(s.copies), byte(s.heard), byte(s.mended), byte(s.told), byte(s.flags))
		for _, v := range []value{w.parts[p], w.rests[p]} {
			dst = binary.LittleEndian.AppendUint64(dst, v.sum)
			dst = append(dst, byte(v.silent))
		}
	}
	for _, m := range w.unread {
		dst = append(dst, byte(m.from), byte(m.to), byte(m.kind))
	}
	return dst
}

// trees are the different trees of so many processes.
func trees(t testing.TB, procs int) map[string]topology.Tree {
	t.Helper()
	all := map[string]topology.Tree{}
	for name, make := range map[string]func() (topology.Tree, error){
		"binomial": func() (topology.Tree, error) { return topology.Binomial(procs, topology.Interleaved) },
		"chain":    func() (topology.Tree, error) { return topology.KAry(procs, 1, topology.Interleaved) },
		"binary":   func() (topology.Tree, error) { return topology.KAry(procs, 2, topology.InOrder) },
	} {
		tree, err := make()
		if err != nil {
			t.Fatal(err)
		}
		all[name] = tree
	}
	return all
}

func prepared(t testing.TB, tree topology.Tree, distance int, idempotent bool) *Config {
	t.Helper()
	c := &Config{Tree: tree, Distance: distance, Idempotent: idempotent, Pace: 1, Hop: 4}
	if err := c.Prepare(); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestAnyTiming: all interleavings, all losses of patience, all crashes, of up to 5 processes.
func TestAnyTiming(t *testing.T) {
	largest := 5
	if testing.Short() {
		largest = 4
	}
	states := 0
	for procs := 1; procs <= largest; procs++ {
		for name, tree := range trees(t, procs) {
			for distance := 1; distance <= 2 && distance < procs && procs+distance <= largest+1; distance++ {
				c := prepared(t, tree, distance, false)
				stats, err := explore.All(newUntimed(c, c), 3_000_000)
				if err != nil {
					t.Errorf("%s tree of %d, distance %d: %v", name, procs, distance, err)
				}
				states += stats.States
			}
		}
	}
	t.Logf("%d states", states)
}

// TestAnyTimingRandom: random ones of the same, to 10 processes and 3 neighbours on each side.
func TestAnyTimingRandom(t *testing.T) {
	runs := 3000
	if testing.Short() {
		runs = 500
	}
	for seed := uint64(1); seed <= uint64(runs); seed++ {
		random := rand.New(rand.NewPCG(seed, 1))
		procs := 2 + random.IntN(9)
		for name, tree := range trees(t, procs) {
			c := prepared(t, tree, random.IntN(min(4, procs)), false)
			if err := explore.Random(newUntimed(c, c), seed, 10_000); err != nil {
				t.Fatalf("%s tree of %d: %v", name, procs, err)
			}
		}
	}
}

// Canaries: bugs that the exploration must catch.

// lateParts counts a child's part although the child was given up.
type lateParts struct{ *Config }

func (m lateParts) Receive(s *State, from int, kind Kind) Effect {
	if bit := m.childBit(s, from); (kind == KindPart || kind == KindTorn) && s.is(flagClosed) && s.heard&bit == 0 {
		s.heard |= bit
		return Combine
	}
	return m.Config.Receive(s, from, kind)
}

// anyone is a taker that stands for every process.
const anyone = -1

// manyTakers lets every process that isn't cut off take a copy.
type manyTakers struct{ *Config }

func (m manyTakers) Taker(position int, cutOff func(int) bool) (int, bool) {
	_, ok := m.Config.Taker(position, cutOff)
	return anyone, ok
}

func TestCanaries(t *testing.T) {
	for name, with := range map[string]func(*Config) machine{
		"late parts":  func(c *Config) machine { return lateParts{c} },
		"many takers": func(c *Config) machine { return manyTakers{c} },
	} {
		caught := false
		for _, tree := range trees(t, 4) {
			c := prepared(t, tree, 1, false)
			_, err := explore.All(newUntimed(c, with(c)), 3_000_000)
			caught = caught || err != nil
		}
		if !caught {
			t.Errorf("%s: not noticed", name)
		}
	}
}
