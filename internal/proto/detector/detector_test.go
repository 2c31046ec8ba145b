package detector

import (
	"testing"
	"unsafe"

	"banyan/internal/proto"
	"banyan/internal/topology"
)

func TestQuietSystemSendsOneHeartbeatEachPerPeriod(t *testing.T) {
	for _, n := range []int{1, 2, 3, 64, 1000} {
		w := newWorld(n, 1)
		// The last call of a period may come a little late.
		const periods = 20
		w.runUntil((periods-1)*eta + jitter + 2*tau)
		want := periods * n
		if n == 1 {
			want = 0
		}
		if w.sent[SendHeartbeat] != want {
			t.Errorf("n = %d: %d heartbeats in %d periods, want %d", n, w.sent[SendHeartbeat], periods, want)
		}
		for kind, sent := range w.sent {
			if ActionKind(kind) != SendHeartbeat && sent != 0 {
				t.Errorf("n = %d: %d messages of kind %d", n, sent, kind)
			}
		}
		if w.checkStable(); w.problem != "" {
			t.Errorf("n = %d: %s", n, w.problem)
		}
	}
}

// copies is the number of messages of a broadcast among n processes.
func copies(n int) int { return topology.NewHypercubes(n).Copies() }

func TestOneSilentDeath(t *testing.T) {
	const n, victim, start = 64, 17, 5050
	w := newWorld(n, 2)
	w.at(start, func() { w.crash(victim) })
	w.runUntil(start + 4*delta)
	if w.checkStable(); w.problem != "" {
		t.Fatal(w.problem)
	}
	if got := w.longest[1]; got > bound(n, 1) {
		t.Errorf("unstable for %d, the bound is %d", got, bound(n, 1))
	}
	if got := w.nodes[victim+1].reports[victim]; got.Cause != CauseSilence || got.Silent < delta || got.By != victim+1 {
		t.Errorf("the observer reported %+v", got)
	}
	if got := w.nodes[3].reports[victim]; got.Cause != CauseTold || got.By != victim+1 {
		t.Errorf("process 3 reported %+v", got)
	}
	if w.sent[SendNews] != copies(n-1) || w.sent[SendObserve] != 1 || w.sent[SendReconcile] != 0 {
		t.Errorf("%d copies of news, %d new observers, %d reconciliations; want %d, 1, 0",
			w.sent[SendNews], w.sent[SendObserve], w.sent[SendReconcile], copies(n-1))
	}
}

func TestEvidenceEverywhereMakesOneBroadcast(t *testing.T) {
	const n, victim = 64, 40
	for seed := range uint64(20) {
		w := newWorld(n, seed)
		w.holders = func(_, _ proto.Proc) (proto.Time, bool) { return proto.Time(w.rng.IntN(eta / 2)), true }
		w.at(500, func() { w.crash(victim) })
		w.runUntil(3 * delta)
		if w.checkStable(); w.problem != "" {
			t.Fatal(w.problem)
		}
		if w.longest[1] > eta/2+2*tau {
			t.Errorf("seed %d: unstable for %d", seed, w.longest[1])
		}
		if w.sent[SendNews] != copies(n-1) {
			t.Errorf("seed %d: %d copies of news, want %d", seed, w.sent[SendNews], copies(n-1))
		}
	}
}

// Where a launcher tells every process, the observer's broadcast waits for η so as not to be in
// the way. It is still the only broadcast.
func TestWitnessFirst(t *testing.T) {
	const n, victim = 64, 40
	w := newWorldOn(topology.IdentityRing(n), 3, func(cfg Config, out *Actions) machine {
		cfg.Witness = true
		return New(cfg, 0, out)
	})
	w.holders = func(_, _ proto.Proc) (proto.Time, bool) { return 1, true }
	w.at(500, func() { w.crash(victim) })
	w.runUntil(500 + eta)
	if w.sent[SendNews] > 0 {
		t.Errorf("%d copies of news within η", w.sent[SendNews])
	}
	w.runUntil(3 * delta)
	if w.checkStable(); w.problem != "" {
		t.Fatal(w.problem)
	}
	if w.longest[1] > 2*tau+1 {
		t.Errorf("unstable for %d", w.longest[1])
	}
	if w.sent[SendNews] != copies(n-1) {
		t.Errorf("%d copies of news, want %d", w.sent[SendNews], copies(n-1))
	}
}

