package replica

import (
	"fmt"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// aheadBy100 is a machine that may be ahead by 100, of three replicas of two ranks; its
// siblings are 2 and 4.
func aheadBy100() *Machine {
	return New(Config{Layout: three, Self: 0, Mirror: true, MaxSkew: 100})
}

// reports are the reports among actions, as receiver:number.
func reports(out Actions) (s string) {
	for _, a := range out {
		if a.Kind == Report {
			s += fmt.Sprintf("%d:%d ", a.To, a.Seq)
		}
	}
	return s
}

// A replica is throttled from the first byte beyond the limit. It stays so until the sibling
// that has received least reports that it has received enough.
func TestThrottled(t *testing.T) {
	m := aheadBy100()
	throttled := func(want bool, when string) {
		t.Helper()
		if m.Throttled() != want {
			t.Errorf("throttled: %v, %s", !want, when)
		}
	}
	m.Reported(2, 20)
	m.Reported(4, 10)
	m.Received(110)
	throttled(false, "at the limit")
	m.Received(1)
	throttled(true, "beyond the limit")
	m.Reported(2, 1000)
	throttled(true, "though only the better one has received more")
	m.Reported(4, 11)
	throttled(false, "at the limit again")
	m.Received(2000)
	throttled(true, "far beyond")
	m.Reported(4, 5000)
	throttled(true, "with a sibling behind and one ahead")
	m.Reported(2, everything)
	throttled(false, "when one is through")
	m.Received(1 << 40)
	var out Actions
	m.Dead(4, 0, &out)
	throttled(false, "when the other is dead")
}

// A replica doesn't wait for siblings that are dead, have left or are joining.
func TestSiblingsThatThrottle(t *testing.T) {
	for name, end := range map[string]func(m *Machine, out *Actions){
		"dead":    func(m *Machine, out *Actions) { m.Dead(2, 0, out) },
		"left":    func(m *Machine, out *Actions) { m.Left(2, out) },
		"joining": func(m *Machine, out *Actions) { m.Noted(4, Note{Kind: Prepare, Replacement: 2, Incarnation: 1}, out) },
	} {
		m := aheadBy100()
		var out Actions
		m.Reported(4, 1000)
		m.Received(101)
		if !m.Throttled() {
			t.Fatal("not throttled")
		}
		if end(m, &out); m.Throttled() {
			t.Errorf("%s: it is waited for", name)
		}
		if m.Reported(2, 0); m.Throttled() {
			t.Errorf("%s: it is heard", name)
		}
	}
	// No replica is throttled or reports without a limit, with the parallel protocol, or as the
	// only replica.
	for name, m := range map[string]*Machine{
		"no limit": New(Config{Layout: three, Self: 0, Mirror: true}),
		"parallel": New(Config{Layout: three, Self: 0, MaxSkew: 100}),
		"single":   New(Config{Layout: layout.Partial([]int{1, 3}), Self: 0, Mirror: true, MaxSkew: 100}),
	} {
		var out Actions
		if m.Received(1000) {
			m.Report(&out)
		}
		m.Through(&out)
		if m.Throttled() || len(out) > 0 {
			t.Errorf("%s: throttled %v, %+v", name, m.Throttled(), out)
		}
	}
}

// Another rank may wait for a replica that is offered a message, so the replica isn't throttled
// until it has that message.
func TestOfferedIsNotThrottled(t *testing.T) {
	m := aheadBy100()
	var out Actions
	m.Received(1000)
	if m.Arrive(1, 5, 1, true); m.Throttled() {
		t.Error("throttled, and offered a message")
	}
	m.Arrive(3, 5, 1, true)
	m.Dead(1, 0, &out)
	if m.Throttled() {
		t.Error("throttled, and offered a message by another")
	}
	if m.Completed(5, 1, 1); !m.Throttled() {
		t.Error("not throttled when the message is here")
	}
	if m.Arrive(5, 5, 1, true); !m.Throttled() {
		t.Error("not throttled, for an offer of what is here")
	}
}

// A report goes to each sibling for each quarter of the limit, not with every message; one at
// the end reports the total.
func TestReports(t *testing.T) {
	m := aheadBy100()
	var out Actions
	for range 20 {
		if m.Received(10) {
			m.Report(&out)
		}
	}
	m.Through(&out)
	want := ""
	for _, n := range []uint64{30, 60, 90, 120, 150, 180, everything} {
		want += fmt.Sprintf("2:%d 4:%d ", n, n)
	}
	if got := reports(out); got != want {
		t.Errorf("reports %s, want %s", got, want)
	}
	if m.Received(1 << 40); m.Throttled() {
		t.Error("throttled when it is through")
	}
}

// A replacement has received what its donor had received, reports that, and gets its siblings'
// reports.
func TestReplacementReports(t *testing.T) {
	donor := aheadBy100()
	var out Actions
	donor.Received(77)
	donor.Dead(2, 0, &out)
	donor.Donate(2, 1, &out)
	for _, p := range []proto.Proc{1, 3, 4, 5} {
		donor.Noted(p, Note{Kind: Prepared, Replacement: 2, Incarnation: 1}, &out)
	}
	m := New(Config{Layout: three, Self: 2, Mirror: true, MaxSkew: 100})
	m.Received(1 << 40) // on its way to the safe point
	if err := m.Restore(donor.AppendState(nil, &out), func(h Message) *Message { return &h }, &out); err != nil {
		t.Fatal(err)
	}
	out = out[:0]
	if m.Commit(&out); reports(out) != "0:77 4:77 " {
		t.Errorf("the replacement reports %s", reports(out))
	}
	donor.Received(33)
	donor.Reported(4, 1000)
	out = out[:0]
	donor.Noted(2, Note{Kind: Joined, Replacement: 2, Incarnation: 1}, &out)
	if reports(out) != "2:110 " || out[0].Kind != Report || !donor.Throttled() {
		t.Errorf("the donor reports %s, throttled %v", reports(out), donor.Throttled())
	}
	if donor.Reported(2, 77); donor.Throttled() {
		t.Error("the donor is throttled for a replacement that isn't far behind")
	}
	m.Reported(0, 110)
	m.Reported(4, 0)
	if m.Received(23); m.Throttled() {
		t.Error("the replacement is throttled at the limit")
	}
	if m.Received(1); !m.Throttled() {
		t.Error("the replacement isn't throttled")
	}
}

// Neither a received message nor a report allocates.
func TestSkewNeedsNoMemory(t *testing.T) {
	m := aheadBy100()
	out := make(Actions, 0, 8)
	if n := testing.AllocsPerRun(1000, func() {
		out = out[:0]
		if m.Received(30); m.Throttled() {
			m.Report(&out)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if len(out) != 2 {
		t.Error("it was never throttled")
	}
}

func BenchmarkReceived(b *testing.B) {
	m := New(Config{Layout: three, Self: 0, Mirror: true, MaxSkew: 1 << 20})
	var out Actions
	for b.Loop() {
		if m.Received(300) {
			out = out[:0]
			m.Report(&out)
		}
		if m.Throttled() {
			m.Reported(2, m.skew.received)
			m.Reported(4, m.skew.received)
		}
	}
}
