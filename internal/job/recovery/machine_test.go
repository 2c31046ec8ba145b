package recovery

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

const second = proto.Time(time.Second)

// leader leads the recovery of a job in which a replacement for any slot can be started, and in
// which every process that has come to a safe point can be a donor.
type leader struct {
	t       *testing.T
	machine *Machine
	now     proto.Time
	out     []Action
}

// newLeader makes a leader with one attempt at a time.
func newLeader(t *testing.T, layout layout.Layout, seesOutput bool) *leader {
	return newLeaderOf(t, layout, seesOutput, 1)
}

func newLeaderOf(t *testing.T, layout layout.Layout, seesOutput bool, most int) *leader {
	return &leader{t: t, machine: New(layout, 10*time.Second, seesOutput, most)}
}

// actions lists the actions since the last call.
func (l *leader) actions() string {
	var texts []string
	for _, a := range l.out {
		name := [...]string{"start", "admit", "donate", "drain", "follow", "marked", "fill", "dismiss", "ask to give up", "announce death", "healed", "failed", "ask", "retire", "note", "left vacant"}[a.Kind]
		switch a.Kind {
		case Marked:
			name += fmt.Sprintf(" %d.%d to %d.%d", a.Replacement.Proc, a.Replacement.Incarnation, a.To.Proc, a.To.Incarnation)
		case Donate, Start:
			name += fmt.Sprintf(" %d.%d from %d.%d", a.Attempt.Proc, a.Attempt.Incarnation, a.Attempt.Donor.Proc, a.Attempt.Donor.Incarnation)
		case Healed, Failed, Note, LeftVacant:
			name = a.Text
		}
		texts = append(texts, name)
	}
	l.out = nil
	return strings.Join(texts, "; ")
}

func (l *leader) expect(want string) {
	l.t.Helper()
	if got := l.actions(); got != want {
		l.t.Errorf("got  %s\nwant %s", got, want)
	}
}

func id(p proto.Proc, incarnation proto.Incarnation) Process { return Process{p, incarnation} }

// next begins all attempts that can begin.
func (l *leader) next() {
	any := func(proto.Proc) bool { return true }
	for l.machine.Next(l.now, any, any, &l.out) {
	}
}

func (l *leader) healable(ps ...proto.Proc) {
	for _, p := range ps {
		l.machine.Healable(id(p, l.machine.table[p].incarnation))
	}
}

// dies tells the death of the process that fills a slot, or of the replacement for it.
func (l *leader) dies(p proto.Proc) {
	incarnation := l.machine.table[p].incarnation
	if a := l.machine.AttemptAt(p); a != nil {
		incarnation = a.Incarnation
	}
	l.machine.Died(l.now, id(p, incarnation), "it has died", &l.out)
}

func (l *leader) fails(why string, blame Blame) {
	q := l.machine.Current().Process
	l.machine.Fail(q, why, blame, &l.out)
	l.dies(q.Proc)
}

// commits brings the current replacement as far as to commit, heals to the end.
func (l *leader) commits() (q Process) {
	a := l.machine.Current()
	q = a.Process
	l.machine.Arrived(l.now, q, &l.out)
	l.machine.Mark(l.now, a.Donor, q, &l.out)
	l.machine.Drained(a.Donor, q, &l.out)
	l.machine.Committed(l.now, q, &l.out)
	return q
}

func (l *leader) heals() {
	l.machine.Healed(l.now, l.commits(), 77, &l.out)
}

