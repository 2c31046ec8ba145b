package replication

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/proto/membership"
	"banyan/internal/runtime/process"
	"banyan/internal/runtime/wire"
	"banyan/internal/study/driver/loggp"
	"banyan/internal/study/replication/pattern"
)

// realNode is a node whose process is a real one, package process with all its machines, on the
// same simulated network. It spends the processor's time by what the process does at its
// transport. The frames of the detector, the views and the shutdown are dropped: all hear of deaths
// as in the simulation.
type realNode struct {
	model *node // of the simulation: its job, numbers and draws
	p     *process.Process
	port  *loggp.Port[realBody]

	now            proto.Time
	phase          phase
	until, listens proto.Time
	ops            []pattern.Op
	op, step       int
	sends          int64
	underway       []process.Handle
	owed           []loan

	finishedAt   proto.Time
	peak         uint64
	peakMessages int
	log          *[]string
}

type realBody struct {
	header  wire.Header
	payload []byte
	news    bool
}

// Class implements loggp.Body: a real process looks at each frame at once.
func (b realBody) Class() loggp.Class {
	if b.news {
		return loggp.Urgent
	}
	return loggp.Prompt
}

type loan struct {
	to    proto.Proc
	token uint64
}

func (n *realNode) Died(detector.Report)            {}
func (n *realNode) Revoked(uint64)                  {}
func (n *realNode) RankLost(proto.Rank)             {}
func (n *realNode) Viewed(*membership.View, bool)   {}
func (n *realNode) Apart(proto.Proc)                {}
func (n *realNode) Minority([]membership.Departure) {}
func (n *realNode) Fenced(proto.Proc)               {}
func (n *realNode) Aborted(proto.Proc, int)         {}
func (n *realNode) HealFailed(error)                {}
func (n *realNode) Heals(process.HealStep)          {}
func (n *realNode) SafepointWanted(bool)            {}
func (n *realNode) Queued(proto.Proc) int           { return 0 }
func (n *realNode) Fence(proto.Proc)                {}

// Send implements process.Net: a frame leaves.
func (n *realNode) Send(to proto.Proc, h *wire.Header, payload []byte, token uint64) {
	c := &n.model.job.settings.Costs
	size := int64(len(payload))
	switch h.Kind {
	case wire.KindEager, wire.KindOffer, wire.KindData:
		n.now += c.Overhead + c.copying(size)
	case wire.KindPull:
		n.now += c.Overhead
	case wire.KindAck, wire.KindReceived:
		n.now += c.Acknowledge
	default:
		return
	}
	hh := *h
	hh.Length = uint32(size)
	if token != 0 {
		n.owed = append(n.owed, loan{to, token})
	}
	at := n.port.Send(n.now, to, uint32(headerSize+size), realBody{header: hh, payload: slices.Clone(payload)})
	*n.log = append(*n.log, logged(at, n.model.self, to, h.Kind.String(), headerSize+size))
}

func logged(at proto.Time, from, to proto.Proc, kind string, size int64) string {
	return fmt.Sprintf("%12d %d → %d %s %d", at, from, to, kind, size)
}

// settle gives back what the transport has sent, and notes what is retained.
func (n *realNode) settle() {
	n.p.At(n.now)
	for len(n.owed) > 0 {
		l := n.owed[0]
		n.owed = n.owed[1:]
		n.p.Sent(l.to, l.token)
	}
	messages, bytes := n.p.Retained()
	n.peak, n.peakMessages = max(n.peak, bytes), max(n.peakMessages, messages)
}

