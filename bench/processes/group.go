package processes

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Group is the processes of one run. They end with the group, and with the bench.
type Group struct {
	// Failed is closed when a process has ended too early.
	Failed chan struct{}

	again  []string
	starts chan func() // on a thread that lives as long as the group: see loop
	words  *tail       // what they have written
	out    *os.File    // where to

	mu      sync.Mutex
	running map[*exec.Cmd]struct{}
	closing bool
	failure string // valid when Failed is closed
	waits   sync.WaitGroup
}

// NewGroup makes a group without processes. Again is how to start a process: a program and
// its arguments.
func NewGroup(again []string) (*Group, error) {
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	g := &Group{
		again: again, starts: make(chan func()), words: newTail(), out: theirs,
		running: make(map[*exec.Cmd]struct{}), Failed: make(chan struct{}),
	}
	go g.words.copy(ours)
	go g.loop()
	return g, nil
}

// loop starts the processes. The kernel sends PDEATHSIG when the thread ends that started a
// process, so that thread must last.
func (g *Group) loop() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for f := range g.starts {
		f()
	}
}

// Process is a process to start.
type Process struct {
	Name      string     // for errors
	Env       []string   // beside the bench's own
	Files     []*os.File // from descriptor 3 on
	Stdin     *os.File
	Namespace bool   // a network of its own
	MayEnd    bool   // its end is no failure
	Ended     func() // is called when it has ended; may be nil
}

// Start starts a process.
func (g *Group) Start(p Process) (*exec.Cmd, error) {
	c := exec.Command(g.again[0], g.again[1:]...)
	c.Env = append(os.Environ(), p.Env...)
	c.Stdout, c.Stderr, c.ExtraFiles = g.out, g.out, p.Files
	if p.Stdin != nil {
		c.Stdin = p.Stdin
	}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if p.Namespace {
		c.SysProcAttr.Cloneflags = unix.CLONE_NEWNET
	}
	done := make(chan error)
	g.starts <- func() { done <- c.Start() }
	if err := <-done; err != nil {
		return nil, fmt.Errorf("starting a %s: %w", p.Name, err)
	}
	g.mu.Lock()
	g.running[c] = struct{}{}
	g.mu.Unlock()
	g.waits.Go(func() {
		err := c.Wait()
		if p.Ended != nil {
			p.Ended()
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.running, c)
		if err == nil {
			err = fmt.Errorf("exit code 0")
		}
		if !g.closing && !p.MayEnd && g.failure == "" {
			g.failure = fmt.Sprintf("the %s has ended: %v", p.Name, err)
			close(g.Failed)
		}
	})
	return c, nil
}

// Err adds what the processes have written to an error.
func (g *Group) Err(what string) error {
	g.mu.Lock()
	if g.failure != "" {
		what = g.failure
	}
	g.mu.Unlock()
	if said := g.words.String(); said != "" {
		return fmt.Errorf("%s; the processes say: %s", what, said)
	}
	return fmt.Errorf("%s", what)
}

// Close kills all processes and waits for their ends.
func (g *Group) Close() {
	g.mu.Lock()
	g.closing = true
	for c := range g.running {
		unix.Kill(-c.Process.Pid, unix.SIGKILL) // not reaped yet: the number is its own
	}
	g.mu.Unlock()
	g.waits.Wait()
	close(g.starts)
	g.out.Close()
}

// tail keeps the end of what was written.
type tail struct {
	mu   sync.Mutex
	kept bytes.Buffer
}

// tailKept is how many bytes tail keeps.
const tailKept = 512

func newTail() *tail { return &tail{} }

func (t *tail) copy(from *os.File) {
	defer from.Close()
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		t.mu.Lock()
		t.kept.Write(buf[:n])
		if more := t.kept.Len() - tailKept; more > 0 {
			t.kept.Next(more)
		}
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (t *tail) String() string {
	time.Sleep(10 * time.Millisecond) // what was just written is on its way
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(t.kept.String())
}
