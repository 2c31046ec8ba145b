package replica

import (
	"slices"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

func notes(out Actions) (told []Note) {
	for i := range out {
		if out[i].Kind == Tell {
			told = append(told, out[i].NoteOf())
		}
	}
	return told
}

func asks(out Actions, kind ActionKind) bool {
	return slices.ContainsFunc(out, func(a Action) bool { return a.Kind == kind })
}

// job is the machines of a job and their messages to each other, which arrive at once.
type job struct {
	t        testing.TB
	machines []*Machine
	arrived  map[proto.Proc][]uint64 // by receiver: numbers accepted
	asked    []Action                // of Handover, Abandoned and Healed
}

func newJob(t testing.TB, l layout.Layout) *job {
	j := &job{t: t, arrived: make(map[proto.Proc][]uint64)}
	for p := range proto.Proc(l.Procs()) {
		j.machines = append(j.machines, New(Config{Layout: l, Self: p}))
	}
	return j
}

// run calls a machine and carries out what it asks for.
func (j *job) run(at proto.Proc, call func(m *Machine, out *Actions)) {
	var out Actions
	m := j.machines[at]
	if m == nil {
		return
	}
	call(m, &out)
	for _, a := range out {
		switch a.Kind {
		case Transmit:
			j.run(a.To, func(m *Machine, out *Actions) {
				if m.Arrive(at, a.Message.Context, a.Message.Seq, false) == Accept {
					j.arrived[a.To] = append(j.arrived[a.To], a.Message.Seq)
				}
				m.FlushAcks(out)
			})
		case Acknowledge:
			j.run(a.To, func(m *Machine, out *Actions) { m.Acked(at, a.Context, a.Seq, a.Single, out) })
		case Tell:
			j.run(a.To, func(m *Machine, out *Actions) { m.Noted(at, a.NoteOf(), out) })
		case Handover, Abandoned, Healed:
			j.asked = append(j.asked, a)
		}
	}
}

func (j *job) send(at proto.Proc, dst proto.Rank) {
	j.run(at, func(m *Machine, out *Actions) { m.Send(&Message{Dst: dst, Total: 8}, out) })
}

func (j *job) crash(p proto.Proc, incarnation proto.Incarnation) {
	j.machines[p] = nil
	for q := range j.machines {
		j.run(proto.Proc(q), func(m *Machine, out *Actions) { m.Dead(p, incarnation, out) })
	}
}

// heal fills a slot with the state of a donor.
func (j *job) heal(donor, slot proto.Proc, incarnation proto.Incarnation) {
	j.t.Helper()
	j.asked = nil
	j.run(donor, func(m *Machine, out *Actions) {
		if !m.Donate(slot, incarnation, out) {
			j.t.Fatalf("%v declines", donor)
		}
	})
	if len(j.asked) != 1 || j.asked[0].Kind != Handover {
		j.t.Fatalf("Donate: %+v", j.asked)
	}
	replacement := New(Config{Layout: j.machines[donor].layout, Self: slot})
	j.machines[slot] = replacement
	var state []byte
	j.run(donor, func(m *Machine, out *Actions) { state = m.AppendState(nil, out) })
	j.run(slot, func(m *Machine, out *Actions) {
		if err := m.Restore(state, func(m Message) *Message { return &m }, out); err != nil {
			j.t.Fatal(err)
		}
		m.Commit(out)
	})
	if len(j.asked) != 2 || j.asked[1].Kind != Healed || j.asked[1].Replacement != slot || j.asked[1].Incarnation != incarnation {
		j.t.Fatalf("Commit: %+v", j.asked)
	}
}

// TestHealing: replica 1 of rank 0 dies and is replaced; then replica 0 dies. The replacement
// is at first one of two replicas, then the only one of its rank.
func TestHealing(t *testing.T) {
	j := newJob(t, two)
	for _, p := range []proto.Proc{0, 2, 1, 3} {
		j.send(p, j.machines[p].rank^1)
	}
	j.crash(2, 0)
	j.send(0, 1)
	j.heal(0, 2, 1)
	for p, m := range j.machines {
		if !m.Alive(2) || !m.Idle() || m.covers != m.bit(proto.Proc(p)) {
			t.Errorf("process %d: Alive %v, Idle %v, covers %b", p, m.Alive(2), m.Idle(), m.covers)
		}
	}
	j.send(0, 1)
	j.send(2, 1)
	j.crash(0, 0)
	j.send(2, 1)
	for _, p := range []proto.Proc{1, 3} {
		if want := []uint64{1, 2, 3, 4}; !slices.Equal(j.arrived[p], want) {
			t.Errorf("%v got %v; want %v", p, j.arrived[p], want)
		}
		if j.machines[p].Lost(0) {
			t.Errorf("rank 0 is lost to %v", p)
		}
	}
	if !j.machines[2].Idle() {
		t.Error("the replacement isn't idle")
	}
	j.heal(2, 0, 1)
	j.crash(2, 1)
	j.heal(0, 2, 2)
	j.send(1, 0)
	j.send(3, 0)
	if got := j.arrived[2]; got[len(got)-1] != 2 {
		t.Errorf("the third replica 1 of rank 0 got %v", got)
	}
}

// Between PREPARE and JOINED a slot isn't lost, and nothing is sent to it. Messages for it are
// kept.
func TestJoining(t *testing.T) {
	m := New(Config{Layout: two, Self: 1})
	var out Actions
	m.Noted(0, Note{Kind: Prepare, Replacement: 2, Incarnation: 1}, &out)
	if want := []Note{{Kind: Prepared, Replacement: 2, Incarnation: 1}}; !slices.Equal(notes(out), want) {
		t.Fatalf("Prepare: %+v", out)
	}
	m.Dead(2, 0, &out) // the replacement proves this death
	m.Dead(0, 0, &out)
	if m.Lost(0) || m.Alive(2) || m.Idle() {
		t.Errorf("Lost %v, Alive %v, Idle %v", m.Lost(0), m.Alive(2), m.Idle())
	}
	out = out[:0]
	m.Send(&Message{Total: 5}, &out)
	if n, bytes := m.Retained(); len(out) != 0 || n != 1 || bytes != 5 {
		t.Errorf("Send: %+v; %d messages of %d bytes retained", out, n, bytes)
	}
	if v := m.Arrive(2, 0, 1, false); v != Invalid {
		t.Errorf("a message before JOINED: %v", v)
	}
	joined := Note{Kind: Joined, Replacement: 2, Incarnation: 1}
	m.Noted(2, joined, &out)
	if got := notes(out); !slices.Equal(got, []Note{{Welcome, 2, 1, 1}}) || !m.Alive(2) {
		t.Errorf("Joined: %+v", out)
	}
	// Process 3 covers the replacement, as long as it lives.
	if len(transmits(out)) != 0 || m.Idle() {
		t.Errorf("Joined: %+v", out)
	}
	m.Dead(3, 0, &out)
	if got := transmits(out); !slices.Equal(got, []proto.Proc{2}) || !m.Idle() {
		t.Errorf("Dead: %+v", out)
	}
}

// Notes of an attempt that is over have no effect.
func TestLateNotes(t *testing.T) {
	m := New(Config{Layout: two, Self: 1})
	var out Actions
	m.Dead(2, 1, &out) // the first replacement died before its PREPARE came
	for _, n := range []struct {
		from proto.Proc
		note Note
	}{
		{0, Note{Kind: Prepare, Replacement: 2, Incarnation: 1}},
		{3, Note{Kind: Prepare, Replacement: 2, Incarnation: 2}}, // of another rank
		{2, Note{Kind: Joined, Replacement: 2, Incarnation: 1}},
		{0, Note{Kind: Joined, Replacement: 2, Incarnation: 2}},
		{0, Note{Kind: Prepared, Replacement: 2, Incarnation: 1}},
		{0, Note{Kind: Welcome, Replacement: 1, Incarnation: 0}},
		{0, Note{Kind: Prepare, Replacement: 77, Incarnation: 1}},
		{-1, Note{Kind: Prepare, Replacement: 2, Incarnation: 2}},
		{0, Note{Replacement: 2, Incarnation: 2}},
	} {
		m.Noted(n.from, n.note, &out)
		if len(out) != 0 || m.Alive(2) || !m.Idle() {
			t.Errorf("%+v from %v: %+v", n.note, n.from, out)
		}
	}
}

// A donor declines what can't be done, and gives up what can no longer be done.
func TestDeclines(t *testing.T) {
	donor := func() *Machine { return New(Config{Layout: three, Self: 0}) }
	var out Actions
	for name, c := range map[string]struct {
		replacement proto.Proc
		incarnation proto.Incarnation
		prepare     func(m *Machine)
	}{
		"itself":             {0, 1, func(*Machine) {}},
		"another rank":       {3, 1, func(*Machine) {}},
		"nobody":             {6, 1, func(*Machine) {}},
		"an old incarnation": {2, 1, func(m *Machine) { m.Dead(2, 1, &out) }},
		"a rendezvous":       {2, 1, func(m *Machine) { m.Send(&Message{Dst: 1, Rendezvous: true}, &out) }},
		"the end of the job": {2, 1, func(m *Machine) { m.Left(5, &out) }},
		"another healing":    {2, 1, func(m *Machine) { m.Donate(4, 1, &out) }},
	} {
		m := donor()
		c.prepare(m)
		out = out[:0]
		if m.Donate(c.replacement, c.incarnation, &out) || len(out) != 0 {
			t.Errorf("%s: not declined: %+v", name, out)
		}
	}
	for name, end := range map[string]func(m *Machine){
		"death":     func(m *Machine) { m.Dead(2, 1, &out) },
		"departure": func(m *Machine) { m.Left(5, &out) },
	} {
		m := donor()
		m.Donate(2, 1, &out)
		m.Dead(4, 0, &out)
		out = out[:0]
		end(m)
		if !asks(out, Abandoned) || m.covers&only(2) == 0 {
			t.Errorf("%s: %+v, covers %b", name, out, m.covers)
		}
	}
}

// The message path allocates nothing, also while a slot is joining.
func TestNoAllocationWhileJoining(t *testing.T) {
	m := New(Config{Layout: three, Self: 0})
	var out Actions
	var msg Message
	round := func() {
		out = out[:0]
		msg = Message{Context: 1, Dst: 1, Total: 8}
		m.Send(&msg, &out)
		m.Arrive(1, 1, msg.Seq, false)
		m.FlushAcks(&out)
		for _, p := range []proto.Proc{3, 5} {
			m.Acked(p, 1, msg.Seq, false, &out)
		}
	}
	round()
	m.Noted(3, Note{Kind: Prepare, Replacement: 5, Incarnation: 1}, &out)
	round()
	// Nothing is released any more. That takes room, but only in the window.
	messages := make([]Message, 3000)
	for i := range messages {
		messages[i] = Message{Context: 1, Dst: 1}
		m.Send(&messages[i], &out)
	}
	m.Dead(5, 1, &out)
	m.Acked(3, 1, msg.Seq+3000, false, &out)
	m.Noted(3, Note{Kind: Prepare, Replacement: 5, Incarnation: 2}, &out)
	i := 0
	if n := testing.AllocsPerRun(1000, func() {
		out = out[:0]
		messages[i] = Message{Context: 1, Dst: 1}
		m.Send(&messages[i], &out)
		m.Arrive(1, 1, messages[i].Seq, false)
		m.FlushAcks(&out)
		m.Acked(3, 1, messages[i].Seq, false, &out)
		i++
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A replica's announcement of what it covers ends with its death: its successor doesn't cover
// that.
func TestCoversOfAnEarlierIncarnation(t *testing.T) {
	j := newJob(t, layout.Uniform(2, 4)) // rank 0 is 0, 2, 4 and 6
	j.crash(0, 0)
	j.crash(2, 0)
	j.crash(6, 0)
	j.heal(4, 2, 1)
	j.heal(4, 0, 1)
	if got := j.machines[4].covers; got != 0b1100 {
		t.Fatalf("process 4 covers %b", got)
	}
	j.crash(4, 0)
	j.heal(0, 4, 1)
	j.crash(0, 1)
	if got := j.machines[2].covers; got != 0b1011 {
		t.Errorf("the lowest covers %b; want 1011", got)
	}
}

// Slots of different ranks may be refilled at the same time. Let two donors pause, each before it
// hears of the other: each state says that the other slot is joining. The replacement that joins
// last tells the other one, which answers that it has joined, too.
func TestTwoDonationsAtOnce(t *testing.T) {
	l := layout.Uniform(2, 2) // ranks 0 and 1: processes 0, 2 and 1, 3
	j := newJob(t, l)
	j.crash(2, 0)
	j.crash(3, 0)
	var prepare [2]Actions
	for d := range proto.Proc(2) {
		if !j.machines[d].Donate(d+2, 1, &prepare[d]) {
			t.Fatalf("%v declines", d)
		}
		j.machines[d+2] = New(Config{Layout: l, Self: d + 2, Joins: true})
	}
	for d := range proto.Proc(2) {
		for _, a := range prepare[d] {
			if a.Kind == Tell {
				j.run(a.To, func(m *Machine, out *Actions) { m.Noted(d, a.NoteOf(), out) })
			}
		}
	}
	if len(j.asked) != 2 || j.asked[0].Kind != Handover || j.asked[1].Kind != Handover {
		t.Fatalf("both are to give their states away: %+v", j.asked)
	}
	for d := range proto.Proc(2) {
		j.takeOver(d, d+2)
	}
	j.allKnowEachOther()
}

// A donor pauses while another slot is joining, and its replacement is there before the other one
// has its state. Both orders of the ends come to the same.
func TestDonationWhileAnotherJoins(t *testing.T) {
	for _, first := range []proto.Proc{0, 1} {
		l := layout.Uniform(2, 2)
		j := newJob(t, l)
		j.crash(2, 0)
		j.crash(3, 0)
		for d := range proto.Proc(2) {
			j.machines[d+2] = New(Config{Layout: l, Self: d + 2, Joins: true})
			j.run(d, func(m *Machine, out *Actions) {
				if !m.Donate(d+2, 1, out) {
					t.Errorf("%v declines", d)
				}
			})
		}
		j.takeOver(first, first+2)
		j.takeOver(1-first, 3-first)
		j.allKnowEachOther()
	}
}

// takeOver has a replacement take over the state of its donor.
func (j *job) takeOver(donor, q proto.Proc) {
	j.t.Helper()
	var state []byte
	var out Actions // of the donor, after the state has gone
	state = j.machines[donor].AppendState(nil, &out)
	j.run(q, func(m *Machine, out *Actions) {
		if err := m.Restore(state, func(m Message) *Message { return &m }, out); err != nil {
			j.t.Fatal(err)
		}
		m.Commit(out)
	})
	j.run(donor, func(_ *Machine, more *Actions) { *more = append(*more, out...) })
}

func (j *job) allKnowEachOther() {
	j.t.Helper()
	for p, m := range j.machines {
		if !m.Idle() || m.covers != m.bit(proto.Proc(p)) {
			j.t.Errorf("process %d: Idle %v, covers %b", p, m.Idle(), m.covers)
		}
		for q := range j.machines {
			if !m.Alive(proto.Proc(q)) {
				j.t.Errorf("process %d doesn't know %d", p, q)
			}
		}
	}
}
