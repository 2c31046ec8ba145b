package window

import (
	"testing"
	"time"
)

// A member that has waited long gets the lock before one that takes it again and again, and before
// others that wait.
func TestLongWait(t *testing.T) {
	for _, exclusive := range []bool{true, false} {
		all, now := open(t, 3, 8), time.Unix(0, 0)
		greedy, long, late := all[0].Wait(1, true, now), all[1].Wait(1, exclusive, now), all[2].Wait(1, true, now)
		if !greedy.Try(now, nobody) {
			t.Fatal("nobody has the lock, but it can't be taken")
		}
		now = now.Add(Starves / 2)
		if long.Try(now, nobody) || late.Try(now, nobody) {
			t.Fatal("a lock is held twice")
		}
		all[0].Unlock(1, true)
		if greedy = all[0].Wait(1, true, now); !greedy.Try(now, nobody) {
			t.Fatal("nobody has waited long, but the lock can't be taken")
		}
		now = now.Add(Starves)
		if long.Try(now, nobody) {
			t.Fatal("a lock is held twice")
		}
		all[0].Unlock(1, true)
		if greedy = all[0].Wait(1, true, now); greedy.Try(now, nobody) || late.Try(now, nobody) {
			t.Error("the lock was taken by a member that has waited less")
		}
		if !long.Try(now, nobody) {
			t.Error("the member that has waited long doesn't get the lock")
		}
		all[1].Unlock(1, exclusive)
		if !greedy.Try(now, nobody) {
			t.Error("the member that has waited long is done, and still before others")
		}
		all[0].Unlock(1, true)
	}
}

// A member that has waited long and doesn't take the lock is waited for until Yields have passed,
// and not at all if it is dead, or has given up.
func TestLongWaitEnds(t *testing.T) {
	for what, over := range map[string]func(all []*Memory, now *time.Time) func(int) bool{
		"late": func(_ []*Memory, now *time.Time) func(int) bool { *now = now.Add(Yields); return nobody },
		"dead": func([]*Memory, *time.Time) func(int) bool { return func(member int) bool { return member == 1 } },
		"gone": func(all []*Memory, _ *time.Time) func(int) bool { all[1].Forgo(1); return nobody },
	} {
		all, now := open(t, 2, 8), time.Unix(0, 0)
		all[0].Wait(1, true, now).Try(now, nobody)
		long := all[1].Wait(1, true, now)
		now = now.Add(Starves)
		long.Try(now, nobody)
		all[0].Unlock(1, true)
		again := all[0].Wait(1, true, now)
		if again.Try(now, nobody) {
			t.Fatalf("%s: the lock was taken by a member that has waited less", what)
		}
		dead := over(all, &now)
		if !again.Try(now, dead) {
			t.Errorf("%s: the lock can't be taken", what)
		}
		all[0].Unlock(1, true)
		if all[0].first(1).Load() != 0 {
			t.Errorf("%s: the part's word still names a member that has waited", what)
		}
	}
}

// A member that has begun to take a lock alone, and waits for those that share it, doesn't wait for
// one that has waited longer: that one waits for it.
func TestLongWaitNoCircle(t *testing.T) {
	all, now := open(t, 3, 8), time.Unix(0, 0)
	all[2].Wait(1, false, now).Try(now, nobody)
	taking, long := all[0].Wait(1, true, now), all[1].Wait(1, true, now)
	taking.Try(now, nobody)
	now = now.Add(Starves)
	long.Try(now, nobody)
	all[2].Unlock(1, false)
	if !taking.Try(now, nobody) {
		t.Error("each of two members waits for the other one")
	}
}
