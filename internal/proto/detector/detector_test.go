package detector

import (
	"testing"

	"banyan/internal/proto"
)

func TestQuietSystemSendsOneHeartbeatEachPerPeriod(t *testing.T) {
	for _, n := range []int{1, 2, 3, 64} {
		w := newWorld(n, 1)
		w.start()
		// The last call of a period may come a little late.
		const periods = 50
		w.runUntil((periods-1)*eta + jitter)
		want := periods * n
		if n == 1 {
			want = 0
		}
		if w.sent[SendHeartbeat] != want {
			t.Errorf("n = %d: %d heartbeats in %d periods, want %d", n, w.sent[SendHeartbeat], periods, want)
		}
		if others := w.sent[SendObserve] + w.sent[SendDeaths] + w.sent[SendObituary]; others != 0 {
			t.Errorf("n = %d: %d other messages", n, others)
		}
		w.checkStable(func(proto.Proc) bool { return false }, 0)
		if w.problem != "" {
			t.Errorf("n = %d: %s", n, w.problem)
		}
	}
}

func TestOneSilentDeath(t *testing.T) {
	const n, victim, start = 64, 17, 5050
	w := newWorld(n, 2)
	w.start()
	w.at(start, func() { w.crash(victim) })
	w.runUntil(start + 3*delta)
	w.checkStable(func(p proto.Proc) bool { return p == victim }, start+delta+2*tau+jitter)
	if w.problem != "" {
		t.Fatal(w.problem)
	}
	if got := w.procs[victim+1].reports[victim]; got.Cause != CauseSilence || got.Silent < delta || got.By != victim+1 {
		t.Errorf("the observer reported %+v", got)
	}
	if got := w.procs[3].reports[victim]; got.Cause != CauseTold || got.By != victim+1 {
		t.Errorf("process 3 reported %+v", got)
	}
	if w.sent[SendDeaths] != n-2 || w.sent[SendObserve] != 1 {
		t.Errorf("%d lists of deaths, %d new observers; want %d, 1", w.sent[SendDeaths], w.sent[SendObserve], n-2)
	}
}

func TestEvidenceEverywhereMakesOneBroadcast(t *testing.T) {
	const n, victim = 64, 40
	w := newWorld(n, 3)
	w.holders = func(_, _ proto.Proc) (proto.Time, bool) { return proto.Time(w.rng.IntN(tau)), true }
	w.start()
	w.at(500, func() { w.crash(victim) })
	w.runUntil(3 * delta)
	w.checkStable(func(p proto.Proc) bool { return p == victim }, 500+tau)
	if w.problem != "" {
		t.Fatal(w.problem)
	}
	if w.sent[SendDeaths] != n-2 {
		t.Errorf("%d lists of deaths, want %d", w.sent[SendDeaths], n-2)
	}
}

// The observer of the dead process has no evidence, those closest to it
// neither: the first that has some tells all after its back-off, and the
// observer once more, for it can't know that nobody was missed.
func TestBackOffWhereTheObserverHasNoEvidence(t *testing.T) {
	const n, victim = 64, 40
	w := newWorld(n, 4)
	w.holders = func(holder, _ proto.Proc) (proto.Time, bool) { return 1, holder < victim || holder > victim+3 }
	w.start()
	w.at(500, func() { w.crash(victim) })
	w.runUntil(3 * delta)
	w.checkStable(func(p proto.Proc) bool { return p == victim }, 500+3*eta+jitter+2*tau)
	if w.problem != "" {
		t.Fatal(w.problem)
	}
	if w.sent[SendDeaths] != 2*(n-2) {
		t.Errorf("%d lists of deaths, want %d", w.sent[SendDeaths], 2*(n-2))
	}
}

func TestStalledProcessesSuspectNobody(t *testing.T) {
	for seed := range uint64(200) {
		w := newWorld(8, seed)
		w.start()
		// All stop together, as on a suspended host, for any time; then
		// they go on one by one.
		length := proto.Time(w.rng.IntN(20 * delta))
		w.at(2000, func() {
			for p := range w.procs {
				w.stall(proto.Proc(p), 2000+length+proto.Time(w.rng.IntN(eta)))
			}
		})
		w.runUntil(2000 + length + 5*delta)
		w.checkStable(func(proto.Proc) bool { return false }, 0)
		if w.problem != "" {
			t.Fatalf("seed %d: %s", seed, w.problem)
		}
	}
}

// A process that alone was stopped for long is taken for dead and told so. It
// takes nobody for dead.
func TestStoppedProcessIsFenced(t *testing.T) {
	for seed := range uint64(50) {
		w := newWorld(8, seed)
		w.start()
		w.at(2000, func() { w.stall(3, 2000+5*delta) })
		w.runUntil(2000 + 7*delta)
		w.checkStable(func(p proto.Proc) bool { return p == 3 }, 2000+delta+2*tau+jitter)
		if w.problem != "" {
			t.Fatalf("seed %d: %s", seed, w.problem)
		}
		if !w.procs[3].fenced || len(w.procs[3].reports) != 0 {
			t.Fatalf("seed %d: fenced %t, took %d for dead", seed, w.procs[3].fenced, len(w.procs[3].reports))
		}
	}
}

