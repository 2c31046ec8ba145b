package spares

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"banyan/internal/job/control"
	"banyan/internal/layout"
	"banyan/internal/proto"
)

// leaderTest is a spare of a job of two ranks of two replicas, processes 0 to 3. The spares'
// numbers follow. A peer's number is its launcher rank.
type leaderTest struct {
	t   *testing.T
	m   *Machine
	now proto.Time
	out []Action
}

// newLeaderTest makes a spare leader whose signs of life are so rare that they don't matter.
func newLeaderTest(t *testing.T, spares int) *leaderTest {
	return &leaderTest{t: t, m: New(4, layout.Uniform(2, 2), spares, time.Hour, 0)}
}

// did is what the machine has wanted since the last call.
func (c *leaderTest) did() string {
	var lines []string
	for _, a := range c.out {
		switch a.Kind {
		case Send:
			text := fmt.Sprintf("%s → %d", a.Message.Type, a.To)
			switch a.Message.Type {
			case control.Admit, control.Death, control.Donate, control.Take, control.Healed:
				text = fmt.Sprintf("%s %d.%d → %d", a.Message.Type, a.Message.Proc, a.Message.Incarnation, a.To)
			case control.Dismissed:
				text = fmt.Sprintf("%s %d → %d", a.Message.Type, a.Message.Code, a.To)
			}
			lines = append(lines, text)
		case Drop:
			lines = append(lines, fmt.Sprintf("drop %d", a.To))
		case Note:
			lines = append(lines, a.Text)
		case End:
			lines = append(lines, fmt.Sprintf("end %d %s", a.Code, a.Text))
		}
	}
	c.out = nil
	return strings.Join(lines, "; ")
}

func (c *leaderTest) expect(want string) {
	c.t.Helper()
	if got := c.did(); got != want {
		c.t.Errorf("got  %s\nwant %s", got, want)
	}
}

func (c *leaderTest) says(id int, m control.Message) {
	if m.Type == control.Member || m.Type == control.Spare {
		c.m.Opened(id, proto.Proc(id))
	}
	c.m.Heard(c.now, id, m, &c.out)
}

func (c *leaderTest) member(id int, p proto.Proc, incarnation proto.Incarnation) {
	c.says(id, control.Message{Type: control.Member, Proc: p, Incarnation: incarnation, Card: fmt.Sprint("card ", p)})
}

func (c *leaderTest) spare(id int) { c.says(id, control.Message{Type: control.Spare, Pid: id}) }

func (c *leaderTest) closed(id int) { c.m.Closed(c.now, id, &c.out) }

// assemble connects all four processes and so many spares, the first of which leads.
func (c *leaderTest) assemble(spares int) {
	c.m.SetTerm(0, 0, &c.out)
	for i := range 4 {
		c.member(i, proto.Proc(i), 0)
	}
	for i := range spares {
		c.spare(4 + i)
	}
}

func msg(t control.Type, p proto.Proc, incarnation proto.Incarnation) control.Message {
	return control.Message{Type: t, Proc: p, Incarnation: incarnation}
}

func TestHealing(t *testing.T) {
	c := newLeaderTest(t, 2)
	c.assemble(2)
	c.says(3, msg(control.Healable, 0, 0))
	c.closed(1)
	c.expect("") // it may live
	c.says(0, msg(control.Eviction, 1, 0))
	c.expect("death 1.0 → 0; death 1.0 → 2; death 1.0 → 3; take 1.1 → 5")
	c.says(5, control.Message{Type: control.Arrived, Card: "there"})
	c.expect("admit 1.1 → 0; admit 1.1 → 2; admit 1.1 → 3; donate 1.1 → 3")
	c.says(2, msg(control.Eviction, 1, 0)) // old news
	c.says(3, msg(control.Mark, 0, 0))
	c.says(5, msg(control.Committed, 0, 0))
	c.now = proto.Time(20 * time.Millisecond)
	c.says(5, msg(control.Healed, 1, 0))
	c.expect("rank 1: replica 0 is back after 20ms (pid 5), with the state of replica 1; healed 1.1 → 0; healed 1.1 → 2; healed 1.1 → 3; healed 1.1 → 5")
	// The replacement is a donor itself, for the spare leader's own process.
	c.says(5, msg(control.Healable, 0, 0))
	c.says(0, msg(control.Eviction, 3, 0))
	c.expect("")
	c.closed(3)
	c.expect("death 3.0 → 0; death 3.0 → 2; death 3.0 → 5; admit 1.1 → 4; take 3.1 → 4")
}

