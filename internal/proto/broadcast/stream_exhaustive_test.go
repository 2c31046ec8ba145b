package broadcast

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/queue"
	"banyan/internal/testing/explore"
	"banyan/internal/testing/network"
)

// TestStreamExhaustive visits every state that a few members can reach: any order of starts,
// sends, deliveries, ticks and news of deaths. Deaths come at any point; for each link
// separately, the frames under way then arrive or are lost.
func TestStreamExhaustive(t *testing.T) {
	cases := []struct {
		name   string
		size   int
		roots  []int
		deaths int
		offer  bool // payloads are large: corrections only offer them
		plain  bool // no corrections, and all but the root have started: only recovery
		long   bool // takes so long that only make soak visits it
	}{
		{name: "two members", size: 2, roots: []int{0, 1}, deaths: 1},
		{name: "offers", size: 3, roots: []int{0}, deaths: 1, offer: true},
		{name: "two deaths", size: 3, roots: []int{0}, deaths: 2},
		{name: "two deaths and offers", size: 3, roots: []int{0}, deaths: 2, offer: true, long: true},
		{name: "four members", size: 4, roots: []int{0}, deaths: 2, plain: true, long: true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.long && !explore.Long() {
				t.Skip("takes 5 to 40 s of processor time: make soak runs it")
			}
			e := &streamExplorer{
				roots: c.roots, deaths: c.deaths,
				seen: map[[16]byte]bool{}, relays: map[State]uint32{},
			}
			w := newSmallWorld(c.size, Scheme{})
			payload := []byte{1}
			if c.offer {
				payload = []byte{1, 2}
			}
			e.payload = payload
			if c.plain {
				for m := range w.members {
					w.members[m].trees[Shallow].Correction = NoCorrection
					if m != c.roots[0] {
						e.startNext(&w, m)
					}
				}
			}
			if problem := e.explore(w); problem != "" {
				t.Fatal(problem)
			}
			t.Logf("%d states", len(e.seen))
		})
	}
}

// smallWorld is one state of the members and the links between them. Time stands still: an
// action that is possible after PullDelay is possible at any time.
type smallWorld struct {
	members []smallMember
	network network.Network[Frame]
}

type smallMember struct {
	*Stream
	dead    bool
	started int
	outcome [2]outcome
	heard   uint64 // the members whose end it knows of
}

func newSmallWorld(size int, scheme Scheme) smallWorld {
	w := smallWorld{network: network.New[Frame](size)}
	for i := range size {
		w.members = append(w.members, smallMember{Stream: NewStream(StreamConfig{
			Self: i, Size: size, Window: 2, OfferAbove: 1, Scheme: scheme,
		})})
	}
	return w
}

// copied is a copy of a queue that shares no memory with it.
func copied[T any](q *queue.Queue[T]) (c queue.Queue[T]) {
	for i := range q.Len() {
		c.Push(*q.At(i))
	}
	return c
}

func (w *smallWorld) clone() smallWorld {
	c := smallWorld{members: slices.Clone(w.members), network: w.network.Clone()}
	for i := range c.members {
		s := *c.members[i].Stream
		s.slots = slices.Clone(s.slots)
		for j := range s.slots {
			s.slots[j].askers = slices.Clone(s.slots[j].askers)
			s.slots[j].holders = slices.Clone(s.slots[j].holders)
		}
		s.members = slices.Clone(s.members)
		s.tasks = copied(&s.tasks)
		s.later = copied(&s.later)
		s.uncorrected = copied(&s.uncorrected)
		s.lingering = copied(&s.lingering)
		c.members[i].Stream = &s
	}
	return c
}

type streamExplorer struct {
	roots   []int
	deaths  int
	shape   Shape
	unknown bool // nobody is told of deaths, which come before all else
	payload []byte
	seen    map[[16]byte]bool
	relays  map[State]uint32 // numbers for the states of the tree
	todo    []smallWorld
	problem string
	out     StreamActions
	text    []byte
}

func (e *streamExplorer) explore(w smallWorld) string {
	e.visit(w)
	for len(e.todo) > 0 && e.problem == "" {
		w := e.todo[len(e.todo)-1]
		e.todo = e.todo[:len(e.todo)-1]
		if !e.expand(&w) {
			e.checkEnd(&w)
		}
	}
	return e.problem
}

func (e *streamExplorer) visit(w smallWorld) {
	if key := e.key(&w); !e.seen[key] {
		e.seen[key] = true
		e.todo = append(e.todo, w)
	}
}

// expand visits all states one step away, and reports whether any but deaths is.
func (e *streamExplorer) expand(w *smallWorld) bool {
	size, more := len(w.members), false
	dead := 0
	for i := range w.members {
		if w.members[i].dead {
			dead++
		}
	}
	for m := range w.members {
		if w.members[m].dead {
			continue
		}
		branch := func(act func(next *smallWorld, s *Stream)) {
			more = true
			next := w.clone()
			act(&next, next.members[m].Stream)
			e.carryOut(&next, m)
			e.visit(next)
		}
		if s := w.members[m].Stream; !s.Idle() {
			branch(func(_ *smallWorld, s *Stream) { s.SendReady(0, &e.out) })
		}
		if w.members[m].Deadline() != proto.Never {
			branch(func(_ *smallWorld, s *Stream) { s.Tick(0, &e.out) })
		}
		if w.members[m].started < len(e.roots) {
			next := w.clone()
			e.startNext(&next, m)
			e.visit(next)
			more = true
		}
		for from := range size {
			if len(w.network.Queue(from, m)) > 0 {
				branch(func(next *smallWorld, s *Stream) {
					s.Receive(0, from, next.network.Receive(from, m), &e.out)
				})
			}
			if w.members[from].dead && !e.unknown && w.members[m].heard>>from&1 == 0 {
				branch(func(next *smallWorld, s *Stream) {
					next.members[m].heard |= 1 << from
					s.Dead(0, from, &e.out)
				})
			}
		}
		if dead < e.deaths && !e.unknown {
			// Each set of links on which what is under way is lost.
			for lost := range 1 << size {
				next := w.clone()
				next.members[m].dead = true
				next.network.Deafen(m)
				pointless := false
				for to := range size {
					if lost>>to&1 == 1 {
						pointless = pointless || len(next.network.Queue(m, to)) == 0
						next.network.Keep(m, to, 0)
					}
				}
				if !pointless {
					e.visit(next)
				}
			}
		}
	}
	return more
}

