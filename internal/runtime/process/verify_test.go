package process

import (
	"bytes"
	"strings"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/proto/verify"
	"banyan/internal/runtime/wire"
)

// relay passes messages of several sizes, eager, large and synchronous, to its right
// neighbour and gets them from its left one. What it sends is what it got, so that an error
// spreads.
type relay struct {
	rank, ranks, rounds int
	round               int
	wrong               int // the round in which a bit of what this process sends is wrong; -1: none
	got                 []byte
	open                []Handle
	tainted             bool
}

func (r *relay) size(round int) int { return []int{8, 100, EagerLimit + 1, 3, 20}[round%5] }

func (r *relay) step(p *Process) bool {
	for len(r.open) > 0 {
		if !p.Done(r.open[0]) {
			return false
		}
		if _, err := p.Take(r.open[0]); err != nil {
			panic(err)
		}
		r.open = r.open[1:]
	}
	n := r.size(r.round)
	if r.round > 0 {
		r.tainted = r.tainted || len(bytes.Trim(r.got, "\x07")) > 0
	}
	if r.round == r.rounds {
		return true
	}
	data := bytes.Repeat([]byte{7}, n)
	if r.tainted || r.round == r.wrong {
		data[n/2] ^= 16
	}
	r.got = make([]byte, n)
	right, left := proto.Rank((r.rank+1)%r.ranks), proto.Rank((r.rank+r.ranks-1)%r.ranks)
	send := p.Send
	if r.round%5 == 4 {
		send = p.SendSynchronous
	}
	r.open = append(r.open, p.Receive(2, left, int32(r.round), r.got), send(2, right, int32(r.round), data))
	r.round++
	return false
}

// relays makes a job of them in which one process is wrong in a round (-1: none is), and calls
// found for each corruption that is found.
func relays(t *testing.T, seed uint64, layout layout.Layout, wrong proto.Proc, round, rounds int, found func(w *testJob, by proto.Proc, c Corruption)) *testJob {
	w := newTestJob(t, seed, layout, func(r proto.Rank, k int) program {
		f := &relay{rank: int(r), ranks: layout.Ranks(), rounds: rounds, wrong: -1}
		if layout.Proc(r, k) == wrong {
			f.wrong = round
		}
		return f
	})
	for _, n := range w.nodes {
		n.p.cfg.Corrupted = func(c Corruption) { found(w, n.self, c) }
		n.p.verifying = n.p.newVerifying()
	}
	return w
}

// One of three replicas sends a wrong bit. It is outvoted, as is every other process that its
// error reaches. A process that gets to the end has seen right data only.
func TestCorruptionIsOutvoted(t *testing.T) {
	layout := layout.Uniform(3, 3)
	const rounds = 12
	seeds(t, func(t *testing.T, seed uint64) {
		wrong, round := proto.Proc(seed%9), int(seed/9%rounds)
		stop := map[proto.Proc]bool{}
		w := relays(t, seed, layout, wrong, round, rounds, func(w *testJob, by proto.Proc, c Corruption) {
			if c.Kind == verify.Undecided {
				t.Fatalf("%v: %v", by, c)
			}
			for _, q := range c.Procs {
				if layout.Replica(q) != layout.Replica(wrong) {
					t.Fatalf("%v, of a world that is right, is to stop by %v: %v", q, by, c)
				}
				stop[q] = true
			}
		})
		relays := map[proto.Proc]*relay{}
		for _, n := range w.nodes {
			relays[n.self] = n.program.(*relay)
		}
		for steps := 0; !w.allGone(); steps++ {
			if steps == 1_000_000 {
				t.Fatalf("no end in sight: %s", w.state())
			}
			w.once()
			for q := range proto.Proc(layout.Procs()) {
				if stop[q] {
					w.crash(q) // as the launcher does
				}
			}
		}
		if !w.nodes[wrong].dead {
			t.Errorf("%v, which was wrong in round %d, lives", wrong, round)
		}
		for q, r := range relays {
			if !w.nodes[q].dead && r.tainted {
				t.Errorf("%v has got what is wrong and left in order", q)
			}
		}
	})
}

// With two replicas a difference can't be decided, and no process leaves as if all were well.
func TestCorruptionStopsTwo(t *testing.T) {
	layout := layout.Uniform(3, 2)
	const rounds = 12
	seeds(t, func(t *testing.T, seed uint64) {
		wrong, round := proto.Proc(seed%6), int(seed/6%rounds)
		stopped := false
		w := relays(t, seed, layout, wrong, round, rounds, func(w *testJob, by proto.Proc, c Corruption) {
			if c.Kind != verify.Undecided || len(c.Procs) > 0 {
				t.Fatalf("%v: %v", by, c)
			}
			stopped = true
		})
		for steps := 0; !stopped; steps++ {
			if steps == 1_000_000 || w.allGone() {
				t.Fatalf("nobody found out: %s", w.state())
			}
			w.once()
		}
	})
}

