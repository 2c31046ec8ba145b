package membership

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"banyan/internal/proto"
)

// TestRefused: a message that no correct process can have sent is refused, by Validate or by
// the machine, whose state stays as it is.
func TestRefused(t *testing.T) {
	v := FirstView(5)
	a := v.Members
	died := func(list ...int) (gone []Departure) {
		for _, p := range list {
			gone = append(gone, Departure{a[p], Died})
		}
		return gone
	}
	next := v.Next(died(4), nil)
	later := next.Next(died(3), nil)
	other := v.Next(died(3), nil)
	huge := *next
	huge.Number = 1 << 60
	last := *v
	last.Number = 1<<64 - 1
	zero := *v
	zero.Number = 0
	stranger := Member{Proc: 77}
	admits := v.Next(nil, []Member{stranger})
	added := *next
	added.Members = append(slices.Clone(next.Members), stranger) // without having joined
	first := Ballot{Attempt: 1}
	for _, x := range []struct {
		name string
		why  string // Validate's reason, "" if it is the machine that refuses
		Message
	}{
		{"no kind", "unknown kind 0", Message{From: a[0]}},
		{"unknown kind", "unknown kind 99", Message{Kind: 99, From: a[0]}},
		{"nobody's", "process -1", Message{Kind: Leave, From: Member{Proc: -1}}},
		{"unknown why", "unknown why", Message{Kind: Certain, From: a[0], Gone: []Departure{{a[3], 9}}}},
		{"no base", "no view before", Message{Kind: Propose, From: a[0], Number: 2, View: next}},
		{"number beside the base", "number 7 after view 1", Message{Kind: Collect, From: a[0], Number: 7, Base: v}},
		{"number that overflows", "number 0", Message{Kind: Collect, From: a[0], Base: &last}},
		{"coordinator from nowhere", "position 5 of 5", Message{Kind: Collect, From: a[0], Number: 2, Base: v, Ballot: Ballot{1, 5, 1}}},
		{"too many takeovers", "that many", Message{Kind: Collect, From: a[0], Number: 2, Base: v, Ballot: Ballot{1<<32 - 1, 0, 1}}},
		{"rejection by such", "that many", Message{Kind: Reject, From: a[1], Number: 2, Accepted: Ballot{1<<32 - 1, 0, 1}}},
		{"no view", "no view", Message{Kind: Commit, From: a[0], Number: 2}},
		{"another view's number", "number 3 with view 2", Message{Kind: Commit, From: a[0], Number: 3, View: next}},
		{"view that doesn't follow", "view after view 1: 3", Message{Kind: Propose, From: a[0], Number: 2, Ballot: first, Base: v, View: later}},
		{"view that adds somebody", "by its changes", Message{Kind: Propose, From: a[0], Number: 2, Ballot: first, Base: v, View: &added}},
		{"redirect to nobody", "redirect to process -3", Message{Kind: Redirect, From: a[0], Member: Member{Proc: -3}}},

		{"proposal of one who isn't the parent", "", Message{Kind: Propose, From: a[3], Number: 2, Ballot: first, Base: v, View: next, Skip: died(4)}},
		{"proposal of a stranger", "", Message{Kind: Propose, From: stranger, Number: 2, Ballot: first, Base: v, View: next, Skip: died(4)}},
		{"proposal of a stranger who lets himself in", "", Message{Kind: Propose, From: stranger, Number: 3, Ballot: Ballot{1, 5, 1}, Base: admits, View: admits.Next(nil, nil), Skip: died(0, 1, 3, 4)}},
		{"proposal of somebody junior, past whom he doesn't hold for gone", "", Message{Kind: Propose, From: a[2], Number: 2, Ballot: Ballot{1, 2, 1}, Base: v, View: next, Skip: died(4)}},
		{"proposal without a quorum", "", Message{Kind: Propose, From: a[0], Number: 2, Ballot: first, Base: v, View: next, Skip: []Departure{{a[2], Silent}, {a[3], Silent}, {a[4], Silent}}}},
		{"proposal after a foreign view", "", Message{Kind: Collect, From: a[0], Number: 1<<60 + 1, Ballot: first, Base: &huge}},
		{"proposal after another view of the number", "", Message{Kind: Collect, From: a[0], Number: 2, Ballot: first, Base: &View{Number: 1, Members: a[:4], order: []int32{0, 1, 2, 3}}}},
		{"question of an old coordinator who never was", "", Message{Kind: Collect, From: stranger, Number: 1, Base: &zero}},
		{"answer to nothing", "", Message{Kind: Ack, From: a[3], Number: 2, Ballot: first}},
		{"answer to a ballot that never was", "", Message{Kind: Report, From: a[3], Number: 2, Ballot: Ballot{9, 1, 1}, View: next, Accepted: Ballot{8, 0, 1}}},
		{"decision that wasn't proposed", "", Message{Kind: Commit, From: a[0], Number: 2, View: next, Skip: died(4)}},
		{"decision on another view", "", Message{Kind: Commit, From: a[0], Number: 2, View: other, Skip: died(3)}},
		{"decision far ahead", "", Message{Kind: Commit, From: a[0], Number: 1 << 60, View: &huge}},
		{"view in force that nobody asked for", "", Message{Kind: Current, From: a[0], Number: 2, View: next}},
		{"view in force, of a stranger", "", Message{Kind: Current, From: stranger, Number: 2, View: next}},
		{"rejection of nothing", "", Message{Kind: Reject, From: a[3], Number: 2, Accepted: Ballot{5, 3, 1}}},
		{"certainty of a stranger", "", Message{Kind: Certain, From: stranger, Gone: died(0)}},
		{"certainty about strangers", "", Message{Kind: Certain, From: a[3], Gone: []Departure{{stranger, Died}}}},
		{"certainty about oneself", "", Message{Kind: Certain, From: a[3], Gone: died(1)}},
		{"question of one who doesn't coordinate", "", Message{Kind: Ask, From: a[3], Number: 2, Ballot: Ballot{0, 3, 0}, Base: v, Skip: died(4)}},
		{"halt of one who isn't the parent", "", Message{Kind: Halt, From: a[3], Number: 2, Base: v, Skip: []Departure{{a[2], Silent}, {a[4], Silent}}}},
		{"halt with a quorum", "", Message{Kind: Halt, From: a[0], Number: 2, Base: v}},
		{"redirect, though let in", "", Message{Kind: Redirect, From: a[0], Member: a[2]}},
		{"refusal, though let in", "", Message{Kind: Refuse, From: a[0], Number: 9}},
		{"a stranger leaves", "", Message{Kind: Leave, From: stranger}},
		{"eviction notice of a stranger", "", Message{Kind: Eviction, From: stranger, Number: 1 << 60}},
		{"eviction notice of the past", "", Message{Kind: Eviction, From: a[0], Number: 1}},
	} {
		t.Run(x.name, func(t *testing.T) {
			err := x.Validate()
			if x.why != "" {
				if err == nil || !strings.Contains(err.Error(), x.why) {
					t.Fatalf("%v, want %q", err, x.why)
				}
				return
			}
			if err != nil {
				t.Fatalf("%v, want it to come to the machine", err)
			}
			m := New(Config{Self: a[1]}, v)
			before := appendMachine(nil, m)
			var out Actions
			m.Receive(0, &x.Message, &out)
			if after := appendMachine(nil, m); len(out) > 0 || m.Over() || string(after) != string(before) {
				t.Errorf("%d actions, over %v, changed %v", len(out), m.Over(), string(after) != string(before))
			}
		})
	}
}

