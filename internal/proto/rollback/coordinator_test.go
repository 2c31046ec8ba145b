package rollback

import (
	"slices"
	"strings"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// begin makes the coordinator of a job of two ranks on one host.
func begin() (*Coordinator, *[]Action) {
	c, out := New(layout.Uniform(2, 1), 0, 10), new([]Action)
	c.Began([]Host{0, 0}, []Host{NoHost, NoHost}, out)
	return c, out
}

// fall lets rank 0 die and the other one be killed.
func fall(c *Coordinator, out *[]Action) {
	e := c.Epoch()
	for p := range proto.Proc(2) {
		c.Died(p, e, false, out)
	}
}

func TestGivesUpAfterMaxRestarts(t *testing.T) {
	c, out := begin()
	for range MaxRestarts {
		*out = nil
		fall(c, out)
		if !slices.ContainsFunc(*out, func(a Action) bool { return a.Kind == Restart && a.Snapshot == Beginning }) {
			t.Fatalf("%+v", *out)
		}
		c.Began([]Host{0, 0}, []Host{NoHost, NoHost}, out)
	}
	*out = nil
	fall(c, out)
	if last := (*out)[len(*out)-1]; last.Kind != Fail || !strings.Contains(last.Text, "10 times to its beginning") {
		t.Fatalf("%+v", *out)
	}
}

func TestLateRanksAreNamed(t *testing.T) {
	c, out := begin()
	n := c.Take(0, out)
	c.Heard(0, 0, Report{Kind: Holding, Snapshot: n, At: 1}, out)
	c.Tick(9, out)
	if slices.ContainsFunc(*out, func(a Action) bool { return a.Kind == Abandoned }) {
		t.Fatal("it was abandoned too early")
	}
	*out = nil
	c.Tick(10, out)
	if last := (*out)[len(*out)-1]; last.Kind != Abandoned || !strings.Contains(last.Text, "in time (rank 1)") {
		t.Fatalf("%+v", *out)
	}
	if c.Take(20, out) != n+1 {
		t.Error("the next snapshot can't be taken")
	}
}

// TestResumesFromDisk begins with the snapshot of another job.
func TestResumesFromDisk(t *testing.T) {
	c, out := New(layout.Uniform(2, 1), 1, 10), new([]Action)
	c.Resumes(7)
	c.Began([]Host{0, 1}, []Host{1, 0}, out)
	if len(*out) != 2 || (*out)[1].Kind != Copy || (*out)[1].From.Host != Disk || (*out)[1].To != (Place{1, 1}) {
		t.Fatalf("%+v", *out)
	}
	*out = nil
	for p := range proto.Proc(2) { // the ranks come to their first safe points before the copies
		c.Heard(0, p, Report{Kind: Paused, Snapshot: 7, Sent: []proto.Proc{1 - p}}, out)
	}
	for p := range proto.Proc(2) { // each is told when its part is there
		c.Copied(7, Place{Host(p), p}, "", out)
		if a := (*out)[0]; a.Proc != p || a.Order.Kind != Start || a.Order.Snapshot != 7 {
			t.Fatalf("%+v", *out)
		}
		*out = (*out)[1:]
	}
	if len(*out) != 2 || (*out)[0].Order.Kind != Flush || !slices.Equal((*out)[0].Order.From, []proto.Proc{1}) {
		t.Fatalf("%+v", *out)
	}
	*out = nil
	for p := range proto.Proc(2) {
		c.Heard(0, p, Report{Kind: Captured, Snapshot: 7}, out)
	}
	if len(*out) != 4 || (*out)[0].Order.Kind != Resume || (*out)[3].Kind != Copy || (*out)[3].To != (Place{0, 1}) {
		t.Fatalf("%+v", *out)
	}
	if n := c.Take(0, out); n != 8 {
		t.Errorf("the next snapshot is %d", n)
	}
}

func TestStoreForgetsWhatWasDiscarded(t *testing.T) {
	s := NewStore[string]()
	s.Put(0, 1, "a")
	s.Commit(1)
	s.Put(0, 2, "b")
	s.Discard(2)
	if s.Put(0, 2, "late") {
		t.Error("a late copy of a discarded snapshot is kept")
	}
	if x, ok := s.Get(0, 1); !ok || x != "a" {
		t.Error("the committed one is lost")
	}
	s.Put(0, 3, "c")
	s.Commit(3)
	if _, ok := s.Get(0, 1); ok {
		t.Error("the old one is still there")
	}
}

// TestLimitFollowsTheSteps: ranks whose safe points are close together don't keep others waiting
// for the whole limit.
func TestLimitFollowsTheSteps(t *testing.T) {
	for _, tc := range []struct{ first, second, want proto.Time }{
		{0, 5, 1000 + 600}, // not known
		{1, 5, 1100 + 50},
		{1, 1, 1100 + 10}, // the least
		{1, 100, 1100 + 600},
	} {
		c, out := New(layout.Uniform(2, 1), 0, 600), new([]Action)
		c.Began([]Host{0, 0}, []Host{NoHost, NoHost}, out)
		n := c.Take(1000, out)
		c.Heard(1050, 0, Report{Kind: Holding, Snapshot: n, At: 3, Step: tc.first}, out)
		c.Heard(1100, 1, Report{Kind: Holding, Snapshot: n, At: 3, Step: tc.second}, out)
		if got := c.Deadline(); got != tc.want {
			t.Errorf("steps of %d and %d: deadline %d, want %d", tc.first, tc.second, got, tc.want)
		}
	}
}

func TestStepsAreMeasuredWithoutStanding(t *testing.T) {
	p, out := NewParticipant(0, Beginning), new([]Deed)
	sent := func() ([]proto.Proc, uint64) { return nil, 0 }
	p.Safepoint(100, sent, out)
	p.Safepoint(107, sent, out)
	p.Ordered(108, Order{Kind: Hold, Snapshot: 1}, sent, out)
	if step := (*out)[0].Report.Step; step != 7 {
		t.Errorf("the step is %d", step)
	}
	p.Safepoint(110, sent, out)
	p.Ordered(500, Order{Kind: Resume, Snapshot: 1}, sent, out)
	p.Safepoint(505, sent, out)
	*out = nil
	p.Ordered(506, Order{Kind: Hold, Snapshot: 2}, sent, out)
	if step := (*out)[0].Report.Step; step != 7 {
		t.Errorf("the step is %d", step)
	}
}

// TestEveryFewToDisk: of snapshots in memory each second one goes to disk, and is committed when it
// is there.
func TestEveryFewToDisk(t *testing.T) {
	c, out := New(layout.Uniform(1, 1), 2, 10), new([]Action)
	c.Began([]Host{0}, []Host{NoHost}, out)
	for n := Snapshot(1); n <= 5; n++ {
		if c.Take(0, out) != n {
			t.Fatalf("snapshot %d isn't taken", n)
		}
		c.Heard(0, 0, Report{Kind: Holding, Snapshot: n, At: uint64(n)}, out)
		c.Heard(0, 0, Report{Kind: Paused, Snapshot: n}, out)
		*out = nil
		c.Heard(0, 0, Report{Kind: Captured, Snapshot: n}, out)
		copies := slices.ContainsFunc(*out, func(a Action) bool { return a.Kind == Copy && a.To.Host == Disk })
		if copies != (n%2 == 0) || (c.Committed() == n) == copies {
			t.Fatalf("snapshot %d: %+v", n, *out)
		}
		if copies {
			c.Copied(n, Place{Disk, 0}, "", out)
		}
		if c.Committed() != n {
			t.Fatalf("snapshot %d isn't committed", n)
		}
	}
}

// TestNoMarkerOfTheDeadIsAwaited: a replica pauses for a snapshot, and dies. The next one is taken
// without it.
func TestNoMarkerOfTheDeadIsAwaited(t *testing.T) {
	c, out := New(layout.Uniform(2, 2), 0, 10), new([]Action)
	hosts, none := []Host{0, 0, 0, 0}, slices.Repeat([]Host{NoHost}, 4)
	c.Began(hosts, none, out)
	all := []proto.Proc{0, 1, 2, 3}
	pause := func(n Snapshot, procs ...proto.Proc) {
		for _, p := range procs {
			c.Heard(0, p, Report{Kind: Holding, Snapshot: n, At: 1}, out)
		}
		for _, p := range procs {
			c.Heard(0, p, Report{Kind: Paused, Snapshot: n, Sent: all}, out)
		}
	}
	n := c.Take(0, out)
	for _, p := range all {
		c.Heard(0, p, Report{Kind: Holding, Snapshot: n, At: 1}, out)
	}
	c.Heard(0, 3, Report{Kind: Paused, Snapshot: n, Sent: all}, out)
	c.Died(3, 0, false, out)
	*out = nil
	pause(c.Take(0, out), 0, 1, 2)
	flushes := 0
	for _, a := range *out {
		if a.Kind == Tell && a.Order.Kind == Flush {
			flushes++
			if a.Proc == 3 || !slices.Equal(a.Order.From, []proto.Proc{0, 1, 2}) {
				t.Errorf("%v waits for %v", a.Proc, a.Order.From)
			}
		}
	}
	if flushes != 3 {
		t.Errorf("%d are told to flush: %+v", flushes, *out)
	}
}

// TestReplicasThatDifferAreNoSnapshot: replicas of a rank that have sent different numbers of
// messages don't stand at the same place.
func TestReplicasThatDifferAreNoSnapshot(t *testing.T) {
	c, out := New(layout.Uniform(1, 2), 0, 10), new([]Action)
	c.Began([]Host{0, 0}, []Host{NoHost, NoHost}, out)
	n := c.Take(0, out)
	for p := range proto.Proc(2) {
		c.Heard(0, p, Report{Kind: Holding, Snapshot: n, At: 1}, out)
	}
	*out = nil
	for p := range proto.Proc(2) {
		c.Heard(0, p, Report{Kind: Paused, Snapshot: n, Sends: uint64(p)}, out)
	}
	if last := (*out)[len(*out)-1]; last.Kind != Abandoned || !strings.Contains(last.Text, "replicas of rank 0 have sent different numbers") {
		t.Fatalf("%+v", *out)
	}
}
