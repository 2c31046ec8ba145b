package launcher

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/control"
	"banyan/internal/proto"
)

// process is a started process, seen from its launcher.
type process struct {
	id     proto.Proc
	handle *os.Process
	pid    int

	incarnation    proto.Incarnation // how many were in its place before
	follows        bool              // a replacement: its output is read
	member         bool              // a replacement: a view has it, so others hear whether it lives
	drains         int               // a donor: so often its output is being read to its end
	rest           func()            // to be called when it has been
	stdin          *os.File          // nil unless the process gets the job's input
	far            *os.File          // the other end of that, if somebody wants to know what is read
	stdout, stderr *tap
	pmi            *os.File
	lifeline       *control.Conn
	news           *queue[control.Message] // on their way to the process
	heard          chan struct{}           // closed when it has said all it ever says

	known   chan struct{} // closed when it is known how it ended
	inOrder bool          // valid then

	mu     sync.Mutex
	reaped bool // the process id may be another's
}

// Descriptors of a process beyond stdin, stdout and stderr.
const (
	pmiDescriptor     = 3
	controlDescriptor = 4
	// outputDescriptor and the one after it are what a replacement has as stdout and
	// stderr from the moment on when it has its donor's state. Until then these
	// are /dev/null: what it writes another replica has written.
	outputDescriptor = 5
)

// inputKind is what a process gets as stdin.
type inputKind uint8

const (
	noInput    inputKind = iota // /dev/null
	someInput                   // a pipe
	askedInput                  // one that can be asked how much has been read
)

// input is what a process of a rank gets.
func (j *job) input(rank proto.Rank) inputKind {
	switch {
	case rank != 0:
		return noInput
	case j.heal != nil:
		return askedInput
	}
	return someInput
}

// sink is the process's input, for the feeder.
func (p *process) sink() sink {
	s := sink{w: p.stdin}
	if p.far != nil {
		s.far, _ = p.far.SyscallConn() // of an open file there is one
	}
	return s
}

// start starts a process. The calling thread must live as long as the process.
func start(id proto.Proc, program *part, env []string, input inputKind, replacement bool) (p *process, err error) {
	p = &process{id: id, heard: make(chan struct{}), known: make(chan struct{})}
	var theirs, ours []*os.File
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
		if err != nil {
			for _, f := range ours {
				f.Close()
			}
		}
	}()
	pair := func(make func() (our, their *os.File, err error)) (our *os.File) {
		if err != nil {
			return nil
		}
		var their *os.File
		if our, their, err = make(); err == nil {
			ours, theirs = append(ours, our), append(theirs, their)
		}
		return our
	}
	null := func() {
		var f *os.File
		if err == nil {
			if f, err = os.OpenFile(os.DevNull, os.O_RDWR, 0); err == nil {
				theirs = append(theirs, f)
			}
		}
	}
	output := func() (t *tap) {
		if our := pair(os.Pipe); err == nil {
			t, err = newTap(our)
		}
		return t
	}
	if input == noInput {
		null()
	} else {
		p.stdin = pair(func() (our, their *os.File, err error) { their, our, err = os.Pipe(); return })
	}
	if input == askedInput && err == nil {
		var fd int
		if fd, err = unix.FcntlInt(theirs[0].Fd(), unix.F_DUPFD_CLOEXEC, 0); err == nil {
			p.far = os.NewFile(uintptr(fd), "input")
			ours = append(ours, p.far)
		}
	}
	if replacement {
		null()
		null()
	} else {
		p.stdout, p.stderr = output(), output()
	}
	p.pmi = pair(socketpair)
	lifeline := pair(socketpair)
	if replacement {
		p.stdout, p.stderr = output(), output()
	}
	if err != nil {
		return nil, err
	}
	p.handle, err = os.StartProcess(program.path, program.argv(), &os.ProcAttr{
		Dir:   program.Dir,
		Env:   env,
		Files: theirs,
		Sys:   &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return nil, err
	}
	p.pid = p.handle.Pid
	p.lifeline = control.NewConn(lifeline)
	p.news = newQueue(func(m control.Message) { p.lifeline.Send(m) })
	return p, nil
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

// wait waits for the process to end, kills what it leaves in its group, and
// returns its status and when it ended. What it said last has been heard by then.
func (p *process) wait() (unix.WaitStatus, time.Time) {
	for {
		// Not reaping it yet keeps the number of its group from being reused.
		err := unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			break
		}
	}
	at := time.Now()
	p.signal(unix.SIGKILL)
	select {
	case <-p.heard:
	case <-time.After(lastWordsLimit): // a descendant holds the lifeline
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reaped = true
	state, err := p.handle.Wait()
	if err != nil {
		// It can't be: the process has ended, and nobody else reaps it.
		panic(fmt.Sprintf("launch: reaping pid %d: %v", p.pid, err))
	}
	p.news.close()
	p.lifeline.Close()
	p.far.Close() // of a nil File does nothing
	return unix.WaitStatus(state.Sys().(syscall.WaitStatus)), at
}

// lastWordsLimit bounds the wait for the end of a lifeline whose process has
// ended.
const lastWordsLimit = 200 * time.Millisecond

// signal sends a signal to the process and what it has started.
func (p *process) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		unix.Kill(-p.pid, s)
	}
}

// ended says whether the process has ended, reaped or not.
func (p *process) ended() bool {
	p.mu.Lock()
	reaped := p.reaped
	p.mu.Unlock()
	return reaped || p.is(unix.WEXITED)
}

// is asks for the state of the process without changing anything.
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

// closeAll closes the launcher's ends of a process that nobody is attached to.
func (p *process) closeAll() {
	for _, f := range []*os.File{p.stdin, p.far, p.stdout.file, p.stderr.file, p.pmi} {
		f.Close() // of a nil File does nothing
	}
}

// listen passes on what the process says until its lifeline ends.
func (p *process) listen(say func(control.Message)) {
	defer close(p.heard)
	for {
		m, err := p.lifeline.Receive()
		if err != nil {
			return
		}
		say(m)
	}
}

// settle says how the process ended.
func (p *process) settle(inOrder bool) {
	p.inOrder = inOrder
	close(p.known)
}

// leftInOrder waits until it is known how the process ended.
func (p *process) leftInOrder() bool {
	<-p.known
	return p.inOrder
}

// lastingThread gives a function that runs others on an OS thread, always the same, that lives
// until release is closed. The kernel sends a child its PDEATHSIG when the thread that
// started it ends, not the process.
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

// isReaped says whether nothing is left of the process.
func (p *process) isReaped() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reaped
}
