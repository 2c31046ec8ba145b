package varma

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/testing/network"
)

// group is a few nodes and everything that can occur: messages in order between two nodes, a
// perfect detector that tells each node at any time, deaths between the sends of a step.
type group struct {
	nodes   []*Node
	alive   []bool
	told    [][]bool
	network network.Network[Message]
	deaths  int          // that may still come
	last    []proto.Proc // the receivers of the last step's sends
	actor   int          // the node that took the last step
	history *line
}

// line is one line of a conversation, after others.
type line struct {
	text   string
	before *line
}

func (l *line) String() string {
	var list []string
	for ; l != nil; l = l.before {
		list = append(list, l.text)
	}
	slices.Reverse(list)
	return strings.Join(list, "\n") + "\n"
}

func newGroup(n, deaths int, lists bool) *group {
	g := &group{network: network.New[Message](n), deaths: deaths, actor: -1}
	for p := range n {
		m := New(proto.Proc(p), n, 2)
		m.Lists = lists
		g.nodes, g.alive = append(g.nodes, m), append(g.alive, true)
		g.told = append(g.told, make([]bool, n))
	}
	return g
}

func (g *group) clone() *group {
	c := *g
	c.nodes, c.alive = slices.Clone(g.nodes), slices.Clone(g.alive)
	c.told, c.network = make([][]bool, len(g.told)), g.network.Clone()
	for p := range g.told {
		c.told[p] = slices.Clone(g.told[p])
	}
	return &c
}

// step is the state after g in which p has done something.
func (g *group) step(p int, text string, do func(*Node, *Actions)) *group {
	c := g.clone()
	m := *c.nodes[p]
	m.members, m.dead, m.awaiting, m.joiners = slices.Clone(m.members), slices.Clone(m.dead), slices.Clone(m.awaiting), slices.Clone(m.joiners)
	c.nodes[p] = &m
	var out Actions
	do(&m, &out)
	c.last, c.actor = nil, p
	for _, a := range out {
		if a.To == proto.NoProc {
			continue
		}
		c.last = append(c.last, a.To)
		if c.alive[a.To] {
			c.network.Send(p, int(a.To), a.Message)
		}
	}
	c.history = &line{text, g.history}
	return c
}

// next is every state that may come after this one.
func (g *group) next() (all []*group) {
	for p := range g.nodes {
		for q := range g.nodes {
			if list := g.network.Queue(p, q); len(list) > 0 && g.alive[q] {
				x := list[0]
				c := g.step(q, fmt.Sprintf("%d hears from %d: %s", q, p, text(x)), func(m *Node, out *Actions) { m.Receive(proto.Proc(p), x, out) })
				c.network.Receive(p, q)
				all = append(all, c)
			}
			if p != q && g.alive[p] && !g.alive[q] && !g.told[p][q] {
				c := g.step(p, fmt.Sprintf("%d is told that %d is dead", p, q), func(m *Node, out *Actions) { m.Detected(proto.Proc(q), out) })
				c.told[p][q] = true
				all = append(all, c)
			}
		}
		if g.alive[p] && g.deaths > 0 {
			all = append(all, g.death(p)...)
		}
	}
	return all
}

// death lets a node die. If it took the last step, any number of that step's last sends are
// lost.
func (g *group) death(p int) (all []*group) {
	lost := 0
	if g.actor == p {
		lost = len(g.last)
	}
	for k := range lost + 1 {
		c := g.clone()
		c.alive[p], c.deaths, c.last, c.actor = false, g.deaths-1, nil, -1
		text := fmt.Sprintf("%d dies", p)
		if k > 0 {
			var to []string
			for _, q := range g.last[lost-k:] {
				to = append(to, fmt.Sprint(q))
				if n := len(c.network.Queue(p, int(q))); c.alive[q] && n > 0 {
					c.network.Keep(p, int(q), n-1)
				}
			}
			text += ", before it sends to " + strings.Join(to, " and ")
		}
		c.history = &line{text, g.history}
		all = append(all, c)
	}
	return all
}

