package launcher

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/env"
	"banyan/internal/job/pmi"
	"banyan/internal/proto"
	"banyan/internal/proto/rollback"
)

// epoch is how far the job is between two epochs.
type epoch struct {
	falling  bool             // all processes are killed, or were
	next     *rollback.Action // the restart that waits until the output of the old processes is read
	read     bool             // it is
	starting bool             // agents start the processes of the next epoch
	fell     time.Time        // when the death came
	code     int              // the exit code of the process that died last by itself
}

// fell takes the ends of processes in a job with rollback. It returns whether all that follows from
// them has been done.
func (j *job) fell(all []passing) bool {
	r := j.back
	was := r.falling
	for _, x := range all {
		if x.process != j.procs[x.id] {
			continue
		}
		saved := j.mayBeSaved(j.ledger.Rank(x.id))
		j.rewind(func(c *rollback.Coordinator, out *[]rollback.Action) {
			if x.end.kind != diedEarly {
				c.Left(x.id, c.Epoch(), out)
				return
			}
			if !was {
				r.code = x.end.exitCode()
			}
			c.Died(x.id, c.Epoch(), saved, out)
		})
		if due := r.ready(x.id); due && !r.falling {
			j.planSnapshot(0)
		}
	}
	return was
}

// goesBack says whether deaths make the job go back. A process that fails by itself before there is
// a snapshot would fail again.
func (j *job) goesBack(deaths []passing) bool {
	if j.back == nil {
		return false
	}
	return !slices.ContainsFunc(deaths, func(x passing) bool {
		return x.end.kind == diedEarly && !x.end.lost && x.end.signal == 0 && j.back.Committed() == rollback.Beginning
	})
}

// makesGoBack says whether the coordinator has all processes killed because of these ends.
func (j *job) makesGoBack(all []passing) bool {
	return j.back != nil && slices.ContainsFunc(all, func(x passing) bool {
		rank := j.ledger.Rank(x.id)
		return x.end.kind == diedEarly && (j.back.Loading() || j.ledger.rankEnd(rank).lost && !j.mayBeSaved(rank))
	})
}

// isFalling says whether the job is on its way back: what becomes of its processes is no news.
func (j *job) isFalling() bool { return j.back != nil && j.back.falling }

// replacementJoins tells the coordinator what becomes of a replacement.
func (j *job) replacementJoins(slot proto.Proc) {
	if r := j.back; r != nil && r.Joins(slot) {
		r.joining = append(r.joining, slot)
	}
}

func (j *job) replacementJoined(p *process, donor proto.Proc) {
	if r := j.back; r != nil {
		r.opaque[p.id] = r.opaque[donor]
		j.keepsPart(p.host, p.id)
		home, buddy := j.snapshotPlace(p.host)
		r.Joined(p.id, home, buddy)
	}
}

// endJoining tells the coordinator which replacements have joined, or have failed.
func (j *job) endJoining() {
	if j.back == nil {
		return
	}
	for _, slot := range slices.Clone(j.back.joining) {
		if j.recovery.AttemptAt(slot) == nil {
			j.back.joining = slices.DeleteFunc(j.back.joining, func(p proto.Proc) bool { return p == slot })
			j.rewind(func(c *rollback.Coordinator, out *[]rollback.Action) { c.EndJoining(slot, out) })
			if j.isFalling() {
				j.noteRollback(fmt.Sprintf("no replica of %v is left, and its replacement has failed", j.ledger.Rank(slot)))
				return
			}
		}
	}
}

// noteRollback reports deaths that make the job go back.
func (j *job) noteRollback(cause string) {
	r := j.back
	r.fell = time.Now()
	where := "it starts again from the beginning, since no snapshot was taken yet"
	if n := r.Committed(); n != rollback.Beginning {
		where = fmt.Sprintf("it goes back to snapshot %d", n)
		if !r.took.IsZero() {
			where += fmt.Sprintf(", taken %s ago", brief(time.Since(r.took)))
		}
	}
	switch {
	case r.Loading():
		cause += "; not all processes had their states"
	case !j.layout.Replicated():
		cause += "; the job has no replica of it"
	case !r.falling:
		cause += "; no other replica of it is left"
	}
	j.note(fmt.Sprintf("%s: %s", cause, where))
	j.report.Rollbacks = append(j.report.Rollbacks, RollbackReport{Snapshot: uint64(r.Committed()), At: Seconds(r.fell.Sub(j.started))})
}