func (n *realNode) Act(port *loggp.Port[realBody], end proto.Time) proto.Time {
	n.port = port
	for n.phase != dead && n.now < n.model.dies {
		if n.phase == running {
			n.run()
			continue
		}
		next := n.port.Next()
		if d := n.p.Deadline(); d < far {
			next = min(next, max(d, n.now))
		}
		if n.phase == computing {
			next = max(next, n.listens)
		}
		next = min(next, n.port.NextUrgent())
		if n.phase == computing && n.until <= max(next, n.now) {
			if n.until >= end && n.model.dies < end {
				break
			}
			if n.until >= end {
				port.Ignore(min(n.until, n.listens))
				return min(n.until, n.model.dies)
			}
			n.now, n.phase = n.until, running
			continue
		}
		if next >= end && n.model.dies >= end {
			if port.Ignore(0); n.phase == computing {
				port.Ignore(n.listens)
				next = min(n.until, next)
			}
			return min(next, n.model.dies)
		}
		if max(next, n.now) >= n.model.dies {
			break
		}
		n.handle(next)
	}
	if n.phase != dead {
		n.die()
	}
	port.Clear()
	return proto.Never
}

// far is later than any deadline of acknowledgements: those of the detector and the views.
const far = proto.Time(1e14)

func (n *realNode) handle(came proto.Time) {
	at := max(came, n.now)
	n.now = at
	n.p.At(at)
	switch {
	case n.port.NextUrgent() <= came:
		n.p.Evidence(n.port.TakeUrgent().From, 0)
	case n.port.Next() <= came:
		n.frame(n.port.Take())
	default:
		n.p.Tick()
	}
	n.settle()
	n.p.Work()
	if n.phase == finished {
		n.p.Flushed()
	}
	if n.phase == computing {
		n.until += n.now - at
	}
	if n.phase == waiting && n.through() {
		n.op++
		n.phase = running
	}
}

func (n *realNode) frame(f *loggp.Frame[realBody]) {
	c := &n.model.job.settings.Costs
	b := &f.Body
	switch b.header.Kind {
	case wire.KindEager, wire.KindOffer:
		n.now += c.Overhead + c.copying(int64(len(b.payload))) + c.Replication
	case wire.KindData:
		n.now += c.Overhead + c.copying(int64(len(b.payload)))
	case wire.KindPull:
		n.now += c.Overhead
	default:
		n.now += c.Acknowledge
	}
	n.p.At(n.now)
	n.p.Frame(f.From, &b.header, b.payload)
}

// through says whether the present operation, a Wait, is over, and takes what has ended.
func (n *realNode) through() bool {
	left := 0
	for _, h := range n.underway {
		if !n.p.Done(h) {
			left++
		}
	}
	if left > int(n.ops[n.op].Bytes) {
		return false
	}
	n.underway = slices.DeleteFunc(n.underway, func(h process.Handle) bool {
		done := n.p.Done(h)
		if done {
			if _, err := n.p.Take(h); err != nil {
				panic(err)
			}
		}
		return done
	})
	return true
}

func (n *realNode) run() {
	j := n.model.job
	c := &j.settings.Costs
	for n.now < n.model.dies && n.phase == running {
		n.p.At(n.now)
		if n.op == len(n.ops) {
			if n.step == j.settings.Steps {
				n.phase, n.finishedAt = finished, n.now
				n.p.Finish()
				n.p.Flushed()
				break
			}
			if j.crashes != nil && j.crashes.strikesStep(n.model.self, n.step) {
				n.model.dies = n.now
				n.die()
				break
			}
			n.ops, n.op = j.pattern.Step(n.model.rank, n.ops[:0]), 0
			n.step++
			continue
		}
		op := n.ops[n.op]
		context := contextOf(op.Collective)
		switch op.Kind {
		case pattern.Compute:
			n.until, n.listens, n.phase = n.now+n.model.duration(op.Share), n.now+progressTick, computing
		case pattern.Receive:
			if m, found, _ := n.p.Probe(context, op.Peer, op.Tag); found && m.Bytes <= process.EagerLimit {
				n.now += c.copying(op.Bytes)
			}
			n.underway = append(n.underway, n.p.Receive(context, op.Peer, op.Tag, make([]byte, op.Bytes)))
		case pattern.Send:
			n.sends++
			if j.crashes != nil && j.crashes.strikesSend(n.model.self, n.sends) {
				n.model.dies = n.now
				n.die()
				return
			}
			if op.Bytes <= process.EagerLimit {
				n.now += c.Replication + c.copying(op.Bytes+j.stampSize)
			}
			if h := n.p.Send(context, op.Peer, op.Tag, make([]byte, op.Bytes)); h != (process.Handle{}) {
				n.underway = append(n.underway, h)
			}
			n.settle()
		case pattern.Wait:
			if !n.through() {
				n.phase = waiting
				return
			}
		}
		n.op++
	}
	n.settle()
}

