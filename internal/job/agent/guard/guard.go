package guard

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/agent/remote"
	"banyan/internal/job/agent/secure"
	"banyan/internal/job/env"
	"banyan/internal/job/starter/stage"
)

// name is what the guard is called in lists of processes, so that what is done to all that are
// called banyan isn't done to it.
const name = "banyan-guard"

// testifyLimit bounds how long the guard looks for the launcher. By then the agent's lease is over.
const testifyLimit = 10 * time.Second

// Run is the guard. It starts this program once more, with the same arguments and streams, where
// Inside finds the Agent, and returns the exit code of that when it has ended. The error says why
// the agent ended if it couldn't say it itself. left is what it has left for this process to do.
func Run() (left string, code int, err error) {
	g := &guard{}
	code, err = g.run()
	return g.parting, code, err
}

func (g *guard) run() (code int, err error) {
	// The kernel sends the agent its signal when the thread that started it ends.
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 1, fmt.Errorf("the agent can't begin: %w", os.NewSyscallError("prctl", err))
	}
	os.WriteFile("/proc/self/comm", []byte(name), 0) // for people and tests; it may fail
	if err := secure.HideMemory(); err != nil {
		return 1, err
	}
	charges, theirs, err := os.Pipe()
	if err != nil {
		return 1, fmt.Errorf("the agent can't begin: %w", err)
	}
	// Signals that end the agent are passed on. Whatever has started this may go away, and a write
	// to it then fails.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGPIPE)
	agent, err := start(theirs)
	theirs.Close()
	if err != nil {
		return 1, err
	}
	go func() {
		for s := range signals {
			if s != unix.SIGPIPE {
				unix.Kill(agent, s.(syscall.Signal))
			}
		}
	}()
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		g.listen(charges)
	}()
	status := reapAgent(agent)
	signal.Stop(signals) // another process may get its number
	<-heard              // the pipe has ended: only the agent had it
	if g.over {
		return status.ExitStatus(), nil
	}
	how := "it ended with code " + strconv.Itoa(status.ExitStatus())
	if status.Signaled() {
		how = fmt.Sprintf("it was ended by signal %d (%v)", int(status.Signal()), status.Signal())
	}
	// Without a connection it takes the launcher and this process some milliseconds to know each
	// other. Meanwhile the rest is reaped.
	certain := make(chan struct{})
	var giving sync.WaitGroup
	if g.charged {
		limited, cancel := context.WithTimeout(context.Background(), testifyLimit)
		defer cancel()
		giving.Go(func() { g.testify(limited, certain, how) })
	}
	reapRest()
	close(certain)
	giving.Wait()
	for _, dir := range g.left { // what remains of staged files the next job of this user removes
		if stage.RemoveLeft(dir) != nil {
			remote.RemoveTraces(dir)
		}
	}
	if status.Signaled() {
		return 1, errors.New("the agent has died with its processes: " + how)
	}
	return status.ExitStatus(), nil
}

// standAfter is when, at the earliest, the guard connects to the launcher beforehand: not while the
// job starts, and not at the same moment as all others.
const standAfter = 500 * time.Millisecond

// stand has a connection to the launcher made that the agent has now.
func (g *guard) stand() {
	if g.unstand != nil {
		g.unstand()
	}
	ctx, cancel := context.WithCancel(context.Background())
	made := make(chan *remote.Standing, 1)
	g.unstand, g.standing = cancel, made
	t := g.testimony
	go func() {
		defer close(made)
		select {
		case <-time.After(standAfter + rand.N(standAfter)):
		case <-ctx.Done():
			return
		}
		limited, stop := context.WithTimeout(ctx, testifyLimit)
		defer stop()
		if s, err := t.Stand(limited); err == nil {
			context.AfterFunc(ctx, s.Close)
			made <- s
		}
	}()
}

// answerLimit bounds the wait for an answer on the connection that was made beforehand. It may have
// broken without a word.
const answerLimit = 500 * time.Millisecond

// testify tells the launcher that the agent is dead when that is certain. If there is no connection
// it makes one meanwhile.
func (g *guard) testify(ctx context.Context, certain <-chan struct{}, how string) {
	defer g.unstand()
	select {
	case s, made := <-g.standing:
		if !made {
			break
		}
		<-certain
		soon, cancel := context.WithTimeout(ctx, answerLimit)
		defer cancel()
		if s.Give(soon, how) == nil {
			return
		}
	default:
	}
	g.testimony.Give(ctx, certain, how)
}

