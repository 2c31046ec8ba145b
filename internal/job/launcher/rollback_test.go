package launcher

import (
	"io"
	"slices"
	"testing"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/control"
	"banyan/internal/proto"
	"banyan/internal/proto/rollback"
)

// storing is a fakeHost that keeps parts of snapshots, and says what is copied to it.
type storing struct {
	*fakeHost
	copied chan proto.Proc
	lost   bool
	gone   bool // the launcher may know that
}

// Start starts nothing on a host that is lost.
func (h *storing) Start(specs []agent.Spec) ([]agent.Process, error) {
	if h.lost {
		h.gone = true
		return nil, agent.ErrHostLost
	}
	procs, err := h.fakeHost.Start(specs)
	for _, p := range procs {
		go func() { <-p.(*fakeProcess).killed; p.(*fakeProcess).finish() }()
	}
	return procs, err
}

func (h *storing) Lost() <-chan struct{} {
	lost := make(chan struct{})
	if h.gone {
		close(lost)
	}
	return lost
}

func (h *storing) PartDigests(proto.Proc, int) (agent.PartDigests, error) {
	return agent.PartDigests{}, nil
}

func (h *storing) ReadPart(proto.Proc, int, *agent.PartBlocks) (io.ReadCloser, error) {
	return eofCloser{}, nil
}

func (h *storing) WritePart(p proto.Proc, _ int, _ *agent.PartBlocks) (io.WriteCloser, error) {
	h.copied <- p
	if h.lost {
		return nil, agent.ErrHostLost
	}
	return eofCloser{}, nil
}

type eofCloser struct{ eof }

func (eofCloser) Write(b []byte) (int, error) { return len(b), nil }
func (eofCloser) Close() error                { return nil }

// replicatedRollback is a job of one rank with two replicas, on the first two of three hosts, that
// keeps snapshots.
func replicatedRollback(t *testing.T) (*job, []*storing) {
	c := complete(Config{Replicas: 2, Heal: true, Rollback: true, Places: []int{0, 1}, Names: []string{"a", "b", "c"}, Stdout: io.Discard, Stderr: io.Discard}, nil)
	var hosts []*storing
	for _, name := range c.Names {
		h := &storing{fakeHost: &fakeHost{name: name, started: make(chan agent.Spec, 4)}, copied: make(chan proto.Proc, 4)}
		hosts, c.Agents = append(hosts, h), append(c.Agents, h)
	}
	p, err := c.check()
	if err != nil {
		t.Fatal(err)
	}
	j := newJob(p, p.Agents, nil, "test")
	j.started, j.report.Hosts = time.Now(), j.hosts.report()
	for id, host := range j.Places {
		j.procs = append(j.procs, &process{Process: newFakeProcess(false), id: proto.Proc(id), host: host, ended: make(chan struct{})})
	}
	t.Cleanup(func() {
		close(j.over)
		if j.back.due != nil {
			j.back.due.Stop()
		}
		j.notes.Close()
	})
	return j, hosts
}

// snapshot takes a snapshot at which the processes have written so much, and commits it.
func snapshot(j *job) {
	j.back.readiness = newReadiness(0)
	j.takeSnapshot()
	n := j.back.taking.number
	for _, kind := range []rollback.ReportKind{rollback.Holding, rollback.Paused, rollback.Captured} {
		for id := range j.procs {
			j.rewind(func(c *rollback.Coordinator, out *[]rollback.Action) {
				c.Heard(j.clock(), proto.Proc(id), rollback.Report{Kind: kind, Epoch: c.Epoch(), Snapshot: n}, out)
			})
		}
	}
}

// A copy of the snapshot to which the job would go back may take longer than two snapshots. The
// second of them would be written to the memory that is being copied, so it waits.
func TestSnapshotWaitsForCopies(t *testing.T) {
	j, hosts := replicatedRollback(t)
	j.beginEpoch()
	snapshot(j)
	hosts[2].copied = make(chan proto.Proc) // it takes no part for now
	j.procs[1].host = 2
	j.leave(&drain{host: 1, name: "b", over: make(chan struct{})}) // the copy there is to be made elsewhere
	if snapshot(j); j.back.taking.number != 2 || j.back.copies != [2]int{0, 1} && j.back.copies != [2]int{1, 0} {
		t.Fatalf("snapshot %d is taken, with copies %v", j.back.taking.number, j.back.copies)
	}
	if j.back.Committed() != 2 {
		t.Fatalf("snapshot %d is committed", j.back.Committed())
	}
	if snapshot(j); j.back.taking.number != 2 {
		t.Errorf("snapshot %d is taken into memory that is being copied", j.back.taking.number)
	}
	<-hosts[2].copied
	for late := time.After(10 * time.Second); j.back.copies != [2]int{}; {
		select {
		case f := <-j.events:
			f()
		case <-late:
			t.Fatal("the copy doesn't end")
		}
	}
	if snapshot(j); j.back.Committed() != 3 {
		t.Errorf("snapshot %d is committed, and 3 may be", j.back.Committed())
	}
}