// A witness on another host may not reach a silent process. So its observer tells of it at once,
// and all know within δ and the time of the broadcast. One on the same host comes first.
func TestSilenceIsToldAtOnce(t *testing.T) {
	const n, victim = 64, 40
	for _, local := range []bool{false, true} {
		w := newWorldOn(topology.IdentityRing(n), 3, func(cfg Config, out *Actions) machine {
			cfg.Witness, cfg.Local = true, local
			return New(cfg, 0, out)
		})
		w.at(500, func() { w.crash(victim) })
		w.runUntil(3 * delta)
		if w.checkStable(); w.problem != "" {
			t.Fatal(w.problem)
		}
		soon := proto.Time(delta + 40*tau)
		if late := w.longest[1] > soon; late != local {
			t.Errorf("local %t: unstable for %d, and δ with a broadcast takes %d", local, w.longest[1], soon)
		}
		if w.longest[1] > soon+eta {
			t.Errorf("local %t: unstable for %d", local, w.longest[1])
		}
		if w.sent[SendNews] != copies(n-1) {
			t.Errorf("local %t: %d copies of news, want %d", local, w.sent[SendNews], copies(n-1))
		}
	}
}

// Neither the observer of the dead process nor the processes closest to it have evidence. The
// first process that has some broadcasts after its back-off. The observer broadcasts once more,
// for it can't know that the first broadcast missed no process.
func TestBackOffWhereTheObserverHasNoEvidence(t *testing.T) {
	const n, victim = 64, 40
	w := newWorld(n, 4)
	w.holders = func(holder, _ proto.Proc) (proto.Time, bool) { return 1, holder < victim || holder > victim+3 }
	w.at(500, func() { w.crash(victim) })
	w.runUntil(3 * delta)
	if w.checkStable(); w.problem != "" {
		t.Fatal(w.problem)
	}
	if w.longest[1] > 3*eta+40*tau {
		t.Errorf("unstable for %d", w.longest[1])
	}
	if w.sent[SendNews] != 2*copies(n-1) {
		t.Errorf("%d copies of news, want %d", w.sent[SendNews], 2*copies(n-1))
	}
}

func TestStalledProcessesSuspectNobody(t *testing.T) {
	for seed := range uint64(100) {
		w := newWorld(8, seed)
		// All stop together, as on a suspended host, for any length of time; then they resume
		// one by one.
		length := proto.Time(w.rng.IntN(20 * delta))
		w.at(2000, func() {
			for p := range w.nodes {
				w.stall(proto.Proc(p), 2000+length+proto.Time(w.rng.IntN(eta)))
			}
		})
		w.runUntil(2000 + length + 5*delta)
		for _, a := range w.nodes {
			if len(a.reports) > 0 {
				t.Fatalf("seed %d: %v reports %d deaths", seed, a.self, len(a.reports))
			}
		}
		if w.checkStable(); w.problem != "" {
			t.Fatalf("seed %d: %s", seed, w.problem)
		}
	}
}

// A process that alone was stopped for long is taken for dead and is told so. It takes no
// process for dead.
func TestStoppedProcessIsFenced(t *testing.T) {
	for seed := range uint64(50) {
		w := newWorld(8, seed)
		w.at(2000, func() { w.stall(3, 2000+5*delta) })
		w.runUntil(2000 + 8*delta)
		if w.checkStable(); w.problem != "" {
			t.Fatalf("seed %d: %s", seed, w.problem)
		}
		for _, a := range w.nodes {
			if _, ok := a.reports[3]; ok == (a.self == 3) || len(a.reports) > 1 {
				t.Fatalf("seed %d: %v reports %v", seed, a.self, a.reports)
			}
		}
		if !w.nodes[3].fenced {
			t.Fatalf("seed %d: nobody told process 3", seed)
		}
	}
}