func (e *streamExplorer) startNext(w *smallWorld, m int) {
	a := &w.members[m]
	root := e.roots[a.started]
	a.started++
	var payload []byte
	if root == m {
		payload = e.payload
	}
	a.StartAs(0, root, e.shape, payload, &e.out)
	e.carryOut(w, m)
}

func (e *streamExplorer) carryOut(w *smallWorld, m int) {
	for _, a := range e.out {
		switch a.Kind {
		case SendFrame:
			if !w.members[a.To].dead {
				a.Frame.Payload = bytes.Clone(a.Frame.Payload)
				w.network.Send(m, a.To, a.Frame)
			}
		case Coloured, Failed:
			o := &w.members[m].outcome[a.Frame.Number-1]
			if *o != nothing {
				e.problem = fmt.Sprintf("member %d: %d ends twice", m, a.Frame.Number)
			}
			if *o = gotError; a.Kind == Coloured {
				*o = gotIt
			}
		}
	}
	e.out = e.out[:0]
	e.checkAgreement(w)
}

func (e *streamExplorer) checkAgreement(w *smallWorld) {
	for number, root := range e.roots {
		var had [gotError + 1]bool
		for i := range w.members {
			if !w.members[i].dead {
				had[w.members[i].outcome[number]] = true
			}
		}
		if had[gotError] && (had[gotIt] || !w.members[root].dead) {
			e.problem = fmt.Sprintf("%d has come for some and failed for others: %s", number+1, w)
		}
	}
}

// checkEnd looks at a state in which nothing can happen any more.
func (e *streamExplorer) checkEnd(w *smallWorld) {
	for i := range w.members {
		m := &w.members[i]
		for number := range e.roots {
			if !m.dead && m.outcome[number] == nothing {
				e.problem = fmt.Sprintf("member %d waits for %d for ever: %s", i, number+1, w)
			}
		}
	}
}

func (w *smallWorld) String() string {
	var b bytes.Buffer
	for i, m := range w.members {
		fmt.Fprintf(&b, "%d: dead %t, outcome %d, knows ends %b; ", i, m.dead, m.outcome, m.heard)
	}
	return b.String()
}

// key identifies a state. Buffers, the contents of unused slots and cached times don't count.
func (e *streamExplorer) key(w *smallWorld) [16]byte {
	b := e.text[:0]
	put := func(xs ...int) {
		for _, x := range xs {
			b = binary.AppendVarint(b, int64(x))
		}
	}
	flag := func(x bool) int {
		if x {
			return 1
		}
		return 0
	}
	for i := range w.members {
		m := &w.members[i]
		put(flag(m.dead), m.started, int(m.outcome[0]), int(m.outcome[1]), int(m.heard))
		if m.dead {
			continue
		}
		put(int(m.completed), int(m.stable), int(m.others), int(m.need), int(m.asked), flag(m.deadline == 0))
		for j := range m.slots {
			sl := &m.slots[j]
			if put(int(sl.number)); sl.number == 0 {
				continue
			}
			if _, ok := e.relays[sl.relay]; !ok {
				e.relays[sl.relay] = uint32(len(e.relays))
			}
			askers, holders := 0, 0
			if len(sl.askers) > 0 {
				askers = int(sl.askers[0])
			}
			if len(sl.holders) > 0 {
				holders = int(sl.holders[0])
			}
			put(sl.root, int(sl.state), flag(sl.started), flag(sl.done), int(e.relays[sl.relay]),
				flag(sl.pullAt == 0), sl.offerer, sl.target, sl.turn, askers, holders,
				int(sl.shape), flag(sl.spreading), flag(sl.queued), flag(sl.lingers))
		}
		for _, p := range m.Stream.members {
			put(flag(p.gone), int(p.digest), int(p.reported), int(p.wish))
		}
		put(m.tasks.Len())
		for j := range m.tasks.Len() {
			t := *m.tasks.At(j)
			put(int(t.kind), int(t.number), t.to, t.at)
		}
		put(m.uncorrected.Len())
		for j := range m.uncorrected.Len() {
			put(int(m.uncorrected.At(j).number))
		}
		put(m.lingering.Len())
		for j := range m.lingering.Len() {
			put(int(m.lingering.At(j).number))
		}
	}
	for i := range len(w.members) * len(w.members) {
		link := w.network.Queue(i/len(w.members), i%len(w.members))
		put(len(link))
		for _, f := range link {
			put(int(f.Kind), int(f.Number), int(f.Stable), int(f.Step))
			if f.Kind == FramePull || f.Kind == FrameMissing {
				b = append(b, f.Payload...)
			}
		}
	}
	e.text = b
	sum := sha256.Sum256(b)
	return [16]byte(sum[:16])
}
