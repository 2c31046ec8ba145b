package group_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"banyan/group"
)

// trio starts three members as processes, and waits until they have one view.
func trio(t *testing.T) (members [3]testMember, cfgs [3]group.Config) {
	first := startProcess(t, processConfig("p0"))
	members[0], cfgs[0] = first, processConfig("p0")
	awaitLast(t, first, "p0")
	h, _, _ := first.snapshot()
	for i := 1; i < 3; i++ {
		cfgs[i] = processConfig(fmt.Sprint("p", i), h.self.Address)
		members[i] = startProcess(t, cfgs[i])
		awaitLast(t, members[i], []string{"", "p0 p1", "p0 p1 p2"}[i])
	}
	for _, l := range members {
		awaitLast(t, l, "p0 p1 p2")
	}
	return members, cfgs
}

func processConfig(name string, seeds ...string) group.Config {
	return group.Config{Name: name, Seeds: seeds, Secret: secret, HeartbeatPeriod: faultPeriod, HeartbeatTimeout: faultSilence}
}

// awaitLast waits until a member's last view has the named members, and returns the view.
func awaitLast(t *testing.T, l testMember, want string) (last group.View) {
	t.Helper()
	if !eventually(settleLimit, func() bool {
		h, _, _ := l.snapshot()
		if n := len(h.views); n > 0 && h.self.Name != "" {
			last = h.views[n-1]
		}
		return names(last.Members) == want
	}) {
		t.Fatalf("its last view is %+v, not of %s", last, want)
	}
	return last
}

// awaitEnd waits for a member's end.
func awaitEnd(t *testing.T, l testMember, want error) {
	t.Helper()
	over, text := false, ""
	if !eventually(settleLimit, func() bool {
		h, o, err := l.snapshot()
		if err != nil {
			t.Fatal(err)
		}
		over, text = o, h.end
		return over
	}) {
		t.Fatalf("it goes on, without %q", want)
	}
	if text != want.Error() {
		t.Fatalf("it ended with %q, not %q", text, want)
	}
}

// A member that is stopped for too long, even the coordinator, is excluded as silent. It learns
// that when it runs again, and comes back under its name with a higher incarnation.
func TestStopped(t *testing.T) {
	t.Parallel()
	for _, who := range []int{0, 2} {
		t.Run(fmt.Sprint("p", who), func(t *testing.T) {
			t.Parallel()
			members, cfgs := trio(t)
			others := slices.Delete([]string{"p0", "p1", "p2"}, who, who+1)
			witness := members[1]
			members[who].stop()
			v := awaitLast(t, witness, others[0]+" "+others[1])
			if len(v.Died) != 1 || v.Died[0].Cause != group.Silent {
				t.Errorf("died: %v", v.Died)
			}
			members[who].cont()
			awaitEnd(t, members[who], group.ErrExcluded)

			h, _, _ := witness.snapshot()
			cfgs[who].Seeds = []string{h.self.Address}
			again := startProcess(t, cfgs[who])
			v = awaitLast(t, again, others[0]+" "+others[1]+" "+cfgs[who].Name)
			if len(v.Joined) != 1 || v.Joined[0].Incarnation <= v.Members[1].Incarnation {
				t.Errorf("came back as %v", v.Joined)
			}
		})
	}
}

// A process is killed and restarted at once under its name. The group finds the death, and lets
// the process in with a higher incarnation.
func TestRestartedAtOnce(t *testing.T) {
	t.Parallel()
	for _, who := range []int{0, 1, 2} {
		t.Run(fmt.Sprint("p", who), func(t *testing.T) {
			t.Parallel()
			members, cfgs := trio(t)
			witness := members[(who+1)%3]
			h, _, _ := witness.snapshot()
			members[who].kill()
			cfgs[who].Seeds = []string{h.self.Address}
			again := startProcess(t, cfgs[who])
			others := slices.Delete([]string{"p0", "p1", "p2"}, who, who+1)
			v := awaitLast(t, again, others[0]+" "+others[1]+" "+cfgs[who].Name)
			if v.Joined[0].Incarnation < 5 {
				t.Errorf("came back as %v in view %d", v.Joined, v.Number)
			}
		})
	}
}

// While a member is stopped the others don't know whether it lives. Its name isn't free until it
// is excluded.
func TestNameOfStopped(t *testing.T) {
	t.Parallel()
	members, cfgs := trio(t)
	members[2].stop()
	start := time.Now()
	again := startProcess(t, cfgs[2])
	awaitLast(t, again, "p0 p1 p2")
	if waited := time.Since(start); waited < faultSilence/2 {
		t.Errorf("let in after %v", waited)
	}
	members[2].cont()
	awaitEnd(t, members[2], group.ErrExcluded)
}

// If one of two members is silent, the other goes on only if it is the senior one. Otherwise it
// stops, even when the first one is back.
func TestSilentOfTwo(t *testing.T) {
	t.Parallel()
	for _, stopped := range []int{0, 1} {
		t.Run(fmt.Sprint("p", stopped), func(t *testing.T) {
			t.Parallel()
			members, _ := trio(t)
			members[2].leave()
			awaitEnd(t, members[2], group.ErrLeft)
			awaitLast(t, members[0], "p0 p1")
			awaitLast(t, members[1], "p0 p1")
			members[stopped].stop()
			if stopped == 1 {
				awaitLast(t, members[0], "p0")
			} else {
				awaitEnd(t, members[1], group.ErrMinority)
			}
			members[stopped].cont()
			if stopped == 1 {
				awaitEnd(t, members[1], group.ErrExcluded)
			} else {
				awaitLast(t, members[0], "p0") // the other one is gone for certain
			}
		})
	}
}
