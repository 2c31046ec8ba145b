package replica

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// explorer visits every state that a world can come to, once.
type explorer struct {
	seen  map[digest]struct{}
	trace []event
	limit int // states, against a mistake in a test
}

// explore visits all states and returns how many there are, and the first
// violation with the events that lead to it.
func explore(w *world) (states int, err error) {
	x := explorer{seen: make(map[digest]struct{}), limit: 20_000_000}
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
		return fmt.Errorf("more than %d states", x.limit)
	}
	x.seen[d] = struct{}{}
	if quiet(w) {
		if err := w.verdict(); err != nil {
			return x.violation(err)
		}
	}
	for _, e := range w.enabled(nil) {
		next := w.fork(e.at)
		x.trace = append(x.trace, e)
		if err := next.apply(e); err != nil {
			return x.violation(err)
		}
		was := nodes[e.at]
		nodes[e.at] = next.nodes[e.at].digest()
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
		if e.kind != evSuspect && e.kind != evLeave && (e.kind != evCrash || w.nodes[e.at].status == doomed) {
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

// scenario is a world of two ranks, whose programs are in the words of parse.
type scenario struct {
	degree       int
	rank0, rank1 string
	options      options
	long         bool // takes more than a few seconds
}

func (s scenario) world(t testing.TB) *world {
	program := script{parse(t, s.rank0, 1), parse(t, s.rank1, 0)}
	s.options.purge = true
	return newWorld(Uniform(2, s.degree), program, 2, s.options)
}

const (
	anyone = 1<<64 - 1
	// senders are the replicas of rank 0, in two ranks of degree 2.
	senders = 0b0101
	// chain are replicas 2 and 0 of rank 0 in two ranks of degree 3: first
	// the natural sender to replica 2 of rank 1, then its substitute.
	chain = 0b01_0001
)

// TestExhaustive visits every state of small jobs. BANYAN_EXPLORE=long adds
// larger ones, for many minutes (-timeout 2h) and some gigabytes.
func TestExhaustive(t *testing.T) {
	scenarios := []scenario{
		// Both send, then receive: that must not hang (ERRATA, replication).
		{2, "s r", "s r", options{}, false},
		{2, "s r", "s r", options{crashes: 2, victims: anyone}, false},
		// One or two crashes anywhere.
		{2, "s s r", "r r s", options{crashes: 1, victims: anyone}, false},
		{2, "s0 s1", "r1 r0", options{crashes: 1, victims: anyone}, false},
		{2, "o", "r", options{crashes: 2, victims: anyone}, false},
		{2, "o w r", "r o w", options{crashes: 1, victims: anyone}, false},
		{2, "o s", "r r", options{crashes: 1, victims: anyone}, false},
		{2, "s o", "r r", options{crashes: 1, victims: anyone}, false},
		// Early leavers, which may die before their last frames are out.
		{2, "o s", "r r", options{crashes: 1, victims: senders, leave: true}, false},
		// The suspected run on for a while.
		{2, "s", "r", options{crashes: 2, victims: anyone, suspect: true, leave: true}, false},
		{2, "o", "r", options{crashes: 1, victims: senders, suspect: true, leave: true, prompt: true}, false},
		{2, "o s", "r r", options{crashes: 1, victims: senders, suspect: true, prompt: true}, false},
		// A substitute is substituted.
		{3, "s", "r", options{crashes: 2, victims: chain, prompt: true}, false},
		{3, "o", "r", options{crashes: 2, victims: chain, prompt: true}, false},

		{2, "s s r", "r r s", options{crashes: 2, victims: anyone}, true},
		{2, "o s s", "r r r", options{crashes: 2, victims: anyone}, true},
		{2, "o w s r", "r r o w", options{crashes: 2, victims: anyone}, true},
		{2, "o", "r", options{crashes: 2, victims: anyone, suspect: true, leave: true}, true},
		{2, "o s", "r r", options{crashes: 1, victims: anyone, suspect: true}, true},
		{3, "s", "r", options{crashes: 2, victims: anyone}, true},
		{3, "s s", "r r", options{crashes: 2, victims: chain, prompt: true}, true},
		{3, "o", "r", options{crashes: 2, victims: chain}, true},
	}
	for _, s := range scenarios {
		if s.long && os.Getenv("BANYAN_EXPLORE") != "long" {
			continue
		}
		name := fmt.Sprintf("degree %d, %d crashes, %s / %s", s.degree, s.options.crashes, s.rank0, s.rank1)
		t.Run(name, func(t *testing.T) {
			states, err := explore(s.world(t))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d states", states)
		})
	}
}