// A process has moved to another host. When the next snapshot is committed the host where it was
// frees what it has kept, and others don't. Nothing is begun meanwhile that may use the memory.
func TestOldPartsAreFreed(t *testing.T) {
	j, hosts := replicatedRollback(t)
	j.beginEpoch()
	if snapshot(j); j.back.freeing > 0 {
		t.Fatal("parts are freed that are needed")
	}
	hosts[1].copied = make(chan proto.Proc)
	j.procs[1].host = 2
	j.replacementJoined(j.procs[1], 0)
	j.rewind(func(c *rollback.Coordinator, out *[]rollback.Action) { c.EndJoining(1, out) })
	if snapshot(j); j.back.Committed() != 2 || j.back.freeing != 1 {
		t.Fatalf("snapshot %d is committed, %d hosts free parts", j.back.Committed(), j.back.freeing)
	}
	if snapshot(j); j.back.taking.number != 2 {
		t.Errorf("snapshot %d is taken meanwhile", j.back.taking.number)
	}
	for range 2 {
		if p := <-hosts[1].copied; p != 1 {
			t.Errorf("the part of process %d is freed", p)
		}
	}
	for late := time.After(10 * time.Second); j.back.freeing > 0; {
		select {
		case f := <-j.events:
			f()
		case <-late:
			t.Fatal("it isn't told")
		}
	}
	if snapshot(j); j.back.Committed() != 3 || j.back.freeing > 0 || len(hosts[0].copied)+len(hosts[2].copied) > 0 {
		t.Errorf("snapshot %d is committed, %d hosts free parts", j.back.Committed(), j.back.freeing)
	}
}

// A host that is drained takes with it what its agent has kept. The job mustn't count on that: it
// has another copy made.
func TestDrainedHostKeepsNothing(t *testing.T) {
	j, hosts := replicatedRollback(t)
	j.beginEpoch()
	if snapshot(j); j.back.Committed() != 1 || len(hosts[2].copied) > 0 {
		t.Fatalf("snapshot %d is committed", j.back.Committed())
	}
	j.procs[1].host = 2 // it was replaced there
	j.leave(&drain{host: 1, name: "b", over: make(chan struct{})})
	select {
	case p := <-hosts[2].copied:
		if p != 0 {
			t.Errorf("it is the part of process %d", p)
		}
	case <-time.After(10 * time.Second):
		t.Error("there is one copy left, and no other is made")
	}
}

// While a snapshot is taken, copied or loaded no host leaves.
func TestDrainWaitsForSnapshot(t *testing.T) {
	j, _ := replicatedRollback(t)
	j.beginEpoch()
	j.back.readiness = newReadiness(0)
	j.takeSnapshot()
	d := &drain{host: 2, name: "c", over: make(chan struct{})}
	j.hosts.drains[2] = d
	if j.watchDrains(); j.hosts.left[2] {
		t.Error("it has left")
	}
	n := j.back.taking.number
	j.rewind(func(c *rollback.Coordinator, out *[]rollback.Action) {
		c.Heard(j.clock(), 0, rollback.Report{Kind: rollback.Unable, Epoch: c.Epoch(), Snapshot: n}, out)
	})
	if j.watchDrains(); !j.hosts.left[2] {
		t.Error("it hasn't left")
	}
}

// After the job has gone back the output of each replica goes on where the snapshot was taken.
func TestOutputOfReplicasGoesOn(t *testing.T) {
	j, _ := replicatedRollback(t)
	j.beginEpoch()
	j.back.committed.output = [][2]int64{{30, 4}}
	j.outputs = newOutputs(j.layout, j.Screen, false, j.Heal)
	j.collectOutput()
	var at []int64
	for k := range j.procs {
		at = append(at, j.outputs.stdouts[0].Fed(k), j.outputs.stderrs[0].Fed(k))
	}
	if want := []int64{30, 4, 30, 4}; !slices.Equal(at, want) {
		t.Errorf("%v, want %v", at, want)
	}
}

