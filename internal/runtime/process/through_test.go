package process

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/testing/explore"
)

// partner is a program that sends to a rank and receives from it, for some rounds. In a wait it
// does as the engine does for its program.
type partner struct {
	peer    proto.Rank
	context uint64
	rounds  int
	at      int
	in      Handle
	buffer  [8]byte
	err     error
}

func (e *partner) step(p *Process) bool {
	switch {
	case e.err != nil:
	case e.in == Handle{}:
		if e.at == e.rounds {
			return true
		}
		p.Send(e.context, e.peer, int32(e.at), e.buffer[:])
		e.in = p.Receive(e.context, e.peer, int32(e.at), e.buffer[:])
	case p.Done(e.in):
		_, e.err = p.Take(e.in)
		e.in, e.at = Handle{}, e.at+1
	default:
		wait(p, func() bool { return p.Done(e.in) })
	}
	return false
}

// wait is what the engine does for a program that waits.
func wait(p *Process, met func() bool) {
	p.Watch()
	if p.Forlorn() {
		p.GiveUp(met)
	}
}

// The replicas of two ranks have diverged, as those of a program whose iterations depend on the
// time, and one of each rank dies: of rank 0 that which does fewer rounds, of rank 1 that which
// does more. What is left waits for a rank that is through. Every run ends with an error.
func TestDivergedJobEnds(t *testing.T) {
	finished, behind := 0, 0
	for seed := range uint64(200) {
		context := 2 + seed%2 // 3: of a collective
		w := newTestJobOf(t, seed, Config{Layout: layout.Uniform(2, 2), Mirror: seed%3 == 2, Period: 100e6, Timeout: 1e9, askAfter: 2e5}, func(r proto.Rank, replica int) program {
			return &partner{peer: 1 - r, context: context, rounds: 8 + 4*replica}
		})
		programs := []*partner{}
		for _, n := range w.nodes {
			programs = append(programs, n.program.(*partner))
		}
		victims := []proto.Proc{w.layout.Proc(0, 0), w.layout.Proc(1, 1)}
		for seed%3 == 2 && len(victims) > 0 { // with mirror, what the dead have sent may do for all
			w.crash(victims[0])
			victims = victims[1:]
		}
		var ended error
		for steps := 0; ended == nil; steps++ {
			if steps > 200_000 {
				t.Fatalf("seed %d: no end in sight: %s", seed, w.state())
			}
			if len(victims) > 0 && w.rng.IntN(60) == 0 {
				w.crash(victims[0])
				victims = victims[1:]
			}
			if w.rng.IntN(3) > 0 {
				if key, ok := w.pick(); ok {
					w.deliver(key)
					continue
				}
			}
			n := w.nodes[w.rng.IntN(len(w.nodes))]
			if n.dead {
				continue
			}
			if n.program == nil && n.p.Diverged() != nil {
				ended = n.p.Diverged()
				break
			}
			w.advance(n)
			if e := programs[n.self]; e.err != nil {
				ended = e.err
			}
			if n.gone {
				t.Fatalf("seed %d: %v has left a diverged job", seed, n.self)
			}
		}
		switch f := (*FinishedError)(nil); {
		case errors.As(ended, &f):
			finished++
			if !f.Replicated || !strings.Contains(f.Error(), "send-determinism") {
				t.Errorf("seed %d: %v", seed, f)
			}
		case errors.As(ended, new(*DivergedError)):
			behind++
		default:
			t.Errorf("seed %d: %v", seed, ended)
		}
	}
	t.Logf("%d waits for a rank that is through, %d replicas behind", finished, behind)
	if finished < 40 || behind == 0 {
		t.Error("that is too few")
	}
}

