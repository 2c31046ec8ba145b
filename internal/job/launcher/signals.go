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

// signals are the signals to the launcher that end, suspend or resume the job.
type signals struct {
	ending  chan os.Signal
	suspend chan os.Signal
	resume  chan os.Signal
}

func catchSignals() *signals {
	s := &signals{make(chan os.Signal, 2), make(chan os.Signal, 1), make(chan os.Signal, 1)}
	for _, sig := range []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT} {
		if !signal.Ignored(sig) { // as nohup does
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

// signalled ends the job because of a signal, at once if there was one before. It returns when what
// is left then is to be killed.
func (j *job) signalled(sig os.Signal) <-chan time.Time {
	if j.interrupted || j.ending {
		j.killAll()
	}
	j.interrupt(sig.(syscall.Signal))
	return time.After(killDelay)
}

// interrupt ends the job because of a signal to the launcher.
func (j *job) interrupt(sig syscall.Signal) {
	j.interrupted = true
	if j.ending {
		return
	}
	reason := fmt.Sprintf("ended by signal %d (%v)", int(sig), sig)
	j.end(OutcomeInterrupted, reason, 128+int(sig))
	for _, p := range j.processes() {
		p.Say(control.Message{Type: control.Shutdown, Text: reason})
	}
	j.spawned.signal(sig)
	j.signalAll(sig)
	j.signalAll(unix.SIGCONT) // a stopped process doesn't see the signal
}

// suspend stops the job and the launcher, until SIGCONT continues the launcher.
//
// If agents of other hosts wait for the launcher, it can't stop: their processes would be held for
// dead. So such a job isn't suspended.
func (j *job) suspend(s *signals) {
	if len(j.Agents) > 0 {
		j.note("a job whose processes are on other hosts can't be suspended: it goes on")
		return
	}
	select {
	case <-s.resume: // from an earlier suspension
	default:
	}
	var mine []*process
	for _, p := range j.processes() {
		if now := p.State(); !now.Ended && !now.Stopped { // a planned fault may have stopped it
			mine = append(mine, p)
			p.Signal(unix.SIGSTOP)
		}
	}
	unix.Kill(os.Getpid(), unix.SIGSTOP)
	<-s.resume
	for _, p := range mine {
		p.Signal(unix.SIGCONT)
	}
	clear(j.stopped)
}