// A host is lost while parts are copied to it, after the job has gone back. The copies fail before
// the launcher hears of the loss. That isn't the job's end.
func TestHostLostMeanwhile(t *testing.T) {
	j, hosts := replicatedRollback(t)
	j.beginEpoch()
	snapshot(j)
	hosts[2].lost = true
	j.Places = []int{0, 2}
	j.beginEpoch()
	if p := <-hosts[2].copied; p != 1 {
		t.Fatalf("process %d", p)
	}
	for quiet := time.After(100 * time.Millisecond); ; { // the copy's end is among the first
		select {
		case f := <-j.events:
			f()
			continue
		case <-quiet:
		}
		break
	}
	if j.ending {
		t.Fatalf("the job has ended: %s", j.report.Reason)
	}
	if j.procs[1].host = 2; !j.back.Loading() {
		t.Error("it waits for nothing")
	}
	if j.lostSnapshots(2); !j.isFalling() || j.back.Loading() {
		t.Error("it doesn't go back")
	}
}

// A host is lost before the processes of the next epoch are started there. They start elsewhere,
// on cores of that host.
func TestHostLostAtTheStart(t *testing.T) {
	j, hosts := replicatedRollback(t)
	j.beginEpoch()
	snapshot(j)
	hosts[1].lost = true
	j.Bind, j.spawner.cores, j.hosts.found[2].Cores = BindCore, [][]int{{0}, {1}}, []int{4, 5}
	for id := range j.procs {
		j.rewind(func(c *rollback.Coordinator, out *[]rollback.Action) { c.Died(proto.Proc(id), c.Epoch(), false, out) })
	}
	j.back.read = true
	for j.startAgain(); j.isFalling() && !j.ending; {
		select {
		case f := <-j.events:
			f()
		case <-time.After(10 * time.Second):
			t.Fatal("nothing goes on")
		}
	}
	if j.ending {
		t.Fatalf("the job has ended: %s", j.report.Reason)
	}
	if !slices.Equal(j.Places, []int{0, 2}) {
		t.Errorf("they are on hosts %v", j.Places)
	}
	if x := <-hosts[2].started; !slices.Equal(x.Cores, []int{4}) {
		t.Errorf("it is bound to %v", x.Cores)
	}
}

// After the job has gone back, a process that hangs is found by another one, and killed. What was
// suspected of the process before it is none of its business.
func TestHungAfterGoingBack(t *testing.T) {
	j, _ := replicatedRollback(t)
	j.beginEpoch()
	snapshot(j)
	j.suspected(j.procs[1], control.Message{Type: control.Suspect, Proc: 0}) // it counts after evidenceGrace
	before := slices.Clone(j.procs)
	for id := range j.procs {
		j.rewind(func(c *rollback.Coordinator, out *[]rollback.Action) { c.Died(proto.Proc(id), c.Epoch(), false, out) })
	}
	j.back.read = true
	handle := func(until func() bool) {
		for late := time.After(10 * time.Second); !until(); {
			select {
			case f := <-j.events:
				f()
			case <-time.After(time.Millisecond):
			case <-late:
				t.Fatal("nothing goes on")
			}
		}
	}
	j.startAgain()
	handle(func() bool { return !j.isFalling() })
	over := time.Now().Add(2 * evidenceGrace)
	handle(func() bool { return time.Now().After(over) })
	killed := func(p *process) bool {
		select {
		case <-p.Process.(*fakeProcess).killed:
			return true
		default:
			return false
		}
	}
	if j.procs[0] == before[0] || j.procs[1] == before[1] || killed(j.procs[0]) {
		t.Fatal("a process is killed for the one before it, or none was started")
	}
	hung := j.procs[1]
	j.suspected(before[0], control.Message{Type: control.Suspect, Proc: 1, Incarnation: hung.incarnation, Silent: time.Second})
	if !killed(hung) || killed(j.procs[0]) {
		t.Errorf("killed: %t, the one that found it: %t", killed(hung), killed(j.procs[0]))
	}
	if e := j.ledger.entries[1]; !e.fenced || e.by != 0 || e.silent != time.Second {
		t.Errorf("it counts as %+v", e)
	}
}
