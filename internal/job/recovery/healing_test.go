package recovery

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

const second = proto.Time(time.Second)

// talk is a conversation with a Healing whose caller can start any replacement, and whose processes are there to be donors but
// for those that it is told to be gone.
type talk struct {
	t   *testing.T
	h   *Healing
	now proto.Time
	out []Action
}

func newTalk(t *testing.T, layout layout.Layout, witness bool) *talk {
	return &talk{t: t, h: New(layout, 10*time.Second, witness)}
}

// did is what was wanted since it was asked last.
func (c *talk) did() string {
	var texts []string
	for _, a := range c.out {
		name := [...]string{"start", "admit", "donate", "drain", "follow", "marked", "seat", "dismiss", "bury", "healed", "failed", "note", "empty"}[a.Kind]
		switch a.Kind {
		case Marked:
			name += fmt.Sprintf(" %d.%d to %d.%d", a.Replacement.Proc, a.Replacement.Incarnation, a.To.Proc, a.To.Incarnation)
		case Donate, Start:
			name += fmt.Sprintf(" %d.%d from %d.%d", a.Attempt.Proc, a.Attempt.Incarnation, a.Attempt.Donor.Proc, a.Attempt.Donor.Incarnation)
		case Healed, Failed, Note, Empty:
			name = a.Text
		}
		texts = append(texts, name)
	}
	c.out = nil
	return strings.Join(texts, "; ")
}

func (c *talk) expect(want string) {
	c.t.Helper()
	if got := c.did(); got != want {
		c.t.Errorf("got  %s\nwant %s", got, want)
	}
}

func id(p proto.Proc, incarnation proto.Incarnation) Process { return Process{p, incarnation} }

func (c *talk) next() {
	any := func(proto.Proc) bool { return true }
	c.h.Next(c.now, any, any, &c.out)
}

func (c *talk) healable(ps ...proto.Proc) {
	for _, p := range ps {
		c.h.Healable(id(p, c.h.places[p].incarnation))
	}
}

// dies has the process that has a place die, or the replacement to it.
func (c *talk) dies(p proto.Proc) {
	incarnation := c.h.places[p].incarnation
	if a := c.h.Now(); a != nil && a.Proc == p {
		incarnation = a.Incarnation
	}
	c.h.Died(c.now, id(p, incarnation), "it has died", &c.out)
}

func (c *talk) fails(why string, blame Blame) {
	q := c.h.Now().Process
	c.h.Fail(q, why, blame, &c.out)
	c.dies(q.Proc)
}

// commits and heals bring the present replacement so far.
func (c *talk) commits() (q Process) {
	a := c.h.Now()
	q = a.Process
	c.h.Arrived(c.now, q, &c.out)
	c.h.Mark(c.now, a.Donor, q, &c.out)
	c.h.Drained(a.Donor, q, &c.out)
	c.h.Committed(c.now, q, &c.out)
	return q
}

func (c *talk) heals() {
	c.h.Healed(c.now, c.commits(), 77, &c.out)
}

func TestConversation(t *testing.T) {
	c := newTalk(t, layout.Uniform(2, 2), true) // rank 1: 1 3
	c.healable(3)
	c.dies(1)
	c.next()
	c.expect("start 1.1 from 3.0")
	q, donor := id(1, 1), id(3, 0)
	c.h.Committed(0, q, &c.out)
	c.h.Mark(0, donor, q, &c.out)
	c.expect("marked 1.1 to 3.0") // nobody has asked it
	c.h.Arrived(0, q, &c.out)
	c.h.Arrived(0, q, &c.out)
	c.expect("admit; donate 1.1 from 3.0")
	c.h.Mark(0, donor, id(1, 0), &c.out)
	c.h.Mark(0, id(3, 1), q, &c.out)
	c.h.Mark(0, id(0, 0), q, &c.out)
	c.expect("marked 1.0 to 3.0; marked 1.1 to 0.0") // for another, by one that there isn't, by one that is no donor
	c.h.Mark(0, donor, q, &c.out)
	c.h.Mark(0, donor, q, &c.out)
	c.h.Committed(0, q, &c.out)
	c.expect("drain")
	c.h.Drained(donor, q, &c.out)
	c.h.Drained(donor, q, &c.out)
	c.expect("follow; marked 1.1 to 3.0")
	c.h.Healed(0, q, 1, &c.out)
	c.h.Committed(0, q, &c.out)
	c.expect("seat")
	c.h.Healed(2*second, q, 77, &c.out)
	c.h.Healed(2*second, q, 77, &c.out)
	c.h.Fail(q, "it is said to be", Replacement, &c.out)
	c.expect("rank 1: replica 0 is back after 2s (pid 77), with the state of replica 1")
}

