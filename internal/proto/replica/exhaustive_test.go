package replica

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/testing/explore"
)

// exploreAll visits all states that a world can reach, or some of them in a random order. It
// returns how many, and the first violation with the events that led to it.
func exploreAll(w *world, limit int, order *rand.Rand) (states int, err error) {
	w.memo, w.order = newMemo(!w.reduced), order
	for i, n := range w.nodes {
		w.nodes[i] = w.memo.node(n)
	}
	stats, err := explore.All(w, limit)
	return stats.States, err
}

// Events, with Apply, Check and AppendKey, makes a world one that package explore explores.
func (w *world) Events(events []event) []event {
	events = w.enabled(events)
	if w.reduced {
		events = w.reduce(events)
	}
	if w.order != nil {
		w.order.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	}
	return events
}

func (w *world) Apply(e event) error { return w.apply(e) }

// Check checks a state in which only a crash or a leave is possible: the job must be over.
func (w *world) Check() error {
	if !quiet(w) {
		return nil
	}
	if w.ends != nil {
		w.ends[w.end()] = true
	}
	return w.verdict()
}

// end describes a quiet world.
func (w *world) end() string {
	e := encoder{bytes: w.appendRest(nil)}
	for _, n := range w.nodes {
		n.encode(&e)
	}
	return string(e.bytes)
}

func (w *world) End() error { return nil }

func (w *world) Clone() *world {
	c := *w
	c.nodes, c.channels = slices.Clone(w.nodes), slices.Clone(w.channels)
	return &c
}

func (w *world) CopyInto(c *world) {
	nodes, channels := c.nodes, c.channels
	*c = *w
	c.nodes, c.channels = nodes, channels
	copy(nodes, w.nodes)
	copy(channels, w.channels)
}

func (w *world) AppendKey(key []byte) []byte {
	key = w.appendRest(key)
	if w.reduced {
		key = append(key, byte(w.unheard))
	}
	for _, n := range w.nodes {
		key = binary.LittleEndian.AppendUint32(key, n.known.number)
	}
	for _, q := range w.channels {
		if q == nil {
			key = append(key, 0)
		} else {
			key = binary.AppendUvarint(key, uint64(q.number))
		}
	}
	return key
}

// appendRest appends the parts of the state that are neither in a process nor in a channel.
func (w *world) appendRest(key []byte) []byte {
	key = binary.AppendUvarint(append(key, byte(w.moreCrashes), byte(w.moreHeals)), w.healing)
	key = append(key, 0)
	if w.unsettled {
		key[len(key)-1] = 1
	}
	return key
}

// quiet says whether only a crash or a leave is possible.
func quiet(w *world) bool {
	w.events = w.enabled(w.events[:0])
	for _, e := range w.events {
		if e.kind != evSuspect && e.kind != evLeave && e.kind != evHeal && (e.kind != evCrash || w.nodes[e.at].status == doomed) {
			return false
		}
	}
	return true
}

// scenario is a world whose programs are in the words of parse: one for each rank, with /
// between them.
type scenario struct {
	layout  layout.Layout
	program string
	options options
	long    bool // takes more than a few seconds
}

func (s scenario) String() string {
	name := fmt.Sprintf("%v, %d crashes, %s", s.layout, s.options.crashes, strings.ReplaceAll(s.program, "/", "|"))
	if s.options.mirror {
		name = "mirror, " + name
	}
	if s.options.skew > 0 {
		name += fmt.Sprintf(", ahead by %d", s.options.skew)
	}
	if s.options.heals > 0 {
		name += fmt.Sprintf(", %d healings", s.options.heals)
	}
	return name
}

func (s scenario) world(t testing.TB) *world {
	var program script
	for i, steps := range strings.Split(s.program, "/") {
		program = append(program, parse(t, steps, proto.Rank(1-min(i, 1))))
	}
	s.options.purge = true
	w := newWorld(s.layout, program, 2, s.options)
	w.reduced = true
	return w
}

const (
	anyone = 1<<64 - 1
	// senders are the replicas of rank 0, in two ranks of degree 2.
	senders = 0b0101
	// chain are replicas 2 and 0 of rank 0 in two ranks of degree 3: the natural sender to
	// replica 2 of rank 1, then its substitute.
	chain = 0b01_0001
)

// all is more states than any scenario has; the one with three replicas and skews may have
// more.
const all = 40_000_000

// long says that a test may take minutes.

