package revocation

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"banyan/internal/testing/explore"
	"banyan/internal/topology"
)

var (
	errUnknown = errors.New("a live member never learns that the communicator is revoked")
	errTwice   = errors.New("revoked twice")
	errUncause = errors.New("revoked, and nobody asked for it")
	errMany    = errors.New("more messages than promised")
)

// member is a machine, or one with a bug.
type member interface {
	Revoke(*Actions)
	Receive(int, Message, *Actions)
	Dead(int, *Actions)
	machine() *Machine
	copy() member
}

func (m *Machine) machine() *Machine { return m }
func (m *Machine) copy() member      { return m.clone() }

func (m *Machine) clone() *Machine {
	c := *m
	c.passed, c.has = slices.Clone(m.passed), slices.Clone(m.has)
	return &c
}

// rules are what doesn't change in a world.
type rules struct {
	members int
	tree    topology.Tree
	callers []int // members that revoke, at any time
	late    []int // members that open the communicator late
	gone    []int // members that have freed it, and know nothing
	deaths  int
	bug     func(*Machine) member
}

// world is a communicator that is revoked. A death drops what the dead member has sent at the
// moment when the receiver hears of the death.
type world struct {
	*rules
	actors   []actor
	channels [][]Message // from*members+to
	dead     int
	sent     int
	out      Actions
}

type actor struct {
	member
	dead, called, revoked bool
	closed                bool    // not open: not yet, or not any more
	kept                  Message // a revocation for when it opens
	keptFrom              int
	hears                 []bool
}

type event struct {
	kind     eventKind
	from, to int16
}

type eventKind uint8

const (
	deliver eventKind = iota
	call
	die
	hear
	opens
)

func (e event) String() string {
	switch e.kind {
	case deliver:
		return fmt.Sprintf("%d→%d", e.from, e.to)
	case hear:
		return fmt.Sprintf("%d-hears-%d", e.to, e.from)
	}
	return fmt.Sprintf("%d-%s", e.to, [...]string{call: "revokes", die: "dies", opens: "opens"}[e.kind])
}

func (r *rules) world() *world {
	if r.bug == nil {
		r.bug = func(m *Machine) member { return m }
	}
	w := &world{rules: r, actors: make([]actor, r.members), channels: make([][]Message, r.members*r.members)}
	for p := range w.actors {
		w.actors[p] = actor{
			member: r.bug(New(Config{Self: p, Tree: r.tree})), hears: make([]bool, r.members),
			closed: slices.Contains(r.late, p) || slices.Contains(r.gone, p),
		}
	}
	return w
}

func (w *world) Events(dst []event) []event {
	for p := range w.actors {
		a, self := &w.actors[p], int16(p)
		if a.dead {
			for q := range w.actors {
				if b := &w.actors[q]; !b.dead && !b.hears[p] {
					dst = append(dst, event{hear, self, int16(q)})
				}
			}
			continue
		}
		if !a.closed && !a.called && slices.Contains(w.callers, p) {
			dst = append(dst, event{call, self, self})
		}
		if a.closed && slices.Contains(w.late, p) {
			dst = append(dst, event{opens, self, self})
		}
		if w.dead < w.deaths {
			dst = append(dst, event{die, self, self})
		}
		for q := range w.actors {
			if len(w.channels[q*w.members+p]) > 0 {
				dst = append(dst, event{deliver, int16(q), self})
			}
		}
	}
	return dst
}

func (w *world) Apply(e event) error {
	p := int(e.to)
	a := &w.actors[p]
	w.out = w.out[:0]
	switch e.kind {
	case call:
		a.called = true
		a.Revoke(&w.out)
	case die:
		a.dead = true
		w.dead++
		for q := range w.actors {
			w.channels[q*w.members+p] = nil
		}
	case hear:
		a.hears = slices.Clone(a.hears)
		a.hears[e.from] = true
		w.channels[int(e.from)*w.members+p] = nil
		a.Dead(int(e.from), &w.out)
	case opens:
		a.closed = false
		if a.kept.Kind != 0 {
			a.Receive(a.keptFrom, a.kept, &w.out)
		}
	case deliver:
		c := &w.channels[int(e.from)*w.members+p]
		m := (*c)[0]
		*c = slices.Clone((*c)[1:])
		if !a.closed {
			a.Receive(int(e.from), m, &w.out)
		} else if m.Kind == Revoke {
			a.kept, a.keptFrom = m, int(e.from)
			w.send(p, int(e.from), Message{Kind: Absent})
		}
	}
	return w.act(p)
}

