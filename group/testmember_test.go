package group_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
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

// testMember is a member under test, in this process or in one of its own.
type testMember interface {
	kill()
	stop()
	cont()
	leave()
	// snapshot is what it has reported so far; over says that it has ended, and reports nothing
	// more.
	snapshot() (h history, over bool, err error)
}

// notes is what a member has reported.
type notes struct {
	mu    sync.Mutex
	h     history
	over  bool
	cause error // why it ended, if it shouldn't have
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

// report is a line of a member process's output.
type report struct {
	Self  *group.Identity `json:",omitempty"`
	View  *group.View     `json:",omitempty"`
	End   string          `json:",omitempty"`
	Leak  string          `json:",omitempty"`
	Claim *claim          `json:",omitempty"`
}

// endings are the errors with which faults may end a member.
var endings = []error{group.ErrLeft, group.ErrClosed, group.ErrExcluded, group.ErrMinority}

// isEnding says whether text is that of one of endings.
func isEnding(text string) bool {
	return slices.ContainsFunc(endings, func(e error) bool { return e.Error() == text })
}

const memberEnv = "BANYAN_TEST_GROUP_MEMBER"

// memberProcess is the main function of a process that the tests start. It joins, prints each
// view, and leaves when it is told to. It ends with its standard input, so that it doesn't
// outlive the test.
func memberProcess(encoded string) int {
	lines := &lineWriter{file: os.Stdout}
	out := json.NewEncoder(lines)
	fds := descriptors()
	var cfg group.Config
	if err := json.Unmarshal([]byte(encoded), &cfg); err != nil {
		out.Encode(report{End: err.Error()})
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
	cfg.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil))
	m, err := group.Join(ctx, cfg)
	if err != nil {
		out.Encode(report{End: err.Error()})
		return 1
	}
	self := m.Self()
	out.Encode(report{Self: &self})
	stop := context.AfterFunc(ctx, m.Close)
	go func() {
		if <-commands == "leave" {
			m.Leave(ctx)
		}
	}()
	claimed := make(chan struct{})
	go func() {
		defer close(claimed)
		if os.Getenv(leasesEnv) != "" {
			claimLeases(ctx, m, json.NewEncoder(lines))
		}
	}()
	for v := range m.Views() {
		out.Encode(report{View: &v})
	}
	<-claimed
	end := report{End: m.Err().Error()}
	if stop() {
		m.Close()
	}
	// A connection that is closed by the end of a context may take a moment.
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
		// The runtime makes its own descriptors when it first uses them, and keeps them.
		if strings.HasPrefix(to, "socket:") {
			list = append(list, to)
		}
	}
	return list
}

// process is a member in a process of its own.
type process struct {
	notes
	cmd *exec.Cmd
	in  io.WriteCloser
}

func startProcess(t *testing.T, cfg group.Config) testMember {
	return startWith(t, cfg, func(cmd *exec.Cmd) (err error) {
		onLastingThread(func() { err = cmd.Start() })
		return err
	})
}

// starter runs functions on a thread that never ends. A process dies with the thread that started
// it (Pdeathsig), and threads of tests that run on hosts of their own end.
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

func startWith(t *testing.T, cfg group.Config, start func(*exec.Cmd) error) testMember {
	encoded, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), memberEnv+"="+string(encoded))
	log := new(bytes.Buffer)
	p.cmd.Stderr = log
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
		if _, _, err := p.snapshot(); t.Failed() || err != nil {
			t.Logf("the log of %s:\n%s", cfg.Name, log)
		}
	})
	return p
}

// listen notes what a process reports, until it ends.
func (p *process) listen(out io.Reader) {
	end := ""
	for in := json.NewDecoder(out); ; {
		var w report
		if in.Decode(&w) != nil {
			break // its end, perhaps in the middle of a line
		}
		p.change(func() {
			switch {
			case w.Self != nil:
				p.h.self = *w.Self
			case w.View != nil:
				p.h.views = append(p.h.views, *w.View)
			case w.Claim != nil:
				p.h.claims = append(p.h.claims, *w.Claim)
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

// localMember is a member in the test's process. It can't be stopped.
type localMember struct {
	notes
	cancel context.CancelFunc
	left   chan struct{}
	once   sync.Once
}

func startLocal(t *testing.T, cfg group.Config) testMember {
	ctx, cancel := context.WithCancel(context.Background())
	g := &localMember{cancel: cancel, left: make(chan struct{})}
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

func (g *localMember) kill()  { g.cancel() }
func (g *localMember) stop()  {}
func (g *localMember) cont()  {}
func (g *localMember) leave() { g.once.Do(func() { close(g.left) }) }

// eventually waits until is says yes, and returns false if the limit is over first.
func eventually(limit time.Duration, is func() bool) bool {
	for deadline := time.Now().Add(limit); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}
