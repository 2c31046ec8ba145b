package detector

import (
	"testing"

	"banyan/internal/proto"
	"banyan/internal/topology"
)

// More than k-1 processes die at once, which may cut live processes off from a broadcast for
// good. The digests in the heartbeats find those processes.
func TestBeyondTheBound(t *testing.T) {
	reconciled := 0
	seeds := uint64(60)
	if testing.Short() {
		seeds = 12
	}
	for seed := range seeds {
		n := 8 + int(seed%57)
		w := newWorld(n, seed)
		if seed%3 == 1 {
			w.slow = eta
		}
		if seed%2 == 0 {
			w.holders = func(_, _ proto.Proc) (proto.Time, bool) { return proto.Time(w.rng.IntN(eta)), w.rng.IntN(8) == 0 }
		}
		w.at(2*eta, func() {
			for _, p := range w.rng.Perm(n)[:n/2] {
				if w.rng.IntN(3) == 0 {
					w.nodes[p].budget = w.rng.IntN(20)
				} else {
					w.crash(proto.Proc(p))
				}
			}
		})
		w.runUntil(2*eta + 30*delta)
		for _, a := range w.nodes {
			a.budget = -1
		}
		w.runUntil(w.now + proto.Time(2*n)*delta)
		if w.checkStable(); w.problem != "" {
			t.Fatalf("seed %d, n = %d: %s", seed, n, w.problem)
		}
		reconciled += w.sent[SendReconcile]
	}
	if reconciled == 0 {
		t.Error("no digest ever differed for long")
	}
}

// Messages are lost, though the model loses none, so broadcasts fail to reach many processes.
// The digests repair that too.
func TestDigestsMendLostNews(t *testing.T) {
	for seed := range uint64(40) {
		const n = 32
		w := newWorld(n, seed)
		w.lost = func(_ proto.Proc, a *Action) bool { return a.Kind == SendNews && w.now < 5*delta && w.rng.IntN(10) > 0 }
		w.at(2*eta, func() { w.crash(proto.Proc(w.rng.IntN(n))) })
		w.at(4*eta, func() { w.crash(proto.Proc(w.rng.IntN(n))) })
		w.runUntil(12 * delta)
		if w.checkStable(); w.problem != "" {
			t.Fatalf("seed %d: %s", seed, w.problem)
		}
		if w.sent[SendReconcile] == 0 {
			t.Fatalf("seed %d: nothing was reconciled", seed)
		}
		for k := range w.sent {
			w.sent[k] = 0
		}
		w.runUntil(14 * delta)
		if w.sent[SendNews]+w.sent[SendReconcile]+w.sent[SendObserve] > 0 {
			t.Fatalf("seed %d: it never gets quiet: %d", seed, w.sent)
		}
	}
}

// Some processes don't hear a goodbye: those that the leaver never contacted and that have no
// launcher to tell them. The other processes pass it on before they take the leaver's silence
// for its death.
func TestGoodbyesAreTold(t *testing.T) {
	for seed := range uint64(40) {
		const n = 16
		w := newWorld(n, seed)
		leaver := proto.Proc(w.rng.IntN(n))
		// The leaver's observer has been in contact with it.
		w.deaf = func(p proto.Proc) bool { return p != w.next[leaver] && w.rng.IntN(2) == 0 }
		w.at(2*eta, func() { w.leave(leaver) })
		w.runUntil(10 * delta)
		if w.checkStable(); w.problem != "" {
			t.Fatalf("seed %d: %s", seed, w.problem)
		}
		for _, a := range w.nodes {
			if a.goodbyes != 1 && a.self != leaver {
				t.Fatalf("seed %d: %v hears %d goodbyes", seed, a.self, a.goodbyes)
			}
		}
	}
}

// Random jobs: deaths, evidence at some processes, stalls too short to be fatal, and processes
// that leave.
func TestEveryoneLearnsOfEveryDeath(t *testing.T) {
	seeds := uint64(200)
	if testing.Short() {
		seeds = 40
	}
	for seed := range seeds {
		n := 2 + int(seed*seed%15)
		if seed%8 == 0 {
			n = 64
		}
		hosts := make([]int32, n)
		for p := range hosts {
			hosts[p] = int32(p) / 4
		}
		w := newWorldOn(topology.InterleavedRing(hosts), seed, func(cfg Config, out *Actions) machine {
			cfg.Witness = seed%4 == 1
			return New(cfg, 0, out)
		})
		if share := w.rng.IntN(3); share > 0 {
			w.holders = func(_, _ proto.Proc) (proto.Time, bool) {
				return proto.Time(w.rng.IntN(delta)), w.rng.IntN(2) < share
			}
		}
		deaths := w.rng.IntN(min(n, 12))
		first, spread := proto.Proc(w.rng.IntN(n)), 1+w.rng.IntN(n)
		for range deaths {
			// Often several of one host, often at the same time.
			p := (first + proto.Proc(w.rng.IntN(spread))) % proto.Proc(n)
			w.at(proto.Time(2*eta+w.rng.IntN(1+w.rng.IntN(3*delta))), func() {
				if a := w.nodes[p]; !a.gone && !a.stalled {
					a.budget = w.rng.IntN(30)
				}
			})
		}
		for range w.rng.IntN(3) {
			p := proto.Proc(w.rng.IntN(n))
			w.at(proto.Time(2*eta+w.rng.IntN(2*delta)), func() {
				if a := w.nodes[p]; !a.gone && !a.stalled && a.budget < 0 {
					w.stall(p, w.now+proto.Time(w.rng.IntN(delta/2)))
				}
			})
		}
		if leaver := proto.Proc(w.rng.IntN(n)); w.rng.IntN(2) == 0 {
			w.at(proto.Time(2*eta+w.rng.IntN(2*delta)), func() {
				if w.nodes[leaver].budget < 0 && !w.nodes[leaver].stalled {
					w.leave(leaver)
				}
			})
		}
		w.runUntil(2*eta + 30*delta)
		for _, a := range w.nodes {
			a.budget = -1
		}
		w.runUntil(w.now + proto.Time(2*deaths+6)*delta)
		if w.checkStable(); w.problem != "" {
			t.Fatalf("seed %d (n = %d, %d deaths): %s", seed, n, deaths, w.problem)
		}
	}
}
