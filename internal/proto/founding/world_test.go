package founding

import (
	"errors"
	"fmt"
	"slices"
)

// view is a view of the group in the world: which start of each process is a member; 0: none.
type view struct {
	token  uint64
	counts [4]uint8
}

// disk is what a process keeps: the view in force and the one that it has accepted as the next.
type disk struct {
	count uint8
	last  view
	next  view
}

func (d *disk) memory() (m Memory, needed []Needed) {
	if d.last.token == 0 {
		return m, nil
	}
	m = Memory{Founding: ID{byte(d.last.token / 100)}, Token: d.last.token}
	for i, c := range d.last.counts {
		if c > 0 {
			needed = append(needed, Needed{Node: start(i, c).Node})
		}
	}
	if d.next.token > 0 {
		for i, c := range d.next.counts {
			m.Next = m.Next*31 + uint64(c)
			if c > 0 && d.last.counts[i] != c {
				needed = append(needed, Needed{Node: start(i, c).Node})
			}
		}
		m.Next++
	}
	return m, needed
}

func start(i int, count uint8) Start { return Start{ID{byte(i + 1)}, uint64(count)} }

// node is a process: down, a candidate or a member.
type node struct {
	disk      disk
	up        bool
	candidate *Machine // nil: a member, if up
}

// world has some processes, which end and start again, and a group that changes as membership lets
// it: all live members accept a view before its coordinator installs it, joiners on disk.
type world struct {
	cfg                     worldConfig
	nodes                   []node
	asking                  [4]uint8         // which start asks to be let in; 0: none
	flight                  [4][4]*Candidate // what one candidate tells another, under way
	told                    [4][4]Candidate  // last
	crashes, forgets, joins int
	founded                 int
}

type worldConfig struct {
	n, members              int // the first are members at first, of one view
	crashes, forgets, joins int
	expect                  uint32
	diskless                bool // processes have no disks
	lenient                 rule
	setup                   func(*world) // before all
}

func newWorld(cfg worldConfig) *world {
	w := &world{cfg: cfg, nodes: make([]node, cfg.n), crashes: cfg.crashes, forgets: cfg.forgets, joins: cfg.joins}
	first := view{token: 101}
	for i := range cfg.members {
		first.counts[i] = 1
	}
	for i := range w.nodes {
		w.nodes[i].disk.count = 1
		w.nodes[i].up = true
		if i < cfg.members {
			w.nodes[i].disk.last = first
		} else {
			w.search(i)
		}
	}
	if cfg.members > 0 {
		w.founded = 1
	}
	if cfg.setup != nil {
		cfg.setup(w)
	}
	return w
}

// search makes a process a candidate.
func (w *world) search(i int) {
	n := &w.nodes[i]
	memory, needed := n.disk.memory()
	n.candidate = New(Config{Name: fmt.Sprint(i), Start: start(i, n.disk.count), Memory: memory, Needed: needed,
		Expect: w.cfg.expect, lenient: w.cfg.lenient})
	for j := range w.nodes {
		w.told[i][j] = Candidate{}
	}
}

func (w *world) member(i int) bool { return w.nodes[i].up && w.nodes[i].candidate == nil }

// current is the latest view of live members.
func (w *world) current() (v view) {
	for i := range w.nodes {
		if w.member(i) && w.nodes[i].disk.last.token > v.token {
			v = w.nodes[i].disk.last
		}
	}
	return v
}

type event struct {
	kind string
	i, j int
}

func (e event) String() string { return fmt.Sprintf("%s(%d,%d)", e.kind, e.i, e.j) }

