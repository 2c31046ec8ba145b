package launcher

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"banyan/internal/job/control"
	"banyan/internal/job/recovery"
	"banyan/internal/proto"
)

// spawner starts the processes of a job: in their directories, on their cores, with pipes and
// connections to the launcher.
type spawner struct {
	*plan
	recording *recording                 // nil: no trace
	thread    func(f func() error) error // runs f on the thread that starts all processes
}

func newSpawner(p *plan, r *recording, release <-chan struct{}) *spawner {
	return &spawner{p, r, lastingThread(release)}
}

// lastingThread gives a function that runs others on one OS thread, which lives until release is
// closed. The kernel sends a child its PDEATHSIG when the thread that started it ends, not when the
// process ends.
func lastingThread(release <-chan struct{}) (run func(f func() error) error) {
	work, done := make(chan func() error), make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for {
			select {
			case f := <-work:
				done <- f()
			case <-release:
				return
			}
		}
	}()
	return func(f func() error) error {
		work <- f
		return <-done
	}
}

// onThread runs f on the thread, and gives f the cores of each process.
func (s *spawner) onThread(f func(cores coreSets) error) error {
	return s.thread(func() error {
		return restoringCores(func() error {
			cores, err := s.coreSets()
			if err != nil {
				return &StartError{1, err}
			}
			return f(cores)
		})
	})
}

// startAll starts the first process of every replica slot. If one can't be started, none is left.
func (s *spawner) startAll() (procs []*process, err error) {
	err = s.onThread(func(cores coreSets) error {
		for id := range proto.Proc(s.size) {
			p, err := s.startFirst(id, cores)
			if err != nil {
				return err
			}
			slog.Debug("started", "process", id, "pid", p.pid)
			procs = append(procs, p)
		}
		return nil
	})
	if err != nil {
		for _, p := range procs {
			p.discard()
		}
	}
	return procs, err
}

func (s *spawner) startFirst(id proto.Proc, cores coreSets) (*process, error) {
	program, err := s.programOf(id, 0)
	if err != nil {
		return nil, err
	}
	environment := append(inherited(program.Env), s.environment(id)...)
	environment = append(environment, s.firstEnvironment(id, s.recording)...)
	if err := cores.enter(id); err != nil {
		return nil, &StartError{1, err}
	}
	p, err := start(id, program, environment, s.input(id), false)
	if err != nil {
		return nil, startError(program.Program, err)
	}
	return p, nil
}

// startReplacement starts the process of an attempt. incarnations is what it is told of the others.
func (s *spawner) startReplacement(a *recovery.Attempt, incarnations string) (p *process, err error) {
	program, err := s.programOf(a.Proc, a.Incarnation)
	if err != nil {
		return nil, err
	}
	environment := append(inherited(program.Env), s.environment(a.Proc)...)
	environment = append(environment, replacementEnvironment(incarnations)...)
	err = s.onThread(func(cores coreSets) error {
		if err := cores.enter(a.Proc); err != nil {
			return err
		}
		p, err = start(a.Proc, program, environment, s.input(a.Proc), true)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("it can't be started: %w", err)
	}
	p.incarnation = a.Incarnation
	slog.Debug("replacement", "process", a.Proc, "incarnation", p.incarnation, "pid", p.pid, "donor", a.Donor.Proc)
	return p, nil
}

// startError says what the failure to start a program means.
func startError(program string, err error) error {
	var pathError *os.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err
	}
	code := 1
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return &StartError{CodeNotExecutable, fmt.Errorf("%s can't be executed: it is neither a program for this machine nor a script with a #! line", program)}
	case errors.Is(err, syscall.EACCES):
		code = CodeNotExecutable
	case errors.Is(err, syscall.ENOENT): // the interpreter is missing
		code = CodeNotFound
	}
	return &StartError{code, fmt.Errorf("%s can't be started: %w", program, err)}
}

