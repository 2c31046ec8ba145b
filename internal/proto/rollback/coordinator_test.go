package rollback

import (
	"slices"
	"strings"
	"testing"

	"banyan/internal/proto"
)

// begin makes the coordinator of a job of two ranks on one host.
func begin() (*Coordinator, *[]Action) {
	c, out := New(2, 0, 10), new([]Action)
	c.Began([]Host{0, 0}, []Host{NoHost, NoHost}, out)
	return c, out
}

// fall lets rank 0 die and the other one be killed.
func fall(c *Coordinator, out *[]Action) {
	e := c.Epoch()
	for r := range proto.Rank(2) {
		c.Died(r, e, out)
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
	c, out := New(2, 1, 10), new([]Action)
	c.Resumes(7)
	c.Began([]Host{0, 1}, []Host{1, 0}, out)
	if len(*out) != 2 || (*out)[1].Kind != Copy || (*out)[1].From != Disk || (*out)[1].To != 1 {
		t.Fatalf("%+v", *out)
	}
	*out = nil
	for r := range proto.Rank(2) { // the ranks come to their first safe points before the copies
		c.Heard(0, r, Report{Kind: Paused, Snapshot: 7, Sent: []proto.Rank{1 - r}}, out)
	}
	for r := range proto.Rank(2) {
		c.Copied(7, r, Host(r), "", out)
	}
	if len(*out) != 2 || (*out)[0].Order.Kind != Flush || !slices.Equal((*out)[0].Order.From, []proto.Rank{1}) {
		t.Fatalf("%+v", *out)
	}
	*out = nil
	for r := range proto.Rank(2) {
		c.Heard(0, r, Report{Kind: Captured, Snapshot: 7}, out)
	}
	if len(*out) != 4 || (*out)[0].Order.Kind != Resume || (*out)[3].Kind != Copy || (*out)[3].To != 0 {
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
		c, out := New(2, 0, 600), new([]Action)
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
	sent := func() []proto.Rank { return nil }
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
	c, out := New(1, 2, 10), new([]Action)
	c.Began([]Host{0}, []Host{NoHost}, out)
	for n := Snapshot(1); n <= 5; n++ {
		if c.Take(0, out) != n {
			t.Fatalf("snapshot %d isn't taken", n)
		}
		c.Heard(0, 0, Report{Kind: Holding, Snapshot: n, At: uint64(n)}, out)
		c.Heard(0, 0, Report{Kind: Paused, Snapshot: n}, out)
		*out = nil
		c.Heard(0, 0, Report{Kind: Captured, Snapshot: n}, out)
		copies := slices.ContainsFunc(*out, func(a Action) bool { return a.Kind == Copy && a.To == Disk })
		if copies != (n%2 == 0) || (c.Committed() == n) == copies {
			t.Fatalf("snapshot %d: %+v", n, *out)
		}
		if copies {
			c.Copied(n, 0, Disk, "", out)
		}
		if c.Committed() != n {
			t.Fatalf("snapshot %d isn't committed", n)
		}
	}
}
