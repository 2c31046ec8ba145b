package agent

import (
	"errors"
	"os"
	"strconv"
	"syscall"

	"banyan/internal/job/control"
	"banyan/internal/job/env"
	"banyan/internal/job/mailbox"
	"banyan/internal/proto"
)

// Descriptors of a process beyond stdin, stdout and stderr.
const (
	pmiDescriptor     = 3
	controlDescriptor = 4
	// outputDescriptor and the one after it become stdout and stderr of a replacement when it has
	// its donor's state.
	outputDescriptor = 5
)

// start starts a process on the calling thread, which must live as long as the process. enter gives
// the thread the cores of the process.
func (l *Local) start(s *Spec, enter func(*Spec) error) (*localProcess, error) {
	if s.MakeDir {
		if err := os.MkdirAll(s.Dir, 0o777); err != nil {
			return nil, err
		}
	}
	p := &localProcess{agent: l, saidAll: make(chan struct{})}
	f := files{null: l.null}
	defer f.closeTheirs()
	lifeline := p.open(s, &f)
	if f.err != nil {
		f.closeOurs()
		p.counts.unmap()
		return nil, f.err
	}
	if err := enter(s); err != nil {
		p.counts.unmap()
		f.closeOurs()
		return nil, err
	}
	pidfd := -1
	pid, err := syscall.ForkExec(s.Path, s.Argv, &syscall.ProcAttr{
		Dir:   s.Dir,
		Env:   append(s.Env[:len(s.Env):len(s.Env)], descriptors(s)...),
		Files: f.theirs,
		Sys:   &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, PidFD: &pidfd},
	})
	if err != nil {
		f.closeOurs()
		p.counts.unmap()
		return nil, os.NewSyscallError("execve", err)
	}
	p.pid, p.pidfd = pid, pollable(pidfd)
	p.lifeline, p.ear = control.NewConn(lifeline), lifeline
	p.outbox = mailbox.New(func(m control.Message) { p.lifeline.Send(m) })
	if !l.keep(p) {
		p.discard()
		return nil, syscall.ESHUTDOWN
	}
	return p, nil
}

// open opens the process's connections, in the order of its descriptors.
func (p *localProcess) open(s *Spec, f *files) (lifeline *os.File) {
	if s.Input == NoInput {
		f.devNull()
	} else {
		p.stdin = f.input(s.Input == AskedInput)
	}
	if s.Replacement {
		f.devNull()
		f.devNull()
	} else {
		p.stdout, p.stderr = f.output(), f.output()
	}
	p.pmi = f.socket()
	lifeline = f.socket()
	if s.Replacement {
		p.stdout, p.stderr = f.output(), f.output()
	}
	if s.Snapshots {
		f.snapshots(p.agent, s.Proc)
	}
	if s.Counters {
		p.counts = f.counters()
	}
	return lifeline
}

// descriptors tells a process the numbers of its descriptors, and where to record.
func descriptors(s *Spec) []string {
	all := []string{
		"PMI_FD=" + strconv.Itoa(pmiDescriptor),
		env.Entry(env.ControlFD, controlDescriptor),
	}
	if s.Trace != nil {
		all = append(all, env.Entry(env.Trace, s.Trace.Dir), env.Entry(env.TraceBegin, s.Trace.Begin))
	}
	if s.Replacement {
		all = append(all, env.Entry(env.OutputFDs, env.FormatFDs(outputDescriptor, outputDescriptor+1)))
	}
	next := outputDescriptor
	if s.Replacement {
		next += 2
	}
	if s.Snapshots {
		all = append(all, env.Entry(env.SnapshotFDs, env.FormatFDs(next, next+1)))
		next += 2
	}
	if s.Counters {
		all = append(all, env.Entry(env.CountersFD, next))
	}
	return all
}

// startError says why a process wasn't started.
func startError(p proto.Proc, err error) error {
	var known *StartError
	if errors.As(err, &known) {
		return err
	}
	e := &StartError{Proc: p, Op: "start", Err: syscall.EIO}
	errors.As(err, &e.Err)
	var call *os.SyscallError
	var path *os.PathError
	switch {
	case errors.As(err, &call):
		e.Op = call.Syscall
	case errors.As(err, &path):
		e.Op = path.Op
	}
	return e
}
