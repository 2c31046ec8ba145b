package group_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"testing"
	"time"

	"banyan/group"
)

// A lease is on the latest view, and the next view waits for it: until it is released, or until it
// ends by itself.
func TestNextViewWaitsForLease(t *testing.T) {
	anna := join(t, config("anna"))
	bert := join(t, config("bert", anna.Self().Address))
	for _, x := range []struct {
		holder, other *group.Member
		joiner        string
	}{{anna, bert, "carl"}, {bert, anna, "dora"}} {
		l := lease(t, x.holder)
		if l.View.Token != x.holder.Latest().Token || !l.Valid() || time.Until(l.Deadline) < silence/8 {
			t.Fatalf("a lease of view %d until %v, valid: %v", l.View.Number, l.Deadline, l.Valid())
		}
		joined := make(chan error, 1)
		go func() {
			m, err := tryJoin(t, config(x.joiner, anna.Self().Address))
			if err == nil {
				t.Cleanup(m.Close)
			}
			joined <- err
		}()
		select {
		case <-l.Wanted():
		case <-time.After(10 * time.Second):
			t.Fatal("no view waits for the lease")
		}
		time.Sleep(4 * period)
		if n := x.other.Latest().Number; l.Valid() && n != l.View.Number {
			t.Errorf("view %d is in force beside a lease on view %d", n, l.View.Number)
		}
		l.Release()
		if err := <-joined; err != nil {
			t.Error(err)
		}
		if again := lease(t, x.holder); again.View.Number <= l.View.Number {
			t.Errorf("the next lease is on view %d, after %d", again.View.Number, l.View.Number)
		} else {
			again.Release()
		}
	}
}

// A lease that isn't released ends by itself.
func TestLeaseEnds(t *testing.T) {
	cfg := config("anna")
	cfg.HeartbeatTimeout = 1500 * time.Millisecond
	anna := join(t, cfg)
	l := lease(t, anna)
	next := config("bert", anna.Self().Address)
	next.HeartbeatTimeout = cfg.HeartbeatTimeout
	join(t, next)
	if l.Valid() || time.Now().Before(l.Deadline) {
		t.Errorf("a view comes into force %v before the end of a lease, valid: %v", time.Until(l.Deadline), l.Valid())
	}
}

// A member that is closed while it has a lease lives on for the others until the lease ends.
func TestCloseWaitsForLease(t *testing.T) {
	cfgs := [2]group.Config{config("anna"), config("bert")}
	for i := range cfgs {
		cfgs[i].HeartbeatTimeout = 1500 * time.Millisecond
	}
	anna := join(t, cfgs[0])
	cfgs[1].Seeds = []string{anna.Self().Address}
	bert := join(t, cfgs[1])
	l := lease(t, bert)
	bert.Close()
	if time.Now().Before(l.Deadline) {
		t.Errorf("closed %v before its lease ends", time.Until(l.Deadline))
	}
	await(t, anna, "without bert", func(v *group.View) bool { return len(v.Died) == 1 })
	if _, err := bert.Lease(t.Context()); !errors.Is(err, group.ErrClosed) {
		t.Errorf("a lease after the end: %v", err)
	}
}

func lease(t *testing.T, m *group.Member) *group.Lease {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	l, err := m.Lease(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The first member of a view leads. While it has a lease no other process leads, so what it does
// until the deadline is done by one leader only.
func ExampleMember_Lease() {
	ctx := context.Background()
	m, err := group.Join(ctx, group.Config{Name: "anna", Secret: []byte("known to the members only")})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	for step := range 3 {
		l, err := m.Lease(ctx)
		if err != nil {
			log.Fatal(err) // not a member any more
		}
		if l.View.Members[0] == m.Self() {
			work, cancel := context.WithDeadline(ctx, l.Deadline)
			fmt.Println("step", step, "of the leader, in time:", work.Err() == nil && l.Valid())
			cancel()
		}
		l.Release() // a next view needn't wait for the deadline
	}
	// Output:
	// step 0 of the leader, in time: true
	// step 1 of the leader, in time: true
	// step 2 of the leader, in time: true
}
