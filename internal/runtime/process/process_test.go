package process

import (
	"encoding/binary"
	"flag"
	"fmt"
	"slices"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// exchange is a program. Every rank sends a number of messages of various sizes to every other
// rank, nonblocking, and receives them: from odd ranks by name and in order, from even ones by
// AnyRank. Each payload says its sender, number and length.
type exchange struct {
	rank, ranks int
	rounds      int
	at          int // steps taken
	plan        []action
	open        []posted
	got         [][]int // numbers by source
	err         error
	spare       [][]byte
}

// buffer is one that has been used, if there is one: it takes long to make large ones.
func (e *exchange) buffer(size int) []byte {
	if len(e.spare) == 0 {
		return make([]byte, size, slices.Max(sizes))
	}
	b := e.spare[len(e.spare)-1]
	e.spare = e.spare[:len(e.spare)-1]
	return b[:size]
}

func (e *exchange) recycle(b []byte) { e.spare = append(e.spare, b) }

type action struct {
	send bool
	peer int // AnyRank: receive from any even rank
	size int
}

type posted struct {
	h      Handle
	buffer []byte
	recv   bool
}

var sizes = []int{0, 1, 100, 5000, EagerLimit, EagerLimit + 1, fragmentSize*2 + 17}

func newExchange(rank, ranks, rounds int) *exchange {
	e := &exchange{rank: rank, ranks: ranks, rounds: rounds, got: make([][]int, ranks)}
	for round := range rounds {
		for peer := range ranks {
			if peer == rank && round > 0 {
				continue // once to itself is enough
			}
			e.plan = append(e.plan, action{send: true, peer: peer, size: sizeOf(round, rank, peer)})
		}
		for peer := range ranks {
			if peer == rank && round > 0 {
				continue
			}
			from := peer
			if peer%2 == 0 {
				from = int(proto.AnyRank)
			}
			e.plan = append(e.plan, action{peer: from})
		}
	}
	return e
}

func sizeOf(round, from, to int) int { return max(12, sizes[(round+3*from+to)%len(sizes)]) }

// step posts the next operation, or checks what has ended. Tags keep the odd
// ranks' messages away from receives by AnyRank.
func (e *exchange) step(p *Process) bool {
	e.collect(p)
	if e.at < len(e.plan) && len(e.open) < 2*e.ranks+2 {
		a := e.plan[e.at]
		e.at++
		if a.send {
			b := e.buffer(a.size)
			fill(b, e.rank, e.count(a.peer))
			e.open = append(e.open, posted{h: p.Send(2, proto.Rank(a.peer), int32(e.rank%2), b), buffer: b})
			return false
		}
		tag := int32(0)
		if a.peer >= 0 {
			tag = 1
		}
		b := e.buffer(slices.Max(sizes))
		e.open = append(e.open, posted{p.Receive(2, proto.Rank(a.peer), tag, b), b, true})
		return false
	}
	return e.at == len(e.plan) && len(e.open) == 0
}

// count numbers the sends to a peer.
func (e *exchange) count(peer int) int {
	n := 0
	for _, a := range e.plan[:e.at] {
		if a.send && a.peer == peer {
			n++
		}
	}
	return n
}

func (e *exchange) collect(p *Process) {
	for i := 0; i < len(e.open); {
		o := e.open[i]
		if !p.Done(o.h) {
			if o.recv {
				// Receives of one kind end in order here, so that order can be
				// checked.
				break
			}
			i++
			continue
		}
		s, err := p.Take(o.h)
		if err != nil && e.err == nil {
			e.err = err
		}
		if o.recv && err == nil {
			e.check(s, o.buffer[:s.Bytes])
		}
		e.recycle(o.buffer)
		e.open = append(e.open[:i], e.open[i+1:]...)
	}
}

func fill(b []byte, rank, number int) {
	binary.LittleEndian.PutUint32(b, uint32(rank))
	binary.LittleEndian.PutUint32(b[4:], uint32(number))
	binary.LittleEndian.PutUint32(b[8:], uint32(len(b)))
	pattern := b[12:]
	for i := range min(256, len(pattern)) {
		pattern[i] = byte((12 + i) * (rank + number))
	}
	for n := 256; n < len(pattern); n *= 2 {
		copy(pattern[n:], pattern[:n])
	}
}

func (e *exchange) check(s Status, b []byte) {
	rank, number := int(binary.LittleEndian.Uint32(b)), int(binary.LittleEndian.Uint32(b[4:]))
	want := e.buffer(len(b))
	defer e.recycle(want)
	fill(want, rank, number)
	if int(s.Source) != rank || !slices.Equal(b, want) {
		e.err = fmt.Errorf("rank %d got a spoiled message %d of rank %d (status %+v)", e.rank, number, rank, s)
	}
	e.got[rank] = append(e.got[rank], number)
}

// finished says what is wrong with what the program has received.
func (e *exchange) finished() error {
	if e.err != nil {
		return e.err
	}
	for from, numbers := range e.got {
		want := e.rounds
		if from == e.rank {
			want = 1
		}
		if len(numbers) != want {
			return fmt.Errorf("rank %d got %v from rank %d, want %d messages", e.rank, numbers, from, want)
		}
		for i, n := range numbers {
			if n != i+1 {
				return fmt.Errorf("rank %d got messages of rank %d in the order %v", e.rank, from, numbers)
			}
		}
	}
	return nil
}

var (
	seedFlag = flag.Uint64("seed", 0, "run the random schedule of this seed only")
	runsFlag = flag.Int("runs", 30, "how many random schedules to run; make soak runs many more")
)

// seeds visits the seeds of a random test.
func seeds(t *testing.T, run func(t *testing.T, seed uint64)) {
	if *seedFlag != 0 {
		run(t, *seedFlag)
		return
	}
	for seed := uint64(1); seed <= uint64(*runsFlag); seed++ {
		run(t, seed)
		if t.Failed() {
			t.Fatalf("repeat with: go test ./internal/runtime/process -run %s -seed %d", t.Name(), seed)
		}
	}
}

func TestExchangeSurvivesCrashes(t *testing.T) {
	for _, c := range []struct {
		layout  layout.Layout
		mirror  bool
		crashes int
	}{
		{layout.Uniform(2, 1), false, 0}, {layout.Uniform(4, 1), false, 0}, {layout.Uniform(2, 2), false, 0},
		{layout.Uniform(2, 2), false, 1}, {layout.Uniform(2, 2), false, 2}, {layout.Uniform(3, 2), false, 3},
		{layout.Uniform(4, 2), false, 2}, {layout.Uniform(3, 3), false, 4},
		{layout.Partial([]int{2, 1}), false, 1}, {layout.Partial([]int{1, 3, 2}), false, 3},
		{layout.Uniform(2, 2), true, 0}, {layout.Uniform(3, 2), true, 3}, {layout.Partial([]int{1, 3, 2}), true, 3},
	} {
		t.Run(fmt.Sprintf("%v, mirror %v, %d crashes", c.layout, c.mirror, c.crashes), func(t *testing.T) {
			seeds(t, func(t *testing.T, seed uint64) {
				layout := c.layout
				programs := map[proto.Proc]*exchange{}
				cfg := Config{Layout: layout, Mirror: c.mirror, Period: 100e6, Timeout: 1e9, skewLimit: 6000}
				w := newTestJobOf(t, seed, cfg, func(r proto.Rank, k int) program {
					e := newExchange(int(r), layout.Ranks(), 4)
					programs[layout.Proc(r, k)] = e
					return e
				})
				w.run(c.crashes, func() proto.Proc { return w.expendable() })
				for _, n := range w.nodes {
					if n.dead {
						continue
					}
					if err := programs[n.self].finished(); err != nil {
						t.Errorf("seed %d: %v: %v", seed, n.self, err)
					}
					n.checkEmpty(t, seed)
				}
			})
		})
	}
}

// expendable picks a live process whose rank has another one.
func (w *testJob) expendable() proto.Proc {
	for {
		q := proto.Proc(w.rng.IntN(len(w.nodes)))
		alive := 0
		for k := range w.layout.Degree(w.layout.Rank(q)) {
			if n := w.nodes[w.layout.Proc(w.layout.Rank(q), k)]; !n.dead {
				alive++
			}
		}
		if alive > 1 && !w.nodes[q].dead {
			return q
		}
		if !w.anyExpendable() {
			return proto.NoProc
		}
	}
}

func (w *testJob) anyExpendable() bool {
	for r := range proto.Rank(w.layout.Ranks()) {
		alive := 0
		for k := range w.layout.Degree(r) {
			if !w.nodes[w.layout.Proc(r, k)].dead {
				alive++
			}
		}
		if alive > 1 {
			return true
		}
	}
	return false
}

// checkEmpty fails if something is left behind in the tables, or in messages that are free.
func (n *node) checkEmpty(t *testing.T, seed uint64) {
	count := 0
	n.p.requests.each(func(Handle, *request) { count++ })
	n.p.sends.messages.each(func(Handle, *message) { count++ })
	n.p.sends.transfers.each(func(Handle, *transfer) { count++ })
	n.p.receives.arrivals.each(func(Handle, *arrival) { count++ })
	if count != 0 {
		t.Errorf("seed %d: %v keeps %d entries at the end", seed, n.self, count)
	}
	for _, e := range n.p.sends.messages.entries {
		if m := &e.value; m.request != (Handle{}) || m.wire != nil || m.Body != nil || m.pooled || m.released || m.Rendezvous || m.transfers != 0 || m.lost != 0 {
			t.Fatalf("seed %d: %v: a free message isn't zero", seed, n.self)
		}
	}
}
