package launcher

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/control"
	"banyan/internal/job/recovery"
	"banyan/internal/proto"
)

// process is a started process, as its launcher sees it. The loop owns the fields that aren't set
// when it is started.
type process struct {
	id          proto.Proc
	incarnation proto.Incarnation // how many processes filled its replica slot before
	handle      *os.Process
	pid         int

	// The launcher's ends of the process's connections.
	stdin          *os.File // nil unless the process gets the job's input
	otherEnd       *os.File // of stdin, if the launcher wants to know how much is read
	stdout, stderr *tap
	pmi            *os.File
	lifeline       *control.Conn
	outbox         *queue[control.Message] // messages on their way to the process
	saidAll        chan struct{}           // closed when it has said all it ever says

	// Of a replacement: its output is read; a view has it, so others observe it.
	follows, member bool
	// Of a donor: how many reads of its output to the end are under way, and what to call after
	// the last of them.
	drains     int
	afterDrain func()

	ended   chan struct{} // closed when it is known how it ended
	inOrder bool          // valid then

	mu     sync.Mutex
	reaped bool // another process may have its number
}

// identity is the process as package recovery knows it.
func (p *process) identity() recovery.Process {
	return recovery.Process{Proc: p.id, Incarnation: p.incarnation}
}

// sink is the process's input, for the feeder.
func (p *process) sink() sink {
	s := sink{w: p.stdin}
	if p.otherEnd != nil {
		s.otherEnd, _ = p.otherEnd.SyscallConn() // succeeds for an open file
	}
	return s
}

// wait waits for the process to end, kills what it leaves in its group, and returns its status and
// when it ended. By then the loop has been told what the process said last.
func (p *process) wait() (unix.WaitStatus, time.Time) {
	for {
		// The process isn't reaped yet: that keeps the number of its group from being reused.
		err := unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			break
		}
	}
	at := time.Now()
	p.signal(unix.SIGKILL)
	select {
	case <-p.saidAll:
	case <-time.After(lastWordsLimit): // a descendant holds the lifeline
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reaped = true
	state, err := p.handle.Wait()
	if err != nil {
		// This can't happen: the process has ended, and only this goroutine reaps it.
		panic(fmt.Sprintf("launcher: reaping pid %d: %v", p.pid, err))
	}
	p.outbox.close()
	p.lifeline.Close()
	p.otherEnd.Close() // does nothing for a nil File
	return unix.WaitStatus(state.Sys().(syscall.WaitStatus)), at
}

// lastWordsLimit bounds the wait for the end of a lifeline whose process has ended.
const lastWordsLimit = 200 * time.Millisecond

// signal sends a signal to the process and to what it has started.
func (p *process) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		unix.Kill(-p.pid, s)
	}
}

// hasEnded says whether the process has ended, reaped or not.
func (p *process) hasEnded() bool {
	p.mu.Lock()
	reaped := p.reaped
	p.mu.Unlock()
	return reaped || p.is(unix.WEXITED)
}

// is asks for the state of the process, and doesn't reap it.
func (p *process) is(state int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return false
	}
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, p.pid, &info, state|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == nil && info.Signo != 0
}

// discard ends a process to which the job isn't attached.
func (p *process) discard() {
	p.signal(unix.SIGKILL)
	close(p.saidAll) // nothing listens
	p.wait()
	for _, f := range []*os.File{p.stdin, p.otherEnd, p.stdout.file, p.stderr.file, p.pmi} {
		f.Close() // does nothing for a nil File
	}
}

// listen passes on what the process says, until its lifeline ends.
func (p *process) listen(say func(control.Message)) {
	defer close(p.saidAll)
	for {
		m, err := p.lifeline.Receive()
		if err != nil {
			return
		}
		say(m)
	}
}

// setEnd says how the process ended.
func (p *process) setEnd(inOrder bool) {
	p.inOrder = inOrder
	close(p.ended)
}

// leftInOrder waits until it is known how the process ended.
func (p *process) leftInOrder() bool {
	<-p.ended
	return p.inOrder
}

// isReaped says whether the process has been reaped.
func (p *process) isReaped() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reaped
}
