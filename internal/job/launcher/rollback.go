package launcher

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/agent"
	"banyan/internal/job/control"
	"banyan/internal/proto"
	"banyan/internal/proto/rollback"
)

// With Config.Rollback, snapshots are taken of a job, and when a rank is lost all its processes
// start again and go on from the last one. Where ranks have replicas that is when the last of
// them dies. Package internal/proto/rollback decides what is said to whom. This file passes
// events to it and carries out its actions; epoch.go starts the processes again, repeated.go
// drops the output that they repeat, snapshotdir.go keeps snapshots on disk.

// DefaultSnapshotEvery is how often a snapshot is taken.
const DefaultSnapshotEvery = 10 * time.Second

// snapshotLimit is how long ranks may take until they stand at the same safe point. It ends the
// wait of those that stand there for those that never come. A program whose steps take longer has
// no snapshots.
const snapshotLimit = 5 * time.Minute

// copiesPause is after which time a snapshot is tried again whose memory is still being copied.
const copiesPause = time.Second

// rollbackLead leads the snapshots and rollbacks of a job. The loop owns it.
type rollbackLead struct {
	*rollback.Coordinator
	screen *repeated
	dir    *snapshotDir // nil: no snapshot is kept on disk

	begun     time.Time     // when the snapshot that is being taken was begun
	stands    time.Time     // when the first of its ranks stood still
	held      time.Duration // how long ranks stood still, at most
	paused    time.Duration // how long until they went on
	taking    cut
	committed cut
	took      time.Time    // when that was begun
	inputs    []int64      // by rank: how much input its process has read, at the present snapshot
	opaque    []int64      // by rank: how much it had read at its first safe point, if it can't tell more; -1: it can
	late      int          // snapshots that were abandoned since the last one
	onDisk    int          // parts of the present snapshot that are on disk
	wentOn    wentOn       // from what the processes were last told to go on
	joining   []proto.Proc // slots whose replacements the coordinator waits for
	costs     costs        // of the present snapshot
	copies    [2]int       // by slot: copies that are under way
	kept      map[partAt]struct{}
	freeing   int // hosts that are told to free parts
	due       *time.Timer
	deadline  proto.Time // for which a timer is set
	readiness            // of the epoch
	epoch
}

// wentOn is a moment at which all processes go on: each is told.
type wentOn struct {
	epoch    rollback.Epoch
	snapshot rollback.Snapshot
}

// cut is where a snapshot is, and how far the output of each rank was.
type cut struct {
	number rollback.Snapshot
	slot   int        // of the two memories of each process
	output [][2]int64 // by rank
}

// toDisk is every how many snapshots one goes to disk; 0: none does.
func (p *plan) toDisk() uint64 {
	if p.SnapshotDir == "" {
		return 0
	}
	return uint64(max(1, p.SnapshotDirEvery))
}

// costs are what a snapshot took, of all ranks.
type costs struct {
	bytes, changed, copied int64         // of the parts; that ranks wrote; that went to buddies
	stood                  time.Duration // the longest that a rank took to keep its part
}

func (c *costs) add(k *control.Kept) {
	if k != nil {
		c.bytes, c.changed, c.stood = c.bytes+k.Bytes, c.changed+k.Changed, max(c.stood, k.Took)
	}
}

func newRollbackLead(p *plan) *rollbackLead {
	if !p.Rollback {
		return nil
	}
	r := &rollbackLead{
		Coordinator: rollback.New(p.layout, p.toDisk(), proto.Time(snapshotLimit)), deadline: proto.Never,
		committed: cut{output: make([][2]int64, p.ranks)}, taking: cut{slot: 1, output: make([][2]int64, p.ranks)},
		kept: make(map[partAt]struct{}), inputs: make([]int64, p.size), opaque: slices.Repeat([]int64{-1}, p.size), readiness: newReadiness(p.size),
	}
	if p.Order != OrderFree && p.layout.AllReplicated() { // as process.Process.Repeats
		r.Led()
	}
	r.screen = newRepeated(p.Screen, p.ranks)
	p.Screen = r.screen
	if p.SnapshotDir != "" {
		r.dir = newSnapshotDir(p.SnapshotDir)
	}
	if p.resumed != nil {
		r.Resumes(p.resumed.number())
		r.committed.number, r.committed.output = p.resumed.number(), p.resumed.Output
		r.screen.begin(r.committed.output)
	}
	return r
}

