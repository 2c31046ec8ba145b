package lease

import (
	"math/rand/v2"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/testing/explore"
)

// A world is a holder and a granter with clocks of their own and a network that drops and delays.
// True time passes in steps of a millisecond.
type world struct {
	rng             *rand.Rand
	now             int64 // true time in ms
	holderRate      float64
	granterRate     float64
	holderStart     proto.Time
	h               *Holder
	g               *Granter
	requests        []message[Request]
	grants          []message[Grant]
	holderPaused    int64 // until when
	granterPaused   int64
	cut             int64
	fromArrival     bool  // a canary: the lease runs from when the grant came
	acted, overSeen int64 // when the holder last acted with its lease; when Over said yes first
}

type message[T any] struct {
	at int64
	m  T
}

const length = proto.Time(5000e6)

func (w *world) holderClock() proto.Time {
	return w.holderStart + proto.Time(float64(w.now)*1e6*w.holderRate)
}
func (w *world) granterClock() proto.Time {
	return proto.Time(float64(w.now) * 1e6 * w.granterRate)
}

func newWorld(seed uint64, spread float64) *world {
	rng := rand.New(rand.NewPCG(seed, 1))
	w := &world{rng: rng, overSeen: -1}
	w.holderRate, w.granterRate = 1+spread*(2*rng.Float64()-1), 1+spread*(2*rng.Float64()-1)
	w.holderStart = proto.Time(rng.Int64N(1e15)) + 1
	first := Grant{w.holderClock(), length}
	w.now += rng.Int64N(100)
	w.g = NewGranter(w.granterClock(), length)
	w.now += rng.Int64N(100)
	w.h = NewHolder(first)
	return w
}

// delay is how long a message travels; some come after many seconds.
func (w *world) delay() int64 {
	if w.rng.IntN(10) == 0 {
		return w.rng.Int64N(20000)
	}
	return w.rng.Int64N(50)
}

// step passes a millisecond.
func (w *world) step() {
	w.now++
	switch w.rng.IntN(20000) {
	case 0:
		w.holderPaused = w.now + w.rng.Int64N(8000)
	case 1:
		w.granterPaused = w.now + w.rng.Int64N(8000)
	case 2, 3:
		w.cut = w.now + w.rng.Int64N(12000)
	}
	if w.now >= w.holderPaused {
		w.holderActs()
	}
	if w.now >= w.granterPaused {
		w.granterActs()
	}
}

func (w *world) holderActs() {
	now := w.holderClock()
	for i := 0; i < len(w.grants); i++ {
		if m := w.grants[i]; m.at <= w.now {
			w.grants[i] = w.grants[len(w.grants)-1]
			w.grants, i = w.grants[:len(w.grants)-1], i-1
			if w.fromArrival {
				m.m.At = now
			}
			w.h.Granted(now, m.m)
		}
	}
	if w.h.Held(now) {
		w.acted = w.now
	}
	if w.now%500 == 0 {
		w.requests = append(w.requests, message[Request]{w.now + w.delay(), w.h.Ask(now)})
	}
}

func (w *world) granterActs() {
	now := w.granterClock()
	if w.g.Over(now) && w.overSeen < 0 {
		w.overSeen = w.now
	}
	for i := 0; i < len(w.requests); i++ {
		m := w.requests[i]
		if m.at > w.now {
			continue
		}
		w.requests[i] = w.requests[len(w.requests)-1]
		w.requests, i = w.requests[:len(w.requests)-1], i-1
		if w.now < w.cut {
			continue
		}
		if g, ok := w.g.Asked(now, m.m); ok {
			w.grants = append(w.grants, message[Grant]{w.now + w.delay(), g})
		}
	}
}

// broken says whether the holder acted with its lease when the granter held it for dead.
func (w *world) broken(steps int) bool {
	for range steps {
		w.step()
		if w.overSeen >= 0 && w.acted >= w.overSeen {
			return true
		}
	}
	return false
}

func runs(t *testing.T, seeds uint64, spread float64, fromArrival bool) (broken, over, held int) {
	t.Helper()
	for seed := range seeds {
		w := newWorld(seed, spread)
		w.fromArrival = fromArrival
		if w.broken(60000) {
			broken++
		}
		switch {
		case w.overSeen >= 0:
			over++
		case w.h.Held(w.holderClock()):
			held++
		}
	}
	return
}

// Nothing acts with a lease that the granter holds for over, with clocks whose rates differ by up
// to 1 in 100, drops, delays of seconds and pauses of both sides.
func TestLease(t *testing.T) {
	seeds := uint64(200)
	if explore.Long() {
		seeds = 20000
	}
	broken, over, held := runs(t, seeds, 0.005, false)
	if broken > 0 || over == 0 || held == 0 {
		t.Errorf("of %d runs %d break the invariant, %d end by the lease, %d still hold it", seeds, broken, over, held)
	}
}

// The test notices a lease that runs from the grant's arrival, and clocks that differ too much.
func TestLeaseCanaries(t *testing.T) {
	if broken, _, _ := runs(t, 50, 0.005, true); broken == 0 {
		t.Error("a lease that runs from its grant's arrival was not noticed")
	}
	if broken, _, _ := runs(t, 50, 0.5, false); broken == 0 {
		t.Error("clocks whose rates differ by half were not noticed")
	}
}

// A quiet network keeps the lease for ever.
func TestRenewal(t *testing.T) {
	now := proto.Time(1)
	h, g := NewHolder(Grant{now, length}), NewGranter(now, length)
	for i := range 1000 {
		now += Renewal(length)
		grant, ok := g.Asked(now, h.Ask(now))
		if !ok {
			t.Fatalf("refused after %d", i)
		}
		h.Granted(now, grant)
	}
	if h.Until() != now+length || g.End() > now+2*length || len(g.granted) > 3 {
		t.Errorf("at %v: until %v, end %v, %d grants", now, h.Until(), g.End(), len(g.granted))
	}
}

// What is over stays over.
func TestOverStays(t *testing.T) {
	h, g := NewHolder(Grant{1, 10}), NewGranter(1, 10)
	if h.Held(11) || !g.Over(13) {
		t.Error("not over")
	}
	h.Granted(11, Grant{2, 100})
	if _, ok := g.Asked(13, Request{12, 1}); ok || h.Held(11) || g.Over(12) == false {
		t.Error("something was granted after the end")
	}
}
