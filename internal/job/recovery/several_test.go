package recovery

import (
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// begun has four ranks of two replicas lose their first ones, and begins what can begin.
func begun(t *testing.T, most int) *leader {
	l := newLeaderOf(t, layout.Uniform(4, 2), true, most) // rank r: r and r+4
	l.healable(4, 5, 6, 7)
	for p := range proto.Proc(4) {
		l.dies(p)
	}
	l.next()
	return l
}

// arrive has the replacements for slots arrive, and pause has their donors pause, too.
func (l *leader) arrive(ps ...proto.Proc) {
	for _, p := range ps {
		l.machine.Arrived(l.now, l.machine.AttemptAt(p).Process, &l.out)
	}
}

func (l *leader) pause(p proto.Proc) {
	a := l.machine.AttemptAt(p)
	l.machine.Mark(l.now, a.Donor, a.Process, &l.out)
	l.machine.Drained(a.Donor, a.Process, &l.out)
}

// Slots of different ranks are filled at the same time, each by the steps of its own attempt. The
// first that is through, or fails, makes room for the next slot.
func TestSeveral(t *testing.T) {
	l := begun(t, 3)
	l.expect("start 0.1 from 4.0; start 1.1 from 5.0; start 2.1 from 6.0")
	l.arrive(2, 0)
	l.expect("admit; donate 2.1 from 6.0; admit; donate 0.1 from 4.0")
	l.pause(0)
	l.expect("drain; follow; marked 0.1 to 4.0")
	l.machine.Mark(l.now, id(6, 0), id(0, 1), &l.out) // a donor of another rank
	l.machine.Committed(l.now, id(2, 1), &l.out)      // too early
	l.expect("marked 0.1 to 6.0")
	l.dies(1)
	l.next()
	l.expect("rank 1: replica 0 couldn't be replaced: it has died; start 3.1 from 7.0")
	l.machine.Committed(l.now, id(0, 1), &l.out)
	l.machine.Healed(l.now, id(0, 1), 77, &l.out)
	l.next()
	l.expect("fill; rank 0: replica 0 is back after 0s (pid 77), with the state of replica 1; start 1.2 from 5.0")
	if len(l.machine.Attempts()) != 3 || l.machine.AttemptAt(2).Phase != FindSafepoint || l.machine.AttemptAt(3).Phase != GetReady {
		t.Errorf("%+v", l.machine.Attempts())
	}
}

// The death of a donor ends its own attempt. That of a host with a donor and two replacements ends
// the attempts of all three.
func TestSeveralDeaths(t *testing.T) {
	l := begun(t, 4)
	l.arrive(0, 1)
	l.actions()
	l.dies(4)
	l.expect("dismiss")
	l.dies(0)
	l.expect("rank 0: replica 0 couldn't be replaced: the replica whose state it was to take over has died; announce death")
	l.dies(1)
	l.dies(2)
	l.dies(7)
	l.expect("rank 1: replica 0 couldn't be replaced: it has died; announce death; rank 2: replica 0 couldn't be replaced: it has died; dismiss")
	l.next()
	l.expect("start 1.2 from 5.0; start 2.2 from 6.0")
}

// Slots of one rank are filled in turn, though others are filled meanwhile, and the next one may
// have the first as its donor. No process is retired during any attempt.
func TestRankInTurn(t *testing.T) {
	l := newLeaderOf(t, layout.Uniform(2, 3), false, 8) // rank 0: 0 2 4
	l.healable(1, 3, 4, 5)
	l.dies(0)
	l.dies(2)
	l.dies(1)
	l.machine.Leave(id(5, 0))
	l.next()
	l.expect("start 0.1 from 4.0; start 1.1 from 3.0")
	l.heals1(1)
	l.actions()
	l.next()
	l.expect("")
	l.heals1(0)
	l.healable(0)
	l.actions()
	l.next()
	l.expect("start 2.1 from 0.1")
	l.heals1(2)
	l.actions()
	l.next()
	l.expect("ask")
	l.machine.Heard(id(3, 0), asks(l.machine, id(3, 0)))
	l.next()
	l.expect("retire")
}

// heals1 brings the attempt for a slot to its end.
func (l *leader) heals1(p proto.Proc) {
	q := l.machine.AttemptAt(p).Process
	l.arrive(p)
	l.machine.Committed(l.now, q, &l.out)
	l.machine.Healed(l.now, q, 1, &l.out)
}

// Each attempt has limits of its own. A donor may take longer to a safe point while no other slot
// waits for the end of this attempt.
func TestSeveralDeadlines(t *testing.T) {
	l := begun(t, 4)
	l.now = 4 * second
	l.arrive(0, 1)
	l.now = 6 * second
	l.pause(1)
	l.actions()
	if at := l.machine.Deadline(); at != 10*second {
		t.Errorf("the first deadline is at %d", at)
	}
	l.machine.Healable(id(0, 0)) // dead
	l.arrive(2, 3)
	l.actions()
	l.machine.Tick(14*second, &l.out)
	if l.expect(""); l.machine.Deadline() != 16*second { // 0 goes on waiting, since no slot waits for it
		t.Errorf("the next deadline is at %d", l.machine.Deadline())
	}
	l.machine.Tick(16*second, &l.out) // 1 may have committed, 2 and 3 go on waiting
	l.expect("ask to give up")
	l = begun(t, 2)
	l.arrive(0, 1)
	l.actions()
	l.machine.Tick(10*second, &l.out) // 2 and 3 wait
	l.expect("dismiss; dismiss")
}

// Attempts that are late because there are many aren't counted as failures. There are fewer the
// next time, until one is alone.
func TestSlowed(t *testing.T) {
	l := begun(t, 4)
	for i := range 14 {
		want := 1 // each slot, three times
		switch i {
		case 0:
			want = 4
		case 1:
			want = 2
		}
		all := l.machine.Attempts()
		if len(all) != want {
			t.Fatalf("%d attempts are under way the %dth time, want %d", len(all), i, want)
		}
		l.now = l.machine.Deadline()
		l.machine.Tick(l.now, &l.out)
		for _, a := range all {
			l.dies(a.Proc)
		}
		l.next()
	}
	if all := l.machine.Attempts(); len(all) != 0 || !l.machine.GivenUp(0) || !l.machine.GivenUp(3) {
		t.Errorf("it goes on: %v", all)
	}
}