// Descriptors of a process beyond stdin, stdout and stderr.
const (
	pmiDescriptor     = 3
	controlDescriptor = 4
	// outputDescriptor and the one after it become stdout and stderr of a replacement when it has
	// its donor's state. Until then its stdout and stderr are /dev/null, because another replica
	// has written the same output.
	outputDescriptor = 5
)

// inputKind says what a process gets as stdin.
type inputKind uint8

const (
	noInput    inputKind = iota // /dev/null
	someInput                   // a pipe
	askedInput                  // a pipe whose other end the launcher keeps, to ask how much was read
)

// input is what a process gets as stdin.
func (p *plan) input(id proto.Proc) inputKind {
	switch {
	case p.layout.Rank(id) != 0:
		return noInput
	case p.heals():
		return askedInput
	}
	return someInput
}

// start starts a process. The calling thread must live as long as the process.
func start(id proto.Proc, program *part, env []string, input inputKind, replacement bool) (p *process, err error) {
	p = &process{id: id, saidAll: make(chan struct{}), ended: make(chan struct{})}
	var f files
	defer func() { f.close(err != nil) }()
	if input == noInput {
		f.null()
	} else {
		p.stdin = f.pair(func() (our, their *os.File, err error) { their, our, err = os.Pipe(); return })
	}
	if input == askedInput {
		p.otherEnd = f.duplicate(0)
	}
	if replacement {
		f.null()
		f.null()
	} else {
		p.stdout, p.stderr = f.output(), f.output()
	}
	p.pmi = f.pair(socketpair)
	lifeline := f.pair(socketpair)
	if replacement {
		p.stdout, p.stderr = f.output(), f.output()
	}
	if f.err != nil {
		return nil, f.err
	}
	p.handle, err = os.StartProcess(program.path, program.argv(), &os.ProcAttr{
		Dir:   program.Dir,
		Env:   env,
		Files: f.theirs,
		Sys:   &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return nil, err
	}
	p.pid = p.handle.Pid
	p.lifeline = control.NewConn(lifeline)
	p.outbox = newQueue(func(m control.Message) { p.lifeline.Send(m) })
	return p, nil
}

// files are those of a process to be started. After an error all methods do nothing.
type files struct {
	theirs []*os.File // by the process's descriptor
	ours   []*os.File
	err    error // the first
}

// pair makes a connection: their end is the process's next descriptor. It returns our end.
func (f *files) pair(open func() (our, their *os.File, err error)) (our *os.File) {
	if f.err != nil {
		return nil
	}
	var their *os.File
	if our, their, f.err = open(); f.err == nil {
		f.ours, f.theirs = append(f.ours, our), append(f.theirs, their)
	}
	return our
}

// null makes the process's next descriptor /dev/null.
func (f *files) null() {
	if f.err != nil {
		return
	}
	var null *os.File
	if null, f.err = os.OpenFile(os.DevNull, os.O_RDWR, 0); f.err == nil {
		f.theirs = append(f.theirs, null)
	}
}

// output makes the process's next descriptor a pipe that we read.
func (f *files) output() (t *tap) {
	if our := f.pair(os.Pipe); f.err == nil {
		t, f.err = newTap(our)
	}
	return t
}

// duplicate gives us the process's end of a connection, too.
func (f *files) duplicate(descriptor int) *os.File {
	if f.err != nil {
		return nil
	}
	fd, err := unix.FcntlInt(f.theirs[descriptor].Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if f.err = err; err != nil {
		return nil
	}
	end := os.NewFile(uintptr(fd), "input")
	f.ours = append(f.ours, end)
	return end
}

// close closes the process's ends, and ours if the process wasn't started.
func (f *files) close(failed bool) {
	for _, file := range f.theirs {
		file.Close()
	}
	if failed {
		for _, file := range f.ours {
			file.Close()
		}
	}
}

// socketpair makes a connection to a process to be started.
func socketpair() (our, their *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return nil, nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(fds[0]), "launcher's end"), os.NewFile(uintptr(fds[1]), "process's end"), nil
}
