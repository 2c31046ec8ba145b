package detector

import (
	"fmt"
	"strings"
	"testing"

	"banyan/internal/proto"

	"github.com/cockroachdb/datadriven"
)

// TestConversations runs the scripts in testdata: one machine, and what it
// answers. A command is an input with its time; the output ends with the state
// of the ring.
func TestConversations(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var m *Machine
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var now, n int
			var from, p int
			var list []int
			d.MaybeScanArgs(t, "now", &now)
			d.MaybeScanArgs(t, "n", &n)
			d.MaybeScanArgs(t, "from", &from)
			d.MaybeScanArgs(t, "of", &p)
			d.MaybeScanArgs(t, "list", &list)
			var out Actions
			at, sender := proto.Time(now), proto.Proc(from)
			switch d.Cmd {
			case "new":
				m = New(Config{Self: proto.Proc(p), N: n, Period: 100, Timeout: 1000}, at, &out)
			case "tick":
				m.Tick(at, &out)
			case "heartbeat":
				m.Heartbeat(at, sender, &out)
			case "observe":
				m.Observe(at, sender, &out)
			case "deaths":
				var dead []proto.Proc
				for _, x := range list {
					dead = append(dead, proto.Proc(x))
				}
				m.Deaths(at, sender, dead, &out)
			case "evidence":
				m.Evidence(at, proto.Proc(p), &out)
			case "left":
				m.Left(at, proto.Proc(p), &out)
			case "stranger":
				m.Stranger(at, sender, &out)
			default:
				d.Fatalf(t, "unknown command %s", d.Cmd)
			}
			return describe(out) + describeRing(m)
		})
	})
}

func describe(out Actions) string {
	var b strings.Builder
	for _, a := range out {
		switch a.Kind {
		case SendHeartbeat:
			fmt.Fprintf(&b, "heartbeat to %d\n", a.To)
		case SendObserve:
			fmt.Fprintf(&b, "observe to %d\n", a.To)
		case SendDeaths:
			fmt.Fprintf(&b, "deaths %d to %d\n", a.Dead, a.To)
		case SendObituary:
			fmt.Fprintf(&b, "obituary to %d\n", a.To)
		case ReportDeath:
			fmt.Fprintf(&b, "report: %v is dead (%v, by %d, silent for %d)\n", a.Report.Proc, a.Report.Cause, a.Report.By, a.Report.Silent)
		}
	}
	return b.String()
}

func describeRing(m *Machine) string {
	deadline := fmt.Sprint(m.Deadline())
	if m.Deadline() == proto.Never {
		deadline = "never"
	}
	return fmt.Sprintf("emitter %d, observer %d, deadline %s\n", m.emitter, m.observer, deadline)
}

func TestStepsDontAllocate(t *testing.T) {
	var out Actions
	m := New(Config{Self: 1, N: 64, Period: eta, Timeout: delta}, 0, &out)
	now := proto.Time(0)
	allocs := testing.AllocsPerRun(1000, func() {
		now += eta
		out = out[:0]
		m.Heartbeat(now, 0, &out)
		m.Tick(now, &out)
	})
	if allocs != 0 {
		t.Errorf("%v allocations in a heartbeat period", allocs)
	}
}