// once delivers a packet, or lets a process go on.
func (w *testJob) once() {
	if w.rng.IntN(3) > 0 {
		if key, ok := w.pick(); ok {
			w.deliver(key)
			return
		}
	}
	if n := w.nodes[w.rng.IntN(len(w.nodes))]; !n.dead && !n.gone {
		w.advance(n)
	}
}

// Replicas that send the same aren't accused, whichever die when.
func TestNoCorruption(t *testing.T) {
	for _, layout := range []layout.Layout{layout.Uniform(3, 2), layout.Uniform(3, 3), layout.Partial([]int{3, 1, 2})} {
		seeds(t, func(t *testing.T, seed uint64) {
			w := relays(t, seed, layout, proto.NoProc, 0, 12, func(w *testJob, by proto.Proc, c Corruption) {
				t.Fatalf("%v: %v", by, c)
			})
			next := int(seed % 3)
			w.run(int(seed/3%3), func() proto.Proc {
				if layout.MaxDegree() == layout.Degree(1) {
					return w.expendable()
				}
				next++
				return layout.Proc(0, next%3) // one of three is left, at most two strikes
			})
		})
	}
}

// ackTap is a Net that keeps the last acknowledgements.
type ackTap struct {
	frameLog
	ack []byte
}

func (w *ackTap) Send(_ proto.Proc, h *wire.Header, payload []byte, _ uint64) {
	if h.Kind == wire.KindAck {
		w.ack = bytes.Clone(payload)
	}
}

// Acknowledgements say nothing of data unless verification is asked for.
func TestAcksWithoutDigests(t *testing.T) {
	for _, verified := range []bool{false, true} {
		p, _ := single(t, layout.Uniform(2, 2))
		w := new(ackTap)
		p.net = w
		if verified {
			p.cfg.Corrupted = func(Corruption) {}
			p.verifying = p.newVerifying()
		}
		p.Frame(1, &wire.Header{Kind: wire.KindEager, Context: 2, Src: 1, Tag: 3, Seq: 1, Total: 4}, append([]byte("data"), make([]byte, p.clock.StampSize())...))
		p.Work()
		p.flushAcks()
		acks, err := wire.DecodeAcks(nil, w.ack)
		if err != nil || len(acks) != 1 || acks[0].Verified != verified || (acks[0].Digest != 0) != verified {
			t.Errorf("verified %v: %+v, %v", verified, acks, err)
		}
	}
}

// The message about a corruption names the message and the processes that stop.
func TestCorruptionInWords(t *testing.T) {
	v := verify.Verdict{Kind: verify.Outvoted, Replica: 1, Dst: 2, First: 41, Last: 41, Tag: 7}
	for want, c := range map[string]Corruption{
		"replica 1's data of message 41 from rank 0 to rank 2 (tag 7) differs": {Verdict: v},
		"one of the messages 3 to 41 from rank 0 to rank 2 differs":            {Verdict: verify.Verdict{Kind: verify.Undecided, Dst: 2, First: 3, Last: 41}},
		"this replica's data of message 41":                                    {Verdict: verify.Verdict{Kind: verify.Outnumbered, Dst: 2, First: 41, Last: 41}},
	} {
		if !strings.Contains(c.String(), want) {
			t.Errorf("%q isn't in %q", want, c)
		}
	}
}

// Replacements compare, too, and are compared, whichever die when. No process is accused that is
// right.
func TestNoCorruptionWhereReplicasAreHealed(t *testing.T) {
	healed := 0
	layouts := []layout.Layout{layout.Uniform(2, 2), layout.Uniform(3, 3), layout.Partial([]int{3, 1, 2}), layout.Partial([]int{2, 3})}
	seeds(t, func(t *testing.T, seed uint64) {
		layout := layouts[seed%4]
		w := newVerifiedHealingJob(t, seed, layout, false, func(r proto.Rank) *courier {
			return &courier{rank: int(r), ranks: layout.Ranks(), rounds: 16, setUp: int(seed % 3), value: uint64(r)}
		}, func(by *healingNode, c Corruption) { t.Errorf("%v: %v", by, c) })
		w.run(3+int(seed%7), 100+100*int(seed%3))
		healed += w.healed
		for _, n := range w.all {
			if n.dead {
				continue
			}
			if digests, rendezvous := n.p.verifying.machine.Kept(); digests+rendezvous > 0 {
				t.Errorf("%v has left, and %d digests and %d rendezvous aren't compared", n, digests, rendezvous)
			}
		}
	})
	if *seedFlag == 0 && healed < *runsFlag*5/3 {
		t.Errorf("only %d healed", healed)
	}
}