func TestProtocol(t *testing.T) {
	l := newLeader(t, layout.Uniform(2, 2), true) // rank 1: 1 3
	l.healable(3)
	l.dies(1)
	l.next()
	l.expect("start 1.1 from 3.0")
	q, donor := id(1, 1), id(3, 0)
	l.machine.Committed(0, q, &l.out)
	l.machine.Mark(0, donor, q, &l.out)
	l.expect("marked 1.1 to 3.0") // the donor wasn't asked yet
	l.machine.Arrived(0, q, &l.out)
	l.machine.Arrived(0, q, &l.out)
	l.expect("admit; donate 1.1 from 3.0")
	l.machine.Mark(0, donor, id(1, 0), &l.out)
	l.machine.Mark(0, id(3, 1), q, &l.out)
	l.machine.Mark(0, id(0, 0), q, &l.out)
	// One mark is for another replacement, one from an unknown process, one from a process that
	// isn't the donor.
	l.expect("marked 1.0 to 3.0; marked 1.1 to 0.0")
	l.machine.Mark(0, donor, q, &l.out)
	l.machine.Mark(0, donor, q, &l.out)
	l.machine.Committed(0, q, &l.out)
	l.expect("drain")
	l.machine.Drained(donor, q, &l.out)
	l.machine.Drained(donor, q, &l.out)
	l.expect("follow; marked 1.1 to 3.0")
	l.machine.Healed(0, q, 1, &l.out)
	l.machine.Committed(0, q, &l.out)
	l.expect("fill")
	l.machine.Healed(2*second, q, 77, &l.out)
	l.machine.Healed(2*second, q, 77, &l.out)
	l.machine.Fail(q, "it is said to be", Replacement, &l.out)
	l.expect("rank 1: replica 0 is back after 2s (pid 77), with the state of replica 1")
}

// If the leader doesn't see output, donors don't wait for an answer, and a message of the
// replacement may come before the donor's.
func TestOutputUnseen(t *testing.T) {
	l := newLeader(t, layout.Uniform(1, 2), false)
	l.healable(1)
	l.dies(0)
	l.next()
	l.machine.Arrived(0, id(0, 1), &l.out)
	l.machine.Mark(0, id(1, 0), id(0, 0), &l.out)
	l.machine.Committed(0, id(0, 1), &l.out)
	l.machine.Mark(0, id(1, 0), id(0, 1), &l.out)
	l.machine.Healed(0, id(0, 1), 1, &l.out)
	l.expect("start 0.1 from 1.0; admit; donate 0.1 from 1.0; fill; rank 0: replica 0 is back after 0s (pid 1), with the state of replica 1")
}

// If the donor dies before it is paused, the attempt ends. Later the replacement itself knows
// whether it has the whole state.
func TestDonorDies(t *testing.T) {
	l := newLeader(t, layout.Uniform(1, 3), true)
	l.healable(1)
	l.dies(0)
	l.next()
	l.dies(1)
	l.dies(0)
	l.expect("start 0.1 from 1.0; dismiss; rank 0: replica 0 couldn't be replaced: the replica whose state it was to take over has died")
	l.healable(2)
	l.next() // in the order of the deaths, but the slot of the failed attempt comes last
	l.heals()
	l.actions()
	l.next()
	q := l.machine.Current().Process
	l.machine.Arrived(l.now, q, &l.out)
	l.machine.Mark(l.now, id(2, 0), q, &l.out)
	l.actions()
	l.dies(2)
	l.machine.Drained(id(2, 0), q, &l.out)
	l.expect("follow") // a dead donor gets no answer
	l.machine.Committed(l.now, q, &l.out)
	l.machine.Healed(l.now, q, 1, &l.out)
	l.actions()
	l.healable(q.Proc)
	l.next()
	l.expect(fmt.Sprintf("start 2.1 from %d.%d", q.Proc, q.Incarnation))
}

// The others are told of the death of a replacement that they know.
func TestFailedAdmitted(t *testing.T) {
	l := newLeader(t, layout.Uniform(1, 2), false)
	l.healable(1)
	l.dies(0)
	l.next()
	l.machine.Arrived(0, id(0, 1), &l.out)
	l.actions()
	l.dies(0)
	l.expect("rank 0: replica 0 couldn't be replaced: it has died; announce death")
}

