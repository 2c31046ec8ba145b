package launcher

import (
	"fmt"
	"time"
)

// killDelay is how long interrupted processes get to end by themselves.
const killDelay = 2 * time.Second

// loop owns the job until every process has ended and all output is out.
func (j *job) loop(s *signals) {
	ticker := time.NewTicker(j.HeartbeatTimeout / 2)
	defer ticker.Stop()
	tracers := newPatrol(j.HeartbeatTimeout / 4)
	j.drained = j.awaitOutputs()
	var giveUp <-chan time.Time // set when the job is interrupted and has only output left
	var kill <-chan time.Time
	var late <-chan time.Time
	stop := j.Stop
	counted, endCounting := j.countTicks()
	defer endCounting()
	if j.Limit > 0 {
		late = time.After(j.Limit - time.Since(j.started))
	}
	for alive := true; alive; {
		j.watchDrains()
		j.tellStatus()
		j.watch()
		select {
		case f := <-j.events:
			f()
		case a := <-j.Arrivals:
			j.arrived(a)
		case now := <-ticker.C:
			j.watchStopped(now)
			j.killAgain()
		case <-tracers.due:
			tracers.make(j.watchTracers)
		case <-j.departures.due:
			j.tellDepartures()
		case <-s.suspend:
			j.suspend(s)
		case sig := <-s.ending:
			kill = j.signalled(sig)
		case sig := <-j.Signals:
			kill = j.signalled(sig)
		case <-kill:
			j.killAll()
		case <-counted:
			j.tellCounters()
		case <-late:
			j.timedOut()
		case <-stop:
			stop = nil
			j.halt()
		case <-j.drained:
			alive = !j.outputsEnded() || j.awaitSpawned()
		case <-j.spawned.over():
			alive = false
		case <-giveUp:
			alive = false
		}
		if j.running == 0 && j.interrupted && giveUp == nil {
			// The terminal may be stuck.
			giveUp = time.After(killDelay)
		}
		alive = alive && !j.abandonedByAll()
	}
	j.finish()
}

// awaitOutputs gives what is closed when all output is read.
func (j *job) awaitOutputs() <-chan struct{} {
	drained := make(chan struct{})
	go func(o *outputs) { o.wait(); close(drained) }(j.outputs)
	return drained
}

// finish completes the report.
func (j *job) finish() {
	j.endSpan()
	// The goroutines that read the output may have posted events at last.
	for len(j.events) > 0 {
		(<-j.events)()
	}
	j.endReplacements()
	j.endRollback()
	r := &j.report
	r.Duration = Seconds(time.Since(j.started))
	lacks, err := j.recording.merge(j.plan)
	if lacks != "" {
		j.warn(lacks)
	}
	if err != nil {
		j.warn(fmt.Sprintf("the trace: %v", err))
	}
	if !j.ending {
		r.LostRanks = j.ledger.lostRanks()
		r.ExitCode = j.ledger.exitCode()
		if r.ExitCode == 0 {
			r.ExitCode = j.spawned.code()
		}
		if r.ExitCode == 0 && j.outputError != nil {
			r.ExitCode = 1
		}
	}
	j.tellEnd()
	j.notes.Close()
	select {
	case <-j.notes.Drained():
	case <-time.After(killDelay):
		// The reader of stderr is stuck.
	}
}
