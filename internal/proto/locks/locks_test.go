package locks

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"banyan/internal/testing/explore"
)

// world is some members that lock, unlock and die in any order.
type world struct {
	m       Machine
	members []member
	asked   []int // members in the order of their requests that wait
	lost    bool  // a member has died with the exclusive lock
	canary  string
}

// member is what a member knows.
type member struct {
	state     state
	exclusive bool
	rounds    int // locks that it may still ask for
}

type state uint8

const (
	idle state = iota
	waits
	holds
	refused
	dead
)

type event struct {
	member int
	kind   string
}

func (e event) String() string { return fmt.Sprintf("%d %s", e.member, e.kind) }

func (w *world) Events(dst []event) []event {
	for i := range w.members {
		m := &w.members[i]
		if m.state == idle && m.rounds > 0 {
			dst = append(dst, event{i, "shared"}, event{i, "exclusive"})
		}
		if m.state == holds {
			dst = append(dst, event{i, "unlocks"})
		}
		if m.state != dead {
			dst = append(dst, event{i, "dies"})
		}
	}
	return dst
}

func (w *world) Apply(e event) error {
	var out Actions
	m := &w.members[e.member]
	switch e.kind {
	case "shared", "exclusive":
		m.state, m.exclusive, m.rounds = waits, e.kind == "exclusive", m.rounds-1
		w.asked = append(w.asked, e.member)
		w.m.Request(e.member, m.exclusive, &out)
	case "unlocks":
		m.state = idle
		w.m.Release(e.member, &out)
	case "dies":
		w.lost = w.lost || m.state == holds && m.exclusive
		m.state = dead
		w.asked = slices.DeleteFunc(w.asked, func(i int) bool { return i == e.member })
		switch w.canary {
		case "forgets the dead":
		case "frees what the dead held":
			w.m.Release(e.member, &out)
		default:
			w.m.Gone(e.member, &out)
		}
	}
	if w.canary == "overtakes" && len(w.m.queue) > 1 && !w.m.queue[1].exclusive && len(w.m.holders) > 0 && !w.m.holders[0].exclusive {
		r := w.m.queue[1]
		w.m.queue = slices.Delete(w.m.queue, 1, 2)
		w.m.holders = append(w.m.holders, r)
		out = append(out, Action{Grant, r.member, 0})
	}
	for _, a := range out {
		if err := w.answer(a); err != nil {
			return err
		}
	}
	return w.check()
}

func (w *world) answer(a Action) error {
	m := &w.members[a.Member]
	if m.state != waits {
		return fmt.Errorf("member %d is answered, and doesn't wait", a.Member)
	}
	if a.Kind == Refuse {
		if h := w.members[a.Holder]; h.state != dead || !h.exclusive {
			return fmt.Errorf("member %d is refused for %d, which died with no exclusive lock", a.Member, a.Holder)
		}
		m.state = refused
	} else {
		if w.lost {
			return fmt.Errorf("member %d is granted what is abandoned", a.Member)
		}
		if w.asked[0] != a.Member {
			return fmt.Errorf("member %d overtakes %d", a.Member, w.asked[0])
		}
		m.state = holds
	}
	w.asked = slices.DeleteFunc(w.asked, func(i int) bool { return i == a.Member })
	return nil
}

// check is safety, and that nobody waits who needn't.
func (w *world) check() error {
	shared, exclusive, waiting := 0, 0, 0
	for _, m := range w.members {
		switch {
		case m.state == waits:
			waiting++
		case m.state == holds && m.exclusive:
			exclusive++
		case m.state == holds:
			shared++
		}
	}
	switch {
	case exclusive > 1 || exclusive == 1 && shared > 0:
		return fmt.Errorf("%d exclusive and %d shared holders", exclusive, shared)
	case waiting > 0 && shared+exclusive == 0:
		return errors.New("members wait, and nobody that lives holds the lock")
	case waiting > 0 && exclusive == 0 && !w.members[w.asked[0]].exclusive:
		return errors.New("the first waits for a shared lock beside shared ones")
	}
	return nil
}

func (w *world) End() error { return nil }

func (w *world) Clone() *world {
	c := *w
	c.m.holders, c.m.queue = slices.Clone(w.m.holders), slices.Clone(w.m.queue)
	c.members, c.asked = slices.Clone(w.members), slices.Clone(w.asked)
	return &c
}

func (w *world) AppendKey(dst []byte) []byte {
	return fmt.Appendf(dst, "%v%v%v%v", w.m, w.members, w.asked, w.lost)
}

func newWorld(members, rounds int, canary string) *world {
	w := &world{members: make([]member, members), canary: canary}
	for i := range w.members {
		w.members[i].rounds = rounds
	}
	return w
}

// Whatever members do and which of them die, nobody holds the lock beside an exclusive holder,
// requests are granted in their order, and each that lives is answered.
func TestExhaustive(t *testing.T) {
	stats, err := explore.All(newWorld(3, 2, ""), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if stats.States < 1000 {
		t.Errorf("%d states", stats.States)
	}
}

// The exploration finds mistakes that it is there for.
func TestCanaries(t *testing.T) {
	for _, canary := range []string{"forgets the dead", "frees what the dead held", "overtakes"} {
		if _, err := explore.All(newWorld(4, 1, canary), 1<<20); err == nil {
			t.Errorf("nobody notices that it %s", canary)
		}
	}
}

// A part whose exclusive holder has died is refused for ever.
func TestAbandoned(t *testing.T) {
	w := newWorld(3, 2, "")
	for _, e := range []event{{0, "exclusive"}, {1, "shared"}, {0, "dies"}, {2, "exclusive"}} {
		if err := w.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	if w.members[1].state != refused || w.members[2].state != refused {
		t.Errorf("%v", w.members)
	}
}