// A process that is known to be stopped by its debugger isn't taken for dead, then or
// afterwards.
func TestExcusedProcessIsNotSuspected(t *testing.T) {
	w := newWorld(8, 1)
	excuse := func(yes bool) {
		for _, a := range w.nodes {
			w.step(a, func() { a.m.(*Machine).Excuse(w.now, 3, yes) })
		}
	}
	w.at(2000, func() { excuse(true); w.stall(3, 2000+50*delta) })
	w.at(2000+10*delta, func() { w.crash(4) }) // 3's observer; the next process is informed too
	w.at(2000+50*delta, func() { excuse(false) })
	w.runUntil(2000 + 60*delta)
	if w.checkStable(); w.problem != "" {
		t.Fatal(w.problem)
	}
	for _, a := range w.nodes {
		if _, ok := a.reports[3]; ok {
			t.Fatalf("%v took it for dead", a.self)
		}
	}
	w.at(w.now, func() { w.crash(3) })
	w.runUntil(w.now + 3*delta)
	if w.checkStable(); w.problem != "" {
		t.Fatalf("dead after its excuse: %s", w.problem)
	}
}

func TestLeavingIsNotDying(t *testing.T) {
	for seed := range uint64(30) {
		const n = 16
		w := newWorld(n, seed)
		w.at(1500, func() { w.crash(5) })
		when := proto.Time(1500 + 3*delta)
		for p := range proto.Proc(n - 1) {
			w.at(when, func() { w.leave(p) })
			when += proto.Time(w.rng.IntN(eta / 2))
		}
		w.runUntil(when + 4*delta)
		if w.checkStable(); w.problem != "" {
			t.Fatalf("seed %d: %s", seed, w.problem)
		}
		if w.sent[SendNews] != copies(n-1) || w.sent[SendReconcile] != 0 {
			t.Fatalf("seed %d: %d copies of news, %d reconciliations: leaving made news", seed, w.sent[SendNews], w.sent[SendReconcile])
		}
		last := w.nodes[n-1].m.(*Machine)
		if last.Deadline() != proto.Never || !last.Alive(0) || last.Alive(5) {
			t.Fatalf("seed %d: the last process waits until %d", seed, last.Deadline())
		}
	}
}

// A host of m processes vanishes. In a ring by rank they are neighbours, which are detected one
// after the other; in a ring interleaved by host all are detected at once.
func TestVanishedHost(t *testing.T) {
	const hosts, m = 8, 8
	host := make([]int32, hosts*m)
	for p := range host {
		host[p] = int32(p / m)
	}
	unstable := func(ring *topology.Ring) proto.Time {
		w := newWorldOn(ring, 1, nil)
		w.at(3*eta, func() {
			for p := range proto.Proc(m) {
				w.crash(3*m + p)
			}
		})
		w.runUntil(20 * delta)
		if w.checkStable(); w.problem != "" {
			t.Fatal(w.problem)
		}
		return w.longest[m]
	}
	byRank, byHost := unstable(topology.IdentityRing(len(host))), unstable(topology.InterleavedRing(host))
	if byRank < (2*m-2)*delta || byHost > delta*14/10 {
		t.Errorf("unstable for %d by rank, %d interleaved; want about %d and at most %d", byRank, byHost, (2*m-1)*delta, delta*14/10)
	}
}

func TestSteps(t *testing.T) {
	var out Actions
	view := &View{Ring: topology.IdentityRing(64)}
	m := New(Config{Self: 1, View: view, Period: eta, Timeout: delta}, 0, &out)
	now := proto.Time(0)
	for _, dead := range []proto.Proc{proto.NoProc, 7} {
		if dead != proto.NoProc {
			m.Evidence(now, dead, 0, &out)
			m.broadcast(&out)
		}
		allocs := testing.AllocsPerRun(1000, func() {
			now += eta
			out = out[:0]
			m.Heartbeat(now, 0, Beat{Digest: m.digest()}, &out)
			m.Tick(now, &out)
			m.Alive(9)
		})
		if allocs != 0 {
			t.Errorf("%v allocations in a heartbeat period", allocs)
		}
	}
	b := Bulletin{Source: 8, Gone: m.Gone()}
	if allocs := testing.AllocsPerRun(1000, func() {
		out = out[:0]
		m.News(now, 0, b, &out)
	}); allocs != 0 {
		t.Errorf("%v allocations in passing on a copy", allocs)
	}
	if size := unsafe.Sizeof(Machine{}); size > 240 {
		t.Errorf("a machine takes %d bytes", size)
	}
}
