package process

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/proto/passive"
)

// gossip is a program that isn't send-deterministic at all: what it does next, and what it sends,
// depends on all that it has seen, on the answers to its tests and probes, and on the time.
type gossip struct {
	rank, ranks int
	context     uint64
	each        int    // messages to each other rank
	seen        uint64 // a hash of all
	sent        []int
	received    int
	posted      int
	open        []posted // receives
	sends       []Handle // how many are under way isn't the same at all replicas
	found       *Status  // by a probe; is received next
	ended       Handle   // the answer to a test: it is waited for
	times       int
	err         error
	threads     int  // how many act on the same context
	unruly      bool // a mistake: it doesn't wait for its turn
}

func newGossip(rank, ranks, each int) *gossip {
	return &gossip{rank: rank, ranks: ranks, context: 2, each: each, seen: uint64(rank), sent: make([]int, ranks)}
}

func (g *gossip) total() int { return g.each * (g.ranks - 1) }

// mayAct waits for its turn, if there are several threads.
func (g *gossip) mayAct(p *Process) bool { return g.threads == 0 || g.unruly || p.MayAct(g.context) }

func (g *gossip) act(p *Process) {
	if g.threads > 0 && !g.unruly {
		p.Act(g.context)
	}
}

func (g *gossip) see(values ...uint64) {
	for _, v := range values {
		g.seen = scatter(g.seen*31 + v)
	}
}

// ask asks a question as the engine does.
func (g *gossip) ask(p *Process, q Question, look func() uint64) (word uint64, ok bool) {
	p.Asks(q)
	switch {
	case p.HasAnswer():
		var err error
		if word, err = p.NextAnswer(q); err != nil {
			g.err = err
		}
	case p.Decides():
		word = look()
		p.Answer(q, word)
	default:
		return 0, false
	}
	g.see(uint64(q), word)
	return word, true
}

func (g *gossip) step(p *Process) bool {
	if g.err != nil {
		return true
	}
	switch {
	case g.ended != Handle{}:
		g.end(p)
		return false
	case g.found != nil:
		if !g.mayAct(p) || p.HoldsBack(g.context, g.found.Source, g.found.Tag) {
			return false
		}
		if g.threads > 0 {
			if g.takeFound(p) {
				g.act(p)
			}
		} else if s, ok, _ := p.Probe(g.context, g.found.Source, g.found.Tag); ok {
			g.see(uint64(s.Bytes))
			g.post(p, s.Source, s.Tag)
			g.found = nil
		}
		return false
	}
	what := g.seen >> 7
	left := 0
	for r, n := range g.sent {
		if r != g.rank {
			left += g.each - n
		}
	}
	switch {
	case left > 0 && what%4 == 0:
		if g.mayAct(p) {
			g.act(p)
			g.send(p, what>>2)
		}
	case g.posted < g.total() && what%4 == 1:
		if g.mayAct(p) {
			g.act(p)
			g.post(p, proto.AnyRank, proto.AnyTag)
		}
	case g.posted < g.total() && what%4 == 2 && g.threads > 0:
		g.probeTaking(p)
	case g.posted < g.total() && what%4 == 2:
		g.probe(p)
	case g.times < 5 && what%8 == 3:
		if _, ok := g.ask(p, AskTime, func() uint64 { return uint64(p.now) + uint64(p.cfg.Self) }); ok {
			g.times++
		}
	case len(g.open) > 0:
		g.test(p)
	case g.received < g.total() || left > 0:
		g.see(1)
	case len(g.sends) > 0:
		if p.Done(g.sends[0]) {
			p.Take(g.sends[0])
			g.sends = g.sends[1:]
		}
	default:
		return true
	}
	return false
}

func (g *gossip) send(p *Process, choice uint64) {
	dst := int(choice) % g.ranks
	for dst == g.rank || g.sent[dst] == g.each {
		dst = (dst + 1) % g.ranks
	}
	g.sent[dst]++
	size := [...]int{8, 100, EagerLimit + 1, 8, 30}[choice>>8%5]
	body := make([]byte, size)
	binary.LittleEndian.PutUint64(body, g.seen)
	h := p.Send(g.context, proto.Rank(dst), int32(choice>>16%2), body)
	g.see(uint64(dst))
	if h != (Handle{}) {
		g.sends = append(g.sends, h)
	}
}

