package recovery

import (
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

func TestFailures(t *testing.T) {
	c := newTalk(t, layout.Uniform(1, 2), false)
	c.healable(1)
	c.dies(0)
	if c.dies(0); len(c.h.waiting) != 1 {
		t.Error("it has died twice")
	}
	for incarnation := 1; incarnation <= MaxFailures; incarnation++ {
		c.next()
		c.did()
		if incarnation == 2 { // by its own death
			c.dies(0)
		} else {
			c.fails("it has no wish to", Replacement)
		}
		want := "dismiss; rank 0: replica 0 couldn't be replaced: it has no wish to"
		switch incarnation {
		case 2:
			want = "rank 0: replica 0 couldn't be replaced: it has died"
		case MaxFailures:
			want += "; after 3 attempts it stays dead"
		}
		c.expect(want)
	}
	c.next()
	c.expect("")
}

func TestRelapse(t *testing.T) {
	c := newTalk(t, layout.Uniform(1, 2), false)
	c.healable(1)
	c.dies(0)
	heal := func(lived proto.Time) {
		t.Helper()
		c.next()
		if c.h.Now() == nil {
			t.Fatal("no attempt")
		}
		c.heals()
		c.now += lived
		c.did()
		c.dies(0)
	}
	heal(second / 2)
	heal(second / 2)
	heal(second) // forgiven
	heal(second / 2)
	c.next()
	c.commits()
	c.now += 5 * second
	c.did()
	c.dies(0) // before all knew it
	c.expect("")
	heal(second / 2)
	c.expect("rank 0: replica 0 isn't replaced any more: the last 3 replacements were of no use")
	c.next()
	c.expect("")
}

func TestBarredDonor(t *testing.T) {
	c := newTalk(t, layout.Uniform(1, 3), false)
	c.healable(1)
	c.dies(0)
	c.next()
	c.did()
	c.fails("it differs", Donor)
	c.expect("dismiss; rank 0: replica 0 couldn't be replaced: it differs; replica 1 isn't asked again")
	c.healable(1)
	c.next()
	c.h.Over(&c.out)
	c.expect("") // it was said

	c = newTalk(t, layout.Uniform(1, 3), false)
	c.healable(1)
	c.dies(0)
	c.next()
	c.fails("it differs", Donor)
	c.healable(2)
	c.next()
	c.heals()
	c.dies(1)
	c.h.Healable(id(1, 0)) // late
	c.next()
	c.heals()
	// The next process in the donor's place isn't barred, once it has said that it is at a safe point.
	c.dies(2)
	c.did()
	c.next()
	c.expect("")
	c.healable(1)
	c.next()
	c.expect("start 2.1 from 1.1")
}

func TestOrderOfPlaces(t *testing.T) {
	c := newTalk(t, layout.Uniform(2, 3), false) // rank 0: 0 2 4, rank 1: 1 3 5
	none := func(proto.Proc) bool { return false }
	always := func(proto.Proc) bool { return true }
	c.dies(1)
	c.dies(0)
	c.next()
	if c.expect(""); c.h.Needy(always) != proto.NoProc {
		t.Error("a place has a donor")
	}
	c.healable(4, 2)
	c.h.Next(0, none, always, &c.out)
	if c.expect(""); c.h.Needy(always) != 0 {
		t.Error("no place has a donor")
	}
	c.h.Next(0, always, func(p proto.Proc) bool { return p != 2 }, &c.out)
	c.expect("start 0.1 from 4.0")
	c.healable(3)
	c.next()
	c.expect("")
	c.heals()
	c.did()
	c.next()
	c.expect("start 1.1 from 3.0")
}

func TestFilledByAnother(t *testing.T) {
	c := newTalk(t, layout.Uniform(1, 2), false)
	c.healable(1)
	c.dies(0)
	c.h.Filled(id(0, 4), &c.out)
	c.next()
	if c.expect(""); c.h.Given(0) != 4 {
		t.Error("it isn't known")
	}
	c.h.Filled(id(0, 3), &c.out)
	c.dies(0)
	c.next()
	c.expect("start 0.5 from 1.0")
	c.h.Filled(id(0, 9), &c.out)
	c.h.Died(0, id(0, 5), "", &c.out)
	c.next()
	c.expect("dismiss; rank 0: replica 0 couldn't be replaced: another process has taken the place")
	c.dies(0)
	c.h.From(256)
	c.next()
	c.expect("start 0.256 from 1.0")
	c.commits()
	c.did()
	c.h.Filled(id(0, 512), &c.out)
	c.next()
	if c.expect(""); c.h.Now() != nil {
		t.Error("it goes on")
	}
}
