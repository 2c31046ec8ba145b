package succession

import (
	"encoding/gob"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/agent/wire"
	"banyan/internal/job/env"
	"banyan/internal/job/mailbox"
	driver "banyan/internal/job/steward"
	"banyan/internal/proto/steward"
)

// Command is that of banyan which calls Succeed.
const Command = "lead-job"

// Descriptors of the process that an agent starts which leads: of its words with the agent, and of
// the socket to which agents come.
const (
	wordsDescriptor  = 3
	socketDescriptor = 4
)

// mandate is the first that the process is told.
type mandate struct {
	Key    []byte // secure.Key.Line
	Term   uint64
	Legacy []byte
	Hosts  []steward.HostEntry // all that there have been
	Ports  map[steward.Host]wire.Ports
	Shown  []byte // what this host has shown of the job; nil: nothing
}

// word is what the agent and the process say then.
type word struct {
	Lost []steward.Host // agent: these hosts are lost
	Left []steward.Host // agent: these have left
	Kept uint64         // agent: the state of this number is
	Over bool           // agent: all know that the job is over, or will

	Met      additions      // process: these have come
	Drain    []steward.Host // process: these are to leave
	State    []byte         // process: to be kept, with its number
	Number   uint64
	Finished bool // process: the job is over, with a code
	Code     int32
}

// endLimit is how long the process may take to end when the job is over.
const endLimit = 5 * time.Second

// leading is the process of an agent that leads. A nil one says and does nothing.
type leading struct {
	words   *mailbox.Mailbox[any]
	conn    net.Conn
	process *os.Process
	gone    chan struct{} // closed when the process has ended

	mu    sync.Mutex
	ended bool
}

// lead starts the process. failed is called when it ends before the job, met when agents have come.
func lead(first mandate, socket *net.TCPListener, d *driver.Driver, failed func(error), met func(additions)) *leading {
	l := &leading{gone: make(chan struct{})}
	if err := l.start(socket); err != nil {
		go failed(err)
		return nil
	}
	to := gob.NewEncoder(l.conn)
	l.words = mailbox.New(func(x any) {
		if err := to.Encode(x); err != nil {
			slog.Debug("succession: unsaid", "err", err)
		}
	})
	l.words.Put(&first)
	go l.listen(d, failed, met)
	return l
}

// start starts the process. The kernel ends it with this one.
func (l *leading) start(socket *net.TCPListener) error {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socketpair", err)
	}
	here, there := os.NewFile(uintptr(fds[0]), "words"), os.NewFile(uintptr(fds[1]), "words")
	defer here.Close()
	defer there.Close()
	file, err := socket.File()
	if err != nil {
		return err
	}
	defer file.Close()
	if l.conn, err = net.FileConn(here); err != nil {
		return err
	}
	cmd := exec.Command("/proc/self/exe", Command)
	cmd.Args[0] = "banyan-lead" // what is done to agents by their name isn't done to it
	cmd.ExtraFiles = []*os.File{there, file}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL}
	if os.Getenv(env.Debug) != "" {
		cmd.Stderr = os.Stderr
	}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the kernel's signal comes when the thread ends
		err := cmd.Start()
		started <- err
		if err == nil {
			cmd.Wait()
			close(l.gone)
		}
	}()
	if err := <-started; err != nil {
		l.conn.Close()
		return err
	}
	l.process = cmd.Process
	return nil
}

// listen takes the process's words.
func (l *leading) listen(d *driver.Driver, failed func(error), met func(additions)) {
	for from := gob.NewDecoder(l.conn); ; {
		var w word
		err := from.Decode(&w)
		switch {
		case err != nil:
			l.mu.Lock()
			ended := l.ended
			l.mu.Unlock()
			if !ended {
				failed(fmt.Errorf("the launcher on this host has ended: %w", err))
			}
			return
		case w.Finished:
			l.mu.Lock()
			l.ended = true
			l.mu.Unlock()
			d.Finish(w.Code)
		case len(w.Met) > 0:
			met(w.Met)
		case len(w.Drain) > 0:
			for _, h := range w.Drain {
				d.Drain(h)
			}
		default:
			d.Keep(w.State, w.Number)
		}
	}
}

func (l *leading) say(w word) {
	if l != nil {
		l.words.Put(&w)
	}
}

// end ends the process at once.
func (l *leading) end() {
	if l == nil {
		return
	}
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.process.Kill()
	l.conn.Close()
	<-l.gone
}

// wait lets the process end by itself, if the job is over, and ends it.
func (l *leading) wait() {
	if l == nil {
		return
	}
	l.mu.Lock()
	ended := l.ended
	l.mu.Unlock()
	if ended {
		select {
		case <-l.gone:
		case <-time.After(endLimit):
		}
	}
	l.end()
}