// start starts the agent.
func start(charges *os.File) (pid int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	pid, err = syscall.ForkExec(self, os.Args, &syscall.ProcAttr{
		Env:   append(os.Environ(), env.Entry(env.GuardFD, 3)),
		Files: []uintptr{0, 1, 2, charges.Fd()},
		Sys:   &syscall.SysProcAttr{Pdeathsig: unix.SIGTERM},
	})
	return pid, os.NewSyscallError("execve", err)
}

// guard is what a guard knows of its agent.
type guard struct {
	testimony remote.Testimony // the last that it was charged with
	charged   bool
	standing  <-chan *remote.Standing // has a connection once that is made; nil: there was no charge
	unstand   func()                  // closes it
	over      bool                    // the agent ends in order
	left      []string                // directories that are to be removed when the agent has died
	parting   string
}

// listen hears the agent until its end.
func (g *guard) listen(from io.Reader) {
	for {
		kind := make([]byte, 1)
		if _, err := io.ReadFull(from, kind); err != nil {
			return
		}
		switch kind[0] {
		case charged:
			t, err := remote.ReadTestimony(from)
			if err != nil {
				return
			}
			g.testimony, g.charged = t, true
			g.stand()
		case sweep:
			path, err := readText(from)
			if err != nil {
				return
			}
			g.left = append(g.left, path)
		case leave:
			text, err := readText(from)
			if err != nil {
				return
			}
			g.parting = text
		case done:
			g.over = true
		}
	}
}

// What an agent says to its guard begins with one of these.
const (
	charged = 'c'
	sweep   = 's'
	leave   = 'l'
	done    = 'd'
)

// maxText bounds a text that the agent says.
const maxText = 1 << 16

// readText reads the length of a text, 4 bytes, and the text.
func readText(r io.Reader) (string, error) {
	var n uint32
	if err := binary.Read(r, binary.BigEndian, &n); err != nil || n > maxText {
		return "", cmp.Or(err, errors.New("a text is too long"))
	}
	text := make([]byte, n)
	_, err := io.ReadFull(r, text)
	return string(text), err
}

// reapAgent waits for the agent's end. Meanwhile it reaps what others have left.
func reapAgent(agent int) (status unix.WaitStatus) {
	for {
		pid, err := unix.Wait4(-1, &status, 0, nil)
		if pid == agent || err != nil && err != unix.EINTR {
			return status
		}
	}
}

// reapRest kills all descendants of this process, and waits until none is left. Those that it kills
// leave their own children to it.
func reapRest() {
	for {
		for _, pid := range children() {
			unix.Kill(pid, unix.SIGKILL) // none of them is reaped, so each number is still theirs
		}
		if _, err := unix.Wait4(-1, nil, 0, nil); err == unix.ECHILD {
			return
		}
	}
}

// children are this process's children.
func children() (pids []int) {
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, t := range tasks {
		list, _ := os.ReadFile("/proc/self/task/" + t.Name() + "/children")
		for _, word := range bytes.Fields(list) {
			if pid, err := strconv.Atoi(string(word)); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// Agent is the side of the agent.
type Agent struct {
	mu sync.Mutex
	to *os.File
}

// Inside returns the agent's side if this process was started by a guard.
func Inside() (*Agent, bool) {
	n, err := strconv.Atoi(os.Getenv(env.GuardFD))
	if err != nil {
		return nil, false
	}
	os.Unsetenv(env.GuardFD)
	unix.CloseOnExec(n)
	return &Agent{to: os.NewFile(uintptr(n), "guard")}, true
}

// Charge tells the guard what to testify, and to which launcher. A later charge takes the place of
// an earlier one.
func (a *Agent) Charge(t remote.Testimony) { a.say(append([]byte{charged}, t.Line()...)) }

// Sweep tells the guard to remove a directory of staged files (package stage) or of traces when the
// agent has died.
func (a *Agent) Sweep(dir string) { a.sayText(sweep, dir) }

// Leave tells the guard what Run is to return as left when the agent has ended, in order or not. A
// later text takes the place of an earlier one.
func (a *Agent) Leave(text string) { a.sayText(leave, text) }

func (a *Agent) sayText(kind byte, text string) {
	a.say(append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(text))), text...))
}

// Done tells the guard that the agent ends in order: it has killed and reaped its processes.
func (a *Agent) Done() { a.say([]byte{done}) }

func (a *Agent) say(b []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.to.Write(b) // if the guard is dead the agent hears of it by a signal
}
