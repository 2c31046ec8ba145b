package agent

import (
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/control"
	"banyan/internal/job/mailbox"
)

// lastWordsLimit bounds the wait until somebody has heard what an ended process has said. The words
// are here; but this process, too, may lack a core.
const lastWordsLimit = 10 * time.Second

// localProcess is a process that Local has started.
type localProcess struct {
	agent *Local
	pid   int
	pidfd *os.File // nil: the kernel has none

	// Our ends of the process's connections.
	stdin          *input // nil: it has none
	stdout, stderr *tap
	pmi            *os.File
	lifeline       *control.Conn
	ear            *os.File                          // the lifeline's descriptor
	outbox         *mailbox.Mailbox[control.Message] // messages on their way to the process
	saidAll        chan struct{}                     // closed when it has said all it ever says

	mu     sync.Mutex
	reaped bool    // another process may have its number
	counts *counts // nil: it doesn't count
}

// PID implements Process.
func (p *localProcess) PID() int { return p.pid }

// Stdin implements Process.
func (p *localProcess) Stdin() Input {
	if p.stdin == nil {
		return nil
	}
	return p.stdin
}

// Stdout implements Process.
func (p *localProcess) Stdout() Output { return p.stdout }

// Stderr implements Process.
func (p *localProcess) Stderr() Output { return p.stderr }

// PMI implements Process.
func (p *localProcess) PMI() io.ReadWriteCloser { return p.pmi }

// Say implements Process.
func (p *localProcess) Say(m control.Message) { p.outbox.Put(m) }

// Listen implements Process.
func (p *localProcess) Listen(heard func(control.Message)) {
	defer close(p.saidAll)
	for {
		m, err := p.lifeline.Receive()
		if err != nil {
			return
		}
		heard(m)
	}
}

// Signal implements Process.
func (p *localProcess) Signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		unix.Kill(-p.pid, s)
	}
}

// State implements Process.
func (p *localProcess) State() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped || p.is(unix.WEXITED) {
		return State{Ended: true}
	}
	return State{Stopped: p.is(unix.WSTOPPED) || stopPending(procStatus(p.pid))}
}

// Traced implements Process.
func (p *localProcess) Traced(speaker int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return false // other processes may have the numbers
	}
	return isTraced(p.pid) || speaker != 0 && speaker != p.pid && isTraced(speaker)
}

// Wait implements Process.
func (p *localProcess) Wait() (End, error) {
	p.awaitEnd()
	at := time.Now()
	p.Signal(unix.SIGKILL)
	p.hangUp()
	select {
	case <-p.saidAll:
	case <-time.After(lastWordsLimit):
	}
	p.mu.Lock()
	p.reaped = true
	p.counts.unmap()
	status, err := p.reap()
	p.mu.Unlock()
	if err != nil {
		// This can't happen: the process has ended, and only this goroutine reaps it.
		panic(fmt.Sprintf("agent: reaping pid %d: %v", p.pid, err))
	}
	p.outbox.Close()
	p.lifeline.Close()
	p.stdin.reaped()
	p.agent.forget(p)
	return End{status, at}, nil
}

// hangUp ends the lifeline behind what has been said: an ended process says nothing more, but a
// descendant may hold its end.
func (p *localProcess) hangUp() {
	if raw, err := p.ear.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { unix.Shutdown(int(fd), unix.SHUT_RD) })
	}
}

// discard ends a process that its caller never gets.
func (p *localProcess) discard() {
	p.Signal(unix.SIGKILL)
	go p.Listen(func(control.Message) {})
	p.Wait()
	if p.stdin != nil {
		p.stdin.Close()
	}
	p.stdout.Close()
	p.stderr.Close()
	p.pmi.Close()
}
