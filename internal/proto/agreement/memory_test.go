package agreement_test

import (
	"math/rand/v2"
	"testing"

	"banyan/internal/proto/agreement"
	"banyan/internal/proto/revocation"
	"banyan/internal/testing/explore"
	"banyan/internal/topology"
)

// node is a process of TestMemory: a driver, as small as one can be.
type node struct {
	at      int // the number of its present communicator
	entered bool
	open    map[int]*communicator
	early   map[int][]packet // for communicators that it will open
}

type communicator struct {
	agreement  *agreement.Machine
	revocation *revocation.Machine
	revoked    bool
	decided    bool
}

// packet is a message of either machine, of a communicator.
type packet struct {
	from         int
	communicator int
	agreement    agreement.Message
	revocation   revocation.Message // if its Kind isn't 0
}

type memoryWorld struct {
	n        int
	tree     topology.Tree
	random   *rand.Rand
	nodes    []node
	channels [][]packet
	most     int // communicators that one kept at a time
	mostWait int // messages under way in a channel
	early    int
	out      agreement.Actions
	revoked  revocation.Actions
}

// TestMemory: members revoke their communicator, shrink it, go on in the new one and free the old
// one, again and again, and keep a constant number of communicators. Messages are under way for a
// random time.
func TestMemory(t *testing.T) {
	rounds := 20_000
	if explore.Long() {
		rounds = 100_000
	}
	w := &memoryWorld{n: 4, random: rand.New(rand.NewPCG(1, 2))}
	var err error
	if w.tree, err = topology.Binomial(w.n, topology.InOrder); err != nil {
		t.Fatal(err)
	}
	w.nodes, w.channels = make([]node, w.n), make([][]packet, w.n*w.n)
	for p := range w.nodes {
		w.nodes[p].open, w.nodes[p].early = map[int]*communicator{}, map[int][]packet{}
		w.begin(p)
	}
	for done := false; !done; {
		w.step(w.random.IntN(w.n))
		done = true
		for p := range w.nodes {
			done = done && w.nodes[p].at >= rounds
		}
	}
	t.Logf("at most %d communicators at one process, %d messages in one channel, %d early", w.most, w.mostWait, w.early)
	if w.most > 40 {
		t.Errorf("one process kept %d communicators", w.most)
	}
	if w.early > 40 {
		t.Errorf("one process kept %d messages for communicators to come", w.early)
	}
}

// begin opens the next communicator.
func (w *memoryWorld) begin(p int) {
	n := &w.nodes[p]
	c := &communicator{
		agreement:  agreement.New(agreement.Config{Self: p, Tree: w.tree}),
		revocation: revocation.New(revocation.Config{Self: p, Tree: w.tree}),
	}
	n.open[n.at], n.entered = c, false
	w.most = max(w.most, len(n.open))
	list := n.early[n.at]
	delete(n.early, n.at)
	for _, x := range list {
		w.take(p, x)
	}
}

// step lets a process do something.
func (w *memoryWorld) step(p int) {
	n := &w.nodes[p]
	c := n.open[n.at]
	switch what := w.random.IntN(3 + 2*w.n); {
	case what == 0 && !n.entered && !c.revoked:
		c.revocation.Revoke(&w.revoked)
		w.act(p, n.at, c)
	case what < 3 && !n.entered:
		n.entered = true
		c.agreement.Contribute(agreement.Contribution{Flags: 1}, &w.out)
		w.act(p, n.at, c)
	case c.decided:
		old := n.at
		n.at++
		w.begin(p)
		c.agreement.Close(c.revoked, &w.out)
		w.act(p, old, c)
	default:
		q := w.random.IntN(w.n)
		channel := &w.channels[q*w.n+p]
		if len(*channel) > 0 {
			x := (*channel)[0]
			*channel = append((*channel)[:0], (*channel)[1:]...)
			w.take(p, x)
		}
	}
}

// take hands a message to its machine, or does what a driver does without one.
func (w *memoryWorld) take(p int, x packet) {
	n := &w.nodes[p]
	if c := n.open[x.communicator]; c != nil {
		if x.revocation.Kind != 0 {
			c.revocation.Receive(x.from, x.revocation, &w.revoked)
		} else {
			c.agreement.Receive(x.from, x.agreement, &w.out)
		}
		w.act(p, x.communicator, c)
		return
	}
	keep := x.communicator > n.at
	switch {
	case x.revocation.Kind == revocation.Revoke:
		w.send(p, x.from, packet{communicator: x.communicator, revocation: revocation.Message{Kind: revocation.Absent}})
	case x.revocation.Kind == revocation.Absent:
		keep = false
	case !x.agreement.Opens():
		keep = false
		if x.agreement.Kind != agreement.KindAbsent {
			w.send(p, x.from, packet{communicator: x.communicator, agreement: agreement.Message{Kind: agreement.KindAbsent}})
		}
	case !keep:
		panic("a contribution to what is forgotten")
	}
	if keep {
		n.early[x.communicator] = append(n.early[x.communicator], x)
		w.early = max(w.early, len(n.early[x.communicator]), len(n.early))
	}
}

func (w *memoryWorld) act(p, number int, c *communicator) {
	for _, a := range w.revoked {
		if a.Kind == revocation.Send {
			w.send(p, a.To, packet{communicator: number, revocation: a.Message})
		} else {
			c.revoked = true
		}
	}
	for _, a := range w.out {
		switch a.Kind {
		case agreement.Send:
			w.send(p, a.To, packet{communicator: number, agreement: a.Message})
		case agreement.Decide:
			c.decided = true
		case agreement.Forget:
			delete(w.nodes[p].open, number)
		}
	}
	w.out, w.revoked = w.out[:0], w.revoked[:0]
}

func (w *memoryWorld) send(from, to int, x packet) {
	x.from = from
	channel := &w.channels[from*w.n+to]
	*channel = append(*channel, x)
	w.mostWait = max(w.mostWait, len(*channel))
}

// TestInFlightMemory: members with many agreements in flight keep no more than those, and the
// steady state allocates nothing.
func TestInFlightMemory(t *testing.T) {
	for _, n := range []int{2, 4} {
		inFlightMemory(t, n)
	}
}

func inFlightMemory(t *testing.T, n int) {
	const inFlight = 8
	tree, err := topology.Binomial(n, topology.InOrder)
	if err != nil {
		t.Fatal(err)
	}
	machines := make([]*agreement.Machine, n)
	for p := range machines {
		machines[p] = agreement.New(agreement.Config{Self: p, Tree: tree})
	}
	type sent struct {
		from int
		agreement.Action
	}
	var queue []sent
	var out agreement.Actions
	decided := 0
	act := func(p int) {
		for _, a := range out {
			if a.Kind == agreement.Decide {
				decided++
			} else {
				queue = append(queue, sent{p, a})
			}
		}
		out = out[:0]
	}
	round := func() {
		for range inFlight {
			for p := range machines {
				machines[p].Contribute(agreement.Contribution{Flags: 1}, &out)
				act(p)
			}
		}
		for i := 0; i < len(queue); i++ {
			machines[queue[i].To].Receive(queue[i].from, queue[i].Message, &out)
			act(queue[i].To)
		}
		queue = queue[:0]
	}
	if allocations := testing.AllocsPerRun(1000, round); allocations > 0 {
		t.Errorf("%v allocations a round", allocations)
	}
	if want := 1001 * n * inFlight; decided != want {
		t.Errorf("%d decisions, want %d", decided, want)
	}
	for p := range machines {
		if kept := machines[p].Kept(); kept > 2*inFlight {
			t.Errorf("member %d keeps %d agreements", p, kept)
		}
	}
}