func TestStepDown(t *testing.T) {
	l := newLeader(t, layout.Uniform(1, 2), false)
	l.healable(1)
	l.dies(0)
	for range MaxFailures + 1 {
		l.next()
		l.actions()
		l.machine.StepDown("enough", &l.out)
		l.dies(0)
		l.expect("dismiss; rank 0: replica 0 couldn't be replaced: enough")
	}
	l.next()
	l.commits()
	l.actions()
	l.machine.StepDown("enough", &l.out)
	l.next()
	l.expect("")
}

// A spare leader that steps down ends a replacement that may have committed, also when that may be
// the last of its rank: nobody would hear its answer. Package spares tells why, and decision 64.
func TestStepDownIsFinal(t *testing.T) {
	l := newLeader(t, layout.Uniform(1, 2), false)
	l.healable(1)
	l.dies(0)
	l.next()
	l.machine.Arrived(0, id(0, 1), &l.out)
	l.actions()
	l.dies(1)
	l.expect("ask to give up")
	l.machine.StepDown("enough", &l.out)
	l.dies(0)
	l.expect("dismiss; rank 0: replica 0 couldn't be replaced: enough; announce death")
}

func TestDeadlines(t *testing.T) {
	l := newLeader(t, layout.Uniform(1, 3), true)
	if l.machine.Deadline() != proto.Never {
		t.Error("a deadline for nothing")
	}
	l.healable(2)
	l.dies(0)
	l.now = 5 * second
	l.next()
	l.actions()
	if l.machine.Tick(15*second-1, &l.out); l.machine.Deadline() != 15*second {
		t.Errorf("the deadline is %d", l.machine.Deadline())
	}
	l.expect("")
	l.machine.Tick(15*second, &l.out)
	l.dies(0)
	l.expect("dismiss; rank 0: replica 0 couldn't be replaced: it didn't get ready within 10s")
	l.next()
	l.machine.Arrived(20*second, id(0, 2), &l.out)
	l.actions()
	l.machine.Tick(30*second, &l.out)
	if l.expect(""); l.machine.Deadline() != 40*second { // nobody else waits
		t.Errorf("the deadline is %d", l.machine.Deadline())
	}
	l.dies(1)
	l.machine.Tick(40*second, &l.out)
	if l.expect("dismiss"); l.machine.Deadline() != proto.Never || !strings.Contains(l.machine.Current().Why, "at a safe point within 10s") {
		t.Errorf("%+v", l.machine.Current())
	}
}

// A replacement that may have committed is asked to give up, and ended only if it doesn't answer.
func TestAsked(t *testing.T) {
	begin := func() *leader {
		l := newLeader(t, layout.Uniform(1, 2), true)
		l.healable(1)
		l.dies(0)
		l.next()
		l.machine.Arrived(0, id(0, 1), &l.out)
		l.machine.Mark(0, id(1, 0), id(0, 1), &l.out)
		l.machine.Drained(id(1, 0), id(0, 1), &l.out)
		l.dies(1)
		l.actions()
		l.machine.Tick(10*second, &l.out)
		l.expect("ask to give up")
		return l
	}
	l := begin()
	l.machine.Fail(id(0, 1), "it gives up", Replacement, &l.out)
	l.expect("dismiss")

	l = begin()
	l.machine.Tick(20*second, &l.out)
	if l.expect("dismiss"); l.machine.Current().Why != "it doesn't react" {
		t.Errorf("it fails because %s", l.machine.Current().Why)
	}

	l = begin()
	for now := 11 * second; now < 100*second; now += 11 * second { // it has, and others don't get to know it
		l.machine.Committed(now, id(0, 1), &l.out)
		l.machine.Tick(now+10*second, &l.out)
	}
	l.expect("fill" + strings.Repeat("; ask to give up", 9))
	l.machine.Healed(100*second, id(0, 1), 1, &l.out)
	if l.machine.Current() != nil {
		t.Error("it isn't healed")
	}
}