// No job whose program is right ever sees the error, whatever dies and is replaced. Here each wait
// is asked about soon, and a rank may be through long before others.
func TestNoFalseAlarm(t *testing.T) {
	seeds := 400
	switch {
	case testing.Short():
		seeds = 60
	case explore.Long():
		seeds = 5000
	}
	asked, over := 0, 0
	for seed := range uint64(seeds) {
		layouts := []layout.Layout{layout.Uniform(2, 2), layout.Uniform(3, 2), layout.Uniform(2, 3), layout.Partial([]int{2, 1, 3})}
		layout := layouts[seed%4]
		w := newHealingJob(t, seed, layout, seed%5 == 4, func(r proto.Rank) *courier {
			return &courier{rank: int(r), ranks: layout.Ranks(), rounds: 12, setUp: int(seed % 3), value: uint64(r), named: seed%3 > 0}
		})
		for _, n := range w.nodes {
			n.p.cfg.askAfter = 1e5
		}
		w.askAfter, w.watched = 1e5, true
		w.run(1+int(seed%8), 150)
		for _, n := range w.all {
			if n.p.through.asked != nil {
				asked++
			}
			if n.p.Forlorn() {
				over++
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d processes asked, %d got an answer", asked, over)
	if asked < seeds || over < seeds/4 {
		t.Error("that is too few")
	}
}

// three is process 0 of three ranks. Ranks 1 and 2 say that they are through when told so.
func three(t *testing.T) (w *testJob, p *Process, through func(r proto.Rank)) {
	w = newTestJobOf(t, 1, Config{Layout: layout.Uniform(3, 1), Period: 100e6, Timeout: 1e9, askAfter: 1e5}, func(proto.Rank, int) program { return nil })
	p = w.nodes[0].p
	settle := func() {
		for range 4 {
			p.Watch()
			w.now += 2e5
			p.At(w.now)
			p.Tick()
			for key, ok := w.pick(); ok; key, ok = w.pick() {
				w.deliver(key)
			}
		}
	}
	return w, p, func(r proto.Rank) {
		if r >= 0 {
			w.nodes[r].p.Finish()
		}
		settle()
	}
}

// A wait for any of several receives ends with an error only if none of them can end. A receive
// that nobody waits for is cancelled as ever.
func TestGiveUpAny(t *testing.T) {
	_, p, through := three(t)
	var room [8]byte
	one, two := p.Receive(2, 1, 7, room[:]), p.Receive(2, 2, 7, room[:])
	spare := p.Receive(2, 1, 8, room[:])
	any := func() bool { return p.Done(one) || p.Done(two) }
	through(1)
	if !p.Forlorn() || p.GiveUp(any) || any() {
		t.Fatal("another receive may end the wait")
	}
	if !p.Cancel(spare) {
		t.Fatal("a receive from a rank that is through can't be cancelled")
	}
	if _, err := p.Take(spare); !errors.Is(err, ErrCancelled) {
		t.Fatal(err)
	}
	through(2)
	if p.GiveUp(any); !p.Done(one) || p.Done(two) {
		t.Fatal("one receive ends: that is enough for the wait")
	}
	if _, err := p.Take(one); err == nil || !strings.HasPrefix(err.Error(), "rank 1 has finished") || strings.Contains(err.Error(), "send-determinism") {
		t.Error(err)
	}
	both := func() bool { return p.Done(two) }
	if p.GiveUp(both); !both() {
		t.Error("the other wait goes on")
	}
}

// A receive that waits for all of several operations ends if one of them can't.
func TestGiveUpAll(t *testing.T) {
	_, p, through := three(t)
	var room [8]byte
	one, two := p.Receive(2, 1, 7, room[:]), p.Receive(2, 2, 7, room[:])
	through(1)
	p.GiveUp(func() bool { return p.Done(one) && p.Done(two) })
	if !p.Done(one) || p.Done(two) {
		t.Error("the receive from rank 1 goes on, or that from rank 2 has ended")
	}
}

// A receive from any source ends when all others are through, if no other thread may send.
func TestGiveUpAnySource(t *testing.T) {
	for _, alone := range []bool{false, true} {
		_, p, through := three(t)
		if alone {
			p.Alone()
		}
		var room [8]byte
		h := p.Receive(2, proto.AnyRank, 7, room[:])
		met := func() bool { return p.Done(h) }
		through(1)
		if p.GiveUp(met); met() {
			t.Fatal("rank 2 may send")
		}
		through(2)
		if p.GiveUp(met); met() != alone {
			t.Errorf("alone %t: ended %t", alone, met())
		}
	}
}

// What was sent before the end still comes.
func TestThroughAfterMessages(t *testing.T) {
	w, p, through := three(t)
	w.nodes[1].p.Send(2, 0, 7, []byte("12345678"))
	var room [8]byte
	h, more := p.Receive(2, 1, 7, room[:]), p.Receive(2, 1, 7, room[:])
	through(1)
	if _, err := p.Take(h); err != nil || string(room[:]) != "12345678" {
		t.Errorf("%q, %v", room, err)
	}
	if p.GiveUp(func() bool { return p.Done(more) }); !p.Done(more) {
		t.Error("the second receive goes on")
	}
}

// A blocking probe ends; one that only looks finds nothing.
func TestGiveUpProbe(t *testing.T) {
	_, p, through := three(t)
	p.StartProbe(2, 1, 7)
	through(1)
	var err error
	if _, ok, err := p.Probe(2, 1, 7); ok || err != nil {
		t.Error(ok, err)
	}
	if !p.GiveUp(func() bool { _, _, err = p.Probe(2, 1, 7); return err != nil }) || !errors.As(err, new(*FinishedError)) {
		t.Error(err)
	}
	p.EndProbe(2, 1, 7)
	if len(p.Waits()) != 0 {
		t.Error(p.Waits())
	}
}

// A broadcast ends whose root is through without it, and only that.
func TestGiveUpBroadcast(t *testing.T) {
	w, p, through := three(t)
	var room [8]byte
	first := p.Broadcast(3, 1, Shallow, room[:])
	w.nodes[1].p.Broadcast(3, 1, Shallow, []byte("12345678"))
	second := p.Broadcast(3, 1, Shallow, room[:])
	through(1)
	if _, err := p.Take(first); err != nil || string(room[:]) != "12345678" {
		t.Errorf("%q, %v", room, err)
	}
	if !p.Done(second) {
		t.Fatal("the second broadcast goes on")
	}
	if _, err := p.Take(second); !errors.As(err, new(*FinishedError)) {
		t.Error(err)
	}
}

// A collective's receive ends at once.
func TestForlornCollective(t *testing.T) {
	_, p, through := three(t)
	var room [8]byte
	h := p.Receive(3, 1, 7, room[:])
	through(-1)
	if p.Done(h) {
		t.Fatal("rank 1 isn't through")
	}
	through(1)
	if !p.Done(h) {
		t.Fatal("the receive goes on")
	}
	if _, err := p.Take(h); fmt.Sprint(err) != "rank 1 has finished and sends nothing more, so what this call waits for never comes" {
		t.Error(err)
	}
}