// rewind tells the coordinator something and carries out its actions.
func (j *job) rewind(tell func(c *rollback.Coordinator, out *[]rollback.Action)) {
	r := j.back
	var out []rollback.Action
	busy := r.Busy()
	tell(r.Coordinator, &out)
	for _, a := range out {
		j.carryOutRollback(a)
	}
	if busy && !r.Busy() && j.recovery != nil {
		go j.post(j.beginAttempts) // not now: this may be in the middle of one
	}
	if deadline := r.Deadline(); deadline != r.deadline {
		if r.deadline = deadline; deadline != proto.Never {
			time.AfterFunc(time.Duration(deadline-j.clock()), func() {
				j.post(func() {
					j.rewind(func(c *rollback.Coordinator, out *[]rollback.Action) { c.Tick(j.clock(), out) })
				})
			})
		}
	}
}

// planSnapshot has the next snapshot taken when it is due.
func (j *job) planSnapshot(after time.Duration) {
	r := j.back
	if r.due != nil {
		r.due.Stop()
	}
	r.due = time.AfterFunc(max(0, after), func() { j.post(j.takeSnapshot) })
}

// takeSnapshot begins a snapshot.
func (j *job) takeSnapshot() {
	r := j.back
	if j.ending || r.falling {
		return
	}
	if wait := r.wait(time.Now(), j.SnapshotEvery); wait > 0 {
		j.planSnapshot(wait)
		return
	}
	if r.copies[1-r.committed.slot] > 0 || r.freeing > 0 {
		j.planSnapshot(min(j.SnapshotEvery, copiesPause))
		return
	}
	j.rewind(func(c *rollback.Coordinator, out *[]rollback.Action) {
		if n := c.Take(j.clock(), out); n != rollback.Beginning {
			r.begun, r.onDisk, r.costs, r.stands, r.held = time.Now(), 0, costs{}, time.Time{}, 0
			r.taking = cut{number: n, slot: 1 - r.committed.slot, output: make([][2]int64, j.ranks)}
			slog.Debug("snapshot", "number", n)
		} else {
			j.planSnapshot(j.SnapshotEvery) // the last one isn't loaded, or committed, yet
		}
	})
}

// carryOutRollback carries out an action of the coordinator.
func (j *job) carryOutRollback(a rollback.Action) {
	r := j.back
	switch a.Kind {
	case rollback.Tell:
		x := wentOn{r.Epoch(), a.Order.Snapshot}
		if a.Order.Kind == rollback.Resume && x.snapshot != rollback.Beginning && x != r.wentOn {
			r.wentOn = x
			if a.Order.Snapshot != r.committed.number {
				r.paused = time.Since(r.begun)
				if !r.stands.IsZero() {
					r.held = time.Since(r.stands)
				}
			} else { // it was loaded
				if n := len(j.report.Rollbacks); n > 0 {
					j.report.Rollbacks[n-1].Restored = new(Seconds(time.Since(r.fell)))
				}
				j.planSnapshot(j.SnapshotEvery)
			}
		}
		p := j.procs[a.Proc]
		p.Say(control.Message{Type: control.SnapshotOrder, Order: &a.Order, Code: r.taking.slot, Input: r.inputs[a.Proc]})
	case rollback.Copy:
		j.copyPart(a)
	case rollback.Commit:
		j.committedSnapshot()
	case rollback.Discard:
		r.dir.discard(a.Snapshot)
		// Ranks that stood for others in vain stand for a tenth of the time at most.
		j.planSnapshot(max(j.SnapshotEvery, 10*time.Since(r.begun)) << min(r.late, 6))
	case rollback.Kill:
		r.falling = true
		j.signalAll(unix.SIGKILL)
	case rollback.Restart:
		r.next = &a
		j.startAgain()
	case rollback.Abandoned:
		r.late++
		j.warnOnce("snapshot: "+a.Text, fmt.Sprintf("no snapshot was taken: %s; the job goes on, and the next one is tried", a.Text))
	case rollback.Apart:
		j.warn(a.Text)
	case rollback.Fail:
		j.note("the job can't go back: " + a.Text)
		j.end(OutcomeRankLost, a.Text, r.code)
		j.killAll()
	}
}

