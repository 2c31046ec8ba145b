package spares

import (
	"testing"
	"time"

	"banyan/internal/job/control"
	"banyan/internal/layout"
	"banyan/internal/proto"
)

// A spare goes through its phases as the package comment says.
func TestPhases(t *testing.T) {
	c := &leaderTest{t: t, m: New(4, layout.Uniform(2, 2), 2, time.Second, 0)}
	is := func(want phase) {
		t.Helper()
		if c.m.phase != want {
			t.Errorf("the phase is %v, want %v", c.m.phase, want)
		}
	}
	is(following)
	c.m.SetTerm(c.now, 0, &c.out)
	is(awaitingSpares)
	for i := range 4 {
		c.member(i, proto.Proc(i), 0)
	}
	is(awaitingSpares)
	c.spare(4)
	c.spare(5)
	is(leading)

	c.now += proto.Time(time.Minute) // it was stopped
	c.m.Tick(c.now, &c.out)
	is(catchingUp)
	c.now += proto.Time(time.Second / beats)
	c.m.Tick(c.now, &c.out)
	is(leading)

	c.says(0, control.Message{Type: control.Term, Number: 1})
	c.spare(6)
	is(superseded)
	c.m.SetTerm(c.now, 1, &c.out)
	is(following)
	c.m.SetTerm(c.now, 2, &c.out)
	is(leading) // all spares are known
	c.member(10, 0, 0)
	c.says(10, msg(control.Finalized, 0, 0))
	for i := range 3 {
		c.member(11+i, proto.Proc(1+i), 0)
		c.says(11+i, msg(control.Finalized, 0, 0))
	}
	is(finished)
	c.m.SetTerm(c.now, 4, &c.out)
	is(finished)
}

// Each phase can be reached, and the job's end is for ever.
func TestNextPhases(t *testing.T) {
	reached := map[phase]bool{following: true}
	for todo := []phase{following}; len(todo) > 0; todo = todo[1:] {
		for _, next := range nextPhases[todo[0]] {
			if !reached[next] {
				reached[next] = true
				todo = append(todo, next)
			}
		}
	}
	for p := following; p <= finished; p++ {
		if !reached[p] {
			t.Errorf("no way leads to phase %v", p)
		}
		if p.leads() != (p != following && p != finished) {
			t.Errorf("phase %v: leads is %v", p, p.leads())
		}
	}
	if len(nextPhases[finished]) > 0 {
		t.Error("the job goes on after its end")
	}
	defer func() {
		if recover() == nil {
			t.Error("a spare that follows another can end the job")
		}
	}()
	New(4, layout.Uniform(2, 2), 2, time.Second, 0).enter(finished)
}
