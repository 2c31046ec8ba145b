package process

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/proto/match"
	"banyan/internal/runtime/state"
)

// randomProgram is a program that sends messages of all sizes to all ranks, itself included, and
// receives them by name, from any source, into buffers that are too small, and after probes. It
// writes down everything that the calls tell it. What it sends depends on the seed.
type randomProgram struct {
	rank, ranks int
	rng         *rand.Rand
	bytes       *rand.ChaCha8
	steps       []func(p *Process) bool // each again and again until it is through
	open        []posted
	transcript  []string
	end         func(p *Process)
}

var lengths = []int{0, 1, 30, 3000, EagerLimit, EagerLimit + 1, 3 * EagerLimit}

func newRandomProgram(rank, ranks, rounds int, seed uint64) *randomProgram {
	c := &randomProgram{rank: rank, ranks: ranks, rng: rand.New(rand.NewPCG(seed, uint64(rank)))}
	c.bytes = rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(rank)})
	for range rounds {
		var steps []func(p *Process) bool
		for peer := range proto.Rank(ranks) {
			steps = append(steps, c.send(2, peer), c.send(3, peer), c.receive(2, proto.AnyRank), c.receive(3, peer))
		}
		c.rng.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
		c.steps = append(append(c.steps, steps...), c.collect)
	}
	return c
}

func (c *randomProgram) send(context uint64, to proto.Rank) func(p *Process) bool {
	data := make([]byte, lengths[c.rng.IntN(len(lengths))])
	c.bytes.Read(data)
	tag := int32(c.rng.IntN(3))
	return func(p *Process) bool {
		c.open = append(c.open, posted{h: p.Send(context, to, tag, data)})
		return true
	}
}

func (c *randomProgram) receive(context uint64, from proto.Rank) func(p *Process) bool {
	room := slices.Max(lengths)
	if c.rng.IntN(4) == 0 {
		room = c.rng.IntN(2 * EagerLimit)
	}
	return func(p *Process) bool {
		buffer := make([]byte, room)
		c.open = append(c.open, posted{p.Receive(context, from, proto.AnyTag, buffer), buffer, true})
		return true
	}
}

// collect waits for all that is open, in order.
func (c *randomProgram) collect(p *Process) bool {
	for len(c.open) > 0 {
		o := c.open[0]
		if !p.Done(o.h) {
			return false
		}
		s, err := p.Take(o.h)
		h := fnv.New64a()
		if o.recv {
			h.Write(o.buffer[:min(s.Bytes, len(o.buffer))])
		}
		c.transcript = append(c.transcript, fmt.Sprintf("%v %v %x", s, err, h.Sum64()))
		c.open = c.open[1:]
	}
	return true
}

func (c *randomProgram) step(p *Process) bool {
	if len(c.steps) == 0 {
		c.end(p)
		return true
	}
	if c.steps[0](p) {
		c.steps = c.steps[1:]
	}
	return false
}

// alone is a replacement in its replay, and its transport: it talks to no other process.
func alone(t *testing.T, layout layout.Layout, self proto.Proc) (*node, *Process) {
	n := &node{w: &testJob{t: t, links: map[[2]proto.Proc][]packet{}}, self: self, fenced: map[proto.Proc]bool{}}
	n.p = New(Config{Self: self, Layout: layout, Period: 100e6, Timeout: 1e9, Replacement: true}, 0, n, n)
	var all []proto.Rank
	for r := range proto.Rank(layout.Ranks()) {
		all = append(all, r)
	}
	n.p.OpenContext(2, all, false)
	n.p.OpenContext(3, all, true)
	return n, n.p
}

// logOf is the stream of a process's log.
func logOf(t *testing.T, p *Process) (b []byte) {
	if err := p.FreezeLog(); err != nil {
		t.Fatal(err)
	}
	return drain(p.LogEncoder())
}

func drain(e *state.Encoder) (b []byte) {
	for piece := e.Next(1000); piece != nil; piece = e.Next(1000) {
		b = append(b, piece...)
	}
	return b
}