// TestRefusedInARound: the same while a change is being agreed on.
func TestRefusedInARound(t *testing.T) {
	v := FirstView(7)
	a := v.Members
	gone := []Departure{{a[6], Died}}
	proposal := &Message{Kind: Propose, From: a[0], Number: 2, Ballot: Ballot{Attempt: 1}, Base: v, Skip: gone, View: v.Next(gone, nil)}
	takeover := func() (*Machine, *Actions) {
		m, out := New(Config{Self: a[1]}, v), &Actions{}
		m.Departed(0, a[0], Died, out) // it collects, from 2 and 3
		return m, out
	}
	ballot := Ballot{1, 1, 1}
	foreign := &View{Number: 2, Members: []Member{a[1], {Proc: 77}}}
	foreign.index()
	for _, x := range []struct {
		name string
		make func() (*Machine, *Actions)
		Message
	}{
		{"a proposal a second time", func() (*Machine, *Actions) {
			m, out := New(Config{Self: a[2]}, v), &Actions{}
			m.Receive(0, proposal, out)
			return m, out
		}, *proposal},
		{"an order that skips nobody senior", func() (*Machine, *Actions) { return New(Config{Self: a[3]}, v), &Actions{} },
			Message{Kind: Collect, From: a[1], Number: 2, Ballot: ballot, Base: v, Skip: gone}},
		{"a rejection of a stranger", takeover, Message{Kind: Reject, From: Member{Proc: 77}, Number: 2, Accepted: Ballot{5, 2, 1}}},
		{"a report of a view that can't follow", takeover, Message{Kind: Report, From: a[2], Number: 2, Ballot: ballot, View: foreign, Accepted: Ballot{0, 0, 1}}},
		{"a report of what was accepted later", takeover, Message{Kind: Report, From: a[2], Number: 2, Ballot: ballot, View: proposal.View, Accepted: Ballot{2, 0, 1}}},
		{"an acknowledgement of a question", takeover, Message{Kind: Ack, From: a[2], Number: 2, Ballot: ballot}},
	} {
		t.Run(x.name, func(t *testing.T) {
			if err := x.Validate(); err != nil {
				t.Fatal(err)
			}
			m, out := x.make()
			before := appendMachine(nil, m)
			*out = (*out)[:0]
			m.Receive(0, &x.Message, out)
			if len(*out) > 0 || string(appendMachine(nil, m)) != string(before) {
				t.Errorf("%d actions, changed %v", len(*out), string(appendMachine(nil, m)) != string(before))
			}
		})
	}
}

