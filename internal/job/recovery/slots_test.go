package recovery

import (
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

func TestFailures(t *testing.T) {
	l := newLeader(t, layout.Uniform(1, 2), false)
	l.healable(1)
	l.dies(0)
	if l.dies(0); len(l.machine.waiting) != 1 {
		t.Error("it has died twice")
	}
	for incarnation := 1; incarnation <= MaxFailures; incarnation++ {
		l.next()
		l.actions()
		if incarnation == 2 { // by its own death
			l.dies(0)
		} else {
			l.fails("it has no wish to", Replacement)
		}
		want := "dismiss; rank 0: replica 0 couldn't be replaced: it has no wish to"
		switch incarnation {
		case 2:
			want = "rank 0: replica 0 couldn't be replaced: it has died"
		case MaxFailures:
			want += "; after 3 attempts it stays dead"
		}
		l.expect(want)
	}
	l.next()
	l.expect("")
	if again := l.machine.Retry(); len(again) != 1 || again[0] != 0 || l.machine.GivenUp(0) || len(l.machine.Retry()) != 0 {
		t.Errorf("%v are tried again", again)
	}
	l.next()
	if l.machine.Current() == nil {
		t.Error("it isn't tried again")
	}
}

func TestRelapse(t *testing.T) {
	l := newLeader(t, layout.Uniform(1, 2), false)
	l.healable(1)
	l.dies(0)
	heal := func(lived proto.Time) {
		t.Helper()
		l.next()
		if l.machine.Current() == nil {
			t.Fatal("no attempt")
		}
		l.heals()
		l.now += lived
		l.actions()
		l.dies(0)
	}
	heal(second / 2)
	heal(second / 2)
	heal(second) // forgiven
	heal(second / 2)
	l.next()
	l.commits()
	l.now += 5 * second
	l.actions()
	l.dies(0) // before all knew it
	l.expect("")
	heal(second / 2)
	l.expect("rank 0: replica 0 isn't replaced any more: the last 3 replacements were of no use")
	l.next()
	l.expect("")
}

func TestBarredDonor(t *testing.T) {
	l := newLeader(t, layout.Uniform(1, 3), false)
	l.healable(1)
	l.dies(0)
	l.next()
	l.actions()
	l.fails("it differs", Donor)
	l.expect("dismiss; rank 0: replica 0 couldn't be replaced: it differs; replica 1 isn't asked again")
	l.healable(1)
	l.next()
	l.machine.Over(&l.out)
	l.expect("") // the user knows it already

	l = newLeader(t, layout.Uniform(1, 3), false)
	l.healable(1)
	l.dies(0)
	l.next()
	l.fails("it differs", Donor)
	l.healable(2)
	l.next()
	l.heals()
	l.dies(1)
	l.machine.Healable(id(1, 0)) // late
	l.next()
	l.heals()
	// The donor's replacement isn't barred, once it has come to a safe point.
	l.dies(2)
	l.actions()
	l.next()
	l.expect("")
	l.healable(1)
	l.next()
	l.expect("start 2.1 from 1.1")
}

func TestOrderOfSlots(t *testing.T) {
	l := newLeader(t, layout.Uniform(2, 3), false) // rank 0: 0 2 4, rank 1: 1 3 5
	none := func(proto.Proc) bool { return false }
	always := func(proto.Proc) bool { return true }
	l.dies(1)
	l.dies(0)
	l.next()
	if l.expect(""); l.machine.FirstFillable(always) != proto.NoProc {
		t.Error("a slot has a donor")
	}
	l.healable(4, 2)
	l.machine.Next(0, none, always, &l.out)
	if l.expect(""); l.machine.FirstFillable(always) != 0 {
		t.Error("no slot has a donor")
	}
	l.machine.Next(0, always, func(p proto.Proc) bool { return p != 2 }, &l.out)
	l.expect("start 0.1 from 4.0")
	l.healable(3)
	l.next()
	l.expect("")
	l.heals()
	l.actions()
	l.next()
	l.expect("start 1.1 from 3.0")
}

func TestFilledByAnother(t *testing.T) {
	l := newLeader(t, layout.Uniform(1, 2), false)
	l.healable(1)
	l.dies(0)
	l.machine.Filled(id(0, 4), &l.out)
	l.next()
	if l.expect(""); l.machine.LastIncarnation(0) != 4 {
		t.Error("it isn't known")
	}
	l.machine.Filled(id(0, 3), &l.out)
	l.dies(0)
	l.next()
	l.expect("start 0.5 from 1.0")
	l.machine.Filled(id(0, 9), &l.out)
	l.machine.Died(0, id(0, 5), "", &l.out)
	l.next()
	l.expect("dismiss; rank 0: replica 0 couldn't be replaced: another process has taken its slot")
	l.dies(0)
	l.machine.NumberFrom(256)
	l.next()
	l.expect("start 0.256 from 1.0")
	l.commits()
	l.actions()
	l.machine.Filled(id(0, 512), &l.out)
	l.next()
	if l.expect(""); l.machine.Current() != nil {
		t.Error("it goes on")
	}
}

// A process is retired when its donor has answered, not before, and not by an old answer.
func TestRetiredWhenHeard(t *testing.T) {
	l := newLeader(t, layout.Uniform(1, 3), false)
	l.healable(0, 1, 2)
	l.machine.Leave(id(0, 0))
	l.next()
	l.expect("ask")
	l.next()
	l.expect("") // it was asked
	l.dies(1)
	l.healable(2)
	l.next()
	l.expect("start 1.1 from 0.0")
	l.machine.Heard(id(1, 0), asks(l.machine, id(1, 0))) // too late: it is dead
	l.heals()
	l.actions()
	l.next()
	l.expect("ask") // replica 2
	l.machine.Heard(id(1, 0), asks(l.machine, id(1, 0)))
	l.next()
	l.expect("")
	l.machine.Heard(id(2, 0), asks(l.machine, id(2, 0)))
	l.next()
	l.expect("retire")
}

// asks is the number of the question that a process has to answer, 0 if it was asked nothing.
func asks(m *Machine, p Process) uint64 {
	for _, x := range m.asked {
		if x.Process == p {
			return x.number
		}
	}
	return 0
}

// An answer to another leader's question, or to a user's, is no answer: it may be from a process
// that has died since. Seed 1558509 of package oneworld retired the last replica of a rank.
func TestOldAnswer(t *testing.T) {
	leads := func(now proto.Time) (*leader, uint64) {
		l := newLeader(t, layout.Uniform(1, 2), false)
		l.now = now
		l.healable(0, 1)
		l.machine.Leave(id(0, 0))
		l.next()
		l.expect("ask")
		return l, asks(l.machine, id(1, 0))
	}
	_, before := leads(2 * second)
	l, number := leads(5 * second)
	for _, old := range []uint64{before, 0} {
		l.machine.Heard(id(1, 0), old)
		l.next()
		l.expect("")
	}
	l.machine.Heard(id(1, 0), number)
	l.next()
	l.expect("retire")
}

// While a snapshot is taken nothing is retired. Afterwards the donor has to answer again.
func TestAnswerWhileNothingBegins(t *testing.T) {
	l := newLeader(t, layout.Uniform(1, 2), false)
	l.healable(0, 1)
	l.machine.Leave(id(0, 0))
	l.next()
	l.expect("ask")
	l.machine.Heard(id(1, 0), asks(l.machine, id(1, 0)))
	l.machine.NotNow()
	l.now += second
	l.next()
	l.expect("ask")
	l.machine.Heard(id(1, 0), asks(l.machine, id(1, 0)))
	l.next()
	l.expect("retire")
}