// Without a witness nobody waits for an answer, and a replacement may be heard before its donor.
func TestNoWitness(t *testing.T) {
	c := newTalk(t, layout.Uniform(1, 2), false)
	c.healable(1)
	c.dies(0)
	c.next()
	c.h.Arrived(0, id(0, 1), &c.out)
	c.h.Mark(0, id(1, 0), id(0, 0), &c.out)
	c.h.Committed(0, id(0, 1), &c.out)
	c.h.Mark(0, id(1, 0), id(0, 1), &c.out)
	c.h.Healed(0, id(0, 1), 1, &c.out)
	c.expect("start 0.1 from 1.0; admit; donate 0.1 from 1.0; seat; rank 0: replica 0 is back after 0s (pid 1), with the state of replica 1")
}

// A donor that dies before it is paused ends the attempt; later the replacement knows itself whether it has all.
func TestDonorDies(t *testing.T) {
	c := newTalk(t, layout.Uniform(1, 3), true)
	c.healable(1)
	c.dies(0)
	c.next()
	c.dies(1)
	c.dies(0)
	c.expect("start 0.1 from 1.0; dismiss; rank 0: replica 0 couldn't be replaced: the replica whose state it was to take over has died")
	c.healable(2)
	c.next() // in the order of the deaths, but that the failed one waits anew
	c.heals()
	c.did()
	c.next()
	q := c.h.Now().Process
	c.h.Arrived(c.now, q, &c.out)
	c.h.Mark(c.now, id(2, 0), q, &c.out)
	c.did()
	c.dies(2)
	c.h.Drained(id(2, 0), q, &c.out)
	c.expect("follow") // the dead need no answer
	c.h.Committed(c.now, q, &c.out)
	c.h.Healed(c.now, q, 1, &c.out)
	c.did()
	c.healable(q.Proc)
	c.next()
	c.expect(fmt.Sprintf("start 2.1 from %d.%d", q.Proc, q.Incarnation))
}

// Others are told of the death of a replacement that they know.
func TestFailedAdmitted(t *testing.T) {
	c := newTalk(t, layout.Uniform(1, 2), false)
	c.healable(1)
	c.dies(0)
	c.next()
	c.h.Arrived(0, id(0, 1), &c.out)
	c.did()
	c.dies(0)
	c.expect("rank 0: replica 0 couldn't be replaced: it has died; bury")
}

func TestAbdicate(t *testing.T) {
	c := newTalk(t, layout.Uniform(1, 2), false)
	c.healable(1)
	c.dies(0)
	for range MaxFailures + 1 {
		c.next()
		c.did()
		c.h.Abdicate("enough", &c.out)
		c.dies(0)
		c.expect("dismiss; rank 0: replica 0 couldn't be replaced: enough")
	}
	c.next()
	c.commits()
	c.did()
	c.h.Abdicate("enough", &c.out)
	c.next()
	c.expect("")
}

func TestDeadlines(t *testing.T) {
	c := newTalk(t, layout.Uniform(1, 3), false)
	if c.h.Deadline() != proto.Never {
		t.Error("a deadline for nothing")
	}
	c.healable(2)
	c.dies(0)
	c.now = 5 * second
	c.next()
	c.did()
	if c.h.Tick(15*second-1, &c.out); c.h.Deadline() != 15*second {
		t.Errorf("the deadline is %d", c.h.Deadline())
	}
	c.expect("")
	c.h.Tick(15*second, &c.out)
	c.dies(0)
	c.expect("dismiss; rank 0: replica 0 couldn't be replaced: it didn't get ready within 10s")
	c.next()
	c.h.Arrived(20*second, id(0, 2), &c.out)
	c.did()
	c.h.Tick(30*second, &c.out)
	if c.expect(""); c.h.Deadline() != 40*second { // nobody else waits
		t.Errorf("the deadline is %d", c.h.Deadline())
	}
	c.dies(1)
	c.h.Tick(40*second, &c.out)
	if c.expect("dismiss"); c.h.Deadline() != proto.Never || !strings.Contains(c.h.Now().Why, "at a safe point within 10s") {
		t.Errorf("%+v", c.h.Now())
	}
}