func (w *world) Events(dst []event) []event {
	add := func(kind string, i, j int) { dst = append(dst, event{kind, i, j}) }
	current := w.current()
	coordinator := -1
	for i := range w.nodes {
		if w.member(i) && w.nodes[i].disk.last == current && current.counts[i] > 0 {
			coordinator = i
			break
		}
	}
	for i := range w.nodes {
		n := &w.nodes[i]
		if !n.up {
			add("start", i, 0)
			continue
		}
		if w.crashes > 0 {
			add("crash", i, 0)
		}
		c := n.candidate
		if c == nil {
			if n.disk.last.token < current.token && n.disk.last.token/100 == current.token/100 {
				add("install", i, 0)
			}
			continue
		}
		if c.Found() {
			add("found", i, 0)
			continue
		}
		_, promised := c.Promised()
		for j := range w.nodes {
			switch {
			case j == i || !w.nodes[j].up:
			case w.nodes[j].candidate == nil:
				if !c.Self().Exists || known(c, j) {
					add("meet", i, j)
				}
				if !promised && w.asking[i] == 0 && w.joins > 0 && j == coordinator && current.counts[i] < n.disk.count {
					add("ask", i, j)
				}
			case w.told[i][j] != c.Self() && w.flight[i][j] == nil:
				add("tell", i, j)
			}
			if w.flight[i][j] != nil {
				add("hear", i, j)
			}
			if w.forgets > 0 && known(c, j) {
				add("forget", i, j)
			}
		}
		if c.Self().Exists && (current.token == 0 || w.forgets > 0) {
			add("unlive", i, 0)
		}
		if coordinator >= 0 && !promised && current.counts[i] == n.disk.count {
			add("admit", i, 0)
		}
	}
	if coordinator >= 0 {
		if next := w.proposal(coordinator, current); next.token > 0 {
			all := true
			for i := range w.nodes {
				if w.accepts(i, current) && w.nodes[i].disk.next != next {
					add("accept", i, coordinator)
					all = false
				}
			}
			if all {
				add("decide", coordinator, 0)
			}
		}
	}
	return dst
}

func known(c *Machine, j int) bool {
	_, ok := c.search(start(j, 1).Node)
	return ok
}

// accepts says whether a process takes part in the change of a view.
func (w *world) accepts(i int, v view) bool {
	return w.member(i) && v.counts[i] == w.nodes[i].disk.count && w.nodes[i].disk.last.token/100 == v.token/100
}

// proposal is what a coordinator proposes to follow a view; the zero view if nothing changes. What
// a live member has accepted is proposed again.
func (w *world) proposal(coordinator int, v view) view {
	for i := range w.nodes {
		if n := &w.nodes[i]; w.accepts(i, v) && n.disk.next.token == v.token+1 {
			return n.disk.next
		}
	}
	next := v
	next.token++
	for i := range w.nodes {
		if v.counts[i] > 0 && !w.accepts(i, v) && (!w.nodes[i].up || w.nodes[i].disk.count > v.counts[i]) {
			next.counts[i] = 0
		}
	}
	for i := range w.nodes {
		if w.asking[i] > 0 && next.counts[i] == 0 {
			next.counts[i] = w.asking[i]
		}
	}
	if next.counts == v.counts {
		return view{}
	}
	return next
}

