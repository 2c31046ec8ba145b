package group_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"banyan/group"
)

// claim is the time in which a process relied on a view, by the kernel's clock, which all processes
// of the host share.
type claim struct {
	Token       uint64
	From, Until time.Duration
}

const leasesEnv = "BANYAN_TEST_GROUP_LEASES"

func bootTime() time.Duration {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_BOOTTIME, &t)
	return time.Duration(t.Nano())
}

// claimLeases takes one lease after the other and reports it. Some are released, others end.
func claimLeases(ctx context.Context, m *group.Member, out *json.Encoder) {
	for {
		l, err := m.Lease(ctx)
		if err != nil {
			return
		}
		c := claim{Token: l.View.Token, From: bootTime()}
		c.Until = c.From + time.Until(l.Deadline)
		if rand.IntN(4) == 0 {
			out.Encode(report{Claim: &c})
			select {
			case <-time.After(time.Until(l.Deadline)):
			case <-ctx.Done():
				return
			}
			continue
		}
		time.Sleep(rand.N(10 * time.Millisecond))
		if now := bootTime(); now < c.Until {
			c.Until = now
		}
		out.Encode(report{Claim: &c})
		l.Release()
	}
}

// overlap is what is wrong with some claims: two that rely on different views at one moment.
func overlap(claims []claim, longer time.Duration) error {
	for _, a := range claims {
		for _, b := range claims {
			if a.Token < b.Token && max(a.From, b.From) < min(a.Until, b.Until)+longer {
				return fmt.Errorf("%+v and %+v overlap, with ends that are %v later", a, b, longer)
			}
		}
	}
	return nil
}

// A member that is stopped, even the coordinator, is excluded, and the others have leases on the
// next view. No lease of the one is in time with a lease of the others. With later ends some would
// be: so the leases really follow each other.
func TestLeasesOfStopped(t *testing.T) {
	t.Parallel()
	for _, who := range []int{0, 2} {
		t.Run(fmt.Sprint("p", who), func(t *testing.T) {
			t.Parallel()
			var members []testMember
			for i := range 3 {
				cfg := processConfig(fmt.Sprint("p", i))
				if i > 0 {
					h, _, _ := members[0].snapshot()
					cfg.Seeds = []string{h.self.Address}
				}
				m := startWith(t, cfg, func(cmd *exec.Cmd) (err error) {
					cmd.Env = append(cmd.Env, leasesEnv+"=1")
					onLastingThread(func() { err = cmd.Start() })
					return err
				})
				members = append(members, m)
				awaitLast(t, m, []string{"p0", "p0 p1", "p0 p1 p2"}[i])
			}
			before := awaitLast(t, members[who], "p0 p1 p2")
			claims := func(p int) []claim { h, _, _ := members[p].snapshot(); return h.claims }
			relies := func(p int, since uint64) bool {
				list := claims(p)
				return len(list) > 0 && list[len(list)-1].Token >= since
			}
			if !eventually(settleLimit, func() bool { return relies(who, before.Token) }) {
				t.Fatal("it has no lease on the view of all three")
			}
			members[who].stop()
			other := (who + 1) % 3
			if !eventually(settleLimit, func() bool { return relies(other, before.Token+1) }) {
				t.Fatal("the others have no lease on the view without it")
			}
			members[who].cont()
			awaitEnd(t, members[who], group.ErrExcluded)
			var all []claim
			for p := range members {
				all = append(all, claims(p)...)
			}
			if err := overlap(all, 0); err != nil {
				t.Error(err)
			}
			if overlap(all, 2*faultSilence) == nil {
				t.Errorf("%d leases are so far from each other that they show nothing", len(all))
			}
		})
	}
}

// lineWriter lets several goroutines write lines, each by an encoder of its own.
type lineWriter struct {
	file *os.File
	busy sync.Mutex
}

func (w *lineWriter) Write(b []byte) (int, error) {
	w.busy.Lock()
	defer w.busy.Unlock()
	return w.file.Write(b)
}