// TestAnswersCountOnce: a coordinator waits for each of its children, however often another
// child answers.
func TestAnswersCountOnce(t *testing.T) {
	v := FirstView(5)
	m := New(Config{Self: v.Members[0]}, v)
	var out Actions
	m.Departed(0, v.Members[4], Died, &out)
	ack := func(p int) {
		m.Receive(0, &Message{Kind: Ack, From: v.Members[p], Number: 2, Ballot: Ballot{0, 0, 1}}, &out)
	}
	ack(1)
	ack(1)
	ack(3)
	if m.View() != v {
		t.Fatal("a view is in force that 2 hasn't accepted")
	}
	if ack(2); m.View().Number != 2 {
		t.Fatal("all have answered")
	}
}

// TestJoinerBelieves: a joiner accepts the answers of those that it has asked, and of no
// others.
func TestJoinerBelieves(t *testing.T) {
	v := FirstView(3)
	var out Actions
	m := NewJoiner(Config{Self: Member{Proc: 9}}, v.Members[:1], 0, &out)
	out = nil
	for _, k := range []Kind{Refuse, Redirect} {
		if m.Receive(0, &Message{Kind: k, From: v.Members[2], Member: Member{Proc: 8}}, &out); len(out) > 0 || m.Over() {
			t.Errorf("%v of somebody who wasn't asked", k)
		}
	}
	m.Receive(0, &Message{Kind: Redirect, From: v.Members[0], Member: v.Members[2]}, &out)
	if len(out) != 1 || out[0].To != v.Members[2] {
		t.Fatalf("%v", out)
	}
	m.Receive(0, &Message{Kind: Refuse, From: v.Members[2]}, &out)
	if !m.Over() {
		t.Error("refused by who was asked, and not over")
	}
}