// A spare leader begins nothing while a process that isn't dead may be with another spare leader.
func TestWaitsForAll(t *testing.T) {
	c := newLeaderTest(t, 2)
	for _, i := range []int{0, 3} {
		c.member(i, proto.Proc(i), 0)
	}
	c.spare(4)
	c.spare(5)
	c.says(3, msg(control.Healable, 0, 0))
	c.says(3, msg(control.Eviction, 1, 0))
	c.expect("death 1.0 → 0; death 1.0 → 3")
	c.member(2, 2, 0)
	c.expect("") // it doesn't lead
	c.m.SetTerm(0, 0, &c.out)
	c.expect("take 1.1 → 5")
}

// Another spare leader has begun an attempt. Its outcome must be known first, and its incarnation
// isn't given again.
func TestSuccession(t *testing.T) {
	c := newLeaderTest(t, 3)
	c.m.SetTerm(0, 0, &c.out)
	c.spare(4)
	c.spare(5)
	c.spare(6)
	c.member(3, 3, 0)
	c.says(3, msg(control.Healable, 0, 0))
	c.says(3, msg(control.Eviction, 1, 0))
	c.member(2, 2, 0)
	c.did()
	c.says(2, msg(control.Knows, 1, 4))
	c.member(0, 0, 0)
	c.expect("") // where is the fourth replacement?
	c.says(0, msg(control.Eviction, 1, 4))
	c.expect("death 1.4 → 3; death 1.4 → 2; death 1.4 → 0; take 1.5 → 6")

	c = newLeaderTest(t, 3)
	c.m.SetTerm(0, 0, &c.out)
	c.spare(4)
	c.spare(6)
	for _, i := range []int{0, 2, 3} {
		c.member(i, proto.Proc(i), 0)
	}
	c.says(3, msg(control.Healable, 0, 0))
	c.member(5, 1, 1) // it is there
	c.says(3, msg(control.Eviction, 1, 0))
	c.expect("")
}

// A silent process is dead when a view says so. It is told so.
func TestExclusion(t *testing.T) {
	c := newLeaderTest(t, 1)
	c.assemble(1)
	c.says(3, msg(control.Healable, 0, 0))
	c.says(0, msg(control.Eviction, 1, 0))
	c.expect("")
	c.says(0, msg(control.Excluded, 1, 0))
	c.expect("death 1.0 → 0; death 1.0 → 1; death 1.0 → 2; death 1.0 → 3; drop 1; take 1.1 → 4")
	c.member(11, 1, 0) // it comes back
	c.expect("death 1.0 → 11; drop 11")
}

