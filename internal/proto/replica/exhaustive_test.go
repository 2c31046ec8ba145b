package replica

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"banyan/internal/proto"
)

// explorer visits every state that a world can come to, once.
type explorer struct {
	seen  map[digest]struct{}
	trace []event
	limit int        // states
	order *rand.Rand // of the events; as they come if nil
}

// errLimit ends an exploration that has visited as many states as it may.
var errLimit = errors.New("too many states")

// explore visits all states, or a part of them in an order of its own, and
// returns how many, and the first violation with the events that lead to it.
func explore(w *world, limit int, order *rand.Rand) (states int, err error) {
	x := explorer{seen: make(map[digest]struct{}), limit: limit, order: order}
	nodes := make([]digest, len(w.nodes))
	for i, n := range w.nodes {
		nodes[i] = n.digest()
	}
	err = x.visit(w, nodes)
	return len(x.seen), err
}

func (x *explorer) visit(w *world, nodes []digest) error {
	d := w.digest(nodes)
	if _, seen := x.seen[d]; seen {
		return nil
	}
	if len(x.seen) == x.limit {
		return errLimit
	}
	x.seen[d] = struct{}{}
	if quiet(w) {
		if err := w.verdict(); err != nil {
			return x.violation(err)
		}
	}
	events := w.enabled(nil)
	if x.order != nil {
		x.order.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	}
	for _, e := range events {
		next := w.fork(e.at)
		x.trace = append(x.trace, e)
		if err := next.apply(e); err != nil {
			return x.violation(err)
		}
		was := nodes[e.at]
		nodes[e.at] = next.nodes[e.at].digest()
		if e.kind == evHeal {
			nodes[e.other] = next.nodes[e.other].digest() // nothing before: it was dead
		}
		err := x.visit(next, nodes)
		nodes[e.at] = was
		x.trace = x.trace[:len(x.trace)-1]
		if err != nil {
			return err
		}
	}
	return nil
}

// quiet says whether nothing but a crash, or leaving, can happen any more. Such
// a job must be over.
func quiet(w *world) bool {
	for _, e := range w.enabled(nil) {
		if e.kind != evSuspect && e.kind != evLeave && e.kind != evHeal && (e.kind != evCrash || w.nodes[e.at].status == doomed) {
			return false
		}
	}
	return true
}

func (x *explorer) violation(err error) error {
	var b strings.Builder
	for _, e := range x.trace {
		fmt.Fprint(&b, " ", e)
	}
	return fmt.Errorf("%w after%s", err, b.String())
}

// scenario is a world whose programs are in the words of parse, one for each rank
// with / between them.
type scenario struct {
	layout  Layout
	program string
	options options
	long    bool // takes more than a few seconds
}