// randomPrograms runs the program with logs and returns the log and the transcript of each
// process that lived to the end.
func randomPrograms(t *testing.T, seed uint64, layout layout.Layout, rounds, crashes int) (programs map[proto.Proc]*randomProgram, logs map[proto.Proc][]byte, pasts map[proto.Proc]string) {
	programs, logs, pasts = map[proto.Proc]*randomProgram{}, map[proto.Proc][]byte{}, map[proto.Proc]string{}
	w := newTestJob(t, seed, layout, func(r proto.Rank, k int) program {
		q := layout.Proc(r, k)
		c := newRandomProgram(int(r), layout.Ranks(), rounds, seed)
		c.end = func(p *Process) { logs[q], pasts[q] = logOf(t, p), fmt.Sprint(*p.clock) }
		programs[q] = c
		return c
	})
	for _, n := range w.nodes {
		n.p.healing.history = &history{}
	}
	w.run(crashes, func() proto.Proc {
		q := proto.Proc(w.rng.IntN(layout.Procs()))
		for k := range layout.MaxDegree() { // one replica of each rank lives
			if o := layout.Proc(layout.Rank(q), k); o != q && !w.nodes[o].dead {
				return q
			}
		}
		return proto.NoProc
	})
	return programs, logs, pasts
}

// run goes through a replacement's program without any peers. It fails if that takes for ever.
func (c *randomProgram) run(t *testing.T, p *Process) {
	for range 1_000_000 {
		if len(c.steps) == 0 {
			return
		}
		if !c.steps[0](p) {
			p.At(p.now + 1e6)
			p.Stalled()
			continue
		}
		c.steps = c.steps[1:]
	}
	t.Fatalf("the replay hangs: %v", p.host.(*node).healFailed)
}

// A replacement of any replica that runs on a log hears exactly what the donor heard, call by
// call, sends as many messages, and has the same clock in the end. Its own log is good for the
// next replacement.
func TestReplay(t *testing.T) {
	for seed := range uint64(18) {
		layout := layout.Uniform(2+int(seed%3), 2+int(seed/3%2))
		programs, logs, pasts := randomPrograms(t, seed, layout, 4, int(seed%4))
		for q, log := range logs {
			rank := layout.Rank(q)
			n, p := alone(t, layout, layout.Proc(rank, layout.MaxDegree()-1))
			for b := log; len(b) > 0; b = b[min(777, len(b)):] {
				if p.LogWhole() {
					t.Fatal("whole before the end")
				}
				if err := p.FeedLog(b[:min(777, len(b))]); err != nil {
					t.Fatal(err)
				}
			}
			c := newRandomProgram(int(rank), layout.Ranks(), 4, seed)
			c.run(t, p)
			if err := p.EndReplay(); err != nil {
				t.Fatalf("seed %d, log of %v: %v", seed, q, err)
			}
			if !slices.Equal(c.transcript, programs[q].transcript) {
				for i := range c.transcript {
					if c.transcript[i] != programs[q].transcript[i] {
						t.Fatalf("seed %d, log of %v: call %d told the replacement %s, and the donor %s", seed, q, i, c.transcript[i], programs[q].transcript[i])
					}
				}
			}
			if past := fmt.Sprint(*p.clock); past != pasts[q] {
				t.Errorf("seed %d, log of %v: clock %s, and the donor's was %s", seed, q, past, pasts[q])
			}
			if p.FramesSent > 2 || n.healFailed != nil {
				t.Errorf("seed %d: %d frames were sent, error %v", seed, p.FramesSent, n.healFailed)
			}
			if string(logOf(t, p)) != string(log) {
				t.Errorf("seed %d, log of %v: the replacement's own log differs", seed, q)
			}
		}
	}
}

// A program that does something else than its donor ends with an error, wherever the two part,
// and never hangs.
func TestReplayDiffers(t *testing.T) {
	for _, seed := range []uint64{5, 6} {
		replayDiffers(t, seed)
	}
}

