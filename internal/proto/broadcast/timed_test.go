package broadcast

import (
	"math/bits"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/topology"
)

// timed runs one broadcast in steps of time. In each step every live process receives the
// messages sent to it three steps ago, then sends one message. timed returns the messages sent,
// and the number of live processes that the broadcast didn't reach.
func timed(c *Config, dead func(p int) bool) (messages, unreached int) {
	const latency = 3
	type message struct {
		from, to int
		kind     Kind
	}
	states := make([]State, c.Tree.Procs())
	for p := range states {
		c.Start(&states[p], p)
	}
	var wire [latency][]message
	end := proto.Time(0) // before this time an event may still come
	for now := proto.Time(0); now <= end; now++ {
		arriving := wire[now%latency]
		for _, x := range arriving {
			if !dead(x.to) {
				c.Receive(&states[x.to], x.from, x.kind)
			}
		}
		wire[now%latency] = arriving[:0]
		for p := range states {
			s := &states[p]
			if dead(p) {
				continue
			}
			if to, kind, ok := c.SendReady(s, now); ok {
				messages++
				wire[now%latency] = append(wire[now%latency], message{p, to, kind})
				end = max(end, now+latency)
			}
			if deadline := c.Deadline(s, now); deadline != proto.Never {
				end = max(end, deadline)
			}
		}
	}
	for p := range states {
		if !dead(p) && !states[p].Coloured() {
			unreached++
		}
	}
	return messages, unreached
}

func noneDead(int) bool { return false }

func binomial(procs int) topology.Tree {
	return mustTree(topology.Binomial(procs, topology.Interleaved))
}

// TestDelayedMessages: where no process is dead and the delay is long enough, delayed
// correction costs each process one message. Otherwise it reaches all live processes, whatever
// the delay is.
func TestDelayedMessages(t *testing.T) {
	for _, procs := range []int{2, 3, 10, 1000} {
		for _, at := range []proto.Time{0, 60} {
			c := &Config{Tree: binomial(procs), Correction: Delayed, Delay: 80, Synchronised: at > 0, CorrectAt: at}
			if messages, unreached := timed(c, noneDead); messages != 2*procs-1 || unreached != 0 {
				t.Errorf("%d processes: %d messages, want %d, %d unreached", procs, messages, 2*procs-1, unreached)
			}
			for _, c.Delay = range []proto.Time{0, 1, 3, 80} {
				for every := 2; every <= 7; every++ {
					dead := func(p int) bool { return p%every == every-1 || p > procs/2 && p < procs*3/5 }
					if _, unreached := timed(c, dead); unreached != 0 {
						t.Errorf("%d processes, delay %d: %d unreached", procs, c.Delay, unreached)
					}
				}
			}
		}
	}
}

// TestFailureProofMessages: without failures failure-proof correction costs each
// process a multiple of log P messages.
func TestFailureProofMessages(t *testing.T) {
	for _, procs := range []int{64, 1000, 1 << 14} {
		c := &Config{Tree: binomial(procs), Correction: FailureProof, Synchronised: true, CorrectAt: 60}
		messages, unreached := timed(c, noneDead)
		each := messages / procs
		t.Logf("%d processes: %d messages each", procs, each)
		if unreached != 0 || each > 4*bits.Len(uint(procs)) {
			t.Errorf("%d processes: %d messages each, %d unreached", procs, each, unreached)
		}
	}
}

// TestGossip: checked correction reaches all live processes, whichever of them gossip has
// reached. Gossip runs for a time or in rounds; the seed decides what it does.
func TestGossip(t *testing.T) {
	const procs = 500
	dead := func(p int) bool { return p%11 == 10 }
	different := map[int]bool{}
	for seed := range uint64(40) {
		for _, g := range []Gossip{{Until: 1, Seed: seed}, {Until: 20, Seed: seed}, {Rounds: 6, Seed: seed}, {Rounds: 12, Seed: seed}} {
			for _, synchronised := range []bool{false, true} {
				c := &Config{Tree: binomial(procs), Gossip: g, Correction: Checked, Synchronised: synchronised}
				if synchronised {
					c.CorrectAt = 60
				}
				if err := c.Validate(); err != nil {
					t.Fatal(err)
				}
				messages, unreached := timed(c, dead)
				again, _ := timed(c, dead)
				if unreached != 0 || again != messages {
					t.Errorf("%+v: %d unreached, %d messages, then %d", g, unreached, messages, again)
				}
				different[messages] = true
			}
		}
	}
	if len(different) < 40 {
		t.Errorf("only %d different broadcasts with 40 seeds", len(different))
	}
}

// TestGossipIsUniform: a process chooses all others about equally often, and never itself.
func TestGossipIsUniform(t *testing.T) {
	const procs, rounds, seeds = 8, 31, 400
	var count [procs]int
	for seed := range uint64(seeds) {
		c := &Config{Tree: binomial(procs), Gossip: Gossip{Rounds: rounds, Seed: seed}}
		var s State
		c.Start(&s, 0)
		for n := range rounds {
			to, kind, ok := c.SendReady(&s, 0)
			if !ok || kind != KindGossip.withNumber(n+1) {
				t.Fatalf("message %d: %v, %v", n, kind, ok)
			}
			count[to]++
		}
		if _, _, ok := c.SendReady(&s, 0); ok {
			t.Fatal("gossips for longer than there are rounds")
		}
	}
	mean := rounds * seeds / (procs - 1)
	for p, n := range count {
		if p == 0 && n > 0 || p > 0 && (n < mean*9/10 || n > mean*11/10) {
			t.Errorf("%d was chosen %d times of %d", p, n, rounds*seeds)
		}
	}
}

// TestNoAllocation: no step of any variant allocates.
func TestNoAllocation(t *testing.T) {
	for correction := NoCorrection; correction <= FailureProof; correction++ {
		c := &Config{Tree: binomial(64), Correction: correction, Distance: 3}
		if correction == Checked {
			c.Gossip = Gossip{Rounds: 3}
		}
		if n := testing.AllocsPerRun(10, func() {
			var s State
			c.Start(&s, 0)
			c.Receive(&s, 5, KindRight)
			for ok := true; ok; {
				_, _, ok = c.SendReady(&s, 1)
			}
		}); n > 0 {
			t.Errorf("%v: %v allocations", correction, n)
		}
	}
}