func (w *world) act(p int) error {
	a := &w.actors[p]
	for _, x := range w.out {
		if x.Kind == Send {
			w.send(p, x.To, x.Message)
			continue
		}
		if a.revoked {
			return fmt.Errorf("%w: at %d", errTwice, p)
		}
		if a.revoked = true; !slices.ContainsFunc(w.actors, func(b actor) bool { return b.called }) {
			return errUncause
		}
	}
	return nil
}

func (w *world) send(from, to int, m Message) {
	if m.Kind == Revoke {
		w.sent++
	}
	if !w.actors[to].dead && !w.actors[to].hears[from] {
		c := &w.channels[from*w.members+to]
		*c = append(slices.Clone(*c), m)
	}
}

// Check sees that all know where nothing but a death or a call may still happen.
func (w *world) Check() error {
	for _, e := range w.Events(nil) {
		if e.kind != die && e.kind != call {
			return nil
		}
	}
	return w.End()
}

// End: if one live member knows, all do at which the communicator is open.
func (w *world) End() error {
	known := false
	for p := range w.actors {
		known = known || !w.actors[p].dead && w.actors[p].revoked
	}
	for p := range w.actors {
		if a := &w.actors[p]; known && !a.dead && !a.closed && !a.revoked {
			return fmt.Errorf("%w: %d", errUnknown, p)
		}
	}
	if n := w.members; len(w.callers) == 1 && len(w.late)+len(w.gone)+w.dead == 0 && w.sent > 2*(n-1) {
		return fmt.Errorf("%w: %d", errMany, w.sent)
	}
	return nil
}

func (w *world) Clone() *world {
	c := &world{rules: w.rules, actors: slices.Clone(w.actors), channels: slices.Clone(w.channels), dead: w.dead, sent: w.sent}
	for p := range c.actors {
		c.actors[p].member = c.actors[p].copy()
	}
	return c
}

func (w *world) AppendKey(b []byte) []byte {
	add := func(list ...bool) {
		for _, x := range list {
			n := byte('0')
			if x {
				n = '1'
			}
			b = append(b, n)
		}
	}
	for p := range w.actors {
		a := &w.actors[p]
		m := a.machine()
		add(a.dead, a.called, a.revoked, a.closed, a.closed && a.kept.Kind != 0)
		if a.closed {
			b = append(b, byte(a.kept.Origin), byte(a.keptFrom))
		}
		add(a.hears...)
		if !a.dead {
			b = append(b, byte(m.origin), byte(len(m.has)))
			add(m.passed...)
			add(m.has...)
		}
	}
	for _, c := range w.channels {
		b = append(b, byte(len(c)))
		for _, m := range c {
			b = append(b, byte(m.Kind), byte(m.Origin))
		}
	}
	return append(b, byte(w.sent))
}

func tree(n int) topology.Tree {
	t, err := topology.Binomial(n, topology.Interleaved)
	if err != nil {
		panic(err)
	}
	return t
}

func star(n int) topology.Tree {
	t, err := topology.KAry(n, n-1, topology.Interleaved)
	if err != nil {
		panic(err)
	}
	return t
}

var worlds = map[string]rules{
	"two":         {members: 2, tree: tree(2), callers: []int{0, 1}, deaths: 1},
	"three":       {members: 3, tree: tree(3), callers: []int{1}, deaths: 2},
	"two callers": {members: 3, tree: tree(3), callers: []int{0, 2}, deaths: 2},
	"four":        {members: 4, tree: tree(4), callers: []int{0}, deaths: 2},
	"star":        {members: 4, tree: star(4), callers: []int{2}, deaths: 2},
	"late":        {members: 3, tree: tree(3), callers: []int{0}, late: []int{1}, deaths: 1},
	"gone":        {members: 4, tree: tree(4), callers: []int{0}, gone: []int{1, 2}, deaths: 1},
}

var longWorlds = map[string]rules{
	"four, three deaths": {members: 4, tree: tree(4), callers: []int{0, 2}, deaths: 3},
	"four, late":         {members: 4, tree: tree(4), callers: []int{0, 2}, late: []int{1, 3}, deaths: 2},
	"star, two callers":  {members: 4, tree: star(4), callers: []int{0, 2}, deaths: 3},
	"star of five":       {members: 5, tree: star(5), callers: []int{1}, deaths: 2},
	"five":               {members: 5, tree: tree(5), callers: []int{1}, deaths: 2},
}

func TestExhaustive(t *testing.T) {
	visit := func(name string, r rules) {
		t.Run(name, func(t *testing.T) {
			stats, err := explore.All(r.world(), 50_000_000)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", stats)
		})
	}
	for name, r := range worlds {
		visit(name, r)
	}
	if explore.Long() {
		for name, r := range longWorlds {
			visit(name, r)
		}
	}
}

