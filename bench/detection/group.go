package detection

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

// group is the processes of one run. They end with it, and with the bench.
type group struct {
	again  []string
	starts chan func() // on a thread that lives as long as the group: see loop
	words  *tail       // what they have written
	out    *os.File    // where to

	mu      sync.Mutex
	running map[*exec.Cmd]struct{}
	closing bool
	failed  chan struct{} // closed when one has ended too early
	failure string        // valid then
	waits   sync.WaitGroup
}

func newGroup(again []string) (*group, error) {
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	g := &group{
		again: again, starts: make(chan func()), words: newTail(), out: theirs,
		running: make(map[*exec.Cmd]struct{}), failed: make(chan struct{}),
	}
	go g.words.copy(ours)
	go g.loop()
	return g, nil
}

// loop starts processes for the others. PDEATHSIG is sent when the thread ends
// that started a process, so it must be one that lasts.
func (g *group) loop() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for f := range g.starts {
		f()
	}
}

// options of a process to be started.
type options struct {
	env       []string
	files     []*os.File // from descriptor 3 on
	stdin     *os.File
	namespace bool // a network of its own
	member    bool // its end is its own affair
}

// start starts a process with a task.
func (g *group) start(t task, o options) (*exec.Cmd, error) {
	t.Again = g.again
	c := exec.Command(g.again[0], g.again[1:]...)
	c.Env = append(append(os.Environ(), o.env...), t.env())
	c.Stdout, c.Stderr, c.ExtraFiles = g.out, g.out, o.files
	if o.stdin != nil {
		c.Stdin = o.stdin
	}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if o.namespace {
		c.SysProcAttr.Cloneflags = unix.CLONE_NEWNET
	}
	done := make(chan error)
	g.starts <- func() { done <- c.Start() }
	if err := <-done; err != nil {
		return nil, fmt.Errorf("starting a %s: %w", t.Role, err)
	}
	g.mu.Lock()
	g.running[c] = struct{}{}
	g.mu.Unlock()
	g.waits.Go(func() {
		err := c.Wait()
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.running, c)
		// A member that is dead, or was taken for dead, is the run's own news.
		if err == nil {
			err = fmt.Errorf("exit code 0")
		}
		if !g.closing && !o.member && g.failure == "" {
			g.failure = fmt.Sprintf("the %s has ended: %v", t.Role, err)
			close(g.failed)
		}
	})
	return c, nil
}

// err adds what the processes have written to an error.
func (g *group) err(what string) error {
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

// close kills all processes and waits for their ends.
func (g *group) close() {
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

// tailKept is how many bytes.
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