func (s scenario) String() string {
	name := fmt.Sprintf("%v, %d crashes, %s", s.layout, s.options.crashes, strings.ReplaceAll(s.program, "/", "|"))
	if s.options.mirror {
		name = "mirror, " + name
	}
	if s.options.lead > 0 {
		name += fmt.Sprintf(", ahead by %d", s.options.lead)
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
	return newWorld(s.layout, program, 2, s.options)
}

const (
	anyone = 1<<64 - 1
	// senders are the replicas of rank 0, in two ranks of degree 2.
	senders = 0b0101
	// chain are replicas 2 and 0 of rank 0 in two ranks of degree 3: first
	// the natural sender to replica 2 of rank 1, then its substitute.
	chain = 0b01_0001
)

// all is more states than any scenario has.
const all = 50_000_000

// TestExhaustive visits every state of small jobs, and a part of those of larger
// ones. BANYAN_EXPLORE=long visits all of the larger, for hours (-timeout 10h) and
// with some gigabytes.
func TestExhaustive(t *testing.T) {
	partial := func(degrees ...int) Layout { return Partial(degrees) }
	// first is a job of which process 2, a replica of rank 0, died at the start.
	first := func(o options) options {
		o.dead, o.heals, o.donors = 0b100, max(1, o.heals), anyone
		return o
	}
	scenarios := []scenario{
		// Both send, then receive: that must not hang (ERRATA, replication).
		{two, "s r / s r", options{}, false},
		{two, "s r / s r", options{crashes: 2, victims: anyone}, false},
		// One or two crashes anywhere.
		{two, "s s r / r r s", options{crashes: 1, victims: anyone}, true},
		{two, "s0 s1 / r1 r0", options{crashes: 1, victims: anyone}, false},
		{two, "o / r", options{crashes: 2, victims: anyone}, false},
		{two, "o w r / r o w", options{crashes: 1, victims: anyone}, false},
		{two, "o s / r r", options{crashes: 1, victims: anyone}, true},
		{two, "s o / r r", options{crashes: 1, victims: senders}, false},
		{two, "s o / r r", options{crashes: 2, victims: anyone}, true},
		{two, "s s r / r r s", options{crashes: 2, victims: anyone}, true},
		{two, "o s s / r r r", options{crashes: 2, victims: anyone}, true},
		{two, "o w s r / r r o w", options{crashes: 2, victims: anyone}, true},
		// Early leavers, which may die before their last frames are out.
		{two, "o s / r r", options{crashes: 1, victims: senders, leave: true}, true},
		// The suspected run on for a while.
		{two, "s / r", options{crashes: 1, victims: senders, suspect: true, leave: true}, false},
		{two, "s / r", options{crashes: 2, victims: anyone, suspect: true, leave: true}, true},
		{two, "o / r", options{crashes: 1, victims: senders, suspect: true, leave: true, prompt: true}, false},
		{two, "o s / r r", options{crashes: 1, victims: senders, suspect: true, prompt: true}, true},
		{two, "o / r", options{crashes: 2, victims: anyone, suspect: true, leave: true}, true},
		{two, "o s / r r", options{crashes: 1, victims: anyone, suspect: true}, true},
		// A substitute is substituted.
		{three, "s / r", options{crashes: 2, victims: chain, prompt: true}, true},
		{three, "o / r", options{crashes: 2, victims: chain, prompt: true}, true},
		{three, "s / r", options{crashes: 2, victims: anyone}, true},
		{three, "s s / r r", options{crashes: 2, victims: chain, prompt: true}, true},
		{three, "o / r", options{crashes: 2, victims: chain}, true},

		// Ranks that differ in degree.
		{partial(2, 1), "s r / r s", options{crashes: 1, victims: anyone}, false},
		{partial(1, 2), "s r / r s", options{crashes: 1, victims: anyone}, false},
		{partial(2, 1), "o w r / r o w", options{crashes: 1, victims: anyone}, false},
		{partial(1, 2), "o w r / r o w", options{crashes: 1, victims: anyone}, false},
		{partial(3, 1), "s r / r s", options{crashes: 2, victims: anyone}, false},
		{partial(3, 1), "o / r", options{crashes: 2, victims: anyone}, false},
		{partial(1, 3), "o / r", options{crashes: 2, victims: anyone}, false},
		{partial(3, 2), "s / r", options{crashes: 3, victims: anyone}, true},
		{partial(2, 1, 2), "sb rc / ra sc / rb sa", options{crashes: 2, victims: anyone, prompt: true}, true},

		// Mirror.
		{two, "s r / s r", options{mirror: true, crashes: 2, victims: anyone}, true},
		{two, "s / r", options{mirror: true, crashes: 2, victims: anyone}, false},
		{two, "o / r", options{mirror: true, crashes: 1, victims: senders}, false},
		{two, "o / r", options{mirror: true, crashes: 2, victims: anyone}, true},
		{two, "o s / r r", options{mirror: true, crashes: 2, victims: anyone}, true},
		{partial(2, 1), "o s / r r", options{mirror: true, crashes: 1, victims: anyone}, false},
		{partial(1, 2), "o s / r r", options{mirror: true, crashes: 1, victims: anyone}, false},
		{partial(3, 1), "o / r", options{mirror: true, crashes: 2, victims: anyone}, true},
		// So that a replica is held after the first message that it has received and
		// a sibling hasn't.
		{two, "r s / s r", options{mirror: true, lead: 1, crashes: 1, victims: senders}, false},
		{two, "r s / s r", options{mirror: true, lead: 1, crashes: 2, victims: anyone}, true},
		{two, "r s r s / s s r r", options{mirror: true, lead: 2, crashes: 1, victims: anyone}, true},
		{two, "r r s w r / s s o r w", options{mirror: true, lead: 2, crashes: 1, victims: anyone}, true},
		{three, "r s / s r", options{mirror: true, lead: 1, crashes: 1, victims: anyone}, true},
		{partial(2, 1), "r s r s / s s r r", options{mirror: true, lead: 1, crashes: 1, victims: anyone}, false},

		// A slot is filled anew, and one more process dies, if it isn't that of
		// the donor before the state is there.
		{two, "s / r", first(options{crashes: 1, victims: anyone}), false},
		{two, "r / s", first(options{crashes: 1, victims: anyone, prompt: true}), false},
		{two, "r / o", first(options{crashes: 1, victims: anyone, prompt: true}), true},
		{two, "o / r", first(options{crashes: 1, victims: anyone, prompt: true}), true},
		{two, "s s / r r", first(options{crashes: 1, victims: anyone}), true},
		{two, "r r / s s", first(options{crashes: 1, victims: anyone}), true},
		{two, "s r / s r", first(options{crashes: 1, victims: anyone}), true},
		{two, "o r / r o", first(options{crashes: 1, victims: anyone, prompt: true}), true},
		{two, "s / r", first(options{crashes: 2, victims: anyone, heals: 2}), true},
		{two, "s / r", first(options{crashes: 1, victims: anyone, suspect: true, leave: true}), true},
		{three, "s / r", first(options{crashes: 1, victims: anyone, prompt: true}), true},
		{partial(2, 1), "s r / r s", first(options{crashes: 1, victims: anyone}), false},
		{partial(3, 2), "s / r", options{dead: 1 << 4, heals: 1, donors: 1, crashes: 2, victims: 0b101, prompt: true}, true},
		{two, "s / r", first(options{mirror: true, crashes: 1, victims: anyone}), false},
		{two, "r / o", first(options{mirror: true, crashes: 1, victims: anyone}), true},
		{two, "o r / r o", first(options{mirror: true, crashes: 1, victims: anyone}), true},
		{two, "r s / s r", first(options{mirror: true, lead: 1, crashes: 1, victims: anyone}), true},
		{two, "s r / r s", first(options{mirror: true, lead: 1}), true},
	}
	for i, s := range scenarios {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			limit, order := all, (*rand.Rand)(nil)
			if s.long && os.Getenv("BANYAN_EXPLORE") != "long" {
				limit, order = 4_000, rand.New(rand.NewPCG(uint64(i), 0))
			}
			states, err := explore(s.world(t), limit, order)
			if err != nil && (limit == all || !errors.Is(err, errLimit)) {
				t.Fatal(err)
			}
			t.Logf("%d states", states)
		})
	}
}
