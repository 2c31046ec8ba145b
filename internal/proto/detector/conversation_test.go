package detector

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/topology"

	"github.com/cockroachdb/datadriven"
)

// TestConversations runs the scripts in testdata/rules: the inputs to one machine, and its
// answers. A command is an input with its time; the output ends with the state of the ring. η
// is 100 and δ 1000. A list has entries such as 3, 3@1 (process 3 in its incarnation 1) and
// 3left.
func TestConversations(t *testing.T) {
	datadriven.Walk(t, "testdata/rules", func(t *testing.T, path string) {
		var m *Machine
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			number := func(name string) int {
				n := 0
				d.MaybeScanArgs(t, name, &n)
				return n
			}
			now, from, of := proto.Time(number("now")), proto.Proc(number("from")), proto.Proc(number("of"))
			view, incarnation := uint32(number("view")), proto.Incarnation(number("incarnation"))
			if m != nil && !d.HasArg("view") {
				view = m.cfg.View.Number
			}
			list := parseList(t, d, "list")
			beat := Beat{View: view, Incarnation: incarnation, Digest: digestOf(list)}
			bulletin := Bulletin{View: view, Incarnation: incarnation, Source: proto.Proc(number("source")),
				Cube: uint8(number("cube")), Tree: uint8(number("tree")), Gone: list}
			var out Actions
			switch d.Cmd {
			case "new":
				m = New(Config{Self: of, Incarnation: incarnation, View: parseView(t, d, 0), Period: 100, Timeout: 1000}, now, &out)
			case "tick":
				m.Tick(now, &out)
			case "heartbeat":
				m.Heartbeat(now, from, beat, &out)
			case "observe":
				m.Observe(now, from, beat, &out)
			case "news":
				m.News(now, from, bulletin, &out)
			case "reconcile":
				m.Reconcile(now, from, bulletin, d.HasArg("ask"), &out)
			case "evidence":
				m.Evidence(now, of, incarnation, &out)
			case "left":
				m.Left(now, of, incarnation, &out)
			case "stranger":
				m.Stranger(now, from, incarnation, &out)
			case "eviction":
				m.Eviction(now, from, incarnation, &out)
			case "excuse":
				m.Excuse(now, of, !d.HasArg("over"))
			case "bear":
				m.Bear(now, of, 0)
			case "install":
				m.Install(now, parseView(t, d, view), &out)
			default:
				d.Fatalf(t, "unknown command %s", d.Cmd)
			}
			return describe(out) + describeRing(m)
		})
	})
}

// parseView is the view of the members in the argument ring, such as (0,1@2,3), or of 0…n-1.
func parseView(t *testing.T, d *datadriven.TestData, number uint32) *View {
	if !d.HasArg("ring") {
		n := 0
		d.ScanArgs(t, "n", &n)
		return &View{Number: number, Ring: topology.IdentityRing(n)}
	}
	v := &View{Number: number}
	var order []proto.Proc
	for _, e := range parseList(t, d, "ring") {
		order = append(order, e.Proc)
		v.Incarnations = append(v.Incarnations, e.Incarnation)
	}
	ring, err := topology.NewRing(order)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	v.Ring = ring
	return v
}

func parseList(t *testing.T, d *datadriven.TestData, name string) (list []Entry) {
	for _, arg := range d.CmdArgs {
		if arg.Key != name {
			continue
		}
		for _, s := range arg.Vals {
			var e Entry
			s, e.Left = strings.CutSuffix(s, "left")
			p, inc, _ := strings.Cut(s, "@")
			n, err := strconv.Atoi(p)
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			i, _ := strconv.Atoi(inc)
			e.Proc, e.Incarnation = proto.Proc(n), proto.Incarnation(i)
			list = append(list, e)
		}
	}
	return list
}

func digestOf(list []Entry) (d Digest) {
	for _, e := range list {
		d.Count++
		d.Hash += e.hash()
	}
	return d
}

func (e Entry) String() string {
	s := strconv.Itoa(int(e.Proc))
	if e.Incarnation > 0 {
		s += fmt.Sprintf("@%d", e.Incarnation)
	}
	if e.Left {
		s += "left"
	}
	return s
}

// describe shows the actions. It puts the copies of one broadcast of this process on one line.
func describe(out Actions) string {
	var b strings.Builder
	for i := range out {
		a := &out[i]
		switch g := a.Bulletin; a.Kind {
		case SendHeartbeat:
			fmt.Fprintf(&b, "heartbeat to %d", a.To)
			if a.Beat.Digest.Count > 0 {
				fmt.Fprintf(&b, " with the digest of %d", a.Beat.Digest.Count)
			}
		case SendObserve:
			fmt.Fprintf(&b, "observe to %d", a.To)
		case SendNews:
			if i > 0 && out[i-1].Kind == SendNews {
				fmt.Fprintf(&b, ", %d", a.To)
				if g.Tree != out[i-1].Bulletin.Tree || g.Cube != out[i-1].Bulletin.Cube {
					fmt.Fprintf(&b, " by tree %d of cube %d", g.Tree, g.Cube)
				}
			} else {
				fmt.Fprintf(&b, "news of %v from %d to %d by tree %d of cube %d", g.Gone, g.Source, a.To, g.Tree, g.Cube)
			}
			if i+1 < len(out) && out[i+1].Kind == SendNews {
				continue
			}
		case SendReconcile:
			fmt.Fprintf(&b, "reconcile %v to %d", g.Gone, a.To)
			if a.Ask {
				b.WriteString(", asking")
			}
		case SendEviction:
			fmt.Fprintf(&b, "eviction notice of incarnation %d to %d", a.Incarnation, a.To)
		case ReportDeath:
			r := a.Report
			fmt.Fprintf(&b, "report: %v is dead (%v, by %d", Entry{r.Proc, r.Incarnation, false}, r.Cause, r.By)
			if r.Cause == CauseSilence {
				fmt.Fprintf(&b, ", silent for %d", r.Silent)
			}
			b.WriteString(")")
		case ReportLeft:
			fmt.Fprintf(&b, "report: %v has left (%v, by %d)", a.Report.Proc, a.Report.Cause, a.Report.By)
		case ReportFenced:
			fmt.Fprintf(&b, "report: fenced by %d", a.Report.By)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func describeRing(m *Machine) string {
	name := func(p proto.Proc) string {
		if p == proto.NoProc {
			return "none"
		}
		return strconv.Itoa(int(p))
	}
	deadline := fmt.Sprint(m.Deadline())
	if m.Deadline() == proto.Never {
		deadline = "never"
	}
	s := fmt.Sprintf("emitter %s, observer %s, ", name(m.emitter), name(m.observer))
	for _, g := range m.extra {
		s += fmt.Sprintf("extra observer %s, ", name(g.proc))
	}
	if m.emitter != proto.NoProc && m.suspectAt != proto.Never {
		s += fmt.Sprintf("suspicion at %d, ", m.suspectAt)
	}
	return s + fmt.Sprintf("deadline %s\n", deadline)
}
