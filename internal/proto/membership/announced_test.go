package membership

import "testing"

// certain makes the machine of the last of three members. The two others have died for certain, and
// a replacement of process 0 was announced before.
func certain(t *testing.T, b bugs) (m *Machine, joiner Member, out Actions) {
	t.Helper()
	v := FirstView(4).Next([]Departure{{Member{Proc: 0}, Died}}, nil)
	m = New(Config{Self: Member{Proc: 3}, Patience: 100, bugs: b}, v)
	joiner = Member{Proc: 0, Incarnation: 1}
	m.Announce(joiner)
	m.Departed(10, Member{Proc: 1}, Silent, &out)
	m.Departed(11, Member{Proc: 2}, Died, &out)
	out = nil
	m.Departed(12, Member{Proc: 1}, Died, &out)
	return m, joiner, out
}

// The dead may have let a replacement in, without those that are left. So these ask it before they
// decide alone. Seed 1507867 of package oneworld had two views of one number.
func TestAnnouncedIsAsked(t *testing.T) {
	m, joiner, out := certain(t, bugs{})
	if len(out) != 1 || out[0].To != joiner || out[0].Message.Kind != Claim || m.View().Number != 2 {
		t.Fatalf("%v, %s", out, show(m.View()))
	}
	// The replacement is in a view that the dead have decided on.
	other := m.View().Next([]Departure{{m.cfg.Self, Silent}}, []Member{joiner})
	j := New(Config{Self: joiner}, other)
	var answer Actions
	j.Receive(13, out[0].Message, &answer)
	if len(answer) != 1 || answer[0].Message.Kind != Eviction {
		t.Fatalf("%v", answer)
	}
	// Its patience doesn't end: the replacement answers, or ends.
	out = nil
	m.Tick(1000, &out)
	if m.Over() || len(out) > 0 {
		t.Fatalf("%v", out)
	}
}

// A canary: what happened without the question.
func TestAnnouncedIgnored(t *testing.T) {
	if m, _, _ := certain(t, bugs{ignoresAnnounced: true}); m.View().Number != 3 {
		t.Fatalf("%s", show(m.View()))
	}
}

// A replacement in no view pledges to take none without the one that asks. That one lets it in.
func TestPledge(t *testing.T) {
	m, joiner, out := certain(t, bugs{})
	var sent Actions
	j := NewJoiner(Config{Self: joiner, Retry: 50}, []Member{{Proc: 1}}, 5, &sent)
	sent = nil
	j.Receive(13, out[0].Message, &sent)
	if len(sent) != 1 || sent[0].Message.Kind != Pledge || sent[0].To != m.cfg.Self {
		t.Fatalf("%v", sent)
	}
	// A view of the dead that is still under way comes too late.
	late := FirstView(4).Next([]Departure{{Member{Proc: 0}, Died}}, nil).Next([]Departure{{m.cfg.Self, Silent}}, []Member{joiner})
	j.Receive(14, &Message{Kind: Current, From: Member{Proc: 1}, Number: late.Number, View: late}, &sent)
	if j.View() != nil {
		t.Fatalf("%s", show(j.View()))
	}
	out = nil
	m.Receive(15, sent[0].Message, &out)
	if v := m.View(); v.Number != 3 || !v.Has(joiner) || len(v.Members) != 2 {
		t.Fatalf("%s, %v", show(v), out)
	}
	for _, a := range out {
		if a.Kind == Send && a.To == joiner {
			j.Receive(16, a.Message, &sent)
		}
	}
	if !j.View().same(m.View()) {
		t.Fatalf("%s", show(m.View()))
	}
}

// What settles the matter: the replacement's certain death, that it shows its view, or that it asks
// when it couldn't hear the question.
func TestAnnouncedSettled(t *testing.T) {
	m, joiner, _ := certain(t, bugs{})
	var out Actions
	if m.Departed(13, joiner, Silent, &out); m.View().Number != 2 {
		t.Fatal("silence settles nothing")
	}
	if m.Departed(14, joiner, Died, &out); m.View().Number != 3 || len(m.View().Members) != 1 {
		t.Fatalf("%s", show(m.View()))
	}

	m, joiner, _ = certain(t, bugs{})
	v := m.View().Next(nil, []Member{joiner})
	out = nil
	j := New(Config{Self: joiner}, v)
	j.Receive(13, &Message{Kind: Claim, From: m.cfg.Self, Number: 2}, &out)
	if len(out) != 1 || out[0].Message.Kind != Current {
		t.Fatalf("%v", out)
	}
	if m.Receive(14, out[0].Message, &out); m.View().Number < 3 || !m.View().Has(joiner) {
		t.Fatalf("%s", show(m.View()))
	}

	m, joiner, _ = certain(t, bugs{})
	out = nil
	m.Receive(13, &Message{Kind: Join, From: joiner}, &out)
	if len(out) != 1 || out[0].Message.Kind != Claim || m.View().Number != 2 {
		t.Fatalf("%v", out)
	}
}

// A pledge ends when the one that has it is gone for certain.
func TestPledgeEnds(t *testing.T) {
	var out Actions
	a, b := Member{Proc: 2}, Member{Proc: 3}
	j := NewJoiner(Config{Self: Member{Proc: 0, Incarnation: 1}}, []Member{a, b}, 0, &out)
	for i, step := range []struct {
		do      func()
		pledges bool
	}{
		{func() { j.Receive(1, &Message{Kind: Claim, From: a, Number: 2}, &out) }, true},
		{func() { j.Receive(2, &Message{Kind: Claim, From: b, Number: 2}, &out) }, false},
		{func() { j.Departed(3, a, Silent, &out); j.Receive(4, &Message{Kind: Claim, From: b, Number: 2}, &out) }, false},
		{func() { j.Departed(5, a, Died, &out) }, true}, // the other has asked, and doesn't ask again
		{func() { j.Receive(6, &Message{Kind: Claim, From: b, Number: 2}, &out) }, true},
	} {
		out = nil
		if step.do(); (len(out) == 1 && out[0].Message.Kind == Pledge) != step.pledges {
			t.Errorf("step %d: %v", i, out)
		}
	}
}
