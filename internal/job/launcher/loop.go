package launcher

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/control"
)

// signals are those that end or suspend the job.
type signals struct {
	ending  chan os.Signal
	suspend chan os.Signal
	resume  chan os.Signal
}

func catchSignals() *signals {
	s := &signals{make(chan os.Signal, 2), make(chan os.Signal, 1), make(chan os.Signal, 1)}
	for _, sig := range []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT} {
		if !signal.Ignored(sig) { // as with nohup
			signal.Notify(s.ending, sig)
		}
	}
	if !signal.Ignored(unix.SIGTSTP) {
		signal.Notify(s.suspend, unix.SIGTSTP)
	}
	signal.Notify(s.resume, unix.SIGCONT)
	return s
}

func (s *signals) release() {
	signal.Stop(s.ending)
	signal.Stop(s.suspend)
	signal.Stop(s.resume)
}

// loop owns the job until every process has ended and all output is out.
func (j *job) loop(s *signals) {
	ticker := time.NewTicker(j.HeartbeatTimeout / 2)
	defer ticker.Stop()
	tracers := newPatrol(j.HeartbeatTimeout / 4)
	drained := make(chan struct{})
	go func() { j.copies.Wait(); close(drained) }()
	var hurry <-chan time.Time // set when output is no longer waited for
	var kill <-chan time.Time
	var late <-chan time.Time
	stop := j.Stop
	if j.Limit > 0 {
		late = time.After(j.Limit - time.Since(j.started))
	}
	for alive := true; alive; {
		select {
		case f := <-j.events:
			f()
		case now := <-ticker.C:
			j.watch(now)
		case <-tracers.due:
			tracers.make(j.watchTracers)
		case <-s.suspend:
			j.suspend(s)
		case sig := <-s.ending:
			if j.interrupted || j.ending {
				j.killAll()
			}
			j.interrupt(sig.(syscall.Signal))
			kill = time.After(killDelay)
		case <-kill:
			j.killAll()
		case <-late:
			j.timedOut()
		case <-stop:
			stop = nil
			j.halt()
		case <-drained:
			alive = false
		case <-hurry:
			alive = false
		}
		if j.running == 0 && j.interrupted && hurry == nil {
			// The terminal may be what is stuck.
			hurry = time.After(killDelay)
		}
	}
	j.finish(drained)
}

// interrupt ends the job because of a signal to the launcher.
func (j *job) interrupt(sig syscall.Signal) {
	j.interrupted = true
	if j.ending {
		return
	}
	reason := fmt.Sprintf("ended by signal %d (%v)", int(sig), sig)
	j.end(OutcomeInterrupted, reason, 128+int(sig))
	for _, p := range j.everyone() {
		p.news.put(control.Message{Type: control.Shutdown, Text: reason})
	}
	j.signalAll(sig)
	j.signalAll(unix.SIGCONT) // a stopped process doesn't see the signal
}

// timedOut ends a job that has had its time.
func (j *job) timedOut() {
	if j.ending || j.running == 0 {
		return
	}
	reason := fmt.Sprintf("the job has taken longer than its limit of %v", j.Limit)
	j.note(reason)
	j.end(OutcomeTimedOut, reason, CodeTimedOut)
	j.explain()
}

// halt ends a job that nobody wants to go on.
func (j *job) halt() {
	if !j.ending && j.running > 0 {
		j.end(OutcomeInterrupted, "stopped by who started it", 1)
		j.killAll()
	}
}

// suspend stops the job and the launcher, until somebody continues the
// launcher.
func (j *job) suspend(s *signals) {
	select {
	case <-s.resume: // an old one
	default:
	}
	var mine []*process
	for _, p := range j.everyone() {
		if !p.ended() && !p.stopped() { // a planned fault may have stopped it
			mine = append(mine, p)
			p.signal(unix.SIGSTOP)
		}
	}
	unix.Kill(os.Getpid(), unix.SIGSTOP)
	<-s.resume
	for _, p := range mine {
		p.signal(unix.SIGCONT)
	}
	clear(j.stopped)
}

// finish completes the report.
func (j *job) finish(drained <-chan struct{}) {
	// What the last Copies told may still be on its way.
	for len(j.events) > 0 {
		(<-j.events)()
	}
	j.reapReplacement()
	r := &j.report
	r.Duration = Seconds(time.Since(j.started))
	if err := j.recording.merge(j.plan); err != nil {
		j.warn(fmt.Sprintf("the trace: %v", err))
	}
	if !j.ending {
		r.LostRanks = j.ledger.lostRanks()
		r.ExitCode = j.ledger.exitCode()
		if r.ExitCode == 0 && j.outputError != nil {
			r.ExitCode = 1
		}
	}
	j.notes.close()
	select {
	case <-j.notes.drained:
	case <-time.After(killDelay):
		// Nobody reads stderr.
	}
}
