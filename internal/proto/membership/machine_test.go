package membership

import (
	"testing"

	"banyan/internal/proto"
)

// quiet runs a world in a fixed order until only faults are possible.
func quiet(t *testing.T, w *world) {
	t.Helper()
	for {
		events := w.Events(nil)
		i := 0
		for i < len(events) && (events[i].kind == 'c' || events[i].kind == 'x') {
			i++
		}
		if i == len(events) {
			return
		}
		if err := w.Apply(events[i]); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMessages: one death costs 2(n-1) messages to agree and n-1 to commit, for the n live
// members, and nothing else, whatever the tree.
func TestMessages(t *testing.T) {
	for _, arity := range []int{2, 4, 8} {
		for n := 2; n <= 40; n++ {
			w := newWorld(rules{members: n, crashes: 1, why: Died, arity: arity})
			if err := w.Apply(event{kind: 'c', p: n / 2}); err != nil {
				t.Fatal(err)
			}
			quiet(t, w)
			if err := w.End(); err != nil {
				t.Fatal(err)
			}
			want := n - 2 // to all live members but the coordinator
			if w.messages != 3*want || w.sent[Propose] != want || w.sent[Ack] != want || w.sent[Commit] != want {
				t.Errorf("n = %d, arity %d: %v, want %d each", n, arity, w.sent, want)
			}
		}
	}
}

// TestCoordinatorDies: its successor asks first, 2(n-1) messages more.
func TestCoordinatorDies(t *testing.T) {
	for n := 2; n <= 40; n++ {
		w := newWorld(rules{members: n, crashes: 1, why: Died})
		if err := w.Apply(event{kind: 'c', p: 0}); err != nil {
			t.Fatal(err)
		}
		quiet(t, w)
		if err := w.End(); err != nil {
			t.Fatal(err)
		}
		if live := n - 1; w.messages != 5*(live-1) {
			t.Errorf("n = %d: %v, want %d in all", n, w.sent, 5*(live-1))
		}
	}
}

// TestOneViewForMany: deaths that become known together make one view.
func TestOneViewForMany(t *testing.T) {
	w := newWorld(rules{members: 20, crashes: 8, why: Died})
	for p := 5; p < 13; p++ {
		if err := w.Apply(event{kind: 'c', p: p}); err != nil {
			t.Fatal(err)
		}
	}
	for p := 19; p >= 0; p-- {
		for q := 5; q < 13 && w.states[p] == living; q++ {
			if err := w.Apply(event{kind: 't', p: p, q: q}); err != nil {
				t.Fatal(err)
			}
		}
	}
	quiet(t, w)
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	// The coordinator was told of one death before the others: at most one view each.
	if got := w.at[0]; got != 2 {
		t.Errorf("view %d", got)
	}
}

// TestPatience: a side without a quorum says which members are silent, and stops.
func TestPatience(t *testing.T) {
	v := FirstView(5)
	m := New(Config{Self: v.Members[3], Patience: 100}, v)
	var out Actions
	for p := range 3 {
		m.Departed(10, v.Members[p], Silent, &out)
	}
	if len(out) != 2 || out[0].Kind != Stalled || len(out[0].Gone) != 3 || out[1].Message.Kind != Ask || out[1].To != v.Members[4] {
		t.Fatalf("%v", out)
	}
	if d := m.Deadline(); d != 110 {
		t.Fatalf("deadline %d", d)
	}
	out = out[:0]
	m.Tick(109, &out)
	if len(out) > 0 || m.Over() {
		t.Fatalf("%v before its time", out)
	}
	m.Tick(110, &out)
	if len(out) != 2 || out[0].Message.Kind != Halt || out[1].Kind != Halted || !m.Over() || m.Deadline() != proto.Never {
		t.Fatalf("%v", out)
	}
}

// TestGather: deaths within a while make one view, though each is told of at once.
func TestGather(t *testing.T) {
	v := FirstView(4)
	m := New(Config{Self: v.Members[0], Gather: 5}, v)
	var out Actions
	m.Departed(10, v.Members[3], Died, &out)
	m.Departed(12, v.Members[1], Died, &out)
	if len(out) > 0 || m.Deadline() != 15 {
		t.Fatalf("%v, deadline %d", out, m.Deadline())
	}
	m.Tick(15, &out)
	if len(out) != 1 || out[0].Message.Kind != Propose || len(out[0].Message.View.Members) != 2 || m.Deadline() != proto.Never {
		t.Fatalf("%v, deadline %d", out, m.Deadline())
	}
	// A death during the round doesn't cause another wait.
	out = out[:0]
	m.Departed(16, v.Members[2], Died, &out)
	if m.View().Number != 2 || len(m.View().Members) != 1 {
		t.Fatalf("%s", show(m.View()))
	}
}

// TestCertaintyEndsAStall: the launcher has killed the silent members in the meantime.
func TestCertaintyEndsAStall(t *testing.T) {
	v := FirstView(3)
	m := New(Config{Self: v.Members[2], Patience: 100}, v)
	var out Actions
	m.Departed(0, v.Members[0], Silent, &out)
	m.Departed(0, v.Members[1], Silent, &out)
	m.Departed(50, v.Members[1], Died, &out)
	if m.View() != v {
		t.Fatal("one of three goes on while another is silent")
	}
	m.Departed(60, v.Members[0], Died, &out)
	if m.View().Number != 2 || len(m.View().Members) != 1 || m.Deadline() != proto.Never {
		t.Fatalf("%s, deadline %d", show(m.View()), m.Deadline())
	}
}

func TestStaleIncarnationIsRefused(t *testing.T) {
	v := FirstView(2).Next([]Departure{{Member{1, 0}, Died}}, nil)
	m := New(Config{Self: v.Members[0]}, v)
	var out Actions
	m.Receive(0, &Message{Kind: Join, From: Member{1, 0}}, &out)
	if len(out) != 1 || out[0].Message.Kind != Refuse || m.View() != v {
		t.Fatalf("%v", out)
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []Config{{Arity: 3}, {Arity: 1}, {Arity: -2}, {Patience: -1}, {Gather: -1}, {Retry: -1}} {
		if c.Validate() == nil {
			t.Errorf("%+v is taken", c)
		}
	}
}

// TestMemberThatLeftARound: 1 wrongly takes 0 for gone, and draws 2 away from the round of 0
// before 5, below 2, has answered; then 1 ends itself. 0 must learn that it has to begin again.
func TestMemberThatLeftARound(t *testing.T) {
	v := FirstView(7)
	a := v.Members
	m := New(Config{Self: a[2]}, v)
	var out Actions
	gone := []Departure{{a[6], Died}}
	m.Receive(0, &Message{Kind: Propose, From: a[0], Number: 2, Ballot: Ballot{Attempt: 1}, Base: v, Skip: gone, View: v.Next(gone, nil)}, &out)
	if len(out) != 1 || out[0].To != a[5] || out[0].Message.Kind != Propose {
		t.Fatalf("%v", out)
	}
	out = out[:0]
	m.Receive(0, &Message{Kind: Collect, From: a[1], Number: 2, Ballot: Ballot{1, 1, 1}, Base: v, Skip: []Departure{{a[0], Silent}}}, &out)
	out = out[:0]
	m.Departed(0, a[1], Died, &out)
	if len(out) != 1 || out[0].To != a[0] || out[0].Message.Kind != Reject || out[0].Message.Accepted != (Ballot{1, 1, 1}) {
		t.Fatalf("%v", out)
	}
	// And 0 begins again, above what was promised.
	c := New(Config{Self: a[0]}, v)
	var theirs Actions
	c.Departed(0, a[6], Died, &theirs)
	theirs = theirs[:0]
	c.Receive(0, out[0].Message, &theirs)
	if len(theirs) == 0 || theirs[0].Message.Kind != Collect || !(Ballot{1, 1, 1}).Less(theirs[0].Message.Ballot) {
		t.Fatalf("%v", theirs)
	}
}