func text(x Message) string {
	name := [...]string{NodeFailure: "node failure", RootFailure: "root failure", FailureDetAck: "failure seen", FailedNode: "failed node",
		RootDead: "root dead", NewNode: "new node", NewNodeJoin: "new node joins", JoinDetAck: "welcome", FailureAck: "acknowledged"}[x.Kind]
	if len(x.Nodes) == 0 {
		return name
	}
	return fmt.Sprintf("%s %d", name, x.Nodes)
}

func (g *group) key() string {
	var b strings.Builder
	for p, m := range g.nodes {
		fmt.Fprint(&b, g.alive[p], g.told[p])
		if g.alive[p] {
			fmt.Fprint(&b, *m)
		}
		for q := range g.nodes {
			fmt.Fprint(&b, g.network.Queue(p, q))
		}
	}
	fmt.Fprint(&b, g.deaths, g.last, g.actor)
	return b.String()
}

// collides says whether two live nodes have different views of one number.
func (g *group) collides() bool { return g.differs(true) }

func (g *group) differs(numbered bool) bool {
	for p, m := range g.nodes {
		for q, other := range g.nodes[:p] {
			if g.alive[p] && g.alive[q] && (!numbered || m.number == other.number) && !slices.Equal(m.members, other.members) {
				return true
			}
		}
	}
	return false
}

func (g *group) waits() bool {
	for p, m := range g.nodes {
		if g.alive[p] && m.Waiting() {
			return true
		}
	}
	return false
}

// views are the views of all live nodes.
func (g *group) views() string {
	s := ""
	for p, m := range g.nodes {
		if g.alive[p] {
			s += fmt.Sprintf("%d has view %d, %d\n", p, m.number, m.members)
		}
	}
	return s
}

// smallest searches all states, those after fewer events first, for a bad one: at any moment
// or, with end, only when no event is left.
func smallest(start *group, end bool, bad func(*group) bool, limit int) (*group, int) {
	seen := map[string]bool{}
	states := []*group{start}
	for i := 0; i < len(states) && len(states) < limit; i++ {
		g := states[i]
		next := g.next()
		quiet := !slices.ContainsFunc(next, func(c *group) bool { return c.deaths == g.deaths })
		if (quiet || !end) && bad(g) {
			return g, i
		}
		states[i] = nil
		for _, c := range next {
			if k := c.key(); !seen[k] {
				seen[k] = true
				states = append(states, c)
			}
		}
	}
	return nil, len(states)
}

// TestSmallest finds the shortest ways in which the protocol fails.
// docs/results/membership-bench.md must print them as they are found.
func TestSmallest(t *testing.T) {
	differ := func(g *group) bool { return g.differs(false) }
	docs, err := os.ReadFile("../../../../docs/results/membership-bench.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name      string
		n, deaths int
		lists     bool
		end       bool
		bad       func(*group) bool
		want      int // events, 0 if it doesn't occur
	}{
		{"one death, of anybody: different ends", 4, 1, false, true, differ, 0},
		{"one death, of anybody: a root waits for ever", 4, 1, false, true, (*group).waits, 0},
		{"one death, of anybody: two views of one number", 4, 1, false, false, (*group).collides, 0},
		{"two views of one number", 4, 2, false, false, (*group).collides, 5},
		{"different ends", 4, 2, false, true, differ, 6},
		{"a root waits for ever", 3, 2, false, true, (*group).waits, 4},
		{"with lists, two views of one number", 4, 2, true, false, (*group).collides, 5},
		{"with lists, a root waits for ever", 3, 2, true, true, (*group).waits, 0},
	} {
		g, states := smallest(newGroup(x.n, x.deaths, x.lists), x.end, x.bad, 300_000)
		if g == nil {
			t.Logf("%s, %d nodes, %d deaths: in none of %d states", x.name, x.n, x.deaths, states)
			if x.want > 0 {
				t.Errorf("%s: not found, want %d events", x.name, x.want)
			}
			continue
		}
		said := g.history.String() + g.views()
		if events := strings.Count(g.history.String(), "\n"); events != x.want {
			t.Errorf("%s: %d events, want %d:\n%s", x.name, events, x.want, said)
		}
		t.Logf("%s, %d nodes, %d deaths:\n%s", x.name, x.n, x.deaths, said)
		if !x.lists && x.n == 4 && !strings.Contains(string(docs), said) {
			t.Errorf("%s: docs/results/membership-bench.md lacks\n%s", x.name, said)
		}
	}
}