func TestReplacementFails(t *testing.T) {
	for name, tc := range map[string]struct {
		fail func(c *leaderTest)
		want string
	}{
		"it dies": {func(c *leaderTest) { c.closed(6) }, "it has ended; death 1.1 → 0; death 1.1 → 2; death 1.1 → 3; take 1.2 → 5"},
		"it says so": {func(c *leaderTest) { c.says(6, control.Message{Type: control.HealFailed, Text: "it is tired"}) },
			"it is tired; death 1.1 → 0; death 1.1 → 2; death 1.1 → 3; take 1.2 → 5"},
		"no replacement could": {func(c *leaderTest) { c.says(6, control.Message{Type: control.Unhealable, Text: "it differs"}) },
			"it differs; replica 1 isn't asked again; death 1.1 → 0; death 1.1 → 2; death 1.1 → 3"},
		"others think so": {func(c *leaderTest) { c.says(2, msg(control.Eviction, 1, 1)) },
			"process 2 holds it for dead; death 1.1 → 0; death 1.1 → 2; death 1.1 → 3; take 1.2 → 5"},
		"the donor dies": {func(c *leaderTest) {
			c.closed(3)
			c.did()
			c.says(0, msg(control.Eviction, 3, 0))
			c.expect("death 3.0 → 0; death 3.0 → 2; death 3.0 → 6; give up → 6")
			c.says(6, control.Message{Type: control.HealFailed, Text: "its donor has died"})
		}, "its donor has died; death 1.1 → 0; death 1.1 → 2"},
		"the program ends": {func(c *leaderTest) { c.says(0, msg(control.Finalized, 0, 0)) },
			"the job has come to its end; death 1.1 → 0; death 1.1 → 2; death 1.1 → 3; finalized → 0"},
	} {
		c := newLeaderTest(t, 3)
		c.assemble(3)
		c.says(3, msg(control.Healable, 0, 0))
		c.says(0, msg(control.Eviction, 1, 0))
		c.closed(1)
		c.says(6, msg(control.Arrived, 0, 0))
		c.did()
		tc.fail(c)
		got := c.did()
		if i := strings.Index(got, "couldn't be replaced: "); i < 0 || got[i+len("couldn't be replaced: "):] != tc.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestLimits(t *testing.T) {
	c := newLeaderTest(t, 2)
	c.assemble(2)
	c.says(3, msg(control.Healable, 0, 0))
	c.closed(1)
	c.says(0, msg(control.Eviction, 1, 0))
	c.did()
	c.now = c.m.Deadline()
	if c.now != proto.Time(time.Minute) {
		t.Fatalf("the deadline is %v", time.Duration(c.now))
	}
	c.m.Tick(c.now, &c.out)
	c.expect("dismissed 1 → 5; drop 5; rank 1: replica 0 couldn't be replaced: it didn't get ready within 1m0s; take 1.2 → 4")
}

func TestProgramsDiffer(t *testing.T) {
	c := newLeaderTest(t, 2)
	c.m.SetTerm(0, 0, &c.out)
	for i := range 4 {
		c.says(i, control.Message{Type: control.Member, Proc: proto.Proc(i), Number: uint64(i % 2)})
	}
	c.says(4, control.Message{Type: control.Spare, Number: 1})
	c.says(5, control.Message{Type: control.Spare, Number: 0})
	c.says(2, msg(control.Healable, 0, 0))
	c.says(3, msg(control.Healable, 0, 0))
	c.closed(1)
	c.says(0, msg(control.Eviction, 1, 0))
	if got := c.did(); !strings.HasSuffix(got, "take 1.1 → 4") {
		t.Error(got)
	}
	c.says(4, msg(control.Arrived, 0, 0))
	c.says(4, msg(control.Committed, 0, 0))
	c.says(4, msg(control.Healed, 0, 0))
	c.closed(3)
	c.says(0, msg(control.Eviction, 3, 0))
	c.did()
	c.says(4, msg(control.Healable, 0, 0))
	c.says(4, msg(control.Healable, 0, 0))
	c.expect("rank 1 replica 1 stays dead: no spare process is left for it")
}

func TestEnds(t *testing.T) {
	c := newLeaderTest(t, 2)
	c.assemble(2)
	for i, answer := range []string{"finalized → 4; finalized → 5; finalized → 0", "finalized → 1", "finalized → 2", "finalized → 3; dismissed 0 → 5; end 0 "} {
		c.says(i, msg(control.Finalized, 0, 0))
		c.expect(answer)
	}

	c = newLeaderTest(t, 2) // one has ended unheard
	c.assemble(2)
	for i := range 3 {
		c.says(i, msg(control.Finalized, 0, 0))
	}
	c.closed(3)
	c.did()
	c.m.Tick(c.m.Deadline(), &c.out)
	c.expect("dismissed 0 → 5; end 0 ")

	c = newLeaderTest(t, 2)
	c.assemble(2)
	for i := range 4 {
		c.closed(i)
	}
	c.m.Tick(c.m.Deadline()-1, &c.out)
	c.expect("")
	c.m.Tick(c.m.Deadline(), &c.out)
	c.expect("dismissed 1 → 5; end 1 no process of the job is left, and none has left in order")

	c = newLeaderTest(t, 2) // with a replacement under way
	c.assemble(2)
	c.says(3, msg(control.Healable, 0, 0))
	for _, i := range []int{1, 0, 2} {
		c.closed(i)
		c.says(3, msg(control.Eviction, proto.Proc(i), 0))
	}
	c.did()
	c.closed(3)
	c.m.Tick(c.m.Deadline(), &c.out)
	c.expect("dismissed 1 → 5; end 1 no process of the job is left, and none has left in order")

	c = newLeaderTest(t, 2) // this one hears from a spare what the first spare leader knew
	c.m.SetTerm(0, 2, &c.out)
	c.spare(4)
	c.spare(5)
	c.says(5, msg(control.Finalized, 0, 0))
	c.expect("finalized → 4; finalized → 5")
	c.m.Tick(c.m.Deadline(), &c.out)
	c.expect("dismissed 0 → 5; end 0 ")

	c = newLeaderTest(t, 3) // one spare is late, and only this one can tell it
	c.m.SetTerm(0, 3, &c.out)
	c.spare(4)
	c.spare(6)
	for i := range 4 {
		c.member(i, proto.Proc(i), 0)
		c.says(i, msg(control.Finalized, 0, 0))
	}
	c.did()
	c.spare(5)
	c.expect("finalized → 5; dismissed 0 → 6; dismissed 0 → 5; end 0 ")

	c = newLeaderTest(t, 2) // it was stopped before any process had come
	c.m = New(4, layout.Uniform(2, 2), 2, time.Second, 0)
	c.m.SetTerm(0, 0, &c.out)
	c.now = proto.Time(time.Minute)
	c.m.Tick(c.now, &c.out)
	c.expect("")
	c.member(0, 0, 0)
	c.m.Tick(c.now+proto.Time(time.Minute), &c.out)
	c.expect("term → 0")

	c = newLeaderTest(t, 2)
	c.m.SetTerm(0, 0, &c.out)
	c.m.Tick(c.m.Deadline(), &c.out)
	c.m.Tick(c.m.Deadline(), &c.out)
	c.expect("end 1 no process of the job is there")
	if c.m.Deadline() != proto.Never {
		t.Error("it isn't over")
	}
}

// Peers say anything, and come and go in any order. No incarnation is given twice, there is one
// replacement at a time, and no attempt begins unless all processes are connected or dead.
func TestAnyMessages(t *testing.T) {
	types := []control.Type{control.Member, control.Spare, control.Knows, control.Eviction, control.Excluded, control.Healable,
		control.Unhealable, control.Arrived, control.Mark, control.Committed, control.Healed, control.HealFailed, control.Finalized, control.Shutdown, control.Term}
	rapid.Check(t, func(t *rapid.T) {
		m := New(4, layout.Uniform(2, 2), 2, time.Second, 0)
		var out []Action
		var here []int
		taken := map[string]bool{}
		replacement, now, last, term := -1, proto.Time(0), 0, uint64(0)
		leaves := rapid.Bool().Draw(t, "leaves")
		if !leaves { // else the job is over soon
			types = slices.DeleteFunc(slices.Clone(types), func(c control.Type) bool { return c == control.Finalized })
		}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now += proto.Time(rapid.Uint32Range(0, 1<<28).Draw(t, "ns"))
			switch rapid.IntRange(0, 9).Draw(t, "event") {
			case 0:
				term += rapid.Uint64Range(0, 2).Draw(t, "terms")
				m.SetTerm(now, term, &out)
			case 1:
				m.Tick(now, &out)
			case 2, 3:
				last++
				here = append(here, last)
				m.Opened(last, proto.Proc(rapid.IntRange(0, 8).Draw(t, "launcher rank")))
				m.Heard(now, last, control.Message{
					Type: rapid.SampledFrom(types[:2]).Draw(t, "first"), Proc: proto.Proc(rapid.IntRange(0, 3).Draw(t, "proc")),
				}, &out)
			case 4:
				if len(here) > 0 {
					i := rapid.IntRange(0, len(here)-1).Draw(t, "peer")
					m.Closed(now, here[i], &out)
					here = slices.Delete(here, i, i+1)
				}
			default:
				if len(here) > 0 {
					m.Heard(now, rapid.SampledFrom(here).Draw(t, "peer"), control.Message{
						Type: rapid.SampledFrom(types).Draw(t, "type"), Proc: proto.Proc(rapid.IntRange(-1, 4).Draw(t, "proc")),
						Incarnation: proto.Incarnation(rapid.Uint32Range(0, 3).Draw(t, "incarnation")), Number: rapid.Uint64Range(0, 4).Draw(t, "number"),
					}, &out)
				}
			}
			for _, a := range out {
				if a.Kind == Send && a.Message.Type == control.Take {
					key := fmt.Sprint(a.Message.Proc, a.Message.Incarnation)
					if taken[key] {
						t.Fatalf("%s is given twice", key)
					}
					taken[key] = true
					replacement = a.To
					for p := range m.slots {
						if s := &m.slots[p]; proto.Proc(p) != a.Message.Proc && s.peer == nil && !s.dead() {
							t.Fatalf("%s is given while process %d isn't connected", key, p)
						}
					}
				}
			}
			out = out[:0]
			if m.recovery.Current() != nil && m.replacement.id != replacement {
				t.Fatalf("two attempts: %d and %d", m.replacement.id, replacement)
			}
		}
	})
}