func (g *gossip) post(p *Process, src proto.Rank, tag int32) {
	b := make([]byte, EagerLimit+1)
	g.posted++
	g.open = append(g.open, posted{h: p.Receive(g.context, src, tag, b), buffer: b, recv: true})
	g.see(2)
}

func (g *gossip) probe(p *Process) {
	word, ok := g.ask(p, AskProbe, func() uint64 {
		if s, ok, _ := p.Probe(g.context, proto.AnyRank, proto.AnyTag); ok {
			return FoundMessage(s.Source, s.Tag)
		}
		return 0
	})
	if ok && word != 0 {
		src, tag := MessageFound(word)
		g.found = &Status{Source: src, Tag: tag}
	}
}

func (g *gossip) test(p *Process) {
	word, ok := g.ask(p, AskEnded, func() uint64 {
		for i, o := range g.open {
			if p.Done(o.h) {
				return uint64(i + 1)
			}
		}
		return 0
	})
	if ok && word != 0 {
		g.ended = g.open[word-1].h
	}
}

// end ends the receive that was said to have ended, as soon as it has here.
func (g *gossip) end(p *Process) {
	if !p.Done(g.ended) {
		return
	}
	for i, o := range g.open {
		if o.h == g.ended {
			s, err := p.Take(o.h)
			if err != nil {
				g.err = err
			}
			g.see(uint64(s.Source), uint64(s.Tag), uint64(s.Bytes), binary.LittleEndian.Uint64(o.buffer))
			g.open = append(g.open[:i], g.open[i+1:]...)
			break
		}
	}
	g.received++
	g.ended = Handle{}
}

// runGossip runs a job with deaths, of which each rank survives one replica, and compares what the
// live replicas of each rank have seen.
func runGossip(t testing.TB, seed uint64, cfg Config, each, crashes int, mend ...func(*testJob)) {
	l := cfg.Layout
	cfg.Leader, cfg.Period, cfg.Timeout = true, 100e6, 1e9
	cfg.Corrupted = func(c Corruption) { t.Errorf("seed %d: %+v", seed, c) }
	told := 0
	cfg.FirstDecision = func(string) { told++ }
	programs := make([]*gossip, 0, l.Procs())
	w := newTestJobOf(t, seed, cfg, func(rank proto.Rank, _ int) program {
		g := newGossip(int(rank), l.Ranks(), each)
		programs = append(programs, g)
		return g
	})
	for _, f := range mend {
		f(w)
	}
	w.run(crashes, func() proto.Proc {
		q := proto.Proc(w.rng.IntN(l.Procs()))
		live := 0
		for k := range l.Degree(l.Rank(q)) {
			if n := w.nodes[l.Proc(l.Rank(q), k)]; !n.dead {
				live++
			}
		}
		if live < 2 {
			return proto.NoProc
		}
		return q
	})
	begun := 0
	for q, g := range programs {
		if w.nodes[q].p.Begun() {
			begun++
		}
		if w.nodes[q].dead {
			continue
		}
		if g.err != nil || g.received != g.total() {
			t.Fatalf("seed %d: %v has received %d of %d: %v", seed, q, g.received, g.total(), g.err)
		}
		for other := range programs[:q] {
			if !w.nodes[other].dead && l.Rank(proto.Proc(other)) == l.Rank(proto.Proc(q)) && programs[other].seen != g.seen {
				t.Fatalf("seed %d: replicas %d and %d of %v have seen different things", seed, other, q, l.Rank(proto.Proc(q)))
			}
		}
	}
	if cfg.Auto && (told != begun || told == 0) {
		t.Fatalf("seed %d: %d processes have told of their first decision, and %d have made it", seed, told, begun)
	}
}