func TestOver(t *testing.T) {
	l := newLeader(t, layout.Uniform(3, 2), false)
	l.healable(4, 5)
	l.dies(1)
	l.dies(0)
	l.dies(2)
	l.next()
	l.actions()
	l.machine.Over(&l.out)
	l.dies(1)
	l.expect("rank 0: replica 0 wasn't replaced: no other has come to a safe point that could be used; " +
		"rank 2: replica 0 wasn't replaced: the job has come to its end; " +
		"dismiss; rank 1: replica 0 couldn't be replaced: the job has come to its end")
	l.machine.Over(&l.out)
	l.dies(4)
	l.next()
	if l.expect(""); !l.machine.IsOver() {
		t.Error("it goes on")
	}
	l = newLeader(t, layout.Uniform(1, 2), false)
	l.dies(0)
	l.dies(1)
	l.machine.Over(&l.out)
	l.expect("") // the user knows already that the rank is lost
}

// Messages about any process at any time break nothing. There is one attempt of a rank at a time,
// not too many in all, and no incarnation is assigned twice.
func TestAnyMessage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		layout := layout.Partial(rapid.SliceOfN(rapid.IntRange(1, 3), 1, 3).Draw(t, "degrees"))
		most := rapid.IntRange(1, 3).Draw(t, "most")
		m := New(layout, time.Second, rapid.Bool().Draw(t, "sees output"), most)
		now, last := proto.Time(0), make([]proto.Incarnation, layout.Procs())
		process := func(name string) Process {
			if all := m.Attempts(); len(all) > 0 && rapid.Bool().Draw(t, "of an attempt") {
				a := rapid.SampledFrom(all).Draw(t, "attempt")
				return rapid.SampledFrom([]Process{a.Process, a.Donor}).Draw(t, name)
			}
			return id(proto.Proc(rapid.IntRange(0, layout.Procs()-1).Draw(t, name)), proto.Incarnation(rapid.Uint32Range(0, 3).Draw(t, "incarnation")))
		}
		any := func(proto.Proc) bool { return true }
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			now += proto.Time(rapid.IntRange(0, 1500).Draw(t, "ms")) * proto.Time(time.Millisecond)
			var out []Action
			before := m.Attempts()
			switch rapid.IntRange(0, 12).Draw(t, "message") {
			case 0:
				m.Next(now, any, any, &out)
			case 1:
				m.Arrived(now, process("process"), &out)
			case 2:
				m.Mark(now, process("donor"), process("replacement"), &out)
			case 3:
				m.Drained(process("donor"), process("replacement"), &out)
			case 4:
				m.Committed(now, process("process"), &out)
			case 5:
				m.Healed(now, process("process"), 1, &out)
			case 6:
				m.Fail(process("process"), "reason", Blame(rapid.IntRange(0, 2).Draw(t, "blame")), &out)
			case 7:
				m.Died(now, process("process"), "how", &out)
			case 8:
				m.Filled(process("process"), &out)
			case 9:
				m.StepDown("reason", &out)
			case 10:
				m.Tick(now, &out)
			case 11:
				m.Healable(process("process"))
			case 12:
				if rapid.IntRange(0, 9).Draw(t, "over") == 0 {
					m.Over(&out)
				}
			}
			for p := range last {
				last[p] = max(last[p], m.table[p].incarnation) // other leaders assign incarnations, too
			}
			for _, a := range out {
				if a.Kind != Start {
					continue
				}
				beside := func(b *Attempt) bool { return layout.Rank(b.Proc) == layout.Rank(a.Attempt.Proc) }
				if len(before) >= most || slices.ContainsFunc(before, beside) || m.IsOver() || !m.table[a.Attempt.Proc].vacant || a.Attempt.Incarnation <= last[a.Attempt.Proc] ||
					!m.alive(a.Attempt.Donor) || layout.Rank(a.Attempt.Proc) != layout.Rank(a.Attempt.Donor.Proc) {
					t.Fatalf("%+v begins, after %+v", a.Attempt, before)
				}
				last[a.Attempt.Proc] = a.Attempt.Incarnation
			}
		}
	})
}