// committedSnapshot notes that the job would go back to the snapshot that was being taken.
func (j *job) committedSnapshot() {
	r := j.back
	r.committed, r.took, r.late = r.taking, r.begun, 0
	r.screen.keepFrom(r.committed.output)
	j.freeParts()
	r.dir.commit(r.committed.number)
	j.report.Snapshots = append(j.report.Snapshots, SnapshotReport{
		Number: uint64(r.committed.number), At: Seconds(r.begun.Sub(j.started)), Paused: Seconds(r.paused), Held: Seconds(r.held), Took: Seconds(time.Since(r.begun)),
		Stood: Seconds(r.costs.stood), Bytes: r.costs.bytes, Changed: r.costs.changed, Copied: r.costs.copied,
	})
	slog.Debug("committed", "snapshot", r.committed.number, "paused", r.paused)
	j.planSnapshot(j.SnapshotEvery - time.Since(r.begun))
}

// reported takes a report of a process for the coordinator.
func (j *job) reported(p *process, x *rollback.Report, kept *control.Kept) {
	if j.back == nil || x == nil || p != j.procs[p.id] || j.back.falling {
		return
	}
	if x.Kind == rollback.Paused && x.Snapshot == j.back.taking.number && j.back.stands.IsZero() {
		j.back.stands = time.Now()
	}
	heard := func() {
		j.rewind(func(c *rollback.Coordinator, out *[]rollback.Action) { c.Heard(j.clock(), p.id, *x, out) })
	}
	switch {
	case x.Kind == rollback.Paused && p.hasInput():
		j.askInput(p, func(read int64) {
			if p != j.procs[p.id] || j.back.falling {
				return
			}
			if first := j.back.opaque[p.id]; first >= 0 && read != first && x.Snapshot != j.back.committed.number {
				*x = rollback.Report{Kind: rollback.Unable, Epoch: x.Epoch, Snapshot: x.Snapshot,
					Why: "has read input since its first safe point, through buffers of its own"}
			}
			j.back.inputs[p.id] = read
			heard()
		})
	case x.Kind == rollback.Captured && x.Snapshot == j.back.taking.number:
		j.back.costs.add(kept)
		j.drainForSnapshot(p, heard)
	default:
		heard()
	}
}

// drainForSnapshot reads all that a process has written before it stood still.
func (j *job) drainForSnapshot(p *process, then func()) {
	out, n := j.outputs, j.back.taking.number
	go func() {
		if !p.Stdout().Drained(j.over) || !p.Stderr().Drained(j.over) {
			return
		}
		j.post(func() {
			if p == j.procs[p.id] && !j.back.falling && n == j.back.taking.number {
				rank, replica := out.slot(p.id)
				if leader, _ := j.ledger.substitute(proto.Rank(rank)); leader == replica {
					j.back.taking.output[rank] = [2]int64{out.stdouts[rank].Fed(replica), out.stderrs[rank].Fed(replica)}
				}
				then()
			}
		})
	}()
}

// atSafepoint answers a process that has come to its first safe point.
func (j *job) atSafepoint(p *process, opaque bool) {
	if j.back == nil || p != j.procs[p.id] {
		return
	}
	j.askInput(p, func(read int64) {
		if p != j.procs[p.id] {
			return
		}
		j.noteOpaque(p, opaque, read)
		p.Say(control.Message{Type: control.Noted, Input: read})
	})
}

// noteOpaque notes how much input a process had read at its first safe point, if nobody can tell
// how much of that its program has taken.
func (j *job) noteOpaque(p *process, opaque bool, read int64) {
	j.back.opaque[p.id] = -1
	if opaque && p.hasInput() {
		j.back.opaque[p.id] = read
	}
}

// prepared takes the word of a process that snapshots needn't wait for it any more.
func (j *job) prepared(p *process) {
	if j.back != nil && p == j.procs[p.id] && j.back.ready(p.id) {
		j.takeSnapshot()
	}
}