// forger makes messages up from those that were sent.
type forger struct {
	random *rand.Rand
	seen   []*Message
}

func (f *forger) message(from Member) *Message {
	x := &Message{Kind: Kind(1 + f.random.IntN(int(Grant)))}
	if len(f.seen) > 0 && f.random.IntN(4) > 0 {
		*x = *f.seen[f.random.IntN(len(f.seen))]
	}
	x.From = from
	for f.random.IntN(3) > 0 {
		f.twist(x)
	}
	if x.Base != nil && f.random.IntN(4) > 0 {
		x.Number = x.Base.Number + 1
	} else if x.View != nil {
		x.Number = x.View.Number
	}
	return x
}

func (f *forger) twist(x *Message) {
	switch f.random.IntN(9) {
	case 0:
		x.Kind = Kind(1 + f.random.IntN(int(Grant)))
	case 1:
		x.Number = []uint64{x.Number + 1, x.Number - 1, 1 << 60, 1<<64 - 1}[f.random.IntN(4)]
	case 2:
		x.Ballot = f.ballot()
	case 3:
		x.Accepted = f.ballot()
	case 4:
		if v := f.view(); v != nil {
			x.View = v
		}
	case 5:
		if v := f.view(); v != nil {
			x.Base = v
		}
	case 6:
		if x.Base != nil {
			x.View = x.Base.Next(f.some(x.Base), nil)
		}
	case 7:
		if x.Base != nil {
			x.Skip = f.some(x.Base)
		}
	case 8:
		x.Member = Member{Proc: proto.Proc(f.random.IntN(8)), Incarnation: proto.Incarnation(f.random.Uint32N(2))}
	}
}

func (f *forger) ballot() Ballot {
	return Ballot{f.random.Uint32N(3), f.random.Uint32N(6), f.random.Uint32N(4)}
}

// view is one that was in a message, or one that might follow it.
func (f *forger) view() *View {
	if len(f.seen) == 0 {
		return FirstView(1 + f.random.IntN(8))
	}
	x := f.seen[f.random.IntN(len(f.seen))]
	v := x.View
	if v == nil || x.Base != nil && f.random.IntN(2) == 0 {
		v = x.Base
	}
	if v == nil || f.random.IntN(2) == 0 {
		return v
	}
	if gone := f.some(v); len(gone) < len(v.Members) {
		return v.Next(gone, nil)
	}
	return v
}

func (f *forger) some(v *View) (gone []Departure) {
	for _, m := range v.Members {
		if f.random.IntN(3) == 0 {
			gone = append(gone, Departure{m, Why(f.random.IntN(3))})
		}
	}
	return gone
}

// forge plays a world at random and lets z send forged messages in its own name, those that may
// allows.
func forge(seed uint64, r rules, z Member, may func(*world, *Message, int) bool) (forged int, err error) {
	w := newWorld(r)
	f := &forger{random: rand.New(rand.NewPCG(seed, 7))}
	w.seen = &f.seen
	for range 10_000 {
		if to := f.random.IntN(r.members); forged < 60 && w.states[to] == living && w.members[to] != z && f.random.IntN(2) == 0 {
			if x := f.message(z); x.Validate() == nil && may(w, x, to) {
				forged++
				var out Actions
				w.machines[to] = clone(w.machines[to])
				w.machines[to].Receive(w.now, x, &out)
				out = slices.DeleteFunc(out, func(a Action) bool { return a.Kind == Send && w.index(a.To) < 0 })
				if err := w.carryOut(to, out); err != nil {
					return forged, err
				}
			}
			continue
		}
		events := w.Events(nil)
		if len(events) == 0 {
			return forged, w.End()
		}
		if err := w.Apply(events[f.random.IntN(len(events))]); err != nil {
			return forged, err
		}
	}
	return forged, nil
}

