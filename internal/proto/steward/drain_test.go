package steward

import (
	"testing"

	"banyan/internal/proto"
)

// drain has the acting steward drain a host.
func (w *world) drain(by, h Host) {
	n := w.nodes[by]
	w.call(n, func(now proto.Time, out *[]Action) { n.agent.Drain(now, h, out) })
}

// stopAll ends all processes of a host.
func (w *world) stopAll(h Host) {
	n := w.nodes[h]
	procs := n.procs
	n.procs = nil
	w.call(n, func(now proto.Time, out *[]Action) {
		for _, p := range procs {
			n.agent.Ended(now, p, 0, out)
		}
	})
}

// until plays to a time.
func (w *world) until(t *testing.T, at proto.Time) {
	t.Helper()
	if err := w.run(at); err != nil {
		t.Fatal(err)
	}
	w.now = at
}

// The last host is to leave. It votes, and leads to the end: else nobody could write how the job
// ends. The other one has died, and may not count as lost yet.
func TestDrainOfTheLast(t *testing.T) {
	for seed := range uint64(20) {
		for _, drainAt := range []proto.Time{5 * sec, 12 * sec} {
			w := newWorld(setting{hosts: 2, witness: true, procs: 2, drift: 1000}, seed+1)
			w.finish = 25 * sec
			w.strike(fault{kind: kill, host: 1, at: 3 * sec})
			w.until(t, drainAt)
			w.drain(0, 0)
			w.until(t, 14*sec)
			w.stopAll(0)
			w.until(t, 35*sec)
			if o := w.nodes[0].agent.Outcome(); o.Reason != Finished {
				t.Fatalf("seed %d, drained at %d: %v", seed+1, drainAt, o.Reason)
			}
		}
	}
}

// A drained host stays as long as a process runs there, or its driver holds something.
func TestHold(t *testing.T) {
	w := newWorld(setting{hosts: 3, procs: 3, drift: 1000}, 1)
	a := w.nodes[2].agent
	reason := func() Reason { return a.Outcome().Reason }
	w.until(t, 3*sec)
	w.drain(0, 2)
	w.until(t, 6*sec)
	if reason() != NotOver {
		t.Fatalf("it leaves with a process: %v", reason())
	}
	a.Hold(true)
	w.stopAll(2)
	w.until(t, 9*sec)
	if reason() != NotOver {
		t.Fatalf("it leaves with what it holds: %v", reason())
	}
	a.Hold(false)
	w.until(t, 12*sec)
	if reason() != Drained {
		t.Errorf("it doesn't leave: %v", reason())
	}
}

// A steward is cut off while it changes the voters. Only its own ledger has the change. The other
// host goes on without it, and dies. The first one goes on with the voters that all knew.
func TestProposedInVain(t *testing.T) {
	for seed := range uint64(20) {
		w := newWorld(setting{hosts: 2, witness: true, procs: 2, drift: 1000}, seed+1)
		w.strike(fault{kind: cut, host: 0, side: 1, at: 3 * sec, until: 10 * sec})
		w.strike(fault{kind: kill, host: 1, at: 5 * sec})
		w.until(t, 2*sec)
		w.stopAll(0) // it votes no more
		w.until(t, 3*sec+sec/10)
		w.drain(0, 0)
		w.until(t, 4*sec+9*sec/10)
		if !w.nodes[1].agent.Leads() {
			t.Fatalf("seed %d: the other host doesn't lead", seed+1)
		}
		w.until(t, 25*sec)
		if !w.nodes[0].agent.Leads() || w.lostAt[1] == 0 {
			t.Fatalf("seed %d: %v", seed+1, w.nodes[0].agent)
		}
	}
}

// A steward that changes the voters so that the other host decides alone is cut off from that, not
// from the witness, and dies. The witness doesn't know of the change: the other host goes on.
func TestWitnessLast(t *testing.T) {
	for seed := range uint64(20) {
		w := newWorld(setting{hosts: 2, witness: true, procs: 2, drift: 1000}, seed+1)
		w.strike(fault{kind: cut, host: 1, side: 2, at: 3 * sec, until: 8 * sec})
		w.strike(fault{kind: kill, host: 0, at: 3*sec + sec/5})
		w.until(t, 2*sec)
		w.stopAll(0) // it votes no more
		w.until(t, 3*sec+sec/10)
		w.drain(0, 0)
		w.until(t, 25*sec)
		if !w.nodes[1].agent.Leads() || w.lostAt[0] == 0 {
			t.Fatalf("seed %d: %v", seed+1, w.nodes[1].agent)
		}
	}
}

// A steward that is drained makes the other host the senior voter, cut off from that, with the
// witness's vote alone, and dies. The other host goes on with what it has.
func TestSeniorInVain(t *testing.T) {
	for seed := range uint64(20) {
		w := newWorld(setting{hosts: 2, witness: true, procs: 2, drift: 1000}, seed+1)
		w.strike(fault{kind: cut, host: 1, side: 2, at: 3 * sec, until: 5 * sec})
		w.strike(fault{kind: kill, host: 0, at: 3*sec + sec/2})
		w.until(t, 3*sec+sec/10)
		w.drain(0, 0)
		w.until(t, 25*sec)
		if !w.nodes[1].agent.Leads() || w.lostAt[0] == 0 {
			t.Fatalf("seed %d: %v", seed+1, w.nodes[1].agent)
		}
	}
}

