package group_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"banyan/group"
)

// life is one stay of a member under test: in this process, or one of its own.
type life interface {
	kill()
	stop()
	cont()
	leave()
	// snapshot is what it has told so far; over says that it has ended, and all
	// is told.
	snapshot() (h history, over bool, err error)
}

// notes is what a life has told.
type notes struct {
	mu    sync.Mutex
	h     history
	over  bool
	cause error // why it ended, if that is wrong
}

func (n *notes) snapshot() (history, bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	h := n.h
	h.views = slices.Clip(h.views)
	return h, n.over, n.cause
}

func (n *notes) change(f func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f()
}

// word is a line of a member process's output.
type word struct {
	Self *group.Identity `json:",omitempty"`
	View *group.View     `json:",omitempty"`
	End  string          `json:",omitempty"`
	Leak string          `json:",omitempty"`
}

// endings are the ends that a member may come to by the faults of others.
var endings = []error{group.ErrLeft, group.ErrClosed, group.ErrExcluded, group.ErrMinority}

// isEnding says whether text is that of an error of endings.
func isEnding(text string) bool {
	return slices.ContainsFunc(endings, func(e error) bool { return e.Error() == text })
}

const memberEnv = "BANYAN_TEST_GROUP_MEMBER"

// memberProcess is the life of a process that the tests start: it joins, prints each view, leaves
// when it is told to, and ends with its standard input, lest it outlives the test.
func memberProcess(encoded string) int {
	out := json.NewEncoder(os.Stdout)
	fds := descriptors()
	var cfg group.Config
	if err := json.Unmarshal([]byte(encoded), &cfg); err != nil {
		out.Encode(word{End: err.Error()})
		return 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	commands := make(chan string)
	go func() {
		defer close(commands)
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			commands <- in.Text()
		}
		cancel()
	}()
	m, err := group.Join(ctx, cfg)
	if err != nil {
		out.Encode(word{End: err.Error()})
		return 1
	}
	self := m.Self()
	out.Encode(word{Self: &self})
	stop := context.AfterFunc(ctx, m.Close)
	go func() {
		if <-commands == "leave" {
			m.Leave(ctx)
		}
	}()
	for v := range m.Views() {
		out.Encode(word{View: &v})
	}
	end := word{End: m.Err().Error()}
	if stop() {
		m.Close()
	}
	// A connection that the end of a context closes may take a moment more.
	if !eventually(time.Second, func() bool { return len(descriptors()) <= len(fds) }) {
		end.Leak = fmt.Sprint("descriptors ", descriptors(), ", at first ", fds)
	}
	if err := goleak.Find(goleak.IgnoreAnyFunction("banyan/group_test.memberProcess.func1"),
		goleak.IgnoreAnyFunction("banyan/group_test.memberProcess.func2")); err != nil {
		end.Leak += err.Error()
	}
	out.Encode(end)
	return 0
}

func descriptors() (list []string) {
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		to, _ := os.Readlink("/proc/self/fd/" + e.Name())
		// The runtime's own stay, and are made when first used.
		if strings.HasPrefix(to, "socket:") {
			list = append(list, to)
		}
	}
	return list
}

// process is a life in a process of its own.
type process struct {
	notes
	cmd *exec.Cmd
	in  io.WriteCloser
}

func startProcess(t *testing.T, cfg group.Config) life {
	return startWith(t, cfg, func(cmd *exec.Cmd) (err error) {
		onLastingThread(func() { err = cmd.Start() })
		return err
	})
}

// starter runs what it gets on a thread that never ends. A process dies with the
// thread that started it (Pdeathsig), and threads of tests with hosts of their own end.
var starter = sync.OnceValue(func() chan<- func() {
	todo := make(chan func())
	go lastingThread(todo)
	return todo
})

func lastingThread(todo <-chan func()) {
	runtime.LockOSThread()
	for f := range todo {
		f()
	}
}

func onLastingThread(f func()) {
	done := make(chan struct{})
	starter() <- func() { f(); close(done) }
	<-done
}

func startWith(t *testing.T, cfg group.Config, start func(*exec.Cmd) error) life {
	encoded, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), memberEnv+"="+string(encoded))
	p.cmd.Stderr = os.Stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		p.in, err = p.cmd.StdinPipe()
	}
	if err == nil {
		err = start(p.cmd)
	}
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.listen(out)
	}()
	t.Cleanup(func() {
		p.kill()
		p.in.Close()
		<-done
	})
	return p
}

// listen notes what a process says, until it ends.
func (p *process) listen(out io.Reader) {
	end := ""
	for in := json.NewDecoder(out); ; {
		var w word
		if in.Decode(&w) != nil {
			break // its end, perhaps in the middle of a word
		}
		p.change(func() {
			switch {
			case w.Self != nil:
				p.h.self = *w.Self
			case w.View != nil:
				p.h.views = append(p.h.views, *w.View)
			case w.Leak != "":
				p.cause = errors.New("leaks " + w.Leak)
			}
			if end = w.End; end != "" {
				p.h.end = end
			}
			if end != "" && !isEnding(end) {
				p.cause = errors.New(end)
			}
		})
	}
	err := p.cmd.Wait()
	p.change(func() {
		p.over = true
		if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); end == "" && !(ok && status.Signaled() && status.Signal() == syscall.SIGKILL) {
			p.cause = fmt.Errorf("a member process ended unasked: %v", err)
		}
	})
}

func (p *process) kill()  { p.cmd.Process.Kill() }
func (p *process) stop()  { p.cmd.Process.Signal(syscall.SIGSTOP) }
func (p *process) cont()  { p.cmd.Process.Signal(syscall.SIGCONT) }
func (p *process) leave() { io.WriteString(p.in, "leave\n") }

// guest is a life within the process of the test. It can't be stopped.
type guest struct {
	notes
	cancel context.CancelFunc
	left   chan struct{}
	once   sync.Once
}

func startGuest(t *testing.T, cfg group.Config) life {
	ctx, cancel := context.WithCancel(context.Background())
	g := &guest{cancel: cancel, left: make(chan struct{})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		m, err := group.Join(ctx, cfg)
		if err != nil {
			g.change(func() { g.over = true })
			return
		}
		g.change(func() { g.h.self = m.Self() })
		stop := context.AfterFunc(ctx, m.Close)
		go func() {
			select {
			case <-g.left:
				m.Leave(ctx)
			case <-ctx.Done():
			}
		}()
		for v := range m.Views() {
			g.change(func() { g.h.views = append(g.h.views, v) })
		}
		if stop() {
			m.Close()
		}
		cancel()
		g.change(func() {
			g.over, g.h.end = true, m.Err().Error()
			if !isEnding(g.h.end) {
				g.cause = m.Err()
			}
		})
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return g
}

func (g *guest) kill()  { g.cancel() }
func (g *guest) stop()  {}
func (g *guest) cont()  {}
func (g *guest) leave() { g.once.Do(func() { close(g.left) }) }

// eventually waits for something to come about.
func eventually(limit time.Duration, is func() bool) bool {
	for deadline := time.Now().Add(limit); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}