// outputsEnded says whether the job is over, now that all output is read.
func (j *job) outputsEnded() bool {
	if j.back == nil || !j.back.falling || j.ending {
		return true
	}
	j.drained, j.back.read = nil, true
	j.startAgain()
	return false
}

// startAgain starts the processes of the next epoch, if nothing of the last one is left.
func (j *job) startAgain() {
	r := j.back
	if r.next == nil || !r.read || r.starting || r.freeing > 0 || j.ending || j.recovery != nil && len(j.recovery.replacements) > 0 {
		return
	}
	a := *r.next
	r.next, r.starting = nil, true
	places, err := j.placesAgain()
	if err != nil {
		j.cannotStart(err)
		return
	}
	j.Places = places
	j.spawner.rebind(j.procs)
	specs := j.spawner.specsAgain(a, r.committed.slot)
	go func() {
		procs, err := j.spawner.start(specs)
		j.post(func() {
			switch {
			case err == nil:
				j.beganAgain(procs)
			case errors.Is(err, agent.ErrHostLost): // another host may do
				r.next, r.starting = &a, false
				j.startAgain()
			default:
				j.cannotStart(err)
			}
		})
	}()
}

// cannotStart ends the job, because its processes can't start again.
func (j *job) cannotStart(err error) {
	j.back.starting = false
	if j.ending {
		return
	}
	reason := fmt.Sprintf("the job can't start again: %v", err)
	j.note(reason)
	j.end(OutcomeRankLost, reason, j.back.code)
}

// abandonedByAll says whether a job that is ending has nothing left that would tell the loop so.
func (j *job) abandonedByAll() bool {
	return j.back != nil && j.ending && j.back.read && j.running == 0 && !j.back.starting
}

// beganAgain connects the processes of an epoch.
func (j *job) beganAgain(procs []*process) {
	r := j.back
	r.starting = false
	if j.ending {
		for _, p := range procs {
			discard(p)
		}
		return
	}
	r.falling, r.read, r.readiness = false, false, newReadiness(j.size)
	j.procs, j.running = procs, len(procs)
	j.ledger = newLedger(j.layout)
	j.recovery, r.joining = newRecoveryLead(j.plan), nil
	clear(j.injected)
	clear(j.stopped)
	j.departures = departures{}
	j.server = j.newServer(fmt.Sprintf("banyan-%d-%d", os.Getpid(), r.Epoch()))
	j.outputs = newOutputs(j.layout, j.Screen, false, j.Heal)
	j.collectOutput()
	for _, p := range procs {
		j.outputs.read(p)
		j.attach(p, j.said, j.reaped)
		if p.hasInput() {
			lost := func() {
				j.note(fmt.Sprintf("the input isn't there any more from its beginning: the launcher keeps %d MiB", inputKept>>20))
				j.end(OutcomeRankLost, "the input can't be given again", 1)
				j.killAll()
			}
			if !j.feeder.replace(j.ledger.Replica(p.id), sink{w: p.Stdin()}, func() { j.post(lost) }) {
				lost()
				return
			}
		}
	}
	j.outputs.endRanks()
	j.drained = j.awaitOutputs()
	if n := len(j.report.Rollbacks); n > 0 {
		j.report.Rollbacks[n-1].Took = Seconds(time.Since(r.fell))
	}
	j.beginEpoch()
	j.planSnapshot(j.SnapshotEvery)
}

// beginEpoch tells the coordinator where the processes are, and where their second copies go.
func (j *job) beginEpoch() {
	home, buddy := make([]rollback.Host, j.size), make([]rollback.Host, j.size)
	for id, host := range j.Places {
		j.keepsPart(host, proto.Proc(id))
		home[id], buddy[id] = j.snapshotPlace(host)
	}
	j.rewind(func(c *rollback.Coordinator, out *[]rollback.Action) { c.Began(home, buddy, out) })
}

// snapshotPlace says where a process on a host keeps its part, and where a second copy goes.
func (j *job) snapshotPlace(host int) (home, buddy rollback.Host) {
	k := j.hosts.buddy(host)
	switch f := j.hosts.found; {
	case k >= 0:
		if f[k].Boot == f[host].Boot {
			j.warnOnce("buddies", fmt.Sprintf("both copies of a snapshot are on one machine: %s and %s share a kernel", f[host].Name, f[k].Name))
		}
		return rollback.Host(host), rollback.Host(k)
	case j.hosts.several():
		j.warnOnce("buddies", "snapshots have one copy from now on: no other host is left")
	}
	return rollback.Host(host), rollback.NoHost
}