// leaving takes the word of a process that its program comes to no safe point any more.
func (j *job) leaving(p *process) {
	if j.back == nil || p != j.procs[p.id] || j.back.falling {
		return
	}
	j.rewind(func(c *rollback.Coordinator, out *[]rollback.Action) { c.Leaving(p.id, c.Epoch(), out) })
}

// checkRollback refuses what can't work, and finds the snapshot to go on from.
func (p *plan) checkRollback() error {
	switch {
	case !p.Rollback && (p.SnapshotDir != "" || p.SnapshotDirEvery != 0 || p.SnapshotEvery != 0 || p.ResumeSnapshot):
		return errors.New("snapshots are taken of jobs that go back to them: add --rollback")
	case !p.Rollback && p.MeasureCosts:
		return errors.New("--measure-costs measures snapshots and the way back to them: add --rollback")
	case !p.Rollback:
		return nil
	case p.inproc():
		return errors.New("the transport inproc has all ranks in one process: nothing would be left to go back")
	case p.Trace != "":
		return errors.New("a job that goes back can't be traced yet: leave --trace or --rollback out")
	case p.Keep != nil:
		return errors.New("a job with --rollback ends with its launcher, and can't outlive it yet: leave --detach and --on-console-loss out")
	case p.SnapshotEvery < 0:
		return fmt.Errorf("snapshots every %v make no sense", p.SnapshotEvery)
	case p.SnapshotDirEvery < 0:
		return fmt.Errorf("every %d snapshots make no sense", p.SnapshotDirEvery)
	case p.SnapshotDirEvery > 0 && p.SnapshotDir == "":
		return errors.New("--snapshot-dir-every needs the directory of the snapshots: --snapshot-dir")
	case p.ResumeSnapshot && p.SnapshotDir == "":
		return errors.New("--resume needs the directory of the snapshots: --snapshot-dir")
	}
	for i, a := range p.Agents {
		if _, is := a.(agent.SnapshotAgent); !is {
			return fmt.Errorf("--rollback: the agent of %s can't keep snapshots", p.hostName(i))
		}
	}
	p.SnapshotEvery = cmp.Or(p.SnapshotEvery, DefaultSnapshotEvery)
	return p.checkSnapshotDir()
}

// hostName is what the host of an agent is called.
func (p *plan) hostName(i int) string {
	if p.Names != nil {
		return p.Names[i]
	}
	return p.Agents[i].Host().Name
}

// checkSnapshotDir looks into the directory of snapshots.
func (p *plan) checkSnapshotDir() error {
	if p.SnapshotDir == "" {
		return nil
	}
	if err := os.MkdirAll(p.SnapshotDir, 0o777); err != nil {
		return fmt.Errorf("--snapshot-dir: %w", err)
	}
	dir := newSnapshotDir(p.SnapshotDir)
	if !p.ResumeSnapshot {
		if all := dir.numbers(); len(all) > 0 {
			return fmt.Errorf("%s has snapshots of another job: go on from them with --resume, or remove them", p.SnapshotDir)
		}
		return nil
	}
	found, damaged, err := dir.find()
	switch {
	case err != nil:
		return err
	case found.Ranks != p.ranks:
		return fmt.Errorf("%s has snapshots of a job of %d ranks, not %d", p.SnapshotDir, found.Ranks, p.ranks)
	}
	p.resumed, p.damaged = found, damaged
	return nil
}

// beginRollback begins the first epoch.
func (j *job) beginRollback() {
	r := j.back
	if r == nil {
		return
	}
	for _, text := range j.damaged {
		j.warn(fmt.Sprintf("%s; the one before is taken", text))
	}
	if j.resumed != nil {
		j.note(fmt.Sprintf("the job goes on from snapshot %d in %s", j.resumed.Number, j.SnapshotDir))
	}
	j.beginEpoch()
	j.planSnapshot(j.SnapshotEvery)
}

// endRollback ends what the job has begun for snapshots.
func (j *job) endRollback() {
	r := j.back
	if r == nil {
		return
	}
	if r.due != nil {
		r.due.Stop()
	}
	r.screen.end()
	if j.MeasureCosts {
		j.note(j.report.Costs())
	}
	if !j.ending && j.ledger.exitCode() == 0 {
		r.dir.clear() // nobody goes on from there
	}
}
