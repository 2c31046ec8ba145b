package detector

import (
	"slices"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/topology"
)

// installAt lets a process install a view at a time.
func (w *world) installAt(when proto.Time, p proto.Proc, v *View) {
	w.at(when, func() {
		a := w.nodes[p]
		w.step(a, func() { a.m.(*Machine).Install(w.now, v, &a.out) })
	})
}

// adopt makes the ring of a view the one that check expects.
func (w *world) adopt(v *View) {
	for p := range proto.Proc(len(w.nodes)) {
		if v.Ring.Position(p) < 0 {
			continue
		}
		w.next[p], w.prev[p] = v.Ring.Next(p), v.Ring.Prev(p)
	}
	for p := range proto.Proc(len(w.nodes)) {
		w.check(p)
	}
}

// A view with quite another order is installed early at some processes and late at others. No
// process is suspected in the meantime, the ring closes, and then each process sends one
// heartbeat for each η again.
func TestViewsDiffer(t *testing.T) {
	for seed := range uint64(100) {
		const n = 12
		w := newWorld(n, seed)
		order := make([]proto.Proc, n)
		for i, p := range w.rng.Perm(n) {
			order[i] = proto.Proc(p)
		}
		ring, err := topology.NewRing(order)
		if err != nil {
			t.Fatal(err)
		}
		v := &View{Number: 1, Ring: ring}
		for p := range proto.Proc(n) {
			w.installAt(3*eta+proto.Time(w.rng.IntN(delta)), p, v)
		}
		w.at(3*eta+delta, func() { w.adopt(v) })
		w.runUntil(3*eta + 5*delta)
		if w.checkStable(); w.problem != "" {
			t.Fatalf("seed %d: %s", seed, w.problem)
		}
		w.sent = [actionKinds]int{}
		w.runUntil(w.now + 10*eta)
		if got := w.sent[SendHeartbeat]; got < 10*n-n || got > 10*n+n || w.sent[SendObserve]+w.sent[SendNews]+w.sent[SendReconcile] > 0 {
			t.Fatalf("seed %d: in 10 periods of %d processes %d", seed, n, w.sent)
		}
	}
}

// A process dies and starts again within δ, before any process could find it silent; a view
// admits it in its new incarnation. Every process hears of the death of the old incarnation,
// and none takes the new one for dead. When that dies too, they hear of it once more.
func TestRestartFasterThanTheTimeOut(t *testing.T) {
	for seed := range uint64(100) {
		const n, victim = 9, 4
		w := newWorld(n, seed)
		v := &View{Number: 1, Ring: topology.IdentityRing(n), Incarnations: make([]proto.Incarnation, n)}
		v.Incarnations[victim] = 1
		deaths := make([][]Report, n)
		again := &node{self: victim, budget: -1, tickAt: proto.Never, reports: map[proto.Proc]Report{}}
		w.at(3*eta, func() { w.crash(victim) })
		start := 3*eta + eta + proto.Time(w.rng.IntN(delta-3*eta))
		w.at(start, func() {
			for _, a := range w.nodes { // what the nodes know of the old one
				if r, ok := a.reports[victim]; ok {
					deaths[a.self] = append(deaths[a.self], r)
				}
			}
			w.nodes[victim] = again
			again.m = New(Config{Self: victim, Incarnation: 1, View: v, Period: eta, Timeout: delta}, w.now, &again.out)
			// The stability that world checks doesn't consider incarnations.
			w.dead, w.unknown, w.since = 0, 0, proto.Never
			for _, a := range w.nodes {
				if a.known > 0 || len(a.reports) > 0 {
					t.Fatalf("seed %d: %v knows already", seed, a.self)
				}
			}
			w.onReport = func(a *node, r Report) { deaths[a.self] = append(deaths[a.self], r) }
			w.perform(again)
		})
		for p := range proto.Proc(n) {
			if p != victim {
				w.installAt(start+proto.Time(w.rng.IntN(eta)), p, v)
			}
		}
		w.runUntil(start + 6*delta)
		w.at(w.now, func() { w.step(again, func() { w.vanish(again) }) })
		w.runUntil(w.now + 4*delta)
		if w.problem != "" {
			t.Fatalf("seed %d: %s", seed, w.problem)
		}
		for p, reports := range deaths {
			if p == victim {
				continue
			}
			of := func(incarnation proto.Incarnation) func(Report) bool {
				return func(r Report) bool { return r.Proc == victim && r.Incarnation == incarnation }
			}
			if len(reports) != 2 || !slices.ContainsFunc(reports, of(0)) || !slices.ContainsFunc(reports, of(1)) {
				t.Fatalf("seed %d: process %d reports %+v", seed, p, reports)
			}
		}
		if w.wrong > 0 {
			t.Fatalf("seed %d: %d processes aren't connected", seed, w.wrong)
		}
	}
}