// Replicas of programs that depend on timing end alike, with deaths of leaders and others.
func TestLeaderOrder(t *testing.T) {
	for _, c := range []struct {
		layout  layout.Layout
		mirror  bool
		auto    bool
		crashes int
	}{
		{layout.Uniform(3, 2), false, false, 0},
		{layout.Uniform(3, 2), false, false, 3},
		{layout.Uniform(2, 3), false, false, 4},
		{layout.Partial([]int{2, 1, 3}), false, false, 3},
		{layout.Uniform(3, 2), true, false, 3},
		{layout.Uniform(3, 2), false, true, 3},
		{layout.Uniform(3, 2), true, true, 3},
	} {
		t.Run(fmt.Sprint(c.layout, c.mirror, c.auto, c.crashes), func(t *testing.T) {
			seeds(t, func(t *testing.T, seed uint64) {
				runGossip(t, seed, Config{Layout: c.layout, Mirror: c.mirror, Auto: c.auto}, 12, c.crashes)
			})
		})
	}
}

// heard is what a sibling hears, of any thread.
type heard struct {
	answers
	matches map[uint64]matched
	threads []ThreadID
	turns   [][2]uint64
	ends    bool
	steps   []string
}

func (h *heard) hearThread(t ThreadID)                     { h.threads = append(h.threads, t) }
func (h *heard) hearAnswer(q Question, word, times uint64) { h.add(q, word, times) }
func (h *heard) hearMatch(number uint64, m matched)        { h.matches[number] = m }
func (h *heard) hearTurns(context, times uint64) {
	h.turns = append(h.turns, [2]uint64{context, times})
}
func (h *heard) hearStep(context uint64, s passive.Step, times uint64) {
	h.steps = append(h.steps, fmt.Sprint(context, s, times))
}
func (h *heard) hearEnd() { h.add(theEnd, 0, 1); h.ends = true }

// What a leader has decided its siblings read.
func TestDecisions(t *testing.T) {
	var d decisions
	d.answer(AskEnded, 0)
	d.match(1, matched{proto.Rank(7), 9})
	d.answer(AskEnded, 0)
	d.answer(AskProbe, 0)
	d.answer(AskTime, 1<<63)
	d.match(2, matched{proto.Rank(0), 1<<31 - 1})
	d.turn(4)
	d.turn(4)
	d.turn(6)
	d.on(1<<63 + 5)
	d.turn(6)
	d.on(0)
	d.step(8, passive.Step{Source: 3}, 2)
	d.step(8, passive.Step{Own: true}, 1)
	d.end()
	record := d.take()
	if !d.empty() {
		t.Error("what was taken is still there")
	}
	a := heard{matches: map[uint64]matched{}}
	readDecisions(record, &a)
	if a.matches[1] != (matched{7, 9}) || a.matches[2] != (matched{0, 1<<31 - 1}) || !a.ends {
		t.Errorf("%+v", a)
	}
	if !slices.Equal(a.threads, []ThreadID{0, 1<<63 + 5, 0}) || !slices.Equal(a.turns, [][2]uint64{{4, 2}, {6, 1}, {6, 1}}) {
		t.Errorf("%+v", a)
	}
	if want := []string{"8 a message of rank 3 2", "8 the program's own step 1"}; !slices.Equal(a.steps, want) {
		t.Errorf("steps %q, want %q", a.steps, want)
	}
	for i, want := range []struct {
		q    Question
		word uint64
	}{{AskEnded, 0}, {AskEnded, 0}, {AskProbe, 0}, {AskTime, 1 << 63}} {
		if asked, word := a.next(want.q); asked != want.q || word != want.word {
			t.Errorf("answer %d is %v, %d", i, asked, word)
		}
	}
	if asked, _ := a.next(AskEnded); asked != theEnd || !a.atEnd() {
		t.Errorf("after the end it %v", asked)
	}
	for _, m := range []matched{{0, 0}, {1<<31 - 1, 1<<31 - 1}, {3, 5}} {
		if src, tag := MessageFound(FoundMessage(m.src, m.tag)); src != m.src || tag != m.tag {
			t.Errorf("%v is %v %d", m, src, tag)
		}
	}
}

func FuzzDecisions(f *testing.F) {
	var d decisions
	d.answer(AskEnded, 0)
	d.match(1, matched{1, 2})
	d.step(1, passive.Step{Source: 2}, 3)
	d.end()
	f.Add(d.take())
	f.Add(bytes.Repeat([]byte{9}, 20))
	f.Fuzz(func(t *testing.T, record []byte) {
		a := heard{matches: map[uint64]matched{}}
		readDecisions(record, &a)
		for range 100 {
			if a.empty() {
				break
			}
			a.next(a.lines[a.begin].asked)
		}
	})
}
