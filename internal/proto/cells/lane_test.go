package cells

import "testing"

// lane is what a member does in C (capi/commons.c): the machine's accesses in the machine's order,
// as long as everything is as usual. It knows of no death, doesn't sleep and wakes nobody: that it
// leaves to the machine, by Progress.
type lane struct {
	in   bool
	gone uint64 // who has died since it came in
	next Progress
	call step
}

// inLanes has the members of a world begin all calls in C.
func inLanes(w *world) *world {
	w.lanes = true
	for i := range w.members {
		p := &w.members[i]
		*p.m = *New(i, p.m.size, p.m.depth)
		p.calls = 0
		w.begin(i)
	}
	return w
}

// enterLane begins a call in C, if it may.
func (p *member) enterLane(c step) bool {
	m := p.m
	m.Leave() // the call before
	m.gone |= p.lane.gone
	p.lane = lane{}
	if m.stage != Fresh || m.gone != 0 || c.pattern == ToRoot {
		return false
	}
	p.lane = lane{in: true, next: m.Progress, call: c}
	gives := c.pattern == All || m.self == c.root
	if gives && m.call+1 > m.floor+uint64(m.depth) {
		p.lane = lane{}
		return false
	}
	m.Begin(c.pattern, c.root, uint64(c.pattern), c.data)
	return true
}

// goesOn tells whether C goes on after an access. If not, nothing has been noted of it.
func (l *lane) goesOn(m *Machine, a Access, value uint64) bool {
	switch a.Op {
	case Publish:
		if value == 0 {
			return false
		}
		l.next.words[a.Cell], l.next.stage = a.Value, Given
	case AwaitWord:
		return value == m.word()
	case Check:
		return value == m.call
	case Sleepers:
		if l.next.stage = Taken; value != 0 {
			return false
		}
		l.in = false
	}
	return true
}

// leaveLane leaves the rest of a call to the machine.
func (w *world) leaveLane(i int) {
	p := &w.members[i]
	l := p.lane
	m := New(i, p.m.size, p.m.depth)
	m.Progress, m.gone, m.fault = l.next, l.gone, p.m.fault
	*p.m = *m
	p.lane = lane{}
	if l.next.stage != Taken {
		clear(p.read) // the machine reads all again
	}
	p.half = 0
	p.m.Begin(l.call.pattern, l.call.root, uint64(l.call.pattern), l.call.data)
}

// gone tells a member of a death. C doesn't hear of it before it leaves the call to the machine.
func (p *member) gone(who int) {
	if p.lane.in {
		p.lane.gone |= 1 << who
		return
	}
	p.m.Gone(who)
}

// C begins no call while the machine is within one, nor after it was fenced.
func TestLeave(t *testing.T) {
	m := New(0, 2, 2)
	m.Begin(All, 0, 0, true)
	if m.stage != Busy {
		t.Error("C may begin a call within a call")
	}
	if m.Leave(); m.stage != Busy {
		t.Error("C may begin a call after one that was given up")
	}
	for m.Next().Op != End {
		m.Result(map[Op]uint64{Publish: 1, AwaitWord: m.word(), Check: m.call}[m.Next().Op])
	}
	m.Leave()
	if m.stage != Fresh {
		t.Error("C may begin no call after a call")
	}
	m.Begin(All, 0, 0, true)
	for m.Next().Op != Publish {
		m.Result(0)
	}
	m.Result(0) // another member has closed it
	if o, _ := m.Outcome(); o != Fenced {
		t.Fatalf("the outcome is %v", o)
	}
	if m.Leave(); m.stage != Busy {
		t.Error("C may begin a call of a fenced member")
	}
}