// lostSnapshots tells the coordinator that what a host has kept is lost.
func (j *job) lostSnapshots(host int) {
	buddy := make([]rollback.Host, j.size)
	for id, p := range j.procs {
		_, buddy[id] = j.snapshotPlace(p.host)
	}
	j.rewind(func(c *rollback.Coordinator, out *[]rollback.Action) { c.HostLost(rollback.Host(host), buddy, out) })
}

// buddy is the host that keeps second copies for another one, -1 if there is no other. It is the
// next living one in another rack, or else on another machine, or else any.
func (h *hosts) buddy(host int) int {
	living := h.living()
	best, good := -1, 0
	for i := 1; i < len(living); i++ {
		k := (host + i) % len(living)
		how := 1
		if h.found[k].Boot != h.found[host].Boot {
			how = 2
			if h.found[k].Rack != h.found[host].Rack {
				how = 3
			}
		}
		if living[k] && how > good {
			best, good = k, how
		}
	}
	return best
}

// placesAgain says where all processes start again: where they were last, or, if that host is lost,
// where fewest are; on one that has no other replica of the rank if there is one.
func (j *job) placesAgain() ([]int, error) {
	places, living := make([]int, j.size), j.hosts.living()
	load := make([]int, len(living))
	for id, p := range j.procs {
		places[id] = p.host
		load[p.host]++
	}
	for id, was := range places {
		if living[was] {
			continue
		}
		best, shared := -1, false
		for host := range living {
			if !living[host] {
				continue
			}
			if shares := j.hasReplica(proto.Proc(id), host, places); best < 0 || shared && !shares || shared == shares && load[host] < load[best] {
				best, shared = host, shares
			}
		}
		if best < 0 {
			return nil, fmt.Errorf("no host is left")
		}
		load[best]++
		places[id] = best
	}
	return places, nil
}

// hasReplica says whether another replica of a process's rank has its place on a host.
func (j *job) hasReplica(id proto.Proc, host int, places []int) bool {
	rank := j.layout.Rank(id)
	for k := range j.layout.Degree(rank) {
		if q := j.layout.Proc(rank, k); q != id && places[q] == host {
			return true
		}
	}
	return false
}

// rebind binds those processes of an epoch to cores that start on another host than their
// predecessors.
func (s *spawner) rebind(predecessors []*process) {
	moves := func(id int) bool { return s.Places[id] != predecessors[id].host }
	for id, host := range s.Places {
		if moves(id) {
			s.cores[id] = s.bindMoved(proto.Proc(id), s.hosts.found[host].Cores, func(core int) (n int) {
				for q, at := range s.Places {
					if at == host && (q < id || !moves(q)) && slices.Contains(s.cores[q], core) {
						n++
					}
				}
				return n
			})
		}
	}
}

// specsAgain are the processes of an epoch, by host.
func (s *spawner) specsAgain(a rollback.Action, slot int) [][]agent.Spec {
	s.base = s.last + 1
	specs := make([][]agent.Spec, len(s.hosts.agents))
	for id, host := range s.Places {
		x := s.spec(proto.Proc(id), 0, host, []string{rollbackStart(a.Epoch, a.Snapshot, slot)})
		x.Replacement = a.Snapshot != rollback.Beginning // what it writes before it has its state was shown
		specs[host] = append(specs[host], x)
	}
	return specs
}

// rollbackStart tells a process with what it begins.
func rollbackStart(e rollback.Epoch, n rollback.Snapshot, slot int) string {
	return env.Entry(env.Rollback, env.FormatRollback(env.RollbackStart{Epoch: uint32(e), Snapshot: uint64(n), Slot: slot}))
}

// newServer makes the PMI server of the processes of an epoch.
func (j *job) newServer(name string) *pmi.Server {
	s := pmi.NewServer(j.size, name, func(rank, code int, text string) {
		j.post(func() { j.abort(j.procs[rank], code, text) })
	})
	s.SetPrograms(func(rank int) int { return j.partIndex(int(j.ledger.Rank(proto.Proc(rank)))) })
	s.SetHosts(hostNumbers(j.Places))
	s.MakeSecret()
	if j.Keep != nil {
		s.BeforeBarrier(func(open func()) { j.post(func() { j.durably(open) }) })
	}
	return s
}
