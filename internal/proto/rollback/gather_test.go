package rollback

import (
	"slices"
	"strings"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// beginLed is a job of two ranks of two replicas in leader order, at its beginning.
func beginLed() (*Coordinator, *[]Action) {
	c, out := New(layout.Uniform(2, 2), 0, 100), new([]Action)
	c.Led()
	c.Began(make([]Host, 4), slices.Repeat([]Host{NoHost}, 4), out)
	return c, out
}

// resumed are those that may go on from their first safe point.
func resumed(out []Action) (all []proto.Proc) {
	for _, a := range out {
		if a.Kind == Tell && a.Order.Kind == Resume && a.Order.Snapshot == Beginning {
			all = append(all, a.Proc)
		}
	}
	return all
}

// repeats takes a snapshot, and says whether its parts have what was decided before the first safe
// point.
func repeats(t *testing.T, c *Coordinator, out *[]Action) bool {
	n := c.Take(200, out)
	for _, k := range []ReportKind{Holding, Paused} {
		for p := range proto.Proc(4) {
			c.Heard(200, p, Report{Kind: k, Epoch: c.Epoch(), Snapshot: n, At: 2}, out)
		}
	}
	i := slices.IndexFunc(*out, func(a Action) bool { return a.Kind == Tell && a.Order.Kind == Flush })
	if i < 0 {
		t.Fatalf("no snapshot is taken: %+v", *out)
	}
	return (*out)[i].Order.Repeats
}

// All stand at their first safe point until all that live have come. No snapshot is taken before.
func TestGathers(t *testing.T) {
	c, out := beginLed()
	for p := range proto.Proc(3) {
		c.Heard(7, p, Report{Kind: Came}, out)
	}
	if len(*out) > 0 || c.Take(8, out) != Beginning || c.Joins(1) {
		t.Fatalf("process 3 hasn't come: %+v", *out)
	}
	c.Died(3, 0, false, out)
	if got := resumed(*out); !slices.Equal(got, []proto.Proc{0, 1, 2}) || c.Deadline() != proto.Never {
		t.Fatalf("%v go on", got)
	}
	if !repeats(t, c, out) {
		t.Error("parts lack what was decided")
	}
}

// A program that has finalised comes to no safe point.
func TestGathersWithoutTheLeaving(t *testing.T) {
	c, out := beginLed()
	c.Leaving(2, 0, out)
	for _, p := range []proto.Proc{0, 1, 3} {
		c.Heard(7, p, Report{Kind: Came}, out)
	}
	if got := resumed(*out); len(got) != 4 {
		t.Errorf("%v go on", got)
	}
}

// Those that stand don't wait for ever for one that never comes.
func TestGathersForAWhile(t *testing.T) {
	c, out := beginLed()
	c.Heard(7, 0, Report{Kind: Came}, out)
	c.Heard(9, 1, Report{Kind: Came}, out)
	c.Tick(16, out)
	if len(*out) > 0 || c.Deadline() != 17 {
		t.Fatalf("too early: %+v", *out)
	}
	c.Tick(17, out)
	if last := (*out)[len(*out)-1]; len(resumed(*out)) != 4 || last.Kind != Apart || !strings.Contains(last.Text, "(rank 0 replica 1, rank 1 replica 1)") {
		t.Fatalf("%+v", *out)
	}
	*out = nil
	if repeats(t, c, out) {
		t.Error("parts have what doesn't fit together")
	}
}