func TestRandom(t *testing.T) {
	seeds := uint64(300)
	if explore.Long() {
		seeds = 30_000
	}
	for seed := uint64(1); seed <= seeds; seed++ {
		n := 2 + int(seed*7%31)
		if seed%100 == 0 {
			n = 256
		}
		r := rules{members: n, tree: tree(n), callers: []int{int(seed) % n, int(seed*5) % n}, deaths: int(seed*3) % min(n, 20)}
		if seed%3 == 0 {
			r.late = []int{int(seed*11) % n}
		}
		if err := explore.Random(r.world(), seed, 1000*n); err != nil {
			t.Fatalf("%d members: %v", n, err)
		}
	}
}

// quiet passes nothing on: only those know that the caller has told.
type quiet struct{ *Machine }

func (b quiet) copy() member { return quiet{b.clone()} }

func (b quiet) Receive(_ int, m Message, out *Actions) {
	if !b.known && m.Kind == Revoke {
		b.known, b.origin, b.has = true, m.Origin, make([]bool, len(b.passed))
		for p := range b.has {
			b.has[p] = true
		}
		*out = append(*out, Action{Kind: Revoked})
	}
}

// branching sends to its children in the tree only.
type branching struct{ *Machine }

func (b branching) copy() member { return branching{b.clone()} }

func (b branching) Receive(from int, m Message, out *Actions) {
	if !b.known && m.Kind == Revoke {
		b.known, b.origin, b.has = true, m.Origin, make([]bool, len(b.passed))
		*out = append(*out, Action{Kind: Revoked})
		b.disseminate(b.label(b.cfg.Self), out)
	}
}

func (b branching) Dead(member int, out *Actions) {
	b.passed[member] = true
	if b.known {
		b.disseminate(b.label(b.cfg.Self), out)
	}
}

// satisfied sends once, and doesn't repeat it when it hears of a death.
type satisfied struct{ *Machine }

func (b satisfied) copy() member { return satisfied{b.clone()} }

func (b satisfied) Dead(member int, out *Actions) { b.passed[member] = true }

// proud takes what is absent for what knows.
type proud struct{ *Machine }

func (b proud) copy() member { return proud{b.clone()} }

func (b proud) Receive(from int, m Message, out *Actions) {
	if m.Kind != Absent {
		b.Machine.Receive(from, m, out)
	}
}

func TestCanaries(t *testing.T) {
	for name, c := range map[string]struct {
		world string
		bug   func(*Machine) member
	}{
		"only the caller's children know": {"four", func(m *Machine) member { return quiet{m} }},
		"has only the tree":               {"four", func(m *Machine) member { return branching{m} }},
		"doesn't repeat it":               {"four", func(m *Machine) member { return satisfied{m} }},
		"relies on the absent":            {"gone", func(m *Machine) member { return proud{m} }},
	} {
		t.Run(name, func(t *testing.T) {
			r := worlds[c.world]
			r.bug = c.bug
			if _, err := explore.All(r.world(), 1_000_000); !errors.Is(err, errUnknown) {
				t.Fatalf("found %v, want %v", err, errUnknown)
			} else {
				t.Log(err)
			}
		})
	}
}

// TestRemind: a member that has missed the news is told again, once the machine knows.
func TestRemind(t *testing.T) {
	var out Actions
	m := New(Config{Self: 0, Tree: tree(3)})
	m.Remind(1, &out)
	if len(out) > 0 {
		t.Fatal("it reminds before it knows")
	}
	m.Revoke(&out)
	m.Revoke(&out)
	if want := (Actions{{Kind: Revoked}, {Send, 1, Message{Revoke, 0}}, {Send, 2, Message{Revoke, 0}}}); !slices.Equal(out, want) {
		t.Fatalf("it did %v, want %v", out, want)
	}
	out = nil
	m.Remind(2, &out)
	m.Remind(0, &out)
	if want := (Actions{{Send, 2, Message{Revoke, 0}}}); !slices.Equal(out, want) || !m.Known() {
		t.Errorf("it did %v, want %v", out, want)
	}
}

// TestCost: without deaths a revocation takes two messages a member at most (see End).
func TestCost(t *testing.T) {
	for _, n := range []int{2, 3, 8, 64, 256} {
		r := rules{members: n, tree: tree(n), callers: []int{n / 2}}
		if n == 8 {
			r.tree = star(n)
		}
		if err := explore.Random(r.world(), 1, 4*n); err != nil {
			t.Error(err)
		}
	}
}
