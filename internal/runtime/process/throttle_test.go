package process

import (
	"fmt"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
)

// script is a program of operations that block, one after the other.
type script struct {
	operations []func(p *Process) Handle
	at         int
	open       Handle
	failed     error
	frozen     *bool // the program gets no time
}

func (s *script) step(p *Process) (finished bool) {
	if s.frozen != nil && *s.frozen || !p.Done(s.open) {
		return false
	}
	if _, err := p.Take(s.open); err != nil && s.failed == nil {
		s.failed = err
	}
	if s.open = (Handle{}); s.at == len(s.operations) {
		return true
	}
	s.open = s.operations[s.at](p)
	s.at++
	return false
}

func sendStep(dst proto.Rank, tag int32, data []byte) func(*Process) Handle {
	return func(p *Process) Handle { return p.Send(2, dst, tag, data) }
}

// receives expects the data.
func (s *script) receives(src proto.Rank, tag int32, data []byte) {
	buffer := make([]byte, len(data))
	s.operations = append(s.operations, func(p *Process) Handle { return p.Receive(2, src, tag, buffer) }, func(*Process) Handle {
		if string(buffer) != string(data) && s.failed == nil {
			s.failed = fmt.Errorf("message %d of %v has other data", tag, src)
		}
		clear(buffer)
		return Handle{}
	})
}

// dialogue is rounds of a message to and fro between ranks 0 and 1.
func dialogue(rank proto.Rank, rounds, bytes int) *script {
	s := &script{}
	data := make([]byte, bytes)
	for i := range data {
		data[i] = byte(i)
	}
	for round := range int32(rounds) {
		if rank == 0 {
			s.operations = append(s.operations, sendStep(1, round, data))
		}
		s.receives(1-rank, round, data)
		if rank == 1 {
			s.operations = append(s.operations, sendStep(0, round, data))
		}
	}
	return s
}

// unexpected is what waits for the program, in bytes.
func unexpected(p *Process) (messages, bytes int) {
	p.receives.arrivals.each(func(_ Handle, a *arrival) { messages, bytes = messages+1, bytes+len(a.body) })
	for i := range p.receives.early {
		messages, bytes = messages+1, bytes+int(p.receives.early[i].header.Total)
	}
	return messages, bytes
}

// settle runs a world until nothing happens any more.
func (w *testJob) settle() {
	for still := 0; still < 3; {
		if key, ok := w.pick(); ok {
			w.deliver(key)
			still = 0
			continue
		}
		before := w.progress()
		for _, n := range w.nodes {
			if !n.dead && !n.gone {
				w.advance(n)
			}
		}
		if still++; w.progress() != before {
			still = 0
		}
	}
}

func (w *testJob) progress() (steps int) {
	for _, n := range w.nodes {
		if s, ok := n.program.(*script); ok {
			steps += s.at
		}
	}
	return steps
}

// slowReplica is a job of two ranks that talk, in which one replica gets no time.
func slowReplica(t *testing.T, seed uint64, degree, rounds, bytes int, limit uint64) (w *testJob, frozen *bool) {
	frozen = new(bool)
	*frozen = true
	cfg := Config{Layout: layout.Uniform(2, degree), Mirror: true, Period: 100e6, Timeout: 1e9, skewLimit: limit}
	return newTestJobOf(t, seed, cfg, func(r proto.Rank, k int) program {
		s := dialogue(r, rounds, bytes)
		if r == 1 && k == 1 {
			s.frozen = frozen
		}
		return s
	}), frozen
}

// finish runs a world to its end, and checks what the programs have received.
func finish(t *testing.T, w *testJob, seed uint64) {
	t.Helper()
	var scripts []*script
	for _, n := range w.nodes {
		if s, ok := n.program.(*script); ok && !n.dead {
			scripts = append(scripts, s)
		}
	}
	w.run(0, nil)
	for _, s := range scripts {
		if s.failed != nil || s.at < len(s.operations) {
			t.Errorf("seed %d: at %d of %d: %v", seed, s.at, len(s.operations), s.failed)
		}
	}
	for _, n := range w.nodes {
		if !n.dead {
			n.checkEmpty(t, seed)
		}
	}
}