func replayDiffers(t *testing.T, seed uint64) {
	layout := layout.Uniform(3, 2)
	_, logs, _ := randomPrograms(t, seed, layout, 3, 0)
	begin := func() (*node, *Process, *randomProgram) {
		n, p := alone(t, layout, 3)
		if err := p.FeedLog(logs[0]); err != nil {
			t.Fatal(err)
		}
		return n, p, newRandomProgram(0, 3, 3, seed)
	}
	steps := len(newRandomProgram(0, 3, 3, seed).steps)
	for at := 0; at < steps; at += 2 {
		for name, change := range map[string]func(c *randomProgram) func(*Process) bool{
			"sends one more":        func(c *randomProgram) func(*Process) bool { return c.send(2, 1) },
			"sends itself one more": func(c *randomProgram) func(*Process) bool { return c.send(2, 0) },
			"receives one more":     func(c *randomProgram) func(*Process) bool { return c.receive(3, 2) },
		} {
			n, p, c := begin()
			c.steps = slices.Insert(c.steps, at, change(c))
			c.run(t, p)
			if err := p.EndReplay(); !errors.Is(err, ErrReplay) {
				t.Errorf("%s at step %d: %v", name, at, err)
			}
			if strings.HasPrefix(name, "receives") && !errors.Is(n.healFailed, ErrReplay) {
				t.Errorf("%s at step %d: the host heard %v", name, at, n.healFailed)
			}
		}
		n, p, c := begin()
		c.steps = slices.Delete(c.steps, at, at+1) // the omitted step may be a send, a receive or a wait
		c.run(t, p)
		if err := p.EndReplay(); err != nil && !errors.Is(err, ErrReplay) || n.healFailed != nil && !errors.Is(n.healFailed, ErrReplay) {
			t.Errorf("omitting step %d: %v", at, err)
		}
	}
}

// Whatever a program still asks for when its replay has failed ends with the error, even what
// the log says was on its way when the donor came to its safe point.
func TestFailedReplay(t *testing.T) {
	_, p := alone(t, layout.Uniform(2, 2), 0)
	l := &history{}
	l.offer(envelope(1), 9, 0, make([]byte, p.clock.StampSize()))
	l.freeze()
	if err := p.FeedLog(drain(l.encoder())); err != nil {
		t.Fatal(err)
	}
	p.failReplay(ErrReplay)
	for i := range 2 { // the offered one, and one that there isn't
		h := p.Receive(envelope(1).Context, 1, proto.AnyTag, make([]byte, 9))
		if !p.Done(h) {
			t.Fatalf("receive %d waits", i)
		}
		if _, err := p.Take(h); !errors.Is(err, ErrReplay) {
			t.Errorf("receive %d: %v", i, err)
		}
	}
}

// A process that has received too much says that it can't be a donor, and keeps nothing.
func TestLogLimit(t *testing.T) {
	l := &history{}
	body := make([]byte, EagerLimit)
	n := 0
	for ; !l.over; n++ {
		l.eager(envelope(1), 3, nil, body)
	}
	if want := LogLimit / (EagerLimit + logHead + recordCost); n != want+1 {
		t.Errorf("over after %d messages, want %d", n, want+1)
	}
	if l.records != nil || l.encoder() != nil {
		t.Error("something is kept")
	}
	l.eager(envelope(1), 3, nil, body)
	l.received(l.offer(envelope(1), 10, 3, nil), body)
	l.own(envelope(1))
	if l.records != nil {
		t.Error("something is kept later")
	}
	p := &Process{healing: healing{history: l}}
	if err := p.FreezeLog(); err == nil || !strings.Contains(err.Error(), "64 MiB") {
		t.Errorf("FreezeLog: %v", err)
	}
	large := &history{}
	for !large.over {
		large.received(large.offer(envelope(1), 1<<24, 3, nil), make([]byte, 1<<24))
	}
	if large.bytes > LogLimit {
		t.Errorf("%d bytes are kept", large.bytes)
	}
}

// No log breaks a replacement.
func FuzzLog(f *testing.F) {
	l := &history{}
	l.eager(envelope(1), 3, make([]byte, 8), []byte("data"))
	l.own(envelope(0))
	l.received(l.offer(envelope(1), 9, 0, make([]byte, 8)), []byte("data"))
	l.offer(envelope(1), 9, 0, make([]byte, 8))
	l.freeze()
	for _, r := range l.records {
		f.Add(append(append([]byte(nil), r.head...), r.body...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var r logged
		for rest := b; len(rest) > 0; {
			next, err := r.next(rest, 8)
			if err != nil {
				break
			}
			if len(next) >= len(rest) || r.have < unreceived && uint64(len(r.body)) != r.have {
				t.Fatalf("a record of %d bytes with %d of data, said to be %d", len(rest)-len(next), len(r.body), r.have)
			}
			rest = next
		}
	})
}

func envelope(src proto.Rank) match.Envelope { return match.Envelope{Context: 2, Src: src} }