func (n *realNode) die() {
	n.phase = dead
	n.now = max(n.now, n.model.dies)
	for q := range proto.Proc(n.model.job.layout.Procs()) {
		if q != n.model.self {
			n.port.Post(n.model.dies+n.model.job.settings.Detection, q, realBody{news: true})
		}
	}
}

// playReal runs a job of real processes, and playModel the same one simulated. Both return their
// frames, and what the processes retained at most.
func playReal(t *testing.T, s Settings) (log []string, peaks []string) {
	j, models, err := newJob(s, 1)
	if err != nil {
		t.Fatal(err)
	}
	var members []proto.Rank
	for r := range proto.Rank(s.Pattern.Ranks) {
		members = append(members, r)
	}
	var list []loggp.Node[realBody]
	for _, m := range models {
		n := &realNode{model: m, log: &log}
		n.p = process.New(process.Config{
			Self: m.self, Layout: j.layout, Mirror: s.Mirror, Period: 20 * far, Timeout: 100 * far,
		}, 0, n, n)
		for context := range uint64(2) {
			if err := n.p.OpenContext(2+context, members, context == 1); err != nil {
				t.Fatal(err)
			}
		}
		list = append(list, n)
	}
	if err := loggp.New(s.Costs.Model, list, 1).Run(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	for _, n := range list {
		n := n.(*realNode)
		if n.phase != finished && n.phase != dead {
			t.Fatalf("%v: %v waits for ever in step %d", s.Pattern, n.model.self, n.step)
		}
		peaks = append(peaks, fmt.Sprintf("%v: %d messages, %d bytes, through at %d", n.model.self, n.peakMessages, n.peak, n.finishedAt))
	}
	slices.Sort(log)
	return log, peaks
}

func playModel(t *testing.T, s Settings) (log []string, peaks []string) {
	j, nodes, err := newJob(s, 1)
	if err != nil {
		t.Fatal(err)
	}
	names := map[kind]wire.Kind{
		eager: wire.KindEager, offer: wire.KindOffer, pull: wire.KindPull, data: wire.KindData, ack: wire.KindAck, report: wire.KindReceived,
	}
	j.sent = func(at proto.Time, from, to proto.Proc, k kind, size int64) {
		log = append(log, logged(at, from, to, names[k].String(), size))
	}
	list := make([]loggp.Node[body], len(nodes))
	for i, n := range nodes {
		list[i] = n
	}
	if err := loggp.New(s.Costs.Model, list, 1).Run(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := j.outcome(nodes); err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		peaks = append(peaks, fmt.Sprintf("%v: %d messages, %d bytes, through at %d", n.self, n.tally.peakMessages, n.tally.peak, n.tally.finished))
	}
	slices.Sort(log)
	return log, peaks
}

// Simulated processes and real ones send the same frames, of the same sizes, at the same time; they
// retain the same, and are through at the same time. There is no tolerance.
func TestFramesOfRealProcesses(t *testing.T) {
	for _, c := range []struct {
		kind   string
		bytes  int64
		any    bool
		mirror bool
		degree int
		plan   string
		slow   bool // long and uneven computation: acknowledgements go by time
	}{
		{kind: "multigrid", bytes: 3000, degree: 2, slow: true},
		{kind: "halo2d", bytes: 100, degree: 3, any: true, slow: true, plan: "kill rank=5 at=100ms; kill rank=2 replica=1 at=step:6"},
		{kind: "halo2d", bytes: 1000, degree: 2},
		{kind: "halo2d", bytes: 1000, degree: 3},
		{kind: "halo2d", bytes: 20_000, degree: 2},
		{kind: "halo2d", bytes: 1000, degree: 2, any: true},
		{kind: "halo2d", bytes: 50_000, degree: 2, mirror: true},
		{kind: "stencil-cg", bytes: 5000, degree: 2},
		{kind: "stencil-cg", bytes: 100_000, degree: 2, mirror: true},
		{kind: "multigrid", bytes: 100_000, degree: 2},
		{kind: "cg", bytes: 100_000, degree: 3},
		{kind: "fft", bytes: 300, degree: 2},
		{kind: "sweep", bytes: 100, degree: 2},
		{kind: "gather", bytes: 3000, degree: 3},
		{kind: "halo2d", bytes: 1000, degree: 2, plan: "kill rank=5 at=1ms"},
		{kind: "halo2d", bytes: 1000, degree: 3, any: true, plan: "kill rank=5 at=1ms; kill rank=6 replica=1 at=send:21; kill rank=5 replica=1 at=step:11"},
		{kind: "stencil-cg", bytes: 100_000, degree: 3, plan: "kill rank=5 at=1ms; kill rank=2 replica=2 at=send:21; kill rank=5 replica=1 at=step:4"},
		{kind: "gather", bytes: 100_000, degree: 2, plan: "kill rank=0 at=1ms; kill rank=3 replica=1 at=step:5"},
		{kind: "multigrid", bytes: 70_000, degree: 2, mirror: true, plan: "kill rank=3 at=step:5"},
	} {
		s := small(c.kind, 8, c.degree)
		s.Pattern.Bytes, s.Pattern.Any, s.Mirror, s.Steps = c.bytes, c.any, c.mirror, 12
		s.Crashes = crashesOf(t, c.plan, 8, c.degree)
		if c.slow {
			s.Compute, s.Jitter = 30e6, 1
		}
		name := fmt.Sprintf("%s of %d bytes ×%d, any %v, mirror %v, %q", c.kind, c.bytes, c.degree, c.any, c.mirror, c.plan)
		real, realPeaks := playReal(t, s)
		model, modelPeaks := playModel(t, s)
		if len(real) == 0 {
			t.Fatal("no frames")
		}
		if i := firstDifference(real, model); i >= 0 {
			t.Errorf("%s: %d real frames, %d simulated; from the %dth on:\nreal\n%s\nsimulated\n%s", name, len(real), len(model), i,
				strings.Join(excerpt(real, i), "\n"), strings.Join(excerpt(model, i), "\n"))
			continue
		}
		if i := firstDifference(realPeaks, modelPeaks); i >= 0 {
			t.Errorf("%s: real %s, simulated %s", name, realPeaks[i], modelPeaks[i])
		}
	}
}

// firstDifference is the index of the first line that differs, or -1.
func firstDifference(a, b []string) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return -1
}

func excerpt(log []string, i int) []string { return log[min(len(log), max(0, i-3)):min(len(log), i+6)] }

// A simulation that differs from a real job in one cost, or in one message more in a step, is
// noticed.
func TestDifferenceShows(t *testing.T) {
	s := small("halo2d", 8, 2)
	s.Steps = 12
	real, _ := playReal(t, s)
	for name, change := range map[string]func(s *Settings){
		"acknowledge": func(s *Settings) { s.Costs.Acknowledge++ },
		"replication": func(s *Settings) { s.Costs.Replication++ },
		"copies":      func(s *Settings) { s.Costs.PerCopy += .001 },
		"stamps":      func(s *Settings) { s.NoStamps = true },
		"mirror":      func(s *Settings) { s.Mirror = true },
		"seed":        func(s *Settings) { s.Seed++ },
	} {
		changed := s
		change(&changed)
		if model, _ := playModel(t, changed); firstDifference(real, model) < 0 {
			t.Errorf("%s: no frame differs", name)
		}
	}
}