// A program that gets no time holds up the job when its siblings have received so much more than
// it that the limit is exceeded, no sooner. That much waits for it, and what was sent before
// they were throttled.
func TestSlowReplicaIsWaitedFor(t *testing.T) {
	const bytes, limit = 1000, 20_000
	const each = bytes + retainCost
	for _, degree := range []int{2, 3} {
		seeds(t, func(t *testing.T, seed uint64) {
			w, frozen := slowReplica(t, seed, degree, 60, bytes, limit)
			w.settle()
			slow := w.nodes[w.layout.Proc(1, 1)].p
			ahead := limit/each + 1 // messages that the throttled replica has received
			messages, waiting := unexpected(slow)
			if messages != ahead+1 || waiting != messages*bytes {
				t.Fatalf("seed %d: %d bytes in %d messages wait for the slow one, want %d messages", seed, waiting, messages, ahead+1)
			}
			for _, n := range w.nodes {
				if n.p != slow && len(n.p.sends.throttled) == 0 && n.p.rank == 1 {
					t.Errorf("seed %d: %v isn't throttled", seed, n.self)
				}
			}
			*frozen = false
			finish(t, w, seed)
		})
	}
}

// Without the bound all messages would wait: the test above tests something.
func TestSlowReplicaWithoutBound(t *testing.T) {
	w, _ := slowReplica(t, 1, 2, 60, 1000, 1<<40)
	w.settle()
	if messages, _ := unexpected(w.nodes[w.layout.Proc(1, 1)].p); messages != 60 {
		t.Errorf("%d messages wait, want all 60", messages)
	}
}

// Processes die while a replica is throttled: none is throttled for ever.
func TestDeathsWhileThrottled(t *testing.T) {
	for victim := range proto.Proc(4) {
		seeds(t, func(t *testing.T, seed uint64) {
			w, frozen := slowReplica(t, seed, 2, 60, 1000, 20_000)
			w.settle()
			w.crash(victim)
			if victim != w.layout.Proc(1, 1) {
				w.settle()
				*frozen = false
			}
			finish(t, w, seed)
		})
	}
}

// Reports are few: four for as much as one replica may be ahead, to each sibling, and one at the
// end.
func TestReportsAreFew(t *testing.T) {
	const limit, rounds, each = 20_000, 64, 1000 + retainCost
	cfg := Config{Layout: layout.Uniform(2, 3), Mirror: true, Period: 100e6, Timeout: 1e9, skewLimit: limit}
	recorders := map[proto.Proc]*counter{}
	w := newTestJobOf(t, 1, cfg, func(r proto.Rank, _ int) program { return dialogue(r, rounds, 1000) })
	for _, n := range w.nodes {
		recorders[n.self] = &counter{}
		n.p.cfg.Recorder = recorders[n.self]
	}
	finish(t, w, 1)
	apart := (limit/4 + each - 1) / each // messages from one report to the next
	for q, c := range recorders {
		if want := 2 * (rounds/apart + 1); c.reports != want {
			t.Errorf("%v makes %d reports of %d messages, want %d", q, c.reports, rounds, want)
		}
	}
}

// counter counts reports.
type counter struct {
	Recorder
	reports int
}

func (c *counter) Sent(_ proto.Proc, kind wire.Kind) {
	if kind == wire.KindReceived {
		c.reports++
	}
}
func (*counter) Received(proto.Proc, wire.Kind) {}
func (*counter) Died(proto.Proc)                {}

// Rank 1 serves ranks 0 and 2 in the order in which their messages come, which differs between
// its replicas. Rank 0 has a large message for rank 1, and so waits for both replicas. One of
// them is throttled by then because of the other, which waits for rank 0. So a replica isn't
// throttled that was offered a message.
func TestReceiverOfAnOfferIsNotThrottled(t *testing.T) {
	const bulk, limit = 30, 20_000
	large, small := make([]byte, 2*EagerLimit), make([]byte, 1000)
	cfg := Config{Layout: layout.Uniform(3, 2), Mirror: true, Period: 100e6, Timeout: 1e9, skewLimit: limit}
	seeds(t, func(t *testing.T, seed uint64) {
		finish(t, newTestJobOf(t, seed, cfg, func(r proto.Rank, k int) program {
			s := &script{}
			switch r {
			case 0:
				s.operations = append(s.operations, sendStep(1, 0, large), sendStep(1, 1, small))
			case 2:
				for i := range int32(bulk) {
					s.operations = append(s.operations, sendStep(1, i, small))
				}
				s.receives(1, 0, small)
			case 1:
				first := func() {
					s.receives(0, 0, large)
					s.receives(0, 1, small)
				}
				if k == 1 {
					first()
				}
				for i := range int32(bulk) {
					s.receives(2, i, small)
				}
				s.operations = append(s.operations, sendStep(2, 0, small))
				if k == 0 {
					first()
				}
			}
			return s
		}), seed)
	})
}