func TestOver(t *testing.T) {
	c := newTalk(t, layout.Uniform(3, 2), false)
	c.healable(4, 5)
	c.dies(1)
	c.dies(0)
	c.dies(2)
	c.next()
	c.did()
	c.h.Over(&c.out)
	c.dies(1)
	c.expect("rank 0: replica 0 wasn't replaced: no other has come to a safe point that could be used; " +
		"rank 2: replica 0 wasn't replaced: the job has come to its end; " +
		"dismiss; rank 1: replica 0 couldn't be replaced: the job has come to its end")
	c.h.Over(&c.out)
	c.dies(4)
	c.next()
	if c.expect(""); !c.h.IsOver() {
		t.Error("it goes on")
	}
	c = newTalk(t, layout.Uniform(1, 2), false)
	c.dies(0)
	c.dies(1)
	c.h.Over(&c.out)
	c.expect("") // the rank is lost: that was said
}

// Whatever anybody says, of whatever process: nothing breaks, there is one attempt at a time, and no life is given twice.
func TestAnyWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		layout := layout.Partial(rapid.SliceOfN(rapid.IntRange(1, 3), 1, 3).Draw(t, "degrees"))
		h := New(layout, time.Second, rapid.Bool().Draw(t, "witness"))
		now, given := proto.Time(0), make([]proto.Incarnation, layout.Procs())
		process := func(name string) Process {
			if a := h.Now(); a != nil && rapid.Bool().Draw(t, "of the attempt") {
				return rapid.SampledFrom([]Process{a.Process, a.Donor}).Draw(t, name)
			}
			return id(proto.Proc(rapid.IntRange(0, layout.Procs()-1).Draw(t, name)), proto.Incarnation(rapid.Uint32Range(0, 3).Draw(t, "incarnation")))
		}
		any := func(proto.Proc) bool { return true }
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			now += proto.Time(rapid.IntRange(0, 1500).Draw(t, "ms")) * proto.Time(time.Millisecond)
			var out []Action
			before := h.Now()
			switch rapid.IntRange(0, 12).Draw(t, "what") {
			case 0:
				h.Next(now, any, any, &out)
			case 1:
				h.Arrived(now, process("who"), &out)
			case 2:
				h.Mark(now, process("donor"), process("replacement"), &out)
			case 3:
				h.Drained(process("donor"), process("replacement"), &out)
			case 4:
				h.Committed(now, process("who"), &out)
			case 5:
				h.Healed(now, process("who"), 1, &out)
			case 6:
				h.Fail(process("who"), "why", Blame(rapid.IntRange(0, 2).Draw(t, "blame")), &out)
			case 7:
				h.Died(now, process("who"), "how", &out)
			case 8:
				h.Filled(process("who"), &out)
			case 9:
				h.Abdicate("why", &out)
			case 10:
				h.Tick(now, &out)
			case 11:
				h.Healable(process("who"))
			case 12:
				if rapid.IntRange(0, 9).Draw(t, "over") == 0 {
					h.Over(&out)
				}
			}
			for p := range given {
				given[p] = max(given[p], h.places[p].incarnation) // by others, too
			}
			for _, a := range out {
				if a.Kind != Start {
					continue
				}
				if before != nil || h.IsOver() || !h.places[a.Attempt.Proc].vacant || a.Attempt.Incarnation <= given[a.Attempt.Proc] ||
					!h.alive(a.Attempt.Donor) || layout.Rank(a.Attempt.Proc) != layout.Rank(a.Attempt.Donor.Proc) {
					t.Fatalf("%+v begins, after %+v", a.Attempt, before)
				}
				given[a.Attempt.Proc] = a.Attempt.Incarnation
			}
		}
	})
}