// TestForged: messages from a process that isn't a member, or from a member that isn't entitled
// to them, leave the others' views as they would be. The package's Limits say what a member is
// believed.
func TestForged(t *testing.T) {
	seeds := uint64(6000)
	if testing.Short() {
		seeds = 600
	}
	stranger := Member{Proc: 50}
	counts := map[string]int{}
	for seed := uint64(1); seed <= seeds; seed++ {
		n := 3 + int(seed%4)
		r := rules{members: n, crashes: 1 + int(seed/4%2), why: Died, arity: 2 << (seed / 8 % 2)}
		youngest := Member{Proc: proto.Proc(n - 1)}
		for p := range n - 1 {
			r.mayDie = append(r.mayDie, p)
		}
		who, z, may := "a stranger", stranger, func(_ *world, x *Message, _ int) bool { return x.Kind != Join }
		switch seed % 3 {
		case 1:
			// An incarnation whose end the members have seen.
			who, z = "an excluded life", Member{Proc: 0}
			r.mayDie = []int{0, 1}
			may = func(w *world, _ *Message, to int) bool { return w.states[0] == dead && w.machines[to].view.Excludes(z) }
		case 2:
			who, z, may = "the youngest member", youngest, unentitled
		}
		forged, err := forge(seed, r, z, may)
		if err != nil {
			t.Fatalf("%s, %v: %v (seed %d)", who, r, err, seed)
		}
		counts[who] += forged
	}
	for who, n := range counts {
		t.Logf("%d forged messages of %s", n, who)
		if n < 1000 && !testing.Short() {
			t.Errorf("only %d forged messages of %s", n, who)
		}
	}
}

// unentitled says whether a message from the youngest member isn't to be believed. Such a
// message is neither its own vote nor a claim that it coordinates. It is no member's parent.
func unentitled(w *world, x *Message, to int) bool {
	m := w.machines[to]
	switch x.Kind {
	case Collect, Propose, Ask, Halt:
		return x.Base.Members[x.Ballot.Position] != x.From
	case Commit:
		place := x.View.Position(w.members[to])
		return place > 0 && x.View.Members[(place-1)/m.cfg.Arity] != x.From && len(x.Skip) == 0
	case Ack, Report, Certain:
		x.Gone = nil // what it tells of deaths is believed
		return !slices.Contains(m.round.awaiting, x.From) || x.Ballot != m.round.ballot
	case Current:
		return m.lead.attempt == 0
	case Leave, Eviction:
		return false
	}
	return true
}

// TestLiar: a member that lies where it is believed can split the others. Even then none of
// them installs a view out of order, or one that it isn't in.
func TestLiar(t *testing.T) {
	seeds := uint64(4000)
	if testing.Short() {
		seeds = 400
	}
	split := 0
	for seed := uint64(1); seed <= seeds; seed++ {
		n := 3 + int(seed%4)
		r := rules{members: n, crashes: 1, why: Died}
		_, err := forge(seed, r, Member{Proc: proto.Proc(seed / 4 % uint64(n))}, func(*world, *Message, int) bool { return true })
		switch {
		case err == nil:
		case strings.HasPrefix(err.Error(), "self inclusion"), strings.HasPrefix(err.Error(), "order"):
			t.Fatalf("%v: %v (seed %d)", r, err, seed)
		default:
			split++
		}
	}
	t.Logf("%d of %d runs are spoilt by one who lies", split, seeds)
}

// TestSkippedTwice: a member that is skipped several times stays skipped.
func TestSkippedTwice(t *testing.T) {
	v := FirstView(4)
	m := New(Config{Self: v.Members[3]}, v)
	var out Actions
	skip := slices.Repeat([]Departure{{v.Members[0], Died}}, 9)
	m.Receive(0, &Message{Kind: Collect, From: v.Members[1], Number: 2, Ballot: Ballot{1, 1, 1}, Base: v, Skip: skip}, &out)
	if len(out) != 1 || out[0].To != v.Members[1] || out[0].Message.Kind != Report {
		t.Errorf("%v", out)
	}
}