// After every process has been replaced, a wrong bit is found as it was before.
func TestCorruptionAfterHealing(t *testing.T) {
	for _, layout := range []layout.Layout{layout.Uniform(2, 2), layout.Uniform(2, 3), layout.Partial([]int{2, 3, 2})} {
		seeds(t, func(t *testing.T, seed uint64) {
			wrong := proto.Proc(seed % uint64(layout.Procs()))
			var found []Corruption
			w := newVerifiedHealingJob(t, seed, layout, false, func(r proto.Rank) *courier {
				return &courier{rank: int(r), ranks: layout.Ranks(), rounds: 400, value: uint64(r)}
			}, func(by *healingNode, c Corruption) { found = append(found, c) })
			next := proto.Proc(0)
			w.stop = func() bool {
				switch n := w.nodes[next%proto.Proc(layout.Procs())]; {
				case w.over || len(found) > 0:
					return true
				case next < proto.Proc(layout.Procs()) && len(w.fresh) == 0 && len(w.waiting) == 0 && n.program != nil && w.healed == int(next):
					for k := range layout.Degree(layout.Rank(next)) {
						if q := layout.Proc(layout.Rank(next), k); q != next && w.nodes[q].healable {
							w.crash(n)
							next++
							break
						}
					}
				case !w.tainted && w.healed == layout.Procs() && len(w.fresh) == 0:
					w.tainted = true
					w.nodes[wrong].program.(*courier).value ^= 1 << (seed % 64)
				}
				return false
			}
			w.run(0, 1)
			if w.healed != layout.Procs() || !w.tainted {
				t.Fatalf("%d healed", w.healed)
			}
			if len(found) == 0 {
				t.Fatalf("nobody found that %v is wrong", wrong)
			}
			if c := found[0]; layout.Degree(0) == layout.Degree(1) && (c.Kind == verify.Undecided) != (layout.Degree(0) == 2) {
				t.Errorf("%v is wrong: %v", wrong, c)
			}
			for _, q := range found[0].Procs {
				if layout.Replica(q) != layout.Replica(wrong) {
					t.Errorf("%v is wrong, and %v is to stop: %v", wrong, q, found[0])
				}
			}
		})
	}
}

// An outvoted process is replaced, with the majority's state: all that leave have the right
// result. A replacement may itself be stopped, as the stream's other end, but not for long.
func TestOutvotedAreReplaced(t *testing.T) {
	layout, healed := layout.Uniform(2, 3), 0
	seeds(t, func(t *testing.T, seed uint64) {
		wrong, stopped := proto.Proc(seed%6), 0
		var w *healingJob
		stop := map[*healingNode]bool{}
		w = newVerifiedHealingJob(t, seed, layout, false, func(r proto.Rank) *courier {
			return &courier{rank: int(r), ranks: layout.Ranks(), rounds: 60, value: uint64(r)}
		}, func(by *healingNode, c Corruption) {
			if c.Kind == verify.Undecided {
				t.Errorf("%v: %v", by, c)
			}
			for _, q := range c.Procs {
				if layout.Replica(q) != layout.Replica(wrong) {
					t.Errorf("%v is wrong, and %v is to stop by %v: %v", wrong, q, by, c)
				}
				stop[w.nodes[q]] = true
			}
		})
		w.stop = func() bool {
			if n := w.nodes[wrong]; !w.tainted && n.program != nil && n.program.(*courier).round == 5+int(seed%20) {
				w.tainted = true
				n.program.(*courier).value ^= 1 << (seed % 64)
			}
			for _, n := range w.all {
				if stop[n] && !n.dead && !n.gone {
					w.crash(n)
					stopped++
				}
			}
			return false
		}
		w.run(0, 1)
		for _, n := range w.all {
			if n.gone && n.wrong {
				t.Errorf("%v has left with a wrong result", n)
			}
		}
		if stopped == 0 || stopped > 4 {
			t.Errorf("%d were stopped", stopped)
		}
		healed += w.healed
	})
	if *seedFlag == 0 && healed < *runsFlag {
		t.Errorf("only %d healed", healed)
	}
}