// TestExhaustive visits every state of small jobs, except for those that can't show anything
// new (reduced_test.go), and a part of those of larger jobs. BANYAN_EXPLORE=long visits all
// states of the larger ones, for some minutes; the largest have 20 million states and take one
// gigabyte.
func TestExhaustive(t *testing.T) {
	for i, s := range scenarios() {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			limit, order := all, (*rand.Rand)(nil)
			if s.long && !explore.Long() {
				limit, order = 20_000, rand.New(rand.NewPCG(uint64(i), 0))
			}
			states, err := exploreAll(s.world(t), limit, order)
			if s.long && errors.Is(err, explore.ErrLimit) {
				t.Logf("the first %d states", states)
			} else if err != nil {
				t.Fatal(err)
			} else {
				t.Logf("all %d states", states)
			}
		})
	}
}

func scenarios() []scenario {
	partial := func(degrees ...int) layout.Layout { return layout.Partial(degrees) }
	// first gives a job in which process 2, a replica of rank 0, died at the start.
	first := func(o options) options {
		o.dead, o.heals, o.donors = 0b100, max(1, o.heals), anyone
		return o
	}
	// both gives a job in which processes 2 and 3, one of each rank, died at the start.
	both := func(o options) options {
		o.dead, o.heals, o.donors = 0b1100, max(2, o.heals), anyone
		return o
	}
	return []scenario{
		// Both ranks send, then receive. That must not hang; it does with algorithm 1 as
		// printed.
		{two, "s r / s r", options{}, false},
		{two, "s r / s r", options{crashes: 2, victims: anyone}, false},
		// One or two crashes anywhere.
		{two, "s s r / r r s", options{crashes: 1, victims: anyone}, false},
		{two, "s0 s1 / r1 r0", options{crashes: 1, victims: anyone}, false},
		{two, "o / r", options{crashes: 2, victims: anyone}, false},
		{two, "o w r / r o w", options{crashes: 1, victims: anyone}, false},
		{two, "o s / r r", options{crashes: 1, victims: anyone}, false},
		{two, "s o / r r", options{crashes: 1, victims: senders}, false},
		{two, "s o / r r", options{crashes: 2, victims: anyone}, false},
		{two, "s s r / r r s", options{crashes: 2, victims: anyone}, false},
		{two, "o s s / r r r", options{crashes: 2, victims: anyone}, true},
		{two, "o w s r / r r o w", options{crashes: 2, victims: anyone}, false},
		// Processes that leave early, and may die before their last frames are sent.
		{two, "o s / r r", options{crashes: 1, victims: senders, leave: true}, false},
		// Suspected processes run on for a while.
		{two, "s / r", options{crashes: 1, victims: senders, suspect: true, leave: true}, false},
		{two, "s / r", options{crashes: 2, victims: anyone, suspect: true, leave: true}, false},
		{two, "o / r", options{crashes: 1, victims: senders, suspect: true, leave: true, prompt: true}, false},
		{two, "o s / r r", options{crashes: 1, victims: senders, suspect: true, prompt: true}, false},
		{two, "o / r", options{crashes: 2, victims: anyone, suspect: true, leave: true}, true},
		{two, "o s / r r", options{crashes: 1, victims: anyone, suspect: true}, true},
		// A substitute dies and is itself substituted.
		{three, "s / r", options{crashes: 2, victims: chain, prompt: true}, false},
		{three, "o / r", options{crashes: 2, victims: chain, prompt: true}, true},
		{three, "s / r", options{crashes: 2, victims: anyone}, true},
		{three, "s s / r r", options{crashes: 2, victims: chain, prompt: true}, true},
		{three, "o / r", options{crashes: 2, victims: chain}, true},

		// Ranks of different degrees.
		{partial(2, 1), "s r / r s", options{crashes: 1, victims: anyone}, false},
		{partial(1, 2), "s r / r s", options{crashes: 1, victims: anyone}, false},
		{partial(2, 1), "o w r / r o w", options{crashes: 1, victims: anyone}, false},
		{partial(1, 2), "o w r / r o w", options{crashes: 1, victims: anyone}, false},
		{partial(3, 1), "s r / r s", options{crashes: 2, victims: anyone}, false},
		{partial(3, 1), "o / r", options{crashes: 2, victims: anyone}, false},
		{partial(1, 3), "o / r", options{crashes: 2, victims: anyone}, false},
		{partial(3, 2), "s / r", options{crashes: 3, victims: anyone}, false},
		{partial(2, 1, 2), "sb rc / ra sc / rb sa", options{crashes: 2, victims: anyone, prompt: true}, false},

		// The mirror protocol.
		{two, "s r / s r", options{mirror: true, crashes: 2, victims: anyone}, false},
		{two, "s / r", options{mirror: true, crashes: 2, victims: anyone}, false},
		{two, "o / r", options{mirror: true, crashes: 1, victims: senders}, false},
		{two, "o / r", options{mirror: true, crashes: 2, victims: anyone}, false},
		{two, "o s / r r", options{mirror: true, crashes: 2, victims: anyone}, true},
		{partial(2, 1), "o s / r r", options{mirror: true, crashes: 1, victims: anyone}, false},
		{partial(1, 2), "o s / r r", options{mirror: true, crashes: 1, victims: anyone}, false},
		{partial(3, 1), "o / r", options{mirror: true, crashes: 2, victims: anyone}, false},
		// A replica is throttled after the first message that it has received and a sibling
		// hasn't.
		{two, "r s / s r", options{mirror: true, skew: 1, crashes: 1, victims: senders}, false},
		{two, "r s / s r", options{mirror: true, skew: 1, crashes: 2, victims: anyone}, false},
		{two, "r s r s / s s r r", options{mirror: true, skew: 2, crashes: 1, victims: anyone}, true},
		{two, "r r s w r / s s o r w", options{mirror: true, skew: 2, crashes: 1, victims: anyone}, true},
		{partial(3, 1), "r s / s r", options{mirror: true, skew: 1, crashes: 1, victims: anyone}, false},
		{three, "r s / s r", options{mirror: true, skew: 1, crashes: 1, victims: anyone}, true},
		{partial(2, 1), "r s r s / s s r r", options{mirror: true, skew: 1, crashes: 1, victims: anyone}, false},

		// A slot is filled anew, and one more process dies, though not the donor before it has
		// handed the state over.
		{two, "s / r", first(options{crashes: 1, victims: anyone}), false},
		{two, "r / s", first(options{crashes: 1, victims: anyone, prompt: true}), false},
		{two, "r / o", first(options{crashes: 1, victims: anyone, prompt: true}), false},
		{two, "o / r", first(options{crashes: 1, victims: anyone, prompt: true}), false},
		{two, "s s / r r", first(options{crashes: 1, victims: anyone}), true},
		{two, "r r / s s", first(options{crashes: 1, victims: anyone}), true},
		{two, "s r / s r", first(options{crashes: 1, victims: anyone}), true},
		{two, "o r / r o", first(options{crashes: 1, victims: anyone, prompt: true}), true},
		{two, "s / r", first(options{crashes: 2, victims: anyone, heals: 2}), true},
		{two, "s / r", first(options{crashes: 1, victims: anyone, suspect: true, leave: true}), true},
		{two, "r / s", first(options{crashes: 1, victims: anyone, suspect: true, leave: true}), true},
		{two, "o / r", first(options{crashes: 1, victims: anyone, suspect: true, leave: true}), true},
		{two, "r / o", first(options{crashes: 1, victims: anyone, suspect: true, leave: true}), true},
		{two, "s r / s r", first(options{crashes: 1, victims: anyone, suspect: true, leave: true}), true},
		{three, "s / r", first(options{crashes: 1, victims: anyone, prompt: true}), true},
		{three, "r / s", first(options{crashes: 1, victims: anyone, prompt: true}), true},
		{partial(2, 1), "s r / r s", first(options{crashes: 1, victims: anyone}), false},
		{partial(3, 2), "s / r", options{dead: 1 << 4, heals: 1, donors: 1, crashes: 2, victims: 0b101, prompt: true}, true},
		{two, "s / r", first(options{mirror: true, crashes: 1, victims: anyone}), false},
		{two, "s / r", first(options{mirror: true, crashes: 1, victims: anyone, suspect: true, leave: true}), true},
		{two, "r / o", first(options{mirror: true, crashes: 1, victims: anyone}), true},
		{two, "o r / r o", first(options{mirror: true, crashes: 1, victims: anyone}), true},
		{two, "r s / s r", first(options{mirror: true, skew: 1, crashes: 1, victims: anyone}), true},
		{two, "s r / r s", first(options{mirror: true, skew: 1}), true},

		// Two slots are filled anew, at once or one after the other.
		{two, "s / r", both(options{}), true},
		{two, "o / r", both(options{prompt: true}), true},
		{two, "s / r", both(options{crashes: 1, victims: anyone, prompt: true}), true},
		{two, "o / r", both(options{crashes: 1, victims: anyone, prompt: true}), true},
		{two, "s r / s r", both(options{crashes: 1, victims: anyone, prompt: true}), true},
		{two, "o r / r o", both(options{crashes: 1, victims: anyone}), true},
		{two, "s / r", both(options{heals: 3, crashes: 2, victims: anyone, prompt: true}), true},
		{two, "s / r", both(options{crashes: 1, victims: anyone, suspect: true, leave: true}), true},
		{two, "o r / r o", both(options{mirror: true, crashes: 1, victims: anyone}), true},
		{partial(2, 2, 2), "s / r / ", options{dead: 0b111000, heals: 3, donors: anyone, prompt: true}, true},
	}
}