// Of three hosts and a witness the last one is drained, while the second one is cut off: the first
// one and the witness are to decide with it. The first one dies with that. The second one goes on
// with the drained one, because the witness wasn't told that the change has ended.
func TestEndInVain(t *testing.T) {
	for seed := range uint64(20) {
		w := newWorld(setting{hosts: 3, witness: true, procs: 3, drift: 1000}, seed+1)
		w.strike(fault{kind: cut, host: 1, side: 2, at: 3 * sec, until: 5 * sec})
		w.strike(fault{kind: kill, host: 0, at: 3*sec + sec/2})
		w.until(t, 3*sec+sec/10)
		w.drain(0, 2)
		w.until(t, 25*sec)
		if !w.nodes[1].agent.Leads() || w.lostAt[0] == 0 {
			t.Fatalf("seed %d: %v", seed+1, w.nodes[1].agent)
		}
	}
}

// Of two hosts and a witness the first one is drained, and has finished. The other one dies in the
// second before the steward notices: it can't agree to decide alone. The first one goes on.
func TestDrainBesideTheDead(t *testing.T) {
	for seed := range uint64(20) {
		for before := proto.Time(0); before < sec; before += sec / 8 {
			w := newWorld(setting{hosts: 2, witness: true, procs: 2, drift: 1000}, seed+1)
			w.finish = 25 * sec
			w.until(t, 3*sec)
			w.stopAll(0)
			w.strike(fault{kind: kill, host: 1, at: 5*sec - before})
			w.until(t, 5*sec)
			w.drain(0, 0)
			w.until(t, 35*sec)
			if o := w.nodes[0].agent.Outcome(); o.Reason != Finished {
				t.Fatalf("seed %d, dead for %d: %v, %v", seed+1, before, w.nodes[0].agent, o.Reason)
			}
		}
	}
}

// A drained host votes as long as a process runs there: any of the three may die.
func TestDrainedVotes(t *testing.T) {
	for dies := range Host(3) {
		for at := 4 * sec; at < 8*sec; at += sec / 5 {
			w := newWorld(setting{hosts: 2, witness: true, procs: 2, drift: 1000}, uint64(at))
			w.finish = 25 * sec
			w.strike(fault{kind: kill, host: dies, at: at})
			w.until(t, 4*sec)
			w.drain(0, 0)
			w.until(t, 35*sec)
			for _, n := range w.nodes[:2] {
				if n.host != dies && n.agent.Outcome().Reason != Finished {
					t.Fatalf("%d dies at %d: %v, %v", dies, at, n.agent, n.agent.Outcome().Reason)
				}
			}
		}
	}
}

// A steward is cut off from the other host while it changes the voters, takes that back with the
// witness's vote, and dies. The other host goes on with what it has.
func TestRevokedInVain(t *testing.T) {
	for seed := range uint64(20) {
		w := newWorld(setting{hosts: 2, witness: true, procs: 2, drift: 1000}, seed+1)
		w.strike(fault{kind: cut, host: 1, side: 2, against: 1, at: 3 * sec, until: 8 * sec})
		w.strike(fault{kind: kill, host: 0, at: 4*sec + 3*sec/4})
		w.until(t, 2*sec)
		w.stopAll(0)
		w.until(t, 3*sec+sec/10)
		w.drain(0, 0)
		w.until(t, 4*sec+3*sec/4)
		if e := w.durable.Electorate; e.Changing() || len(e.Voters) != 3 || e.Since == first {
			t.Fatalf("seed %d: not taken back: %+v", seed+1, e)
		}
		w.until(t, 25*sec)
		if !w.nodes[1].agent.Leads() || w.lostAt[0] == 0 {
			t.Fatalf("seed %d: %v", seed+1, w.nodes[1].agent)
		}
	}
}

// A drained host loses its lease, and comes back: it stays drained, and leaves.
func TestDrainedComesBack(t *testing.T) {
	for seed := range uint64(20) {
		w := newWorld(setting{hosts: 3, procs: 3, drift: 1000}, seed+1)
		a := w.nodes[2].agent
		a.Hold(true)
		w.until(t, 3*sec)
		w.drain(0, 2)
		w.strike(fault{kind: cut, host: 2, side: 4, at: 4 * sec, until: 15 * sec})
		w.until(t, 20*sec)
		if x := w.durable.Entry(2); x.Incarnation == 0 || x.State != Draining || len(w.nodes[2].procs) != 0 {
			t.Fatalf("seed %d: it came back as %+v, with %d processes", seed+1, *x, len(w.nodes[2].procs))
		}
		a.Hold(false)
		w.until(t, 23*sec)
		if a.Outcome().Reason != Drained {
			t.Errorf("seed %d: it doesn't leave: %v", seed+1, a.Outcome().Reason)
		}
	}
}