func TestLeavingIsNotDying(t *testing.T) {
	for seed := range uint64(50) {
		const n = 16
		w := newWorld(n, seed)
		w.start()
		w.at(1500, func() { w.crash(5) })
		for p := range proto.Proc(n - 1) {
			if p != 5 {
				w.at(4000+proto.Time(w.rng.IntN(2*delta)), func() { w.leave(p) })
			}
		}
		w.runUntil(12 * delta)
		w.checkStable(func(p proto.Proc) bool { return p == 5 }, 1500+delta+2*tau+jitter)
		if w.problem != "" {
			t.Fatalf("seed %d: %s", seed, w.problem)
		}
		if w.sent[SendDeaths] != n-2 {
			t.Fatalf("seed %d: %d lists of deaths: leaving made news", seed, w.sent[SendDeaths])
		}
		last := w.procs[n-1].m
		if last.Deadline() != proto.Never || !last.Alive(0) || last.Alive(5) {
			t.Fatalf("seed %d: the last process waits until %d", seed, last.Deadline())
		}
	}
}

// Random jobs: deaths at random actions and times, evidence for some, stalls too
// short to be fatal, processes that leave.
func TestEveryoneLearnsOfEveryDeath(t *testing.T) {
	for seed := range uint64(200) {
		n := 2 + int(seed*seed%15)
		if seed%8 == 0 {
			n = 64
		}
		w := newWorld(n, seed)
		if share := w.rng.IntN(3); share > 0 {
			w.holders = func(_, _ proto.Proc) (proto.Time, bool) {
				return proto.Time(w.rng.IntN(delta)), w.rng.IntN(2) < share
			}
		}
		w.start()
		crashed := make([]bool, n)
		isCrashed := func(p proto.Proc) bool { return crashed[p] }
		deaths := w.rng.IntN(min(n, 12))
		first, spread := proto.Proc(w.rng.IntN(n)), 1+w.rng.IntN(n)
		for range deaths {
			// Often neighbours, often at once.
			p := (first + proto.Proc(w.rng.IntN(spread))) % proto.Proc(n)
			when := proto.Time(2000 + w.rng.IntN(1+w.rng.IntN(3*delta)))
			w.at(when, func() {
				if a := w.procs[p]; !a.gone {
					// A prefix of some later call's actions, or now.
					a.budget = w.rng.IntN(2 + n/2)
					crashed[p] = true
				}
			})
		}
		for range w.rng.IntN(3) {
			p := proto.Proc(w.rng.IntN(n))
			w.at(proto.Time(2000+w.rng.IntN(2*delta)), func() {
				if a := w.procs[p]; !a.gone && !a.stalled && a.budget < 0 {
					w.stall(p, w.now+proto.Time(w.rng.IntN(delta/2)))
				}
			})
		}
		if leaver := proto.Proc(w.rng.IntN(n)); w.rng.IntN(2) == 0 {
			w.at(proto.Time(2000+w.rng.IntN(2*delta)), func() {
				if w.procs[leaver].budget < 0 && !w.procs[leaver].stalled {
					w.leave(leaver)
				}
			})
		}
		const last = 2000 + 3*delta
		w.at(last, func() {
			for p := range w.procs {
				if crashed[p] && !w.procs[p].gone {
					w.crash(proto.Proc(p))
				}
			}
		})
		bound := proto.Time(last + (deaths+1)*(2*delta+jitter) + 2*tau)
		w.runUntil(bound + 3*delta)
		w.checkStable(isCrashed, bound)
		if w.problem != "" {
			t.Fatalf("seed %d (n = %d, %d deaths): %s", seed, n, deaths, w.problem)
		}
	}
}

// Every pair of processes crashes after every pair of numbers of actions, with
// evidence for all, for the process before the dead one only, or for nobody.
func TestExhaustiveSmall(t *testing.T) {
	evidence := map[string]func(n int) func(_, _ proto.Proc) (proto.Time, bool){
		"none": func(int) func(_, _ proto.Proc) (proto.Time, bool) { return nil },
		"all": func(int) func(_, _ proto.Proc) (proto.Time, bool) {
			return func(_, _ proto.Proc) (proto.Time, bool) { return 3, true }
		},
		"before": func(n int) func(_, _ proto.Proc) (proto.Time, bool) {
			return func(holder, dead proto.Proc) (proto.Time, bool) { return 3, (int(holder)+1)%n == int(dead) }
		},
	}
	const actions = 12 // what a process does in two deaths, and some heartbeats before
	for name, holders := range evidence {
		for n := 2; n <= 4; n++ {
			for code := range n * n * actions * actions {
				p, q := code%n, code/n%n
				i, j := code/n/n%actions, code/n/n/actions
				if p > q || p == q && i != j {
					continue
				}
				w := newWorld(n, 0)
				w.holders = holders(n)
				w.procs[p].budget, w.procs[q].budget = i, j
				w.start()
				w.runUntil(actions*eta + 5*delta)
				crashed := func(x proto.Proc) bool { return w.procs[x].gone }
				w.checkStable(crashed, w.now)
				if w.problem != "" {
					t.Fatalf("evidence %s, n = %d, process %d dies after %d actions, %d after %d: %s", name, n, p, i, q, j, w.problem)
				}
			}
		}
	}
}