func (w *world) Apply(e event) error {
	n := &w.nodes[e.i]
	switch e.kind {
	case "crash":
		w.crashes--
		n.up, n.candidate = false, nil
		w.asking[e.i] = 0
		for j := range w.nodes {
			w.flight[e.i][j], w.flight[j][e.i] = nil, nil
		}
	case "start":
		n.up = true
		n.disk.count++
		if w.cfg.diskless {
			n.disk.last, n.disk.next = view{}, view{}
		}
		for j := range w.nodes {
			w.told[j][e.i] = Candidate{}
		}
		w.search(e.i)
	case "tell":
		s := n.candidate.Self()
		w.flight[e.i][e.j], w.told[e.i][e.j] = &s, s
	case "hear":
		s := w.flight[e.i][e.j]
		w.flight[e.i][e.j] = nil
		if c := w.nodes[e.j].candidate; c != nil {
			c.Heard(*s)
		}
	case "forget":
		w.forgets--
		w.told[e.j][e.i] = Candidate{} // it may be heard of again
		n.candidate.Gone(start(e.j, 1).Node)
	case "meet":
		n.candidate.Exists(true)
		n.candidate.Gone(start(e.j, 1).Node)
	case "unlive":
		n.candidate.Exists(false)
		if w.current().token > 0 {
			w.forgets--
		}
	case "ask":
		w.joins--
		w.asking[e.i] = n.disk.count
	case "accept":
		w.nodes[e.i].disk.next = w.proposal(e.j, w.current())
	case "decide", "install":
		v := w.current()
		if e.kind == "decide" {
			v = w.proposal(e.i, v)
			w.asking = [4]uint8{}
		}
		n.disk.last, n.disk.next = v, view{}
		if v.counts[e.i] != n.disk.count {
			return fmt.Errorf("member %d installs a view without it", e.i)
		}
	case "admit":
		n.disk.last, n.disk.next, n.candidate = w.current(), view{}, nil
	case "found":
		for j := range w.nodes {
			if w.member(j) {
				return fmt.Errorf("%d founds the group while %d is a member of view %d", e.i, j, w.nodes[j].disk.last.token)
			}
		}
		w.founded++
		v := view{token: uint64(w.founded)*100 + 1}
		v.counts[e.i] = n.disk.count
		n.disk.last, n.disk.next, n.candidate = v, view{}, nil
	}
	return nil
}

var errNobody = errors.New("all processes are there, and nobody founds the group")

// End: while all processes are up, somebody is a member, unless memories are in conflict.
func (w *world) End() error {
	for i := range w.nodes {
		c := w.nodes[i].candidate
		if c == nil || slices.ContainsFunc(c.Known(), func(o Candidate) bool { return o.Memory.conflicts(c.self.Memory) }) {
			return nil
		}
	}
	return fmt.Errorf("%w: %v", errNobody, w.nodes[0].candidate.Missing())
}

func (w *world) Clone() *world {
	x := *w
	x.nodes = slices.Clone(w.nodes)
	for i := range x.nodes {
		if c := x.nodes[i].candidate; c != nil {
			d := *c
			d.others = slices.Clone(c.others)
			x.nodes[i].candidate = &d
		}
	}
	return &x
}

func (w *world) AppendKey(b []byte) []byte {
	b = append(append(b, w.asking[:]...), byte(w.crashes), byte(w.forgets), byte(w.joins), byte(w.founded))
	for i := range w.nodes {
		n := &w.nodes[i]
		b = n.disk.appendKey(b)
		b = append(b, truth(n.up), truth(n.candidate != nil))
		if c := n.candidate; c != nil {
			b = appendCandidate(b, &c.self)
			for k := range c.others {
				b = appendCandidate(b, &c.others[k])
			}
		}
		for j := range w.nodes {
			if f := w.flight[i][j]; f != nil {
				b = append(b, 'f', byte(i), byte(j))
				b = appendCandidate(b, f)
			}
			b = append(b, byte(w.told[i][j].Change))
		}
	}
	return b
}

// appendCandidate appends what differs between states of one candidate.
func appendCandidate(b []byte, c *Candidate) []byte {
	return append(b, c.Start.Node[0], byte(c.Start.Count), byte(c.Memory.Token), byte(c.Memory.Token>>8), byte(c.Memory.Next), byte(c.Change),
		c.Promise.To.Node[0], byte(c.Promise.To.Count), byte(c.Promise.Round), truth(c.Exists))
}

func (d *disk) appendKey(b []byte) []byte {
	b = append(b, d.count)
	for _, v := range []view{d.last, d.next} {
		b = append(append(b, byte(v.token), byte(v.token>>8)), v.counts[:]...)
	}
	return b
}

func truth(yes bool) byte {
	if yes {
		return 1
	}
	return 0
}
