package process

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// crew is a program of several threads, each of which gossips. All act on one context.
type crew struct {
	threads []*gossip
	rng     *rand.Rand // which thread is next differs from replica to replica
	unnamed bool       // a mistake: all count as one thread
}

func newCrew(rank, ranks, threads, each int, seed uint64) *crew {
	c := &crew{rng: rand.New(rand.NewPCG(seed, 5))}
	for k := range threads {
		g := newGossip(rank, ranks, each)
		if threads > 1 {
			g.threads = threads
			g.see(uint64(k))
		}
		c.threads = append(c.threads, g)
	}
	return c
}

func (c *crew) step(p *Process) (finished bool) {
	first := c.rng.IntN(len(c.threads))
	if finished = c.stepThread(p, first); !finished {
		return false
	}
	for k := range c.threads {
		if k != first && !c.stepThread(p, k) {
			return false
		}
	}
	return true
}

func (c *crew) stepThread(p *Process, k int) (finished bool) {
	if !c.unnamed && len(c.threads) > 1 {
		p.On(ThreadID(k) * (1<<63 + 1)) // the first is 0
	}
	return c.threads[k].step(p)
}

// takeFound takes and receives the message that a probe has found, if it is here.
func (g *gossip) takeFound(p *Process) bool {
	m, s, ok, _ := p.MatchedProbe(g.context, g.found.Source, g.found.Tag)
	if !ok {
		return false
	}
	b := make([]byte, EagerLimit+1)
	g.posted++
	g.see(uint64(s.Bytes))
	g.open = append(g.open, posted{h: p.ReceiveMatched(m, b), buffer: b, recv: true})
	g.found = nil
	return true
}

// probeTaking probes as engine.Engine does where threads are ordered: the one that leads takes the
// message when it says that it is there.
func (g *gossip) probeTaking(p *Process) {
	p.Asks(AskProbe)
	word := uint64(0)
	switch { // as in engine.Engine.probeThreaded
	case p.HasAnswer():
		var err error
		if word, err = p.NextAnswer(AskProbe); err != nil {
			g.err = err
		}
	case p.Decides() && g.mayAct(p):
		s, ok, _ := p.Probe(g.context, proto.AnyRank, proto.AnyTag)
		if !ok {
			p.Answer(AskProbe, 0)
			break
		}
		word = FoundMessage(s.Source, s.Tag)
		if g.unruly {
			p.Answer(AskProbe, word)
		} else {
			p.AnswerFound(g.context, word)
		}
		g.see(uint64(AskProbe), word)
		g.found = &s
		g.takeFound(p)
		return
	default:
		return
	}
	g.see(uint64(AskProbe), word)
	if word != 0 {
		src, tag := MessageFound(word)
		g.found = &Status{Source: src, Tag: tag}
	}
}

// runCrews runs a job of several threads with deaths, and says what went wrong: a rank whose live
// replicas differ, or that hasn't come to its end.
func runCrews(t testing.TB, seed uint64, cfg Config, mend func(*crew)) (wrong string) {
	l := cfg.Layout
	cfg.Leader, cfg.Period, cfg.Timeout = true, 100e6, 1e9
	crews := make([]*crew, 0, l.Procs())
	w := newTestJobOf(t, seed, cfg, func(rank proto.Rank, replica int) program {
		c := newCrew(int(rank), l.Ranks(), 3, 4, seed<<8+uint64(len(crews)))
		mend(c)
		crews = append(crews, c)
		return c
	})
	for _, n := range w.nodes {
		n.p.OrderThreads()
	}
	w.run(3, func() proto.Proc {
		q := proto.Proc(w.rng.IntN(l.Procs()))
		for k := range l.Degree(l.Rank(q)) {
			if other := l.Proc(l.Rank(q), k); other != q && !w.nodes[other].dead {
				return q
			}
		}
		return proto.NoProc
	})
	for q, c := range crews {
		if w.nodes[q].dead {
			continue
		}
		for k, g := range c.threads {
			if g.err != nil || g.received != g.total() {
				return "a thread hasn't come to its end"
			}
			for other := range crews[:q] {
				if !w.nodes[other].dead && l.Rank(proto.Proc(other)) == l.Rank(proto.Proc(q)) && crews[other].threads[k].seen != g.seen {
					return "a thread has seen different things in two replicas"
				}
			}
		}
	}
	return ""
}

// Threads that act on one context in another order in each replica see the same in all of them.
func TestLedThreads(t *testing.T) {
	for _, cfg := range []Config{
		{Layout: layout.Uniform(3, 2)},
		{Layout: layout.Uniform(2, 3)},
		{Layout: layout.Uniform(2, 2), Mirror: true},
	} {
		seeds(t, func(t *testing.T, seed uint64) {
			if wrong := runCrews(t, seed, cfg, func(*crew) {}); wrong != "" {
				t.Fatalf("%v, seed %d: %s", cfg.Layout, seed, wrong)
			}
		})
	}
}

// strict ends a run at its first error.
type strict struct{ testing.TB }

func (s strict) Fatalf(format string, args ...any) { panic(stopped(fmt.Sprintf(format, args...))) }

func (s strict) Errorf(format string, args ...any) { s.Fatalf(format, args...) }

type stopped string

// strictly tells what goes wrong first, "" if nothing does.
func strictly(t *testing.T, run func(t testing.TB) (wrong string)) (wrong string) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case stopped:
			wrong = string(e)
		default:
			panic(e)
		}
	}()
	return run(strict{t})
}

// TestLedThreadsCanaries has known mistakes caught.
func TestLedThreadsCanaries(t *testing.T) {
	for name, mend := range map[string]func(*crew){
		"threads without names": func(c *crew) { c.unnamed = true },
		"threads that don't wait for their turn": func(c *crew) {
			for _, g := range c.threads {
				g.unruly = true
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(20) {
				wrong := strictly(t, func(t testing.TB) string {
					return runCrews(t, seed, Config{Layout: layout.Uniform(2, 2)}, mend)
				})
				if wrong != "" {
					return
				}
			}
			t.Error("not caught in 20 jobs")
		})
	}
}
